//===- ExecutorStructure.cpp - What the interpreter relies on -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExecutorState.h"
#include "OpcodeInfo.h"

#include <algorithm>
#include <unistd.h>

using namespace sart;

namespace {

class StructureCheck {
public:
  explicit StructureCheck(const Program &program) : program(program) {}

  Status run() {
    SART_RETURN_IF_ERROR(program.placement.verify());
    SART_RETURN_IF_ERROR(program.policy.verify());
    for (const Window &window : program.windows)
      SART_RETURN_IF_ERROR(window.verify());
    auto ranks = static_cast<size_t>(program.placement.mesh.ranks());
    size_t lists = program.bound ? ranks : 1;
    if (program.ranks.size() != lists)
      return makeError("number of instruction lists does not match: got ",
                       program.ranks.size(), ", expected ", lists);
    SART_RETURN_IF_ERROR(program.bound ? checkMask() : checkStatics(ranks));
    for (size_t list = 0; list < program.ranks.size(); ++list) {
      tokens = 0;
      for (const Instruction &instruction : program.ranks[list])
        if (instruction.token >= tokens &&
            instruction.token < maxTransferTokens)
          tokens = instruction.token + 1;
      for (size_t i = 0; i < program.ranks[list].size(); ++i) {
        Status status = check(program.ranks[list][i]);
        if (!status.ok())
          return makeError(program.bound ? concat("rank ", list, " ") : "",
                           "instruction ", i, ": ", status.message());
      }
    }
    return Status::success();
  }

private:
  Status checkMask() const {
    const LayerShape &shape = program.placement.shape;
    if (!program.mask)
      return makeError("mask of a bound program missing: expected one of ",
                       shape.heads, "x", shape.qBlocks(), "x", shape.kvBlocks(),
                       " blocks");
    if (program.mask->heads() != shape.heads ||
        program.mask->qBlocks() != shape.qBlocks() ||
        program.mask->kvBlocks() != shape.kvBlocks())
      return makeError("mask of the program does not match its shape: got ",
                       program.mask->heads(), "x", program.mask->qBlocks(), "x",
                       program.mask->kvBlocks(), " blocks, expected ",
                       shape.heads, "x", shape.qBlocks(), "x",
                       shape.kvBlocks());
    return Status::success();
  }

  Status checkStatics(size_t ranks) const {
    const auto &values = program.statics.values;
    if (values.size() != ranks)
      return makeError("static binding does not match the mesh: got values of ",
                       values.size(), " ranks, expected ", ranks);
    for (const auto &symbols : values)
      if (symbols.size() != program.symbols.size())
        return makeError("static binding does not match the symbols: got ",
                         symbols.size(), " values, expected ",
                         program.symbols.size());
    return Status::success();
  }

  Status checkOperand(const Operand &operand) const {
    if (operand.symbol < 0)
      return Status::success();
    if (program.bound ||
        static_cast<size_t>(operand.symbol) >= program.symbols.size())
      return makeError("symbol out of range: got ", operand.symbol,
                       ", expected below ",
                       program.bound ? 0 : program.symbols.size());
    return Status::success();
  }

  Status check(const Instruction &instruction) const {
    auto opcode = static_cast<size_t>(instruction.opcode);
    if (opcode >= numOpcodes)
      return makeError("opcode out of range: got ", opcode, ", expected below ",
                       numOpcodes);
    const OpcodeInfo &info = infoOf(instruction.opcode);
    if (instruction.windows.size() != static_cast<size_t>(info.numWindows))
      return makeError("number of windows of ", info.name,
                       " does not match: got ", instruction.windows.size(),
                       ", expected ", info.numWindows);
    if (instruction.lists.size() != static_cast<size_t>(info.numLists))
      return makeError("number of lists of ", info.name,
                       " does not match: got ", instruction.lists.size(),
                       ", expected ", info.numLists);
    for (int32_t window : instruction.windows)
      if (window < 0 || static_cast<size_t>(window) >= program.windows.size())
        return makeError("window out of range: got ", window,
                         ", expected below ", program.windows.size());
    for (const Operand &operand : instruction.lists)
      SART_RETURN_IF_ERROR(checkOperand(operand));
    SART_RETURN_IF_ERROR(checkOperand(instruction.peer));
    if (instruction.token < -1 || instruction.token >= maxTransferTokens)
      return makeError("token out of range: got ", instruction.token,
                       ", expected -1 to ", maxTransferTokens - 1);
    for (int32_t token : instruction.waits)
      if (token < 0 || token >= tokens)
        return makeError("token out of range: got ", token, ", expected below ",
                         tokens);
    return Status::success();
  }

  const Program &program;
  int32_t tokens = 0;
};

} // namespace

Status sart::checkStructure(const Program &program) {
  return StructureCheck(program).run();
}

Status sart::checkMemory(const Program &program, size_t localRanks) {
  double bytes = 0;
  for (const Window &window : program.windows)
    if (window.role == Window::Role::Internal)
      bytes += static_cast<double>(window.slots) *
               static_cast<double>(window.rows) *
               static_cast<double>(window.rowBytes());
  bytes *= static_cast<double>(localRanks);
  double available = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                     static_cast<double>(sysconf(_SC_PAGESIZE));
  if (available > 0 && bytes > available)
    return makeError("memory of the windows over all ranks not available: got ",
                     static_cast<int64_t>(available / 1e6),
                     " MB on this machine, expected ",
                     static_cast<int64_t>(std::min(bytes / 1e6, 9e18)), " MB");
  return Status::success();
}
