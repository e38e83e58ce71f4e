//===- KernelProblem.cpp - Tensors and block lists of a kernel benchmark --===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelProblem.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

using namespace sart;

Expected<KernelProblem> KernelProblem::create(const LayerShape &shape,
                                              uint32_t seed) {
  KernelProblem problem(shape);
  problem.carrier.placement.shape = shape;
  problem.carrier.scale = 1 / std::sqrt(static_cast<float>(shape.headDim));
  int64_t elements = shape.heads * shape.sq * shape.headDim;
  int64_t bytes = elements * byteSize(shape.dtype);
  for (HostMemory *tensor : {&problem.q, &problem.k, &problem.v, &problem.o}) {
    *tensor = allocateHostMemory(bytes);
    if (!*tensor)
      return makeError("memory of a tensor: got none for ", bytes, " bytes");
  }
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (HostMemory *tensor : {&problem.q, &problem.k, &problem.v})
    for (int64_t i = 0; i < elements; ++i)
      storeFromFloat(tensor->get(), shape.dtype, i, normal(random));
  problem.lse.resize(static_cast<size_t>(shape.heads * shape.sq));
  problem.lists.resize(static_cast<size_t>(shape.heads * shape.qBlocks() *
                                           (1 + shape.kvBlocks())));
  problem.poisonResults();
  return problem;
}

size_t KernelProblem::positionOf(int64_t head, int64_t qBlock) const {
  return static_cast<size_t>((head * shape.qBlocks() + qBlock) *
                             (1 + shape.kvBlocks()));
}

void KernelProblem::drawLists(double density, uint32_t seed) {
  std::mt19937 random(seed);
  auto blocks = static_cast<double>(shape.kvBlocks());
  std::normal_distribution<double> length(density * blocks,
                                          0.3 * density * blocks);
  std::vector<int32_t> order(static_cast<size_t>(shape.kvBlocks()));
  std::iota(order.begin(), order.end(), 0);
  for (int64_t head = 0; head < shape.heads; ++head)
    for (int64_t row = 0; row < shape.qBlocks(); ++row) {
      double drawn = density < 1 ? std::round(length(random)) : blocks;
      auto count = static_cast<int64_t>(std::clamp(drawn, 1.0, blocks));
      std::shuffle(order.begin(), order.end(), random);
      int32_t *list = &lists[positionOf(head, row)];
      list[0] = static_cast<int32_t>(count);
      std::copy_n(order.begin(), count, list + 1);
      std::sort(list + 1, list + 1 + count);
    }
  // Zeros but for the lengths.
  oneBlockLists.assign(lists.size(), 0);
  for (size_t i = 0; i < lists.size();
       i += static_cast<size_t>(1 + shape.kvBlocks()))
    oneBlockLists[i] = lists[i];
}

SlotView KernelProblem::rowsOf(const HostMemory &tensor, int64_t head) const {
  SlotView view;
  view.data =
      tensor.get() + head * shape.sq * shape.headDim * byteSize(shape.dtype);
  view.dtype = shape.dtype;
  view.rows = shape.sq;
  view.rowStride = view.rowElements = shape.headDim;
  return view;
}

std::vector<AttendTask> KernelProblem::tasks(bool oneBlock) {
  std::vector<int32_t> &source = oneBlock ? oneBlockLists : lists;
  std::vector<AttendTask> result;
  for (int64_t head = 0; head < shape.heads; ++head) {
    AttendTask task;
    task.q = rowsOf(q, head);
    task.k = rowsOf(k, head);
    task.v = rowsOf(v, head);
    task.o = rowsOf(o, head);
    task.lse = {&lse[static_cast<size_t>(head * shape.sq)], DType::F32,
                shape.sq, 1, 1};
    task.mask = {&source[positionOf(head, 0)], DType::I32, shape.qBlocks(),
                 1 + shape.kvBlocks(), 1 + shape.kvBlocks()};
    task.qEnd = shape.qBlocks();
    task.kvBlocks = {0, shape.kvBlocks()};
    result.push_back(task);
  }
  return result;
}

double KernelProblem::usefulFlops() const {
  double pairs = 0;
  for (int64_t head = 0; head < shape.heads; ++head)
    for (int64_t row = 0; row < shape.qBlocks(); ++row) {
      const int32_t *list = &lists[positionOf(head, row)];
      int64_t queries = std::min(shape.blockQ, shape.sq - row * shape.blockQ);
      for (int32_t i = 1; i <= list[0]; ++i)
        pairs += static_cast<double>(
            queries *
            std::min(shape.blockK, shape.skv - list[i] * shape.blockK));
    }
  return 4 * pairs * static_cast<double>(shape.headDim);
}

double KernelProblem::density() const {
  int64_t visits = 0;
  for (int64_t head = 0; head < shape.heads; ++head)
    for (int64_t row = 0; row < shape.qBlocks(); ++row)
      visits += lists[positionOf(head, row)];
  return static_cast<double>(visits) /
         static_cast<double>(shape.heads * shape.qBlocks() * shape.kvBlocks());
}

void KernelProblem::poisonResults() {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  std::fill(lse.begin(), lse.end(), nan);
  int64_t elements = shape.heads * shape.sq * shape.headDim;
  for (int64_t i = 0; i < elements; ++i)
    storeFromFloat(o.get(), shape.dtype, i, nan);
}

double KernelProblem::checkAndPoison() {
  // The first, a middle and the last row: the last lies in a tail.
  std::vector<int64_t> rows{0, shape.sq / 2, shape.sq - 1};
  std::vector<double> exact(rows.size() * static_cast<size_t>(shape.headDim)),
      exactLse(rows.size());
  // Inputs are unit normal: scores stay below 8, values below 6. See errorBound
  // in tools/common/Check.h for the bound.
  double roundoff = shape.dtype == DType::F32    ? std::ldexp(1, -24)
                    : shape.dtype == DType::BF16 ? std::ldexp(1, -8)
                                                 : std::ldexp(1, -11);
  double bound = (roundoff + std::ldexp(8, -21)) * 6;
  double lseBound = std::ldexp(1, -16) + std::ldexp(8, -19);
  double worst = 0;
  auto note = [&](double difference, double limit) {
    double ratio = std::abs(difference) / limit;
    // Not a number is as wrong as can be.
    worst = ratio <= worst      ? worst
            : std::isnan(ratio) ? std::numeric_limits<double>::infinity()
                                : ratio;
  };
  for (int64_t head = 0; head < shape.heads; ++head) {
    auto listed = [&](int64_t qBlock, int64_t kvBlock) {
      const int32_t *list = &lists[positionOf(head, qBlock)];
      return std::binary_search(list + 1, list + 1 + list[0], kvBlock);
    };
    referenceAttend(shape, rowsOf(q, head), rowsOf(k, head), rowsOf(v, head),
                    rows, carrier.scale, listed, exact.data(), exactLse.data());
    for (size_t i = 0; i < rows.size(); ++i) {
      int64_t row = head * shape.sq + rows[i];
      note(static_cast<double>(lse[static_cast<size_t>(row)]) - exactLse[i],
           lseBound);
      for (int64_t d = 0; d < shape.headDim; ++d)
        note(static_cast<double>(
                 loadAsFloat(o.get(), shape.dtype, row * shape.headDim + d)) -
                 exact[i * static_cast<size_t>(shape.headDim) +
                       static_cast<size_t>(d)],
             bound);
    }
  }
  poisonResults();
  return worst;
}
