//===- Elementary.cpp - 2^x and log x for kernels -------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelEmitter.h"

using namespace mlir;
using namespace mlir::sparseattn;

/// 2^x = 2^n * 2^r with n the nearest integer and r in [-1/2, 1/2].
///
/// Adding 1.5 * 2^m (m mantissa bits) leaves n in the low bits of the sum; the
/// exponent bias is folded into the same constant, so that a shift of the bits
/// gives the factor 2^n. x is clamped to one below the smallest normal
/// exponent, where the shifted pattern is exactly zero: very small arguments,
/// -inf, and NaN (for which the comparison is false) give 0 without a branch.
/// Valid up to the largest normal exponent.
///
/// fp32: degree 5, least maximum of the relative error with p(0) = 1, 9.2e-8.
/// fp64: Taylor series of degree 13, relative error below 1e-17 plus rounding.
Value KernelEmitter::exp2(Value x) {
  static const double kMinimax[] = {0.00132647948, 0.00967153814, 0.0555073395,
                                    0.240222424,   0.693147004,   1};
  Type type = x.getType();
  Type element = getElementTypeOrSelf(type);
  bool wide = element.isF64();
  int64_t mantissa = wide ? 52 : 23;
  int64_t bias = wide ? 1023 : 127;
  Value magic =
      real(type, 1.5 * static_cast<double>(int64_t(1) << mantissa) + bias);

  x = maximumF(x, real(type, -static_cast<double>(bias)));
  Value sum = addF(x, magic);
  Value r = subF(x, subF(sum, magic));

  Value p;
  if (wide) {
    // ln(2)^k / k!
    constexpr double ln2 = 0.693147180559945309417;
    double coefficients[14] = {1};
    for (int k = 1; k < 14; ++k)
      coefficients[k] = coefficients[k - 1] * ln2 / k;
    p = real(type, coefficients[13]);
    for (int k = 12; k >= 0; --k)
      p = fma(p, r, real(type, coefficients[k]));
  } else {
    p = real(type, kMinimax[0]);
    for (int k = 1; k < 6; ++k)
      p = fma(p, r, real(type, kMinimax[k]));
  }

  Type integerType = like(x, wide ? b.getI64Type() : b.getI32Type());
  Value pattern = arith::ShLIOp::create(b, loc, bitcast(integerType, sum),
                                        integer(integerType, mantissa));
  return mulF(p, bitcast(type, pattern));
}

/// log x = n ln 2 + 2 atanh(s), s = (f - 1) / (f + 1), x = 2^n f with f in
/// [sqrt(1/2), sqrt(2)), so |s| < 0.1716 and the series up to s^9 is exact to
/// 2e-10. ln 2 is split so that n times its upper part is exact.
Value KernelEmitter::log(Value x) {
  Type type = x.getType();
  Type integerType = like(x, b.getI32Type());
  Value pattern = bitcast(integerType, x);
  // 0x3f3504f3 is sqrt(1/2): the exponent of x / sqrt(1/2) is n.
  Value offset = sub(pattern, integer(integerType, 0x3f3504f3));
  Value n = arith::ShRSIOp::create(b, loc, offset, integer(integerType, 23));
  Value f = bitcast(
      type,
      sub(pattern, arith::ShLIOp::create(b, loc, n, integer(integerType, 23))));
  Value exponent = arith::SIToFPOp::create(b, loc, type, n);

  Value one = real(type, 1);
  Value s = divF(subF(f, one), addF(f, one));
  Value s2 = mulF(s, s);
  Value p = real(type, 2.0 / 9);
  for (double divisor : {7.0, 5.0, 3.0})
    p = fma(p, s2, real(type, 2 / divisor));
  Value tail = mulF(mulF(p, s2), s);
  Value low = fma(exponent, real(type, 1.42860677e-6), tail);
  Value twice = addF(s, s);
  return fma(exponent, real(type, 0.693145751953125), addF(low, twice));
}
