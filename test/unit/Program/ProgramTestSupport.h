//===- ProgramTestSupport.h - Programs for the validator's tests *- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_PROGRAM_PROGRAMTESTSUPPORT_H
#define SPARSEATTN_TEST_PROGRAM_PROGRAMTESTSUPPORT_H

#include "Support/TemplateBuilder.h"
#include "sparseattn-rt/Validator.h"

#include <gtest/gtest.h>

namespace sart::test {

inline Placement makePlacement(int64_t ulysses, int64_t ring, int64_t heads,
                               int64_t kvHeads, int64_t sq, int64_t skv,
                               int64_t block = 16) {
  Placement placement;
  placement.mesh = {ulysses, ring};
  LayerShape &shape = placement.shape;
  shape.heads = heads;
  shape.kvHeads = kvHeads;
  shape.sq = sq;
  shape.skv = skv;
  shape.headDim = 32;
  shape.blockQ = shape.blockK = block;
  return placement;
}

inline BlockMask maskFor(const Placement &placement, double density,
                         uint64_t seed) {
  const LayerShape &shape = placement.shape;
  return randomMask(shape.heads, shape.qBlocks(), shape.kvBlocks(), density,
                    seed);
}

inline std::string textOf(const std::vector<Violation> &violations) {
  std::string text;
  for (const Violation &violation : violations)
    text += concat("[", violation.rule, "] ", violation.toString(), "\n");
  return text;
}

/// A valid template of a placement; fails the test when it is none.
inline Program templateOf(const Placement &placement,
                          const TemplateOptions &options = {}) {
  Expected<Program> program = buildTemplate(placement, options);
  EXPECT_TRUE(program.ok()) << program.message();
  return program ? std::move(*program) : Program();
}

/// A bound program of a placement and a mask.
inline Program boundOf(const Placement &placement, const BlockMask &mask,
                       const TemplateOptions &options = {}) {
  Expected<Program> bound = buildBound(templateOf(placement, options), mask);
  EXPECT_TRUE(bound.ok()) << bound.message();
  return bound ? std::move(*bound) : Program();
}

} // namespace sart::test

#endif // SPARSEATTN_TEST_PROGRAM_PROGRAMTESTSUPPORT_H
