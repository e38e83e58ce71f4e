//===- GpuSupport.h - Which programs GPU kernels serve -------- -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_JIT_GPUSUPPORT_H
#define SPARSEATTN_LIB_JIT_GPUSUPPORT_H

#include "sparseattn-rt/Program.h"

namespace mlir {
namespace sparseattn {

/// Refuses programs that no GPU kernel serves, with what would have to change:
/// token-level masks, head dimensions, blocks, element types.
sart::Status checkGpuSupport(const sart::Program &program);

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_LIB_JIT_GPUSUPPORT_H
