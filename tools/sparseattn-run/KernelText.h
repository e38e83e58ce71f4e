//===- KernelText.h - What was compiled -------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_RUN_KERNELTEXT_H
#define SPARSEATTN_TOOLS_RUN_KERNELTEXT_H

#include "sparseattn-c/sparseattn.h"

namespace sart {

/// Prints what was compiled, and under which keys it is kept.
void printKernels(const sa_compile_info &compileInfo);

} // namespace sart

#endif // SPARSEATTN_TOOLS_RUN_KERNELTEXT_H
