//===- CommVerifiers.cpp - Constraints of single operations ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CommSyntax.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::sa_comm;
using namespace mlir::sa_comm::detail;

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

LogicalResult sa_comm::detail::verifyInstruction(InstructionOpInterface op) {
  for (const ListOperand &list : op.getListOperands()) {
    if (list.kind != ListKind::Counts && list.kind != ListKind::Slots)
      continue;
    for (int64_t value : flattenList(list.value))
      if (value < 0 || value > maxCount)
        return op->emitOpError() << list.name << " are out of range: got "
                                 << value << ", expected 0 to " << maxCount;
  }
  auto peer = dyn_cast_or_null<DenseI64ArrayAttr>(op.getPeerOperand());
  if (!peer)
    return success();
  if (peer.size() > 1)
    return op->emitOpError() << "peer is not one rank: got " << peer.size()
                             << " ranks, expected one or none";
  for (int64_t rank : peer.asArrayRef())
    if (rank < 0 || rank > maxCount - 1)
      return op->emitOpError() << "peer is out of range: got " << rank
                               << ", expected 0 to " << maxCount - 1;
  return success();
}

/// Appends the names of the declarations of type `OpType`: `@q, @k`.
template <typename OpType>
static void listNames(InFlightDiagnostic &error, Operation *schedule) {
  constexpr size_t most = 16;
  SmallVector<StringRef> names;
  for (auto declaration : schedule->getRegion(0).getOps<OpType>())
    names.push_back(declaration.getSymName());
  if (names.empty())
    error << "none, as none is declared";
  for (size_t i = 0; i < std::min(names.size(), most); ++i)
    error << (i == 0 ? "one of @" : ", @") << names[i];
  if (names.size() > most)
    error << " and " << names.size() - most << " more";
}

LogicalResult sa_comm::detail::verifyNames(InstructionOpInterface op,
                                           SymbolTableCollection &tables) {
  // The list's parent is the template or program, by the parent constraints.
  Operation *schedule = op->getParentOp()->getParentOp();
  for (FlatSymbolRefAttr window : op.getWindowRefs())
    if (!isa_and_nonnull<WindowOp>(
            tables.lookupSymbolIn(schedule, window.getAttr()))) {
      InFlightDiagnostic error = op->emitOpError();
      error << "window is not declared: got " << window << ", expected ";
      listNames<WindowOp>(error, schedule);
      return error;
    }
  auto checkSymbol = [&](StringRef what, Attribute list) -> LogicalResult {
    auto symbol = dyn_cast_or_null<FlatSymbolRefAttr>(list);
    if (!symbol || isa_and_nonnull<SymbolOp>(
                       tables.lookupSymbolIn(schedule, symbol.getAttr())))
      return success();
    InFlightDiagnostic error = op->emitOpError();
    error << "symbol of " << what << " is not declared: got " << symbol
          << ", expected ";
    listNames<SymbolOp>(error, schedule);
    return error;
  };
  for (const ListOperand &list : op.getListOperands())
    if (failed(checkSymbol(list.name, list.value)))
      return failure();
  return checkSymbol("peer", op.getPeerOperand());
}

//===----------------------------------------------------------------------===//
// Templates and programs
//===----------------------------------------------------------------------===//

/// Names inside `schedule` are distinct.
static LogicalResult checkDistinctNames(Operation *schedule) {
  llvm::StringMap<Operation *> seen;
  for (Operation &declaration : schedule->getRegion(0).front()) {
    auto name =
        declaration.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
    if (!name)
      continue;
    auto [entry, isNew] = seen.try_emplace(name.getValue(), &declaration);
    if (isNew)
      continue;
    InFlightDiagnostic error = declaration.emitOpError();
    error << "name is not unique: got @" << name.getValue()
          << " twice, expected distinct names of windows and symbols";
    error.attachNote(entry->second->getLoc()) << "first declared here";
    return error;
  }
  return success();
}

template <typename OpType>
static LogicalResult checkScale(OpType op) {
  const APFloat &scale = op.getScaleAttr().getValue();
  if (scale.isFinite())
    return success();
  return op.emitOpError() << "scale is not finite: got "
                          << (scale.isNaN() ? "nan" : "infinity")
                          << ", expected a finite number";
}

LogicalResult TemplateOp::verify() {
  if (failed(checkScale(*this)) || failed(checkDistinctNames(*this))) // C1, C2
    return failure();
  Operation *last = nullptr;
  for (Operation &op : *getBodyBlock()) { // C3
    if (!isa<WindowOp, SymbolOp, SpmdOp>(op))
      return op.emitOpError()
             << "does not belong into a template: got '" << op.getName()
             << "', expected 'sa_comm.window', "
             << "'sa_comm.symbol' or 'sa_comm.spmd'";
    if (last && isa<SpmdOp>(last))
      return op.emitOpError()
             << "stands after the instruction list: got '" << op.getName()
             << "', expected one 'sa_comm.spmd' at the end";
    last = &op;
  }
  if (!last || !isa<SpmdOp>(last))
    return emitOpError() << "has no instruction list: got 0 'sa_comm.spmd', "
                         << "expected 1";
  return success();
}

