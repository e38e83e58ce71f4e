//===- Prediction.cpp - What --machine asks for ---------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Prediction.h"

#include "Arrays.h"
#include "MachineOption.h"

#include "sparseattn/Jit/LayerChoice.h"

#include "sparseattn-rt/Executor.h"
#include "sparseattn-rt/ExpectedMask.h"
#include "sparseattn-rt/Timeline.h"
#include "sparseattn-rt/TraceFile.h"

#include <cstdio>

using namespace sart;
using namespace mlir::sparseattn;

static void print(const std::string &text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

Expected<Prediction> Prediction::create(const SimOptions &options) {
  Prediction prediction(options);
  Expected<Machine> machine = loadMachine(options.machine);
  if (!machine)
    return machine.status();
  prediction.machine = std::move(*machine);
  return prediction;
}

/// The recorded or made-up mask of a layer.
Expected<BlockMask> Prediction::maskFor(const Program &layer) const {
  const LayerShape &shape = layer.placement.shape;
  if (options.mask.empty())
    return expectedMask(shape, options.density > 0
                                   ? options.density
                                   : expectedDensityMilli(layer.policy, shape));
  Expected<TraceFile> trace = TraceFile::read(options.mask);
  if (!trace)
    return makeError("--mask: ", trace.message());
  if (trace->heads != shape.heads || trace->tokens != shape.sq ||
      trace->tokens != shape.skv || trace->tileQ != shape.blockQ ||
      shape.blockK % trace->tileK != 0)
    return makeError("--mask ", options.mask, ": got ", trace->heads,
                     " heads of ", trace->tokens, " tokens in tiles of ",
                     trace->tileQ, "x", trace->tileK, ", expected ",
                     shape.heads, " heads of ", shape.sq,
                     " tokens in blocks of ", shape.blockQ, "x", shape.blockK,
                     " or parts of them along the keys");
  if (!trace->hasMasks && trace->tileK == shape.blockK &&
      options.instance < static_cast<int64_t>(trace->instances.size())) {
    // Loads alone: the tiles of each head are as many, wherever they are.
    if (!options.json)
      print("mask       made up: '" + options.mask + "' has loads only\n");
    return maskOfLoads(
        shape, trace->instances[static_cast<size_t>(options.instance)].loads);
  }
  Expected<BlockMask> mask =
      trace->mask(options.instance, shape.blockK / trace->tileK);
  if (!mask)
    return makeError("--mask ", options.mask, ": ", mask.message());
  return mask;
}

Expected<std::optional<Program>>
Prediction::bindFile(const std::string &contents, bool isProgram) const {
  CompilerOptions none;
  none.device = CompilerOptions::Device::None;
  auto compiler = LayerCompiler::create(none);
  if (!compiler)
    return compiler.status();
  auto named = [&](const Status &status) {
    return makeError(options.path, ": ", status.message());
  };
  LayerOptions layerOptions;
  layerOptions.ulysses = options.axes.ulysses;
  layerOptions.ring = options.axes.ring;
  if (!options.autoBalance())
    layerOptions.balance = options.balance;
  layerOptions.augment = options.augment;
  layerOptions.machine = std::make_shared<const Machine>(machine);
  Expected<CompiledLayer> layer =
      isProgram ? (*compiler)->compileProgram(contents)
                : (*compiler)->compileLayer(contents, layerOptions);
  if (!layer)
    return named(layer.status());
  bool given = !options.mask.empty() || options.density > 0;
  bool open = options.autoMesh() || options.autoBalance();
  if (layer->program.bound && given)
    return makeError("--mask or --density: got one for '", options.path,
                     "', expected none: its mask is constant");
  if (layer->program.bound && !open)
    return std::optional<Program>(std::move(layer->program));
  if (!given && !open && !options.json)
    return std::optional<Program>();
  Expected<BlockMask> mask = layer->program.bound
                                 ? Expected<BlockMask>(*layer->program.mask)
                                 : maskFor(layer->program);
  if (!mask)
    return mask.status();
  if (!open) {
    Expected<Program> bound = bindLayer(*layer, *mask, machine);
    if (!bound)
      return named(bound.status());
    return std::optional<Program>(std::move(*bound));
  }
  ChoiceOptions choiceOptions;
  choiceOptions.ranks =
      options.ranks > 0 ? options.ranks : layer->program.placement.mesh.ranks();
  choiceOptions.anyMesh = options.autoMesh();
  choiceOptions.anyBalance = options.autoBalance();
  Expected<LayerChoice> choice = chooseLayer(**compiler, contents, layerOptions,
                                             machine, *mask, choiceOptions);
  if (!choice)
    return named(choice.status());
  if (!options.json)
    print(choice->text());
  return std::optional<Program>(std::move(choice->program));
}

Status Prediction::report(const Program &bound) const {
  Expected<Timeline> timeline = simulate(bound, machine);
  if (!timeline)
    return makeError(options.path, ": ", timeline.message());
  if (!options.trace.empty()) {
    std::string trace = timelineTrace(bound, *timeline);
    SART_RETURN_IF_ERROR(
        writeFileAtomically(options.trace, trace.data(), trace.size()));
  }
  if (options.json) {
    print(timelineJson(bound, machine, *timeline));
    return Status::success();
  }
  print(explainTimeline(bound, machine));
  return Status::success();
}
