//===- RunOptions.cpp - Options of sparseattn-run -------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RunOptions.h"

#include "CommandLine.h"
#include "MachineOption.h"
#include "MeshOption.h"

#include <cmath>
#include <cstdlib>
#include <map>

using namespace sart;

static Status parseBlock(CommandOptions &options) {
  if (options.block.empty())
    return Status::success();
  size_t cross = options.block.find('x');
  if (cross == std::string::npos)
    return makeError("--block: got '", options.block,
                     "', expected QxK, for example 128x128");
  Expected<int64_t> q =
      parseInteger("--block Q", options.block.substr(0, cross), 16, 128);
  if (!q)
    return q.status();
  Expected<int64_t> k =
      parseInteger("--block K", options.block.substr(cross + 1), 16, 128);
  if (!k)
    return k.status();
  options.blockQ = *q;
  options.blockK = *k;
  return Status::success();
}

static Status checkCombination(const CommandOptions &options,
                               const CommandLine &line) {
  size_t sources = line.positionals().size() + (options.attend ? 1 : 0) +
                   (options.program.empty() ? 0 : 1);
  if (line.positionals().size() > 1)
    return makeError("layer files: got ", line.positionals().size(),
                     ", expected one");
  if (sources == 0)
    return makeError("what to run: got nothing, expected LAYER.mlir, --attend "
                     "or --program P.mlir");
  if (sources > 1)
    return makeError("what to run: got ", sources,
                     " of LAYER.mlir, --attend and --program, expected one");
  if (options.attend && options.inputs.empty())
    return makeError("--attend: got no --inputs, expected --inputs F.npz");
  if (!options.attend && options.causal)
    return makeError("--causal: got it without --attend, expected a causal "
                     "mask in the layer file");
  if (!options.attend && !options.block.empty())
    return makeError("--block: got it without --attend, expected the blocks in "
                     "the layer file");
  if (!options.attend && !options.scale.empty())
    return makeError("--scale: got it without --attend, expected the scale in "
                     "the layer file");
  if (!options.program.empty() && !options.plan.empty())
    return makeError("--plan: got it with --program, expected one of them: a "
                     "program has its plan in it");
  if (!options.program.empty() &&
      (!options.mesh.empty() || options.ranks != 0 ||
       !options.balance.empty() || options.augment || !options.dtype.empty()))
    return makeError("--program: got it with --mesh, --ranks, --balance, "
                     "--augment or --dtype, expected none: the program fixes "
                     "them");
  bool cached = !options.cacheDir.empty() && options.cacheDir != "none";
  if (!cached && options.cacheMaxMib)
    return makeError("--cache-max-mib: got it with --cache-dir none, expected "
                     "one of them");
  if (options.device == "reference" &&
      ((cached && options.cacheDir != "default") || options.cacheMaxMib))
    return makeError("--device reference: got it with --cache-dir or "
                     "--cache-max-mib, expected neither: it compiles no "
                     "kernels");
  if (!options.ptxas.empty() && options.device != "cuda")
    return makeError("--ptxas: got it with --device ", options.device,
                     ", expected --device cuda");
  if (options.dtype == "f32" && options.device == "cuda")
    return makeError("--dtype: got 'fp32' with --device cuda, expected bf16 or "
                     "fp16");
  if (options.seed >= 0 && !options.inputs.empty())
    return makeError("--seed: got it with --inputs, expected one of them");
  for (auto [what, given] :
       {std::pair<const char *, bool>{"--outputs", !options.outputs.empty()},
        {"--save-plan", !options.savePlan.empty()},
        {"--save-program", !options.saveProgram.empty()},
        {"--report", !options.report.empty()},
        {"--report-html", !options.reportHtml.empty()},
        {"--trace", !options.trace.empty()},
        {"--check", options.check},
        {"--explain", options.explain}})
    if (options.compileOnly && given)
      return makeError(what, ": got it with --compile-only, expected one of "
                             "them");
  return Status::success();
}

