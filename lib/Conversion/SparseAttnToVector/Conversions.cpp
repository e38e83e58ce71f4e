//===- Conversions.cpp - 16-bit floating point to fp32 and back -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// bf16 is converted by integer operations on every target: the AVX-512
// instruction flushes subnormal numbers, and targets without it would call the
// compiler's runtime library, which kernels must not depend on. fp16 uses the
// hardware where present and integer operations elsewhere, for the same reason.
//
//===----------------------------------------------------------------------===//
#include "KernelEmitter.h"

using namespace mlir;
using namespace mlir::sparseattn;

Type KernelEmitter::like(Value value, Type element) {
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    return vector.clone(element);
  return element;
}

namespace {
/// Integer operations on 32-bit patterns, scalar or vector.
struct Bits {
  KernelEmitter &e;

  Value constant(Value like, int64_t value) {
    return e.integer(like.getType(), value);
  }
  Value andWith(Value v, int64_t mask) {
    return arith::AndIOp::create(e.b, e.loc, v, constant(v, mask));
  }
  Value orOf(Value l, Value r) {
    return arith::OrIOp::create(e.b, e.loc, l, r);
  }
  Value orWith(Value v, int64_t mask) { return orOf(v, constant(v, mask)); }
  Value left(Value v, int64_t by) {
    return arith::ShLIOp::create(e.b, e.loc, v, constant(v, by));
  }
  Value right(Value v, int64_t by) {
    return arith::ShRUIOp::create(e.b, e.loc, v, constant(v, by));
  }
  Value above(Value v, int64_t limit) {
    return e.compare(arith::CmpIPredicate::ugt, v, constant(v, limit));
  }
  /// The 16-bit pattern of `value`, zero-extended.
  Value from16(Value value) {
    Value bits = e.bitcast(e.like(value, e.b.getI16Type()), value);
    return arith::ExtUIOp::create(e.b, e.loc, e.like(value, e.b.getI32Type()),
                                  bits);
  }
  /// The low 16 bits as a value of type `element`.
  Value to16(Value bits, Type element) {
    Value low = arith::TruncIOp::create(e.b, e.loc,
                                        e.like(bits, e.b.getI16Type()), bits);
    return e.bitcast(e.like(bits, element), low);
  }
  Value toFloat(Value bits) {
    return e.bitcast(e.like(bits, e.b.getF32Type()), bits);
  }
  Value fromFloat(Value value) {
    return e.bitcast(e.like(value, e.b.getI32Type()), value);
  }
};
} // namespace

Value KernelEmitter::widenHalf(Value value) {
  if (target.hasHalf)
    return arith::ExtFOp::create(b, loc, like(value, b.getF32Type()), value);
  Bits bits{*this};
  Value pattern = bits.from16(value);
  Value sign = bits.left(bits.andWith(pattern, 0x8000), 16);
  Value magnitude = bits.left(bits.andWith(pattern, 0x7fff), 13);
  // Moving the exponent by multiplication also normalises subnormal numbers.
  Value scaled = bits.fromFloat(mulF(
      bits.toFloat(magnitude), real(like(value, b.getF32Type()), 0x1p112)));
  Value special = bits.orWith(magnitude, 0x7f800000);
  Value result =
      select(bits.above(magnitude, (0x7c00 << 13) - 1), special, scaled);
  return bits.toFloat(bits.orOf(result, sign));
}

Value KernelEmitter::widen(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  if (element.isF32())
    return value;
  if (element.isF16())
    return widenHalf(value);
  Bits bits{*this};
  return bits.toFloat(bits.left(bits.from16(value), 16));
}

Value KernelEmitter::narrowBf16(Value value) {
  Bits bits{*this};
  Value pattern = bits.fromFloat(value);
  // Adding 0x7fff plus the lowest kept bit rounds ties to even.
  Value odd = bits.andWith(bits.right(pattern, 16), 1);
  Value rounded = add(add(pattern, bits.constant(pattern, 0x7fff)), odd);
  Value isNan = compareF(arith::CmpFPredicate::UNO, value, value);
  Value result = select(isNan, bits.orWith(pattern, 0x400000), rounded);
  return bits.to16(bits.right(result, 16), b.getBF16Type());
}

Value KernelEmitter::narrowHalf(Value value) {
  if (target.hasHalf)
    return arith::TruncFOp::create(b, loc, like(value, b.getF16Type()), value);
  Bits bits{*this};
  Value pattern = bits.fromFloat(value);
  Value sign = bits.right(bits.andWith(pattern, 0x80000000), 16);
  Value magnitude = bits.andWith(pattern, 0x7fffffff);
  // Normal result: move the exponent, add half a unit, ties to even. A carry
  // out of the mantissa gives infinity as it should.
  Value odd = bits.andWith(bits.right(magnitude, 13), 1);
  Value moved =
      add(add(magnitude, bits.constant(pattern, -0x38000000 + 0xfff)), odd);
  Value normal = bits.right(moved, 13);
  // Subnormal result: adding 0.5 lets the fp32 adder do the rounding.
  Value half = real(value.getType(), 0.5);
  Value subnormal = sub(bits.fromFloat(addF(bits.toFloat(magnitude), half)),
                        bits.constant(pattern, 0x3f000000));
  Value special =
      select(bits.above(magnitude, 0x7f800000), bits.constant(pattern, 0x7e00),
             bits.constant(pattern, 0x7c00));
  Value finite = select(bits.above(magnitude, 0x387fffff), normal, subnormal);
  Value result = select(bits.above(magnitude, 0x477fffff), special, finite);
  return bits.to16(bits.orOf(result, sign), b.getF16Type());
}

Value KernelEmitter::narrow(Value value, Type element) {
  if (element.isF32())
    return value;
  return element.isF16() ? narrowHalf(value) : narrowBf16(value);
}
