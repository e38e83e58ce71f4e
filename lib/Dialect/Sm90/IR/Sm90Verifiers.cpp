//===- Sm90Verifiers.cpp - Constraints of types, kernels and rings --------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Sm90Checks.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::sa_sm90;
using namespace mlir::sa_sm90::detail;

/// Shared memory that one CTA of the device can have, in bytes.
static constexpr int64_t kMaxSharedBytes = 232448;
/// Registers of one multiprocessor.
static constexpr int64_t kMaxRegisters = 65536;

//===----------------------------------------------------------------------===//
// Shared checks
//===----------------------------------------------------------------------===//

LogicalResult sa_sm90::detail::verifyPlace(Operation *op, Place place) {
  auto role = op->getParentOfType<RoleOp>();
  if (!role)
    return op->emitOpError()
           << "place: got no enclosing sa_sm90.role, expected one";
  bool single = role.getSingleThread();
  if (place == Place::Threads)
    return single ? success()
                  : op->emitOpError()
                        << "place: got role \"" << role.getName()
                        << "\" of whole warps, expected a single_thread role";
  if (single)
    return op->emitOpError()
           << "place: got single_thread role \"" << role.getName()
           << "\", expected a role of whole warps";
  if (place == Place::Warpgroups &&
      (role.getFirstWarp() % 4 != 0 || role.getWarps() % 4 != 0))
    return op->emitOpError()
           << "place: got role \"" << role.getName() << "\" of "
           << role.getWarps() << " warps from " << role.getFirstWarp()
           << ", expected whole warpgroups of four";
  return success();
}

LogicalResult sa_sm90::detail::verifyRange(Operation *op, StringRef what,
                                           int64_t value, int64_t least,
                                           int64_t most) {
  if (value >= least && value <= most)
    return success();
  return op->emitOpError() << what << " out of range: got " << value
                           << ", expected " << least << " to " << most;
}

LogicalResult sa_sm90::detail::verifyMultiple(Operation *op, StringRef what,
                                              int64_t value, int64_t of) {
  if (value >= 0 && value % of == 0)
    return success();
  return op->emitOpError() << what << ": got " << value
                           << ", expected a multiple of " << of;
}

std::optional<int64_t> sa_sm90::detail::constantOf(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)))
    return std::nullopt;
  return constant.getSExtValue();
}

LogicalResult sa_sm90::detail::verifyBarrierId(Operation *op, Value id) {
  std::optional<int64_t> constant = constantOf(id);
  return constant ? verifyRange(op, "named barrier", *constant, 1, 15)
                  : success();
}

