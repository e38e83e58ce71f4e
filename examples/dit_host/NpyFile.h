//===- NpyFile.h - Arrays as .npy files -------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_EXAMPLES_DITHOST_NPYFILE_H
#define SPARSEATTN_EXAMPLES_DITHOST_NPYFILE_H

#include <cstdint>
#include <string>
#include <vector>

namespace dit {

/// The bytes of an .npy file (version 1.0, rows first) of `shape` and NumPy's
/// element type `type`, for example "<f4".
std::string npyFile(const std::string &type, const std::vector<int64_t> &shape,
                    const std::vector<char> &bytes);

} // namespace dit

#endif // SPARSEATTN_EXAMPLES_DITHOST_NPYFILE_H
