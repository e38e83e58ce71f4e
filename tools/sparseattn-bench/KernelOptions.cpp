//===- KernelOptions.cpp - Options of sparseattn-bench kernels ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelOptions.h"

#include "CommandLine.h"

#include <cmath>
#include <cstdlib>
#include <functional>

using namespace sart;

/// Calls `parse` for every part of a comma-separated list.
static Status
forEachPart(const std::string &text,
            const std::function<Status(const std::string &)> &parse) {
  size_t begin = 0;
  while (true) {
    size_t end = text.find(',', begin);
    SART_RETURN_IF_ERROR(parse(text.substr(begin, end - begin)));
    if (end == std::string::npos)
      return Status::success();
    begin = end + 1;
  }
}

static Expected<BlockSize> parseBlock(const std::string &text) {
  size_t cross = text.find('x');
  if (cross == std::string::npos)
    return makeError("--block: got '", text,
                     "', expected QxK, for example 128x128");
  Expected<int64_t> q =
      parseInteger("--block Q", text.substr(0, cross), 16, 128);
  if (!q)
    return q.status();
  Expected<int64_t> k =
      parseInteger("--block K", text.substr(cross + 1), 16, 128);
  if (!k)
    return k.status();
  return BlockSize{*q, *k};
}

static Expected<double> parseDensity(const std::string &text) {
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value > 0 && value <= 1))
    return makeError("--density: got '", text,
                     "', expected a number above 0 and at most 1");
  return value;
}

static Expected<DType> parseElementType(const std::string &text) {
  if (text == "fp32")
    return DType::F32;
  if (text == "bf16")
    return DType::BF16;
  if (text == "fp16")
    return DType::F16;
  return makeError("--dtype: got '", text, "', expected fp32, bf16 or fp16");
}

/// Adds an option that takes a list in place of the default one.
template <typename T>
static void addList(CommandLine &line, const std::string &name,
                    const std::string &value, const std::string &help,
                    std::vector<T> &target,
                    std::function<Expected<T>(const std::string &)> parse) {
  line.addParsed(name, value, help, [&target, parse](const std::string &text) {
    target.clear();
    return forEachPart(text, [&](const std::string &part) -> Status {
      Expected<T> parsed = parse(part);
      if (!parsed)
        return parsed.status();
      target.push_back(*parsed);
      return Status::success();
    });
  });
}

Status sart::parseKernelOptions(int argc, char **argv, KernelOptions &options,
                                std::string &helpText) {
  CommandLine line(
      "sparseattn-bench kernels", "[options]",
      "Times the attend kernels over random block lists, softmax and LSE "
      "included, and OpenBLAS's sgemm in turn. Only visited blocks count as "
      "work.");
  line.addChoice("device", "where the kernels run (default cpu)", {"cpu"},
                 options.device, {"cuda"});
  addList<BlockSize>(line, "block", "QxK,...",
                     "block sizes (default 128x128,64x64)", options.blocks,
                     parseBlock);
  addList<DType>(line, "dtype", "T,...",
                 "element types, of fp32, bf16, fp16 (default fp32,bf16)",
                 options.dtypes, parseElementType);
  addList<double>(line, "density", "X,...",
                  "shares of visited blocks (default 0.1,0.2,0.5,1)",
                  options.densities, parseDensity);
  addList<int64_t>(line, "threads", "N,...",
                   "threads (default: one, and one per core)", options.threads,
                   [](const std::string &text) {
                     return parseInteger("--threads", text, 1, 1024);
                   });
  line.addInteger("heads", "N", "heads (default 4)", 1, 1024, options.heads);
  line.addInteger("tokens", "N", "queries and keys of a head (default 14040)",
                  1, 1 << 20, options.tokens);
  line.addInteger("head-dim", "N", "head dimension (default 128)", 32, 256,
                  options.headDim);
  line.addInteger("repetitions", "N",
                  "of every figure; medians are printed (default 7)", 1, 1000,
                  options.repetitions);
  line.addInteger("product", "N",
                  "edge of the matrix product to compare with (default 2048)",
                  16, 16384, options.product);
  line.addInteger("seed", "N", "seed of the tensors and lists (default 1)", 0,
                  INT32_MAX, options.seed);
  line.addText("cpu", "NAME",
               "compile for this CPU, as LLVM calls it (default: the one here)",
               options.cpu);
  line.addText("blas", "PATH",
               "OpenBLAS library (default: libopenblas.so.0 of the system)",
               options.blas);
  line.addFlag("json", "print JSON instead of a table", options.json);
  helpText = line.help();
  SART_RETURN_IF_ERROR(line.parse(argc, argv));
  options.help = line.helpRequested();
  if (!line.positionals().empty())
    return makeError("arguments: got '", line.positionals().front(),
                     "', expected only options");
  return Status::success();
}
