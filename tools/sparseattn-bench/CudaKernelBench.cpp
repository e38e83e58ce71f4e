//===- CudaKernelBench.cpp - sparseattn-bench kernels on a GPU ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaKernelBench.h"

#include "ChildProcess.h"
#include "CublasLibrary.h"
#include "CudaSession.h"
#include "TemporaryFolder.h"

#include "sparseattn-rt/TraceFile.h"

#include "llvm/Support/raw_ostream.h"

using namespace sart;
using mlir::sparseattn::TemporaryFolder;
using mlir::sparseattn::writeWhole;

namespace {

/// Lists of one row of the report.
struct ListChoice {
  std::string name;
  BlockLists lists;
};

class CudaKernelBench {
public:
  explicit CudaKernelBench(const KernelOptions &options) : options(options) {}
  Expected<CudaKernelResults> run();

private:
  Status openBaselines();
  Status measureProduct(DType dtype);
  LayerShape shapeOf(const BlockSize &block, DType dtype) const;
  Expected<std::vector<ListChoice>> choices(const LayerShape &shape) const;
  Status measureKernel(CudaKernelProblem &problem, const LayerShape &shape);
  Status measureRow(CudaKernelProblem &problem,
                    const GpuKernelBuild::Kernel &kernel,
                    const ListChoice &choice, CudaKernelRow &row);
  Status measureTorch();

  const KernelOptions &options;
  CudaSession session;
  std::optional<DeviceTimer> timer;
  std::optional<TorchBaseline> torch;
  std::unique_ptr<CublasLibrary> cublas;
  std::optional<TraceFile> trace;
  std::optional<TemporaryFolder> folder;
  CudaKernelResults results;
};

} // namespace

static void progress(const std::string &text) { llvm::errs() << text << "\n"; }

LayerShape CudaKernelBench::shapeOf(const BlockSize &block, DType dtype) const {
  LayerShape shape;
  shape.heads = options.heads;
  shape.kvHeads = options.kvHeads;
  shape.sq = options.tokens;
  shape.skv = options.kvTokens;
  shape.headDim = options.headDim;
  shape.blockQ = block.q;
  shape.blockK = block.k;
  shape.dtype = dtype;
  return shape;
}

Status CudaKernelBench::openBaselines() {
  if (!options.noTorch) {
    auto opened = TorchBaseline::open(options.python);
    if (opened)
      torch = std::move(*opened);
    else
      results.torchMissing = opened.message();
  } else {
    results.torchMissing = "--no-torch";
  }
  auto library = CublasLibrary::open(options.cublas, session.stream);
  if (!library && options.cublas.empty() && torch)
    if (std::string path = torch->cublas(); !path.empty())
      library = CublasLibrary::open(path, session.stream);
  if (library) {
    cublas = std::move(*library);
    results.cublas = cublas->version();
  } else if (!options.cublas.empty()) {
    return library.status();
  } else {
    results.cublasMissing = library.message();
  }
  return Status::success();
}

Status CudaKernelBench::measureProduct(DType dtype) {
  if (!cublas)
    return Status::success();
  // One head with n columns: tensors q, k and v are the matrices.
  LayerShape shape;
  shape.sq = shape.skv = shape.headDim = options.product;
  shape.dtype = dtype;
  auto matrices = CudaKernelProblem::create(session.stream, shape, options.sets,
                                            options.seed);
  if (!matrices)
    return matrices.status();
  Expected<DeviceTimes> times = timer->measure([&](int64_t set) {
    return cublas->product(options.product, dtype, matrices->input(set, 0),
                           matrices->input(set, 1), matrices->result());
  });
  if (!times)
    return times.status();
  CudaBaselineRow row;
  row.name = "cublas";
  row.dtype = std::string(toString(dtype));
  auto n = static_cast<double>(options.product);
  row.flops = 2 * n * n * n;
  row.times = baselineTimes(*times);
  results.baselines.push_back(row);
  return Status::success();
}

