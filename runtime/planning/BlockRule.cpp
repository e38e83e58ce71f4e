//===- BlockRule.cpp - Rules that give blocks to ranks --------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/RingPlacement.h"

#include "TileText.h"

#include <algorithm>
#include <numeric>

using namespace sart;

namespace {

/// Sums over the tokens of a block; compared as means, without rounding.
struct BlockSums {
  int64_t place = 0; ///< h * W + w
  int64_t frame = 0;
  int64_t tokens = 0;
};

std::vector<BlockSums> sumBlocks(const BlockGrid &grid) {
  std::vector<BlockSums> sums(static_cast<size_t>(grid.qBlocks()));
  const Order &order = grid.order;
  int64_t frame = order.grid[1] * order.grid[2];
  int64_t last = order.grid[0] * frame - 1, position = 0;
  for (int64_t token : order.permutation()) {
    int64_t point = std::clamp<int64_t>(token - order.prefix, 0, last);
    BlockSums &sum = sums[static_cast<size_t>(position++ / grid.blockQ)];
    sum.place += point % frame;
    sum.frame += point / frame;
    ++sum.tokens;
  }
  return sums;
}

using Blocks = std::vector<int32_t>;

/// `parts` runs: block i of n in run floor(i * parts / n).
std::vector<Blocks> cut(const Blocks &blocks, int64_t parts) {
  std::vector<Blocks> runs(static_cast<size_t>(parts));
  int64_t count = static_cast<int64_t>(blocks.size());
  for (int64_t i = 0; i < count; ++i)
    runs[static_cast<size_t>(i * parts / count)].push_back(
        blocks[static_cast<size_t>(i)]);
  return runs;
}

std::vector<Blocks> cutTiles(const BlockGrid &grid, const Blocks &all,
                             int64_t t, int64_t h) {
  std::vector<BlockSums> sums = sumBlocks(grid);
  auto sortBy = [&](Blocks &blocks, int64_t BlockSums::*key) {
    std::sort(blocks.begin(), blocks.end(), [&](int32_t a, int32_t b) {
      const BlockSums &x = sums[static_cast<size_t>(a)];
      const BlockSums &y = sums[static_cast<size_t>(b)];
      int64_t left = x.*key * y.tokens, right = y.*key * x.tokens;
      return left != right ? left < right : a < b;
    });
  };
  Blocks sorted = all;
  sortBy(sorted, &BlockSums::place);
  std::vector<Blocks> result;
  for (Blocks &stripe : cut(sorted, h)) {
    if (t > 1)
      sortBy(stripe, &BlockSums::frame);
    for (Blocks &tile : cut(stripe, t))
      result.push_back(std::move(tile));
  }
  return result;
}

} // namespace

std::string sart::toString(const BlockRule &rule) {
  switch (rule.kind) {
  case BlockRule::Kind::Contiguous:
    return "contiguous";
  case BlockRule::Kind::Stripes:
    return "stripes";
  case BlockRule::Kind::Tiles:
    return concat("tiles<t=", rule.t, ",h=", rule.h, ">");
  }
  return "unknown";
}

Expected<BlockRule> sart::parseBlockRule(std::string_view text) {
  if (text == "contiguous")
    return BlockRule{};
  if (text == "stripes")
    return BlockRule{BlockRule::Kind::Stripes, 1, 1};
  BlockRule tiles{BlockRule::Kind::Tiles, 1, 1};
  if (parseTiles(text, tiles.t, tiles.h))
    return tiles;
  return makeError("placement not known: got '", text,
                   "', expected contiguous, stripes or tiles<t=N,h=N>");
}

std::vector<BlockRule> sart::blockRules(int64_t ranks) {
  std::vector<BlockRule> rules = {{BlockRule::Kind::Contiguous, 1, 1},
                                  {BlockRule::Kind::Stripes, 1, 1}};
  for (int64_t t = 2; t < ranks; ++t)
    if (ranks % t == 0)
      rules.push_back({BlockRule::Kind::Tiles, t, ranks / t});
  return rules;
}

Status BlockGrid::verify() const {
  SART_RETURN_IF_ERROR(order.verify());
  for (int64_t size : {blockQ, blockK})
    if (size < 1)
      return makeError("tokens of a block out of range: got ", size,
                       ", expected at least 1");
  return Status::success();
}

Expected<BlockOwners> sart::placeBlocks(const BlockRule &rule,
                                        const BlockGrid &grid, int64_t ranks) {
  SART_RETURN_IF_ERROR(grid.verify());
  if (ranks < 1 || ranks > maxRanks)
    return makeError("number of ranks out of range: got ", ranks,
                     ", expected 1 to ", maxRanks);
  if (rule.kind == BlockRule::Kind::Tiles && rule.t * rule.h != ranks)
    return makeError("tiles do not fit the ranks: got ", rule.t, " x ", rule.h,
                     ", expected a product of ", ranks);
  Blocks all(static_cast<size_t>(grid.qBlocks()));
  std::iota(all.begin(), all.end(), 0);
  BlockOwners owners;
  owners.ranks = ranks;
  switch (rule.kind) {
  case BlockRule::Kind::Contiguous:
    owners.rowsOf = cut(all, ranks);
    break;
  case BlockRule::Kind::Stripes:
    owners.rowsOf = cutTiles(grid, all, 1, ranks);
    break;
  case BlockRule::Kind::Tiles:
    owners.rowsOf = cutTiles(grid, all, rule.t, rule.h);
    break;
  }
  owners.q.resize(all.size());
  for (size_t rank = 0; rank < owners.rowsOf.size(); ++rank)
    for (int32_t block : owners.rowsOf[rank])
      owners.q[static_cast<size_t>(block)] = static_cast<int32_t>(rank);
  for (int64_t block = 0; block < grid.kvBlocks(); ++block)
    owners.kv.push_back(
        owners.q[static_cast<size_t>(block * grid.blockK / grid.blockQ)]);
  return owners;
}
