//===- AttendContext.cpp - What the roles of an attend kernel share -------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttendContext.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::sparseattn;
using namespace mlir::sa_sm90;

static Type toElement(OpBuilder &builder, sart::DType type) {
  switch (type) {
  case sart::DType::BF16:
    return builder.getBF16Type();
  case sart::DType::F16:
    return builder.getF16Type();
  default:
    return builder.getF32Type();
  }
}

AttendContext::AttendContext(OpBuilder &builder, Location loc,
                             const sart::KernelSpec &spec,
                             const AttendRecipe &recipe)
    : Sm90Emitter(builder, loc), spec(spec), recipe(recipe), layout(recipe),
      element(toElement(builder, spec.dtype)),
      outElement(toElement(builder, spec.outDtype)) {}

TileType AttendContext::slotTile() const {
  return TileType::get(b.getContext(), recipe.partKeys, recipe.headDim,
                       recipe.partKeys, element);
}

TileType AttendContext::queryTile() const {
  int64_t rows = recipe.queryInRing ? recipe.partKeys : recipe.tileRows();
  return TileType::get(b.getContext(), rows, recipe.headDim, rows, element);
}

AccumulatorType AttendContext::scoresType() const {
  return AccumulatorType::get(b.getContext(), recipe.stepKeys());
}

AccumulatorType AttendContext::outputType() const {
  return AccumulatorType::get(b.getContext(), recipe.headDim);
}

KernelOp AttendContext::begin() {
  MLIRContext *context = b.getContext();
  Type global = LLVM::LLVMPointerType::get(context, 1);
  Type generic = LLVM::LLVMPointerType::get(context);
  Type i32Type = b.getI32Type();
  auto type = b.getFunctionType({generic, global, global, i32Type, global,
                                 b.getI64Type(), i32Type, b.getF32Type()},
                                {});
  auto kernel = KernelOp::create(b, spec.name(), type, kAttendThreads,
                                 kAttendEntryRegisters, layout.bytes);
  Type mapBytes = LLVM::LLVMArrayType::get(b.getI8Type(),
                                           kMaxSources * 3 * kTensorMapBytes);
  kernel.setArgAttr(0, "llvm.byval", TypeAttr::get(mapBytes));
  kernel.setArgAttr(0, "llvm.align", b.getI64IntegerAttr(64));
  for (unsigned i : {1u, 2u, 4u})
    kernel.setArgAttr(i, "llvm.noalias", b.getUnitAttr());
  for (unsigned i : {1u, 2u})
    kernel.setArgAttr(i, "llvm.readonly", b.getUnitAttr());
  Block &body = kernel.getBody().front();
  maps = body.getArgument(0);
  entries = body.getArgument(1);
  tiles = body.getArgument(2);
  tileCount = body.getArgument(3);
  counter = body.getArgument(4);
  outStride = body.getArgument(5);
  maskStride = body.getArgument(6);
  scale = body.getArgument(7);
  b.setInsertionPointToStart(&body);

  int64_t pairs = recipe.pairs;
  // A warp releases a slot once: four warps of a pair's one consumer, or eight.
  int64_t consumers = 8 / pairs;
  ring = RingOp::create(
      b, RingType::get(context, recipe.stages, slotTile(), consumers),
      layout.ring, layout.ringBarriers, pairs, layout.copyStride);
  if (!recipe.queryInRing)
    queryRing = RingOp::create(
        b, RingType::get(context, 1, queryTile(), consumers), layout.query,
        layout.queryBarriers, pairs, layout.copyStride);
  mailbox = MailboxOp::create(b, MailboxType::get(context, 2, consumers),
                              layout.mailbox, layout.mailboxBarriers, pairs,
                              layout.copyStride);
  return kernel;
}

Value AttendContext::field(Value entry, int64_t byte) {
  Value offset = arith::MulIOp::create(b, toI64(entry), i64(entry::size));
  return byteOffset(gep(entries, b.getI8Type(), offset), byte);
}

Value AttendContext::intField(Value entry, int64_t byte) {
  return load(b.getI32Type(), field(entry, byte), 4);
}

Value AttendContext::copyOf(Value ring, Value pair) {
  if (!ring || recipe.pairs == 1)
    return ring;
  return CopyOp::create(b, ring.getType(), ring, pair);
}

Stream AttendContext::stream(Value ring, bool producer) {
  if (!ring)
    return {};
  int64_t stages = isa<RingType>(ring.getType())
                       ? cast<RingType>(ring.getType()).getStages()
                       : cast<MailboxType>(ring.getType()).getStages();
  auto type = CursorType::get(b.getContext(), stages);
  return {ring, CursorOp::create(b, type, producer)};
}

Value AttendContext::advanced(Value cursor, int64_t by) {
  return by == 0 ? cursor : AdvanceOp::create(b, cursor.getType(), cursor, by);
}
