//===- AttendEmptyTiles.cpp - Rows of tiles without a kv-block ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One warp that is idle otherwise, so that consumers never see such a tile.
// Every CTA looks at every gridDim-th tile.
//
//===----------------------------------------------------------------------===//
#include "AttendContext.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace mlir::sparseattn;

/// Calls body(i) for i in lane, lane + 32, ... below `count`.
static void forEach(AttendContext &c, Value lane, Value count,
                    llvm::function_ref<void(Value)> body) {
  scf::ForOp::create(c.b, lane, count, c.i32(32), ValueRange{},
                     [&](OpBuilder &, Location, Value i, ValueRange) {
                       body(i);
                       scf::YieldOp::create(c.b);
                     });
}

static void writeEmptyRows(AttendContext &c, Value lane, Value entry,
                           Value qBlock) {
  int64_t rows = c.recipe.tileRows();
  Value first = c.mul(qBlock, rows);
  Value valid =
      c.min(c.sub(c.intField(entry, entry::qRows), first), c.i32(rows));
  int64_t elementBytes = c.outElement.getIntOrFloatBitWidth() / 8;
  int64_t chunks = c.recipe.headDim * elementBytes / 16; // of 16 bytes, a row
  Value out = c.loadPointer(c.field(entry, entry::o));
  auto words = VectorType::get(4, c.b.getI32Type());
  Value zeros = LLVM::ZeroOp::create(c.b, words);
  forEach(c, lane, c.mul(valid, chunks), [&](Value i) {
    Value row = c.toI64(c.add(first, c.div(i, chunks)));
    Value start = arith::MulIOp::create(c.b, row, c.outStride);
    Value column = c.mul(c.mod(i, chunks), 16 / elementBytes);
    Value place = c.gep(out, c.outElement,
                        arith::AddIOp::create(c.b, start, c.toI64(column)));
    LLVM::StoreOp::create(c.b, zeros, place, 16);
  });
  Value lse = c.loadPointer(c.field(entry, entry::lse));
  Value minusInfinity = c.f32(-std::numeric_limits<float>::infinity());
  forEach(c, lane, valid, [&](Value i) {
    Value place = c.gep(lse, c.b.getF32Type(), c.toI64(c.add(first, i)));
    LLVM::StoreOp::create(c.b, minusInfinity, place, 4);
  });
}

void mlir::sparseattn::buildEmptyTileWriter(AttendContext &c, Value lane) {
  Type i32Type = c.b.getI32Type();
  Value cta = NVVM::BlockIdXOp::create(c.b, i32Type);
  Value grid = NVVM::GridDimXOp::create(c.b, i32Type);
  scf::ForOp::create(
      c.b, cta, c.tileCount, grid, ValueRange{},
      [&](OpBuilder &, Location, Value number, ValueRange) {
        Type record = VectorType::get(4, i32Type);
        SmallVector<Value> tile =
            c.loadInts(c.gep(c.tiles, record, c.toI64(number)), 4);
        Value empty = c.compare(arith::CmpIPredicate::eq, tile[3], c.i32(0));
        scf::IfOp::create(c.b, empty, [&](OpBuilder &, Location) {
          writeEmptyRows(c, lane, tile[0], tile[1]);
          scf::YieldOp::create(c.b);
        });
        scf::YieldOp::create(c.b);
      });
}