Expected<std::vector<ListChoice>>
CudaKernelBench::choices(const LayerShape &shape) const {
  std::vector<ListChoice> result;
  auto seed = static_cast<uint64_t>(options.seed);
  if (trace) {
    if (trace->heads != shape.heads || trace->tokens != shape.sq ||
        trace->tokens != shape.skv || trace->tileQ != shape.blockQ ||
        trace->tileK != shape.blockK)
      return makeError("--trace: got masks of ", trace->heads, " heads x ",
                       trace->tokens, " tokens in blocks of ", trace->tileQ,
                       "x", trace->tileK, ", expected ", shape.heads, " x ",
                       shape.sq, " (keys ", shape.skv, ") in blocks of ",
                       shape.blockQ, "x", shape.blockK);
    Expected<BlockMask> mask = trace->mask(options.instance);
    if (!mask)
      return makeError("--trace: ", mask.message());
    result.push_back({"trace", BlockLists::of(shape, *mask)});
  }
  for (int64_t count : options.rowBlocks)
    result.push_back(
        {concat(count, " a row"), BlockLists::fixedCount(shape, count, seed)});
  for (double density : options.densities)
    result.push_back(
        {concat(density), BlockLists::random(shape, density, seed)});
  return result;
}

Status CudaKernelBench::measureRow(CudaKernelProblem &problem,
                                   const GpuKernelBuild::Kernel &kernel,
                                   const ListChoice &choice,
                                   CudaKernelRow &row) {
  auto launch = [&](int64_t set) {
    return problem.launch(*kernel.function, kernel.how, set);
  };
  auto checked = [&](const BlockLists &lists, int64_t set, bool everywhere,
                     DeviceCheck &check) -> Status {
    Expected<DeviceCheck> found = problem.check(lists, set, everywhere);
    if (!found)
      return found.status();
    check = *found;
    if (check.passed())
      return Status::success();
    return makeError("results of ", row.kernel, " over lists ", row.lists,
                     ": got relative error ", check.relative, ", lse error ",
                     check.lseError, ", ", check.wrongEmpty,
                     " wrong empty rows, ", check.notWritten,
                     " elements that are no numbers, expected at most ",
                     check.relativeBound, ", ", check.lseBound, ", 0 and 0");
  };
  // Poisoned results, another input set than the timed launches end with.
  BlockLists withEmpty = choice.lists.withEmptyRows();
  SART_RETURN_IF_ERROR(problem.useLists(withEmpty));
  SART_RETURN_IF_ERROR(problem.poison());
  SART_RETURN_IF_ERROR(launch(options.sets - 1));
  SART_RETURN_IF_ERROR(
      checked(withEmpty, options.sets - 1, true, row.emptyRows));

  SART_RETURN_IF_ERROR(problem.useLists(choice.lists));
  SART_RETURN_IF_ERROR(problem.poison());
  int64_t last = 0;
  Expected<DeviceTimes> times = timer->measure([&](int64_t set) {
    last = set;
    return launch(set);
  });
  if (!times)
    return times.status();
  row.times = std::move(*times);
  return checked(choice.lists, last, true, row.timed);
}

Status CudaKernelBench::measureKernel(CudaKernelProblem &problem,
                                      const LayerShape &shape) {
  KernelSpec spec;
  spec.dtype = spec.outDtype = shape.dtype;
  spec.headDim = shape.headDim;
  spec.blockQ = shape.blockQ;
  spec.blockK = shape.blockK;
  auto build = GpuKernelBuild::make(session.device, {spec}, options.ptxas,
                                    options.compilations);
  if (!build)
    return build.status();
  results.compiles.push_back(build->figures());
  auto kernel = build->find(spec);
  if (!kernel)
    return kernel.status();
  auto lists = choices(shape);
  if (!lists)
    return lists.status();
  for (const ListChoice &choice : *lists) {
    progress(concat("measuring ", spec.name(), " over lists ", choice.name));
    CudaKernelRow row;
    row.kernel = spec.name();
    row.shape = shape;
    row.lists = choice.name;
    row.density = choice.lists.density();
    row.flops = choice.lists.usefulFlops();
    SART_RETURN_IF_ERROR(measureRow(problem, *kernel, choice, row));
    if (torch && !options.noFlex) {
      row.maskFile = folder->file(concat("mask", results.rows.size()));
      std::vector<uint8_t> bits = choice.lists.bits();
      if (llvm::Error error = writeWhole(
              row.maskFile,
              llvm::StringRef(reinterpret_cast<const char *>(bits.data()),
                              bits.size())))
        return makeError(llvm::toString(std::move(error)));
    }
    results.rows.push_back(std::move(row));
  }
  return Status::success();
}

