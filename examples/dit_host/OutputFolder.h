//===- OutputFolder.h - Files that are whole or not there -------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_EXAMPLES_DITHOST_OUTPUTFOLDER_H
#define SPARSEATTN_EXAMPLES_DITHOST_OUTPUTFOLDER_H

#include <string>
#include <vector>

namespace dit {

/// A folder to write results into.
class OutputFolder {
public:
  /// Creates the folder, and makes sure that `names` can be written, before any
  /// work is done.
  OutputFolder(std::string path, const std::vector<std::string> &names);

  const std::string &path() const { return folder; }

  /// Writes a file under another name and renames it.
  void write(const std::string &name, const std::string &text) const;

private:
  std::string folder;
};

} // namespace dit

#endif // SPARSEATTN_EXAMPLES_DITHOST_OUTPUTFOLDER_H
