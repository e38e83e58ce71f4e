//===- Denoiser.cpp - The host: a clip through steps and layers -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Denoiser.h"

#include "LayerText.h"
#include "NpyFile.h"
#include "Report.h"
#include "Support.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

using namespace dit;

namespace {

/// Rows of each head that are compared unless all are.
constexpr int64_t sampledRows = 16;

/// Bound of a wait between ranks. A rank waits for the slowest one's attention,
/// which a busy machine can draw out; a real hang still ends.
constexpr int64_t waitMs = 600000;

int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void require(sa_status status) {
  if (status != SA_OK)
    throw Error(sa_last_error());
}

/// Rows of `channels` numbers, permuted: row i is row permutation[i] of `from`.
std::vector<float> reorder(const std::vector<float> &from,
                           const std::vector<int64_t> &permutation) {
  std::vector<float> to(from.size());
  for (size_t i = 0; i < permutation.size(); ++i)
    std::copy_n(from.begin() + permutation[i] * channels, channels,
                to.begin() + static_cast<int64_t>(i) * channels);
  return to;
}

sa_dtype parseDtype(const std::string &name) {
  return name == "bf16" ? SA_BF16 : name == "fp16" ? SA_F16 : SA_F32;
}

} // namespace

sa_tensor Denoiser::tensor(std::vector<char> &bytes, sa_dtype type,
                           int64_t width) const {
  bytes.resize(
      static_cast<size_t>(options.heads * tokens * width * elementBytes(type)));
  return {bytes.data(),
          type,
          {options.heads, tokens, width},
          {tokens * width, width, 1}};
}

Denoiser::Denoiser(const Options &options, const Latents &given)
    : options(options), clean(given), tokens(given.tokens()),
      threads(options.threads), dtype(parseDtype(options.dtype)),
      permutation(static_cast<size_t>(given.tokens())),
      scheduler(options.sigma, options.shift, options.steps) {
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  require(sa_order_permutation(options.order.c_str(), clean.grid.data(),
                               permutation.data(), tokens));
  sa_engine_options engineOptions = {};
  engineOptions.struct_size = sizeof engineOptions;
  engineOptions.device = options.device.c_str();
  engineOptions.threads = threads;
  engineOptions.timeout_ms = waitMs;
  engineOptions.cache_dir = options.cacheDir.c_str();
  sa_engine *newEngine = nullptr;
  require(sa_engine_create(&engineOptions, &newEngine));
  engine.reset(newEngine);

  layer = createLayer(options.denseSteps, options.verify);
  result.info.struct_size = sizeof result.info;
  require(sa_layer_get_info(layer.get(), &result.info));
  sa_compile_info compileInfo = {};
  compileInfo.struct_size = sizeof compileInfo;
  require(sa_layer_get_compile_info(layer.get(), &compileInfo));
  result.cacheProblem = compileInfo.cache_problem;

  projections = std::make_unique<Projections>(
      static_cast<uint64_t>(options.seed), options.layers, options.heads,
      clean.grid, permutation, threads);
  query = tensor(queryBytes, dtype, headDim);
  value = tensor(valueBytes, dtype, headDim);
  out = tensor(outBytes, dtype, headDim);
  lse = tensor(lseBytes, SA_F32, 1);
  if (options.check != Check::None)
    sample = sampleRows(tokens, options.check == Check::Full ? 0 : sampledRows);
  result.rowsPerHead = static_cast<int64_t>(sample.size());
}

std::string Denoiser::inputFile(const std::vector<char> &bytes) const {
  const char *type = dtype == SA_F32 ? "<f4" : dtype == SA_F16 ? "<f2" : "<u2";
  return npyFile(type, {options.heads, tokens, headDim}, bytes);
}

std::string Denoiser::queriesFile() const { return inputFile(queryBytes); }

std::string Denoiser::valuesFile() const { return inputFile(valueBytes); }

std::unique_ptr<sa_layer, Denoiser::LayerDeleter>
Denoiser::createLayer(int64_t denseSteps, bool verify) {
  std::string text = makeLayerText(options, clean.grid);
  sa_layer_options layerOptions = {};
  layerOptions.struct_size = sizeof layerOptions;
  layerOptions.ulysses = options.ulysses;
  layerOptions.ring = options.ring;
  layerOptions.balance = options.balance.c_str();
  layerOptions.repair = options.repair ? 1 : 0;
  layerOptions.augment = options.augment ? 1 : 0;
  layerOptions.dense_steps = denseSteps;
  layerOptions.check = verify ? 1 : 0;
  layerOptions.dtype = dtype == SA_BF16  ? "bf16"
                       : dtype == SA_F16 ? "f16"
                                         : "f32";
  sa_layer *newLayer = nullptr;
  require(sa_layer_create(engine.get(), text.data(), text.size(), &layerOptions,
                          &newLayer));
  return std::unique_ptr<sa_layer, LayerDeleter>(newLayer);
}

