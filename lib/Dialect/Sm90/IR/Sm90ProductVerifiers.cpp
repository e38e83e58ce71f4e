//===- Sm90ProductVerifiers.cpp - Constraints of products and fragments ---===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Sm90Checks.h"

using namespace mlir;
using namespace mlir::sa_sm90;
using namespace mlir::sa_sm90::detail;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Columns and element of the A operand of a product.
static std::pair<int64_t, Type> shapeOfA(Type type) {
  if (auto tile = dyn_cast<TileType>(type))
    return {tile.getColumns(), tile.getElement()};
  auto operand = cast<OperandType>(type);
  return {operand.getColumns(), operand.getElement()};
}

/// Checks that a tile has the 64 rows of a warpgroup.
static LogicalResult verifyRows(Operation *op, StringRef what, Type type) {
  auto tile = dyn_cast<TileType>(type);
  if (!tile || tile.getRows() == 64)
    return success();
  return op->emitOpError() << "rows of " << what << ": got " << tile.getRows()
                           << ", expected 64";
}

/// Checks columns and element of each `b` and adds up the rows.
static FailureOr<int64_t> verifyParts(Operation *op, ValueRange parts,
                                      int64_t columns, Type element) {
  if (parts.empty())
    return op->emitOpError() << "tiles of b: got none, expected at least one";
  int64_t rows = 0;
  for (auto [i, part] : llvm::enumerate(parts)) {
    auto tile = cast<TileType>(part.getType());
    if (tile.getColumns() != columns || tile.getElement() != element)
      return op->emitOpError() << "b " << i << ": got " << tile.getColumns()
                               << " columns of " << tile.getElement()
                               << ", expected " << columns << " of " << element;
    rows += tile.getRows();
  }
  return rows;
}

LogicalResult ScoresOp::verify() {
  auto [columns, element] = shapeOfA(getA().getType());
  if (failed(verifyPlace(*this, Place::Warpgroups)) ||
      failed(verifyRows(*this, "a", getA().getType())))
    return failure();
  FailureOr<int64_t> rows = verifyParts(*this, getB(), columns, element);
  if (failed(rows))
    return failure();
  if (getResult().getType().getColumns() != *rows)
    return emitOpError() << "columns of the result: got "
                         << getResult().getType().getColumns()
                         << ", expected the rows of all b, " << *rows;
  return success();
}

LogicalResult AccumulateOp::verify() {
  auto [depth, element] = shapeOfA(getA().getType());
  if (failed(verifyPlace(*this, Place::Warpgroups)) ||
      failed(verifyRows(*this, "a", getA().getType())))
    return failure();
  FailureOr<int64_t> rows =
      verifyParts(*this, getB(), getResult().getType().getColumns(), element);
  if (failed(rows))
    return failure();
  for (auto [i, part] : llvm::enumerate(getB()))
    if (int64_t got = cast<TileType>(part.getType()).getRows(); got % 16 != 0)
      return emitOpError() << "rows of b " << i << ": got " << got
                           << ", expected a multiple of 16";
  if (*rows != depth)
    return emitOpError() << "rows of all b: got " << *rows
                         << ", expected the columns of a, " << depth;
  return success();
}

LogicalResult WaitOp::verify() {
  if (failed(verifyPlace(*this, Place::Warpgroups)) ||
      failed(verifyRange(*this, "pending groups", getPending(), 0, 7)))
    return failure();
  if (getAccumulators().getTypes() == getResults().getTypes())
    return success();
  InFlightDiagnostic error = emitOpError();
  error << "results: got (";
  llvm::interleaveComma(getResults().getTypes(), error);
  error << "), expected (";
  llvm::interleaveComma(getAccumulators().getTypes(), error);
  return error << ")";
}

/// Checks that a tile of 64 rows has the shape of an operand.
static LogicalResult verifyMatrices(Operation *op, TileType tile,
                                    OperandType operand) {
  if (failed(verifyPlace(op, Place::Warpgroups)) ||
      failed(verifyRows(op, "the tile", tile)))
    return failure();
  if (tile.getColumns() == operand.getColumns() &&
      tile.getElement() == operand.getElement())
    return success();
  return op->emitOpError() << "operand: got " << operand.getColumns()
                           << " columns of " << operand.getElement()
                           << ", expected the tile's " << tile.getColumns()
                           << " of " << tile.getElement();
}

LogicalResult LoadOperandOp::verify() {
  return verifyMatrices(*this, getTile().getType(), getResult().getType());
}

LogicalResult StoreOperandOp::verify() {
  if (failed(
          verifyMatrices(*this, getTile().getType(), getOperand().getType())))
    return failure();
  return verifyBarrierId(*this, getBarrier());
}

LogicalResult ScratchOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (!kernel)
    return emitOpError()
           << "place: got no enclosing sa_sm90.kernel, expected one";
  if (failed(verifyMultiple(*this, "offset", getOffset(), 1024)))
    return failure();
  TileType tile = getTile().getType();
  if (tile.getBoxRows() != tile.getRows())
    return emitOpError() << "rows of a box: got " << tile.getBoxRows()
                         << ", expected the tile's " << tile.getRows();
  auto most = int64_t(kernel.getSharedBytes());
  int64_t index = constantOf(getIndex()).value_or(0);
  // The largest index at which a tile still fits, so that nothing overflows.
  int64_t last = (most - int64_t(getOffset())) / tile.getBytes() - 1;
  if (int64_t(getOffset()) > most || index < 0 || index > last)
    return emitOpError() << "tile " << index << " of " << tile.getBytes()
                         << " bytes at " << getOffset()
                         << ": got an end outside shared memory, expected at "
                            "most the kernel's "
                         << most;
  return success();
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

LogicalResult ZeroOp::verify() { return verifyPlace(*this, Place::Warpgroups); }
LogicalResult RowMaxOp::verify() {
  return verifyPlace(*this, Place::Warpgroups);
}
LogicalResult RowSumOp::verify() {
  return verifyPlace(*this, Place::Warpgroups);
}
LogicalResult QuadSumOp::verify() {
  return verifyPlace(*this, Place::Warpgroups);
}
LogicalResult Exp2Op::verify() { return verifyPlace(*this, Place::Warpgroups); }
LogicalResult ScaleRowsOp::verify() {
  return verifyPlace(*this, Place::Warpgroups);
}
LogicalResult StoreRowValuesOp::verify() {
  return verifyPlace(*this, Place::Warpgroups);
}

LogicalResult MaskColumnsOp::verify() {
  if (failed(verifyPlace(*this, Place::Warpgroups)))
    return failure();
  auto parts = int64_t(getLimits().size());
  int64_t columns = getSource().getType().getColumns();
  if (parts == 0 || columns % (8 * parts) != 0)
    return emitOpError() << "limits: got " << parts << " for " << columns
                         << " columns, expected equal parts of multiples of 8";
  return success();
}

LogicalResult ToOperandOp::verify() {
  if (failed(verifyPlace(*this, Place::Warpgroups)))
    return failure();
  int64_t columns = getSource().getType().getColumns();
  if (getResult().getType().getColumns() != columns)
    return emitOpError() << "columns of the result: got "
                         << getResult().getType().getColumns()
                         << ", expected the source's " << columns;
  return success();
}

LogicalResult StoreRowsOp::verify() {
  if (failed(verifyPlace(*this, Place::Warpgroups)))
    return failure();
  if (!isa<Float32Type, BFloat16Type, Float16Type>(getElement()))
    return emitOpError() << "element: got " << getElement()
                         << ", expected f32, bf16 or f16";
  return verifyMultiple(*this, "columns", getSource().getType().getColumns(),
                        32);
}
