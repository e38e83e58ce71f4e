//===- AttendShapesTest.cpp - Lengths, blocks and head dimensions ---------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelTestSupport.h"

#include <gtest/gtest.h>

using namespace kerneltest;
using sart::DType;
using sart::KernelSpec;

namespace {

KernelSpec attendSpec(int64_t headDim, int64_t blockQ, int64_t blockK,
                      DType type = DType::F32) {
  KernelSpec spec;
  spec.headDim = headDim;
  spec.blockQ = blockQ;
  spec.blockK = blockK;
  spec.dtype = spec.outDtype = type;
  return spec;
}

/// Unit-normal data, random lists, some rows empty.
AttendProblem randomProblem(const KernelSpec &spec, int64_t queries,
                            int64_t keys, unsigned seed) {
  std::mt19937 random(seed);
  AttendProblem problem(spec, queries, keys);
  problem.q.fillNormal(random, 1);
  problem.k.fillNormal(random, 1);
  problem.v.fillNormal(random, 1);
  problem.randomLists(random, 0.6, 0.15);
  return problem;
}

const int64_t kLengths[] = {1, 63, 65, 127, 128, 129, 300, 517};

TEST(AttendShapes, EveryTail) {
  for (int64_t length : kLengths) {
    SCOPED_TRACE(length);
    double error =
        checkAttend(randomProblem(attendSpec(128, 128, 128), length, length,
                                  static_cast<unsigned>(length)));
    EXPECT_LT(error, 5e-6);
  }
}

TEST(AttendShapes, EveryTailOfSmallBlocks) {
  for (int64_t length : kLengths) {
    SCOPED_TRACE(length);
    checkAttend(randomProblem(attendSpec(64, 64, 64), length, length,
                              static_cast<unsigned>(length)));
  }
}

TEST(AttendShapes, QueriesAndKeysOfDifferentLength) {
  const std::pair<int64_t, int64_t> lengths[] = {
      {1, 128}, {1, 517}, {128, 1}, {300, 63}, {63, 300}, {129, 127}};
  for (auto [queries, keys] : lengths) {
    SCOPED_TRACE(testing::Message() << queries << " x " << keys);
    checkAttend(randomProblem(attendSpec(128, 128, 64), queries, keys, 7));
  }
}

TEST(AttendShapes, EveryHeadDim) {
  // Steps of 8; blocks vary along so that every multiple of 8 occurs.
  int64_t block = 16;
  for (int64_t headDim = 32; headDim <= 256; headDim += 8) {
    SCOPED_TRACE(headDim);
    checkAttend(randomProblem(attendSpec(headDim, block, 144 - block), 197, 171,
                              static_cast<unsigned>(headDim)));
    block = block == 128 ? 16 : block + 8;
  }
}

TEST(AttendShapes, EveryBlockPairOfUnequalSize) {
  const std::pair<int64_t, int64_t> blocks[] = {
      {16, 16},  {24, 40}, {48, 16},      {64, 128},
      {128, 64}, {40, 72}, {104, 8 * 11}, {120, 24}};
  for (auto [blockQ, blockK] : blocks) {
    SCOPED_TRACE(testing::Message() << blockQ << " x " << blockK);
    checkAttend(randomProblem(attendSpec(64, blockQ, blockK), 300, 333, 5));
  }
}

TEST(AttendShapes, EveryTargetOfThisMachine) {
  for (const std::string &target : runnableTargets())
    for (int64_t headDim : {40, 128}) {
      SCOPED_TRACE(target);
      AttendProblem problem =
          randomProblem(attendSpec(headDim, 64, 64), 197, 171, 11);
      EXPECT_LT(checkAttend(problem, target), 5e-6);
    }
}

/// Every number of keys that a block can hold: which register tiles cover it
/// depends on the target.
TEST(AttendShapes, EveryBlockLengthOnEveryTarget) {
  for (const std::string &target : runnableTargets())
    for (int64_t keys = 1; keys <= 32; ++keys) {
      SCOPED_TRACE(testing::Message() << target << ", " << keys << " keys");
      checkAttend(randomProblem(attendSpec(40, 32, 32), 37, keys,
                                static_cast<unsigned>(keys)),
                  target);
    }
}

TEST(AttendShapes, EveryHeadDimWithNarrowRegisters) {
  for (int64_t headDim = 32; headDim <= 256; headDim += 8) {
    SCOPED_TRACE(headDim);
    if (runnableTargets().size() < 2)
      GTEST_SKIP() << "this machine runs one target only";
    checkAttend(randomProblem(attendSpec(headDim, 32, 32), 37, 71, 5),
                runnableTargets()[1]);
  }
}

TEST(AttendShapes, EmptyListGivesZeroAndMinusInfinity) {
  AttendProblem problem = randomProblem(attendSpec(64, 64, 64), 150, 150, 3);
  for (std::vector<int32_t> &list : problem.lists)
    list.clear();
  checkAttend(problem); // the bound of an empty row is exactly zero
}

TEST(AttendShapes, NoKeysAtAll) {
  AttendProblem problem = randomProblem(attendSpec(64, 64, 64), 70, 0, 3);
  checkAttend(problem);
}

TEST(AttendShapes, SkippingABlockChangesTheResult) {
  AttendProblem problem = randomProblem(attendSpec(64, 64, 64), 64, 256, 3);
  problem.lists[0] = {0, 1, 2, 3};
  AttendResult dense = runAttend(problem);
  problem.lists[0] = {0, 1, 3};
  AttendResult sparse = runAttend(problem);
  double difference = 0;
  for (int64_t d = 0; d < 64; ++d)
    difference =
        std::max(difference, std::abs(dense.o.get(0, d) - sparse.o.get(0, d)));
  EXPECT_GT(difference, 1e-2);
  EXPECT_LT(sparse.lse.get(0, 0), dense.lse.get(0, 0));
}

TEST(AttendShapes, ListOrderIsFree) {
  AttendProblem problem = randomProblem(attendSpec(64, 64, 64), 64, 250, 3);
  problem.lists[0] = {3, 0, 2, 1};
  checkAttend(problem);
}

} // namespace
