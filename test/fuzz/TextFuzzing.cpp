//===- TextFuzzing.cpp - Parsing and printing of fuzzed text --------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TextFuzzing.h"

#include "Support/ProgramRun.h"

#include "sparseattn/Dialect/Comm/IR/Comm.h"
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"
#include "sparseattn/Support/ModuleText.h"
#include "sparseattn/Target/Program/Program.h"

#include "sparseattn-rt/Executor.h"
#include "sparseattn-rt/Validator.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>

using namespace mlir;
using namespace sart;

MLIRContext &fuzz::textContext() {
  static std::unique_ptr<MLIRContext> context;
  static int uses = 0;
  if (!context || ++uses == 500) {
    uses = 0;
    DialectRegistry registry;
    registry.insert<func::FuncDialect>();
    sparseattn::registerSparseAttnDialect(registry);
    sa_comm::registerCommDialect(registry);
    context = std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
    context->printOpOnDiagnostic(false);
    context->getDiagEngine().registerHandler(
        [](Diagnostic &) { return success(); });
  }
  return *context;
}

OwningOpRef<ModuleOp> fuzz::parseText(std::string_view text,
                                      MLIRContext &context) {
  return sparseattn::parseModule(text, context, "input");
}

std::string fuzz::print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

void fuzz::requireRoundTrip(ModuleOp module) {
  std::string text = print(module);
  OwningOpRef<ModuleOp> again = parseSourceString<ModuleOp>(
      text, ParserConfig(module.getContext()), "printed");
  require(static_cast<bool>(again), "what is printed can be parsed", text);
  require(print(*again) == text, "what is parsed is printed the same", text);
}

bool fuzz::isSmall(ModuleOp module) {
  bool small = true;
  auto check = [&](Type type) {
    if (auto mask = dyn_cast<sparseattn::MaskType>(type))
      small = small && mask.getTiles() <= 4096 && mask.getSq() <= 4096 &&
              mask.getSkv() <= 4096;
  };
  module.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      check(type);
    for (Type type : op->getOperandTypes())
      check(type);
    if (auto place = dyn_cast<sparseattn::PlaceOp>(op))
      small = small && place.getMesh().getUlysses() <= 16 &&
              place.getMesh().getRing() <= 16;
  });
  return small;
}

void fuzz::runSchedules(ModuleOp module) {
  for (Operation &op : *module.getBody()) {
    if (!isa<sa_comm::TemplateOp, sa_comm::ProgramOp>(op))
      continue;
    FailureOr<Program> program = sa_comm::exportProgram(&op);
    if (failed(program) || !test::isSmall(*program))
      continue;
    require(!explainProgram(*program).empty(), "every program is explained");
    if (!validate(*program).ok())
      continue;
    Status status = test::ProgramRun(program->placement.shape).run(*program);
    require(status.ok() || !program->bound, "a valid program runs",
            status.message());
  }
}
