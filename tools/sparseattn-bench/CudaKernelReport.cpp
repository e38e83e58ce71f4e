//===- CudaKernelReport.cpp - Table and JSON of kernels on a GPU ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaKernelBench.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace sart;

static std::string typeOf(const CudaKernelRow &row) {
  return std::string(toString(row.shape.dtype));
}

/// The rate of the baseline `name` for this dtype; 0: it has none.
static double baselineRate(const CudaKernelResults &results,
                           const std::string &name, const std::string &dtype) {
  for (const CudaBaselineRow &row : results.baselines)
    if (row.name == name && row.dtype == dtype && row.times.error.empty())
      return rateOf(row.flops, row.times.medianMs);
  return 0;
}

/// The product that rates are compared with: cuBLAS's, else PyTorch's.
static double productRate(const CudaKernelResults &results,
                          const std::string &dtype) {
  double rate = baselineRate(results, "cublas", dtype);
  return rate > 0 ? rate : baselineRate(results, "torch.mm", dtype);
}

/// The rate of the same kernel over all blocks; 0: it was not measured.
static double denseRate(const CudaKernelResults &results,
                        const CudaKernelRow &row) {
  for (const CudaKernelRow &other : results.rows)
    if (other.kernel == row.kernel && other.density == 1)
      return rateOf(other.flops, other.times.hot.median());
  return 0;
}

/// "1.023", or "-" where there is nothing to compare with.
static std::string ratioText(double rate, double other) {
  if (other <= 0)
    return "-";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3f", rate / other);
  return text;
}

void sart::printCompile(const GpuCompileRow &row, llvm::raw_ostream &os) {
  os << llvm::format("compile %s: %s first %.1f ms", row.name.c_str(),
                     row.source.c_str(), row.firstMs);
  if (!row.coldMs.empty())
    os << llvm::format(", cold %.1f ms", row.coldMs.median());
  if (!row.warmMs.empty())
    os << llvm::format(", from disk %.2f ms", row.warmMs.median());
  os << llvm::format(", load %.2f ms, %d registers, %d local bytes, ptxas ",
                     row.loadMs.median(), row.registers, row.localBytes)
     << row.ptxas << "\n";
  if (!row.notice.empty())
    os << "  " << row.notice << "\n";
}

void sart::printTable(const KernelOptions &options,
                      const CudaKernelResults &results, llvm::raw_ostream &os) {
  os << results.device << "\n"
     << options.heads << ":" << options.kvHeads << " heads x " << options.tokens
     << " tokens";
  if (options.kvTokens != options.tokens)
    os << " (" << options.kvTokens << " keys)";
  os << " x " << options.headDim << ", median of " << options.repetitions
     << " or more launches over " << options.sets << " sets of inputs\n";
  for (const GpuCompileRow &row : results.compiles)
    printCompile(row, os);
  if (!results.cublasMissing.empty())
    os << "no cublas: " << results.cublasMissing << "\n";
  if (!results.torchMissing.empty())
    os << "no torch: " << results.torchMissing << "\n";
  os << "baseline       dtype  lists            ms  TFLOP/s   spaced\n";
  for (const CudaBaselineRow &row : results.baselines) {
    os << llvm::format("%-13s  %-5s  %-8s", row.name.c_str(), row.dtype.c_str(),
                       row.lists.c_str());
    if (!row.times.error.empty()) {
      os << "  " << row.times.error << "\n";
      continue;
    }
    os << llvm::format("  %9.3f  %7.1f", row.times.medianMs,
                       rateOf(row.flops, row.times.medianMs));
    if (row.times.spacedMs)
      os << llvm::format("  %7.1f", rateOf(row.flops, *row.times.spacedMs));
    os << "\n";
  }
  os << "dtype  block    lists     density        ms  spread  TFLOP/s   spaced "
        " "
        "/product   /cudnn   /dense  error    lse\n";
  for (const CudaKernelRow &row : results.rows) {
    const Sample &hot = row.times.hot;
    double rate = rateOf(row.flops, hot.median());
    std::string block = concat(row.shape.blockQ, "x", row.shape.blockK);
    os << llvm::format(
        "%-5s  %-7s  %-8s  %7.4f  %8.3f  %5.1f%%  %7.1f", typeOf(row).c_str(),
        block.c_str(), row.lists.c_str(), row.density, hot.median(),
        100 * (hot.maximum() - hot.minimum()) / hot.median(), rate);
    if (row.times.spaced.empty())
      os << "        -";
    else
      os << llvm::format("  %7.1f",
                         rateOf(row.flops, row.times.spaced.median()));
    os << llvm::format(
        "  %8s  %7s  %7s  %.1e  %.0e\n",
        ratioText(rate, productRate(results, typeOf(row))).c_str(),
        ratioText(rate, baselineRate(results, "cudnn", typeOf(row))).c_str(),
        ratioText(rate, denseRate(results, row)).c_str(),
        std::max(row.timed.relative, row.emptyRows.relative),
        std::max(row.timed.lseError, row.emptyRows.lseError));
  }
}

