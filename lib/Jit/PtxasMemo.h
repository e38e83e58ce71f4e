//===- PtxasMemo.h - Which ptxas a file is, without running it  -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_JIT_PTXASMEMO_H
#define SPARSEATTN_LIB_JIT_PTXASMEMO_H

#include "sparseattn/Jit/GpuTarget.h"

#include "sparseattn-rt/DiskCache.h"

namespace mlir {
namespace sparseattn {

/// Text that changes whenever the content of the program in `path` does: its
/// place, size and times. Empty for a script, which may run any other program,
/// and for what is no file.
std::string identityOfProgram(const std::string &path);

/// GpuTarget::get, but a ptxas that was asked for its version before, by any
/// process with this cache folder, is not run again: two starts take 20 ms and
/// more. `folder` may be empty.
llvm::Expected<GpuTarget> gpuTargetWithMemo(const std::string &ptxas,
                                            const std::string &folder,
                                            int64_t maxBytes);

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_LIB_JIT_PTXASMEMO_H
