//===- ProgramSerializer.cpp - Programs to bytes --------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ByteWriter.h"
#include "ProgramFormat.h"
#include "sparseattn-rt/Program.h"

using namespace sart;

namespace {

void write(ByteWriter &out, const Placement &placement) {
  const LayerShape &shape = placement.shape;
  out.i64(placement.mesh.ulysses);
  out.i64(placement.mesh.ring);
  for (int64_t value : {shape.heads, shape.kvHeads, shape.sq, shape.skv,
                        shape.headDim, shape.blockQ, shape.blockK})
    out.i64(value);
  out.boolean(shape.causal);
  out.enumeration(shape.dtype);
  out.boolean(placement.blockShards);
}

void write(ByteWriter &out, const RoutingPolicy &policy) {
  out.enumeration(policy.kind);
  out.f32(policy.p);
  out.i64(policy.minBlocks);
  out.i64(policy.k);
  out.count(policy.keep.size());
  for (Range range : policy.keep) {
    out.i64(range.begin);
    out.i64(range.end);
  }
  out.i64(policy.windowBlocks);
}

void write(ByteWriter &out, const PlannerOptions &options) {
  out.enumeration(options.balance);
  out.boolean(options.augment);
  out.boolean(options.repair);
  for (int64_t value :
       {options.k1Milli, options.k2Milli, options.n1Milli, options.n2Milli,
        options.maxPieces, options.cost.tilePs, options.cost.rowPs,
        options.cost.transferPs, options.cost.bytePs, options.cost.scheduleNs})
    out.i64(value);
}

void write(ByteWriter &out, const Operand &operand) {
  out.i32(operand.symbol);
  out.list(operand.values);
}

void write(ByteWriter &out, const Instruction &instruction) {
  out.enumeration(instruction.opcode);
  out.i32(instruction.phase);
  out.enumeration(instruction.group);
  out.list(instruction.windows);
  out.count(instruction.lists.size());
  for (const Operand &operand : instruction.lists)
    write(out, operand);
  write(out, instruction.peer);
  out.i32(instruction.token);
  out.list(instruction.waits);
}

void write(ByteWriter &out, const BlockMask &mask) {
  out.i64(mask.heads());
  out.i64(mask.qBlocks());
  out.i64(mask.kvBlocks());
  for (int64_t head = 0; head < mask.heads(); ++head) {
    for (int64_t row = 0; row < mask.qBlocks(); ++row) {
      int64_t count = mask.count(head, row);
      const int32_t *indices = mask.row(head, row);
      out.count(static_cast<size_t>(count));
      for (int64_t i = 0; i < count; ++i)
        out.i32(indices[i]);
    }
  }
}

std::vector<uint8_t> serializeBody(const Program &program) {
  std::vector<uint8_t> body;
  ByteWriter out(body);
  out.text(program.name);
  write(out, program.placement);
  out.f32(program.scale);
  write(out, program.policy);
  write(out, program.planner);
  out.boolean(program.bound);
  out.count(program.windows.size());
  for (const Window &window : program.windows) {
    out.text(window.name);
    out.enumeration(window.dtype);
    out.i64(window.slots);
    out.i64(window.rows);
    out.i64(window.rowElements);
    out.enumeration(window.role);
  }
  out.count(program.symbols.size());
  for (const Symbol &symbol : program.symbols) {
    out.text(symbol.name);
    out.boolean(symbol.isStatic);
  }
  out.count(program.ranks.size());
  for (const std::vector<Instruction> &instructions : program.ranks) {
    out.count(instructions.size());
    for (const Instruction &instruction : instructions)
      write(out, instruction);
  }
  out.count(program.statics.values.size());
  for (const std::vector<std::vector<int64_t>> &rank : program.statics.values) {
    out.count(rank.size());
    for (const std::vector<int64_t> &values : rank)
      out.list(values);
  }
  out.boolean(program.mask.has_value());
  if (program.mask)
    write(out, *program.mask);
  return body;
}

} // namespace

std::vector<uint8_t> sart::serialize(const Program &program) {
  std::vector<uint8_t> body = serializeBody(program);
  return withContentHeader(programHeader, body);
}

uint64_t sart::contentHash(const Program &program) {
  std::vector<uint8_t> body = serializeBody(program);
  return hashBytes(body.data(), body.size());
}
