//===- MaskBits.cpp - Constant masks as bits ------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Dialect/SparseAttn/IR/MaskBits.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::sparseattn;

namespace {
DenseIntElementsAttr makeBits(ShapedType type, ArrayRef<bool> bits) {
  return cast<DenseIntElementsAttr>(DenseElementsAttr::get(type, bits));
}

DenseIntElementsAttr combine(DenseIntElementsAttr a, DenseIntElementsAttr b,
                             function_ref<bool(bool, bool)> operation) {
  SmallVector<bool> bits;
  bits.reserve(a.getNumElements());
  for (auto [x, y] : llvm::zip(a.getValues<bool>(), b.getValues<bool>()))
    bits.push_back(operation(x, y));
  return makeBits(a.getType(), bits);
}

/// Whether the policy keeps kv-block `j` for q-block `i`.
bool keeps(PolicyAttrInterface policy, MaskType mask, int64_t i, int64_t j) {
  auto window = dyn_cast<WindowAttr>(policy);
  if (!window)
    return true;
  int64_t centre = i * mask.getKvBlocks() / mask.getQBlocks();
  return std::abs(centre - j) <= window.getBlocks();
}
} // namespace

LogicalResult sparseattn::checkListedTiles(Operation *op, MaskType mask,
                                           int64_t limit) {
  if (mask.getTiles() <= limit)
    return success();
  return op->emitOpError("tiles of a constant mask: got ")
         << mask.getTiles() << ", expected at most " << limit;
}

RankedTensorType sparseattn::getBitsType(MaskType mask) {
  return RankedTensorType::get(
      {mask.getHeads(), mask.getQBlocks(), mask.getKvBlocks()},
      IntegerType::get(mask.getContext(), 1));
}

bool sparseattn::isEmptyMask(DenseIntElementsAttr bits) {
  return bits.empty() || (bits.isSplat() && !bits.getSplatValue<bool>());
}

bool sparseattn::isDenseMask(DenseIntElementsAttr bits) {
  return bits.empty() || (bits.isSplat() && bits.getSplatValue<bool>());
}

DenseIntElementsAttr sparseattn::uniteBits(DenseIntElementsAttr a,
                                           DenseIntElementsAttr b) {
  if (isDenseMask(a) || isEmptyMask(b))
    return a;
  if (isDenseMask(b) || isEmptyMask(a))
    return b;
  return combine(a, b, [](bool x, bool y) { return x || y; });
}

DenseIntElementsAttr sparseattn::intersectBits(DenseIntElementsAttr a,
                                               DenseIntElementsAttr b) {
  if (isEmptyMask(a) || isDenseMask(b))
    return a;
  if (isEmptyMask(b) || isDenseMask(a))
    return b;
  return combine(a, b, [](bool x, bool y) { return x && y; });
}

DenseIntElementsAttr sparseattn::makePolicyBits(PolicyAttrInterface policy,
                                                MaskType mask) {
  RankedTensorType type = getBitsType(mask);
  if (isa<DenseAttr>(policy) && !mask.getCausal())
    return makeBits(type, ArrayRef<bool>(true));
  // Every head has the same tiles.
  SmallVector<bool> bits;
  bits.reserve(mask.getTiles());
  for (int64_t i = 0; i < mask.getQBlocks(); ++i)
    for (int64_t j = 0; j < mask.getKvBlocks(); ++j)
      bits.push_back(keeps(policy, mask, i, j) && mask.isVisible(i, j));
  size_t plane = bits.size();
  for (int64_t h = 1; h < mask.getHeads(); ++h)
    bits.append(bits.begin(), bits.begin() + plane);
  return makeBits(type, bits);
}

DenseIntElementsAttr sparseattn::dropInvisibleTiles(DenseIntElementsAttr bits,
                                                    MaskType mask,
                                                    int64_t &dropped) {
  dropped = 0;
  if (!mask.getCausal() || isEmptyMask(bits))
    return bits;
  SmallVector<bool> kept(bits.getValues<bool>());
  auto bit = kept.begin();
  for (int64_t h = 0; h < mask.getHeads(); ++h)
    for (int64_t i = 0; i < mask.getQBlocks(); ++i)
      for (int64_t j = 0; j < mask.getKvBlocks(); ++j, ++bit)
        if (*bit && !mask.isVisible(i, j)) {
          *bit = false;
          ++dropped;
        }
  return dropped ? makeBits(bits.getType(), kept) : bits;
}
