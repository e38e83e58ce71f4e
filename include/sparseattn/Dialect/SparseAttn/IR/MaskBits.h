//===- MaskBits.h - Constant masks as bits ----------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_SPARSEATTN_IR_MASKBITS_H
#define SPARSEATTN_DIALECT_SPARSEATTN_IR_MASKBITS_H

#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"

namespace mlir::sparseattn {

/// Most tiles of a mask that the compiler lists one by one.
inline constexpr int64_t maxListedTiles = int64_t(1) << 27;

/// Refuses, at `op`, a constant mask of more tiles than `limit`.
LogicalResult checkListedTiles(Operation *op, MaskType mask,
                               int64_t limit = maxListedTiles);

/// The bits of a mask are `tensor<heads x qBlocks x kvBlocks x i1>`.
RankedTensorType getBitsType(MaskType mask);

/// No tile, every tile. Constant time: dense attributes detect splats.
bool isEmptyMask(DenseIntElementsAttr bits);
bool isDenseMask(DenseIntElementsAttr bits);

/// Set operations on bits of the same shape. Linear, constant when one side is
/// empty or dense.
DenseIntElementsAttr uniteBits(DenseIntElementsAttr a, DenseIntElementsAttr b);
DenseIntElementsAttr intersectBits(DenseIntElementsAttr a,
                                   DenseIntElementsAttr b);

/// Tiles that a static policy (dense, window) selects; tiles of a causal mask
/// without a visible key are left out.
DenseIntElementsAttr makePolicyBits(PolicyAttrInterface policy, MaskType mask);

/// `bits` without the tiles of a causal mask that have no visible key.
/// `dropped` receives their number.
DenseIntElementsAttr dropInvisibleTiles(DenseIntElementsAttr bits,
                                        MaskType mask, int64_t &dropped);

} // namespace mlir::sparseattn

#endif // SPARSEATTN_DIALECT_SPARSEATTN_IR_MASKBITS_H
