//===- CalibrateOptions.cpp - Options of the calibration ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Calibration.h"

#include "CommandLine.h"
#include "OptionParsers.h"

using namespace sart;

Status sart::parseCalibrateOptions(int argc, char **argv,
                                   CalibrateOptions &options,
                                   std::string &helpText) {
  CommandLine line(
      "sparseattn-bench calibrate", "[options]",
      "Measures what a machine file says of this machine, and how well it "
      "predicts measurements that it was not fitted on (every second one of "
      "each kernel).");
  line.addChoice("device", "what to measure (default cpu)", {"cpu", "cuda"},
                 options.device);
  line.addText("from", "F.json",
               "results of kernels --device cuda --json in place of "
               "measurements",
               options.from);
  line.addText("base", "M.json",
               "machine file with what is not measured: a file, or the name of "
               "one that came along (default cpu; cuda: h200x8)",
               options.base);
  line.addText("name", "TEXT", "name of the machine (default: the base's)",
               options.name);
  addList<BlockSize>(line, "block", "QxK,...",
                     "block sizes (default 128x128,64x64; cuda: "
                     "128x128,128x64,64x64)",
                     options.blocks, parseBlock);
  addList<DType>(line, "dtype", "T,...",
                 "element types, of fp32, bf16, fp16 (default fp32,bf16; cuda: "
                 "bf16,fp16)",
                 options.dtypes, parseElementType);
  addList<double>(line, "density", "X,...",
                  "shares of visited blocks (default 0.1,0.3,1)",
                  options.densities, parseDensity);
  addList<int64_t>(line, "tokens", "N,...",
                   "tokens of a head (default 1024,2048,3072; cuda: "
                   "8192,16384,32768)",
                   options.tokens, [](const std::string &text) {
                     return parseInteger("--tokens", text, 128, 1 << 20);
                   });
  line.addInteger("heads", "N", "heads (default 4; cuda: 40)", 1, 1024,
                  options.heads);
  line.addInteger("head-dim", "N", "head dimension (default 128)", 32, 256,
                  options.headDim);
  line.addInteger("repetitions", "N",
                  "of every figure (default 3; cuda: at least 21)", 1, 1000,
                  options.repetitions);
  line.addInteger("passes", "N",
                  "over all shapes, of which the best figure counts (default "
                  "5; cuda: 1)",
                  1, 100, options.passes);
  line.addInteger("threads", "N", "of the CPU (default: one per core)", 1, 1024,
                  options.threads);
  line.addText("ptxas", "PATH", "cuda: assembler (default: the one found)",
               options.ptxas);
  line.addFlag("json", "print the machine file in place of a table",
               options.json);
  helpText = line.help();
  SART_RETURN_IF_ERROR(line.parse(argc, argv));
  options.help = line.helpRequested();
  if (!line.positionals().empty())
    return makeError("arguments: got '", line.positionals().front(),
                     "', expected only options");
  bool gpu = options.device == "cuda" || !options.from.empty();
  if (gpu)
    for (DType dtype : options.dtypes)
      if (dtype == DType::F32)
        return makeError("--dtype: got 'fp32' with --device cuda, expected "
                         "bf16 or fp16");
  if (options.base.empty())
    options.base = gpu ? "h200x8" : "cpu";
  if (options.blocks.empty())
    options.blocks =
        gpu ? std::vector<BlockSize>{{128, 128}, {128, 64}, {64, 64}}
            : std::vector<BlockSize>{{128, 128}, {64, 64}};
  if (options.dtypes.empty())
    options.dtypes = gpu ? std::vector<DType>{DType::BF16, DType::F16}
                         : std::vector<DType>{DType::F32, DType::BF16};
  if (options.densities.empty())
    options.densities = {0.1, 0.3, 1.0};
  if (options.tokens.empty())
    options.tokens = gpu ? std::vector<int64_t>{8192, 16384, 32768}
                         : std::vector<int64_t>{1024, 2048, 3072};
  if (options.heads == 0)
    options.heads = gpu ? 40 : 4;
  if (options.passes == 0)
    options.passes = gpu ? 1 : 5;
  if (options.repetitions == 0)
    options.repetitions = gpu ? 21 : 3;
  return Status::success();
}
