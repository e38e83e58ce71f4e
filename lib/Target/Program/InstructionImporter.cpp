//===- InstructionImporter.cpp - One instruction to its operation ---------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "InstructionImporter.h"

using namespace mlir;
using namespace mlir::sa_comm;
using sart::Opcode;

namespace {

/// What the operation of an opcode takes.
struct OperandShape {
  const char *name;
  size_t windows;
  std::initializer_list<ListKind> lists;
  bool peer = false, token = false, group = false;
};

const OperandShape &shapeOf(Opcode opcode) {
  using K = ListKind;
  static const OperandShape shapes[sart::numOpcodes] = {
      {"all_to_all",
       2,
       {K::Chunks, K::Counts, K::Chunks, K::Counts},
       false,
       false,
       true},
      {"all_gather", 2, {K::Chunks, K::Chunks, K::Counts}, false, false, true},
      {"pool", 2, {K::Work, K::Side}},
      {"route", 4, {K::Work}},
      {"plan", 1, {}},
      {"load_mask", 1, {K::Work}},
      {"pack", 2, {K::Chunks, K::Chunks}},
      {"send", 1, {K::Chunks}, true, true},
      {"recv", 1, {K::Chunks}, true, true},
      {"put", 2, {K::Chunks, K::Chunks}, true},
      {"signal", 0, {}, true},
      {"wait", 0, {}},
      {"wait_signal", 0, {}, true},
      {"attend", 6, {K::Work}},
      {"merge", 4, {K::Chunks}},
      {"release", 1, {K::Slots}},
      {"augment", 3, {K::Work}},
      {"convert", 2, {K::Chunks}},
  };
  return shapes[static_cast<size_t>(opcode)];
}

} // namespace

LogicalResult
InstructionImporter::checkForm(const sart::Instruction &instruction) {
  const OperandShape &shape = shapeOf(instruction.opcode);
  if (instruction.windows.size() != shape.windows ||
      instruction.lists.size() != shape.lists.size())
    return error() << "operands of '" << shape.name << "' differ: got "
                   << instruction.windows.size() << " windows and "
                   << instruction.lists.size() << " lists, expected "
                   << shape.windows << " and " << shape.lists.size();
  for (int32_t window : instruction.windows)
    if (window < 0 || static_cast<size_t>(window) >= program.windows.size())
      return error() << "window of '" << shape.name << "' is out of range: got "
                     << window << ", expected 0 to "
                     << program.windows.size() - 1;
  if (!shape.peer &&
      (instruction.peer.isSymbol() || !instruction.peer.values.empty()))
    return error() << "'" << shape.name
                   << "' has a peer: got one, expected none";
  if (!shape.group && instruction.group != sart::Group::All)
    return error() << "'" << shape.name << "' has a group: got "
                   << stringifyGroup(static_cast<Group>(instruction.group))
                   << ", expected all";
  if (shape.token != (instruction.token >= 0) || instruction.token < -1)
    return error() << "token of '" << shape.name << "' does not fit: got "
                   << instruction.token << ", expected "
                   << (shape.token ? "at least 0" : "-1");
  if (instruction.opcode != Opcode::Wait && !instruction.waits.empty())
    return error() << "'" << shape.name << "' waits for tokens: got "
                   << instruction.waits.size() << ", expected none";
  return success();
}

Attribute InstructionImporter::toAttribute(const sart::Operand &operand,
                                           ListKind kind) {
  MLIRContext *context = builder.getContext();
  auto emit = [&] { return error(); };
  if (operand.isSymbol()) {
    auto index = static_cast<size_t>(operand.symbol);
    if (index >= program.symbols.size() || !operand.values.empty() ||
        kind == ListKind::Side) {
      error() << "symbol operand is malformed: got symbol " << operand.symbol
              << " with " << operand.values.size()
              << " values, expected one of " << program.symbols.size()
              << " symbols without values";
      return {};
    }
    return symbolList(context, program.symbols[index].name);
  }
  ArrayRef<int64_t> values(operand.values);
  switch (kind) {
  case ListKind::Chunks:
    return ChunksAttr::getChecked(emit, context, values);
  case ListKind::Work:
    return WorkListAttr::getChecked(emit, context, values);
  case ListKind::Counts:
  case ListKind::Slots:
    return intList(context, values);
  case ListKind::Side:
    break;
  }
  if (values.size() != 1 || values[0] < 0 || values[0] > 1) {
    error() << "side of 'pool' is unknown: got " << values.size()
            << " integers, expected 0 or 1";
    return {};
  }
  return SideAttr::get(context, static_cast<Side>(values[0]));
}

