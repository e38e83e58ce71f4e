//===- RouteKernel.cpp - Scores of pooled queries and keys on a GPU -------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread block scores `rowsPerCta` rows of one head against all its
// kv-blocks and then selects, one warp for each row; scores never leave shared
// memory.
//
// Scores are products of the fp64 tensor cores, which are as fast as fp32
// multiplications outside of them: products of fp32 values are exact, so that
// the order of scores is that of the reference, and a near tie is not decided
// by rounding. Rows of the tensor core's 16 x 8 tile are kv-blocks, columns are
// q-blocks. The k index of an operand register is free as long as both operands
// agree: lane (g, t) holds elements 4 t .. 4 t + 3 of each 16, a vector load.
//
//===----------------------------------------------------------------------===//
#include "RouteEmitter.h"

using namespace mlir;
using namespace mlir::sparseattn;

static SmallVector<Type> argumentTypes(ModuleOp module) {
  MLIRContext *context = module.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context, 1);
  Type i32 = IntegerType::get(context, 32);
  Type f32 = Float32Type::get(context);
  return {pointer, i32, i32, i32, f32, f32, i32, pointer, i32};
}

RouteEmitter::RouteEmitter(ModuleOp module, int64_t headDim, int64_t capacity)
    : headDim(headDim), capacity(capacity),
      e(module, ("route_d" + Twine(headDim) + "_r" + Twine(capacity)).str(),
        argumentTypes(module), static_cast<int32_t>(32 * capacity), -1) {}

void RouteEmitter::build() {
  readArguments();
  locate();
  e.when(e.less(e.integer(0), rows), [&] {
    loadQueries();
    e.barrier();
    computeScores();
    e.barrier();
    locate();
    e.when(e.less(warp, rows), [&] { selectRow(); });
  });
  e.finish();
}

void RouteEmitter::readArguments() {
  rowsPerCta = e.argument(1);
  scoreStride = e.argument(3);
  scale = e.resize(e.argument(4), e.f64);
  p = e.resize(e.argument(5), e.f64);
  minBlocks = e.argument(6);
  keep = e.argument(7);
  keepPairs = e.argument(8);
  scores = e.offset(e.shared(),
                    capacity * std::max<int64_t>((headDim + 2) * 8, 1024));
}

/// Scoring has no registers to spare: what it and the selection need of the
/// thread and the record is read anew by each.
void RouteEmitter::locate() {
  tid = e.specialRegister("tid.x");
  // Uniform over the warp, which only a shuffle tells the code generator.
  warp = e.shuffleFrom(e.shr(tid, 5), e.integer(0));
  lane = e.andI(tid, 31);
  Value cta = e.specialRegister("ctaid.x"), ctasPerRecord = e.argument(2);
  Value index = e.div(cta, ctasPerRecord);
  Value part = e.sub(cta, e.mul(index, ctasPerRecord));
  record = e.record(e.argument(0), index, 80);
  Value qBegin = e.field(e.i32, record, 48), qEnd = e.field(e.i32, record, 52);
  kvBlocks = e.field(e.i32, record, 56);
  firstRow = e.mul(part, rowsPerCta);
  firstBlock = e.add(qBegin, firstRow);
  rows = e.least(rowsPerCta, e.sub(qEnd, firstBlock));
}

/// Rows that do not exist repeat the last one.
void RouteEmitter::loadQueries() {
  Value pooledQ = e.pointer(e.field(e.i64, record, 0));
  Value qStride = e.field(e.i32, record, 60);
  int64_t groups = headDim / 4;
  e.loop(tid, e.integer(capacity * groups), e.integer(32 * capacity),
         [&](Value i) {
           Value row = e.shr(i, llvm::Log2_64(groups));
           Value column = e.andI(i, groups - 1);
           Value from = e.add(firstBlock, e.least(row, e.sub(rows, 1)));
           Value element =
               e.add(e.mul(e.cast(from, e.i64), e.cast(qStride, e.i64)),
                     e.cast(e.shl(column, 2), e.i64));
           Value values = e.load(e.vec(e.f32, 4),
                                 e.offset(pooledQ, e.mul(element, 4)), 16);
           Value to = e.offset(e.shared(), e.add(e.mul(row, (headDim + 2) * 8),
                                                 e.mul(column, 32)));
           for (int64_t half = 0; half < 2; ++half) {
             Values pair;
             for (int64_t j = 0; j < 2; ++j)
               pair.push_back(e.resize(e.element(values, 2 * half + j), e.f64));
             e.store(e.vector(pair), e.offset(to, half * 16), 16);
           }
         });
}

