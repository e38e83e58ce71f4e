//===- ShippedKernels.cpp - Kernels that come with the library ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ShippedKernels.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <dlfcn.h>
#include <vector>

using namespace mlir::sparseattn;

std::string ShippedKernels::defaultRoot() {
  Dl_info info;
  if (!::dladdr(reinterpret_cast<const void *>(&ShippedKernels::defaultRoot),
                &info) ||
      !info.dli_fname)
    return "";
  llvm::SmallString<256> path(info.dli_fname);
  if (llvm::sys::fs::make_absolute(path))
    return "";
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, "..", "share", "sparseattn", "kernels");
  return path.str().str();
}

std::optional<ShippedKernels> ShippedKernels::open(const std::string &root) {
  if (root.empty())
    return std::nullopt;
  std::vector<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(root, error), end;
       !error && it != end; it.increment(error))
    names.push_back(llvm::sys::path::filename(it->path()).str());
  std::sort(names.begin(), names.end());
  for (const std::string &name : names) {
    llvm::StringRef rest(name);
    ShippedKernels kernels;
    auto [version, isa] = rest.split("-isa-");
    if (!version.consume_front("ptxas-") || version.empty() ||
        isa.getAsInteger(10, kernels.isa))
      continue;
    kernels.version = version.str();
    kernels.cache = std::make_shared<sart::DiskCache>(root + "/" + name);
    return kernels;
  }
  return std::nullopt;
}
