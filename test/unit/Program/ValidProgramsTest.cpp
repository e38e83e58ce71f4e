//===- ValidProgramsTest.cpp - The standard programs satisfy every rule ---===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramTestSupport.h"

#include <chrono>

using namespace sart;
using namespace sart::test;

namespace {

struct Case {
  Placement placement;
  const char *what;
};

std::vector<Case> cases() {
  return {
      {makePlacement(1, 1, 3, 3, 100, 100), "one rank"},
      {makePlacement(4, 1, 12, 12, 640, 640), "ulysses 4"},
      {makePlacement(2, 2, 4, 4, 320, 320), "ulysses 2 x ring 2"},
      {makePlacement(1, 4, 2, 2, 320, 320), "ring 4"},
      {makePlacement(2, 4, 7, 7, 1000, 777), "uneven, two lengths"},
      {makePlacement(3, 1, 12, 3, 303, 301), "grouped heads"},
      {makePlacement(4, 2, 12, 2, 303, 601), "grouped heads across ranks"},
      {makePlacement(8, 1, 2, 2, 63, 63), "more ranks than heads"},
      {makePlacement(5, 1, 40, 8, 63, 63), "5 ranks, 40 heads"},
      {makePlacement(2, 4, 3, 3, 3, 3), "one block"},
      {makePlacement(8, 1, 2, 1, 1, 1), "one token"},
      {makePlacement(2, 2, 2, 2, 0, 40), "no query"},
      {makePlacement(2, 2, 2, 2, 40, 0), "no key"},
  };
}

TEST(ValidPrograms, EveryPlacementPolicyAndDensity) {
  for (const Case &c : cases()) {
    for (Balance balance : {Balance::None, Balance::Swap}) {
      for (double density : {0.0, 0.1, 0.5, 1.0}) {
        SCOPED_TRACE(concat(c.what, ", balance ", toString(balance),
                            ", density ", density));
        TemplateOptions options;
        options.planner.balance = balance;
        options.planner.k1Milli = options.planner.k2Milli = 1000;
        options.planner.augment = density == 0.5;
        Program program = templateOf(c.placement, options);
        EXPECT_EQ(textOf(validateTemplate(program)), "");
        Program bound =
            boundOf(c.placement, maskFor(c.placement, density, 7), options);
        EXPECT_EQ(textOf(validateBound(bound)), "");
      }
    }
  }
}

TEST(ValidPrograms, MovesAndTransfersOccur) {
  // The cases above would prove little if nothing moved.
  Placement placement = makePlacement(2, 2, 5, 5, 640, 640);
  TemplateOptions options;
  options.planner.k1Milli = options.planner.k2Milli = 1000;
  Program bound = boundOf(placement, maskFor(placement, 0.3, 11), options);
  int64_t moves = 0, ring = 0;
  for (size_t rank = 0; rank < bound.ranks.size(); ++rank)
    for (const Instruction &instruction : bound.ranks[rank])
      if (instruction.opcode == Opcode::Send) {
        const Mesh &mesh = placement.mesh;
        (mesh.ringIndex(instruction.peer.values[0]) ==
                 mesh.ringIndex(static_cast<int64_t>(rank))
             ? moves
             : ring)++;
      }
  EXPECT_GT(moves, 0);
  EXPECT_GT(ring, 0);
}

double bestMicroseconds(const Program &bound, bool coverage) {
  ValidatorOptions options;
  options.coverage = coverage;
  double best = 1e9;
  for (int i = 0; i < 20; ++i) {
    auto begin = std::chrono::steady_clock::now();
    std::vector<Violation> violations = validateBound(bound, options);
    std::chrono::duration<double, std::micro> took =
        std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(textOf(violations), "");
    best = std::min(best, took.count());
  }
  return best;
}

TEST(ValidPrograms, ValidationTakesLessThanAMillisecond) {
  // 12 heads x 110 blocks x 8 ranks; a bound far above the figures, because
  // the machine may be shared and the build sanitized.
  for (auto [ulysses, ring] : {std::pair{8, 1}, {4, 2}, {2, 4}, {1, 8}}) {
    Placement placement =
        makePlacement(ulysses, ring, 12, 12, 14040, 14040, 128);
    Program bound = boundOf(placement, maskFor(placement, 0.3, 5));
    double plain = bestMicroseconds(bound, false);
    double full = bestMicroseconds(bound, true);
    std::printf("ulysses %d x ring %d: %.0f us, with coverage %.0f us\n",
                ulysses, ring, plain, full);
    EXPECT_LT(plain, 20000);
  }
}

} // namespace
