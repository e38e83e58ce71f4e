//===- TextInterpreter.cpp - Interprets modules given as text -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Interpreter/TextInterpreter.h"

#include "Evaluate.h"

#include "sparseattn/Dialect/Comm/IR/Comm.h"
#include "sparseattn/Interpreter/Interpreter.h"
#include "sparseattn/Support/DiagnosticText.h"
#include "sparseattn/Support/ModuleText.h"

#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::sparseattn;
using sart::Expected;

struct TextInterpreter::State {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  /// As the text writes them; the IR does not keep names.
  DenseMap<Operation *, std::vector<std::string>> argumentNames;

  Expected<func::FuncOp> find(std::string_view name);
};

TextInterpreter::TextInterpreter() : state(std::make_unique<State>()) {}
TextInterpreter::~TextInterpreter() = default;

/// The text of the function's arguments, without `%`.
static std::vector<std::string> namesOf(func::FuncOp function,
                                        const AsmParserState &text) {
  std::vector<std::string> names;
  const AsmParserState::BlockDefinition *block =
      text.getBlockDef(&function.getBody().front());
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    std::string name;
    if (block && i < block->arguments.size() &&
        block->arguments[i].loc.isValid()) {
      SMRange range = block->arguments[i].loc;
      name.assign(range.Start.getPointer(), range.End.getPointer());
    }
    if (name.size() < 2 || name.front() != '%')
      name = "%arg" + std::to_string(i);
    names.push_back(name.substr(1));
  }
  return names;
}

Expected<std::unique_ptr<TextInterpreter>>
TextInterpreter::create(std::string_view text) {
  std::unique_ptr<TextInterpreter> created(new TextInterpreter());
  State &state = *created->state;
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, func::FuncDialect, SparseAttnDialect>();
  sa_comm::registerCommDialect(registry);
  state.context.appendDialectRegistry(registry);
  state.context.loadAllAvailableDialects();
  state.context.printOpOnDiagnostic(false);
  DiagnosticText diagnostics(state.context);

  AsmParserState parsed;
  state.module = parseModule(text, state.context, "text", &parsed);
  if (!state.module)
    return diagnostics.failure("text");
  for (auto function : state.module->getOps<func::FuncOp>())
    if (!function.isExternal())
      state.argumentNames[function] = namesOf(function, parsed);
  return created;
}

bool TextInterpreter::hasSchedule() const {
  return llvm::any_of(*state->module->getBody(), [](Operation &op) {
    return isa<sa_comm::TemplateOp, sa_comm::ProgramOp>(op);
  });
}

/// The named function, or the only one that has a body.
Expected<func::FuncOp> TextInterpreter::State::find(std::string_view name) {
  func::FuncOp found;
  int64_t count = 0;
  std::string all;
  for (auto function : module->getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    all += (all.empty() ? "" : ", ") + function.getName().str();
    if (!name.empty() &&
        function.getName() != StringRef(name.data(), name.size()))
      continue;
    found = function;
    ++count;
  }
  if (count == 1)
    return found;
  if (!name.empty())
    return sart::makeError("function: got '", std::string(name),
                           "', expected one of ", all.empty() ? "none" : all);
  return sart::makeError("functions: got ", count,
                         count ? " (" + all + ")" : "",
                         ", expected one, or the name of one");
}

static std::optional<ValueType> toValueType(Type type) {
  ValueType result;
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    auto dtype = getValueDType(tensor.getElementType());
    if (!dtype || !tensor.hasStaticShape() || tensor.getRank() < 2 ||
        tensor.getRank() > 3)
      return std::nullopt;
    result.dtype = *dtype;
    result.shape = tensor.getShape().vec();
    return result;
  }
  if (auto mask = dyn_cast<MaskType>(type)) {
    result.kind = ValueType::Kind::Mask;
    result.shape = {mask.getHeads(), mask.getQBlocks(), mask.getKvBlocks()};
    return result;
  }
  if (!isa<PlanType>(type))
    return std::nullopt;
  result.kind = ValueType::Kind::Plan;
  return result;
}

Expected<Signature> TextInterpreter::signature(std::string_view name) {
  Expected<func::FuncOp> function = state->find(name);
  if (!function)
    return function.status();
  DiagnosticText diagnostics(state->context);
  Signature signature;
  signature.name = function->getName().str();
  signature.argumentNames = state->argumentNames.lookup(*function);
  for (auto [types, values, what] :
       {std::make_tuple(function->getArgumentTypes(), &signature.arguments,
                        "argument "),
        {function->getResultTypes(), &signature.results, "result "}})
    for (auto [index, type] : llvm::enumerate(types)) {
      std::optional<ValueType> value = toValueType(type);
      if (!value) {
        function->emitOpError(what)
            << index << ": got type " << type
            << ", expected a static tensor of two or three axes of f32, bf16 "
               "or f16, a mask or a plan";
        return diagnostics.failure("signature");
      }
      if (!isInterpretableSize(type)) {
        function->emitOpError(what)
            << index << ": got type " << type << ", expected at most "
            << maxElements << " elements";
        return diagnostics.failure("signature");
      }
      values->push_back(*value);
    }
  return signature;
}

Expected<std::vector<InterpreterValue>>
TextInterpreter::run(std::string_view name,
                     const std::vector<InterpreterValue> &arguments,
                     int64_t threads, const MaskObserver &observe) {
  Expected<func::FuncOp> function = state->find(name);
  if (!function)
    return function.status();
  DiagnosticText diagnostics(state->context);
  InterpreterOptions options;
  options.threads = threads;
  if (observe)
    options.observe = [&](Operation *op, ArrayRef<InterpreterValue> results) {
      for (const InterpreterValue &result : results) {
        auto mask = std::get_if<std::shared_ptr<const MaskValue>>(&result);
        if (!mask)
          continue;
        auto place = dyn_cast<FileLineColLoc>(op->getLoc());
        observe(op->getName().getStringRef().str(), place ? place.getLine() : 0,
                **mask);
      }
    };
  FailureOr<SmallVector<InterpreterValue>> results =
      interpret(*function, arguments, options);
  if (failed(results))
    return diagnostics.failure("interpreter");
  return std::vector<InterpreterValue>(results->begin(), results->end());
}
