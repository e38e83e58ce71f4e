//===- Report.cpp - What the host says and writes -------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Report.h"

#include "Support.h"

#include <nlohmann/json.hpp>

#include <cstdio>

using namespace dit;
using nlohmann::json;

namespace {

std::string listText(const std::vector<int64_t> &values) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : " ") + std::to_string(value);
  return text;
}

std::string megabytes(int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MB",
                static_cast<double>(bytes) * 1e-6);
  return text;
}

template <typename... Values>
std::string format(const char *pattern, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

/// Runs whose mask and timeline are reported; of more, evenly spread ones.
constexpr size_t detailedRuns = 16;

bool isDetailed(size_t run, size_t runs) {
  if (runs <= detailedRuns)
    return true;
  // The run that the nearest of the evenly spread places falls on.
  size_t place = (run * (detailedRuns - 1) + runs - 2) / (runs - 1);
  return place * (runs - 1) / (detailedRuns - 1) == run;
}

/// What the library says of a run, and what only the host knows.
json layerJson(json layer, const LayerRecord &record) {
  layer["psnr"] = record.psnr;
  layer["layer_ms"] = record.ms;
  layer["check_ms"] = record.checkMs;
  if (record.check.rows > 0) {
    layer["kept_mass"] = record.check.keptMass;
    layer["max_abs_error"] = record.check.maxError;
    layer["max_abs_error_bound"] = record.check.bound;
    layer["rows_checked"] = record.check.rows;
    layer["check_passed"] = record.check.maxError <= record.check.bound;
  }
  return layer;
}

} // namespace

std::string dit::layerText(const LayerRecord &record, const Options &options) {
  const sa_run_stats &stats = record.stats;
  int64_t index = record.step * options.layers + record.layer + 1;
  std::string text =
      "[" + std::to_string(index) + "/" +
      std::to_string(options.steps * options.layers) + "] step " +
      std::to_string(record.step + 1) + " layer " +
      std::to_string(record.layer + 1) +
      format("  sigma %.3f  density %.3f  rho %.3f -> %.3f  PSNR "
             "%.2f dB  %.0f ms\n",
             record.sigma, stats.density, stats.rho_before, stats.rho_after,
             record.psnr, stats.ms);
  text += "      load " + listText(record.loadsBefore) + " -> " +
          listText(record.loadsAfter) + " tiles, " +
          std::to_string(stats.moves) + " moves; bytes moved " +
          megabytes(stats.bytes_moved) + ", exchanged " +
          megabytes(stats.bytes_ulysses) + ", routed " +
          megabytes(stats.bytes_routed) + " (dense ring " +
          megabytes(stats.bytes_dense_ring) + ")\n";
  if (record.check.rows > 0)
    text +=
        format("      kept softmax mass %.4f, largest error %.2e (bound "
               "%.1e) over %lld rows\n",
               record.check.keptMass, record.check.maxError, record.check.bound,
               static_cast<long long>(record.check.rows));
  return text;
}

std::string dit::summaryText(const Denoised &denoised) {
  double before = 0, after = 0, runMs = 0, checkMs = 0, planUs = 0;
  for (const LayerRecord &record : denoised.records) {
    before += record.stats.rho_before;
    after += record.stats.rho_after;
    runMs += record.stats.ms;
    checkMs += record.checkMs;
    planUs += record.stats.plan_us;
  }
  double count = static_cast<double>(denoised.records.size());
  std::string dense;
  if (denoised.denseMs > 0)
    dense =
        format("dense attention of one layer takes %.2f s, sparse %.2f s on "
               "average: %.1f times faster\n",
               denoised.denseMs * 1e-3, runMs / count * 1e-3,
               denoised.denseMs * count / runMs);
  return format("PSNR %.2f -> %.2f dB; rho %.3f -> %.3f on average, %.0f us a "
                "plan\n",
                denoised.psnrNoised, denoised.records.back().psnr,
                before / count, after / count, planUs / count) +
         format("%.1f s: attention %.1f s, comparing with the reference %.1f "
                "s; compiled in %.0f ms\n",
                denoised.ms * 1e-3, runMs * 1e-3, checkMs * 1e-3,
                denoised.info.jit_ms) +
         dense;
}

std::string dit::reportJson(const Denoised &denoised, const Options &options,
                            const std::array<int64_t, 3> &grid,
                            const std::string &title) {
  json report, steps = json::array();
  double planUs = 0;
  for (const LayerRecord &record : denoised.records) {
    json one = json::parse(record.report);
    json layer = layerJson(one["steps"][0]["layers"][0], record);
    if (record.layer == 0)
      steps.push_back({{"sigma", record.sigma}, {"layers", json::array()}});
    steps.back()["layers"].push_back(std::move(layer));
    planUs += record.stats.plan_us;
    // The layer is the same one in every run.
    one.erase("steps");
    report = std::move(one);
  }
  report["title"] = title;
  report["shape"]["grid"] = grid;
  report["options"] = {{"seed", options.seed},
                       {"sigma", options.sigma},
                       {"shift", options.shift},
                       {"p", options.p},
                       {"min_blocks", options.minBlocks},
                       {"order", options.order},
                       {"device", options.device},
                       {"dtype", options.dtype},
                       {"balance", options.balance},
                       {"repair", options.repair},
                       {"augment", options.augment},
                       {"dense_steps", options.denseSteps}};
  report["sampled_rows_per_head"] = denoised.rowsPerHead;
  report["psnr_noised"] = denoised.psnrNoised;
  report["psnr"] = denoised.records.back().psnr;
  report["plan_us"] = planUs / static_cast<double>(denoised.records.size());
  report["ms"] = denoised.ms;
  report["dense_layer_ms"] = nullptr;
  if (denoised.denseMs > 0)
    report["dense_layer_ms"] = denoised.denseMs;
  report["steps"] = std::move(steps);
  return report.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string dit::boundedReport(const std::string &report, size_t run,
                               size_t runs) {
  if (isDetailed(run, runs))
    return report;
  json whole = json::parse(report);
  for (const char *part : {"mask", "timeline"})
    whole["steps"][0]["layers"][0].erase(part);
  return whole.dump();
}

std::string dit::reportPage(const std::string &json) {
  const char *page = nullptr;
  size_t length = 0;
  if (sa_report_html(json.data(), json.size(), &page, &length) != SA_OK)
    throw Error(sa_last_error());
  return std::string(page, length);
}

std::string dit::traceJson(const Denoised &denoised) {
  return "[\n" + denoised.trace + "\n]\n";
}