/// The machine, and what needs one.
static Status readMachine(CommandOptions &options) {
  if (options.machine.empty()) {
    bool mesh = options.mesh == "auto";
    if (mesh || options.balance == "auto")
      return makeError(mesh ? "--mesh" : "--balance",
                       ": got 'auto' without --machine, expected --machine "
                       "M.json, which has what it is chosen by");
    return Status::success();
  }
  if (options.mesh == "auto" && options.ranks == 0)
    return makeError("--ranks: got none with --mesh auto, expected the number "
                     "of ranks");
  options.autoRanks = options.mesh == "auto" ? options.ranks : 0;
  Expected<Machine> machine = loadMachine(options.machine);
  if (!machine)
    return machine.status();
  options.machineText = machine->text();
  return Status::success();
}

/// No output may replace an input or another output.
static Status checkDistinctFiles(const CommandOptions &options) {
  struct File {
    const char *what;
    const std::string &path;
    bool output;
  };
  std::map<std::string, const char *> seen;
  for (const File &file : {File{"the layer", options.layerPath, false},
                           {"--inputs", options.inputs, false},
                           {"--plan", options.plan, false},
                           {"--program", options.program, false},
                           {"--outputs", options.outputs, true},
                           {"--save-plan", options.savePlan, true},
                           {"--save-program", options.saveProgram, true},
                           {"--report", options.report, true},
                           {"--report-html", options.reportHtml, true},
                           {"--trace", options.trace, true}}) {
    if (file.path.empty())
      continue;
    auto [place, fresh] = seen.insert({resolvedPath(file.path), file.what});
    if (!fresh && file.output)
      return makeError(file.what, ": got '", file.path, "', the file of ",
                       place->second, ", expected another one");
  }
  return Status::success();
}

