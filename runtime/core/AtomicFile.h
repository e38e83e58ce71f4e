//===- AtomicFile.h - Files that appear whole or not at all -----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_CORE_ATOMICFILE_H
#define SPARSEATTN_RUNTIME_CORE_ATOMICFILE_H

#include "sparseattn-rt/Status.h"

#include <cstddef>

namespace sart {

/// Writes beside `path` under a temporary name; commit renames it to `path`.
/// Without a commit nothing is left. Links are followed; a path that is no
/// regular file (a pipe, /dev/null) is written directly.
class AtomicFile {
public:
  AtomicFile() = default;
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  Status open(const std::string &path);
  Status write(const void *data, size_t size);
  Status commit();

private:
  Status fail(const char *action, int code);

  std::string target, temporary; ///< temporary is empty for direct writes
  int descriptor = -1;
};

} // namespace sart

#endif // SPARSEATTN_RUNTIME_CORE_ATOMICFILE_H
