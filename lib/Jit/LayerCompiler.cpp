//===- LayerCompiler.cpp - From a layer's text to what runs ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Jit/LayerCompiler.h"

#include "GpuKernelLibrary.h"
#include "KernelLibrary.h"
#include "LayerOverrides.h"

#include "sparseattn/Conversion/SparseAttnToVector/KernelBuilder.h"
#include "sparseattn/Dialect/Comm/IR/Comm.h"
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"
#include "sparseattn/Pipelines/Pipelines.h"
#include "sparseattn/Support/DiagnosticText.h"
#include "sparseattn/Support/ModuleText.h"
#include "sparseattn/Target/Plan/Plan.h"
#include "sparseattn/Target/Program/Program.h"
#include "sparseattn/Transforms/Boundary/Passes.h"
#include "sparseattn/Transforms/Comm/Passes.h"

#include "sparseattn-rt/DeviceSupport.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <mutex>

using namespace mlir;
using namespace mlir::sparseattn;
using sart::Expected;
using sart::Status;

namespace {
/// A context without threads of its own, and the lock of who works in it.
struct LockedContext {
  explicit LockedContext(const DialectRegistry &registry)
      : context(registry, MLIRContext::Threading::DISABLED) {}
  MLIRContext context;
  std::mutex mutex;
};
} // namespace

struct CompiledLayer::Modules {
  std::shared_ptr<LockedContext> shared;
  OwningOpRef<ModuleOp> plan;
};

CompiledLayer::CompiledLayer() = default;
CompiledLayer::CompiledLayer(CompiledLayer &&) = default;
CompiledLayer &CompiledLayer::operator=(CompiledLayer &&) = default;
CompiledLayer::~CompiledLayer() = default;

using Clock = std::chrono::steady_clock;

struct LayerCompiler::State {
  std::shared_ptr<LockedContext> shared;
  /// One of them, or none: programs only.
  std::unique_ptr<KernelLibrary> kernels;
  std::unique_ptr<GpuKernelLibrary> gpuKernels;

  sart::Expected<std::shared_ptr<sart::KernelTable>>
  kernelsFor(CompiledLayer &layer);
  Status finish(CompiledLayer &layer, Clock::time_point begin);
};

namespace {

double millisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin)
      .count();
}

std::string toText(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream);
  stream << "\n";
  return text;
}

/// The module's only schedule as a program.
FailureOr<sart::Program> exportOnly(ModuleOp module) {
  Operation *found = nullptr;
  for (Operation &op : *module.getBody()) {
    if (!isa<sa_comm::TemplateOp, sa_comm::ProgramOp>(op))
      continue;
    if (found)
      return op.emitError("schedules of the module: got a second, expected one "
                          "sa_comm.template or sa_comm.program");
    found = &op;
  }
  if (!found)
    return module.emitError("schedules of the module: got none, expected one "
                            "sa_comm.template or sa_comm.program");
  return sa_comm::exportProgram(found);
}

} // namespace

Expected<std::string> CompiledLayer::planText(const sart::Plan &plan) const {
  if (!modules)
    return sart::makeError("plan of a program: got a layer without its module, "
                           "expected one compiled from sparseattn text");
  std::lock_guard<std::mutex> lock(modules->shared->mutex);
  OwningOpRef<ModuleOp> copy = modules->plan->clone();
  copy->walk([&](BalanceOp op) {
    op.setFixedPlanAttr(fromPlan(&modules->shared->context, plan));
  });
  return toText(*copy);
}

LayerCompiler::LayerCompiler() = default;
LayerCompiler::~LayerCompiler() = default;

Expected<std::unique_ptr<LayerCompiler>>
LayerCompiler::create(CompilerOptions options) {
  using Device = CompilerOptions::Device;
  std::unique_ptr<LayerCompiler> compiler(new LayerCompiler());
  compiler->state = std::make_unique<State>();
  DialectRegistry registry;
  registerSparseAttnDialect(registry);
  sa_comm::registerCommDialect(registry);
  registry.insert<func::FuncDialect>();
  registerKernelDialects(registry);
  if (options.device == Device::Cuda) {
    auto kernels = GpuKernelLibrary::create(
        std::move(options.cache), options.ptxas, standardGpuKernelEmitters());
    if (!kernels)
      return kernels.status();
    (*kernels)->registerDialects(registry);
    compiler->state->gpuKernels = std::move(*kernels);
  }
  compiler->state->shared = std::make_shared<LockedContext>(registry);
  MLIRContext &context = compiler->state->shared->context;
  context.loadAllAvailableDialects();
  // Messages point into the text; the generic form of the op adds nothing.
  context.printOpOnDiagnostic(false);
  if (options.device == Device::Cpu) {
    auto kernels = KernelLibrary::create(std::move(options.cache));
    if (!kernels)
      return kernels.status();
    compiler->state->kernels = std::move(*kernels);
  }
  return compiler;
}

