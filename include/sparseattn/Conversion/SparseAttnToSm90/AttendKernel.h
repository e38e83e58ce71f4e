//===- AttendKernel.h - Attend kernels in the sa_sm90 dialect ---*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_CONVERSION_SPARSEATTNTOSM90_ATTENDKERNEL_H
#define SPARSEATTN_CONVERSION_SPARSEATTNTOSM90_ATTENDKERNEL_H

#include "sparseattn/Conversion/SparseAttnToSm90/AttendRecipe.h"
#include "sparseattn/Dialect/Sm90/IR/Sm90.h"

#include "mlir/IR/DialectRegistry.h"

namespace mlir::sparseattn {

/// Names the dialects that buildAttendKernel writes.
void registerSm90KernelDialects(DialectRegistry &registry);

/// Tensor maps come in sets of q, k and v, one set a source of rows (own,
/// received).
inline constexpr int64_t kMaxSources = 2;
inline constexpr int64_t kTensorMapBytes = 128;

/// Writes the attend kernel `spec.name()` at the insertion point, which must be
/// inside a module. Arguments, in order:
///
///   maps         kMaxSources x {q, k, v} tensor maps, by value
///   entries      EntryRecord[], 64 bytes each
///   tiles        TileRecord[tileCount], 16 bytes each
///   tile_count   i32
///   counter      one int32, zero before the launch
///   o_stride     i64, elements between rows of o
///   mask_stride  i32, int32s between rows of a mask
///   scale        f32, scale * log2(e), positive
///
/// EntryRecord: {u64 o, lse, mask; i32 source, qHead, kvHead, qRows, kvRows,
/// qBatch, kvBatch, 0, 0, 0}: addresses of row 0 of a head, the coordinates of
/// the head in the tensor maps, and valid rows. TileRecord: {i32 entry, qBlock,
/// first, count}: the tile attends to `count` kv-blocks of row `qBlock` of the
/// entry's mask from its list's index `first` on. Rows of o without a kv-block
/// become 0, their lse -inf.
///
/// A spec without a recipe is an error at `loc` that names the field.
FailureOr<sa_sm90::KernelOp> buildAttendKernel(OpBuilder &builder, Location loc,
                                               const sart::KernelSpec &spec);
/// The same with a recipe of the caller's, which must serve `spec`.
FailureOr<sa_sm90::KernelOp> buildAttendKernel(OpBuilder &builder, Location loc,
                                               const sart::KernelSpec &spec,
                                               const AttendRecipe &recipe);

} // namespace mlir::sparseattn

#endif // SPARSEATTN_CONVERSION_SPARSEATTNTOSM90_ATTENDKERNEL_H
