//===- Choice.cpp - Machine options of a layer ----------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Choice.h"

#include "sparseattn/Jit/LayerChoice.h"

#include "sparseattn-rt/ExpectedMask.h"

using namespace capi;
using namespace mlir::sparseattn;
using sart::Expected;
using sart::Status;

static Status checkOptions(const sa_layer_options &options, bool anyBalance) {
  if (!options.machine) {
    if (options.auto_ranks || anyBalance)
      return sart::makeError(anyBalance ? "balance" : "auto_ranks",
                             ": got auto without a machine, expected one");
    return Status::success();
  }
  if (options.auto_ranks < 0 || options.auto_ranks > sart::maxRanks)
    return sart::makeError("auto_ranks: got ", options.auto_ranks,
                           ", expected 0 to ", sart::maxRanks);
  if (options.auto_ranks && (options.ulysses || options.ring))
    return sart::makeError("auto_ranks: got it with ulysses ", options.ulysses,
                           " and ring ", options.ring,
                           ", expected neither of them");
  return Status::success();
}

Status capi::applyMachine(const sa_engine &engine, std::string_view text,
                          const sa_layer_options &options,
                          LayerOptions &layerOptions, std::string &choice) {
  bool anyBalance = layerOptions.balance == "auto";
  SART_RETURN_IF_ERROR(checkOptions(options, anyBalance));
  if (!options.machine)
    return Status::success();
  Expected<sart::Machine> machine =
      sart::Machine::parse({options.machine, options.machine_size});
  if (!machine)
    return sart::makeError("machine: ", machine.message());
  layerOptions.machine =
      std::make_shared<const sart::Machine>(std::move(*machine));
  bool anyMesh = options.auto_ranks > 0;
  // A balance that is not given is open where the mesh is.
  anyBalance |= anyMesh && layerOptions.balance.empty();
  if (!anyMesh && !anyBalance)
    return Status::success();

  CompilerOptions none;
  none.device = CompilerOptions::Device::None;
  auto compiler = LayerCompiler::create(none);
  if (!compiler)
    return compiler.status();
  LayerOptions trial = layerOptions;
  if (anyBalance)
    trial.balance.clear();
  Expected<CompiledLayer> layer = (*compiler)->compileLayer(text, trial);
  if (!layer)
    return layer.status();
  const sart::LayerShape &shape = layer->program.placement.shape;
  if (engine.device == "cuda" && !trial.dtype &&
      shape.dtype == sart::DType::F32)
    trial.dtype = sart::DType::BF16;
  sart::BlockMask mask =
      layer->program.bound
          ? *layer->program.mask
          : sart::expectedMask(shape, sart::expectedDensityMilli(
                                          layer->program.policy, shape));
  ChoiceOptions choiceOptions;
  choiceOptions.ranks =
      anyMesh ? options.auto_ranks : layer->program.placement.mesh.ranks();
  choiceOptions.anyMesh = anyMesh;
  choiceOptions.anyBalance = anyBalance;
  Expected<LayerChoice> made = chooseLayer(
      **compiler, text, trial, *layerOptions.machine, mask, choiceOptions);
  if (!made)
    return made.status();
  const LayerCandidate &best = made->candidates[made->best];
  layerOptions.ulysses = best.ulysses;
  layerOptions.ring = best.ring;
  layerOptions.balance = best.balance;
  choice = made->text();
  return Status::success();
}
