//===- ModuleText.cpp - Modules from text or bytecode ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Support/ModuleText.h"
#include "sparseattn/Support/TextLimits.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::sparseattn;

static bool holdsBytecode(std::string_view input) {
  return isBytecode(
      llvm::MemoryBufferRef(StringRef(input.data(), input.size()), "input"));
}

sart::Status mlir::sparseattn::checkModuleLimits(std::string_view input) {
  return holdsBytecode(input) ? sart::Status::success()
                              : checkTextLimits(input);
}

OwningOpRef<ModuleOp> mlir::sparseattn::parseModule(std::string_view input,
                                                    MLIRContext &context,
                                                    StringRef name,
                                                    AsmParserState *state) {
  if (sart::Status limits = checkModuleLimits(input); !limits.ok()) {
    emitError(UnknownLoc::get(&context)) << limits.message();
    return nullptr;
  }
  // The lexer reads up to the zero byte that a copy has behind it.
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(
                                 StringRef(input.data(), input.size()), name),
                             SMLoc());
  ParserConfig config(&context);
  Block block;
  if (failed(state && !holdsBytecode(input)
                 ? parseAsmSourceFile(sources, &block, config, state)
                 : parseSourceFile(sources, &block, config)))
    return nullptr;
  return ::mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(
      &block, &context, FileLineColLoc::get(&context, name, 0, 0));
}
