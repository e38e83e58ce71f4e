//===- Plan.cpp - Attributes and masks to the planning library ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Target/Plan/Plan.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::sparseattn;

namespace {
std::vector<int64_t> toLoads(ArrayRef<int64_t> loads, int64_t ranks) {
  if (loads.empty())
    return std::vector<int64_t>(static_cast<size_t>(ranks), 0);
  return loads.vec();
}
} // namespace

sart::Plan sparseattn::toPlan(PlanAttr attr) {
  sart::Plan plan;
  plan.mesh = {attr.getMesh().getUlysses(), attr.getMesh().getRing()};
  plan.heads = attr.getHeads();
  plan.kvHeads = attr.getKvHeads();
  plan.qBlocks = attr.getQBlocks();
  plan.kvBlocks = attr.getKvBlocks();
  for (const PlannedMove &move : attr.getMoves())
    plan.moves.push_back({move.head, move.from, move.to});
  for (const PlannedRowMove &move : attr.getRowMoves())
    plan.rowMoves.push_back(
        {move.head, {move.begin, move.end}, move.from, move.to});
  attr.forEachTransfer([&](const PlannedTransfer &t, ArrayRef<int64_t> ranges) {
    sart::KvTransfer transfer{t.kvHead, t.ulysses, t.from, t.to, {}};
    for (size_t i = 0; i < ranges.size(); i += 2)
      transfer.blocks.push_back({ranges[i], ranges[i + 1]});
    plan.transfers.push_back(std::move(transfer));
  });
  for (const PlannedExtra &extra : attr.getExtras())
    plan.extras.push_back({extra.head, extra.ring, extra.tiles});
  plan.loadsBefore = toLoads(attr.getLoadsBefore(), plan.mesh.ranks());
  plan.loadsAfter = toLoads(attr.getLoadsAfter(), plan.mesh.ranks());
  return plan;
}

PlanAttr sparseattn::fromPlan(MLIRContext *context, const sart::Plan &plan) {
  auto emitError = [&] { return mlir::emitError(UnknownLoc::get(context)); };
  auto mesh = MeshAttr::getChecked(emitError, context, plan.mesh.ulysses,
                                   plan.mesh.ring);
  if (!mesh)
    return {};
  SmallVector<PlannedMove> moves;
  for (const sart::HeadMove &move : plan.moves)
    moves.push_back({move.head, move.from, move.to});
  SmallVector<PlannedRowMove> rowMoves;
  for (const sart::RowMove &move : plan.rowMoves)
    rowMoves.push_back(
        {move.head, move.qBlocks.begin, move.qBlocks.end, move.from, move.to});
  SmallVector<PlannedTransfer> transfers;
  SmallVector<int64_t> ranges;
  for (const sart::KvTransfer &t : plan.transfers) {
    transfers.push_back({t.kvHead, t.ulysses, t.from, t.to,
                         static_cast<int64_t>(t.blocks.size())});
    for (sart::Range range : t.blocks)
      ranges.append({range.begin, range.end});
  }
  SmallVector<PlannedExtra> extras;
  for (const sart::ExtraTiles &extra : plan.extras)
    extras.push_back({extra.head, extra.ringIndex, extra.tiles});
  return PlanAttr::getChecked(
      emitError, context, mesh, plan.heads, plan.kvHeads, plan.qBlocks,
      plan.kvBlocks, ArrayRef<PlannedMove>(moves),
      ArrayRef<PlannedRowMove>(rowMoves), ArrayRef<PlannedTransfer>(transfers),
      ArrayRef<int64_t>(ranges), ArrayRef<PlannedExtra>(extras),
      ArrayRef<int64_t>(plan.loadsBefore), ArrayRef<int64_t>(plan.loadsAfter));
}

sart::Order sparseattn::toOrder(OrderAttr attr) {
  sart::Order order;
  // The numbers of the enumerations are equal.
  order.kind = static_cast<sart::OrderKind>(attr.getKind());
  llvm::copy(attr.getGrid(), order.grid.begin());
  llvm::copy(attr.getCube(), order.cube.begin());
  llvm::copy(attr.getTiles(), order.tiles.begin());
  order.prefix = attr.getPrefix();
  order.suffix = attr.getSuffix();
  return order;
}

sart::BlockMask sparseattn::toBlockMask(ExplicitMaskOp op) {
  MaskType type = op.getMask().getType();
  std::vector<uint8_t> bits;
  bits.reserve(static_cast<size_t>(type.getTiles()));
  for (bool bit : op.getBits().getValues<bool>())
    bits.push_back(bit);
  return sart::BlockMask::fromBits(bits.data(), type.getHeads(),
                                   type.getQBlocks(), type.getKvBlocks());
}

DenseIntElementsAttr sparseattn::fromBlockMask(MLIRContext *context,
                                               const sart::BlockMask &mask) {
  auto type =
      RankedTensorType::get({mask.heads(), mask.qBlocks(), mask.kvBlocks()},
                            IntegerType::get(context, 1));
  std::vector<uint8_t> bytes = mask.toBits();
  SmallVector<bool> bits(bytes.begin(), bytes.end());
  return cast<DenseIntElementsAttr>(
      DenseElementsAttr::get(type, ArrayRef<bool>(bits)));
}

FailureOr<sart::Placement> sparseattn::toPlacement(PlaceOp place,
                                                   MaskType mask) {
  RankedTensorType q = place.getQ().getType(), k = place.getK().getType();
  sart::Placement placement;
  placement.mesh = {place.getMesh().getUlysses(), place.getMesh().getRing()};
  placement.blockShards = place.getPlacement().getBlockShards();
  sart::LayerShape &shape = placement.shape;
  shape.heads = q.getDimSize(0);
  shape.kvHeads = k.getDimSize(0);
  shape.sq = q.getDimSize(1);
  shape.skv = k.getDimSize(1);
  shape.headDim = q.getDimSize(2);
  shape.blockQ = mask.getBlockQ();
  shape.blockK = mask.getBlockK();
  shape.causal = mask.getCausal();
  // The operands of `place` have one of three element types.
  shape.dtype = q.getElementType().isF32()    ? sart::DType::F32
                : q.getElementType().isBF16() ? sart::DType::BF16
                                              : sart::DType::F16;
  if (sart::Status status = placement.verify(); !status.ok())
    return place.emitOpError("placement: ") << status.message();
  return placement;
}

sart::PlannerOptions sparseattn::toPlannerOptions(BalanceOp balance,
                                                  AugmentOp augment) {
  sart::PlannerOptions options;
  options.balance = static_cast<sart::Balance>(balance.getAlgorithm());
  options.k1Milli = balance.getK1Milli();
  options.k2Milli = balance.getK2Milli();
  options.maxPieces = balance.getMaxPieces();
  options.repair = balance.getRepair();
  if (CostModelAttr cost = balance.getCostAttr())
    options.cost = {cost.getTilePs(), cost.getRowPs(), cost.getTransferPs(),
                    cost.getBytePs(), cost.getScheduleNs()};
  options.augment = static_cast<bool>(augment);
  if (augment) {
    options.n1Milli = augment.getN1Milli();
    options.n2Milli = augment.getN2Milli();
  }
  return options;
}
