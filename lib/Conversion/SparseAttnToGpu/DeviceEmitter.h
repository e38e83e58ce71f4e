//===- DeviceEmitter.h - Short forms for writing GPU kernels ----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_CONVERSION_SPARSEATTNTOGPU_DEVICEEMITTER_H
#define SPARSEATTN_CONVERSION_SPARSEATTNTOGPU_DEVICEEMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir {
namespace sparseattn {

/// Writes the operations of one kernel. Integers are i32 unless a name says
/// otherwise; byte offsets are i64 in global and i32 in shared memory. No
/// fast-math flag is set anywhere.
class DeviceEmitter {
public:
  using Values = SmallVector<Value>;

  /// Starts the kernel `name` at the end of `module` and enters its body.
  /// Argument types: global pointers, i32, f32. `sharedBytes` of static shared
  /// memory; -1 for dynamic shared memory, 0 for none.
  DeviceEmitter(ModuleOp module, StringRef name, TypeRange arguments,
                int32_t threads, int64_t sharedBytes);
  /// Ends the body.
  void finish();

  Value argument(unsigned i);
  /// The kernel's shared memory.
  Value shared() { return sharedMemory; }

  // Types.
  Type i1, i8, i16, i32, i64, f32, f64, globalPointer, sharedPointer;
  VectorType vec(Type element, int64_t lanes) {
    return VectorType::get({lanes}, element);
  }

  // Constants.
  Value integer(int64_t value, Type type = {});
  Value wide(int64_t value) { return integer(value, i64); }
  Value real(double value, Type type = {});
  Value flag(bool value) { return integer(value, i1); }
  Value negativeInfinity(Type type);

  // Arithmetic. Integer comparisons are signed.
  Value add(Value l, Value r);
  Value sub(Value l, Value r);
  Value mul(Value l, Value r);
  Value add(Value l, int64_t r) { return add(l, integer(r, l.getType())); }
  Value sub(Value l, int64_t r) { return sub(l, integer(r, l.getType())); }
  Value mul(Value l, int64_t r) { return mul(l, integer(r, l.getType())); }
  /// Unsigned.
  Value div(Value l, Value r);
  Value andI(Value l, Value r);
  Value andI(Value l, int64_t r) { return andI(l, integer(r, l.getType())); }
  Value orI(Value l, Value r);
  Value xorI(Value l, Value r);
  Value shl(Value l, Value r);
  Value shl(Value l, int64_t r) { return shl(l, integer(r, l.getType())); }
  /// Unsigned and signed right shift.
  Value shr(Value l, int64_t r);
  Value sar(Value l, int64_t r);
  Value least(Value l, Value r);
  Value most(Value l, Value r);
  Value bitCount(Value value);
  /// Index of the lowest set bit; the value is not 0.
  Value lowestBit(Value value);
  Value compare(arith::CmpIPredicate predicate, Value l, Value r);
  Value less(Value l, Value r);
  Value lessEqual(Value l, Value r);
  Value equal(Value l, Value r);
  Value notZero(Value value);
  Value notOf(Value condition);
  Value select(Value condition, Value l, Value r);
  /// Sign-extends or truncates.
  Value cast(Value value, Type type);
  Value addF(Value l, Value r);
  Value subF(Value l, Value r);
  Value mulF(Value l, Value r);
  Value divF(Value l, Value r);
  Value fma(Value l, Value r, Value accumulator);
  Value absF(Value value);
  Value compareF(arith::CmpFPredicate predicate, Value l, Value r);
  Value greaterEqualF(Value l, Value r);
  Value maxF(Value l, Value r);
  Value minF(Value l, Value r);
  /// Between floating-point types.
  Value resize(Value value, Type type);
  Value toReal(Value integer, Type type);
  Value bitcast(Value value, Type type);
  /// e^x for x <= 0 in fp64, within 1e-14; 0 below the normal range.
  Value exponential(Value x);

  // Vectors.
  Value element(Value vector, int64_t i);
  Value vector(ValueRange elements);

  // Memory. `bytes` is an i64 (global) or i32 (shared) value.
  Value offset(Value pointer, Value bytes);
  Value offset(Value pointer, int64_t bytes);
  Value load(Type type, Value pointer, int64_t alignment = 0);
  Value load(Type type, Value pointer, int64_t bytes, int64_t alignment) {
    return load(type, offset(pointer, bytes), alignment);
  }
  void store(Value value, Value pointer, int64_t alignment = 0);
  /// A global pointer kept as an i64.
  Value pointer(Value address);
  /// Row `index` of an array of records.
  Value record(Value array, Value index, int64_t bytes);
  Value field(Type type, Value record, int64_t bytes) {
    return load(type, offset(record, bytes));
  }
  void atomic(LLVM::AtomicBinOp kind, Value value, Value pointer);

  // Threads.
  Value threadIndex();
  Value ctaIndex();
  /// Reads "tid.x" and the like where it stands: the value is not kept in a
  /// register from an earlier read.
  Value specialRegister(StringRef name);
  void barrier();
  void warpBarrier();
  Value ballot(Value condition);
  /// The value of another lane; fp64 or i32.
  Value shuffleXor(Value value, int32_t mask);
  Value shuffleFrom(Value value, Value lane);
  /// Folds the values of a warp; all lanes get the same bits.
  Value foldWarp(Value value, llvm::function_ref<Value(Value, Value)> fold);
  Value intrinsic(StringRef name, Type result, ValueRange operands);

  // Control flow. Bodies return the carried values.
  Values loop(Value begin, Value end, Value step, ValueRange initial,
              llvm::function_ref<Values(Value i, ValueRange carried)> body);
  void loop(Value begin, Value end, Value step,
            llvm::function_ref<void(Value i)> body);
  Values branch(Value condition, TypeRange results,
                llvm::function_ref<Values()> thenBody,
                llvm::function_ref<Values()> elseBody);
  void when(Value condition, llvm::function_ref<void()> body);
  Values repeat(ValueRange initial,
                llvm::function_ref<Value(ValueRange carried)> condition,
                llvm::function_ref<Values(ValueRange carried)> body);

  OpBuilder b;
  Location loc;

private:
  void declareShared(StringRef symbol, int64_t bytes);
  Value shuffle(StringRef name, Value value, Value lane);

  LLVM::LLVMFuncOp function;
  Value sharedMemory;
};

/// The kernels, each in a file of its name.
void buildDevicePoolKernel(ModuleOp module, StringRef name, Type element,
                           int64_t headDim, int64_t block);
/// `capacity` rows, 8 or 16, in a thread block of as many warps.
void buildDeviceRouteKernel(ModuleOp module, int64_t headDim, int64_t capacity);
void buildDeviceTotalsKernel(ModuleOp module);
void buildDeviceOrderKernel(ModuleOp module);
void buildDeviceConvertKernel(ModuleOp module, StringRef name, Type from,
                              Type to);
void buildDeviceMergeKernel(ModuleOp module);

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_CONVERSION_SPARSEATTNTOGPU_DEVICEEMITTER_H
