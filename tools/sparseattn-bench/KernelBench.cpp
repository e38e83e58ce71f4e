//===- KernelBench.cpp - sparseattn-bench kernels -------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelBench.h"

#include "BlasLibrary.h"
#include "KernelProblem.h"

#include "sparseattn/Conversion/SparseAttnToVector/KernelBuilder.h"
#include "sparseattn/Jit/KernelCompiler.h"
#include "sparseattn/Support/DiagnosticText.h"
#include "sparseattn/Transforms/Kernel/Passes.h"

#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <optional>
#include <thread>

using namespace sart;
using mlir::sparseattn::CompiledKernels;
using mlir::sparseattn::CpuTarget;
using mlir::sparseattn::KernelCompiler;

namespace {

class KernelBench {
public:
  explicit KernelBench(const KernelOptions &options) : options(options) {}
  Expected<KernelResults> run();

private:
  Status prepare();
  Expected<std::shared_ptr<KernelTable>> compile(const KernelSpec &spec);
  Expected<LoadedKernel> compileOnce(const KernelSpec &spec);
  Status measure(const LayerShape &shape,
                 const std::shared_ptr<KernelTable> &kernels);
  Status measureRow(KernelProblem &problem, Backend &backend, KernelRow &row);
  Expected<double> productRate(int64_t threads);
  static Expected<double> attendRate(const KernelProblem &problem,
                                     Backend &backend,
                                     const std::vector<AttendTask> &tasks);

  const KernelOptions &options;
  std::vector<int64_t> threadCounts;
  std::optional<BlasLibrary> blas;
  std::unique_ptr<mlir::MLIRContext> context;
  std::shared_ptr<KernelCompiler> compiler;
  KernelResults results;
};

} // namespace