double Denoiser::timeDense() {
  layer.reset(); // its windows would take memory from the other's
  auto dense = createLayer(1, false);
  sa_run_stats stats = {};
  // The first run of a layer makes its windows; one at a later step is sparse.
  for (int64_t step : {1, 0}) {
    sa_run_options runOptions = {};
    runOptions.struct_size = sizeof runOptions;
    runOptions.step = step;
    stats.struct_size = sizeof stats;
    require(sa_layer_run_whole(dense.get(), &query, &query, &value, &out, &lse,
                               &runOptions, &stats));
  }
  if (stats.density < 1)
    fail("density of the dense run", stats.density, "1");
  return stats.ms;
}

double Denoiser::elapsedMs() const {
  return static_cast<double>(nowNs() - startNs) * 1e-6;
}

LayerRecord Denoiser::runLayer(int64_t step, int64_t index,
                               const std::vector<float> &x,
                               std::vector<float> &hidden,
                               const Progress &progress) {
  LayerRecord record;
  record.step = step;
  record.layer = index;
  record.sigma = scheduler.sigma(step);
  double begin = elapsedMs();
  progress.phase("projecting", step, index);
  projections->queries(index, scheduler.sigma(0) / record.sigma, hidden, dtype,
                       query.data);
  projections->values(index, x, static_cast<float>(1 / (1 - record.sigma)),
                      dtype, value.data);
  if (options.verify) {
    // All bits set is a NaN in every type: nothing may be left unwritten.
    std::fill(outBytes.begin(), outBytes.end(), char(-1));
    std::fill(lseBytes.begin(), lseBytes.end(), char(-1));
  }

  progress.phase("attending", step, index);
  double runBegin = elapsedMs();
  sa_run_options runOptions = {};
  runOptions.struct_size = sizeof runOptions;
  runOptions.step = step;
  record.stats.struct_size = sizeof record.stats;
  require(sa_layer_run_whole(layer.get(), &query, &query, &value, &out, &lse,
                             &runOptions, &record.stats));
  int64_t ranks = record.stats.ranks;
  record.loadsBefore.assign(record.stats.loads_before,
                            record.stats.loads_before + ranks);
  record.loadsAfter.assign(record.stats.loads_after,
                           record.stats.loads_after + ranks);
  record.stats.loads_before = record.stats.loads_after = nullptr;

  std::string label = "step " + std::to_string(step + 1) + " layer " +
                      std::to_string(index + 1);
  const char *events = nullptr;
  size_t length = 0;
  require(sa_layer_get_trace(layer.get(), label.c_str(), runBegin * 1e3,
                             &events, &length));
  if (length > 0)
    result.trace +=
        (result.trace.empty() ? "" : ",\n") + std::string(events, length);

  hidden = projections->estimate(index, out.data, dtype);
  record.psnr = psnr(hidden, clean.values, clean.deviation);
  record.ms = elapsedMs() - begin;
  if (!std::isfinite(record.psnr))
    fail("estimate of " + label, "PSNR " + std::to_string(record.psnr),
         "a finite number");

  // Not part of the layer's time: a host without a report does without it.
  require(sa_layer_get_report(layer.get(), &events, &length));
  record.report =
      boundedReport(std::string(events, length),
                    static_cast<size_t>(step * options.layers + index),
                    static_cast<size_t>(options.steps * options.layers));

  if (!sample.empty()) {
    progress.phase("comparing", step, index);
    double checkBegin = elapsedMs();
    record.check =
        checkRows(layer.get(), query, query, value, out, lse, sample);
    record.checkMs = elapsedMs() - checkBegin;
    if (!(record.check.maxError <= record.check.bound))
      fail("largest error of " + label + " against the reference",
           record.check.maxError,
           "at most " + std::to_string(record.check.bound));
  }
  return record;
}

Denoised Denoiser::run(const Progress &progress) {
  startNs = nowNs();
  progress.compiled(result);
  std::vector<float> x =
      reorder(scheduler.noised(clean, static_cast<uint64_t>(options.seed)),
              permutation);
  clean.values = reorder(clean.values, permutation);
  for (int64_t step = 0; step < scheduler.steps(); ++step) {
    double sigma = scheduler.sigma(step);
    // The first layer's guide is the noised clip, the next one's the estimate.
    std::vector<float> hidden(x);
    for (float &number : hidden)
      number *= static_cast<float>(1 / (1 - sigma));
    if (step == 0)
      result.psnrNoised = psnr(hidden, clean.values, clean.deviation);
    for (int64_t index = 0; index < options.layers; ++index) {
      LayerRecord record = runLayer(step, index, x, hidden, progress);
      progress.layer(record);
      result.records.push_back(std::move(record));
    }
    scheduler.advance(x, hidden, step);
  }
  const char *text = nullptr;
  size_t length = 0;
  require(sa_layer_get_plan(layer.get(), &text, &length));
  result.plan.assign(text, length);
  require(sa_layer_get_program(layer.get(), &text, &length));
  result.program.assign(text, length);
  if (options.check != Check::None && options.denseSteps == 0) {
    progress.phase("attending densely", scheduler.steps() - 1,
                   options.layers - 1);
    result.denseMs = timeDense();
  }
  result.ms = elapsedMs();
  return std::move(result);
}