Status sart::parseOptions(int argc, char **argv, CommandOptions &options,
                          std::string &helpText) {
  CommandLine line("sparseattn-run",
                   "LAYER.mlir | --attend | --program P.mlir [options]",
                   "Compiles a layer and runs it over N ranks.");
  line.addText("inputs", "F.npz",
               "q, k, v [heads, tokens, dim]; optional bool mask "
               "[heads, q-blocks, kv-blocks] (default: random)",
               options.inputs);
  line.addText("outputs", "G.npz", "out in q's dtype and lse [heads, tokens]",
               options.outputs);
  line.addInteger("ranks", "N", "number of ranks", 1, maxLocalRanks,
                  options.ranks);
  line.addText("mesh", "ulysses=U,ring=R",
               "mesh of ranks; auto, with --machine: the one with the least "
               "predicted time",
               options.mesh);
  line.addChoice("balance",
                 "how ranks are balanced; auto, with --machine: as the least "
                 "predicted time says",
                 {"none", "swap", "split", "pre", "auto"}, options.balance);
  line.addFlag("repair", "even out with row moves what --balance pre leaves",
               options.repair);
  line.addFlag("augment", "fill slack with next-best blocks", options.augment);
  line.addChoice("device", "where kernels run (reference: interpreter)",
                 {"cpu", "cuda", "reference"}, options.device);
  line.addText("ptxas", "PATH",
               "assembler of --device cuda (default: of CUDA_HOME, then of "
               "PATH), or none: the driver's",
               options.ptxas);
  line.addChoice("transport",
                 "how ranks exchange data (mpi: one process each, started "
                 "here unless mpirun has done so)",
                 {"local", "mpi"}, options.transport, {"nccl", "peer"});
  line.addParsed("dtype", "fp32|bf16|fp16", "element type of q, k, v and out",
                 [&](const std::string &text) {
                   if (text == "fp32" || text == "f32")
                     options.dtype = "f32";
                   else if (text == "bf16")
                     options.dtype = "bf16";
                   else if (text == "fp16" || text == "f16")
                     options.dtype = "f16";
                   else
                     return makeError("--dtype: got '", text,
                                      "', expected one of fp32, bf16, fp16");
                   return Status::success();
                 });
  line.addFlag("attend",
               "no layer file: attend with the inputs' mask, dense "
               "without one",
               options.attend);
  line.addText("block", "QxK", "block shape of --attend (default 128x128)",
               options.block);
  line.addFlag("causal",
               "causal --attend: query i sees key j iff "
               "j <= i + Skv - Sq",
               options.causal);
  line.addParsed("scale", "X", "scale of --attend (default 1/sqrt(dim))",
                 [&](const std::string &text) {
                   char *end = nullptr;
                   options.scaleValue = std::strtod(text.c_str(), &end);
                   if (text.empty() || *end != '\0' ||
                       !std::isfinite(options.scaleValue) ||
                       options.scaleValue == 0)
                     return makeError("--scale: got '", text,
                                      "', expected a finite number other "
                                      "than 0");
                   options.scale = text;
                   return Status::success();
                 });
  line.addText("plan", "P.mlir", "run this plan instead of planning",
               options.plan);
  line.addText("program", "P.mlir", "run this bound program", options.program);
  line.addText("save-plan", "P.mlir", "write the plan that ran",
               options.savePlan);
  line.addText("save-program", "P.mlir", "write the bound program that ran",
               options.saveProgram);
  line.addOptionalValue("check",
                        "compare sampled (or all) rows with the "
                        "reference",
                        {"full"}, options.check, options.checkMode);
  line.addText("report", "R.json", "write a report", options.report);
  line.addText("report-html", "R.html",
               "write the report as a page: masks, loads, links, timeline",
               options.reportHtml);
  line.addText("trace", "T.json", "write a Perfetto trace", options.trace);
  line.addFlag("explain", "say who does what and what crosses each link",
               options.explain);
  line.addFlag("compile-only", "compile, fill the cache, run nothing",
               options.compileOnly);
  line.addTextOrEmpty("cache-dir", "DIR",
                      "keep compiled kernels there, 'none': nowhere (default: "
                      "$XDG_CACHE_HOME/sparseattn or $HOME/.cache/sparseattn)",
                      options.cacheDir);
  line.addInteger("cache-max-mib", "N",
                  "bound of what the cache keeps (default 256)", 1, 1 << 20,
                  options.cacheMaxMib);
  line.addInteger("seed", "N", "seed of random inputs (default 0)", 0,
                  INT32_MAX, options.seed);
  line.addInteger("threads", "N", "worker threads (default: one per core)", 1,
                  1024, options.threads);
  line.addInteger("timeout-ms", "N",
                  "bound of every wait between ranks (default 60000)", 1,
                  86400000, options.timeoutMs);
  line.addText("machine", "M.json",
               "costs for planning, and predicted times with --explain: a "
               "file, or the name of one that came along (h200x8, ...)",
               options.machine);
  helpText = line.help();
  SART_RETURN_IF_ERROR(line.parse(argc, argv));
  options.help = line.helpRequested();
  if (options.help)
    return Status::success();
  SART_RETURN_IF_ERROR(checkCombination(options, line));
  if (!line.positionals().empty())
    options.layerPath = line.positionals().front();
  SART_RETURN_IF_ERROR(readMachine(options));
  Expected<MeshOption> mesh = options.mesh == "auto"
                                  ? Expected<MeshOption>(MeshOption())
                                  : parseMesh(options.mesh, options.ranks);
  if (!mesh)
    return mesh.status();
  if (options.cacheDir == "none")
    options.cacheDir.clear();
  options.ulysses = mesh->ulysses;
  options.ring = mesh->ring;
  SART_RETURN_IF_ERROR(parseBlock(options));
  for (auto [what, path] :
       {std::pair<const char *, std::string *>{"--outputs", &options.outputs},
        {"--save-plan", &options.savePlan},
        {"--save-program", &options.saveProgram},
        {"--report", &options.report},
        {"--report-html", &options.reportHtml},
        {"--trace", &options.trace}})
    if (!path->empty())
      SART_RETURN_IF_ERROR(checkWritable(what, *path));
  SART_RETURN_IF_ERROR(checkDistinctFiles(options));
  return Status::success();
}
