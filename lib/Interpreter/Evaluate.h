//===- Evaluate.h - One function for each op --------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_INTERPRETER_EVALUATE_H
#define SPARSEATTN_LIB_INTERPRETER_EVALUATE_H

#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"
#include "sparseattn/Interpreter/Values.h"

#include "sparseattn-rt/Backend.h"

namespace mlir::sparseattn {

/// What evaluation runs on.
struct Evaluation {
  std::shared_ptr<sart::ThreadPool> pool;
  std::unique_ptr<sart::Backend> backend;
};

/// Elements of the largest tensor or mask that is interpreted: 4 GiB of f32.
constexpr int64_t maxElements = int64_t(1) << 30;

/// Whether a value of this type has at most maxElements elements. Does not
/// overflow.
bool isInterpretableSize(Type type);

/// An empty value of a tensor type of two or three axes.
TensorValue makeTensor(RankedTensorType type);
/// The element type of values of f32, bf16 and f16; nullopt for the others.
std::optional<sart::DType> getValueDType(Type element);

/// One head of a tensor of three axes. Read-only unless the caller owns it.
sart::SlotView viewHead(const TensorValue &tensor, int64_t head);

// -- Masks
// -----------------------------------------------------------------------

FailureOr<TensorValue> evaluate(PoolOp op, const TensorValue &input,
                                const Evaluation &evaluation);
FailureOr<MaskValue> evaluate(RouteOp op, const TensorValue &pooledQ,
                              const TensorValue &pooledK,
                              const Evaluation &evaluation);
MaskValue evaluate(ExplicitMaskOp op);
MaskValue evaluate(PolicyMaskOp op);
FailureOr<MaskValue> evaluate(UnionOp op, const MaskValue &lhs,
                              const MaskValue &rhs);
FailureOr<MaskValue> evaluate(IntersectOp op, const MaskValue &lhs,
                              const MaskValue &rhs);

// -- Plans
// -----------------------------------------------------------------------

PlanValue evaluate(PlaceOp op);
PlanValue evaluate(BalanceOp op, const PlanValue &plan);
FailureOr<MaskValue> evaluate(AugmentOp op, const MaskValue &mask,
                              const PlanValue &plan);

// -- Outputs
// ---------------------------------------------------------------------

/// Moves rows of axis 1: out[i] = in[permutation[i]], or with `inverse`
/// out[permutation[i]] = in[i].
TensorValue permuteRows(const TensorValue &input,
                        const std::vector<int64_t> &permutation, bool inverse);
FailureOr<TensorValue> evaluate(PermuteOp op, const TensorValue &input);
std::pair<TensorValue, TensorValue> evaluate(AttendOp op, const TensorValue &q,
                                             const TensorValue &k,
                                             const TensorValue &v,
                                             const MaskValue &mask,
                                             const Evaluation &evaluation);
std::pair<TensorValue, TensorValue>
evaluate(MergeOp op, const TensorValue &lhsO, const TensorValue &lhsLse,
         const TensorValue &rhsO, const TensorValue &rhsLse);

} // namespace mlir::sparseattn

#endif // SPARSEATTN_LIB_INTERPRETER_EVALUATE_H
