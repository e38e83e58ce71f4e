//===- KernelPoints.cpp - Measured kernels from recorded results ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelFit.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>

using namespace sart;
using Json = nlohmann::json;

/// Member `name` as a number above 0, or 0.
static double numberOf(const Json &object, const char *name) {
  if (!object.is_object() || !object.contains(name) ||
      !object[name].is_number())
    return 0;
  auto value = object[name].get<double>();
  return value > 0 && value < 1e15 ? value : 0;
}

static std::string textOf(const Json &object, const char *name) {
  bool there =
      object.is_object() && object.contains(name) && object[name].is_string();
  return there ? object[name].get<std::string>() : "";
}

static Status readResult(const Json &result, const std::string &run,
                         std::vector<KernelPoint> &points) {
  if (textOf(result, "benchmark") != "kernels" ||
      textOf(result, "device") != "cuda" || !result.contains("rows") ||
      !result["rows"].is_array())
    return makeError("result ", run,
                     ": got another one, expected that of "
                     "sparseattn-bench kernels --device cuda --json");
  auto heads = static_cast<int64_t>(numberOf(result, "heads"));
  auto tokens = static_cast<int64_t>(numberOf(result, "tokens"));
  auto kvTokens = static_cast<int64_t>(numberOf(result, "kv_tokens"));
  for (const Json &row : result["rows"]) {
    KernelPoint point;
    point.name = run + " " + textOf(row, "lists");
    point.headDim = static_cast<int64_t>(numberOf(result, "head_dim"));
    std::string block = textOf(row, "block");
    char *end = nullptr;
    int64_t blockQ = std::strtol(block.c_str(), &end, 10);
    int64_t blockK = *end == 'x' ? std::strtol(end + 1, nullptr, 10) : 0;
    if (blockQ <= 0 || blockK <= 0 || blockQ > 1024 || blockK > 1024)
      return makeError("block of ", point.name, ": got '", textOf(row, "block"),
                       "', expected QxK");
    point.blockQ = blockQ;
    point.blockK = blockK;
    Expected<DType> dtype = parseDType(textOf(row, "dtype"));
    if (!dtype)
      return makeError("dtype of ", point.name, ": ", dtype.message());
    point.dtype = *dtype;
    int64_t rows = heads * ((tokens + blockQ - 1) / blockQ);
    int64_t blocks = (kvTokens + blockK - 1) / blockK;
    point.rows = rows;
    point.tiles =
        std::llround(numberOf(row, "density") * static_cast<double>(rows) *
                     static_cast<double>(blocks));
    if (row.contains("hot_ms"))
      point.ps = numberOf(row["hot_ms"], "median") * 1e9;
    if (point.tiles <= 0 || point.ps <= 0)
      return makeError("figures of ", point.name, ": got ", point.tiles,
                       " tiles in ", point.ps / 1e9,
                       " ms, expected more than 0 of both");
    points.push_back(point);
  }
  return Status::success();
}

Expected<std::vector<KernelPoint>>
sart::readKernelPoints(std::string_view json) {
  Json file = Json::parse(json.begin(), json.end(), nullptr,
                          /*allow_exceptions=*/false);
  if (!file.is_object())
    return Status::error("results: got no JSON object, expected one");
  std::vector<KernelPoint> points;
  if (!file.contains("runs")) {
    SART_RETURN_IF_ERROR(readResult(file, "kernels", points));
    return points;
  }
  if (!file["runs"].is_array())
    return Status::error("runs: got no list, expected one");
  for (const Json &run : file["runs"])
    SART_RETURN_IF_ERROR(readResult(
        run.is_object() && run.contains("result") ? run["result"] : Json(),
        textOf(run, "name"), points));
  return points;
}
