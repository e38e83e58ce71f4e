//===- KernelBuilder.h - CPU kernels in the vector dialect ------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_CONVERSION_SPARSEATTNTOVECTOR_KERNELBUILDER_H
#define SPARSEATTN_CONVERSION_SPARSEATTNTOVECTOR_KERNELBUILDER_H

#include "sparseattn-rt/Executable.h"
#include "sparseattn/Jit/CpuTarget.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectRegistry.h"

namespace mlir {
namespace sparseattn {

/// Integer attributes of a kernel function: the scratch memory that one call
/// needs is kScratchBytesAttr + kScratchBytesPerBlockAttr * nK bytes, where nK
/// is the number of kv-blocks.
inline constexpr llvm::StringLiteral kScratchBytesAttr =
    "sparseattn.scratch_bytes";
inline constexpr llvm::StringLiteral kScratchBytesPerBlockAttr =
    "sparseattn.scratch_bytes_per_block";

/// Scratch memory of one attend call in bytes; the buffer must be aligned to
/// 64 bytes.
int64_t attendScratchBytes(const sart::KernelSpec &spec,
                           const CpuTarget &target);

/// Scratch memory of one route call, a fixed part and a part per kv-block.
int64_t routeScratchBytes(const sart::KernelSpec &spec,
                          const CpuTarget &target);
int64_t routeScratchBytesPerBlock();

/// Names the dialects that buildKernel writes; they must be loaded before (a
/// pass declares them as dependent dialects).
void registerKernelDialects(DialectRegistry &registry);

/// Writes one kernel function, named spec.name(), at the insertion point,
/// which must be inside a module. The calling convention is documented at
/// sart::LoadedKernel; the semantics of each kind are documented in
/// AttendKernel.cpp, PoolKernel.cpp and RouteKernel.cpp. An unsupported spec
/// is an error at `loc` that names the field:
///   head_dim 32 to 256 in steps of 8; blocks 16 to 128 in steps of 8;
///   element types f32, bf16, f16; output f32 or the element type.
FailureOr<func::FuncOp> buildKernel(OpBuilder &builder, Location loc,
                                    const sart::KernelSpec &spec,
                                    const CpuTarget &target);

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_CONVERSION_SPARSEATTNTOVECTOR_KERNELBUILDER_H
