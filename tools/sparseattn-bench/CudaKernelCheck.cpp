//===- CudaKernelCheck.cpp - Attention on a GPU against float64 -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaKernelProblem.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace sart;
using namespace sart::cuda;

/// Tiles that are compared, and rows of each.
static constexpr int64_t kTiles = 24, kRows = 6;

namespace {
/// Rows [row, row + rows) of the q-block of a head, and what came of them.
struct TileCheck {
  int64_t head = 0, qBlock = 0;
  std::vector<int64_t> rows; ///< of the head
  std::vector<uint16_t> o;   ///< of all rows of the tile
  std::vector<float> lse;
  double squares = 0, total = 0, lseError = 0;
  int64_t wrongEmpty = 0;
};

/// Attention of some rows in double precision, a kv-block at a time.
class ExactRows {
public:
  ExactRows(size_t rows, int64_t dim)
      : dim(static_cast<size_t>(dim)), o(rows * this->dim), sum(rows),
        most(rows, -std::numeric_limits<double>::infinity()) {}

  /// Row i sees keys whose scores and values these are.
  void add(size_t i, const std::vector<double> &scores, const double *values) {
    double largest = *std::max_element(scores.begin(), scores.end());
    double next = std::max(most[i], largest);
    double factor = std::exp(most[i] - next);
    double *row = &o[i * dim];
    for (size_t d = 0; d < dim; ++d)
      row[d] *= factor;
    sum[i] *= factor;
    for (size_t key = 0; key < scores.size(); ++key) {
      double weight = std::exp(scores[key] - next);
      sum[i] += weight;
      for (size_t d = 0; d < dim; ++d)
        row[d] += weight * values[key * dim + d];
    }
    most[i] = next;
  }
  double value(size_t i, size_t d) const { return o[i * dim + d] / sum[i]; }
  double lse(size_t i) const { return most[i] + std::log(sum[i]); }

private:
  size_t dim;
  std::vector<double> o, sum, most;
};
} // namespace

/// Largest of errors, where not a number is as wrong as can be.
static double worse(double a, double b) {
  return std::isnan(b) ? std::numeric_limits<double>::infinity()
                       : std::max(a, b);
}

/// The last q-block of the first head has the tail; the others are spread.
static std::vector<TileCheck> chooseTiles(const BlockLists &lists) {
  const LayerShape &shape = lists.shape();
  std::set<std::pair<int64_t, int64_t>> chosen;
  int64_t wanted = std::min(kTiles, shape.heads * shape.qBlocks());
  for (int64_t i = 0; i < wanted; ++i)
    chosen.emplace(i * shape.heads / wanted,
                   i == 0 ? shape.qBlocks() - 1 : i * 7919 % shape.qBlocks());
  for (int64_t head = 0; head < shape.heads; ++head)
    for (int64_t q = 0; q < shape.qBlocks(); ++q)
      if (lists.count(head, q) <= 1 && chosen.size() < 2 * kTiles)
        chosen.emplace(head, q);
  std::vector<TileCheck> tiles;
  for (auto [head, q] : chosen) {
    TileCheck tile;
    tile.head = head;
    tile.qBlock = q;
    int64_t begin = q * shape.blockQ;
    int64_t end = std::min(begin + shape.blockQ, shape.sq);
    // First, last, and others at odd distances.
    std::set<int64_t> rows{begin, end - 1};
    for (int64_t i = 1; i < kRows - 1; ++i)
      rows.insert(begin + (i * 29 + q) % (end - begin));
    tile.rows.assign(rows.begin(), rows.end());
    tiles.push_back(std::move(tile));
  }
  return tiles;
}

