//===- PoolKernel.cpp - Block means of one head ---------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// y[b] = mean of the rows [b * blockQ, (b + 1) * blockQ) of x, as far as they
// exist, for blockBegin <= b < blockEnd; a block without rows gives 0. Sums are
// kept in fp64 and rounded once, so that the result does not depend on the
// order of summation.
//
//===----------------------------------------------------------------------===//
#include "KernelEmitter.h"

using namespace mlir;
using namespace mlir::sparseattn;

func::FuncOp mlir::sparseattn::buildPoolKernel(KernelEmitter &e,
                                               const sart::KernelSpec &spec) {
  OpBuilder &b = e.b;
  Type f32 = b.getF32Type(), f64 = b.getF64Type(), index = b.getIndexType();
  Type element = e.elementType(spec.dtype);
  int64_t lanes = e.target.lanes / 2; // fp64 values in one register
  VectorType wide = e.vec(f64, lanes);

  func::FuncOp func =
      e.beginFunction(spec,
                      {e.rowsType(element, spec.headDim),
                       e.rowsType(f32, spec.headDim), index, index},
                      0, 0);
  Value x = e.argument(0), y = e.argument(1);
  Value rows = e.dim(x, 0);

  e.loop(e.argument(2), e.argument(3), e.index(1), [&](Value block) {
    Value first = e.mul(block, e.index(spec.blockQ));
    Value count = e.minimum(e.sub(rows, first), e.index(spec.blockQ));
    Value divisor = arith::SIToFPOp::create(
        b, e.loc, f64,
        e.castInteger(e.maximum(count, e.index(1)), b.getI64Type()));

    // Means of `n` registers' width of columns, in one sweep over the rows.
    auto columns = [&](Value column, int64_t n) {
      KernelEmitter::Values at, sums(n, e.real(wide, 0));
      for (int64_t i = 0; i < n; ++i)
        at.push_back(e.add(column, e.index(i * lanes)));
      sums =
          e.loop(e.index(0), count, e.index(1), sums,
                 [&](Value t, ValueRange carried) {
                   KernelEmitter::Values updated;
                   Value row = e.add(first, t);
                   for (int64_t i = 0; i < n; ++i) {
                     Value value =
                         e.loadVector(e.vec(element, lanes), x, {row, at[i]});
                     Value exact =
                         arith::ExtFOp::create(b, e.loc, wide, e.widen(value));
                     updated.push_back(e.addF(carried[i], exact));
                   }
                   return updated;
                 });
      for (int64_t i = 0; i < n; ++i) {
        Value mean = e.divF(sums[i], e.splat(wide, divisor));
        Value rounded =
            arith::TruncFOp::create(b, e.loc, e.vec(f32, lanes), mean);
        e.storeVector(rounded, y, {block, at[i]});
      }
    };
    constexpr int64_t kUnroll = 4;
    int64_t whole = spec.headDim / (kUnroll * lanes) * (kUnroll * lanes);
    e.loop(e.index(0), e.index(whole), e.index(kUnroll * lanes),
           [&](Value column) { columns(column, kUnroll); });
    if (whole != spec.headDim)
      e.loop(e.index(whole), e.index(spec.headDim), e.index(lanes),
             [&](Value column) { columns(column, 1); });
  });
  e.endFunction();
  return func;
}
