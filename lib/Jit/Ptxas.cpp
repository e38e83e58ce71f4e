//===- Ptxas.cpp - PTX text to a cubin ------------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Jit/Ptxas.h"

#include "ChildProcess.h"
#include "TemporaryFolder.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace mlir::sparseattn;
using llvm::SmallString;
using llvm::StringRef;
using llvm::Twine;

/// sm_90a is known since PTX ISA 8.0.
static constexpr unsigned kOldestPtx = 80;

/// A file that was cut off has lost its section headers, which come last.
static bool isWholeElf(StringRef bytes) {
  auto file = llvm::object::ELF64LEFile::create(bytes);
  if (!file) {
    llvm::consumeError(file.takeError());
    return false;
  }
  auto sections = file->sections();
  if (!sections) {
    llvm::consumeError(sections.takeError());
    return false;
  }
  return !sections->empty();
}

/// More than a thousand times what these take: a program that takes so long
/// hangs, and engines wait for it.
static constexpr std::chrono::seconds kVersionLimit(20), kAssembleLimit(120);

/// Text of a log for a message: its lines, joined, and not without end.
static std::string quoted(StringRef log) {
  constexpr size_t most = 2000;
  llvm::SmallVector<StringRef> lines;
  log.trim().split(lines, '\n');
  std::string text;
  for (StringRef line : lines)
    if (!line.trim().empty())
      text += (text.empty() ? "" : " | ") + line.trim().str();
  if (text.size() > most)
    text.replace(most, std::string::npos, " ...");
  return text;
}

std::string Ptxas::parseVersion(StringRef output) {
  auto [before, after] = output.split("release ");
  auto [release, rest] = after.split(", V");
  if (!before.contains("ptxas") || rest.empty())
    return "";
  StringRef version =
      rest.take_while([](char c) { return llvm::isDigit(c) || c == '.'; });
  return version.starts_with(release) ? version.str() : "";
}

unsigned Ptxas::parsePtxVersion(StringRef output) {
  StringRef text = output.split("current version is '").second;
  unsigned major = 0, minor = 0;
  if (text.consumeInteger(10, major) || !text.consume_front(".") ||
      text.consumeInteger(10, minor) || !text.starts_with("'") || minor > 9)
    return 0;
  return major * 10 + minor;
}

std::string Ptxas::locate() {
  llvm::SmallVector<std::string> candidates;
  if (std::optional<std::string> home = llvm::sys::Process::GetEnv("CUDA_HOME");
      home && !home->empty()) {
    SmallString<128> file(*home);
    llvm::sys::path::append(file, "bin", "ptxas");
    candidates.push_back(file.str().str());
  }
  if (llvm::ErrorOr<std::string> file = llvm::sys::findProgramByName("ptxas"))
    candidates.push_back(*file);
  std::string own = objectFileOf(reinterpret_cast<const void *>(&quoted));
  if (!own.empty()) {
    SmallString<128> file(llvm::sys::path::parent_path(own));
    llvm::sys::path::append(file, "..", "ptxas", "bin", "ptxas");
    llvm::sys::path::remove_dots(file, /*remove_dot_dot=*/true);
    candidates.push_back(file.str().str());
  }
  for (const std::string &file : candidates)
    if (llvm::sys::fs::can_execute(file))
      return file;
  return "";
}

std::string Ptxas::notFound() {
  return "ptxas: got none, expected one in $CUDA_HOME/bin, on PATH or given by "
         "--ptxas (PyPI has it as nvidia-cuda-nvcc)";
}

llvm::Expected<Ptxas> Ptxas::open(StringRef path) {
  Ptxas found;
  found.file = path.str();
  auto refuse = [&](const Twine &what) {
    return llvm::createStringError("ptxas: got '" + Twine(found.file) + "', " +
                                   what);
  };
  if (!llvm::sys::fs::exists(found.file))
    return refuse("which does not exist, expected NVIDIA's assembler");
  if (!llvm::sys::fs::can_execute(found.file))
    return refuse("which cannot be executed, expected NVIDIA's assembler");

  llvm::Expected<ChildOutput> version =
      runChild(found.file, {"--version"}, "ptxas", kVersionLimit);
  if (!version)
    return version.takeError();
  found.text = parseVersion(version->text);
  if (version->status != 0 || found.text.empty())
    return refuse("whose --version says '" + quoted(version->text) +
                  "', expected NVIDIA's 'release X.Y, VX.Y.Z'");
  // A version that no ptxas has makes it name the newest that it has. A table
  // of CUDA releases would be wrong for each release after this one.
  llvm::Expected<AssembledPtx> probe =
      found.assemble(".version 99.9\n.target sm_90a\n", "sm_90a");
  if (probe)
    return refuse("which took PTX ISA 99.9, expected it to name its newest");
  std::string reply = llvm::toString(probe.takeError());
  found.isa = parsePtxVersion(reply);
  if (found.isa == 0)
    return refuse("which does not name its newest PTX ISA: " + reply);
  if (found.isa < kOldestPtx)
    return refuse("version " + found.text + " with PTX ISA " +
                  Twine(found.isa / 10) + "." + Twine(found.isa % 10) +
                  ", expected 8.0 or newer (CUDA 12.0)");
  return found;
}

Ptxas Ptxas::known(std::string path, std::string version, unsigned ptxVersion) {
  Ptxas ptxas;
  ptxas.file = std::move(path);
  ptxas.text = std::move(version);
  ptxas.isa = ptxVersion;
  return ptxas;
}

llvm::Expected<AssembledPtx> Ptxas::assemble(StringRef ptx,
                                             StringRef chip) const {
  llvm::Expected<TemporaryFolder> folder = TemporaryFolder::create("ptxas");
  if (!folder)
    return folder.takeError();
  std::string input = folder->file("kernel.ptx");
  std::string output = folder->file("kernel.cubin");
  if (llvm::Error error = writeWhole(input, ptx))
    return error;
  std::string arch = ("-arch=" + chip).str();
  llvm::Expected<ChildOutput> child = runChild(
      file, {"-v", "-O3", arch, input, "-o", output}, "ptxas", kAssembleLimit);
  if (!child)
    return child.takeError();
  if (child->status != 0)
    return llvm::createStringError("ptxas: got exit status " +
                                   Twine(child->status) + " from '" + file +
                                   "', expected 0: " + quoted(child->text));
  AssembledPtx assembled;
  assembled.log = std::move(child->text);
  assembled.milliseconds = child->milliseconds;
  llvm::Expected<std::string> cubin = readWhole(output);
  if (!cubin || !isWholeElf(*cubin)) {
    llvm::consumeError(cubin.takeError());
    return llvm::createStringError(
        "ptxas: got no cubin from '" + file +
        "', expected a whole ELF file: " + quoted(assembled.log));
  }
  assembled.cubin = std::move(*cubin);
  assembled.report = parsePtxasLog(assembled.log);
  return assembled;
}
