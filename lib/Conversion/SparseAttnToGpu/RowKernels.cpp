//===- RowKernels.cpp - Totals, conversion and merging of rows ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DeviceEmitter.h"

using namespace mlir;
using namespace mlir::sparseattn;

using Values = DeviceEmitter::Values;

static Type pointerType(ModuleOp module) {
  return LLVM::LLVMPointerType::get(module.getContext(), 1);
}
static Type intType(ModuleOp module) {
  return IntegerType::get(module.getContext(), 32);
}

/// One warp per record: lanes take every 32nd row, then fold.
void mlir::sparseattn::buildDeviceTotalsKernel(ModuleOp module) {
  DeviceEmitter e(module, "route_totals",
                  {pointerType(module), pointerType(module)}, 32, 0);
  Value lane = e.threadIndex(), cta = e.ctaIndex();
  Value record = e.record(e.argument(0), cta, 80);
  Value figures = e.pointer(e.field(e.i64, record, 40));
  Value rows = e.sub(e.field(e.i32, record, 52), e.field(e.i32, record, 48));
  Values sums =
      e.loop(lane, rows, e.integer(32), {e.real(0), e.integer(0), e.wide(0)},
             [&](Value i, ValueRange carried) -> Values {
               Value row = e.record(figures, i, 16);
               Value tiles = e.cast(e.field(e.i32, row, 12), e.i64);
               return {e.addF(carried[0], e.field(e.f64, row, 0)),
                       e.add(carried[1], e.field(e.i32, row, 8)),
                       e.add(carried[2], tiles)};
             });
  Value mass =
      e.foldWarp(sums[0], [&](Value l, Value r) { return e.addF(l, r); });
  auto addI = [&](Value l, Value r) { return e.add(l, r); };
  // Blocks near the threshold are few; tiles are folded in two halves.
  Value near = e.foldWarp(sums[1], addI);
  Value low = e.foldWarp(e.cast(e.andI(sums[2], 0xffffff), e.i32), addI);
  Value high = e.foldWarp(e.cast(e.shr(sums[2], 24), e.i32), addI);
  Value tiles = e.add(e.shl(e.cast(high, e.i64), 24), e.cast(low, e.i64));
  e.when(e.equal(lane, e.integer(0)), [&] {
    Value total = e.record(e.argument(1), cta, 32);
    e.store(mass, total);
    e.store(e.cast(near, e.i64), e.offset(total, 8));
    e.store(tiles, e.offset(total, 16));
    e.store(e.cast(rows, e.i64), e.offset(total, 24));
  });
  e.finish();
}

/// The record of this thread block, and the block's number within it.
static std::pair<Value, Value> recordOf(DeviceEmitter &e, int64_t bytes) {
  Value cta = e.ctaIndex(), ctasPerRecord = e.argument(1);
  Value index = e.div(cta, ctasPerRecord);
  Value part = e.sub(cta, e.mul(index, ctasPerRecord));
  return {e.record(e.argument(0), index, bytes), part};
}

void mlir::sparseattn::buildDeviceConvertKernel(ModuleOp module, StringRef name,
                                                Type from, Type to) {
  constexpr int64_t kThreads = 256, kGroupsPerThread = 8;
  DeviceEmitter e(module, name,
                  {pointerType(module), intType(module), intType(module)},
                  kThreads, 0);
  auto bytesOf = [](Type type) {
    return static_cast<int64_t>(type.getIntOrFloatBitWidth() / 8);
  };
  auto [record, part] = recordOf(e, 40);
  Value source = e.pointer(e.field(e.i64, record, 0));
  Value target = e.pointer(e.field(e.i64, record, 8));
  Value sourceStride = e.mul(e.field(e.i64, record, 16), bytesOf(from));
  Value targetStride = e.mul(e.field(e.i64, record, 24), bytesOf(to));
  Value rows = e.field(e.i64, record, 32);
  // Groups of 4 elements, counted over the rows.
  Value groups = e.cast(e.shr(e.argument(2), 2), e.i64);
  Value end = e.mul(rows, groups);
  Value first = e.add(e.mul(e.cast(part, e.i64), kThreads * kGroupsPerThread),
                      e.cast(e.threadIndex(), e.i64));
  for (int64_t i = 0; i < kGroupsPerThread; ++i) {
    Value group = e.add(first, i * kThreads);
    e.when(e.less(group, end), [&] {
      Value row = e.div(group, groups);
      Value column = e.sub(group, e.mul(row, groups));
      Value at = e.offset(source, e.add(e.mul(row, sourceStride),
                                        e.mul(column, 4 * bytesOf(from))));
      Value value = e.load(e.vec(from, 4), at, 4 * bytesOf(from));
      e.store(e.resize(value, e.vec(to, 4)),
              e.offset(target, e.add(e.mul(row, targetStride),
                                     e.mul(column, 4 * bytesOf(to)))),
              4 * bytesOf(to));
    });
  }
  e.finish();
}

