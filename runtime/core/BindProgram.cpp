//===- BindProgram.cpp - From a template to one list per rank -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a known mask makes superfluous goes: routing and planning, the gathers
// that only they read, transfers without rows, waits without tokens, internal
// windows that no instruction uses. A collective stays on every rank as long
// as one rank has rows for it, because all members enter it.
//
//===----------------------------------------------------------------------===//

#include "OpcodeInfo.h"

#include <algorithm>
#include <map>

using namespace sart;

namespace {

Status checkInputs(const Program &program, const Binding &binding,
                   const BlockMask &mask) {
  if (program.bound)
    return makeError("program is bound already: got a bound program, expected "
                     "a template");
  if (program.ranks.size() != 1)
    return makeError("number of instruction lists of a template differs: got ",
                     program.ranks.size(), ", expected 1");
  SART_RETURN_IF_ERROR(program.placement.verify());
  const Mesh &mesh = program.placement.mesh;
  if (static_cast<int64_t>(binding.values.size()) != mesh.ranks())
    return makeError("number of ranks of the binding differs: got ",
                     binding.values.size(), ", expected ", mesh.ranks());
  for (size_t rank = 0; rank < binding.values.size(); ++rank)
    if (binding.values[rank].size() != program.symbols.size())
      return makeError("number of symbol values of rank ", rank,
                       " differs: got ", binding.values[rank].size(),
                       ", expected ", program.symbols.size());
  const LayerShape &shape = program.placement.shape;
  if (mask.heads() != shape.heads || mask.qBlocks() != shape.qBlocks() ||
      mask.kvBlocks() != shape.kvBlocks())
    return makeError("mask shape differs: got ", mask.heads(), "x",
                     mask.qBlocks(), "x", mask.kvBlocks(), ", expected ",
                     shape.heads, "x", shape.qBlocks(), "x", shape.kvBlocks());
  auto windows = static_cast<int32_t>(program.windows.size());
  auto symbols = static_cast<int32_t>(program.symbols.size());
  const std::vector<Instruction> &instructions = program.ranks[0];
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Instruction &instruction = instructions[i];
    const OpcodeInfo &info = infoOf(instruction.opcode);
    if (static_cast<int>(instruction.windows.size()) != info.numWindows ||
        static_cast<int>(instruction.lists.size()) != info.numLists)
      return makeError(
          "operands of instruction ", i, " (", info.name, ") differ: got ",
          instruction.windows.size(), " windows and ", instruction.lists.size(),
          " lists, expected ", info.numWindows, " and ", info.numLists);
    for (int32_t window : instruction.windows)
      if (window < 0 || window >= windows)
        return makeError("window of instruction ", i, " (", info.name,
                         ") out of range: got ", window, ", expected 0 to ",
                         windows - 1);
    auto known = [&](const Operand &operand) {
      return operand.symbol < symbols;
    };
    if (!known(instruction.peer) ||
        !std::all_of(instruction.lists.begin(), instruction.lists.end(), known))
      return makeError("symbol of instruction ", i, " (", info.name,
                       ") is not declared: got an index beyond ", symbols,
                       " symbols, expected a declared one");
  }
  return Status::success();
}

class Binder {
public:
  Binder(const Program &program, const Binding &binding)
      : program(program), binding(binding), source(program.ranks[0]) {}

  Program run(const BlockMask &mask) {
    Program result;
    result.name = program.name;
    result.placement = program.placement;
    result.scale = program.scale;
    result.policy = program.policy;
    result.planner = program.planner;
    result.windows = program.windows;
    result.mask = mask;
    result.bound = true;
    findDropped();
    result.ranks.resize(binding.values.size());
    for (size_t rank = 0; rank < result.ranks.size(); ++rank)
      result.ranks[rank] = bindRank(rank);
    removeUnusedWindows(result);
    closePhaseGaps(result);
    return result;
  }

private:
  const std::vector<int64_t> &valuesOf(const Operand &operand,
                                       size_t rank) const {
    return operand.isSymbol()
               ? binding.values[rank][static_cast<size_t>(operand.symbol)]
               : operand.values;
  }

  bool listsEmpty(const Instruction &instruction, size_t rank) const {
    const OpcodeInfo &info = infoOf(instruction.opcode);
    for (size_t l = 0; l < instruction.lists.size(); ++l)
      if (info.lists[l].kind != ListKind::Counts &&
          !valuesOf(instruction.lists[l], rank).empty())
        return false;
    return true;
  }

  bool emptyOnAllRanks(const Instruction &instruction) const {
    for (size_t rank = 0; rank < binding.values.size(); ++rank)
      if (!listsEmpty(instruction, rank))
        return false;
    return true;
  }

