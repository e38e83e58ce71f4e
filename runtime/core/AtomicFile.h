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
#include <sys/types.h>

namespace sart {

/// Writes a file that has no name until commit gives it `path`, so that nothing
/// is left whenever the process ends before. Where the file system has no such
/// files, and for the moment in which an older `path` is replaced, the name is
/// `path`.tmp.PID.N. Links are followed; a path that is no regular file (a
/// pipe, /dev/null) is written directly. A limit on file sizes (ulimit -f) is
/// an error like a full disk, not a signal.
class AtomicFile {
public:
  AtomicFile() = default;
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  /// `mode` is that of a new file, before the umask; a replaced one keeps its
  /// own.
  Status open(const std::string &path, mode_t mode = 0666);
  Status write(const void *data, size_t size);
  /// `durable`: the content is on the disk before the name is.
  Status commit(bool durable = true);

  /// False: as on file systems without nameless files.
  bool allowNameless = true;

private:
  Status fail(const char *action, int code);
  bool openNameless(mode_t mode);
  template <typename Make>
  int makeTemporary(Make make);
  int giveName();

  std::string target;
  std::string temporary; ///< name of the unfinished file, if it has one
  bool nameless = false; ///< the unfinished file has no name
  int descriptor = -1;
};

} // namespace sart

#endif // SPARSEATTN_RUNTIME_CORE_ATOMICFILE_H
