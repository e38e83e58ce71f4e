//===- sparseattn-run.cpp - Compiles and runs one layer -------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Arrays.h"
#include "Check.h"
#include "CommandLine.h"
#include "Handles.h"
#include "Inputs.h"
#include "KernelText.h"
#include "Launch.h"
#include "LayerText.h"
#include "Report.h"
#include "RunOptions.h"
#include "Summary.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

using namespace sart;

namespace {

NpzArray archived(const HostTensor &tensor) {
  return toArray(tensor.dtype, {tensor.shape.begin(), tensor.shape.end()},
                 tensor.data);
}

/// One invocation, in the order of its steps.
class Run {
public:
  explicit Run(const CommandOptions &options) : options(options) {}
  Status execute();
  /// Of the layer; compiles it.
  Expected<int64_t> ranks();

private:
  Status loadInputFile();
  Status createLayer();
  Status matchInputs();
  Status run();
  Status checkRange();
  Status check();
  Status writeOutputs();
  Status writeReports();
  std::string chosenDType() const;

  const CommandOptions &options;
  /// Where rank 0 is: over processes, the others say and write nothing.
  bool speaks = true;
  EngineHandle engine;
  LayerHandle layer;
  sa_layer_info info = {};
  sa_compile_info compileInfo = {};
  RunInputs inputs;
  HostTensor out, lse;
  DType outputDType = DType::F32; ///< of the written `out`: the inputs'
  sa_run_stats stats = {};
  CheckResult checkResult;
};

Status Run::execute() {
  SART_RETURN_IF_ERROR(loadInputFile());
  if (options.attend && options.device == "cuda")
    SART_RETURN_IF_ERROR(checkAttendOnGpu(options, inputs));
  SART_RETURN_IF_ERROR(createLayer());
  const char *choice = nullptr;
  size_t length = 0;
  if (sa_layer_get_choice(layer.get(), &choice, &length) != SA_OK)
    return lastError();
  if (speaks)
    std::fwrite(choice, 1, length, stdout);
  if (*compileInfo.notice && speaks)
    std::fprintf(stderr, "notice: %s\n", compileInfo.notice);
  if (options.compileOnly) {
    std::printf("compiled   %lld ranks, jit %.1f ms\n", (long long)info.ranks,
                info.jit_ms);
    printKernels(compileInfo);
    return Status::success();
  }
  // Its results are right, and every start will be a cold one.
  if (*compileInfo.cache_problem && speaks)
    std::fprintf(stderr, "%s\n", compileInfo.cache_problem);
  SART_RETURN_IF_ERROR(matchInputs());
  SART_RETURN_IF_ERROR(run());
  if (!speaks)
    return Status::success();
  SART_RETURN_IF_ERROR(checkRange());
  if (options.check)
    SART_RETURN_IF_ERROR(check());
  SART_RETURN_IF_ERROR(writeOutputs());
  std::fputs(
      makeSummary(info, stats, options.check ? &checkResult : nullptr).c_str(),
      stdout);
  if (options.explain) {
    Expected<std::string> text = explainRun(layer.get(), options.machineText);
    if (!text)
      return text.status();
    std::fwrite(text->data(), 1, text->size(), stdout);
  }
  if (options.check && !checkResult.passed())
    return makeError("largest error against the reference: got ",
                     checkResult.maxError, " and ", checkResult.maxLseError,
                     " of lse, expected at most ", checkResult.bound, " and ",
                     checkResult.lseBound);
  return Status::success();
}

Expected<int64_t> Run::ranks() {
  SART_RETURN_IF_ERROR(loadInputFile());
  SART_RETURN_IF_ERROR(createLayer());
  return info.ranks;
}

Status Run::loadInputFile() {
  if (options.inputs.empty())
    return Status::success();
  Expected<RunInputs> loaded = loadInputs(options.inputs);
  if (!loaded)
    return loaded.status();
  inputs = std::move(*loaded);
  if (options.attend && inputs.hasMask) {
    const HostTensor &q = inputs.q, &k = inputs.k;
    std::array<int64_t, 3> expected = {
        q.shape[0], (q.shape[1] + options.blockQ - 1) / options.blockQ,
        (k.shape[1] + options.blockK - 1) / options.blockK};
    if (inputs.maskShape != expected)
      return makeError("shape of array 'mask': got [", inputs.maskShape[0],
                       ", ", inputs.maskShape[1], ", ", inputs.maskShape[2],
                       "], expected [", expected[0], ", ", expected[1], ", ",
                       expected[2], "] for blocks of ", options.blockQ, "x",
                       options.blockK);
  }
  return Status::success();
}

/// The element type that runs: --dtype, else the inputs', else the text's.
/// Empty: the text's, which a GPU rounds from f32, and says so.
std::string Run::chosenDType() const {
  if (!options.dtype.empty())
    return options.dtype;
  if (options.inputs.empty() || !options.program.empty())
    return "";
  if (options.device == "cuda" && inputs.q.dtype == DType::F32)
    return "";
  return std::string(toString(inputs.q.dtype));
}

Status Run::createLayer() {
  sa_engine_options engineOptions = {};
  engineOptions.struct_size = sizeof engineOptions;
  engineOptions.device = options.device.c_str();
  engineOptions.threads = options.threads;
  engineOptions.timeout_ms = options.timeoutMs;
  engineOptions.cache_dir = options.cacheDir.c_str();
  engineOptions.cache_max_bytes = options.cacheMaxMib << 20;
  engineOptions.ptxas = options.ptxas.c_str();
  engineOptions.compile_only = options.compileOnly;
  engineOptions.transport = options.transport.c_str();
  sa_engine *createdEngine = nullptr;
  if (sa_engine_create(&engineOptions, &createdEngine) != SA_OK)
    return lastError();
  engine.reset(createdEngine);
  sa_engine_info engineInfo = {};
  engineInfo.struct_size = sizeof engineInfo;
  if (sa_engine_get_info(engine.get(), &engineInfo) != SA_OK)
    return lastError();
  speaks = engineInfo.rank == 0;

  sa_layer_options layerOptions = {};
  layerOptions.struct_size = sizeof layerOptions;
  layerOptions.ulysses = options.ulysses;
  layerOptions.ring = options.ring;
  layerOptions.balance =
      options.balance.empty() ? nullptr : options.balance.c_str();
  if (options.program.empty() && !options.machineText.empty()) {
    layerOptions.machine = options.machineText.data();
    layerOptions.machine_size = options.machineText.size();
    layerOptions.auto_ranks = options.autoRanks;
  }
  layerOptions.repair = options.repair;
  layerOptions.augment = options.augment;
  layerOptions.check = options.check;
  std::string dtype = chosenDType();
  layerOptions.dtype = dtype.empty() ? nullptr : dtype.c_str();
  if (inputs.hasMask) {
    layerOptions.mask = inputs.mask.data();
    layerOptions.mask_size = inputs.mask.size();
  }
  sa_layer *created = nullptr;
  if (!options.program.empty()) {
    Expected<std::string> program = readTextFile("--program", options.program);
    if (!program)
      return program.status();
    if (inputs.hasMask)
      return makeError("array 'mask' with --program: got one, expected none: "
                       "the program has its mask in it");
    if (sa_layer_create_from_program(engine.get(), program->data(),
                                     program->size(), &layerOptions,
                                     &created) != SA_OK)
      return makeError("--program ", options.program, ": ", sa_last_error());
  } else {
    std::string text = options.attend ? makeAttendLayer(options, inputs) : "";
    if (!options.attend) {
      Expected<std::string> file = readTextFile("layer", options.layerPath);
      if (!file)
        return file.status();
      text = std::move(*file);
    }
    if (sa_layer_create(engine.get(), text.data(), text.size(), &layerOptions,
                        &created) != SA_OK)
      return options.attend
                 ? lastError()
                 : makeError(options.layerPath, ": ", sa_last_error());
  }
  layer.reset(created);
  info.struct_size = sizeof info;
  compileInfo.struct_size = sizeof compileInfo;
  if (sa_layer_get_info(layer.get(), &info) != SA_OK ||
      sa_layer_get_compile_info(layer.get(), &compileInfo) != SA_OK)
    return lastError();
  if (!options.plan.empty()) {
    Expected<std::string> plan = readTextFile("--plan", options.plan);
    if (!plan)
      return plan.status();
    if (sa_layer_set_plan(layer.get(), plan->data(), plan->size()) != SA_OK)
      return makeError("--plan ", options.plan, ": ", sa_last_error());
  }
  return Status::success();
}

Status Run::matchInputs() {
  DType dtype = static_cast<DType>(info.dtype);
  if (options.inputs.empty()) {
    int64_t seed = std::max<int64_t>(options.seed, 0);
    if (speaks)
      std::printf("inputs     normal random, seed %lld\n", (long long)seed);
    inputs = randomInputs(info, dtype, seed);
  }
  auto expect = [&](const char *name, const HostTensor &tensor, int64_t heads,
                    int64_t tokens) {
    std::array<int64_t, 3> expected = {heads, tokens, info.head_dim};
    if (tensor.shape != expected)
      return makeError("shape of array '", name,
                       "' must equal the layer's: got [", tensor.shape[0], ", ",
                       tensor.shape[1], ", ", tensor.shape[2], "], expected [",
                       heads, ", ", tokens, ", ", info.head_dim, "]");
    return Status::success();
  };
  SART_RETURN_IF_ERROR(expect("q", inputs.q, info.heads, info.sq));
  SART_RETURN_IF_ERROR(expect("k", inputs.k, info.kv_heads, info.skv));
  SART_RETURN_IF_ERROR(expect("v", inputs.v, info.kv_heads, info.skv));
  outputDType = inputs.q.dtype;
  if (inputs.q.dtype != dtype) {
    if (speaks)
      std::printf("inputs     rounded from %s to %s\n",
                  std::string(toString(inputs.q.dtype)).c_str(),
                  std::string(toString(dtype)).c_str());
    for (auto [name, tensor] :
         {std::pair<const char *, HostTensor *>{"q", &inputs.q},
          {"k", &inputs.k},
          {"v", &inputs.v}}) {
      *tensor = tensor->converted(dtype);
      SART_RETURN_IF_ERROR(
          checkFinite(concat(name, " rounded to ", toString(dtype)),
                      archived(*tensor), dtype));
    }
  }
  return Status::success();
}

/// Scores and sums outside of fp32 would otherwise pass for results, or for
/// empty rows.
Status Run::checkRange() {
  SART_RETURN_IF_ERROR(checkFinite("out", archived(out), out.dtype));
  if (info.causal || info.permuted || info.q_blocks * info.kv_blocks == 0)
    return Status::success();
  std::vector<uint8_t> mask(
      static_cast<size_t>(info.heads * info.q_blocks * info.kv_blocks));
  if (sa_layer_get_mask(layer.get(), mask.data(), mask.size()) != SA_OK)
    return lastError();
  for (int64_t head = 0; head < info.heads; ++head)
    for (int64_t row = 0; row < info.sq; ++row) {
      const uint8_t *blocks =
          mask.data() +
          (head * info.q_blocks + row / info.block_q) * info.kv_blocks;
      float value =
          loadAsFloat(lse.data.data(), lse.dtype, head * info.sq + row);
      if (!std::isfinite(value) &&
          std::any_of(blocks, blocks + info.kv_blocks,
                      [](uint8_t bit) { return bit != 0; }))
        return makeError("lse of head ", head, " row ", row, ": got ", value,
                         " in a row with keys, expected scale * (q . k) within "
                         "fp32");
    }
  return Status::success();
}

Status Run::run() {
  DType dtype = static_cast<DType>(info.dtype);
  out = HostTensor::zeros(dtype, {info.heads, info.sq, info.head_dim});
  lse = HostTensor::zeros(DType::F32, {info.heads, info.sq, 1});
  // What the run leaves unwritten must be seen.
  for (int64_t i = 0, e = out.elements(); i < e; ++i)
    storeFromFloat(out.data.data(), dtype, i,
                   std::numeric_limits<float>::quiet_NaN());
  sa_tensor q = inputs.q.view(), k = inputs.k.view(), v = inputs.v.view();
  sa_tensor o = out.view(), l = lse.view();
  stats.struct_size = sizeof stats;
  if (sa_layer_run_whole(layer.get(), &q, &k, &v, &o, &l, nullptr, &stats) !=
      SA_OK)
    return lastError();
  return Status::success();
}

Status Run::check() {
  constexpr int64_t sampledRows = 16;
  Expected<CheckResult> result =
      checkAgainstReference(layer.get(), info, inputs, out, lse,
                            options.checkMode == "full" ? 0 : sampledRows);
  if (!result)
    return result.status();
  checkResult = *result;
  return Status::success();
}

Status Run::writeOutputs() {
  if (!options.outputs.empty()) {
    NpzArchive archive;
    archive["out"] = toArray(outputDType, {info.heads, info.sq, info.head_dim},
                             out.converted(outputDType).data);
    archive["lse"] = toArray(DType::F32, {info.heads, info.sq}, lse.data);
    SART_RETURN_IF_ERROR(writeNpz(options.outputs, archive));
  }
  const char *text = nullptr;
  size_t length = 0;
  if (!options.savePlan.empty()) {
    if (sa_layer_get_plan(layer.get(), &text, &length) != SA_OK)
      return lastError();
    SART_RETURN_IF_ERROR(writeFileAtomically(options.savePlan, text, length));
  }
  if (!options.saveProgram.empty()) {
    if (sa_layer_get_program(layer.get(), &text, &length) != SA_OK)
      return lastError();
    SART_RETURN_IF_ERROR(
        writeFileAtomically(options.saveProgram, text, length));
  }
  if (!options.trace.empty()) {
    if (sa_layer_get_trace(layer.get(), "layer", 0, &text, &length) != SA_OK)
      return lastError();
    std::string trace = "[" + std::string(text, length) + "]\n";
    SART_RETURN_IF_ERROR(
        writeFileAtomically(options.trace, trace.data(), trace.size()));
  }
  return writeReports();
}

Status Run::writeReports() {
  if (options.report.empty() && options.reportHtml.empty())
    return Status::success();
  std::string title = !options.program.empty() ? options.program
                      : options.attend         ? "--attend " + options.inputs
                                               : options.layerPath;
  Expected<std::string> report =
      makeReport(layer.get(), compileInfo, title.substr(title.rfind('/') + 1),
                 options.check ? &checkResult : nullptr);
  if (!report)
    return report.status();
  if (!options.report.empty())
    SART_RETURN_IF_ERROR(
        writeFileAtomically(options.report, report->data(), report->size()));
  if (options.reportHtml.empty())
    return Status::success();
  Expected<std::string> page = makeReportPage(*report);
  if (!page)
    return page.status();
  return writeFileAtomically(options.reportHtml, page->data(), page->size());
}

} // namespace

int main(int argc, char **argv) {
  return runTool([&] {
    CommandOptions options;
    std::string helpText;
    if (Status status = parseOptions(argc, argv, options, helpText);
        !status.ok())
      return reportError(status);
    if (options.help) {
      std::fputs(helpText.c_str(), stdout);
      return finishOutput();
    }
    if (options.transport == "mpi" && !options.compileOnly && !isLaunched()) {
      CommandOptions compile = options;
      compile.compileOnly = true;
      return reportError(
          launchByMpi(options, argv, [&] { return Run(compile).ranks(); }));
    }
    // What went wrong is said before the process takes leave of the others.
    Run run(options);
    if (Status status = run.execute(); !status.ok())
      return reportError(status);
    return finishOutput();
  });
}
