//===- Report.cpp - What the host says and writes -------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Report.h"

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

json layerJson(const LayerRecord &record) {
  const sa_run_stats &stats = record.stats;
  json layer = {{"density", stats.density},
                {"loads", record.loadsBefore},
                {"loads_after", record.loadsAfter},
                {"rho_before", stats.rho_before},
                {"rho_after", stats.rho_after},
                {"moves", stats.moves},
                {"bytes_moved", stats.bytes_moved},
                {"bytes_ulysses", stats.bytes_ulysses},
                {"bytes_routed", stats.bytes_routed},
                {"bytes_dense_ring", stats.bytes_dense_ring},
                {"kept_mass", nullptr},
                {"max_abs_error", nullptr},
                {"psnr", record.psnr},
                {"ms", stats.ms},
                {"tiles", stats.tiles},
                {"kept_pooled_mass", stats.kept_pooled_mass},
                {"near_threshold", stats.near_threshold},
                {"plan_us", stats.plan_us},
                {"plan_hash", format("%016llx", static_cast<unsigned long long>(
                                                    stats.plan_hash))},
                {"layer_ms", record.ms},
                {"check_ms", record.checkMs}};
  if (record.check.rows > 0) {
    layer["kept_mass"] = record.check.keptMass;
    layer["max_abs_error"] = record.check.maxError;
    layer["max_abs_error_bound"] = record.check.bound;
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
                            const std::array<int64_t, 3> &grid) {
  const sa_layer_info &info = denoised.info;
  json steps = json::array();
  double planUs = 0;
  for (const LayerRecord &record : denoised.records) {
    if (record.layer == 0)
      steps.push_back({{"sigma", record.sigma}, {"layers", json::array()}});
    steps.back()["layers"].push_back(layerJson(record));
    planUs += record.stats.plan_us;
  }
  json report = {
      {"schema", 1},
      {"version", sa_version()},
      {"shape",
       {{"heads", info.heads},
        {"kv_heads", info.kv_heads},
        {"sq", info.sq},
        {"skv", info.skv},
        {"head_dim", info.head_dim},
        {"grid", grid},
        {"block", {info.block_q, info.block_k}}}},
      {"mesh", {{"ulysses", info.ulysses}, {"ring", info.ring}}},
      {"options",
       {{"seed", options.seed},
        {"sigma", options.sigma},
        {"shift", options.shift},
        {"p", options.p},
        {"min_blocks", options.minBlocks},
        {"order", options.order},
        {"dtype", options.dtype},
        {"balance", options.balance},
        {"dense_steps", options.denseSteps}}},
      {"sampled_rows_per_head", denoised.rowsPerHead},
      {"psnr_noised", denoised.psnrNoised},
      {"psnr", denoised.records.back().psnr},
      {"cold_jit_ms", info.jit_ms},
      {"plan_us", planUs / static_cast<double>(denoised.records.size())},
      {"ms", denoised.ms},
      {"dense_layer_ms", nullptr},
      {"steps", steps}};
  if (denoised.denseMs > 0)
    report["dense_layer_ms"] = denoised.denseMs;
  return report.dump(2) + "\n";
}

std::string dit::traceJson(const Denoised &denoised) {
  return "[\n" + denoised.trace + "\n]\n";
}
