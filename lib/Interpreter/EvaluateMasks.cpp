//===- EvaluateMasks.cpp - Pooling, routing and set operations ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Evaluate.h"

#include "sparseattn/Dialect/SparseAttn/IR/MaskBits.h"

#include <limits>

using namespace mlir;
using namespace mlir::sparseattn;

namespace {

sart::BlockMask fromBits(DenseIntElementsAttr bits, MaskType type) {
  std::vector<uint8_t> bytes;
  bytes.reserve(static_cast<size_t>(type.getTiles()));
  for (bool bit : bits.getValues<bool>())
    bytes.push_back(bit);
  return sart::BlockMask::fromBits(bytes.data(), type.getHeads(),
                                   type.getQBlocks(), type.getKvBlocks());
}

std::vector<sart::Range> toRanges(ArrayRef<int64_t> flat) {
  std::vector<sart::Range> ranges;
  for (size_t i = 0; i + 1 < flat.size(); i += 2)
    ranges.push_back({flat[i], flat[i + 1]});
  return ranges;
}

sart::RoutingPolicy toPolicy(PolicyAttrInterface attribute) {
  sart::RoutingPolicy policy;
  if (auto topK = dyn_cast<TopKAttr>(attribute)) {
    policy.kind = sart::RoutingPolicy::Kind::TopK;
    policy.k = topK.getK();
    policy.keep = toRanges(topK.getKeep());
  } else if (auto topP = dyn_cast<TopPAttr>(attribute)) {
    policy.kind = sart::RoutingPolicy::Kind::TopP;
    policy.p = static_cast<float>(topP.getP());
    policy.minBlocks = topP.getMinBlocks();
    policy.keep = toRanges(topP.getKeep());
  }
  return policy;
}

sart::LayerShape shapeOf(MaskType mask, int64_t kvHeads, int64_t headDim) {
  sart::LayerShape shape;
  shape.heads = mask.getHeads();
  shape.kvHeads = kvHeads;
  shape.sq = mask.getSq();
  shape.skv = mask.getSkv();
  shape.headDim = headDim;
  shape.blockQ = mask.getBlockQ();
  shape.blockK = mask.getBlockK();
  shape.causal = mask.getCausal();
  return shape;
}

/// Scores in double precision, rounded once; -inf where nothing is visible.
std::vector<float> scoreTiles(const sart::LayerShape &shape, double scale,
                              const TensorValue &pooledQ,
                              const TensorValue &pooledK) {
  std::vector<float> scores(
      static_cast<size_t>(shape.heads * shape.qBlocks() * shape.kvBlocks()),
      -std::numeric_limits<float>::infinity());
  for (int64_t head = 0; head < shape.heads; ++head)
    for (int64_t i = 0; i < shape.qBlocks(); ++i) {
      int64_t row = head * shape.qBlocks() + i;
      for (int64_t j = 0; j < shape.visibleKvBlocks(i); ++j) {
        int64_t key = shape.kvHeadOf(head) * shape.kvBlocks() + j;
        double dot = 0;
        for (int64_t d = 0; d < shape.headDim; ++d)
          dot += static_cast<double>(pooledQ.load(row * shape.headDim + d)) *
                 static_cast<double>(pooledK.load(key * shape.headDim + d));
        scores[static_cast<size_t>(row * shape.kvBlocks() + j)] =
            static_cast<float>(scale * dot);
      }
    }
  return scores;
}

template <typename OpTy>
FailureOr<MaskValue> toResult(OpTy op, sart::Expected<sart::BlockMask> mask) {
  if (!mask)
    return op.emitOpError(mask.message());
  return MaskValue{std::move(*mask), {}};
}

} // namespace

FailureOr<TensorValue> sparseattn::evaluate(PoolOp op, const TensorValue &input,
                                            const Evaluation &evaluation) {
  TensorValue output = makeTensor(op.getOutput().getType());
  sart::Program program;
  program.placement.shape.blockQ = op.getBlock();
  program.placement.shape.headDim = output.shape[2];
  std::vector<sart::PoolTask> tasks;
  for (int64_t head = 0; head < output.shape[0]; ++head)
    tasks.push_back(
        {viewHead(input, head), viewHead(output, head), 0, output.shape[1]});
  if (sart::Status status =
          evaluation.backend->pool(program, /*keySide=*/false, tasks);
      !status.ok())
    return op.emitOpError(status.message());
  return output;
}

FailureOr<MaskValue> sparseattn::evaluate(RouteOp op,
                                          const TensorValue &pooledQ,
                                          const TensorValue &pooledK,
                                          const Evaluation &evaluation) {
  MaskType type = op.getMask().getType();
  sart::Program program;
  program.placement.shape = shapeOf(type, pooledK.shape[0], pooledQ.shape[2]);
  const sart::LayerShape &shape = program.placement.shape;
  program.scale = op.getScale().convertToFloat();
  program.policy = toPolicy(op.getPolicy());
  std::vector<float> scores =
      scoreTiles(shape, static_cast<double>(program.scale), pooledQ, pooledK);
  if (op.getPolicy().isStatic())
    return MaskValue{fromBits(makePolicyBits(op.getPolicy(), type), type),
                     std::move(scores)};

  int64_t rowWords = shape.kvBlocks() + 1;
  std::vector<int32_t> words(
      static_cast<size_t>(shape.heads * shape.qBlocks() * rowWords));
  std::vector<int64_t> visible;
  for (int64_t i = 0; i < shape.qBlocks(); ++i)
    visible.push_back(shape.visibleKvBlocks(i));
  std::vector<sart::RouteTask> tasks;
  for (int64_t head = 0; head < shape.heads; ++head) {
    sart::RouteTask task;
    task.pooledQ = viewHead(pooledQ, head);
    task.pooledK = viewHead(pooledK, shape.kvHeadOf(head));
    task.mask = {words.data() + head * shape.qBlocks() * rowWords,
                 sart::DType::I32, shape.qBlocks(), rowWords, rowWords};
    task.qEnd = shape.qBlocks();
    task.visible = visible;
    tasks.push_back(std::move(task));
  }
  sart::RouteStats stats;
  if (sart::Status status = evaluation.backend->route(program, tasks, stats);
      !status.ok())
    return op.emitOpError(status.message());
  std::vector<std::vector<int32_t>> lists;
  for (auto row = words.begin(); row != words.end(); row += rowWords)
    lists.emplace_back(row + 1, row + 1 + *row);
  FailureOr<MaskValue> result =
      toResult(op, sart::BlockMask::fromLists(shape.heads, shape.qBlocks(),
                                              shape.kvBlocks(), lists));
  if (succeeded(result))
    result->scores = std::move(scores);
  return result;
}

MaskValue sparseattn::evaluate(ExplicitMaskOp op) {
  auto bits = cast<DenseIntElementsAttr>(op.getBitsAttr());
  return {fromBits(bits, op.getMask().getType()), {}};
}

MaskValue sparseattn::evaluate(PolicyMaskOp op) {
  MaskType type = op.getMask().getType();
  return {fromBits(makePolicyBits(op.getPolicy(), type), type), {}};
}

FailureOr<MaskValue> sparseattn::evaluate(UnionOp op, const MaskValue &lhs,
                                          const MaskValue &rhs) {
  return toResult(op, sart::BlockMask::unite(lhs.mask, rhs.mask));
}

FailureOr<MaskValue> sparseattn::evaluate(IntersectOp op, const MaskValue &lhs,
                                          const MaskValue &rhs) {
  return toResult(op, sart::BlockMask::intersect(lhs.mask, rhs.mask));
}
