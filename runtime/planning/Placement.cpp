//===- Placement.cpp - Who owns which head, q-block and kv-block ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Placement.h"

#include <algorithm>
#include <numeric>

using namespace sart;

namespace {

/// Limits that keep every byte count of the planner inside 64 bits, far
/// above what a host can hold.
constexpr int64_t maxHeads = int64_t(1) << 12;
constexpr int64_t maxTokens = int64_t(1) << 28;

Status checkRange(const char *what, int64_t value, int64_t least,
                  int64_t greatest) {
  if (value < least || value > greatest)
    return makeError(what, " out of range: got ", value, ", expected ", least,
                     " to ", greatest);
  return Status::success();
}

/// A size of `least` to `greatest` in steps of 8.
Status checkStepped(const char *what, int64_t value, int64_t least,
                    int64_t greatest) {
  if (value < least || value > greatest || value % 8 != 0)
    return makeError(what, " not supported: got ", value,
                     ", expected a multiple of 8 from ", least, " to ",
                     greatest);
  return Status::success();
}

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

Range tokensOfBlocks(Range blocks, int64_t blockSize, int64_t tokens) {
  return {std::min(blocks.begin * blockSize, tokens),
          std::min(blocks.end * blockSize, tokens)};
}

} // namespace

Range sart::evenPart(int64_t total, int64_t parts, int64_t index) {
  return {total * index / parts, total * (index + 1) / parts};
}

Status Mesh::verify() const {
  SART_RETURN_IF_ERROR(checkRange("mesh axis ulysses", ulysses, 1, maxRanks));
  SART_RETURN_IF_ERROR(checkRange("mesh axis ring", ring, 1, maxRanks));
  return checkRange("number of ranks", ranks(), 1, maxRanks);
}

Status LayerShape::verify() const {
  SART_RETURN_IF_ERROR(checkRange("number of heads", heads, 1, maxHeads));
  SART_RETURN_IF_ERROR(checkRange("number of kv heads", kvHeads, 1, maxHeads));
  if (heads % kvHeads != 0)
    return makeError("number of kv heads does not divide the heads: got ",
                     kvHeads, ", expected a divisor of ", heads);
  SART_RETURN_IF_ERROR(checkRange("number of query tokens", sq, 0, maxTokens));
  SART_RETURN_IF_ERROR(checkRange("number of key tokens", skv, 0, maxTokens));
  SART_RETURN_IF_ERROR(checkStepped("head dimension", headDim, 32, 256));
  SART_RETURN_IF_ERROR(checkStepped("query block size", blockQ, 16, 128));
  SART_RETURN_IF_ERROR(checkStepped("key block size", blockK, 16, 128));
  if (dtype != DType::F32 && dtype != DType::BF16 && dtype != DType::F16)
    return makeError("element type of the layer not supported: got ",
                     toString(dtype), ", expected f32, bf16 or f16");
  return Status::success();
}

int64_t LayerShape::visibleKvBlocks(int64_t qBlock) const {
  if (!causal)
    return kvBlocks();
  // The last query of the block sees the most keys.
  int64_t lastQuery = std::min((qBlock + 1) * blockQ, sq) - 1;
  int64_t keys = std::clamp<int64_t>(lastQuery + skv - sq + 1, 0, skv);
  return ceilDiv(keys, blockK);
}

Status Placement::verify() const {
  SART_RETURN_IF_ERROR(mesh.verify());
  return shape.verify();
}

Range Placement::headsOf(int64_t u) const {
  return {ceilDiv(u * shape.heads, mesh.ulysses),
          ceilDiv((u + 1) * shape.heads, mesh.ulysses)};
}

int64_t Placement::ownerOfHead(int64_t head) const {
  return head * mesh.ulysses / shape.heads;
}

Range Placement::kvHeadsOf(int64_t u) const {
  Range heads = headsOf(u);
  if (heads.empty())
    return {0, 0};
  return {shape.kvHeadOf(heads.begin), shape.kvHeadOf(heads.end - 1) + 1};
}

Range Placement::qBlocksOf(int64_t r) const {
  return evenPart(shape.qBlocks(), mesh.ring, r);
}

Range Placement::kvBlocksOf(int64_t r) const {
  return evenPart(shape.kvBlocks(), mesh.ring, r);
}

int64_t Placement::ownerOfKvBlock(int64_t block) const {
  // The last segment that begins at or before the block; it is not empty.
  return ((block + 1) * mesh.ring - 1) / shape.kvBlocks();
}

Range Placement::qTokensOf(int64_t r) const {
  return tokensOfBlocks(qBlocksOf(r), shape.blockQ, shape.sq);
}

Range Placement::kvTokensOf(int64_t r) const {
  return tokensOfBlocks(kvBlocksOf(r), shape.blockK, shape.skv);
}

/// Part of a segment that one rank of its Ulysses group holds. With `unit` > 1
/// parts end at multiples of it, counted from the segment's begin.
static Range shardOf(Range segment, int64_t unit, const Mesh &mesh,
                     int64_t rank) {
  Range part = evenPart(ceilDiv(segment.size(), unit), mesh.ulysses,
                        mesh.ulyssesIndex(rank));
  return {std::min(segment.begin + part.begin * unit, segment.end),
          std::min(segment.begin + part.end * unit, segment.end)};
}

/// Tokens at whose multiples shards may end.
static int64_t shardUnit(const LayerShape &shape, int64_t block) {
  return shape.sq == shape.skv ? std::lcm(shape.blockQ, shape.blockK) : block;
}

Range Placement::qShardOf(int64_t rank) const {
  return shardOf(qTokensOf(mesh.ringIndex(rank)),
                 blockShards ? shardUnit(shape, shape.blockQ) : 1, mesh, rank);
}

Range Placement::kvShardOf(int64_t rank) const {
  return shardOf(kvTokensOf(mesh.ringIndex(rank)),
                 blockShards ? shardUnit(shape, shape.blockK) : 1, mesh, rank);
}

Range Placement::routedBlocksOf(int64_t rank) const {
  if (!blockShards)
    return qBlocksOf(mesh.ringIndex(rank));
  Range shard = qShardOf(rank);
  return {ceilDiv(shard.begin, shape.blockQ), ceilDiv(shard.end, shape.blockQ)};
}

Range Placement::routedHeadsOf(int64_t rank) const {
  return blockShards ? Range{0, shape.heads} : headsOf(mesh.ulyssesIndex(rank));
}
