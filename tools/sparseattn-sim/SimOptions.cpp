//===- SimOptions.cpp - Options of sparseattn-sim -------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SimOptions.h"

#include "CommandLine.h"

#include "sparseattn-rt/Placement.h"

using namespace sart;

/// Options that go with --machine, or not with each other.
static Status checkPrediction(const SimOptions &options) {
  for (auto [what, given] :
       {std::pair<const char *, bool>{"--mask", !options.mask.empty()},
        {"--density", options.density > 0},
        {"--json", options.json},
        {"--trace", !options.trace.empty()},
        {"--mesh auto", options.autoMesh()},
        {"--balance auto", options.balance == "auto"}})
    if (given && options.machine.empty())
      return makeError(what, ": got it without --machine, expected --machine "
                             "M.json");
  if (!options.mask.empty() && options.density > 0)
    return makeError("--density: got it with --mask, expected one of them");
  if (options.instance > 0 && options.mask.empty())
    return makeError("--instance: got it without --mask, expected --mask "
                     "F.bmt");
  if (options.predicts() && options.computes())
    return makeError("--inputs, --outputs, --masks or --check: got one with "
                     "--mask, --density, --json or auto, which only predict, "
                     "expected none");
  if (options.autoMesh() && options.ranks == 0)
    return makeError("--ranks: got none with --mesh auto, expected the number "
                     "of ranks");
  return Status::success();
}

Status sart::parseOptions(int argc, char **argv, SimOptions &options,
                          std::string &helpText) {
  CommandLine line(
      "sparseattn-sim", "FILE [options]",
      "Interprets a function of sparseattn ops, or runs a program over N ranks "
      "in double precision, without a GPU. FILE: sparseattn or sa_comm text, "
      "or "
      "program bytes.");
  line.addText("function", "NAME",
               "function to interpret (default: the only "
               "one)",
               options.function);
  line.addText("inputs", "F.npz",
               "arrays named as the function's arguments (or arg0, arg1, ...), "
               "q, k, v of a program (default: random)",
               options.inputs);
  line.addText("outputs", "G.npz",
               "out and lse of a layer, else result0, result1, ...",
               options.outputs);
  line.addInteger("ranks", "N",
                  "compile the layer and run its program over N ranks (more "
                  "than 64 are only predicted)",
                  1, maxRanks, options.ranks);
  line.addText("mesh", "ulysses=U,ring=R",
               "the same over a mesh of ranks; auto, with --machine: the one "
               "with the least predicted time (with its balance, unless that "
               "is given)",
               options.mesh);
  line.addChoice("balance", "head balance; auto, with --machine: the best one",
                 {"none", "swap", "split", "pre", "auto"}, options.balance);
  line.addFlag("augment", "fill slack with next-best blocks", options.augment);
  line.addFlag("masks", "print every mask that is made", options.masks);
  line.addFlag("explain",
               "say who does what, what crosses each link, the imbalance and "
               "the critical path",
               options.explain);
  line.addText("machine", "M.json",
               "predict the timeline on this machine: a file, or the name of "
               "one that came along (h200x8, h200x32, a100x8-pcie, ...)",
               options.machine);
  line.addText(
      "mask", "F.bmt",
      "with --machine: recorded masks in place of the layer's routing; "
      "nothing is computed",
      options.mask);
  line.addInteger("instance", "N", "which of them (default 0)", 0, INT32_MAX,
                  options.instance);
  line.addInteger("density", "N",
                  "with --machine: a made-up mask with N thousandths of the "
                  "tiles; nothing is computed",
                  1, 1000, options.density);
  line.addFlag("json", "with --machine: print the prediction as JSON alone",
               options.json);
  line.addText("trace", "T.json",
               "with --machine: write the predicted timeline as a trace",
               options.trace);
  line.addFlag("check",
               "compare the program's run with the interpretation, or a "
               "program file's run with the dense masked reference",
               options.check);
  line.addInteger("seed", "N", "seed of random inputs (default 0)", 0,
                  INT32_MAX, options.seed);
  line.addInteger("threads", "N", "worker threads (default: one per core)", 1,
                  1024, options.threads);
  line.addInteger("timeout-ms", "N",
                  "bound of every wait between ranks (default 60000)", 1,
                  86400000, options.timeoutMs);
  helpText = line.help();
  SART_RETURN_IF_ERROR(line.parse(argc, argv));
  options.help = line.helpRequested();
  if (options.help)
    return Status::success();
  if (line.positionals().size() != 1)
    return makeError("files: got ", line.positionals().size(),
                     ", expected one");
  options.path = line.positionals().front();
  SART_RETURN_IF_ERROR(checkPrediction(options));
  int64_t most = options.predicts() ? maxRanks : maxLocalRanks;
  if (options.ranks > most)
    return makeError("--ranks: got ", options.ranks, ", expected at most ",
                     most, ", or --machine with --mask or --density");
  if (!options.autoMesh()) {
    Expected<MeshOption> axes = parseMesh(options.mesh, options.ranks, most);
    if (!axes)
      return axes.status();
    options.axes = *axes;
  }
  if (!options.trace.empty())
    SART_RETURN_IF_ERROR(checkWritable("--trace", options.trace));
  if (options.outputs.empty())
    return Status::success();
  for (const std::string &input : {options.path, options.inputs})
    if (!input.empty() && resolvedPath(input) == resolvedPath(options.outputs))
      return makeError("--outputs: got '", options.outputs,
                       "', an input, expected another file");
  return checkWritable("--outputs", options.outputs);
}

Status sart::checkForProgram(const SimOptions &options) {
  if (options.ranks > 0 || !options.mesh.empty() || !options.balance.empty() ||
      options.augment)
    return makeError("options for '", options.path,
                     "': got --ranks, --mesh, --balance or --augment, expected "
                     "none: the program in it fixes them");
  if (!options.function.empty())
    return makeError("--function: got '", options.function, "' for '",
                     options.path,
                     "', expected none: a program is in it, no function");
  return Status::success();
}
