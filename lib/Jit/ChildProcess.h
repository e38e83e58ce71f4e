//===- ChildProcess.h - Programs that are run for their output  -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_JIT_CHILDPROCESS_H
#define SPARSEATTN_LIB_JIT_CHILDPROCESS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <chrono>
#include <string>

namespace mlir {
namespace sparseattn {

/// What a program that ended by itself left.
struct ChildOutput {
  int status = 0;
  std::string text; ///< stdout and stderr, as they were written
  double milliseconds = 0;
};

/// Runs `program` and waits for it, with no input. `what` stands in messages.
/// Fails if it cannot be started, is ended by a signal, or has not ended after
/// `limit` or says more than 64 MiB: then it is killed. It is killed as well
/// when the calling process ends before it.
llvm::Expected<ChildOutput> runChild(const std::string &program,
                                     llvm::ArrayRef<llvm::StringRef> arguments,
                                     llvm::StringRef what,
                                     std::chrono::seconds limit);

llvm::Error writeWhole(const std::string &path, llvm::StringRef content);
llvm::Expected<std::string> readWhole(const std::string &path);

/// File of the program or shared library that `address` lies in, with links
/// resolved; empty if it has none.
std::string objectFileOf(const void *address);

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_LIB_JIT_CHILDPROCESS_H
