//===- FragmentLowering.cpp - Arithmetic on accumulators ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Patterns.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::sparseattn;
using namespace mlir::sa_sm90;

using Results = FailureOr<SmallVector<Registers>>;

/// The row half (0: `low`, 1: `high`) of register `i` of an accumulator.
static int64_t rowHalf(int64_t i) { return i / 2 % 2; }

/// Combines the registers of a row half in four chains, then pairwise.
static Value reduceRow(ValueRange source, int64_t half,
                       llvm::function_ref<Value(Value, Value)> combine) {
  constexpr size_t numChains = 4;
  Registers parts;
  size_t next = 0;
  for (auto [i, value] : llvm::enumerate(source)) {
    if (rowHalf(i) != half)
      continue;
    if (parts.size() < numChains)
      parts.push_back(value);
    else
      parts[next] = combine(parts[next], value);
    next = (next + 1) % numChains;
  }
  while (parts.size() > 1) {
    Registers fewer;
    for (size_t i = 0; i + 1 < parts.size(); i += 2)
      fewer.push_back(combine(parts[i], parts[i + 1]));
    if (parts.size() % 2)
      fewer.push_back(parts.back());
    parts = fewer;
  }
  return parts.front();
}

/// Combines a value over the four lanes that share a row.
static Value reduceQuad(Emitter &emitter, Value value,
                        llvm::function_ref<Value(Value, Value)> combine) {
  for (int64_t distance : {1, 2})
    value = combine(value, emitter.exchange(value, distance));
  return value;
}

namespace {
struct ZeroLowering : Sm90Pattern<ZeroOp> {
  using Sm90Pattern::Sm90Pattern;
  Results lower(ZeroOp op, Operands, Emitter &emitter) const override {
    return SmallVector<Registers>{
        Registers(op.getResult().getType().getColumns() / 2, emitter.f32(0))};
  }
};

struct RowMaxLowering : Sm90Pattern<RowMaxOp> {
  using Sm90Pattern::Sm90Pattern;
  Results lower(RowMaxOp, Operands operands, Emitter &emitter) const override {
    auto larger = [&](Value a, Value b) -> Value {
      return arith::MaxNumFOp::create(emitter.builder, emitter.loc, a, b);
    };
    SmallVector<Registers> results;
    for (int64_t half : {0, 1})
      results.push_back({reduceQuad(
          emitter, reduceRow(operands.getSource(), half, larger), larger)});
    return results;
  }
};

struct RowSumLowering : Sm90Pattern<RowSumOp> {
  using Sm90Pattern::Sm90Pattern;
  Results lower(RowSumOp, Operands operands, Emitter &emitter) const override {
    SmallVector<Registers> results;
    for (int64_t half : {0, 1})
      results.push_back({reduceRow(
          operands.getSource(), half, [&](Value a, Value b) -> Value {
            return arith::AddFOp::create(emitter.builder, emitter.loc, a, b);
          })});
    return results;
  }
};

struct QuadSumLowering : Sm90Pattern<QuadSumOp> {
  using Sm90Pattern::Sm90Pattern;
  Results lower(QuadSumOp, Operands operands, Emitter &emitter) const override {
    return SmallVector<Registers>{{reduceQuad(
        emitter, operands.getValue().front(), [&](Value a, Value b) -> Value {
          return arith::AddFOp::create(emitter.builder, emitter.loc, a, b);
        })}};
  }
};

struct Exp2Lowering : Sm90Pattern<Exp2Op> {
  using Sm90Pattern::Sm90Pattern;
  Results lower(Exp2Op, Operands operands, Emitter &emitter) const override {
    OpBuilder &builder = emitter.builder;
    Type f32 = builder.getF32Type();
    Value negated[] = {
        arith::NegFOp::create(builder, emitter.loc, operands.getLow().front()),
        arith::NegFOp::create(builder, emitter.loc,
                              operands.getHigh().front())};
    Registers powers;
    for (auto [i, value] : llvm::enumerate(operands.getSource())) {
      Value exponent =
          LLVM::FMAOp::create(builder, emitter.loc, value,
                              operands.getScale().front(), negated[rowHalf(i)]);
      powers.push_back(LLVM::CallIntrinsicOp::create(
                           builder, emitter.loc, f32,
                           builder.getStringAttr("llvm.nvvm.ex2.approx.ftz.f"),
                           ValueRange(exponent))
                           .getResult(0));
    }
    return SmallVector<Registers>{powers};
  }
};

struct ScaleRowsLowering : Sm90Pattern<ScaleRowsOp> {
  using Sm90Pattern::Sm90Pattern;
  Results lower(ScaleRowsOp, Operands operands,
                Emitter &emitter) const override {
    Value factors[] = {operands.getLow().front(), operands.getHigh().front()};
    Registers scaled;
    for (auto [i, value] : llvm::enumerate(operands.getSource()))
      scaled.push_back(arith::MulFOp::create(emitter.builder, emitter.loc,
                                             value, factors[rowHalf(i)]));
    return SmallVector<Registers>{scaled};
  }
};

struct MaskColumnsLowering : Sm90Pattern<MaskColumnsOp> {
  using Sm90Pattern::Sm90Pattern;
  Results lower(MaskColumnsOp op, Operands operands,
                Emitter &emitter) const override {
    // A lane's columns are 8 j + c past its own first one: the limit is moved
    // once, and each register compares a constant.
    Value own =
        emitter.mul(emitter.bitAnd(threadPlace(emitter, op).lane, 3), 2);
    Registers limits;
    for (ValueRange limit : operands.getLimits())
      limits.push_back(emitter.builder.createOrFold<arith::SubIOp>(
          emitter.loc, limit.front(), own));
    Value masked = emitter.f32(-std::numeric_limits<double>::infinity());
    int64_t columns =
        op.getSource().getType().getColumns() / int64_t(limits.size());
    Registers kept;
    // Both row halves have the same columns.
    Value inside[2];
    for (auto [i, value] : llvm::enumerate(operands.getSource())) {
      int64_t column = int64_t(i) / 4 * 8 + int64_t(i) % 2;
      if (rowHalf(i) == 0)
        inside[i % 2] = emitter.compare(arith::CmpIPredicate::slt,
                                        emitter.i32(column % columns),
                                        limits[column / columns]);
      kept.push_back(emitter.select(inside[i % 2], value, masked));
    }
    return SmallVector<Registers>{kept};
  }
};
} // namespace

void sparseattn::populateFragmentLowerings(const TypeConverter &types,
                                           RewritePatternSet &patterns) {
  patterns.add<ZeroLowering, RowMaxLowering, RowSumLowering, QuadSumLowering,
               Exp2Lowering, ScaleRowsLowering, MaskColumnsLowering>(
      types, patterns.getContext());
}
