//===- sparseattn-translate.cpp - Files to MLIR text and back -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CommandLine.h"
#include "KernelTranslation.h"

#include "sparseattn/Dialect/Comm/IR/Comm.h"
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"
#include "sparseattn/Jit/GpuKernelPipeline.h"
#include "sparseattn/Support/DiagnosticText.h"
#include "sparseattn/Support/ModuleText.h"
#include "sparseattn/Target/MaskFile/MaskFile.h"
#include "sparseattn/Target/Program/Program.h"

#include "sparseattn-rt/Npz.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <iostream>
#include <iterator>

using namespace mlir;
using sart::Expected;
using sart::Status;

namespace {

enum class Direction {
  ProgramToText,
  TextToProgram,
  MaskFileToText,
  TextToMaskFile,
  KernelToPtx,
  KernelToCubin
};

/// What the options say beside the direction.
struct TranslateOptions {
  int64_t instance = 0;
  std::string ptxas;
};

/// Translates one input; bytes in, bytes out.
class Translation {
public:
  Translation(MLIRContext &context, const TranslateOptions &options)
      : context(context), options(options) {}

  Expected<std::string> run(Direction direction, const std::string &input) {
    switch (direction) {
    case Direction::ProgramToText:
      return programToText(input);
    case Direction::TextToProgram:
      return textToProgram(input);
    case Direction::MaskFileToText:
      return maskFileToText(input);
    case Direction::TextToMaskFile:
      return textToMaskFile(input);
    case Direction::KernelToPtx:
      return sparseattn::kernelToPtx(input, context, options.ptxas);
    case Direction::KernelToCubin:
      return sparseattn::kernelToCubin(input, context, options.ptxas);
    }
    llvm_unreachable("every direction is above");
  }

private:
  static const uint8_t *bytes(const std::string &text) {
    return reinterpret_cast<const uint8_t *>(text.data());
  }

  static std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream);
    stream << "\n";
    return text;
  }

  Expected<std::string> programToText(const std::string &input) {
    Expected<sart::Program> program =
        sart::deserialize(bytes(input), input.size());
    if (!program)
      return program.status();
    sparseattn::DiagnosticText diagnostics(context);
    OwningOpRef<ModuleOp> module = sa_comm::importProgram(*program, &context);
    if (!module)
      return diagnostics.failure("program");
    return print(*module);
  }

  Expected<std::string> textToProgram(const std::string &input) {
    sparseattn::DiagnosticText diagnostics(context);
    OwningOpRef<ModuleOp> module =
        sparseattn::parseModule(input, context, "input");
    if (!module)
      return diagnostics.failure("text");
    Operation *schedule = sa_comm::findSchedule(*module);
    if (!schedule)
      return diagnostics.failure("schedules of the module");
    FailureOr<sart::Program> program = sa_comm::exportProgram(schedule);
    if (failed(program))
      return diagnostics.failure("program");
    std::vector<uint8_t> data = sart::serialize(*program);
    return std::string(data.begin(), data.end());
  }

  Expected<std::string> maskFileToText(const std::string &input) {
    Expected<sart::TraceFile> file =
        sart::TraceFile::parse(bytes(input), input.size());
    if (!file)
      return file.status();
    auto module = sparseattn::importMaskFile(*file, options.instance, &context);
    if (!module)
      return module.status();
    return print(**module);
  }

  Expected<std::string> textToMaskFile(const std::string &input) {
    sparseattn::DiagnosticText diagnostics(context);
    OwningOpRef<ModuleOp> module =
        sparseattn::parseModule(input, context, "input");
    if (!module)
      return diagnostics.failure("text");
    FailureOr<sart::TraceFile> file = sparseattn::exportMaskFile(*module);
    if (failed(file))
      return diagnostics.failure("mask");
    std::vector<uint8_t> data = file->serialize();
    return std::string(data.begin(), data.end());
  }

  MLIRContext &context;
  const TranslateOptions &options;
};

Expected<std::string> readInput(const std::string &path) {
  if (path != "-")
    return sart::readTextFile("input", path);
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

Status translate(int argc, char **argv) {
  sart::CommandLine line("sparseattn-translate", "DIRECTION INPUT [-o OUTPUT]",
                         "Translates program bytes and mask files to MLIR text "
                         "and back, and GPU kernels to PTX; - is stdin or "
                         "stdout.");
  struct {
    Direction direction;
    const char *name, *help;
    bool given;
  } all[] = {
      {Direction::ProgramToText, "program-to-sa-comm",
       "program bytes to sa_comm text", false},
      {Direction::TextToProgram, "sa-comm-to-program",
       "sa_comm text to program bytes", false},
      {Direction::MaskFileToText, "mask-file-to-sparseattn",
       "mask file (.bmt) to a function that returns the mask", false},
      {Direction::TextToMaskFile, "sparseattn-to-mask-file",
       "the text's explicit_mask to a mask file", false},
      {Direction::KernelToPtx, "kernel-to-ptx",
       "GPU kernels, functions with nvvm.kernel, to PTX", false},
      {Direction::KernelToCubin, "kernel-to-cubin",
       "the same to a cubin, through ptxas", false},
  };
  for (auto &entry : all)
    line.addFlag(entry.name, entry.help, entry.given);
  TranslateOptions options;
  line.addInteger("instance", "N", "which mask of the file (default 0)", 0,
                  INT32_MAX, options.instance);
  line.addText("ptxas", "PATH",
               "the ptxas whose PTX ISA kernels are for (default: of "
               "CUDA_HOME, then of PATH), or none",
               options.ptxas);
  std::string output = "-";
  line.addText("o", "FILE", "where to write (default stdout)", output);
  SART_RETURN_IF_ERROR(line.parse(argc, argv));
  if (line.helpRequested()) {
    std::fputs(line.help().c_str(), stdout);
    return Status::success();
  }
  std::vector<Direction> directions;
  for (auto &entry : all)
    if (entry.given)
      directions.push_back(entry.direction);
  if (directions.size() != 1)
    return sart::makeError("directions: got ", directions.size(),
                           ", expected one of those that --help lists");
  if (line.positionals().size() != 1)
    return sart::makeError("inputs: got ", line.positionals().size(),
                           ", expected one file, or - for stdin");
  if (output != "-") {
    SART_RETURN_IF_ERROR(sart::checkWritable("-o", output));
    const std::string &input = line.positionals().front();
    if (input != "-" && sart::resolvedPath(input) == sart::resolvedPath(output))
      return sart::makeError("-o: got '", output,
                             "', the input, expected another file");
  }

  DialectRegistry registry;
  registry.insert<func::FuncDialect>();
  sparseattn::registerSparseAttnDialect(registry);
  sa_comm::registerCommDialect(registry);
  sparseattn::registerGpuKernelDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);

  const std::string &path = line.positionals().front();
  Expected<std::string> input = readInput(path);
  if (!input)
    return input.status();
  Expected<std::string> result =
      Translation(context, options).run(directions.front(), *input);
  if (!result)
    return sart::makeError(path, ": ", result.message());
  if (output != "-")
    return sart::writeFileAtomically(output, result->data(), result->size());
  std::fwrite(result->data(), 1, result->size(), stdout);
  return Status::success();
}

} // namespace

int main(int argc, char **argv) {
  return sart::runTool([&] {
    if (Status status = translate(argc, argv); !status.ok())
      return sart::reportError(status);
    return sart::finishOutput();
  });
}
