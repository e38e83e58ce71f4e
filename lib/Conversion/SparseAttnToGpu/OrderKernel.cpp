//===- OrderKernel.cpp - Tiles of an entry, longest first -----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread block takes one record. The part of a row's list that lies within
// the record's kv-blocks is found by bisection, as lists ascend. A bitonic sort
// in shared memory orders keys of (most - count, row); keys differ, so that
// the order is the only one.
//
//===----------------------------------------------------------------------===//
#include "DeviceEmitter.h"

#include <limits>

using namespace mlir;
using namespace mlir::sparseattn;

namespace {

constexpr int64_t kThreads = 1024;
/// Bits of a key that hold the row; the count is cut off at what the rest
/// holds.
constexpr int64_t kRowBits = 15;
constexpr int64_t kMostTiles = (int64_t(1) << (32 - kRowBits)) - 1;

class OrderEmitter {
public:
  explicit OrderEmitter(ModuleOp module)
      : e(module, "order_tiles",
          {LLVM::LLVMPointerType::get(module.getContext(), 1),
           LLVM::LLVMPointerType::get(module.getContext(), 1),
           IntegerType::get(module.getContext(), 32)},
          kThreads, -1) {}
  void build();

private:
  using Values = DeviceEmitter::Values;
  /// First and count of a row's tiles.
  std::pair<Value, Value> sliceOf(Value row);
  Value lowerBound(Value list, Value count, Value limit);
  void sort();
  Value key(Value i) { return e.offset(e.shared(), e.mul(i, 4)); }

  DeviceEmitter e;
  Value tid, threads, size;
  Value mask, maskStride, qBegin, kvBegin, kvEnd;
};

} // namespace

/// How many of `count` ascending values are below `limit`.
Value OrderEmitter::lowerBound(Value list, Value count, Value limit) {
  return e.repeat(
      {e.integer(0), count}, [&](ValueRange c) { return e.less(c[0], c[1]); },
      [&](ValueRange c) -> Values {
        Value middle = e.shr(e.add(c[0], c[1]), 1);
        Value value =
            e.load(e.i32, e.offset(list, e.mul(e.cast(middle, e.i64), 4)));
        Value below = e.less(value, limit);
        return {e.select(below, e.add(middle, 1), c[0]),
                e.select(below, c[1], middle)};
      })[0];
}

std::pair<Value, Value> OrderEmitter::sliceOf(Value row) {
  Value number = e.cast(e.add(qBegin, row), e.i64);
  Value at = e.offset(mask, e.mul(e.mul(number, maskStride), 4));
  Value count = e.load(e.i32, at);
  // A row that nobody wrote, or that is longer than its memory, has no tiles.
  Value most = e.sub(e.cast(maskStride, e.i32), e.integer(1));
  Value broken = e.orI(e.less(count, e.integer(0)), e.less(most, count));
  Value told = e.orI(count, e.integer(std::numeric_limits<int32_t>::min()));
  count = e.select(broken, e.integer(0), count);
  Value list = e.offset(at, 4);
  Value first = e.branch(
      e.lessEqual(kvBegin, e.integer(0)), {e.i32},
      [&]() -> Values { return {e.integer(0)}; },
      [&]() -> Values { return {lowerBound(list, count, kvBegin)}; })[0];
  // Whole lists are the common case.
  Value last = e.most(e.sub(count, 1), e.integer(0));
  Value largest = e.load(e.i32, e.offset(list, e.mul(e.cast(last, e.i64), 4)));
  Value end = e.branch(
      e.less(largest, kvEnd), {e.i32}, [&]() -> Values { return {count}; },
      [&]() -> Values { return {lowerBound(list, count, kvEnd)}; })[0];
  return {
      e.select(broken, told, first),
      e.select(broken, e.integer(0), e.most(e.sub(end, first), e.integer(0)))};
}

void OrderEmitter::sort() {
  // Ascending in runs of 2^(level + 1) keys, exchanged at distance 2^shift.
  Value levels = e.lowestBit(size);
  Value one = e.integer(1);
  e.loop(e.integer(0), levels, one, [&](Value level) {
    e.loop(e.integer(0), e.add(level, 1), one, [&](Value step) {
      Value distance = e.shl(one, e.sub(level, step));
      e.barrier();
      e.loop(tid, e.shr(size, 1), threads, [&](Value i) {
        Value low = e.sub(e.shl(i, 1), e.andI(i, e.sub(distance, 1)));
        Value first = key(low), second = key(e.add(low, distance));
        Value l = e.load(e.i32, first), r = e.load(e.i32, second);
        Value swapped = e.compare(arith::CmpIPredicate::ugt, l, r);
        Value descending = e.notZero(e.andI(low, e.shl(e.integer(2), level)));
        Value exchange = e.xorI(swapped, descending);
        e.store(e.select(exchange, r, l), first);
        e.store(e.select(exchange, l, r), second);
      });
    });
  });
  e.barrier();
}

void OrderEmitter::build() {
  Value cta = e.ctaIndex();
  tid = e.threadIndex();
  threads = e.intrinsic("llvm.nvvm.read.ptx.sreg.ntid.x", e.i32, {});
  size = e.argument(2);
  Value record = e.record(e.argument(0), cta, 40);
  mask = e.pointer(e.field(e.i64, record, 0));
  maskStride = e.cast(e.field(e.i32, record, 8), e.i64);
  Value entry = e.field(e.i32, record, 12);
  qBegin = e.field(e.i32, record, 16);
  Value rows = e.sub(e.field(e.i32, record, 20), qBegin);
  kvBegin = e.field(e.i32, record, 24);
  kvEnd = e.field(e.i32, record, 28);
  Value tiles = e.record(e.argument(1), e.field(e.i32, record, 32), 16);

  e.loop(tid, size, threads, [&](Value i) {
    Value value = e.branch(
        e.less(i, rows), {e.i32},
        [&]() -> Values {
          Value count = sliceOf(i).second;
          Value rest = e.sub(e.integer(kMostTiles),
                             e.least(count, e.integer(kMostTiles)));
          return {e.orI(e.shl(rest, kRowBits), i)};
        },
        [&]() -> Values { return {e.integer(-1)}; })[0];
    e.store(value, key(i));
  });
  sort();
  e.loop(tid, rows, threads, [&](Value i) {
    Value row = e.andI(e.load(e.i32, key(i)), (int64_t(1) << kRowBits) - 1);
    auto [first, count] = sliceOf(row);
    Value tile = e.vector({entry, e.add(qBegin, row), first, count});
    e.store(tile, e.record(tiles, i, 16), 16);
  });
  e.finish();
}

void mlir::sparseattn::buildDeviceOrderKernel(ModuleOp module) {
  OrderEmitter(module).build();
}