  /// Marks instructions that vanish on every rank.
  void findDropped() {
    dropped.assign(source.size(), false);
    bool plans = false;
    for (size_t i = 0; i < source.size(); ++i) {
      const OpcodeInfo &info = infoOf(source[i].opcode);
      plans |= source[i].opcode == Opcode::Plan;
      dropped[i] = info.routing && source[i].opcode != Opcode::Route;
      if (info.collective && !info.routing)
        dropped[i] = emptyOnAllRanks(source[i]);
    }
    if (!plans)
      return;
    // Gathers whose result only routing and planning read.
    for (size_t i = 0; i < source.size(); ++i)
      if (source[i].opcode == Opcode::AllGather &&
          onlyRoutingUses(source[i].windows[1], i))
        dropped[i] = true;
  }

  bool onlyRoutingUses(int32_t window, size_t except) const {
    for (size_t i = 0; i < source.size(); ++i) {
      const std::vector<int32_t> &used = source[i].windows;
      if (i != except && !infoOf(source[i].opcode).routing &&
          std::find(used.begin(), used.end(), window) != used.end())
        return false;
    }
    return true;
  }

  std::vector<Instruction> bindRank(size_t rank) {
    std::vector<Instruction> bound;
    bound.reserve(source.size());
    std::vector<int32_t> skippedTokens;
    for (size_t i = 0; i < source.size(); ++i) {
      const Instruction &from = source[i];
      const OpcodeInfo &info = infoOf(from.opcode);
      bool skip = dropped[i];
      if (info.peer)
        skip |= valuesOf(from.peer, rank).empty();
      if (!info.collective && info.numLists > 0)
        skip |= listsEmpty(from, rank);
      if (skip) {
        if (info.token)
          skippedTokens.push_back(from.token);
        continue;
      }
      Instruction to;
      to.opcode = from.opcode;
      to.phase = from.phase;
      to.group = from.group;
      to.token = from.token;
      to.windows = from.windows;
      for (const Operand &operand : from.lists)
        to.lists.push_back(Operand::immediate(valuesOf(operand, rank)));
      to.peer = Operand::immediate(valuesOf(from.peer, rank));
      if (from.opcode == Opcode::Route) {
        to.opcode = Opcode::LoadMask;
        to.windows = {from.windows[2]};
      }
      if (from.opcode == Opcode::Wait) {
        for (int32_t token : from.waits)
          if (std::find(skippedTokens.begin(), skippedTokens.end(), token) ==
              skippedTokens.end())
            to.waits.push_back(token);
        if (to.waits.empty())
          continue;
      }
      bound.push_back(std::move(to));
    }
    return bound;
  }

  static void removeUnusedWindows(Program &result) {
    std::vector<bool> used(result.windows.size(), false);
    for (size_t w = 0; w < used.size(); ++w)
      used[w] = result.windows[w].role != Window::Role::Internal;
    for (const std::vector<Instruction> &instructions : result.ranks)
      for (const Instruction &instruction : instructions)
        for (int32_t window : instruction.windows)
          used[static_cast<size_t>(window)] = true;
    std::vector<int32_t> renumbered(used.size(), -1);
    std::vector<Window> kept;
    for (size_t w = 0; w < used.size(); ++w) {
      if (!used[w])
        continue;
      renumbered[w] = static_cast<int32_t>(kept.size());
      kept.push_back(std::move(result.windows[w]));
    }
    result.windows = std::move(kept);
    for (std::vector<Instruction> &instructions : result.ranks)
      for (Instruction &instruction : instructions)
        for (int32_t &window : instruction.windows)
          window = renumbered[static_cast<size_t>(window)];
  }

  /// Numbers the phases that are left 0, 1, ... alike on all ranks.
  static void closePhaseGaps(Program &result) {
    std::map<int32_t, int32_t> numbers;
    for (const std::vector<Instruction> &instructions : result.ranks)
      for (const Instruction &instruction : instructions)
        numbers[instruction.phase] = 0;
    int32_t next = 0;
    for (auto &[phase, number] : numbers)
      number = next++;
    for (std::vector<Instruction> &instructions : result.ranks)
      for (Instruction &instruction : instructions)
        instruction.phase = numbers[instruction.phase];
  }

  const Program &program;
  const Binding &binding;
  const std::vector<Instruction> &source;
  std::vector<bool> dropped;
};

} // namespace

Expected<Program> sart::bindProgram(const Program &program,
                                    const Binding &binding,
                                    const BlockMask &mask) {
  SART_RETURN_IF_ERROR(checkInputs(program, binding, mask));
  return Binder(program, binding).run(mask);
}
