//===- MaskFile.h - Mask files and explicit masks ---------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TARGET_MASKFILE_MASKFILE_H
#define SPARSEATTN_TARGET_MASKFILE_MASKFILE_H

#include "sparseattn-rt/TraceFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::sparseattn {

/// A module with one function that returns the mask of one instance of a trace,
/// in the file's order and block shape:
///   func.func @mask_layer0_step0() -> !sparseattn.mask<...>
/// Refuses a file without masks and an instance out of range.
sart::Expected<OwningOpRef<ModuleOp>>
importMaskFile(const sart::TraceFile &file, int64_t instance,
               MLIRContext *context);

/// The module's only `explicit_mask` as a trace of one instance with loads, row
/// loads and mask. A mask without an order is a raster grid of 1 x 1 x tokens;
/// an order with text tokens, different query and key tokens, and another
/// number of masks are errors on the op.
FailureOr<sart::TraceFile> exportMaskFile(ModuleOp module);

} // namespace mlir::sparseattn

#endif // SPARSEATTN_TARGET_MASKFILE_MASKFILE_H
