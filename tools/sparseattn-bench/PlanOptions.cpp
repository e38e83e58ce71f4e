//===- PlanOptions.cpp - Options of sparseattn-bench plan -----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PlanOptions.h"

#include "MeshOption.h"

using namespace sart;

Status sart::parsePlanOptions(int argc, char **argv, PlanOptions &options,
                              std::string &helpText) {
  std::string first, balance = "swap", mesh;
  int64_t ranks = 0;
  CommandLine line("sparseattn-bench plan", "--traces FILE... [options]",
                   "Runs a planner over the masks of traces: balance before "
                   "and after, what moves, and the time of planning.");
  line.addText("traces", "FILE...", "traces (.bmt)", first);
  line.addInteger("ranks", "N", "ranks (default: those of --mesh, else 8)", 1,
                  maxRanks, ranks);
  line.addText("mesh", "ulysses=U,ring=R",
               "axes (default: all ranks along ulysses)", mesh);
  line.addChoice("balance", "planner (default swap)",
                 {"none", "swap", "split", "pre"}, balance);
  line.addFlag("repair", "pre: even out with row moves what heads leave",
               options.planner.repair);
  line.addInteger("max-pieces", "N",
                  "split: most row moves into and out of a rank (default 6)", 0,
                  maxRanks, options.planner.maxPieces);
  line.addFlag("augment", "fill the slack with further tiles",
               options.planner.augment);
  line.addInteger("n1", "N",
                  "share of a rank's slack that tiles fill, thousandths", 0,
                  1000, options.planner.n1Milli);
  line.addInteger("n2", "N",
                  "least slack, share of the largest load, thousandths", 0,
                  1000000, options.planner.n2Milli);
  line.addInteger("reuse", "N",
                  "keep the last step's moves while rho is below N thousandths "
                  "(default 0: never)",
                  0, 1000000, options.reuseMilli);
  line.addInteger("kv-heads", "N", "heads of keys (default: as heads)", 1, 1024,
                  options.kvHeads);
  line.addInteger("head-dim", "N", "head dimension (default 128)", 32, 256,
                  options.headDim);
  line.addText("machine", "FILE",
               "costs by which moves are judged (default: tiles cost, "
               "transfers do not)",
               options.machine);
  line.addInteger("multiprocessors", "N",
                  "of a device, over which rows are spread (default 132)", 1,
                  4096, options.processors);
  line.addInteger("repetitions", "N", "of every plan (default 5)", 1, 1000,
                  options.repetitions);
  line.addFlag("json", "print JSON instead of a table", options.json);
  helpText = line.help();
  SART_RETURN_IF_ERROR(line.parse(argc, argv));
  options.help = line.helpRequested();
  if (options.help)
    return Status::success();
  if (first.empty())
    return makeError("--traces: got none, expected at least one file");
  options.traces.push_back(first);
  options.traces.insert(options.traces.end(), line.positionals().begin(),
                        line.positionals().end());
  Expected<Balance> parsed = parseBalance(balance);
  if (!parsed)
    return parsed.status();
  options.planner.balance = *parsed;
  if (options.planner.repair && options.planner.balance != Balance::Pre)
    return makeError("--repair: got --balance ", balance, ", expected pre");
  const PlannerOptions defaults;
  if (options.planner.maxPieces != defaults.maxPieces &&
      options.planner.balance != Balance::Split && !options.planner.repair)
    return makeError("--max-pieces: got --balance ", balance,
                     ", expected split, or pre with --repair");
  if (!options.planner.augment &&
      (options.planner.n1Milli != defaults.n1Milli ||
       options.planner.n2Milli != defaults.n2Milli))
    return makeError("--n1 and --n2: got them without --augment, expected "
                     "--augment");
  if (ranks == 0 && mesh.empty())
    ranks = 8;
  Expected<MeshOption> axes = parseMesh(mesh, ranks, maxRanks);
  if (!axes)
    return axes.status();
  options.mesh = {axes->ulysses, axes->ring};
  return Status::success();
}
