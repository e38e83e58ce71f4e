//===- KernelReport.cpp - Table and JSON of sparseattn-bench kernels ------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelBench.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace sart;

static std::string blockText(const BlockSize &block) {
  return concat(block.q, "x", block.k);
}

void sart::printTable(const KernelOptions &options,
                      const KernelResults &results, llvm::raw_ostream &os) {
  os << "cpu " << results.cpu << ", " << options.heads << " heads x "
     << options.tokens << " tokens x " << options.headDim << ", median of "
     << options.repetitions << "\n";
  if (results.blasMissing.empty())
    os << "sgemm n = " << options.product << ": " << results.blasConfig
       << ", core " << results.blasCore << "\n";
  else
    os << "no ratios: " << results.blasMissing << "\n";
  for (const KernelCompileRow &row : results.compiles)
    os << llvm::format("compile %-34s %6.1f ms, first %.1f ms\n",
                       row.name.c_str(), row.ms.median(), row.firstMs);
  os << "dtype  block    density  threads     GF/s    sgemm  ratio  (spread)   "
        "  one block  share\n";
  for (const KernelRow &row : results.rows) {
    os << llvm::format("%-5s  %-7s  %7.3f  %7d  %7.1f",
                       std::string(toString(row.dtype)).c_str(),
                       blockText(row.block).c_str(), row.density,
                       static_cast<int>(row.threads), row.kernel.median());
    if (row.ratio.empty())
      os << "        -      -              ";
    else
      os << llvm::format("  %7.1f  %5.2f  (%.2f-%.2f)", row.sgemm.median(),
                         row.ratio.median(), row.ratio.minimum(),
                         row.ratio.maximum());
    os << llvm::format("  %9.1f  %5.2f\n", row.oneBlock.median(),
                       row.ceilingShare.median());
  }
}

static void writeSample(llvm::json::OStream &json, llvm::StringRef name,
                        const Sample &sample) {
  json.attributeObject(name, [&] {
    json.attribute("median", sample.median());
    json.attribute("min", sample.minimum());
    json.attribute("max", sample.maximum());
  });
}

void sart::printJson(const KernelOptions &options, const KernelResults &results,
                     llvm::raw_ostream &os) {
  llvm::json::OStream json(os, 2);
  json.object([&] {
    json.attribute("benchmark", "kernels");
    json.attribute("device", options.device);
    json.attribute("cpu", results.cpu);
    json.attribute("heads", options.heads);
    json.attribute("tokens", options.tokens);
    json.attribute("head_dim", options.headDim);
    json.attribute("repetitions", options.repetitions);
    json.attribute("seed", options.seed);
    if (results.blasMissing.empty())
      json.attributeObject("sgemm", [&] {
        json.attribute("n", options.product);
        json.attribute("library", results.blasConfig);
        json.attribute("core", results.blasCore);
      });
    else
      json.attribute("sgemm", nullptr);
    json.attributeArray("compile_ms", [&] {
      for (const KernelCompileRow &row : results.compiles)
        json.object([&] {
          json.attribute("kernel", row.name);
          json.attribute("first", row.firstMs);
          writeSample(json, "again", row.ms);
        });
    });
    json.attributeArray("rows", [&] {
      for (const KernelRow &row : results.rows)
        json.object([&] {
          json.attribute("dtype", std::string(toString(row.dtype)));
          json.attribute("block", blockText(row.block));
          json.attribute("density", row.density);
          json.attribute("threads", row.threads);
          writeSample(json, "gflops", row.kernel);
          if (!row.ratio.empty()) {
            writeSample(json, "sgemm_gflops", row.sgemm);
            writeSample(json, "ratio", row.ratio);
          }
          writeSample(json, "one_block_gflops", row.oneBlock);
          writeSample(json, "share_of_one_block", row.ceilingShare);
        });
    });
  });
  os << "\n";
}
