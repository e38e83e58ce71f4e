//===- TemporaryFolder.h - Folders that go with their owner -----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_JIT_TEMPORARYFOLDER_H
#define SPARSEATTN_LIB_JIT_TEMPORARYFOLDER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir {
namespace sparseattn {

/// A new folder, empty but for its lock, that goes with all that is in it. The
/// folder of a process that a signal ended goes when another process makes its
/// first one: its owner's lock on it is then gone.
class TemporaryFolder {
public:
  static llvm::Expected<TemporaryFolder> create(llvm::StringRef what);
  TemporaryFolder(TemporaryFolder &&other) noexcept;
  TemporaryFolder &operator=(TemporaryFolder &&) = delete;
  ~TemporaryFolder();

  /// The full name of `name` in it.
  std::string file(llvm::StringRef name) const;

  /// Removes the folders in `parent` that have no owner any more: made by
  /// `create` for this user, more than a minute ago (an owner takes its lock
  /// just after it made the folder), and not locked. What cannot be looked at
  /// or removed stays.
  static void removeAbandoned(llvm::StringRef parent);

private:
  TemporaryFolder(std::string path, int lock)
      : path(std::move(path)), lock(lock) {}
  std::string path;
  int lock; ///< a locked file's descriptor; negative where none can be locked
};

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_LIB_JIT_TEMPORARYFOLDER_H
