//===- RoutingOptions.cpp - Options of sparseattn-bench routing -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RoutingOptions.h"

#include <cstdlib>

using namespace sart;

/// A number from 0 to 16.
static Expected<double> parseSpread(const std::string &text) {
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= 0 && value <= 16))
    return makeError("--spread: got '", text, "', expected a number 0 to 16");
  return value;
}

static Expected<double> parseMass(const std::string &text) {
  Expected<double> value = parseDensity(text);
  return value ? value
               : makeError("--p: got '", text,
                           "', expected a number above 0 and at most 1");
}

Status sart::parseRoutingOptions(int argc, char **argv, RoutingOptions &options,
                                 std::string &helpText) {
  CommandLine line("sparseattn-bench routing", "[options]",
                   "Times the routing kernels of a GPU, one by one and "
                   "together: means of blocks, scores and selection of top-p "
                   "with sorted lists, loads, and the order of tiles; beside "
                   "plain operations of PyTorch.");
  line.addChoice("device", "where the kernels run (default cuda)", {"cuda"},
                 options.device, {"cpu"});
  addList<BlockSize>(line, "block", "QxK,...", "block sizes (default 128x128)",
                     options.blocks, parseBlock);
  addList<DType>(line, "dtype", "T,...",
                 "element types, of bf16 and fp16 (default bf16)",
                 options.dtypes, parseElementType);
  addList<double>(line, "p", "X,...",
                  "kept masses of the policy top-p (default 0.9)", options.ps,
                  parseMass);
  line.addInteger("min-blocks", "N", "kv-blocks that a row keeps (default 1)",
                  1, 1 << 20, options.minBlocks);
  line.addInteger("heads", "N", "heads (default 40)", 1, 1024, options.heads);
  line.addInteger("kv-heads", "N", "heads of keys (default: as heads)", 1, 1024,
                  options.kvHeads);
  line.addInteger("tokens", "N", "queries and keys of a head (default 75600)",
                  1, 1 << 20, options.tokens);
  line.addInteger("head-dim", "N", "head dimension (default 128)", 32, 256,
                  options.headDim);
  line.addParsed("spread", "X",
                 "deviation of the blocks' means, in units of that inside a "
                 "block (default 1.3)",
                 [&](const std::string &text) {
                   Expected<double> value = parseSpread(text);
                   if (value)
                     options.spread = *value;
                   return value.status();
                 });
  line.addInteger("repetitions", "N",
                  "launches of every figure, at least (default 21)", 1, 1000,
                  options.repetitions);
  line.addInteger("sets", "N", "sets of inputs, used in turn (default 3)", 1,
                  64, options.sets);
  line.addInteger("compilations", "N",
                  "of the kernels, cold and warm (default 3)", 1, 100,
                  options.compilations);
  line.addInteger("preheat-ms", "N",
                  "work before timings, milliseconds (default 400)", 0, 60000,
                  options.preheatMs);
  line.addInteger("spaced", "N",
                  "launches 40 ms apart, beside the hot ones (default 10)", 0,
                  1000, options.spaced);
  line.addInteger("seed", "N", "seed of the tensors (default 1)", 0, INT32_MAX,
                  options.seed);
  line.addText("ptxas", "PATH",
               "assembler (default: the one found; none: the driver's)",
               options.ptxas);
  line.addText("python", "PATH", "Python with PyTorch (default python3)",
               options.python);
  line.addFlag("no-torch", "measure nothing through PyTorch", options.noTorch);
  line.addFlag("json", "print JSON instead of a table", options.json);
  helpText = line.help();
  SART_RETURN_IF_ERROR(line.parse(argc, argv));
  options.help = line.helpRequested();
  if (!line.positionals().empty())
    return makeError("arguments: got '", line.positionals().front(),
                     "', expected only options");
  if (options.kvHeads == 0)
    options.kvHeads = options.heads;
  if (options.heads % options.kvHeads != 0)
    return makeError("--kv-heads: got ", options.kvHeads,
                     ", expected a divisor of ", options.heads);
  for (DType dtype : options.dtypes)
    if (dtype == DType::F32)
      return makeError("--dtype: got 'fp32' with --device cuda, expected bf16 "
                       "or fp16");
  return Status::success();
}