/// A warp takes one row. With natural-log LSE a and b, m the larger and n the
/// smaller: lse = m + log(1 + exp(n - m)), o = (o_m + exp(n - m) o_n) /
/// (1 + exp(n - m)); an empty partial leaves the other side as it is.
void mlir::sparseattn::buildDeviceMergeKernel(ModuleOp module) {
  constexpr double log2E = 1.442695040888963407, ln2 = 0.6931471805599453094;
  DeviceEmitter e(module, "merge_f32",
                  {pointerType(module), intType(module), intType(module)}, 256,
                  0);
  auto [record, part] = recordOf(e, 72);
  Value thread = e.threadIndex(), lane = e.andI(thread, 31);
  Value row = e.cast(e.add(e.mul(part, 8), e.shr(thread, 5)), e.i64);
  auto rowAt = [&, record = record](int64_t base, int64_t stride) {
    return e.offset(e.pointer(e.field(e.i64, record, base)),
                    e.mul(e.mul(row, e.field(e.i64, record, stride)), 4));
  };
  e.when(e.less(row, e.field(e.i64, record, 64)), [&] {
    Value from = rowAt(0, 32), to = rowAt(16, 48);
    Value lsePart = e.load(e.f32, rowAt(8, 40));
    Value lseAt = rowAt(24, 56);
    Value lse = e.load(e.f32, lseAt);
    Value none = e.negativeInfinity(e.f32);
    auto unequal = [&](Value l, Value r) {
      return e.compareF(arith::CmpFPredicate::UNE, l, r);
    };
    // All lanes have read the old value before one of them writes the new one.
    e.warpBarrier();
    e.when(unequal(lsePart, none), [&] {
      Value both = unequal(lse, none);
      Value one = e.real(1, e.f32), zero = e.real(0, e.f32);
      Value apart = e.absF(e.subF(lsePart, lse));
      Value ratio = e.intrinsic("llvm.nvvm.ex2.approx.f32", e.f32,
                                {e.mulF(apart, e.real(-log2E, e.f32))});
      Value larger = e.divF(one, e.addF(one, ratio));
      Value smaller = e.mulF(ratio, larger);
      Value ahead = e.greaterEqualF(lse, lsePart);
      Value toWeight = e.select(ahead, larger, smaller);
      Value fromWeight = e.select(both, e.select(ahead, smaller, larger), one);
      Value gained = e.mulF(
          e.intrinsic("llvm.nvvm.lg2.approx.f", e.f32, {e.addF(one, ratio)}),
          e.real(ln2, e.f32));
      Value sum = e.addF(e.select(ahead, lse, lsePart), gained);
      e.when(e.equal(lane, e.integer(0)),
             [&] { e.store(e.select(both, sum, lsePart), lseAt); });
      e.loop(e.shl(lane, 2), e.argument(2), e.integer(128), [&](Value column) {
        Value bytes = e.mul(e.cast(column, e.i64), 4);
        Type four = e.vec(e.f32, 4);
        Value old = e.load(four, e.offset(to, bytes), 16);
        Value added = e.load(four, e.offset(from, bytes), 16);
        Values merged;
        for (int64_t i = 0; i < 4; ++i) {
          // What an empty side holds does not count.
          Value kept =
              e.select(both, e.mulF(toWeight, e.element(old, i)), zero);
          merged.push_back(e.fma(fromWeight, e.element(added, i), kept));
        }
        e.store(e.vector(merged), e.offset(to, bytes), 16);
      });
    });
  });
  e.finish();
}
