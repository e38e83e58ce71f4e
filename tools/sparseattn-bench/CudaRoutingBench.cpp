//===- CudaRoutingBench.cpp - sparseattn-bench routing on a GPU -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaRoutingBench.h"

#include "CudaSession.h"

#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace sart;

namespace {

class CudaRoutingBench {
public:
  explicit CudaRoutingBench(const RoutingOptions &options) : options(options) {}
  Expected<CudaRoutingResults> run();

private:
  Status measureShape(const LayerShape &shape);
  Status measureRow(CudaRoutingProblem &problem, CudaRoutingRow &row);
  Status time(CudaRoutingRow &row, const char *name,
              const std::function<Status(int64_t)> &run);
  Status measureTorch();

  const RoutingOptions &options;
  CudaSession session;
  std::optional<DeviceTimer> timer;
  CudaRoutingResults results;
};

} // namespace

Status CudaRoutingBench::time(CudaRoutingRow &row, const char *name,
                              const std::function<Status(int64_t)> &run) {
  Expected<DeviceTimes> times = timer->measure(run);
  if (times)
    row.stages.push_back({name, std::move(*times)});
  return times.status();
}

Status CudaRoutingBench::measureRow(CudaRoutingProblem &problem,
                                    CudaRoutingRow &row) {
  Expected<RoutingCheck> check = problem.check();
  if (!check)
    return check.status();
  row.check = *check;
  if (!check->passed())
    return makeError(
        "results of routing with p ", row.p, ": got mean error ",
        check->meanError, ", ", check->wrongBlocks, " wrong blocks of ",
        check->rows, " rows, ", check->wrongRows, " wrong lists, ",
        check->wrongLoads, " wrong loads, ", check->wrongTiles,
        " heads with wrong tiles, expected at most 2e-05, 0, 0, 0 and 0");
  SART_RETURN_IF_ERROR(
      time(row, "pool", [&](int64_t set) { return problem.pool(set); }));
  SART_RETURN_IF_ERROR(
      time(row, "route", [&](int64_t) { return problem.route(); }));
  SART_RETURN_IF_ERROR(
      time(row, "loads", [&](int64_t) { return problem.loads(); }));
  SART_RETURN_IF_ERROR(
      time(row, "order", [&](int64_t) { return problem.order(); }));
  SART_RETURN_IF_ERROR(
      time(row, "together", [&](int64_t set) { return problem.all(set); }));
  std::vector<std::shared_ptr<cuda::CudaGraph>> graphs;
  for (int64_t set = 0; set < options.sets; ++set) {
    SART_RETURN_IF_ERROR(session.stream->beginCapture());
    Status queued = problem.all(set);
    auto graph = session.stream->endCapture();
    SART_RETURN_IF_ERROR(queued);
    if (!graph)
      return graph.status();
    graphs.push_back(*graph);
  }
  return time(row, "graph", [&](int64_t set) {
    return session.stream->launch(
        *graphs[static_cast<size_t>(set % options.sets)]);
  });
}

Status CudaRoutingBench::measureShape(const LayerShape &shape) {
  auto sized = [&](KernelSpec::Kind kind, int64_t block) {
    KernelSpec spec;
    spec.kind = kind;
    spec.dtype = shape.dtype;
    spec.headDim = shape.headDim;
    spec.blockQ = block;
    return spec;
  };
  std::vector<KernelSpec> specs{sized(KernelSpec::Kind::Pool, shape.blockQ),
                                sized(KernelSpec::Kind::Route, shape.blockQ),
                                sized(KernelSpec::Kind::OrderTiles, 0)};
  if (shape.blockK != shape.blockQ)
    specs.push_back(sized(KernelSpec::Kind::Pool, shape.blockK));
  auto build = GpuKernelBuild::make(session.device, specs, options.ptxas,
                                    options.compilations);
  if (!build)
    return build.status();
  results.compiles.push_back(build->figures());
  RoutingSettings settings;
  settings.minBlocks = options.minBlocks;
  settings.spread = options.spread;
  auto problem = CudaRoutingProblem::create(session.stream, shape, settings,
                                            options.sets, options.seed);
  if (!problem)
    return problem.status();
  auto find =
      [&](const std::string &entry) -> Expected<const cuda::CudaFunction *> {
    auto kernel = build->find(entry);
    if (!kernel)
      return kernel.status();
    return kernel->function;
  };
  for (double p : options.ps) {
    llvm::errs() << "measuring " << build->figures().name << " with p "
                 << concat(p) << "\n";
    CudaRoutingRow row;
    row.shape = shape;
    row.p = settings.p = p;
    row.pooledBytes = problem->pooledBytes();
    SART_RETURN_IF_ERROR(problem->prepare(find, settings));
    SART_RETURN_IF_ERROR(measureRow(*problem, row));
    results.rows.push_back(std::move(row));
  }
  return Status::success();
}

Status CudaRoutingBench::measureTorch() {
  if (options.noTorch) {
    results.torchMissing = "--no-torch";
    return Status::success();
  }
  auto torch = TorchBaseline::open(options.python);
  if (!torch) {
    results.torchMissing = torch.message();
    return Status::success();
  }
  llvm::json::Array cases;
  for (const CudaRoutingRow &row : results.rows)
    for (const char *kind : {"pool", "route"}) {
      llvm::json::Object object = attentionCase(row.shape);
      object["kind"] = kind;
      object["p"] = row.p;
      object["min_blocks"] = options.minBlocks;
      cases.push_back(std::move(object));
    }
  llvm::errs() << "measuring PyTorch\n";
  auto measured =
      torch->run(llvm::json::Object{{"preheat_ms", options.preheatMs},
                                    {"launches", options.repetitions},
                                    {"sets", options.sets}},
                 std::move(cases));
  if (!measured) {
    results.torchMissing = measured.message();
    return Status::success();
  }
  results.torch = measured->version;
  for (size_t i = 0; i < results.rows.size(); ++i) {
    results.rows[i].torchPool = measured->rows[2 * i];
    results.rows[i].torchAll = measured->rows[2 * i + 1];
  }
  return Status::success();
}

Expected<CudaRoutingResults> CudaRoutingBench::run() {
  // What is wrong with the options is said on machines without a GPU too.
  SART_RETURN_IF_ERROR(GpuKernelBuild::checkAssembler(options.ptxas));
  auto opened = CudaSession::open();
  if (!opened)
    return opened.status();
  session = std::move(*opened);
  results.device = session.describe();
  TimerOptions how;
  how.launches = options.repetitions;
  how.preheatMs = options.preheatMs;
  how.spacedLaunches = options.spaced;
  auto created = DeviceTimer::create(session.stream, how);
  if (!created)
    return created.status();
  timer = std::move(*created);
  for (DType dtype : options.dtypes)
    for (const BlockSize &block : options.blocks) {
      LayerShape shape;
      shape.heads = options.heads;
      shape.kvHeads = options.kvHeads;
      shape.sq = shape.skv = options.tokens;
      shape.headDim = options.headDim;
      shape.blockQ = block.q;
      shape.blockK = block.k;
      shape.dtype = dtype;
      SART_RETURN_IF_ERROR(shape.verify());
      SART_RETURN_IF_ERROR(measureShape(shape));
    }
  SART_RETURN_IF_ERROR(measureTorch());
  return std::move(results);
}

Expected<CudaRoutingResults>
sart::runCudaRoutingBench(const RoutingOptions &options) {
  return CudaRoutingBench(options).run();
}
