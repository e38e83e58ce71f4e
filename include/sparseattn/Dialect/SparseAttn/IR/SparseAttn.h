//===- SparseAttn.h - The sparseattn dialect --------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTN_H
#define SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir {
class DialectRegistry;
class PatternRewriter;
} // namespace mlir

namespace mlir::sparseattn {

/// Adds the dialect to `registry`.
void registerSparseAttnDialect(DialectRegistry &registry);

/// Sizes that the CPU kernels support; what the op verifiers accept.
struct SupportLimits {
  int64_t minHeadDim = 32, maxHeadDim = 256, headDimStep = 8;
  int64_t minBlock = 16, maxBlock = 128, blockStep = 8;

  bool supportsHeadDim(int64_t headDim) const {
    return headDim >= minHeadDim && headDim <= maxHeadDim &&
           headDim % headDimStep == 0;
  }
  bool supportsBlock(int64_t block) const {
    return block >= minBlock && block <= maxBlock && block % blockStep == 0;
  }
};

/// Elements of #sparseattn.plan; the same things as sart::HeadMove,
/// sart::RowMove, sart::KvTransfer (its ranges are stored apart) and
/// sart::ExtraTiles.
struct PlannedMove {
  int64_t head, from, to;
  bool operator==(const PlannedMove &o) const {
    return head == o.head && from == o.from && to == o.to;
  }
};
struct PlannedRowMove {
  int64_t head, begin, end, from, to;
  bool operator==(const PlannedRowMove &o) const {
    return head == o.head && begin == o.begin && end == o.end &&
           from == o.from && to == o.to;
  }
};
struct PlannedTransfer {
  int64_t kvHead, ulysses, from, to;
  int64_t numRanges; ///< ranges of this transfer in the plan's list
  bool operator==(const PlannedTransfer &o) const {
    return kvHead == o.kvHead && ulysses == o.ulysses && from == o.from &&
           to == o.to && numRanges == o.numRanges;
  }
};
struct PlannedExtra {
  int64_t head, ring, tiles;
  bool operator==(const PlannedExtra &o) const {
    return head == o.head && ring == o.ring && tiles == o.tiles;
  }
};
// LLVM finds these by name. NOLINTBEGIN(readability-identifier-naming)
inline llvm::hash_code hash_value(const PlannedMove &m) {
  return llvm::hash_combine(m.head, m.from, m.to);
}
inline llvm::hash_code hash_value(const PlannedRowMove &m) {
  return llvm::hash_combine(m.head, m.begin, m.end, m.from, m.to);
}
inline llvm::hash_code hash_value(const PlannedTransfer &t) {
  return llvm::hash_combine(t.kvHead, t.ulysses, t.from, t.to, t.numRanges);
}
inline llvm::hash_code hash_value(const PlannedExtra &e) {
  return llvm::hash_combine(e.head, e.ring, e.tiles);
}
// NOLINTEND(readability-identifier-naming)

} // namespace mlir::sparseattn

#include "sparseattn/Dialect/SparseAttn/IR/SparseAttnDialect.h.inc"
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttnEnums.h.inc"

#include "sparseattn/Dialect/SparseAttn/IR/SparseAttnAttrInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttnAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttnTypes.h.inc"

#define GET_OP_CLASSES
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttnOps.h.inc"

#endif // SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTN_H
