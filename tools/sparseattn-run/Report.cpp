//===- Report.cpp - report.json of one layer ------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Report.h"

#include <nlohmann/json.hpp>

using namespace sart;
using nlohmann::json;

/// Times of compiling and what the cache on disk had to do with it.
static json compileJson(const sa_compile_info &compile) {
  json kernels = json::array();
  bool warm = compile.kernel_count > 0;
  for (int64_t i = 0; i < compile.kernel_count; ++i) {
    const sa_kernel_info &kernel = compile.kernels[i];
    bool cached = kernel.source == SA_KERNEL_CACHED;
    warm = warm && cached;
    kernels.push_back(
        {{"name", kernel.name}, {"key", kernel.key}, {"cached", cached}});
  }
  return {{"engine_ms", compile.engine_ms},
          {"ms", compile.compile_ms},
          {"kernel_ms", compile.kernel_ms},
          {"warm", warm},
          {"kernels", kernels},
          {"cache",
           {{"folder", compile.cache_dir},
            {"hits", compile.cache_hits},
            {"misses", compile.cache_misses},
            {"ignored", compile.cache_ignored},
            {"stored", compile.cache_stored},
            {"removed", compile.cache_removed},
            {"problem", compile.cache_problem}}}};
}

std::string sart::makeReport(const sa_layer_info &info,
                             const sa_compile_info &compile,
                             const sa_run_stats &stats,
                             const CheckResult *check) {
  std::vector<int64_t> before(stats.loads_before,
                              stats.loads_before + stats.ranks);
  std::vector<int64_t> after(stats.loads_after,
                             stats.loads_after + stats.ranks);
  json layer = {{"density", stats.density},
                {"loads", before},
                {"loads_after", after},
                {"rho_before", stats.rho_before},
                {"rho_after", stats.rho_after},
                {"moves", stats.moves},
                {"bytes_moved", stats.bytes_moved},
                {"bytes_ulysses", stats.bytes_ulysses},
                {"bytes_routed", stats.bytes_routed},
                {"bytes_dense_ring", stats.bytes_dense_ring},
                {"kept_mass", nullptr},
                {"max_abs_error", nullptr},
                {"psnr", nullptr},
                {"plan_us", stats.plan_us},
                {"ms", stats.ms}};
  if (check) {
    layer["kept_mass"] = check->keptMass;
    layer["max_abs_error"] = check->maxError;
    layer["max_abs_error_bound"] = check->bound;
    layer["rows_checked"] = check->rows;
  }
  json report = {{"schema", 1},
                 {"version", sa_version()},
                 {"shape",
                  {{"heads", info.heads},
                   {"kv_heads", info.kv_heads},
                   {"sq", info.sq},
                   {"skv", info.skv},
                   {"head_dim", info.head_dim},
                   {"block", {info.block_q, info.block_k}}}},
                 {"mesh", {{"ulysses", info.ulysses}, {"ring", info.ring}}},
                 {"cold_jit_ms", info.jit_ms},
                 {"compile", compileJson(compile)},
                 {"plan_us", stats.plan_us},
                 {"steps", json::array({{{"layers", json::array({layer})}}})}};
  return report.dump(2) + "\n";
}