LogicalResult InstructionImporter::add(const sart::Instruction &instruction,
                                       std::string where) {
  place = std::move(where);
  if (failed(checkForm(instruction)))
    return failure();
  SmallVector<StringRef> w;
  for (int32_t window : instruction.windows)
    w.push_back(program.windows[static_cast<size_t>(window)].name);
  SmallVector<Attribute> l;
  const OperandShape &shape = shapeOf(instruction.opcode);
  for (auto [operand, kind] : llvm::zip_equal(instruction.lists, shape.lists)) {
    l.push_back(toAttribute(operand, kind));
    if (!l.back())
      return failure();
  }
  Attribute peer;
  if (shape.peer) {
    peer = toAttribute(instruction.peer, ListKind::Counts);
    if (!peer)
      return failure();
  }
  SmallVector<Value> waits;
  for (int32_t token : instruction.waits) {
    waits.push_back(tokens.lookup(token));
    if (!waits.back())
      return error() << "token is waited for before it is defined: got token "
                     << token << ", expected a token of an earlier send or "
                     << "receive";
  }
  Operation *op = createOp(instruction, w, l, peer, waits);
  if (shape.token &&
      !tokens.try_emplace(instruction.token, op->getResult(0)).second)
    return error() << "token is defined twice: got token " << instruction.token
                   << ", expected a new one";
  return success();
}

Operation *InstructionImporter::createOp(const sart::Instruction &instruction,
                                         ArrayRef<StringRef> w,
                                         ArrayRef<Attribute> l, Attribute peer,
                                         ArrayRef<Value> waits) {
  auto group = static_cast<Group>(instruction.group);
  OpBuilder &b = builder;
  switch (instruction.opcode) {
  case Opcode::AllToAll:
    return AllToAllOp::create(b, loc, group, w[0], w[1], l[0], l[1], l[2],
                              l[3]);
  case Opcode::AllGather:
    return AllGatherOp::create(b, loc, group, w[0], w[1], l[0], l[1], l[2]);
  case Opcode::Pool:
    return PoolOp::create(b, loc, cast<SideAttr>(l[1]).getValue(), w[0], w[1],
                          l[0]);
  case Opcode::Route:
    return RouteOp::create(b, loc, w[0], w[1], w[2], w[3], l[0]);
  case Opcode::Plan:
    return PlanOp::create(b, loc, w[0]);
  case Opcode::LoadMask:
    return LoadMaskOp::create(b, loc, w[0], l[0]);
  case Opcode::Pack:
    return PackOp::create(b, loc, w[0], l[0], w[1], l[1]);
  case Opcode::Send:
    return SendOp::create(b, loc, w[0], l[0], peer);
  case Opcode::Recv:
    return RecvOp::create(b, loc, w[0], l[0], peer);
  case Opcode::Put:
    return PutOp::create(b, loc, w[0], l[0], w[1], l[1], peer);
  case Opcode::Signal:
    return SignalOp::create(b, loc, peer);
  case Opcode::Wait:
    return WaitOp::create(b, loc, waits);
  case Opcode::WaitSignal:
    return WaitSignalOp::create(b, loc, peer);
  case Opcode::Attend:
    return AttendOp::create(b, loc, w[0], w[1], w[2], w[3], w[4], w[5], l[0]);
  case Opcode::Merge:
    return MergeOp::create(b, loc, w[0], w[1], w[2], w[3], l[0]);
  case Opcode::Release:
    return ReleaseOp::create(b, loc, w[0], l[0]);
  case Opcode::Augment:
    return AugmentOp::create(b, loc, w[0], w[1], w[2], l[0]);
  case Opcode::Convert:
    return ConvertOp::create(b, loc, w[0], w[1], l[0]);
  }
  return nullptr;
}
