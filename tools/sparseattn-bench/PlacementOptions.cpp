//===- PlacementOptions.cpp - Options of sparseattn-bench placement -------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "OptionParsers.h"
#include "PlacementBench.h"

using namespace sart;

/// --traces takes one value; the files after it are positional arguments.
static void addTraces(CommandLine &line, PlacementOptions &options) {
  line.addParsed("traces", "FILE...", "block-mask traces (.bmt) with masks",
                 [&](const std::string &text) {
                   options.traces.push_back(text);
                   return Status::success();
                 });
}

Status sart::parsePlacementOptions(int argc, char **argv,
                                   PlacementOptions &options,
                                   std::string &helpText) {
  CommandLine line("sparseattn-bench placement", "--traces FILE... [options]",
                   "Counts the kv-blocks that the masks of traces send over a "
                   "ring when blocks are placed by a rule, before and after "
                   "rows move to balance the ranks.");
  addTraces(line, options);
  line.addInteger("ranks", "N", "ranks of the ring (default 8)", 1, maxRanks,
                  options.ranks);
  line.addParsed("placement", "NAME",
                 "contiguous, stripes, tiles<t=N,h=N>, auto (of these and the "
                 "rows that move the fewest bytes) or all (default)",
                 [&](const std::string &text) -> Status {
                   options.placement = text;
                   if (text == "all" || text == "auto")
                     return Status::success();
                   if (parseBlockRule(text))
                     return Status::success();
                   return makeError(
                       "--placement: got '", text,
                       "', expected contiguous, stripes, tiles<t=N,h=N>, "
                       "auto or all");
                 });
  line.addInteger("first", "N",
                  "instances of a trace that auto looks at (default: all)", 1,
                  1 << 20, options.first);
  line.addInteger("hilbert-bits", "N",
                  "a trace's Hilbert curve runs over the smallest cube of side "
                  "2^N or more that holds the grid (default 7)",
                  1, 20, options.hilbertBits);
  line.addInteger("rho-milli", "N",
                  "thousandths of the mean that a rank's load may reach after "
                  "repair (default 1020)",
                  1000, 1000000, options.repair.rhoMilli);
  line.addInteger("moved-milli", "N",
                  "thousandths of the rows that may move to save bytes, those "
                  "that balance included (default 100)",
                  0, 1000, options.repair.movedMilli);
  line.addFlag("hybrid",
               "compare Ulysses x ring meshes on a machine instead, for the "
               "first mask of each trace",
               options.hybrid);
  line.addText("machine", "FILE",
               "with --hybrid: machine file, or the name of a shipped one",
               options.machine);
  line.addInteger("head-dim", "N",
                  "with --hybrid: head dimension (default 128)", 32, 256,
                  options.headDim);
  line.addFlag("json", "print JSON instead of a table", options.json);
  helpText = line.help();
  SART_RETURN_IF_ERROR(line.parse(argc, argv));
  options.help = line.helpRequested();
  if (options.help)
    return Status::success();
  options.traces.insert(options.traces.end(), line.positionals().begin(),
                        line.positionals().end());
  if (options.hybrid == options.machine.empty())
    return makeError(options.hybrid
                         ? "--machine: got none, expected a file with --hybrid"
                         : "--machine: got it without --hybrid, expected both");
  if (options.traces.empty())
    return makeError("--traces: got none, expected at least one file");
  return Status::success();
}