Expected<std::shared_ptr<sart::KernelTable>>
LayerCompiler::State::kernelsFor(CompiledLayer &layer) {
  MLIRContext &context = shared->context;
  if (kernels)
    return kernels->kernelsOf(layer.program, context, layer.kernelSources);
  if (!gpuKernels)
    return std::make_shared<sart::KernelTable>();
  SART_RETURN_IF_ERROR(sart::checkDeviceKernels(layer.program));
  if (std::string notice = gpuKernels->notice(); !notice.empty())
    layer.notices.push_back(std::move(notice));
  return gpuKernels->kernelsOf(requiredDeviceKernels(layer.program), context,
                               layer.kernelSources);
}

/// Adds the kernels that the layer's program needs. The caller holds the lock.
Status LayerCompiler::State::finish(CompiledLayer &layer,
                                    Clock::time_point begin) {
  Clock::time_point programmed = Clock::now();
  auto needed = kernelsFor(layer);
  if (!needed)
    return needed.status();
  layer.kernels = std::move(*needed);
  layer.kernelMs = millisecondsSince(programmed);
  layer.compileMs = millisecondsSince(begin);
  return Status::success();
}

Expected<CompiledLayer>
LayerCompiler::compileLayer(std::string_view text,
                            const LayerOptions &options) {
  Clock::time_point begin = Clock::now();
  std::lock_guard<std::mutex> lock(state->shared->mutex);
  MLIRContext &context = state->shared->context;
  DiagnosticText diagnostics(context);
  OwningOpRef<ModuleOp> module = parseModule(text, context, "layer");
  if (!module)
    return diagnostics.failure("layer text");
  FailureOr<func::FuncOp> layer = findLayer(*module);
  if (failed(layer))
    return diagnostics.failure("layer");
  std::optional<sart::DType> dtype = options.dtype;
  if (!dtype && state->gpuKernels && elementTypeOf(*layer).isF32())
    dtype = sart::DType::BF16;
  if (dtype) {
    overrideElementType(*layer, *dtype);
    if (failed(verify(*module)))
      return diagnostics.failure("layer");
  }
  if (options.mask &&
      failed(overrideMask(*layer, {options.mask, options.maskSize})))
    return diagnostics.failure("mask");

  PlanPipelineOptions plan;
  plan.ulysses = options.ulysses;
  plan.ring = options.ring;
  plan.balance = options.balance;
  plan.augment = options.augment;
  plan.repair = options.repair;
  PassManager front(&context, ModuleOp::getOperationName());
  buildMaskPipeline(front);
  buildPlacePipeline(front, plan);
  if (failed(front.run(*module)))
    return diagnostics.failure("plan phase");
  if (options.machine && failed(setCosts(*module, *options.machine)))
    return diagnostics.failure("plan phase");
  PassManager planned(&context, ModuleOp::getOperationName());
  buildConstantPlanPipeline(planned);
  if (failed(planned.run(*module)))
    return diagnostics.failure("plan phase");

  CompiledLayer compiled;
  if (dtype != options.dtype)
    compiled.notices.push_back("element type: got f32, which is rounded to "
                               "bf16 on the GPU");
  compiled.modules = std::make_unique<CompiledLayer::Modules>();
  compiled.modules->shared = state->shared;
  compiled.modules->plan = module->clone();
  layer = findLayer(*module);
  if (failed(layer))
    return diagnostics.failure("layer");
  if (auto order = (*layer)->getAttrOfType<OrderAttr>(kBoundaryOrderAttr)) {
    compiled.boundaryOrder = toOrder(order);
    if (sart::Status status = compiled.boundaryOrder->verify(); !status.ok()) {
      layer->emitOpError("order: ") << status.message();
      return diagnostics.failure("layer");
    }
  }
  (*layer)->walk([&](AttendOp op) {
    if (OrderAttr order = op.getMask().getType().getOrder())
      compiled.maskOrder = toOrder(order);
  });
  (*layer)->walk([&](BalanceOp op) {
    if (op.getFixedPlanAttr())
      compiled.fixedPlan = toPlan(*op.getFixedPlan());
  });

  PassManager back(&context, ModuleOp::getOperationName());
  buildCommPipeline(back);
  if (failed(back.run(*module)))
    return diagnostics.failure("comm phase");
  FailureOr<sart::Program> program = exportOnly(*module);
  if (failed(program))
    return diagnostics.failure("comm phase");
  compiled.program = std::move(*program);
  SART_RETURN_IF_ERROR(state->finish(compiled, begin));
  return compiled;
}

