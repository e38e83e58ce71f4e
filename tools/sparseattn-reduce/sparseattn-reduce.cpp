//===- sparseattn-reduce.cpp - Makes a failing module small ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's mlir-reduce with the project's dialects and passes. It opens its
// output before it reads its input and removes it when it fails, so it writes
// to memory here, and the file is replaced when the result is there.
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Pipelines/Registration.h"
#include "sparseattn/Support/ModuleText.h"

#include "CommandLine.h"
#include "sparseattn-rt/Npz.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using sart::Status;

namespace {
/// A file without a name that others open as path().
class MemoryFile {
public:
  MemoryFile() : descriptor(memfd_create("sparseattn-reduce", 0)) {}
  ~MemoryFile() {
    if (valid())
      close(descriptor);
  }
  bool valid() const { return descriptor >= 0; }
  std::string path() const {
    return "/proc/self/fd/" + std::to_string(descriptor);
  }

private:
  int descriptor;
};
} // namespace

/// Replaces the value of -o by `replacement`; returns it, empty without one.
static std::string takeOutput(std::vector<std::string> &arguments,
                              const std::string &replacement) {
  for (size_t i = 1; i < arguments.size(); ++i) {
    llvm::StringRef argument = arguments[i];
    bool joined =
        argument.consume_front("--o=") || argument.consume_front("-o=");
    if (!joined && argument != "-o" && argument != "--o")
      continue;
    if (!joined && i + 1 == arguments.size())
      continue; // mlir-reduce says what is missing
    std::string &value = arguments[joined ? i : i + 1];
    std::string output = joined ? argument.str() : value;
    if (output == "-")
      return {};
    value = (joined ? "-o=" : "") + replacement;
    return output;
  }
  return {};
}

static int reduce(int argc, char **argv) {
  std::vector<std::string> arguments(argv, argv + argc);
  // Text that nests without end would overflow the parser's stack.
  for (const std::string &argument : arguments)
    if (auto file = llvm::MemoryBuffer::getFile(argument);
        file && &argument != &arguments.front())
      if (Status limits = mlir::sparseattn::checkModuleLimits(
              {(*file)->getBufferStart(), (*file)->getBufferSize()});
          !limits.ok())
        return sart::reportError(
            sart::makeError(argument, ": ", limits.message()));
  MemoryFile result;
  std::string output;
  if (result.valid())
    output = takeOutput(arguments, result.path());
  if (!output.empty())
    if (Status status = sart::checkWritable("-o", output); !status.ok())
      return sart::reportError(status);

  std::vector<char *> pointers;
  for (std::string &argument : arguments)
    pointers.push_back(argument.data());
  mlir::DialectRegistry registry;
  mlir::sparseattn::registerAllDialects(registry);
  mlir::sparseattn::registerAllPasses();
  mlir::MLIRContext context(registry);
  if (failed(mlir::mlirReduceMain(argc, pointers.data(), context)))
    // The library is silent about a module that its script finds of no
    // interest.
    return sart::reportError(sart::makeError(
        "reduction: got no result, expected a module that can be read and for "
        "which the script of -reduction-tree ends with a status other than "
        "0"));
  if (output.empty())
    return sart::finishOutput();
  auto text = llvm::MemoryBuffer::getFile(result.path());
  if (!text)
    return sart::reportError(sart::makeError(
        "reduction: got '", text.getError().message(), "', expected a result"));
  if (Status status = sart::writeFileAtomically(
          output, (*text)->getBufferStart(), (*text)->getBufferSize());
      !status.ok())
    return sart::reportError(status);
  return 0;
}

int main(int argc, char **argv) {
  return sart::runTool([&] { return reduce(argc, argv); });
}