/// d += a b on the fp64 tensor cores, 16 x 8 x 16.
static DeviceEmitter::Values multiply(DeviceEmitter &e, ValueRange sums,
                                      ValueRange a, ValueRange b) {
  SmallVector<Type> types(4, e.f64);
  Type result = LLVM::LLVMStructType::getLiteral(e.b.getContext(), types);
  SmallVector<Value> operands(a);
  operands.append(b.begin(), b.end());
  operands.append(sums.begin(), sums.end());
  auto product = LLVM::InlineAsmOp::create(
      e.b, e.loc, result, operands,
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {$0, $1, $2, $3}, "
      "{$4, $5, $6, $7, $8, $9, $10, $11}, {$12, $13, $14, $15}, "
      "{$0, $1, $2, $3};",
      "=d,=d,=d,=d,d,d,d,d,d,d,d,d,d,d,d,d,0,1,2,3",
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(e.b.getContext(), LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
  DeviceEmitter::Values values;
  for (int64_t i = 0; i < 4; ++i)
    values.push_back(
        LLVM::ExtractValueOp::create(e.b, e.loc, product.getResult(0), i));
  return values;
}

/// A warp takes every capacity-th tile of 16 kv-blocks, against all rows. Rows
/// of a tile that do not exist repeat the last kv-block.
void RouteEmitter::computeScores() {
  Value pooledK = e.pointer(e.field(e.i64, record, 8));
  Value kStride = e.field(e.i32, record, 64);
  Value g = e.shr(lane, 2), t = e.andI(lane, 3);
  Value last = e.sub(kvBlocks, 1);
  Value tiles = e.shr(e.add(kvBlocks, 15), 4);
  Value query =
      e.offset(e.shared(), e.add(e.mul(g, (headDim + 2) * 8), e.mul(t, 32)));
  // Loads of this many groups of 16 elements are in flight before the first
  // product.
  const int64_t kBatch = capacity == 16 ? 4 : 8;
  e.loop(warp, tiles, e.integer(capacity), [&](Value tile) {
    Value keys[2];
    for (int64_t half = 0; half < 2; ++half) {
      Value block = e.least(e.add(e.add(e.shl(tile, 4), g), half * 8), last);
      Value element = e.add(e.mul(e.cast(block, e.i64), e.cast(kStride, e.i64)),
                            e.cast(e.shl(t, 2), e.i64));
      keys[half] = e.offset(pooledK, e.mul(element, 4));
    }
    SmallVector<Values> sums(capacity / 8, Values(4, e.real(0)));
    for (int64_t first = 0; first < headDim / 16; first += kBatch) {
      int64_t end = std::min(first + kBatch, headDim / 16);
      SmallVector<std::pair<Value, Value>> loaded;
      for (int64_t c = first; c < end; ++c)
        loaded.push_back({e.load(e.vec(e.f32, 4), keys[0], c * 64, 16),
                          e.load(e.vec(e.f32, 4), keys[1], c * 64, 16)});
      for (int64_t c = first; c < end; ++c) {
        Values a;
        for (int64_t i = 0; i < 4; ++i) {
          auto [upper, lower] = loaded[c - first];
          a.push_back(e.resize(e.element(upper, i), e.f64));
          a.push_back(e.resize(e.element(lower, i), e.f64));
        }
        for (auto [n, sum] : llvm::enumerate(sums)) {
          Values b;
          for (int64_t half = 0; half < 2; ++half) {
            Value pair = loadPair(e.offset(query, n * 8 * (headDim + 2) * 8 +
                                                      c * 128 + half * 16));
            b.push_back(e.element(pair, 0));
            b.push_back(e.element(pair, 1));
          }
          sum = multiply(e, sum, a, b);
        }
      }
    }
    storeScores(sums, tile);
  });
}

/// Lane (g, t) has kv-blocks g and g + 8 of the tile for rows 2 t and 2 t + 1
/// of each group of 8. The lane is read anew, which keeps addresses from being
/// held in registers while products are computed.
void RouteEmitter::storeScores(ArrayRef<Values> sums, Value tile) {
  Value ownLane = e.specialRegister("laneid");
  Value g = e.shr(ownLane, 2), t = e.andI(ownLane, 3);
  Value block = e.add(e.shl(tile, 4), g);
  for (auto [n, sum] : llvm::enumerate(sums)) {
    for (int64_t i = 0; i < 2; ++i) {
      Value row = e.add(e.shl(t, 1), static_cast<int64_t>(8 * n) + i);
      auto write = [&, &sum = sum] {
        Value at =
            e.offset(scores, e.shl(e.add(e.mul(row, scoreStride), block), 4));
        e.store(e.mulF(sum[i], scale), at);
        e.store(e.mulF(sum[2 + i], scale), e.offset(at, 8 * 16));
      };
      // Sixteen rows are always whole.
      if (capacity == 16)
        write();
      else
        e.when(e.less(row, rowsPerCta), write);
    }
  }
}

void mlir::sparseattn::buildDeviceRouteKernel(ModuleOp module, int64_t headDim,
                                              int64_t capacity) {
  RouteEmitter(module, headDim, capacity).build();
}
