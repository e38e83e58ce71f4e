//===- KernelOptions.cpp - Options of sparseattn-bench kernels ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelOptions.h"

#include "OptionParsers.h"

using namespace sart;

/// Puts the device's defaults where nothing was given.
static void fillDefaults(KernelOptions &options) {
  bool gpu = options.onGpu();
  auto set = [](int64_t &value, int64_t standard) {
    if (value == 0)
      value = standard;
  };
  if (options.blocks.empty())
    options.blocks = gpu ? std::vector<BlockSize>{{128, 128}}
                         : std::vector<BlockSize>{{128, 128}, {64, 64}};
  if (options.dtypes.empty())
    options.dtypes = gpu ? std::vector<DType>{DType::BF16}
                         : std::vector<DType>{DType::F32, DType::BF16};
  if (options.densities.empty() && options.rowBlocks.empty() &&
      options.trace.empty())
    options.densities = {0.1, 0.2, 0.5, 1.0};
  set(options.heads, gpu ? 40 : 4);
  set(options.tokens, gpu ? 32768 : 14040);
  set(options.repetitions, gpu ? 21 : 7);
  set(options.product, gpu ? 8192 : 2048);
  set(options.kvHeads, options.heads);
  set(options.kvTokens, options.tokens);
}

static Status checkForDevice(const KernelOptions &options,
                             const std::vector<std::string> &gpuOnly,
                             const std::vector<std::string> &cpuOnly) {
  const std::vector<std::string> &others = options.onGpu() ? cpuOnly : gpuOnly;
  if (!others.empty())
    return makeError("--", others.front(), ": got it with --device ",
                     options.device, ", expected --device ",
                     options.onGpu() ? "cpu" : "cuda");
  if (!options.onGpu() && (options.noTorch || options.noFlex))
    return makeError(options.noTorch ? "--no-torch" : "--no-flex",
                     ": got it with --device cpu, expected --device cuda");
  if (!options.onGpu())
    return Status::success();
  for (DType dtype : options.dtypes)
    if (dtype == DType::F32)
      return makeError("--dtype: got 'fp32' with --device cuda, expected bf16 "
                       "or fp16");
  if (options.heads % options.kvHeads != 0)
    return makeError("--kv-heads: got ", options.kvHeads,
                     ", expected a divisor of ", options.heads);
  return Status::success();
}