LogicalResult ProgramOp::verify() {
  if (failed(checkScale(*this)) || failed(checkDistinctNames(*this))) // C1, C2
    return failure();
  int64_t ranks = 0;
  MaskOp mask;
  for (Operation &op : *getBodyBlock()) { // C3
    if (!isa<WindowOp, MaskOp, RankOp>(op))
      return op.emitOpError()
             << "does not belong into a program: got '" << op.getName()
             << "', expected 'sa_comm.window', "
             << "'sa_comm.mask' or 'sa_comm.rank'";
    if (auto rank = dyn_cast<RankOp>(op)) {
      IntegerAttr number = rank.getNumberAttr();
      if (number && number.getInt() != ranks)
        return op.emitOpError()
               << "is out of order: got rank " << number.getInt()
               << ", expected rank " << ranks;
      ++ranks;
      continue;
    }
    if (ranks > 0)
      return op.emitOpError()
             << "stands after an instruction list: got '" << op.getName()
             << "', expected the ranks at the end";
    if (auto other = dyn_cast<MaskOp>(op)) {
      if (mask)
        return op.emitOpError() << "is not the only mask: got 2 masks, "
                                << "expected at most 1";
      mask = other;
    }
  }
  if (ranks != getMesh().getRanks())
    return emitOpError() << "number of ranks does not fit the mesh: got "
                         << ranks << ", expected " << getMesh().getRanks();
  MaskRowsAttr rows = mask ? mask.getRowsAttr() : MaskRowsAttr();
  ShapeAttr shape = getShape();
  if (rows && (rows.getHeads() != shape.getHeads() || // C4
               rows.getQBlocks() != shape.getQBlocks() ||
               rows.getKvBlocks() != shape.getKvBlocks()))
    return mask.emitOpError()
           << "does not fit the shape: got " << rows.getHeads() << " x "
           << rows.getQBlocks() << " x " << rows.getKvBlocks() << ", expected "
           << shape.getHeads() << " x " << shape.getQBlocks() << " x "
           << shape.getKvBlocks();
  return success();
}

LogicalResult WindowOp::verify() {
  std::optional<sart::DType> dtype = toDType(getElementType());
  if (!dtype) // C2
    return emitOpError() << "element type is unknown: got " << getElementType()
                         << ", expected f32, bf16, f16, i32 or i64";
  sart::Window window;
  window.name = getSymName().str();
  window.dtype = *dtype;
  window.slots = static_cast<int64_t>(getSlots());
  window.rows = static_cast<int64_t>(getRows());
  window.rowElements = static_cast<int64_t>(getRowElements());
  if (sart::Status status = window.verify(); !status.ok()) // C1
    return emitOpError() << status.message();
  return success();
}

LogicalResult SymbolOp::verify() {
  ArrayAttr values = getValuesAttr();
  if (!values)
    return success();
  if (getKind() != SymbolKind::Static) // C1
    return emitOpError() << "has values before it is bound: got a "
                         << stringifySymbolKind(getKind())
                         << " symbol with values, expected a static one";
  auto schedule = cast<TemplateOp>((*this)->getParentOp());
  int64_t ranks = schedule.getMesh().getRanks();
  if (static_cast<int64_t>(values.size()) != ranks) // C2
    return emitOpError() << "number of value lists does not fit the mesh: got "
                         << values.size() << ", expected " << ranks;
  return success();
}

/// The list holds phases and instructions.
static LogicalResult checkList(Block *list) {
  for (Operation &op : *list)
    if (!isa<PhaseOp, InstructionOpInterface>(op))
      return op.emitOpError()
             << "does not belong into an instruction list: got '"
             << op.getName() << "', expected a phase or an instruction";
  return success();
}

LogicalResult SpmdOp::verify() { return checkList(getBodyBlock()); } // C1

LogicalResult RankOp::verify() {
  int64_t number = static_cast<int64_t>(getNumber());
  if (number < 0) // C1
    return emitOpError() << "number is negative: got " << number
                         << ", expected at least 0";
  return checkList(getBodyBlock()); // C2
}

LogicalResult PhaseOp::verify() {
  int64_t number = static_cast<int64_t>(getNumber());
  if (number < 0 || number > maxCount - 1) // C1
    return emitOpError() << "number is out of range: got " << number
                         << ", expected 0 to " << maxCount - 1;
  return success();
}
