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

/// Two ranks of one Ulysses group; heads 0 and 3 change places. 4 heads, 2 kv
/// heads, 4 blocks of 16 tokens.
inline Program swapProgram() {
  Placement placement = makePlacement(2, 1, 4, 2, 64, 64);
  std::vector<std::vector<int32_t>> lists;
  for (int32_t head = 0; head < 4; ++head)
    for (int32_t row = 0; row < 4; ++row)
      lists.push_back(head < 2 ? std::vector<int32_t>{0, 1, 2, 3}
                               : std::vector<int32_t>{row});
  TemplateOptions options;
  options.planner.k1Milli = options.planner.k2Milli = 1000;
  return boundOf(placement, *BlockMask::fromLists(4, 4, 4, lists), options);
}

/// Two ranks of one ring group, 2 heads that share a kv head, 4 blocks of 16
/// tokens; kv-block 0 and kv-block 3 cross over.
inline Program ringProgram() {
  Placement placement = makePlacement(1, 2, 2, 1, 64, 64);
  std::vector<std::vector<int32_t>> rows = {{0, 3}, {0, 1}, {0, 2}, {0, 3}};
  std::vector<std::vector<int32_t>> lists = rows;
  lists.insert(lists.end(), rows.begin(), rows.end());
  return boundOf(placement, *BlockMask::fromLists(2, 4, 4, lists));
}

/// Index of the `nth` instruction of `rank` with this opcode (on this window,
/// when named); fails the test when there is none.
inline size_t find(const Program &program, size_t rank, Opcode opcode,
                   std::string_view window = "", int nth = 0) {
  const std::vector<Instruction> &list = program.ranks[rank];
  for (size_t i = 0; i < list.size(); ++i) {
    bool named = window.empty();
    for (int32_t w : list[i].windows)
      named |= program.windows[static_cast<size_t>(w)].name == window;
    if (list[i].opcode == opcode && named && nth-- == 0)
      return i;
  }
  ADD_FAILURE() << "no " << toString(opcode) << " " << window << " on rank "
                << rank;
  return 0;
}
inline Instruction &at(Program &program, size_t rank, size_t index) {
  return program.ranks[rank][index];
}
inline void drop(Program &program, size_t rank, size_t index) {
  program.ranks[rank].erase(program.ranks[rank].begin() +
                            static_cast<std::ptrdiff_t>(index));
}
inline void insert(Program &program, size_t rank, size_t index,
                   Instruction instruction) {
  program.ranks[rank].insert(program.ranks[rank].begin() +
                                 static_cast<std::ptrdiff_t>(index),
                             std::move(instruction));
}

/// The first violation is `[rule] place: message`.
inline void expectFault(const Program &program, const std::string &expected) {
  std::vector<Violation> violations =
      program.bound ? validateBound(program) : validateTemplate(program);
  if (violations.empty()) {
    ADD_FAILURE() << "accepted, expected " << expected;
    return;
  }
  EXPECT_EQ(concat("[", violations[0].rule, "] ", violations[0].toString()),
            expected);
}

} // namespace sart::test

#endif // SPARSEATTN_TEST_PROGRAM_PROGRAMTESTSUPPORT_H
