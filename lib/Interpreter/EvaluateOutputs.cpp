//===- EvaluateOutputs.cpp - Permutation, attention and merging -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Evaluate.h"

#include "sparseattn/Target/Plan/Plan.h"

#include <cstring>
#include <numeric>

using namespace mlir;
using namespace mlir::sparseattn;

TensorValue sparseattn::permuteRows(const TensorValue &input,
                                    const std::vector<int64_t> &permutation,
                                    bool inverse) {
  TensorValue output = TensorValue::zeros(input.dtype, input.shape);
  int64_t tokens = input.shape[1];
  size_t row =
      static_cast<size_t>((input.shape.size() > 2 ? input.shape[2] : 1) *
                          sart::byteSize(input.dtype));
  for (int64_t head = 0; head < input.shape[0]; ++head)
    for (int64_t i = 0; i < tokens; ++i) {
      size_t place = static_cast<size_t>(head * tokens + i);
      size_t token = static_cast<size_t>(head * tokens +
                                         permutation[static_cast<size_t>(i)]);
      std::memcpy(output.data.data() + (inverse ? token : place) * row,
                  input.data.data() + (inverse ? place : token) * row, row);
    }
  return output;
}

FailureOr<TensorValue> sparseattn::evaluate(PermuteOp op,
                                            const TensorValue &input) {
  sart::Order order = toOrder(op.getOrder());
  if (sart::Status status = order.verify(); !status.ok())
    return op.emitOpError(status.message());
  return permuteRows(input, order.permutation(), op.getInverse());
}

std::pair<TensorValue, TensorValue>
sparseattn::evaluate(AttendOp op, const TensorValue &q, const TensorValue &k,
                     const TensorValue &v, const MaskValue &mask,
                     const Evaluation &evaluation) {
  MaskType type = op.getMask().getType();
  sart::LayerShape shape;
  shape.heads = q.shape[0];
  shape.kvHeads = k.shape[0];
  shape.sq = q.shape[1];
  shape.skv = k.shape[1];
  shape.headDim = q.shape[2];
  shape.blockQ = type.getBlockQ();
  shape.blockK = type.getBlockK();
  shape.causal = type.getCausal();
  shape.dtype = q.dtype;
  float scale = op.getScale().convertToFloat();
  TensorValue o = makeTensor(op.getO().getType());
  TensorValue lse = makeTensor(op.getLse().getType());
  std::vector<int64_t> rows(static_cast<size_t>(shape.sq));
  std::iota(rows.begin(), rows.end(), 0);
  evaluation.pool->parallelFor(shape.heads, [&](int64_t head, int64_t) {
    std::vector<double> headO(static_cast<size_t>(shape.sq * shape.headDim));
    std::vector<double> headLse(static_cast<size_t>(shape.sq));
    int64_t kvHead = shape.kvHeadOf(head);
    sart::referenceAttend(
        shape, viewHead(q, head), viewHead(k, kvHead), viewHead(v, kvHead),
        rows, scale,
        [&](int64_t qBlock, int64_t kvBlock) {
          return mask.mask.contains(head, qBlock, kvBlock);
        },
        headO.data(), headLse.data());
    int64_t first = head * shape.sq;
    for (size_t i = 0; i < headO.size(); ++i)
      o.store(first * shape.headDim + static_cast<int64_t>(i),
              static_cast<float>(headO[i]));
    for (size_t i = 0; i < headLse.size(); ++i)
      lse.store(first + static_cast<int64_t>(i),
                static_cast<float>(headLse[i]));
  });
  return {std::move(o), std::move(lse)};
}

static std::vector<float> widen(const TensorValue &tensor) {
  std::vector<float> values;
  int64_t elements = tensor.elements();
  values.reserve(static_cast<size_t>(elements));
  for (int64_t i = 0; i < elements; ++i)
    values.push_back(tensor.load(i));
  return values;
}

std::pair<TensorValue, TensorValue>
sparseattn::evaluate(MergeOp op, const TensorValue &lhsO,
                     const TensorValue &lhsLse, const TensorValue &rhsO,
                     const TensorValue &rhsLse) {
  std::vector<float> o = widen(lhsO), lse = widen(lhsLse);
  std::vector<float> oPart = widen(rhsO), lsePart = widen(rhsLse);
  int64_t headDim = lhsO.shape[2];
  sart::mergePartials(oPart.data(), headDim, lsePart.data(), 1, o.data(),
                      headDim, lse.data(), 1, static_cast<int64_t>(lse.size()),
                      headDim);
  TensorValue resultO = makeTensor(op.getO().getType());
  TensorValue resultLse = makeTensor(op.getLse().getType());
  for (size_t i = 0; i < o.size(); ++i)
    resultO.store(static_cast<int64_t>(i), o[i]);
  for (size_t i = 0; i < lse.size(); ++i)
    resultLse.store(static_cast<int64_t>(i), lse[i]);
  return {std::move(resultO), std::move(resultLse)};
}
