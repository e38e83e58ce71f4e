//===- AttendCausalTest.cpp - Token-level causal masks --------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelTestSupport.h"

#include <gtest/gtest.h>

#include <tuple>

using namespace kerneltest;
using sart::DType;
using sart::KernelSpec;

namespace {

AttendProblem causalProblem(int64_t blockQ, int64_t blockK, int64_t queries,
                            int64_t keys, DType type = DType::F32) {
  KernelSpec spec;
  spec.headDim = 64;
  spec.blockQ = blockQ;
  spec.blockK = blockK;
  spec.causal = true;
  spec.dtype = spec.outDtype = type;
  std::mt19937 random(static_cast<unsigned>(queries * 1000 + keys));
  AttendProblem problem(spec, queries, keys);
  problem.q.fillNormal(random, 2);
  problem.k.fillNormal(random, 2);
  problem.v.fillNormal(random, 1);
  return problem;
}

TEST(AttendCausal, EveryTail) {
  for (int64_t length : {1, 63, 65, 127, 128, 129, 300, 517})
    for (auto [blockQ, blockK] :
         {std::pair(128, 128), std::pair(64, 64), std::pair(40, 72)}) {
      SCOPED_TRACE(testing::Message()
                   << length << ", " << blockQ << " x " << blockK);
      checkAttend(causalProblem(blockQ, blockK, length, length));
    }
}

TEST(AttendCausal, MoreKeysThanQueries) {
  checkAttend(causalProblem(64, 64, 100, 333));
  checkAttend(causalProblem(128, 32, 129, 130));
}

TEST(AttendCausal, MoreQueriesThanKeys) {
  // The first 233 queries see nothing.
  AttendProblem problem = causalProblem(64, 64, 333, 100);
  AttendResult result = runAttend(problem);
  expectAttends(problem, result);
  EXPECT_EQ(result.lse.get(232, 0), -std::numeric_limits<double>::infinity());
  EXPECT_GT(result.lse.get(233, 0), -100);
}

TEST(AttendCausal, EveryDiagonalOfOneBlock) {
  // From no visible key to all keys visible, one token at a time.
  AttendProblem problem = causalProblem(32, 64, 32, 64);
  for (problem.diag = -34; problem.diag <= 66; ++problem.diag) {
    SCOPED_TRACE(problem.diag);
    checkAttend(problem);
  }
}

TEST(AttendCausal, RandomListsWithInvisibleBlocks) {
  std::mt19937 random = seeded(9);
  AttendProblem problem = causalProblem(64, 32, 300, 300);
  problem.randomLists(random, 0.4, 0.15);
  checkAttend(problem);
  // Invisible blocks before visible ones.
  for (std::vector<int32_t> &list : problem.lists)
    std::reverse(list.begin(), list.end());
  checkAttend(problem);
}

TEST(AttendCausal, DistantDiagonals) {
  AttendProblem problem = causalProblem(64, 64, 70, 70);
  problem.diag = int64_t(1) << 40;
  AttendResult all = runAttend(problem);
  expectAttends(problem, all);
  problem.diag = -(int64_t(1) << 40);
  checkAttend(problem);
}

TEST(AttendCausal, EveryTypeAndTarget) {
  for (const std::string &target : runnableTargets())
    for (DType type : {DType::F32, DType::BF16, DType::F16})
      checkAttend(causalProblem(64, 64, 197, 211, type), target);
}

TEST(AttendCausal, UnmaskedPartEqualsTheUnmaskedKernel) {
  AttendProblem problem = causalProblem(64, 64, 128, 256);
  problem.diag = 1000;
  AttendResult causal = runAttend(problem);
  problem.spec.causal = false;
  AttendResult plain = runAttend(problem);
  EXPECT_EQ(causal.o.bytes(), plain.o.bytes());
  EXPECT_EQ(causal.lse.bytes(), plain.lse.bytes());
}

} // namespace
