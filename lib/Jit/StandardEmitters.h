//===- StandardEmitters.h - Who writes which kernel of a GPU -- -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_JIT_STANDARDEMITTERS_H
#define SPARSEATTN_LIB_JIT_STANDARDEMITTERS_H

#include "sparseattn/Jit/GpuKernelEmitter.h"

namespace mlir {
namespace sparseattn {

/// Attend kernels of the recipe table.
std::shared_ptr<const GpuKernelEmitter> createAttendEmitter();
/// Pool, route, order, convert and merge kernels.
std::shared_ptr<const GpuKernelEmitter> createRoutingEmitter();

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_LIB_JIT_STANDARDEMITTERS_H