static void compareTile(TileCheck &tile, const BlockLists &lists,
                        const NormalSource &source, int64_t qStream) {
  const LayerShape &shape = lists.shape();
  auto dim = static_cast<size_t>(shape.headDim);
  int64_t begin = tile.qBlock * shape.blockQ;
  auto found = [&](int64_t row, size_t d) {
    return static_cast<double>(
        loadAsFloat(tile.o.data(), shape.dtype,
                    (row - begin) * shape.headDim + static_cast<int64_t>(d)));
  };
  int32_t count = lists.count(tile.head, tile.qBlock);
  if (count == 0) {
    for (size_t row = 0; row < tile.lse.size(); ++row) {
      bool right = std::isinf(tile.lse[row]) && tile.lse[row] < 0;
      for (size_t d = 0; d < dim; ++d)
        right &= found(begin + static_cast<int64_t>(row), d) == 0;
      tile.wrongEmpty += !right;
    }
    return;
  }
  std::vector<double> q(tile.rows.size() * dim);
  for (size_t i = 0; i < tile.rows.size(); ++i)
    source.fill(&q[i * dim], qStream,
                (tile.head * shape.sq + tile.rows[i]) * shape.headDim,
                shape.headDim);
  ExactRows exact(tile.rows.size(), shape.headDim);
  double scale = 1 / std::sqrt(static_cast<double>(shape.headDim));
  std::vector<double> k, v, scores;
  for (int32_t n = 0; n < count; ++n) {
    int64_t first = lists.blocks(tile.head, tile.qBlock)[n] * shape.blockK;
    int64_t keys = std::min(shape.blockK, shape.skv - first);
    int64_t at =
        (shape.kvHeadOf(tile.head) * shape.skv + first) * shape.headDim;
    for (auto *tensor : {&k, &v}) {
      tensor->resize(static_cast<size_t>(keys) * dim);
      source.fill(tensor->data(), qStream + (tensor == &k ? 1 : 2), at,
                  keys * shape.headDim);
    }
    scores.resize(static_cast<size_t>(keys));
    for (size_t i = 0; i < tile.rows.size(); ++i) {
      for (size_t key = 0; key < scores.size(); ++key) {
        double sum = 0;
        for (size_t d = 0; d < dim; ++d)
          sum += q[i * dim + d] * k[key * dim + d];
        scores[key] = sum * scale;
      }
      exact.add(i, scores, v.data());
    }
  }
  for (size_t i = 0; i < tile.rows.size(); ++i) {
    double lse = static_cast<double>(
        tile.lse[static_cast<size_t>(tile.rows[i] - begin)]);
    tile.lseError = worse(tile.lseError, std::abs(lse - exact.lse(i)));
    for (size_t d = 0; d < dim; ++d) {
      double want = exact.value(i, d), got = found(tile.rows[i], d);
      tile.squares += (got - want) * (got - want);
      tile.total += want * want;
    }
  }
}

Expected<DeviceCheck> CudaKernelProblem::check(const BlockLists &given,
                                               int64_t set, bool everywhere) {
  DeviceCheck result;
  result.relativeBound = layer.dtype == DType::BF16 ? 1e-2 : 2e-3;
  result.lseBound = 2e-3;
  SART_RETURN_IF_ERROR(stream->synchronize());
  if (everywhere)
    SART_RETURN_IF_ERROR(countNotWritten(result));
  std::vector<TileCheck> chosen = chooseTiles(given);
  for (TileCheck &tile : chosen) {
    int64_t begin = tile.head * layer.sq + tile.qBlock * layer.blockQ;
    int64_t rows =
        std::min(layer.blockQ, layer.sq - tile.qBlock * layer.blockQ);
    tile.o.resize(static_cast<size_t>(rows * layer.headDim));
    tile.lse.resize(static_cast<size_t>(rows));
    SART_RETURN_IF_ERROR(staging->download(
        tile.o.data(),
        o.address() + static_cast<DevicePtr>(begin * layer.headDim * 2),
        rows * layer.headDim * 2));
    SART_RETURN_IF_ERROR(staging->download(
        tile.lse.data(), lse.address() + static_cast<DevicePtr>(begin * 4),
        rows * 4));
  }
  inThreads(static_cast<int64_t>(chosen.size()),
            [&](int64_t first, int64_t last) {
              for (int64_t i = first; i < last; ++i)
                compareTile(chosen[static_cast<size_t>(i)], given, source,
                            streamOf(set % sets(), 0));
            });
  double squares = 0, total = 0;
  for (const TileCheck &tile : chosen) {
    squares += tile.squares;
    total += tile.total;
    result.lseError = worse(result.lseError, tile.lseError);
    result.wrongEmpty += tile.wrongEmpty;
    result.rows += static_cast<int64_t>(tile.rows.size());
  }
  result.relative = worse(0, total > 0 ? std::sqrt(squares / total) : 0);
  return result;
}
