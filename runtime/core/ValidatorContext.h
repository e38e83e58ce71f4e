//===- ValidatorContext.h - Shared by the validator's rules -----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_CORE_VALIDATORCONTEXT_H
#define SPARSEATTN_RT_CORE_VALIDATORCONTEXT_H

#include "OpcodeInfo.h"
#include "sparseattn-rt/Validator.h"

namespace sart {

struct Schedule;

/// What the placement says about one rank.
struct RankGeometry {
  Range qBlocks, kvBlocks; ///< of the ring segment
  Range qTokens, kvTokens; ///< of the ring segment
  Range qShard, kvShard;   ///< at the layer's entry and exit
};

/// The program, its violations so far, and derived numbers.
class ValidatorContext {
public:
  ValidatorContext(const Program &program, const ValidatorOptions &options)
      : program(program), options(options) {}

  const Program &program;
  const ValidatorOptions &options;
  std::vector<RankGeometry> geometry; ///< filled by checkHeader
  std::vector<Violation> violations;

  bool clean() const { return violations.empty(); }
  bool full() const { return violations.size() >= options.maxViolations; }

  const LayerShape &shape() const { return program.placement.shape; }
  const Mesh &mesh() const { return program.placement.mesh; }
  int64_t numRanks() const {
    return static_cast<int64_t>(program.ranks.size());
  }
  const std::vector<Instruction> &list(int64_t rank) const {
    return program.ranks[static_cast<size_t>(rank)];
  }
  const Window &window(int32_t index) const {
    return program.windows[static_cast<size_t>(index)];
  }

  /// Global q-block from which the rows of `rank`'s entry count.
  int64_t originOf(int64_t rank, const Work &work) const {
    return work.origin < 0 ? geometry[static_cast<size_t>(rank)].qBlocks.begin
                           : work.origin;
  }
  /// Ring segment of an entry's rows.
  int64_t segmentOf(int64_t rank, const Work &work) const {
    const Placement &placement = program.placement;
    if (work.origin < 0)
      return mesh().ringIndex(rank);
    // The last segment that begins at or before the block and has one.
    for (int64_t r = mesh().ring; r-- > 0;)
      if (Range blocks = placement.qBlocksOf(r);
          !blocks.empty() && blocks.begin <= work.origin)
        return r;
    return 0;
  }

  /// A violation of the whole program.
  template <typename... Parts>
  void addGlobal(const char *rule, const Parts &...parts) {
    push(rule, -1, -1, -1, concat(parts...));
  }
  /// A violation at instruction `index` of `rank` (-1: the template).
  template <typename... Parts>
  void add(const char *rule, int64_t rank, size_t index,
           const Parts &...parts) {
    const Instruction &instruction =
        program.ranks[rank < 0 ? 0 : static_cast<size_t>(rank)][index];
    push(rule, rank, instruction.phase, static_cast<int64_t>(index),
         concat(toString(instruction.opcode), " ", parts...));
  }
  void push(const char *rule, int64_t rank, int64_t phase, int64_t instruction,
            std::string message) {
    if (!full())
      violations.push_back(
          {rule, std::move(message), rank, phase, instruction});
  }
};

/// Reports a name that occurs twice ("header").
void checkDistinct(ValidatorContext &context, const char *what,
                   std::vector<std::string_view> names);
/// Placement, windows and the number of lists ("header"). Fills `geometry`.
void checkHeader(ValidatorContext &context);
/// Operands of instruction `index` that do not depend on list values
/// ("structure"); `rank` -1: the template. False: something is wrong.
bool checkOperands(ValidatorContext &context, int64_t rank, size_t index);
/// Phases ascend ("phase"), tokens are defined before they are awaited, and
/// awaited once ("token").
void checkOrder(ValidatorContext &context, int64_t rank);
/// List values of all ranks: immediate, whole, inside windows ("range").
void checkRanges(ValidatorContext &context);

/// Pairs sends with receives, signals with their waits, and the members of
/// collectives ("matching", "collective", "signal", "phase").
void matchSchedule(ValidatorContext &context, Schedule &schedule);

/// Executes all ranks once, symbolically ("progress", "lifetime", "content",
/// "signal"), then compares outputs, demand and coverage ("output", "demand",
/// "coverage"). `prefix`: the part of a template before its plan, which need
/// not write outputs.
void executeSymbolically(ValidatorContext &context, const Schedule &schedule,
                         bool prefix);

/// `q[2] rows 0..128`.
std::string rowsText(const Window &window, int64_t slot, Range rows);
std::string rangeText(Range range);

} // namespace sart

#endif // SPARSEATTN_RT_CORE_VALIDATORCONTEXT_H
