//===- PtxasLog.h - What ptxas says about a kernel ------------ -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_JIT_PTXASLOG_H
#define SPARSEATTN_JIT_PTXASLOG_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir {
namespace sparseattn {

/// What `ptxas -v` reports: over several functions, the largest of each number.
struct PtxasReport {
  int64_t functions = 0;    ///< whose properties the log gives
  int64_t registers = 0;    ///< of a thread
  int64_t barriers = 0;     ///< named barriers that are reserved
  int64_t stack = 0;        ///< bytes of a thread
  int64_t spillStores = 0;  ///< bytes of a thread
  int64_t spillLoads = 0;   ///< bytes of a thread
  int64_t staticShared = 0; ///< bytes of a CTA, without dynamic shared memory
  /// Lines with a code, such as "(C7508) ...", without what stands before it.
  std::vector<std::string> advisories;
  std::vector<std::string> warnings; ///< the same of warnings
};

/// Reads a log. Total: lines of any other form are passed over.
PtxasReport parsePtxasLog(llvm::StringRef log);

/// Refuses kernels that ptxas made slower than they are written, which it
/// reports and does not refuse: spills, a stack frame, register reallocation
/// that it dropped (C7508), wgmma that it serialised or put waits around (the
/// rest of C75xx), and whatever else it calls a loss of performance. A log that
/// tells nothing of any function is refused too. The error lists every finding
/// with its line.
llvm::Error checkPtxasReport(const PtxasReport &report);

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_JIT_PTXASLOG_H
