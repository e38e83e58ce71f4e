//===- RoutingKernels.h - Routing on a GPU ----------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that pool, score, select, order tiles, convert and merge on a GPU of
// sm_90 or later. Arguments, records and launch shapes are documented in
// sparseattn-rt/DeviceRouting.h. A kernel is an llvm.func marked nvvm.kernel
// with llvm, arith and scf operations in its body; lowering those to the LLVM
// dialect is left to the pipeline.
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_CONVERSION_SPARSEATTNTOGPU_ROUTINGKERNELS_H
#define SPARSEATTN_CONVERSION_SPARSEATTNTOGPU_ROUTINGKERNELS_H

#include "sparseattn-rt/Executable.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

namespace mlir {
namespace sparseattn {

/// Names the dialects that the builders write; they must be loaded before.
void registerDeviceKernelDialects(DialectRegistry &registry);

/// Writes the kernels of a pool or route spec at the end of `module`. pool: the
/// kernel of the spec's name. route: route_d<D>_r16 (not for D 256),
/// route_d<D>_r8, route_totals and order_tiles. An unsupported spec is an error
/// at the module that names the field: head_dim 64, 128 or 256; pool blocks 8
/// to 256 in steps of 8.
LogicalResult buildDeviceRoutingKernels(ModuleOp module,
                                        const sart::KernelSpec &spec);

/// Writes the kernels that work on rows of any program at the end of `module`:
/// convert_f32_bf16, convert_f32_f16, convert_bf16_f32, convert_f16_f32,
/// merge_f32.
void buildDeviceRowKernels(ModuleOp module);

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_CONVERSION_SPARSEATTNTOGPU_ROUTINGKERNELS_H