Expected<CompiledLayer> LayerCompiler::compileProgram(std::string_view text) {
  Clock::time_point begin = Clock::now();
  std::lock_guard<std::mutex> lock(state->shared->mutex);
  CompiledLayer compiled;
  if (text.substr(0, 6) == "SAPROG") {
    Expected<sart::Program> program = sart::deserialize(
        reinterpret_cast<const uint8_t *>(text.data()), text.size());
    if (!program)
      return program.status();
    compiled.program = std::move(*program);
  } else {
    MLIRContext &context = state->shared->context;
    DiagnosticText diagnostics(context);
    OwningOpRef<ModuleOp> module = parseModule(text, context, "layer");
    if (!module)
      return diagnostics.failure("program text");
    PassManager manager(&context, ModuleOp::getOperationName());
    manager.addPass(createVerifySchedulePass());
    if (failed(manager.run(*module)))
      return diagnostics.failure("program");
    FailureOr<sart::Program> program = exportOnly(*module);
    if (failed(program))
      return diagnostics.failure("program");
    compiled.program = std::move(*program);
  }
  SART_RETURN_IF_ERROR(state->finish(compiled, begin));
  return compiled;
}

/// The lines of the module's text without its plan, and without the algorithm
/// and the costs that would make another one.
static SmallVector<std::string> linesWithoutPlan(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  copy->walk([](BalanceOp op) {
    op.removeFixedPlanAttr();
    op.removeCostAttr();
    op.setAlgorithm(BalanceAlgorithm::None);
  });
  SmallVector<std::string> lines;
  std::string text = toText(*copy);
  SmallVector<StringRef> parts;
  StringRef(text).split(parts, '\n');
  for (StringRef part : parts)
    lines.push_back(part.trim().str());
  return lines;
}

/// Refuses a plan text of another layer.
static Status checkSameLayer(ModuleOp planned, ModuleOp layer) {
  SmallVector<std::string> got = linesWithoutPlan(planned);
  SmallVector<std::string> expected = linesWithoutPlan(layer);
  for (size_t i = 0, e = std::max(got.size(), expected.size()); i < e; ++i) {
    std::string left = i < got.size() ? got[i] : "nothing";
    std::string right = i < expected.size() ? expected[i] : "nothing";
    if (left != right)
      return sart::makeError("layer of the plan text must be the one that "
                             "runs: got ",
                             left, ", expected ", right);
  }
  return Status::success();
}

Expected<sart::Plan> LayerCompiler::parsePlan(std::string_view text,
                                              const CompiledLayer &layer) {
  if (!layer.modules)
    return sart::makeError("plan of a program: got one, expected none: its "
                           "plan is folded in");
  std::lock_guard<std::mutex> lock(state->shared->mutex);
  MLIRContext &context = state->shared->context;
  DiagnosticText diagnostics(context);
  OwningOpRef<ModuleOp> module = parseModule(text, context, "layer");
  if (!module)
    return diagnostics.failure("plan text");
  BalanceOp found;
  int64_t count = 0;
  module->walk([&](BalanceOp op) {
    if (op.getFixedPlanAttr()) {
      found = op;
      ++count;
    }
  });
  if (count != 1)
    return sart::makeError("balance ops with a plan: got ", count,
                           ", expected one");
  sart::Plan plan = toPlan(*found.getFixedPlan());
  SART_RETURN_IF_ERROR(plan.verify(layer.program.placement));
  SART_RETURN_IF_ERROR(checkSameLayer(*module, *layer.modules->plan));
  return plan;
}

Expected<std::string>
LayerCompiler::printProgram(const sart::Program &program) {
  std::lock_guard<std::mutex> lock(state->shared->mutex);
  MLIRContext &context = state->shared->context;
  DiagnosticText diagnostics(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  if (failed(sa_comm::importProgram(program, builder, module->getLoc())))
    return diagnostics.failure("program");
  return toText(*module);
}
