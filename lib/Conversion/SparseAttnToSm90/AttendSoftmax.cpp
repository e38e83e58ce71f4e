//===- AttendSoftmax.cpp - Online softmax of an attend kernel -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// p = 2^(s * scale - max * scale) with the raw maximum of the scores, so that
// the scale multiplies fp32 values. Sums are those of a thread's own columns
// until the end of a tile.
//
//===----------------------------------------------------------------------===//
#include "AttendSoftmax.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sparseattn;
using namespace mlir::sa_sm90;

/// The new maxima, or the old ones where no row of the warp needs its own.
static void keepMaxima(AttendContext &c, const Softmax &old, Softmax &next,
                       Rescale &rescale) {
  ImplicitLocOpBuilder &b = c.b;
  if (c.recipe.rescaleBits == 0)
    return;
  Value limit = c.f32(static_cast<float>(c.recipe.rescaleBits));
  Value grown;
  for (int row = 0; row < 2; ++row) {
    Value difference = arith::SubFOp::create(b, next.max[row], old.max[row]);
    Value more = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT,
                                       c.fmul(difference, c.scale), limit);
    grown = row == 0 ? more : arith::OrIOp::create(b, grown, more).getResult();
  }
  rescale.needed = NVVM::VoteSyncOp::create(b, b.getI1Type(), c.i32(-1), grown,
                                            NVVM::VoteSyncKind::any);
  for (int row = 0; row < 2; ++row)
    next.max[row] = c.select(rescale.needed, next.max[row], old.max[row]);
}

Value mlir::sparseattn::scaleOutput(AttendContext &c, Value output,
                                    const Rescale &rescale) {
  ImplicitLocOpBuilder &b = c.b;
  auto scaled = [&]() -> Value {
    return ScaleRowsOp::create(b, c.outputType(), output, rescale.factor[0],
                               rescale.factor[1]);
  };
  if (!rescale.needed)
    return scaled();
  // Uniform across the warp, and nothing waits in it.
  return scf::IfOp::create(
             b, rescale.needed,
             [&](OpBuilder &, Location) { scf::YieldOp::create(b, scaled()); },
             [&](OpBuilder &, Location) { scf::YieldOp::create(b, output); })
      .getResult(0);
}

Softmax mlir::sparseattn::addScores(AttendContext &c, Value scores,
                                    const Softmax *old, Rescale &rescale,
                                    Value &weights) {
  ImplicitLocOpBuilder &b = c.b;
  Softmax next;
  auto maxima = RowMaxOp::create(b, scores);
  next.max[0] = maxima.getLow();
  next.max[1] = maxima.getHigh();
  if (old) {
    for (int row = 0; row < 2; ++row)
      next.max[row] = c.fmax(old->max[row], next.max[row]);
    keepMaxima(c, *old, next, rescale);
  }
  // Old and new shifts are rounded alike: the factor of a maximum that stays is
  // exactly 1, so that nothing drifts over the steps.
  Value shift[2];
  for (int row = 0; row < 2; ++row) {
    shift[row] = c.fmul(next.max[row], c.scale);
    if (old) {
      Value before = c.fmul(old->max[row], c.scale);
      rescale.factor[row] =
          c.exp2(arith::SubFOp::create(b, before, shift[row]).getResult());
    }
  }
  weights =
      Exp2Op::create(b, scores.getType(), scores, c.scale, shift[0], shift[1]);
  auto sums = RowSumOp::create(b, weights);
  Value own[2] = {sums.getLow(), sums.getHigh()};
  for (int row = 0; row < 2; ++row)
    next.sum[row] =
        old ? c.fma(old->sum[row], rescale.factor[row], own[row]) : own[row];
  return next;
}
