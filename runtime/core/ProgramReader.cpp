//===- ProgramReader.cpp - Bytes to programs ------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Total on any input: every count is compared with the bytes that are left
// before memory is taken for it, so that what is allocated stays a small
// multiple of the input.
//
//===----------------------------------------------------------------------===//

#include "ByteReader.h"
#include "ProgramFormat.h"
#include "sparseattn-rt/Program.h"

#include <algorithm>

using namespace sart;

namespace {

DType readDType(ByteReader &in) {
  return in.enumeration<DType>("element type", 5);
}

void read(ByteReader &in, Placement &placement) {
  LayerShape &shape = placement.shape;
  placement.mesh.ulysses = in.i64();
  placement.mesh.ring = in.i64();
  for (int64_t *value : {&shape.heads, &shape.kvHeads, &shape.sq, &shape.skv,
                         &shape.headDim, &shape.blockQ, &shape.blockK})
    *value = in.i64();
  shape.causal = in.boolean("causal flag");
  shape.dtype = readDType(in);
  placement.blockShards = in.boolean("block shards flag");
}

void read(ByteReader &in, RoutingPolicy &policy) {
  policy.kind = in.enumeration<RoutingPolicy::Kind>("routing policy", 5);
  policy.p = in.f32();
  policy.minBlocks = in.i64();
  policy.k = in.i64();
  policy.keep.resize(in.count("keep ranges", 16));
  for (Range &range : policy.keep) {
    range.begin = in.i64();
    range.end = in.i64();
  }
  policy.windowBlocks = in.i64();
}

void read(ByteReader &in, PlannerOptions &options) {
  options.balance = in.enumeration<Balance>("balance", 4);
  options.augment = in.boolean("augment flag");
  options.repair = in.boolean("repair flag");
  for (int64_t *value :
       {&options.k1Milli, &options.k2Milli, &options.n1Milli, &options.n2Milli,
        &options.maxPieces, &options.cost.tilePs, &options.cost.rowPs,
        &options.cost.transferPs, &options.cost.bytePs,
        &options.cost.scheduleNs})
    *value = in.i64();
}

void read(ByteReader &in, Operand &operand) {
  size_t at = in.offset();
  operand.symbol = in.i32();
  if (operand.symbol < -1)
    in.fail(makeError("symbol at offset ", at, " out of range: got ",
                      operand.symbol, ", expected at least -1"));
  operand.values = in.list64("operand values");
}

void read(ByteReader &in, Instruction &instruction) {
  instruction.opcode = in.enumeration<Opcode>("opcode", numOpcodes);
  instruction.phase = in.i32();
  instruction.group = in.enumeration<Group>("group", 3);
  instruction.windows = in.list32("operand windows");
  instruction.lists.resize(in.count("operand lists", 8));
  for (Operand &operand : instruction.lists)
    read(in, operand);
  read(in, instruction.peer);
  instruction.token = in.i32();
  instruction.waits = in.list32("awaited tokens");
}

void readMask(ByteReader &in, std::optional<BlockMask> &mask) {
  // Sizes are bounded before rows are counted: without rows nothing in the
  // input stands behind them.
  constexpr int64_t most = int64_t(1) << 31;
  int64_t sizes[3];
  for (int64_t &size : sizes) {
    size_t at = in.offset();
    size = in.i64();
    if (size < 0 || size >= most)
      in.fail(makeError("mask size at offset ", at, " out of range: got ", size,
                        ", expected 0 to ", most - 1));
  }
  if (!in.ok())
    return;
  auto rows = static_cast<size_t>(sizes[0] * sizes[1]);
  if (rows > in.left() / 4) {
    in.fail(makeError("number of mask rows at offset ", in.offset(),
                      " exceeds the input: got ", rows, ", expected at most ",
                      in.left() / 4));
    return;
  }
  if (rows == 0) {
    mask = BlockMask(sizes[0], sizes[1], sizes[2]);
    return;
  }
  std::vector<std::vector<int32_t>> lists(rows);
  for (std::vector<int32_t> &list : lists)
    list = in.list32("mask indices");
  if (!in.ok())
    return;
  Expected<BlockMask> read =
      BlockMask::fromLists(sizes[0], sizes[1], sizes[2], lists);
  if (read)
    mask = std::move(*read);
  else
    in.fail(read.status());
}

void readBody(ByteReader &in, Program &program) {
  program.name = in.text("name characters");
  read(in, program.placement);
  program.scale = in.f32();
  read(in, program.policy);
  read(in, program.planner);
  program.bound = in.boolean("bound flag");
  program.windows.resize(in.count("windows", 30));
  for (Window &window : program.windows) {
    size_t at = in.offset();
    window.name = in.text("name characters");
    window.dtype = readDType(in);
    window.slots = in.i64();
    window.rows = in.i64();
    window.rowElements = in.i64();
    window.role = in.enumeration<Window::Role>("window role", 3);
    if (!in.ok())
      return;
    if (Status status = window.verify(); !status.ok())
      in.fail(makeError("window at offset ", at, ": ", status.message()));
  }
  program.symbols.resize(in.count("symbols", 5));
  for (Symbol &symbol : program.symbols) {
    symbol.name = in.text("name characters");
    symbol.isStatic = in.boolean("static flag");
  }
  program.ranks.resize(in.count("instruction lists", 4));
  for (std::vector<Instruction> &instructions : program.ranks) {
    instructions.resize(in.count("instructions", 30));
    for (Instruction &instruction : instructions)
      read(in, instruction);
  }
  program.statics.values.resize(in.count("bound ranks", 4));
  for (std::vector<std::vector<int64_t>> &rank : program.statics.values) {
    rank.resize(in.count("symbol values", 4));
    for (std::vector<int64_t> &values : rank)
      values = in.list64("symbol values");
  }
  if (in.boolean("mask flag"))
    readMask(in, program.mask);
}

} // namespace

Expected<Program> sart::deserialize(const uint8_t *bytes, size_t size) {
  SART_RETURN_IF_ERROR(checkContentHeader(programHeader, bytes, size));
  Program program;
  ByteReader body("program", bytes + contentHeaderBytes,
                  size - contentHeaderBytes);
  readBody(body, program);
  if (!body.ok())
    return body.status();
  if (body.left() != 0)
    return makeError("program has trailing bytes: got ", body.left(),
                     ", expected 0");
  return program;
}
