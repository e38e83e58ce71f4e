//===- LayerChoice.cpp - A layer's mesh and balance by their time ---------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sparseattn/Jit/LayerChoice.h"

#include "sparseattn-rt/Binder.h"

#include <algorithm>
#include <cstdio>

using namespace mlir;
using namespace mlir::sparseattn;
using sart::Expected;
using sart::Status;

/// Simplest first.
static constexpr const char *balances[] = {"none", "swap", "split", "pre"};

Expected<sart::Program> sparseattn::bindLayer(const CompiledLayer &layer,
                                              const sart::BlockMask &mask,
                                              const sart::Machine &machine) {
  if (layer.program.bound)
    return layer.program;
  const sart::Placement &placement = layer.program.placement;
  const sart::LayerShape &shape = placement.shape;
  if (mask.heads() != shape.heads || mask.qBlocks() != shape.qBlocks() ||
      mask.kvBlocks() != shape.kvBlocks())
    return sart::makeError("heads x q-blocks x kv-blocks of the mask: got ",
                           mask.heads(), " x ", mask.qBlocks(), " x ",
                           mask.kvBlocks(), ", expected ", shape.heads, " x ",
                           shape.qBlocks(), " x ", shape.kvBlocks());
  sart::Program program = layer.program;
  program.planner.cost = machine.costModel(placement);
  Expected<sart::Plan> plan =
      layer.fixedPlan ? Expected<sart::Plan>(*layer.fixedPlan)
                      : sart::makePlan(sart::summarize(mask, placement),
                                       placement, program.planner);
  if (!plan)
    return plan.status();
  Expected<sart::Binding> binding = sart::bindPlan(program, *plan);
  if (!binding)
    return binding.status();
  return sart::bindProgram(program, *binding, mask);
}

namespace {

class Chooser {
public:
  Chooser(LayerCompiler &compiler, std::string_view text,
          const sart::Machine &machine, const sart::BlockMask &mask)
      : compiler(compiler), text(text), machine(machine), mask(mask) {}

  /// Predicts one candidate.
  void add(const LayerOptions &options) {
    LayerCandidate candidate;
    candidate.balance = options.balance;
    Expected<sart::Program> program = bind(options);
    if (!program) {
      candidate.ulysses = options.ulysses;
      candidate.ring = options.ring;
      candidate.problem = program.message();
    } else {
      candidate.ulysses = program->placement.mesh.ulysses;
      candidate.ring = program->placement.mesh.ring;
      Expected<sart::Timeline> timeline = sart::simulate(*program, machine);
      if (timeline)
        note(candidate, *timeline);
      else
        candidate.problem = timeline.message();
    }
    tried.push_back(options);
    choice.candidates.push_back(std::move(candidate));
  }

  Expected<LayerChoice> finish() {
    int64_t least = INT64_MAX;
    for (const LayerCandidate &candidate : choice.candidates)
      if (candidate.problem.empty())
        least = std::min(least, candidate.makespanPs);
    // Candidates come in the order of preference.
    constexpr double margin = 1.03;
    auto chosen =
        std::find_if(choice.candidates.begin(), choice.candidates.end(),
                     [&](const LayerCandidate &candidate) {
                       return candidate.problem.empty() &&
                              static_cast<double>(candidate.makespanPs) <=
                                  margin * static_cast<double>(least);
                     });
    if (chosen == choice.candidates.end())
      return Status::error(choice.candidates.front().problem);
    choice.best = static_cast<size_t>(chosen - choice.candidates.begin());
    Expected<sart::Program> program = bind(tried[choice.best]);
    if (!program)
      return program.status();
    choice.program = std::move(*program);
    return std::move(choice);
  }

private:
  Expected<sart::Program> bind(const LayerOptions &options) {
    Expected<CompiledLayer> layer = compiler.compileLayer(text, options);
    if (!layer)
      return layer.status();
    return bindLayer(*layer, mask, machine);
  }

  static void note(LayerCandidate &candidate, const sart::Timeline &timeline) {
    candidate.makespanPs = timeline.makespanPs;
    for (const sart::TimelineRank &rank : timeline.ranks) {
      candidate.computePs = std::max(candidate.computePs, rank.computePs);
      candidate.exposedPs = std::max(candidate.exposedPs, rank.exposedPs);
    }
  }

  LayerChoice choice;
  std::vector<LayerOptions> tried;
  LayerCompiler &compiler;
  std::string_view text;
  const sart::Machine &machine;
  const sart::BlockMask &mask;
};

} // namespace

Expected<LayerChoice> sparseattn::chooseLayer(LayerCompiler &compiler,
                                              std::string_view text,
                                              const LayerOptions &given,
                                              const sart::Machine &machine,
                                              const sart::BlockMask &mask,
                                              const ChoiceOptions &options) {
  if (options.ranks < 1 || options.ranks > machine.ranks())
    return sart::makeError("ranks: got ", options.ranks, ", expected 1 to ",
                           machine.ranks(), " of the machine '", machine.name,
                           "'");
  Chooser chooser(compiler, text, machine, mask);
  for (int64_t ring = 1; ring <= options.ranks; ++ring) {
    if (options.anyMesh ? options.ranks % ring != 0 : ring > 1)
      continue;
    LayerOptions candidate = given;
    if (options.anyMesh) {
      candidate.ring = ring;
      candidate.ulysses = options.ranks / ring;
    }
    for (const char *balance : balances) {
      if (options.anyBalance)
        candidate.balance = balance;
      chooser.add(candidate);
      if (!options.anyBalance)
        break;
    }
  }
  return chooser.finish();
}

std::string LayerChoice::text() const {
  std::string result = "candidates\n";
  for (size_t i = 0; i < candidates.size(); ++i) {
    const LayerCandidate &c = candidates[i];
    std::string balance = c.balance.empty() ? "" : ", balance " + c.balance;
    result +=
        sart::concat("  ulysses=", c.ulysses, ",ring=", c.ring, balance, ": ");
    if (!c.problem.empty()) {
      result += c.problem.substr(0, c.problem.find('\n')) + "\n";
      continue;
    }
    char times[160];
    std::snprintf(times, sizeof times,
                  "%.3f us, most work %.3f us, most exposed communication "
                  "%.3f us%s\n",
                  static_cast<double>(c.makespanPs) / 1e6,
                  static_cast<double>(c.computePs) / 1e6,
                  static_cast<double>(c.exposedPs) / 1e6,
                  i == best ? " <- chosen" : "");
    result += times;
  }
  return result;
}