LogicalResult sa_sm90::detail::verifyCursor(Operation *op, CursorType cursor,
                                            int64_t stages) {
  if (cursor.getStages() == stages)
    return success();
  return op->emitOpError() << "stages of the cursor: got " << cursor.getStages()
                           << ", expected " << stages;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

static LogicalResult checkMultiple(EmitError emitError, StringRef what,
                                   int64_t value, int64_t of, int64_t most) {
  if (value >= of && value <= most && value % of == 0)
    return success();
  return emitError() << what << ": got " << value << ", expected a multiple of "
                     << of << " from " << of << " to " << most;
}

static LogicalResult checkRange(EmitError emitError, StringRef what,
                                int64_t value, int64_t most) {
  if (value >= 1 && value <= most)
    return success();
  return emitError() << what << " out of range: got " << value
                     << ", expected 1 to " << most;
}

static LogicalResult checkElement(EmitError emitError, Type element) {
  if (element.isBF16() || element.isF16())
    return success();
  return emitError() << "element type: got " << element
                     << ", expected bf16 or f16";
}

LogicalResult AccumulatorType::verify(EmitError emitError, int64_t columns) {
  return checkMultiple(emitError, "columns", columns, 8, 256);
}

LogicalResult OperandType::verify(EmitError emitError, int64_t columns,
                                  Type element) {
  if (failed(checkMultiple(emitError, "columns", columns, 16, 256)))
    return failure();
  return checkElement(emitError, element);
}

LogicalResult TileType::verify(EmitError emitError, int64_t rows,
                               int64_t columns, int64_t boxRows, Type element) {
  if (failed(checkMultiple(emitError, "rows", rows, 8, 256)) ||
      failed(checkMultiple(emitError, "columns", columns, 64, 256)))
    return failure();
  if (boxRows % 8 != 0 || boxRows < rows || boxRows > 256)
    return emitError() << "rows of a box: got " << boxRows
                       << ", expected a multiple of 8 from " << rows
                       << " to 256";
  return checkElement(emitError, element);
}

static constexpr int64_t kMaxStages = 64, kMaxConsumers = 32;

LogicalResult RingType::verify(EmitError emitError, int64_t stages,
                               TileType tile, int64_t consumers) {
  if (failed(checkRange(emitError, "stages", stages, kMaxStages)) ||
      failed(checkRange(emitError, "consumers", consumers, kMaxConsumers)))
    return failure();
  if (tile.getBoxRows() != tile.getRows())
    return emitError() << "rows of a box: got " << tile.getBoxRows()
                       << ", expected the tile's " << tile.getRows();
  return success();
}

LogicalResult MailboxType::verify(EmitError emitError, int64_t stages,
                                  int64_t consumers) {
  if (failed(checkRange(emitError, "stages", stages, kMaxStages)))
    return failure();
  return checkRange(emitError, "consumers", consumers, kMaxConsumers);
}

LogicalResult CursorType::verify(EmitError emitError, int64_t stages) {
  return checkRange(emitError, "stages", stages, kMaxStages);
}

//===----------------------------------------------------------------------===//
// Kernels and roles
//===----------------------------------------------------------------------===//

LogicalResult KernelOp::verify() {
  auto threads = int64_t(getThreads());
  if (threads < 128 || threads > 1024 || threads % 128 != 0)
    return emitOpError() << "threads: got " << threads
                         << ", expected a multiple of 128 from 128 to 1024";
  auto registers = int64_t(getEntryRegisters());
  int64_t most = std::min<int64_t>(256, kMaxRegisters / threads / 8 * 8);
  if (registers < 24 || registers > most || registers % 8 != 0)
    return emitOpError() << "entry registers of " << threads << " threads: got "
                         << registers
                         << ", expected a multiple of 8 from 24 to " << most;
  if (failed(verifyRange(*this, "shared bytes", getSharedBytes(), 0,
                         kMaxSharedBytes)))
    return failure();
  for (Type type : getArgumentTypes())
    if (!isa<IntegerType, FloatType, LLVM::LLVMPointerType>(type))
      return emitOpError() << "argument type: got " << type
                           << ", expected an integer, a float or a pointer";
  if (!getResultTypes().empty())
    return emitOpError() << "results: got " << getResultTypes().size()
                         << ", expected none";
  return success();
}

LogicalResult RoleOp::verify() {
  auto kernel = cast<KernelOp>((*this)->getParentOp());
  int64_t first = getFirstWarp(), count = getWarps(), end = first + count;
  auto warps = int64_t(kernel.getThreads() / 32);
  if (first < 0 || count < 1 || first >= warps || count > warps - first)
    return emitOpError() << "warps: got " << count << " from " << first
                         << ", expected at least one of the CTA's " << warps;
  bool inOne = first / 4 == (end - 1) / 4;
  if (!inOne && (first % 4 != 0 || count % 4 != 0))
    return emitOpError() << "warps: got " << count << " from " << first
                         << ", expected a part of one warpgroup of four, or "
                            "whole ones";
  auto registers = int64_t(getRegisters());
  if (registers < 24 || registers > 256 || registers % 8 != 0)
    return emitOpError() << "registers: got " << registers
                         << ", expected a multiple of 8 from 24 to 256";
  for (RoleOp other : kernel.getBody().getOps<RoleOp>()) {
    if (other == *this)
      break;
    int64_t otherFirst = other.getFirstWarp();
    int64_t otherEnd = otherFirst + int64_t(other.getWarps());
    if (first < otherEnd && otherFirst < end) {
      InFlightDiagnostic error = emitOpError();
      error << "warps: got " << std::max(first, otherFirst)
            << ", which has role \"" << other.getName()
            << "\", expected warps without a role";
      error.attachNote(other.getLoc()) << "the other role";
      return error;
    }
    bool meet =
        first / 4 <= (otherEnd - 1) / 4 && otherFirst / 4 <= (end - 1) / 4;
    if (meet && getRegisters() != other.getRegisters())
      return emitOpError() << "registers: got " << getRegisters()
                           << ", expected " << other.getRegisters()
                           << " as role \"" << other.getName()
                           << "\" of the same warpgroup";
  }
  Block &body = getBody().front();
  if (body.getNumArguments() != 2 ||
      !llvm::all_of(body.getArgumentTypes(),
                    [](Type type) { return type.isInteger(32); })) {
    InFlightDiagnostic error = emitOpError();
    error << "arguments of the body: got (";
    llvm::interleaveComma(body.getArgumentTypes(), error);
    return error << "), expected (i32, i32)";
  }
  return success();
}

template <typename Op>
static LogicalResult verifyNamedBarrier(Op op) {
  if (failed(verifyPlace(op, Place::Warps)))
    return failure();
  auto most = int64_t(op->template getParentOfType<KernelOp>().getThreads());
  auto threads = int64_t(op.getThreads());
  if (threads < 32 || threads > most || threads % 32 != 0)
    return op.emitOpError()
           << "threads: got " << threads
           << ", expected a multiple of 32 from 32 to " << most;
  return verifyBarrierId(op, op.getId());
}

LogicalResult BarrierSyncOp::verify() { return verifyNamedBarrier(*this); }
LogicalResult BarrierArriveOp::verify() { return verifyNamedBarrier(*this); }

//===----------------------------------------------------------------------===//
// Rings and mailboxes
//===----------------------------------------------------------------------===//

/// Checks what is declared in shared memory: `bytes` of slots, aligned to
/// `alignment`, and two barriers a stage.
template <typename Op>
static LogicalResult verifyDeclaration(Op op, int64_t stages, int64_t bytes,
                                       int64_t alignment) {
  auto copies = int64_t(op.getCopies());
  auto stride = int64_t(op.getCopyStride());
  if (failed(verifyRange(op, "copies", copies, 1, 8)) ||
      failed(verifyMultiple(op, "offset", op.getOffset(), alignment)))
    return failure();
  if (copies > 1 &&
      failed(verifyMultiple(op, "stride of the copies", stride, alignment)))
    return failure();
  if (failed(verifyMultiple(op, "offset of the barriers", op.getBarriers(), 8)))
    return failure();
  auto most = int64_t(cast<KernelOp>(op->getParentOp()).getSharedBytes());
  int64_t begin = std::max<int64_t>(op.getOffset(), op.getBarriers());
  // First the parts, so that their sum cannot overflow.
  bool fits = begin <= most && stride <= most;
  int64_t end = 0;
  if (fits) {
    end = std::max<int64_t>(int64_t(op.getOffset()) + bytes,
                            int64_t(op.getBarriers()) + 16 * stages) +
          (copies - 1) * stride;
    fits = end <= most;
  }
  if (fits)
    return success();
  InFlightDiagnostic error = op.emitOpError();
  error << "end in shared memory: got ";
  if (end)
    error << end;
  else
    error << "more than " << std::max(begin, stride);
  return error << ", expected at most the kernel's " << most;
}

LogicalResult RingOp::verify() {
  RingType type = getRing().getType();
  return verifyDeclaration(*this, type.getStages(),
                           type.getStages() * type.getTile().getBytes(), 1024);
}

LogicalResult MailboxOp::verify() {
  int64_t stages = getMailbox().getType().getStages();
  return verifyDeclaration(*this, stages, 16 * stages, 16);
}

LogicalResult CopyOp::verify() {
  Operation *declaration = getSource().getDefiningOp();
  int64_t copies;
  if (auto ring = dyn_cast_or_null<RingOp>(declaration))
    copies = ring.getCopies();
  else if (auto mailbox = dyn_cast_or_null<MailboxOp>(declaration))
    copies = mailbox.getCopies();
  else
    return emitOpError() << "source: got "
                         << (declaration ? declaration->getName().getStringRef()
                                         : StringRef("a block argument"))
                         << ", expected sa_sm90.ring or sa_sm90.mailbox";
  std::optional<int64_t> index = constantOf(getIndex());
  return index ? verifyRange(*this, "index", *index, 0, copies - 1) : success();
}

LogicalResult AdvanceOp::verify() {
  return verifyRange(*this, "number of slots", getBy(), 1, 1 << 20);
}

LogicalResult LoadOp::verify() {
  if (failed(verifyPlace(*this, Place::Threads)) ||
      failed(verifyCursor(*this, getCursor().getType(),
                          getRing().getType().getStages())))
    return failure();
  auto map = cast<LLVM::LLVMPointerType>(getMap().getType());
  if (map.getAddressSpace() != 0)
    return emitOpError() << "address space of the map: got "
                         << map.getAddressSpace() << ", expected 0";
  return success();
}

LogicalResult AwaitOp::verify() {
  RingType ring = getRing().getType();
  if (failed(verifyPlace(*this, Place::Warps)) ||
      failed(verifyCursor(*this, getCursor().getType(), ring.getStages())))
    return failure();
  if (getTile().getType() != ring.getTile())
    return emitOpError() << "tile: got " << getTile().getType() << ", expected "
                         << ring.getTile();
  return success();
}

LogicalResult ReleaseOp::verify() {
  if (failed(verifyPlace(*this, Place::Warps)))
    return failure();
  return verifyCursor(*this, getCursor().getType(),
                      getRing().getType().getStages());
}

LogicalResult PostOp::verify() {
  if (failed(verifyPlace(*this, Place::Threads)))
    return failure();
  return verifyCursor(*this, getCursor().getType(),
                      getMailbox().getType().getStages());
}

LogicalResult FetchOp::verify() {
  if (failed(verifyPlace(*this, Place::Warps)))
    return failure();
  return verifyCursor(*this, getCursor().getType(),
                      getMailbox().getType().getStages());
}

LogicalResult RowsOp::verify() {
  TileType tile = getTile().getType();
  if (tile.getRows() % 64 != 0)
    return emitOpError() << "rows of the tile: got " << tile.getRows()
                         << ", expected a multiple of 64";
  auto expected = TileType::get(getContext(), 64, tile.getColumns(),
                                tile.getBoxRows(), tile.getElement());
  if (getResult().getType() != expected)
    return emitOpError() << "result: got " << getResult().getType()
                         << ", expected " << expected;
  return success();
}