Status sart::parseKernelOptions(int argc, char **argv, KernelOptions &options,
                                std::string &helpText) {
  CommandLine line(
      "sparseattn-bench kernels", "[options]",
      "Times the attend kernels over random block lists, softmax and LSE "
      "included, and OpenBLAS's sgemm in turn; on a GPU beside cuBLAS's matrix "
      "product, and cuDNN and FlexAttention through PyTorch. Only visited "
      "blocks count as work.");
  std::vector<std::string> gpuOnly, cpuOnly;
  // Remembers that an option of one device was given.
  auto noted = [](std::vector<std::string> &names, std::string name,
                  std::function<Status(const std::string &)> parse) {
    return [&names, name, parse](const std::string &text) {
      names.push_back(name);
      return parse(text);
    };
  };
  auto addNumber = [&](std::vector<std::string> &names, const char *name,
                       const char *help, int64_t least, int64_t most,
                       int64_t &target) {
    line.addParsed(name, "N", help,
                   noted(names, name, [=, &target](const std::string &text) {
                     Expected<int64_t> value = parseInteger(
                         std::string("--") + name, text, least, most);
                     if (value)
                       target = *value;
                     return value.status();
                   }));
  };
  auto addPath = [&](std::vector<std::string> &names, const char *name,
                     const char *value, const char *help, std::string &target) {
    line.addParsed(name, value, help,
                   noted(names, name, [&target](const std::string &text) {
                     target = text;
                     return Status::success();
                   }));
  };
  line.addChoice("device", "where the kernels run (default cpu)",
                 {"cpu", "cuda"}, options.device);
  addList<BlockSize>(line, "block", "QxK,...",
                     "block sizes (default 128x128,64x64; cuda: 128x128)",
                     options.blocks, parseBlock);
  addList<DType>(
      line, "dtype", "T,...",
      "element types, of fp32, bf16, fp16 (default fp32,bf16; cuda: bf16)",
      options.dtypes, parseElementType);
  addList<double>(line, "density", "X,...",
                  "shares of visited blocks (default 0.1,0.2,0.5,1)",
                  options.densities, parseDensity);
  line.addParsed("threads", "N,...", "threads (default: one, and one per core)",
                 noted(cpuOnly, "threads", [&](const std::string &text) {
                   options.threads.clear();
                   return forEachPart(text, [&](const std::string &part) {
                     Expected<int64_t> value =
                         parseInteger("--threads", part, 1, 1024);
                     if (value)
                       options.threads.push_back(*value);
                     return value.status();
                   });
                 }));
  line.addInteger("heads", "N", "heads (default 4; cuda: 40)", 1, 1024,
                  options.heads);
  line.addInteger("tokens", "N",
                  "queries and keys of a head (default 14040; cuda: 32768)", 1,
                  1 << 20, options.tokens);
  line.addInteger("head-dim", "N", "head dimension (default 128)", 32, 256,
                  options.headDim);
  line.addInteger("repetitions", "N",
                  "of every figure; medians are printed (default 7; cuda: at "
                  "least 21, more of short launches)",
                  1, 1000, options.repetitions);
  line.addInteger(
      "product", "N",
      "edge of the matrix product to compare with (default 2048; cuda: 8192)",
      16, 16384, options.product);
  line.addInteger("seed", "N", "seed of the tensors and lists (default 1)", 0,
                  INT32_MAX, options.seed);
  addPath(cpuOnly, "cpu", "NAME",
          "compile for this CPU, as LLVM calls it (default: the one here)",
          options.cpu);
  addPath(cpuOnly, "blas", "PATH",
          "OpenBLAS library (default: libopenblas.so.0 of the system)",
          options.blas);
  addNumber(gpuOnly, "kv-heads", "cuda: heads of keys (default: as heads)", 1,
            1024, options.kvHeads);
  addNumber(gpuOnly, "kv-tokens", "cuda: keys of a head (default: as tokens)",
            1, 1 << 20, options.kvTokens);
  line.addParsed("row-blocks", "N,...",
                 "cuda: lists of exactly N kv-blocks, in place of --density",
                 noted(gpuOnly, "row-blocks", [&](const std::string &text) {
                   return forEachPart(text, [&](const std::string &part) {
                     Expected<int64_t> value =
                         parseInteger("--row-blocks", part, 1, 1 << 20);
                     if (value)
                       options.rowBlocks.push_back(*value);
                     return value.status();
                   });
                 }));
  addPath(gpuOnly, "trace", "FILE.bmt",
          "cuda: recorded masks; heads, tokens and blocks must be its own",
          options.trace);
  addNumber(gpuOnly, "instance", "cuda: mask of the trace (default 0)", 0,
            1 << 20, options.instance);
  addNumber(gpuOnly, "sets", "cuda: sets of inputs, used in turn (default 3)",
            1, 64, options.sets);
  addNumber(gpuOnly, "compilations",
            "cuda: of every kernel, cold and warm (default 3)", 1, 100,
            options.compilations);
  addNumber(gpuOnly, "preheat-ms",
            "cuda: work before timings, milliseconds (default 400)", 0, 60000,
            options.preheatMs);
  addNumber(gpuOnly, "spaced",
            "cuda: launches 40 ms apart, beside the hot ones (default 10)", 0,
            1000, options.spaced);
  addPath(gpuOnly, "ptxas", "PATH",
          "cuda: assembler (default: the one found; none: the driver's)",
          options.ptxas);
  addPath(gpuOnly, "cublas", "PATH",
          "cuda: cuBLAS library (default: of the system, or PyTorch's)",
          options.cublas);
  addPath(gpuOnly, "python", "PATH",
          "cuda: Python with PyTorch, for cuDNN and FlexAttention (default "
          "python3)",
          options.python);
  line.addFlag("no-torch", "cuda: measure nothing through PyTorch",
               options.noTorch);
  line.addFlag("no-flex",
               "cuda: no FlexAttention, which compiles for every row",
               options.noFlex);
  line.addFlag("json", "print JSON instead of a table", options.json);
  helpText = line.help();
  SART_RETURN_IF_ERROR(line.parse(argc, argv));
  options.help = line.helpRequested();
  if (!line.positionals().empty())
    return makeError("arguments: got '", line.positionals().front(),
                     "', expected only options");
  fillDefaults(options);
  return checkForDevice(options, gpuOnly, cpuOnly);
}
