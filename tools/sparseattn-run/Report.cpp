//===- Report.cpp - Report of one layer -----------------------------------===//
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
    warm = warm && (cached || kernel.source == SA_KERNEL_SHIPPED);
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

Expected<std::string> sart::makeReport(sa_layer *layer,
                                       const sa_compile_info &compile,
                                       const std::string &title,
                                       const CheckResult *check) {
  const char *text = nullptr;
  size_t length = 0;
  if (sa_layer_get_report(layer, &text, &length) != SA_OK)
    return Status::error(sa_last_error());
  json report = json::parse(text, text + length);
  report["title"] = title;
  report["compile"] = compileJson(compile);
  if (check) {
    json &run = report["steps"][0]["layers"][0];
    run["kept_mass"] = check->keptMass;
    run["max_abs_error"] = check->maxError;
    run["max_abs_error_bound"] = check->bound;
    run["rows_checked"] = check->rows;
    run["check_passed"] = check->passed();
  }
  // A file's name may be no UTF-8.
  return report.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Expected<std::string> sart::explainRun(sa_layer *layer,
                                       const std::string &machine) {
  const char *text = nullptr;
  size_t length = 0;
  if (sa_layer_explain(layer, &text, &length) != SA_OK)
    return Status::error(sa_last_error());
  std::string result(text, length);
  if (machine.empty())
    return result;
  if (sa_layer_predict(layer, machine.data(), machine.size(), &text, &length) !=
      SA_OK)
    return Status::error(sa_last_error());
  return result + std::string(text, length);
}

Expected<std::string> sart::makeReportPage(const std::string &report) {
  const char *page = nullptr;
  size_t length = 0;
  if (sa_report_html(report.data(), report.size(), &page, &length) != SA_OK)
    return Status::error(sa_last_error());
  return std::string(page, length);
}