Status CudaKernelBench::measureTorch() {
  if (!torch)
    return Status::success();
  llvm::json::Array cases;
  std::vector<CudaBaselineRow> rows;
  auto add = [&](llvm::json::Object object, CudaBaselineRow row,
                 const char *kind) {
    object["kind"] = kind;
    cases.push_back(std::move(object));
    rows.push_back(std::move(row));
  };
  for (DType dtype : options.dtypes) {
    std::string type(toString(dtype));
    auto n = static_cast<double>(options.product);
    add(llvm::json::Object{{"dtype", type}, {"n", options.product}},
        {"torch.mm", type, "", 2 * n * n * n, {}}, "matmul");
    LayerShape shape = shapeOf({128, 128}, dtype);
    double flops = 4.0 * static_cast<double>(shape.heads) *
                   static_cast<double>(shape.sq) *
                   static_cast<double>(shape.skv * shape.headDim);
    add(attentionCase(shape), {"cudnn", type, "dense", flops, {}}, "cudnn");
  }
  for (const CudaKernelRow &measured : results.rows) {
    if (measured.maskFile.empty())
      continue;
    llvm::json::Object object = attentionCase(measured.shape);
    object["mask"] = measured.maskFile;
    add(std::move(object),
        {concat("flex ", measured.shape.blockQ, "x", measured.shape.blockK),
         std::string(toString(measured.shape.dtype)),
         measured.lists,
         measured.flops,
         {}},
        "flex");
  }
  progress("measuring PyTorch");
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
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].times = measured->rows[i];
    results.baselines.push_back(std::move(rows[i]));
  }
  return Status::success();
}

Expected<CudaKernelResults> CudaKernelBench::run() {
  // What is wrong with the options is said on machines without a GPU too.
  SART_RETURN_IF_ERROR(GpuKernelBuild::checkAssembler(options.ptxas));
  for (const BlockSize &block : options.blocks)
    SART_RETURN_IF_ERROR(shapeOf(block, DType::BF16).verify());
  if (!options.trace.empty()) {
    Expected<TraceFile> read = TraceFile::read(options.trace);
    if (!read)
      return makeError("--trace: ", read.message());
    trace = std::move(*read);
  }
  auto opened = CudaSession::open();
  if (!opened)
    return opened.status();
  session = std::move(*opened);
  results.device = session.describe();
  auto temporary = TemporaryFolder::create("bench");
  if (!temporary)
    return makeError(llvm::toString(temporary.takeError()));
  folder.emplace(std::move(*temporary));
  TimerOptions how;
  how.launches = options.repetitions;
  how.preheatMs = options.preheatMs;
  how.spacedLaunches = options.spaced;
  auto created = DeviceTimer::create(session.stream, how);
  if (!created)
    return created.status();
  timer = std::move(*created);
  SART_RETURN_IF_ERROR(openBaselines());
  for (DType dtype : options.dtypes) {
    SART_RETURN_IF_ERROR(measureProduct(dtype));
    auto problem = CudaKernelProblem::create(
        session.stream, shapeOf(options.blocks.front(), dtype), options.sets,
        options.seed);
    if (!problem)
      return problem.status();
    for (const BlockSize &block : options.blocks)
      SART_RETURN_IF_ERROR(measureKernel(*problem, shapeOf(block, dtype)));
  }
  SART_RETURN_IF_ERROR(measureTorch());
  return std::move(results);
}

Expected<CudaKernelResults>
sart::runCudaKernelBench(const KernelOptions &options) {
  return CudaKernelBench(options).run();
}
