//===- KernelEmitter.h - Short forms for writing kernels --------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_CONVERSION_SPARSEATTNTOVECTOR_KERNELEMITTER_H
#define SPARSEATTN_CONVERSION_SPARSEATTNTOVECTOR_KERNELEMITTER_H

#include "sparseattn/Conversion/SparseAttnToVector/KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir {
namespace sparseattn {

/// Rows of a matrix inside a memref: element (i, j) lies `offset + i * stride +
/// j` elements from the memref's aligned pointer.
struct MatrixRows {
  Value memref;
  Value offset;
  Value stride;
};

/// Writes the operations of one kernel function. Constants are made once, at
/// the start of the entry block, so that the result needs no CSE. Element-wise
/// helpers take scalars and vectors alike. No fast-math flag is set anywhere:
/// exponential and rounding rely on the order of operations.
class KernelEmitter {
public:
  KernelEmitter(OpBuilder &builder, Location loc, const CpuTarget &target)
      : b(builder), loc(loc), target(target) {}

  /// Makes the function `spec.name()` with a C interface and enters its body.
  func::FuncOp beginFunction(const sart::KernelSpec &spec, TypeRange arguments,
                             int64_t scratchBytes,
                             int64_t scratchBytesPerBlock);
  /// Terminates the body.
  void endFunction();
  Value argument(unsigned i) { return entry->getArgument(i); }

  // Types.
  Type elementType(sart::DType type);
  VectorType vec(Type element, int64_t lanes);
  /// One register of fp32.
  VectorType f32Vec() { return vec(b.getF32Type(), target.lanes); }
  /// memref<?xDxT, strided<[?, 1], offset: ?>>
  MemRefType rowsType(Type element, int64_t columns);
  /// memref<?xT, strided<[?], offset: ?>>
  MemRefType stridedType(Type element);
  /// memref<?xT>
  MemRefType flatType(Type element);

  // Constants.
  Value index(int64_t value);
  /// A floating-point constant, splat for vectors.
  Value real(Type type, double value);
  /// An integer constant, splat for vectors.
  Value integer(Type type, int64_t value);
  /// The largest value below every number.
  Value negativeInfinity(Type type);
  /// vector<N x i32> of 0, 1, 2, ... starting at `first`.
  Value iota(int64_t first, int64_t lanes);

  // Arithmetic; index and integer.
  Value add(Value l, Value r);
  Value sub(Value l, Value r);
  Value mul(Value l, Value r);
  Value minimum(Value l, Value r);
  Value maximum(Value l, Value r);
  Value ceilDiv(Value l, int64_t divisor);
  Value modulo(Value l, int64_t divisor);
  Value compare(arith::CmpIPredicate predicate, Value l, Value r);
  Value both(Value l, Value r);
  Value either(Value l, Value r);
  Value toIndex(Value i32);
  /// Between index and an integer type, signed.
  Value castInteger(Value value, Type type);
  Value select(Value condition, Value l, Value r);

  // Arithmetic; floating point.
  Value addF(Value l, Value r);
  Value subF(Value l, Value r);
  Value mulF(Value l, Value r);
  Value divF(Value l, Value r);
  Value compareF(arith::CmpFPredicate predicate, Value l, Value r);
  /// l > r ? l : r, which is r if l is NaN.
  Value maximumF(Value l, Value r);
  /// l * r + accumulator, fused where the target can.
  Value fma(Value l, Value r, Value accumulator);
  /// Sum of all lanes, in a fixed tree order.
  Value sumLanes(Value vector);
  Value splat(VectorType type, Value scalar);
  Value bitcast(Type type, Value value);

  // Conversions (Conversions.cpp).
  /// f32, bf16 or f16 to f32; exact.
  Value widen(Value value);
  /// f32 to f32, bf16 or f16, round to nearest even.
  Value narrow(Value value, Type element);
  /// Value's type with another element type.
  Type like(Value value, Type element);

  // Elementary functions (Elementary.cpp).
  /// 2^x for f32 or f64; 0 for x below the normal range, -inf and NaN.
  Value exp2(Value x);
  /// Natural logarithm of a positive, normal f32.
  Value log(Value x);

  // Memory.
  Value load(Value memref, ValueRange indices);
  void store(Value value, Value memref, ValueRange indices);
  Value loadVector(VectorType type, Value memref, ValueRange indices);
  void storeVector(Value value, Value memref, ValueRange indices);
  /// A typed view of `scratch` at a byte offset.
  Value view(Value scratch, Value byteOffset, MemRefType type,
             ValueRange sizes = {});
  Value view(Value scratch, int64_t byteOffset, MemRefType type) {
    return view(scratch, index(byteOffset), type);
  }
  Value dim(Value memref, int64_t i);
  /// The rows of a strided matrix.
  MatrixRows rowsOf(Value memref);
  /// The same rows without the first `count`.
  MatrixRows skipRows(const MatrixRows &rows, Value count);
  /// A window of `count` rows and `columns` columns from (row, column) on. One
  /// window per register tile keeps address arithmetic out of the inner loop:
  /// what varies there is one index, the rest are constants.
  Value window(const MatrixRows &rows, Value row, Value column, Value count,
               int64_t columns);
  void prefetch(Value memref, ValueRange indices);

  // Control flow. Bodies return the carried values.
  using Values = SmallVector<Value>;
  Values loop(Value begin, Value end, Value step, ValueRange initial,
              llvm::function_ref<Values(Value iv, ValueRange carried)> body);
  void loop(Value begin, Value end, Value step,
            llvm::function_ref<void(Value iv)> body);
  Values branch(Value condition, TypeRange results,
                llvm::function_ref<Values()> thenBody,
                llvm::function_ref<Values()> elseBody);
  void when(Value condition, llvm::function_ref<void()> body);
  /// Runs `body` while `condition` of the carried values holds.
  Values repeat(ValueRange initial,
                llvm::function_ref<Value(ValueRange carried)> condition,
                llvm::function_ref<Values(ValueRange carried)> body);

  OpBuilder &b;
  Location loc;
  const CpuTarget &target;

private:
  Value constant(TypedAttr attr);
  Value widenHalf(Value value);
  Value narrowBf16(Value value);
  Value narrowHalf(Value value);

  Block *entry = nullptr;
  DenseMap<Attribute, Value> constants;
};

/// The three kernels; `spec` has been checked.
func::FuncOp buildAttendKernel(KernelEmitter &e, const sart::KernelSpec &spec);
func::FuncOp buildPoolKernel(KernelEmitter &e, const sart::KernelSpec &spec);
func::FuncOp buildRouteKernel(KernelEmitter &e, const sart::KernelSpec &spec);

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_CONVERSION_SPARSEATTNTOVECTOR_KERNELEMITTER_H
