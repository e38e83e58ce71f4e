//===- BuildId.h - Which build of a library is loaded -----------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_JIT_BUILDID_H
#define SPARSEATTN_LIB_JIT_BUILDID_H

#include <string>

namespace mlir {
namespace sparseattn {

/// The linker's build id, in hexadecimal, of the program or shared library that
/// `address` lies in; empty if it has none. Any change of the code changes it.
std::string buildIdOf(const void *address);

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_LIB_JIT_BUILDID_H
