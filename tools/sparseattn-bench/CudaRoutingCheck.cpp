//===- CudaRoutingCheck.cpp - Routing on a GPU against float64 ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaRoutingProblem.h"

#include "DeviceStaging.h"

#include "sparseattn-rt/Planner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

using namespace sart;

/// Rows whose sets are compared, and blocks whose means are.
static constexpr int64_t kRows = 4096, kMeans = 512;
/// Of blocks whose cumulative mass is so close to p, either choice is right.
static constexpr double kNear = 1e-5;

void CudaRoutingProblem::checkMeans(const Results &results,
                                    RoutingCheck &check) const {
  for (int64_t side : {0, 1}) {
    int64_t dim = shape.headDim, all = headsOf(side) * blocksOf(side);
    std::vector<uint16_t> rows;
    for (int64_t i = 0, n = std::min(all, kMeans); i < n; ++i) {
      // Evenly spread, and the last: a head's last block may be short.
      int64_t block = n == 1 ? 0 : i * (all - 1) / (n - 1);
      int64_t head = block / blocksOf(side);
      int64_t first = block % blocksOf(side) * blockOf(side);
      int64_t count = std::min(blockOf(side), rowsOf(side) - first);
      rows.resize(static_cast<size_t>(count * dim));
      generate(rows.data(), 0, side, head * rowsOf(side) + first,
               head * rowsOf(side) + first + count);
      for (int64_t d = 0; d < dim; ++d) {
        double sum = 0;
        for (int64_t row = 0; row < count; ++row)
          sum += static_cast<double>(
              loadAsFloat(rows.data(), shape.dtype, row * dim + d));
        double error = std::abs(
            static_cast<double>(
                results.pooled[side][static_cast<size_t>(block * dim + d)]) -
            sum / static_cast<double>(count));
        check.meanError = std::isnan(error)
                              ? std::numeric_limits<double>::infinity()
                              : std::max(check.meanError, error);
      }
    }
  }
}

namespace {
/// One row's set against the policy.
struct RowVerdict {
  int64_t wrong = 0, near = 0;
};
} // namespace

/// `kept`: a byte for each block. Blocks in order of score (then index) are
/// kept while the mass before them is below p.
static RowVerdict judge(const std::vector<double> &scores,
                        const std::vector<char> &kept,
                        const RoutingSettings &settings) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });
  double largest = scores[order[0]], sum = 0;
  for (double score : scores)
    sum += std::exp(score - largest);
  RowVerdict verdict;
  double before = 0;
  // Kernels take p as fp32.
  auto p = static_cast<double>(static_cast<float>(settings.p));
  for (size_t rank = 0; rank < order.size(); ++rank) {
    bool floor = rank < static_cast<size_t>(settings.minBlocks);
    bool close = std::abs(before - p) <= kNear && !floor && p < 1;
    bool wanted = floor || before < p || p >= 1;
    verdict.near += close;
    verdict.wrong += !close && wanted != (kept[order[rank]] != 0);
    before += std::exp(scores[order[rank]] - largest) / sum;
  }
  return verdict;
}

void CudaRoutingProblem::checkSets(const Results &results,
                                   RoutingCheck &check) const {
  int64_t rows = shape.heads * shape.qBlocks(), kv = shape.kvBlocks();
  double kept = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const int32_t *list =
        &results.mask[static_cast<size_t>(row * listStride())];
    bool right = list[0] >= std::min(settings.minBlocks, kv) && list[0] <= kv;
    for (int32_t i = 1; right && i <= list[0]; ++i)
      right = list[i] >= 0 && list[i] < kv && (i == 1 || list[i] > list[i - 1]);
    check.wrongRows += !right;
    kept += list[0];
  }
  check.density = kept / static_cast<double>(rows * kv);
  if (check.wrongRows > 0)
    return;
  check.rows = std::min(rows, kRows);
  int64_t dim = shape.headDim;
  // The kernels' own scale, in fp32.
  auto scale = static_cast<double>(
      static_cast<float>(1 / std::sqrt(static_cast<double>(dim))));
  std::mutex mutex;
  inThreads(check.rows, [&](int64_t first, int64_t last) {
    RowVerdict sum;
    std::vector<double> scores(static_cast<size_t>(kv));
    for (int64_t i = first; i < last; ++i) {
      int64_t row = i * rows / check.rows;
      int64_t kvHead = shape.kvHeadOf(row / shape.qBlocks());
      const float *q = &results.pooled[0][static_cast<size_t>(row * dim)];
      for (int64_t j = 0; j < kv; ++j) {
        const float *k =
            &results.pooled[1][static_cast<size_t>((kvHead * kv + j) * dim)];
        double dot = 0;
        for (int64_t d = 0; d < dim; ++d)
          dot += static_cast<double>(q[d]) * static_cast<double>(k[d]);
        scores[static_cast<size_t>(j)] = dot * scale;
      }
      std::vector<char> marked(static_cast<size_t>(kv), 0);
      const int32_t *list =
          &results.mask[static_cast<size_t>(row * listStride())];
      for (int32_t n = 1; n <= list[0]; ++n)
        marked[static_cast<size_t>(list[n])] = 1;
      RowVerdict verdict = judge(scores, marked, settings);
      sum.wrong += verdict.wrong;
      sum.near += verdict.near;
    }
    std::lock_guard<std::mutex> lock(mutex);
    check.wrongBlocks += sum.wrong;
    check.nearThreshold += sum.near;
  });
}

void CudaRoutingProblem::checkLoads(const Results &results,
                                    RoutingCheck &check) const {
  int64_t q = shape.qBlocks();
  for (int64_t head = 0; head < shape.heads; ++head) {
    std::vector<uint32_t> expected(static_cast<size_t>(summaryWords()), 0);
    int64_t load = 0;
    for (int64_t row = head * q; row < (head + 1) * q; ++row) {
      const int32_t *list =
          &results.mask[static_cast<size_t>(row * listStride())];
      load += list[0];
      for (int32_t i = 1; i <= list[0]; ++i)
        expected[static_cast<size_t>(1 + list[i] / 32)] |= uint32_t(1)
                                                           << (list[i] % 32);
    }
    expected[0] = static_cast<uint32_t>(load);
    auto begin = results.summary.begin() + head * summaryWords();
    const DeviceRouteTotals &total = results.totals[static_cast<size_t>(head)];
    check.wrongLoads += !(std::equal(expected.begin(), expected.end(), begin) &&
                          total.tiles == load && total.rows == q);
  }
}

void CudaRoutingProblem::checkTiles(const Results &results,
                                    RoutingCheck &check) const {
  int64_t q = shape.qBlocks();
  for (int64_t head = 0; head < shape.heads; ++head) {
    auto countOf = [&](int64_t row) {
      return results.mask[static_cast<size_t>((head * q + row) * listStride())];
    };
    std::vector<int32_t> order(static_cast<size_t>(q));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return countOf(a) != countOf(b) ? countOf(a) > countOf(b) : a < b;
    });
    bool right = true;
    for (int64_t i = 0; i < q; ++i) {
      const DeviceTileRecord &tile =
          results.tiles[static_cast<size_t>(head * q + i)];
      int32_t row = order[static_cast<size_t>(i)];
      right &= tile.entry == head && tile.qBlock == row && tile.first == 0 &&
               tile.count == countOf(row);
    }
    check.wrongTiles += !right;
  }
}
