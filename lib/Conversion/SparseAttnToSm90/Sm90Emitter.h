//===- Sm90Emitter.h - Short forms for writing Hopper kernels ---*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_CONVERSION_SPARSEATTNTOSM90_SM90EMITTER_H
#define SPARSEATTN_CONVERSION_SPARSEATTNTOSM90_SM90EMITTER_H

#include "sparseattn/Dialect/Sm90/IR/Sm90.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::sparseattn {

/// Writes scalar code of a kernel: 32-bit integers unless said otherwise.
class Sm90Emitter {
public:
  Sm90Emitter(OpBuilder &builder, Location loc) : b(loc, builder) {}

  Value i32(int64_t value);
  Value i64(int64_t value);
  Value f32(float value);

  Value add(Value l, Value r) { return arith::AddIOp::create(b, l, r); }
  Value sub(Value l, Value r) { return arith::SubIOp::create(b, l, r); }
  Value mul(Value l, Value r) { return arith::MulIOp::create(b, l, r); }
  Value add(Value l, int64_t r) { return r == 0 ? l : add(l, i32(r)); }
  Value sub(Value l, int64_t r) { return sub(l, i32(r)); }
  Value mul(Value l, int64_t r) { return r == 1 ? l : mul(l, i32(r)); }
  /// Of values that are not negative.
  Value div(Value l, int64_t r);
  Value mod(Value l, int64_t r);
  Value min(Value l, Value r) { return arith::MinSIOp::create(b, l, r); }
  Value max(Value l, Value r) { return arith::MaxSIOp::create(b, l, r); }
  Value compare(arith::CmpIPredicate predicate, Value l, Value r) {
    return arith::CmpIOp::create(b, predicate, l, r);
  }
  Value isNegative(Value v) {
    return compare(arith::CmpIPredicate::slt, v, i32(0));
  }
  Value select(Value c, Value l, Value r) {
    return arith::SelectOp::create(b, c, l, r);
  }
  Value toI64(Value v) { return arith::ExtSIOp::create(b, b.getI64Type(), v); }

  Value fadd(Value l, Value r) { return arith::AddFOp::create(b, l, r); }
  Value fmul(Value l, Value r) { return arith::MulFOp::create(b, l, r); }
  Value fma(Value x, Value y, Value z);
  Value fmax(Value l, Value r);
  /// 2^x, log2 x and 1 / x of the special function unit, subnormals flushed.
  Value exp2(Value v) { return special("llvm.nvvm.ex2.approx.ftz.f", v); }
  Value log2(Value v) { return special("llvm.nvvm.lg2.approx.ftz.f", v); }
  Value reciprocal(Value v) { return special("llvm.nvvm.rcp.approx.ftz.f", v); }

  /// `pointer` plus `offset` elements of `element`.
  Value gep(Value pointer, Type element, Value offset);
  /// `pointer` plus a constant number of bytes.
  Value byteOffset(Value pointer, int64_t bytes);
  Value load(Type type, Value pointer, unsigned alignment);
  /// The `count` 32-bit integers of a vector load.
  SmallVector<Value> loadInts(Value pointer, int64_t count);
  /// A pointer to global memory from an integer in memory.
  Value loadPointer(Value pointer);

  ImplicitLocOpBuilder b;

private:
  Value special(StringRef intrinsic, Value v);
};

} // namespace mlir::sparseattn

#endif // SPARSEATTN_CONVERSION_SPARSEATTNTOSM90_SM90EMITTER_H
