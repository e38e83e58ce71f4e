//===- CudaRoutingReport.cpp - Table and JSON of routing on a GPU ---------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaRoutingBench.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace sart;

static std::string blockText(const LayerShape &shape) {
  return concat(shape.blockQ, "x", shape.blockK);
}

/// GB/s of q and k at the time that pooling took.
static double poolRate(const CudaRoutingRow &row, double ms) {
  return row.pooledBytes / ms * 1e-6;
}

/// Milliseconds, or why there are none.
static std::string timeText(const BaselineTimes &times) {
  if (times.medianMs <= 0)
    return times.error.empty() ? "-" : times.error;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3f ms", times.medianMs);
  return text;
}

void sart::printTable(const RoutingOptions &options,
                      const CudaRoutingResults &results,
                      llvm::raw_ostream &os) {
  os << results.device << "\n"
     << options.heads << ":" << options.kvHeads << " heads x " << options.tokens
     << " tokens x " << options.headDim << ", at least " << options.minBlocks
     << " blocks a row, median of " << options.repetitions
     << " or more launches over " << options.sets << " sets of inputs\n";
  for (const GpuCompileRow &row : results.compiles)
    printCompile(row, os);
  if (!results.torchMissing.empty())
    os << "no torch: " << results.torchMissing << "\n";
  for (const CudaRoutingRow &row : results.rows) {
    os << toString(row.shape.dtype) << " " << blockText(row.shape) << " p "
       << concat(row.p)
       << llvm::format(": density %.4f; %d rows checked, %d blocks within 1e-5 "
                       "of p, mean error %.1e\n",
                       row.check.density, static_cast<int>(row.check.rows),
                       static_cast<int>(row.check.nearThreshold),
                       row.check.meanError);
    for (const CudaRoutingRow::Stage &stage : row.stages) {
      const Sample &hot = stage.times.hot;
      os << llvm::format("  %-9s %8.4f ms (%.4f-%.4f)", stage.name.c_str(),
                         hot.median(), hot.minimum(), hot.maximum());
      if (!stage.times.spaced.empty())
        os << llvm::format(", spaced %.4f", stage.times.spaced.median());
      if (stage.name == "pool")
        os << llvm::format(", %.0f GB/s", poolRate(row, hot.median()));
      os << "\n";
    }
    if (!results.torch.empty())
      os << "  PyTorch " << results.torch << ": pool "
         << timeText(row.torchPool) << ", all " << timeText(row.torchAll)
         << "\n";
  }
}

static void writeTimes(llvm::json::OStream &json, const DeviceTimes &times) {
  json.object([&] {
    json.attribute("launches", times.launches);
    for (const auto &[name, sample] : {std::pair("hot_ms", &times.hot),
                                       std::pair("spaced_ms", &times.spaced)})
      if (sample->empty())
        json.attribute(name, nullptr);
      else
        json.attributeObject(name, [&, values = sample] {
          json.attribute("median", values->median());
          json.attribute("min", values->minimum());
          json.attribute("max", values->maximum());
        });
  });
}

static void writeBaseline(llvm::json::OStream &json, llvm::StringRef name,
                          const BaselineTimes &times) {
  if (!times.error.empty())
    json.attributeObject(name, [&] { json.attribute("error", times.error); });
  else if (times.medianMs > 0)
    json.attributeObject(name, [&] {
      json.attribute("median", times.medianMs);
      json.attribute("min", times.minMs);
      json.attribute("max", times.maxMs);
    });
  else
    json.attribute(name, nullptr);
}

void sart::printJson(const RoutingOptions &options,
                     const CudaRoutingResults &results, llvm::raw_ostream &os) {
  llvm::json::OStream json(os, 2);
  json.object([&] {
    json.attribute("benchmark", "routing");
    json.attribute("device", options.device);
    json.attribute("gpu", results.device);
    json.attribute("heads", options.heads);
    json.attribute("kv_heads", options.kvHeads);
    json.attribute("tokens", options.tokens);
    json.attribute("head_dim", options.headDim);
    json.attribute("min_blocks", options.minBlocks);
    json.attribute("spread", options.spread);
    json.attribute("repetitions", options.repetitions);
    json.attribute("input_sets", options.sets);
    json.attribute("seed", options.seed);
    json.attribute("torch", results.torch);
    json.attribute("no_torch", results.torchMissing);
    json.attributeArray("compile", [&] {
      for (const GpuCompileRow &row : results.compiles)
        writeJson(json, row);
    });
    json.attributeArray("rows", [&] {
      for (const CudaRoutingRow &row : results.rows)
        json.object([&] {
          json.attribute("dtype", std::string(toString(row.shape.dtype)));
          json.attribute("block", blockText(row.shape));
          json.attribute("p", row.p);
          json.attribute("density", row.check.density);
          json.attribute("pooled_bytes", row.pooledBytes);
          json.attributeObject("check", [&] {
            json.attribute("rows", row.check.rows);
            json.attribute("near_threshold", row.check.nearThreshold);
            json.attribute("mean_error", row.check.meanError);
          });
          for (const CudaRoutingRow::Stage &stage : row.stages) {
            json.attributeBegin(stage.name);
            writeTimes(json, stage.times);
            json.attributeEnd();
          }
          writeBaseline(json, "torch_pool_ms", row.torchPool);
          writeBaseline(json, "torch_all_ms", row.torchAll);
        });
    });
  });
  os << "\n";
}
