//===- ProgramText.cpp - Fuzz target: programs as text --------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TextFuzzing.h"

#include "sparseattn/Dialect/Comm/IR/Comm.h"
#include "sparseattn/Target/Program/Program.h"

using namespace mlir;
using namespace sart;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MLIRContext &context = fuzz::textContext();
  OwningOpRef<ModuleOp> module =
      fuzz::parseText(fuzz::textOf(data, size), context);
  if (!module)
    return 0;
  fuzz::requireRoundTrip(*module);
  for (Operation &op : *module->getBody()) {
    if (!isa<sa_comm::TemplateOp, sa_comm::ProgramOp>(op))
      continue;
    FailureOr<Program> program = sa_comm::exportProgram(&op);
    if (failed(program))
      continue;
    std::vector<uint8_t> bytes = serialize(*program);
    Expected<Program> read = deserialize(bytes.data(), bytes.size());
    fuzz::require(read.ok(), "an exported program is read", read.message());
    OwningOpRef<ModuleOp> text = sa_comm::importProgram(*program, &context);
    fuzz::require(static_cast<bool>(text), "an exported program has a text");
    FailureOr<Program> again =
        sa_comm::exportProgram(&text->getBody()->front());
    fuzz::require(succeeded(again) && serialize(*again) == bytes,
                  "a program survives the way to text and back");
  }
  fuzz::runSchedules(*module);
  return 0;
}