static void writeSample(llvm::json::OStream &json, llvm::StringRef name,
                        const Sample &sample) {
  if (sample.empty()) {
    json.attribute(name, nullptr);
    return;
  }
  json.attributeObject(name, [&] {
    json.attribute("median", sample.median());
    json.attribute("min", sample.minimum());
    json.attribute("max", sample.maximum());
  });
}

static void writeRatio(llvm::json::OStream &json, llvm::StringRef name,
                       double rate, double other) {
  if (other > 0)
    json.attribute(name, rate / other);
  else
    json.attribute(name, nullptr);
}

static void writeCheck(llvm::json::OStream &json, llvm::StringRef name,
                       const DeviceCheck &check) {
  json.attributeObject(name, [&] {
    json.attribute("rows", check.rows);
    json.attribute("relative_error", check.relative);
    json.attribute("lse_error", check.lseError);
    json.attribute("relative_bound", check.relativeBound);
    json.attribute("lse_bound", check.lseBound);
  });
}

void sart::writeJson(llvm::json::OStream &json, const GpuCompileRow &row) {
  json.object([&] {
    json.attribute("kernel", row.name);
    json.attribute("source", row.source);
    json.attribute("first_ms", row.firstMs);
    writeSample(json, "cold_ms", row.coldMs);
    writeSample(json, "from_disk_ms", row.warmMs);
    writeSample(json, "load_ms", row.loadMs);
    json.attribute("registers", row.registers);
    json.attribute("local_bytes", row.localBytes);
    json.attribute("ptxas", row.ptxas);
    json.attribute("notice", row.notice);
  });
}

static void writeRow(llvm::json::OStream &json,
                     const CudaKernelResults &results,
                     const CudaKernelRow &row) {
  double rate = rateOf(row.flops, row.times.hot.median());
  json.object([&] {
    json.attribute("kernel", row.kernel);
    json.attribute("dtype", typeOf(row));
    json.attribute("block", concat(row.shape.blockQ, "x", row.shape.blockK));
    json.attribute("lists", row.lists);
    json.attribute("density", row.density);
    json.attribute("useful_flops", row.flops);
    json.attribute("launches", row.times.launches);
    writeSample(json, "hot_ms", row.times.hot);
    writeSample(json, "spaced_ms", row.times.spaced);
    json.attribute("tflops", rate);
    if (!row.times.spaced.empty())
      json.attribute("tflops_spaced",
                     rateOf(row.flops, row.times.spaced.median()));
    writeRatio(json, "share_of_product", rate,
               productRate(results, typeOf(row)));
    writeRatio(json, "share_of_cudnn", rate,
               baselineRate(results, "cudnn", typeOf(row)));
    writeRatio(json, "share_of_dense", rate, denseRate(results, row));
    writeCheck(json, "check_empty_rows", row.emptyRows);
    writeCheck(json, "check_timed", row.timed);
  });
}

static void writeBaseline(llvm::json::OStream &json,
                          const CudaBaselineRow &row) {
  json.object([&] {
    json.attribute("baseline", row.name);
    json.attribute("dtype", row.dtype);
    json.attribute("lists", row.lists);
    if (!row.times.error.empty()) {
      json.attribute("error", row.times.error);
      return;
    }
    json.attribute("useful_flops", row.flops);
    json.attribute("launches", row.times.launches);
    json.attributeObject("hot_ms", [&] {
      json.attribute("median", row.times.medianMs);
      json.attribute("min", row.times.minMs);
      json.attribute("max", row.times.maxMs);
    });
    json.attribute("tflops", rateOf(row.flops, row.times.medianMs));
    if (row.times.spacedMs)
      json.attribute("tflops_spaced", rateOf(row.flops, *row.times.spacedMs));
  });
}

void sart::printJson(const KernelOptions &options,
                     const CudaKernelResults &results, llvm::raw_ostream &os) {
  llvm::json::OStream json(os, 2);
  auto textOrNull = [&](llvm::StringRef name, const std::string &text) {
    if (text.empty())
      json.attribute(name, nullptr);
    else
      json.attribute(name, text);
  };
  json.object([&] {
    json.attribute("benchmark", "kernels");
    json.attribute("device", options.device);
    json.attribute("gpu", results.device);
    json.attribute("heads", options.heads);
    json.attribute("kv_heads", options.kvHeads);
    json.attribute("tokens", options.tokens);
    json.attribute("kv_tokens", options.kvTokens);
    json.attribute("head_dim", options.headDim);
    json.attribute("repetitions", options.repetitions);
    json.attribute("input_sets", options.sets);
    json.attribute("seed", options.seed);
    json.attribute("product", options.product);
    textOrNull("cublas", results.cublas);
    textOrNull("no_cublas", results.cublasMissing);
    textOrNull("torch", results.torch);
    textOrNull("no_torch", results.torchMissing);
    json.attributeArray("compile", [&] {
      for (const GpuCompileRow &row : results.compiles)
        writeJson(json, row);
    });
    json.attributeArray("baselines", [&] {
      for (const CudaBaselineRow &row : results.baselines)
        writeBaseline(json, row);
    });
    json.attributeArray("rows", [&] {
      for (const CudaKernelRow &row : results.rows)
        writeRow(json, results, row);
    });
  });
  os << "\n";
}
