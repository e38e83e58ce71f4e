//===- PoolKernel.cpp - Block means on a GPU ------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread block takes one block of one record. A thread loads 16 bytes of
// every n-th row, all of them before it adds the first, so that a whole block
// is in flight, and sums them in fp32: at most 32 values, whose sum is exact
// unless they differ by more than the spare bits of fp32. What the threads got
// is summed in fp64 and rounded once. The order of the sums is fixed.
//
//===----------------------------------------------------------------------===//
#include "DeviceEmitter.h"

using namespace mlir;
using namespace mlir::sparseattn;

namespace {

constexpr int64_t kThreads = 256;

class PoolEmitter {
public:
  PoolEmitter(ModuleOp module, StringRef name, Type element, int64_t headDim,
              int64_t block)
      : headDim(headDim), block(block),
        lanes(128 / element.getIntOrFloatBitWidth()),
        threadsPerRow(headDim / lanes), rowsPerPass(kThreads / threadsPerRow),
        element(element), e(module, name,
                            {LLVM::LLVMPointerType::get(module.getContext(), 1),
                             IntegerType::get(module.getContext(), 32)},
                            kThreads, rowsPerPass * headDim * 4) {}
  void build();

private:
  using Values = DeviceEmitter::Values;
  /// fp32 values of 16 bytes.
  Values unpack(Value words);
  void addTo(Values &sums, Value words);
  void writeMeans(Value count, Value y);

  int64_t headDim, block, lanes, threadsPerRow, rowsPerPass;
  Type element;
  DeviceEmitter e;
};

} // namespace

DeviceEmitter::Values PoolEmitter::unpack(Value words) {
  Values values;
  if (element.isBF16()) {
    // A bf16 is the upper half of an fp32.
    for (int64_t i = 0; i < 4; ++i) {
      Value word = e.element(words, i);
      values.push_back(e.bitcast(e.shl(word, 16), e.f32));
      values.push_back(e.bitcast(e.andI(word, -65536), e.f32));
    }
    return values;
  }
  Value typed = e.bitcast(words, e.vec(element, lanes));
  for (int64_t i = 0; i < lanes; ++i)
    values.push_back(e.resize(e.element(typed, i), e.f32));
  return values;
}

void PoolEmitter::addTo(Values &sums, Value words) {
  for (auto [sum, value] : llvm::zip_equal(sums, unpack(words)))
    sum = e.addF(sum, value);
}

void PoolEmitter::build() {
  Value tid = e.threadIndex(), cta = e.ctaIndex();
  Value ctasPerRecord = e.argument(1);
  Value index = e.div(cta, ctasPerRecord);
  Value record = e.record(e.argument(0), index, 48);
  Value blockBegin = e.field(e.i32, record, 32);
  Value blockEnd = e.field(e.i32, record, 36);
  Value number = e.add(blockBegin, e.sub(cta, e.mul(index, ctasPerRecord)));
  e.when(e.less(number, blockEnd), [&] {
    Value x = e.pointer(e.field(e.i64, record, 0));
    Value y = e.pointer(e.field(e.i64, record, 8));
    Value stride =
        e.mul(e.field(e.i64, record, 16), element.getIntOrFloatBitWidth() / 8);
    Value rows = e.field(e.i32, record, 24);
    Value yStride = e.cast(e.field(e.i32, record, 28), e.i64);

    Value first = e.mul(e.cast(number, e.i64), block);
    Value left = e.sub(e.cast(rows, e.i64), first);
    left = e.most(e.least(left, e.wide(block)), e.wide(0));
    Value count = e.cast(left, e.i32);
    Value row = e.shr(tid, llvm::Log2_64(threadsPerRow));
    Value column = e.andI(tid, threadsPerRow - 1);
    Value from =
        e.offset(x, e.add(e.mul(e.add(first, e.cast(row, e.i64)), stride),
                          e.mul(e.cast(column, e.i64), 16)));
    Type words = e.vec(e.i32, 4);

    Values zeros(lanes, e.real(0, e.f32));
    SmallVector<Type> types(lanes, e.f32);
    // More loads at once have no registers.
    bool even = block % rowsPerPass == 0 && block / rowsPerPass <= 16;
    Values sums = e.branch(
        even ? e.equal(count, e.integer(block)) : e.flag(false), types,
        [&]() -> Values {
          if (!even)
            return zeros;
          Values loaded;
          for (int64_t pass = 0; pass < block / rowsPerPass; ++pass)
            loaded.push_back(e.load(
                words, e.offset(from, e.mul(stride, pass * rowsPerPass)), 16));
          Values sums = unpack(loaded[0]);
          for (Value value : ArrayRef(loaded).drop_front())
            addTo(sums, value);
          return sums;
        },
        [&]() -> Values {
          return e.loop(
              row, count, e.integer(rowsPerPass), zeros,
              [&](Value r, ValueRange carried) -> Values {
                Values sums(carried);
                Value skipped = e.cast(e.sub(r, row), e.i64);
                addTo(sums, e.load(words,
                                   e.offset(from, e.mul(skipped, stride)), 16));
                return sums;
              });
        });
    Value slot = e.offset(e.shared(), e.mul(tid, lanes * 4));
    for (int64_t i = 0; i < lanes; i += 4)
      e.store(e.vector(ArrayRef(sums).slice(i, 4)), e.offset(slot, i * 4), 16);
    e.barrier();
    writeMeans(count,
               e.offset(y, e.mul(e.mul(e.cast(number, e.i64), yStride), 4)));
  });
  e.finish();
}

/// Slot (row, column) of shared memory has the sums of a pass's row.
void PoolEmitter::writeMeans(Value count, Value y) {
  Value tid = e.threadIndex();
  e.when(e.less(tid, e.integer(headDim)), [&] {
    Value at = e.offset(e.shared(), e.mul(tid, 4));
    Value sum = e.real(0);
    for (int64_t i = 0; i < rowsPerPass; ++i)
      sum = e.addF(
          sum, e.resize(e.load(e.f32, e.offset(at, i * headDim * 4)), e.f64));
    Value divisor = e.toReal(e.most(count, e.integer(1)), e.f64);
    Value mean = e.resize(e.divF(sum, divisor), e.f32);
    e.store(mean, e.offset(y, e.mul(e.cast(tid, e.i64), 4)));
  });
}

void mlir::sparseattn::buildDevicePoolKernel(ModuleOp module, StringRef name,
                                             Type element, int64_t headDim,
                                             int64_t block) {
  PoolEmitter(module, name, element, headDim, block).build();
}
