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

#include "ProgramFormat.h"
#include "sparseattn-rt/Program.h"

#include <algorithm>
#include <cstring>
#include <iomanip>

using namespace sart;

namespace {

/// Reads until the first failure; later reads give zero.
class ByteReader {
public:
  ByteReader(const uint8_t *bytes, size_t size) : bytes(bytes), size(size) {}

  bool ok() const { return failure.ok(); }
  const Status &status() const { return failure; }
  size_t offset() const { return position; }
  size_t left() const { return size - position; }
  void fail(Status status) {
    if (ok())
      failure = std::move(status);
  }

  uint8_t u8() { return static_cast<uint8_t>(little(1)); }
  uint16_t u16() { return static_cast<uint16_t>(little(2)); }
  uint32_t u32() { return static_cast<uint32_t>(little(4)); }
  uint64_t u64() { return little(8); }
  int32_t i32() { return static_cast<int32_t>(u32()); }
  int64_t i64() { return static_cast<int64_t>(u64()); }
  float f32() {
    uint32_t bits = u32();
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  bool boolean(const char *what) { return enumeration<uint8_t>(what, 2) != 0; }
  /// One byte below `values`.
  template <typename Enum>
  Enum enumeration(const char *what, int values) {
    size_t at = position;
    uint8_t value = u8();
    if (value >= values) {
      fail(makeError(what, " at offset ", at, " is unknown: got ",
                     static_cast<int>(value), ", expected 0 to ", values - 1));
      return Enum{};
    }
    return static_cast<Enum>(value);
  }
  /// A count of items that take at least `itemBytes` each.
  size_t count(const char *what, size_t itemBytes) {
    size_t at = position;
    size_t value = u32();
    if (value > left() / itemBytes) {
      fail(makeError("number of ", what, " at offset ", at,
                     " exceeds the input: got ", value, ", expected at most ",
                     left() / itemBytes));
      return 0;
    }
    return value;
  }
  std::string text(const char *what) {
    size_t length = count(what, 1);
    std::string value(reinterpret_cast<const char *>(bytes + position), length);
    position += length;
    return value;
  }
  std::vector<int32_t> list32(const char *what) {
    std::vector<int32_t> values(count(what, 4));
    for (int32_t &value : values)
      value = i32();
    return values;
  }
  std::vector<int64_t> list64(const char *what) {
    std::vector<int64_t> values(count(what, 8));
    for (int64_t &value : values)
      value = i64();
    return values;
  }

private:
  uint64_t little(size_t width) {
    if (!ok())
      return 0;
    if (left() < width) {
      fail(makeError("program bytes truncated at offset ", position, ": got ",
                     left(), " bytes, expected ", width));
      return 0;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < width; ++i)
      value |= static_cast<uint64_t>(bytes[position + i]) << (8 * i);
    position += width;
    return value;
  }

  const uint8_t *bytes;
  size_t size;
  size_t position = 0;
  Status failure;
};

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
  options.balance = in.enumeration<Balance>("balance", 2);
  options.augment = in.boolean("augment flag");
  for (int64_t *value :
       {&options.k1Milli, &options.k2Milli, &options.n1Milli, &options.n2Milli,
        &options.cost.tilePs, &options.cost.rowPs, &options.cost.transferPs,
        &options.cost.bytePs, &options.cost.scheduleNs})
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
    window.name = in.text("name characters");
    window.dtype = readDType(in);
    window.slots = in.i64();
    window.rows = in.i64();
    window.rowElements = in.i64();
    window.role = in.enumeration<Window::Role>("window role", 3);
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

std::string beginning(const uint8_t *bytes, size_t size) {
  std::ostringstream stream;
  stream << std::hex << std::setfill('0');
  for (size_t i = 0; i < size; ++i)
    stream << (i > 0 ? " " : "") << std::setw(2) << static_cast<int>(bytes[i]);
  return size > 0 ? stream.str() : "no bytes";
}

std::string hexadecimal(uint64_t value) {
  std::ostringstream stream;
  stream << "0x" << std::hex << std::setw(16) << std::setfill('0') << value;
  return stream.str();
}

} // namespace

Expected<Program> sart::deserialize(const uint8_t *bytes, size_t size) {
  if (size < sizeof(programMagic) ||
      std::memcmp(bytes, programMagic, sizeof(programMagic)) != 0)
    return makeError("program magic differs: got ",
                     beginning(bytes, std::min(size, sizeof(programMagic))),
                     ", expected 53 41 50 52 4f 47 (\"SAPROG\")");
  ByteReader in(bytes + sizeof(programMagic), size - sizeof(programMagic));
  uint16_t version = in.u16();
  uint64_t hash = in.u64();
  if (!in.ok())
    return makeError("program header truncated: got ", size,
                     " bytes, expected at least ", programHeaderBytes);
  if (version != programVersion)
    return makeError("program version is not supported: got ", version,
                     ", expected ", programVersion);
  uint64_t actual =
      hashBytes(bytes + programHeaderBytes, size - programHeaderBytes);
  if (actual != hash)
    return makeError("program hash differs: got ", hexadecimal(actual),
                     ", expected ", hexadecimal(hash),
                     " (truncated or changed bytes)");
  Program program;
  ByteReader body(bytes + programHeaderBytes, size - programHeaderBytes);
  readBody(body, program);
  if (!body.ok())
    return body.status();
  if (body.left() != 0)
    return makeError("program has trailing bytes: got ", body.left(),
                     ", expected 0");
  return program;
}