Status KernelBench::prepare() {
  threadCounts = options.threads;
  if (threadCounts.empty()) {
    threadCounts = {1};
    if (auto cores = static_cast<int64_t>(std::thread::hardware_concurrency());
        cores > 1)
      threadCounts.push_back(cores);
  }
  Expected<BlasLibrary> opened = BlasLibrary::open(options.blas);
  if (opened) {
    blas = std::move(*opened);
    results.blasConfig = blas->config();
    results.blasCore = blas->core();
  } else if (!options.blas.empty()) {
    return opened.status();
  } else {
    results.blasMissing = opened.message();
  }

  mlir::DialectRegistry registry;
  mlir::sparseattn::registerKernelDialects(registry);
  context = std::make_unique<mlir::MLIRContext>(
      registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  llvm::Expected<CpuTarget> target = options.cpu.empty()
                                         ? CpuTarget::host()
                                         : CpuTarget::get("", options.cpu, "");
  if (!target)
    return makeError("--cpu: ", llvm::toString(target.takeError()));
  if (!target->runsHere())
    return makeError("--cpu: got '", options.cpu,
                     "', expected a CPU whose instructions this one has");
  results.cpu = target->cpu;
  auto created = KernelCompiler::create(std::move(*target));
  if (!created)
    return makeError("kernel compiler: ", llvm::toString(created.takeError()));
  compiler = std::move(*created);
  return Status::success();
}

Expected<LoadedKernel> KernelBench::compileOnce(const KernelSpec &spec) {
  mlir::sparseattn::DiagnosticText diagnostics(*context);
  mlir::Location loc = mlir::UnknownLoc::get(context.get());
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
  mlir::OpBuilder builder(module->getBodyRegion());
  mlir::FailureOr<mlir::ModuleOp> kernels = mlir::sparseattn::emitCpuKernels(
      builder, loc, {spec}, compiler->getTarget());
  if (failed(kernels))
    return makeError("kernel ", spec.name(), ": ",
                     diagnostics.failure("kernel").message());
  llvm::Expected<CompiledKernels> compiled = compiler->compile(*kernels);
  if (!compiled)
    return makeError("kernel ", spec.name(), ": ",
                     llvm::toString(compiled.takeError()));
  const auto &kernel = compiled->kernels.front();
  return LoadedKernel{spec, kernel.entry, kernel.scratchBytes,
                      kernel.scratchBytesPerBlock, compiler};
}

Expected<std::shared_ptr<KernelTable>>
KernelBench::compile(const KernelSpec &spec) {
  KernelCompileRow row;
  row.name = spec.name();
  std::optional<LoadedKernel> kernel;
  for (int64_t i = 0; i <= options.repetitions; ++i) {
    Status failure = Status::success();
    double ms = 1e3 * secondsOf([&] {
                  Expected<LoadedKernel> compiled = compileOnce(spec);
                  if (compiled)
                    kernel = *compiled;
                  else
                    failure = compiled.status();
                });
    SART_RETURN_IF_ERROR(failure);
    if (i == 0)
      row.firstMs = ms;
    else
      row.ms.add(ms);
  }
  results.compiles.push_back(row);
  auto table = std::make_shared<KernelTable>();
  table->add(*kernel);
  return table;
}

Expected<double> KernelBench::productRate(int64_t threads) {
  auto n = static_cast<double>(options.product);
  Expected<double> seconds = blas->timeProduct(options.product, threads);
  if (!seconds)
    return seconds.status();
  return 2e-9 * n * n * n / *seconds;
}

Expected<double> KernelBench::attendRate(const KernelProblem &problem,
                                         Backend &backend,
                                         const std::vector<AttendTask> &tasks) {
  Status status = Status::success();
  double seconds =
      secondsOf([&] { status = backend.attend(problem.program(), tasks); });
  SART_RETURN_IF_ERROR(status);
  return 1e-9 * problem.usefulFlops() / seconds;
}

Status KernelBench::measureRow(KernelProblem &problem, Backend &backend,
                               KernelRow &row) {
  std::vector<AttendTask> tasks = problem.tasks(false);
  std::vector<AttendTask> oneBlock = problem.tasks(true);
  problem.poisonResults();
  SART_RETURN_IF_ERROR(attendRate(problem, backend, tasks).status());
  if (double error = problem.checkAndPoison(); !(error <= 1))
    return makeError("error of the kernel over its bound: got ", error,
                     ", expected at most 1");
  row.density = problem.density();
  if (blas) // starts its threads
    SART_RETURN_IF_ERROR(productRate(row.threads).status());
  for (int64_t i = 0; i < options.repetitions; ++i) {
    Expected<double> before = blas ? productRate(row.threads) : 0.0;
    Expected<double> rate = attendRate(problem, backend, tasks);
    Expected<double> after = blas ? productRate(row.threads) : 0.0;
    Expected<double> ceiling = attendRate(problem, backend, oneBlock);
    for (const Expected<double> *figure : {&before, &rate, &after, &ceiling})
      SART_RETURN_IF_ERROR(figure->status());
    row.kernel.add(*rate);
    row.seconds.add(1e-9 * problem.usefulFlops() / *rate);
    row.oneBlock.add(*ceiling);
    row.ceilingShare.add(*rate / *ceiling);
    if (!blas)
      continue;
    double product = (*before + *after) / 2;
    row.sgemm.add(product);
    row.ratio.add(*rate / product);
  }
  return Status::success();
}

Status KernelBench::measure(const LayerShape &shape,
                            const std::shared_ptr<KernelTable> &kernels) {
  Expected<KernelProblem> problem =
      KernelProblem::create(shape, static_cast<uint32_t>(options.seed));
  if (!problem)
    return problem.status();
  for (int64_t threads : threadCounts) {
    std::unique_ptr<Backend> backend =
        createCpuBackend(kernels, std::make_shared<ThreadPool>(threads));
    for (double density : options.densities) {
      problem->drawLists(density, static_cast<uint32_t>(options.seed));
      KernelRow row;
      row.block = {shape.blockQ, shape.blockK};
      row.dtype = shape.dtype;
      row.threads = threads;
      SART_RETURN_IF_ERROR(measureRow(*problem, *backend, row));
      results.rows.push_back(std::move(row));
    }
  }
  return Status::success();
}

Expected<KernelResults> KernelBench::run() {
  SART_RETURN_IF_ERROR(prepare());
  for (DType dtype : options.dtypes)
    for (const BlockSize &block : options.blocks) {
      LayerShape shape;
      shape.heads = shape.kvHeads = options.heads;
      shape.sq = shape.skv = options.tokens;
      shape.headDim = options.headDim;
      shape.blockQ = block.q;
      shape.blockK = block.k;
      shape.dtype = dtype;
      SART_RETURN_IF_ERROR(shape.verify());
      KernelSpec spec;
      spec.dtype = spec.outDtype = dtype;
      spec.headDim = shape.headDim;
      spec.blockQ = block.q;
      spec.blockK = block.k;
      auto kernels = compile(spec);
      if (!kernels)
        return kernels.status();
      SART_RETURN_IF_ERROR(measure(shape, *kernels));
    }
  return std::move(results);
}

Expected<KernelResults> sart::runKernelBench(const KernelOptions &options) {
  return KernelBench(options).run();
}
