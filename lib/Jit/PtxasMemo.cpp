//===- PtxasMemo.cpp - Which ptxas a file is, without running it ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxasMemo.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <sys/stat.h>

using namespace mlir::sparseattn;
using llvm::StringRef;

std::string mlir::sparseattn::identityOfProgram(const std::string &path) {
  llvm::SmallString<128> real;
  struct stat info;
  if (llvm::sys::fs::real_path(path, real) ||
      ::stat(real.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
    return "";
  auto head = llvm::MemoryBuffer::getFileSlice(real, /*MapSize=*/4,
                                               /*Offset=*/0);
  if (!head || (*head)->getBuffer() != "\177ELF")
    return "";
  // The time of change cannot be set by hand: a file that was replaced by one
  // of the same size and date is another one.
  return sart::concat(real.str().str(), " ", info.st_dev, " ", info.st_ino, " ",
                      info.st_size, " ", info.st_mtim.tv_sec, ".",
                      info.st_mtim.tv_nsec, " ", info.st_ctim.tv_sec, ".",
                      info.st_ctim.tv_nsec);
}

/// "13.0.88 90"; nothing in any other text.
static std::optional<Ptxas> fromMemo(const std::string &file, StringRef memo) {
  auto [version, isaText] = memo.split(' ');
  unsigned isa = 0;
  if (version.empty() || isaText.getAsInteger(10, isa))
    return std::nullopt;
  return Ptxas::known(file, version.str(), isa);
}

llvm::Expected<GpuTarget> mlir::sparseattn::gpuTargetWithMemo(
    const std::string &ptxas, const std::string &folder, int64_t maxBytes) {
  std::string file = ptxas.empty() ? Ptxas::locate() : ptxas;
  if (file.empty() || file == "none")
    return GpuTarget::withoutPtxas();
  std::string identity = identityOfProgram(file);
  if (identity.empty() || folder.empty())
    return GpuTarget::get(file);
  // A cache of its own over the same folder: what it counts is no kernel.
  sart::DiskCache cache(folder, maxBytes);
  std::string key = "ptxas " + identity;
  if (std::optional<std::string> memo = cache.load(key))
    if (std::optional<Ptxas> known = fromMemo(file, *memo))
      return GpuTarget::with(std::move(*known));
  llvm::Expected<GpuTarget> target = GpuTarget::get(file);
  if (target && target->ptxas)
    cache.store(key, sart::concat(target->ptxas->version(), " ",
                                  target->ptxas->ptxVersion()));
  return target;
}
