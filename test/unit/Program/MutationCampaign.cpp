//===- MutationCampaign.cpp - Many random edits of valid programs ---------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MutationCampaign.h"

#include "OneSidedPrograms.h"
#include "Support/ProgramMutator.h"
#include "Support/ProgramRun.h"

#include <nlohmann/json.hpp>

#include "Support/RandomPlan.h"

#include <memory>

using namespace sart;
using namespace sart::test;

std::vector<MutationBase> test::mutationBases() {
  TemplateOptions options;
  options.planner.k1Milli = options.planner.k2Milli = 1000;
  auto random = [&](int64_t ulysses, int64_t ring, int64_t heads,
                    int64_t kvHeads, int64_t sq, int64_t skv,
                    bool causal = false) {
    Placement placement = makePlacement(ulysses, ring, heads, kvHeads, sq, skv);
    placement.shape.causal = causal;
    return boundOf(placement, maskFor(placement, 0.4, 17), options);
  };
  auto moved = [&](Balance balance, int64_t ulysses, int64_t ring,
                   int64_t heads, int64_t kvHeads) {
    Placement placement =
        makePlacement(ulysses, ring, heads, kvHeads, 110, 130);
    placement.blockShards = balance == Balance::Pre;
    TemplateOptions rows;
    rows.planner.balance = balance;
    rows.planner.repair = true;
    BlockMask mask = maskFor(placement, 0.4, 17);
    Plan plan =
        randomPlan(placement, rows.planner, summarize(mask, placement), 3);
    EXPECT_FALSE(plan.rowMoves.empty());
    Expected<Program> bound =
        buildBound(templateOf(placement, rows), mask, plan);
    EXPECT_TRUE(bound.ok()) << bound.message();
    return bound ? std::move(*bound) : Program();
  };
  return {{"1 rank", random(1, 1, 3, 1, 75, 90)},
          {"2 ranks, heads change places", swapProgram()},
          {"ring 2, grouped heads", ringProgram()},
          {"ring 2, one-sided", putProgram()},
          {"ring 2, one-sided, a stage filled twice", stagedProgram(true)},
          {"ring 3, grouped heads", random(1, 3, 4, 2, 150, 110)},
          {"ulysses 4", random(4, 1, 6, 6, 150, 150)},
          {"ulysses 2 x ring 2", random(2, 2, 5, 5, 150, 170)},
          {"ulysses 5", random(5, 1, 7, 7, 90, 90)},
          {"ulysses 3 x ring 2, causal", random(3, 2, 4, 4, 110, 110, true)},
          {"ring 7", random(1, 7, 2, 2, 130, 130)},
          {"ulysses 4 x ring 2, fewer heads", random(4, 2, 3, 3, 80, 100)},
          {"ulysses 8", random(8, 1, 9, 9, 50, 50)},
          {"ulysses 3, rows move", moved(Balance::Split, 3, 1, 5, 5)},
          {"ulysses 2 x ring 2, rows move", moved(Balance::Split, 2, 2, 4, 2)},
          {"ulysses 3, planned first", moved(Balance::Pre, 3, 1, 5, 5)},
          {"ring 3, planned first", moved(Balance::Pre, 1, 3, 2, 1)}};
}

namespace {

/// A base with its output.
struct Reference {
  explicit Reference(const MutationBase &base)
      : base(base), bytes(serialize(base.program)),
        run(base.program.placement.shape) {
    Status status = run.run(base.program);
    EXPECT_TRUE(status.ok()) << base.name << ": " << status.message();
    o = run.o;
    lse = run.lse;
  }

  /// Empty when the mutant gives the base's output.
  std::string compare(const Program &mutant) {
    if (Status status = run.run(mutant, 60000); !status.ok())
      return status.message();
    // Partial results may be merged in another order.
    float apart = std::max(distance(o, run.o), distance(lse, run.lse));
    return apart <= 1e-5f ? "" : concat("output differs by ", apart);
  }

  const MutationBase &base;
  std::vector<uint8_t> bytes;
  ProgramRun run;
  std::vector<float> o, lse;
};

} // namespace

MutationTally test::runMutations(const std::vector<MutationBase> &bases,
                                 uint64_t begin, uint64_t end) {
  std::vector<std::unique_ptr<Reference>> references;
  for (const MutationBase &base : bases)
    references.push_back(std::make_unique<Reference>(base));
  MutationTally tally;
  for (uint64_t seed = begin; seed < end; ++seed) {
    Reference &reference = *references[seed % references.size()];
    Program mutant = reference.base.program;
    ProgramEdit edit = editProgram(mutant, seed);
    ++tally.edits;
    std::vector<Violation> violations = validateBound(mutant);
    if (!violations.empty()) {
      EXPECT_NE(violations[0].message, "") << edit.text;
      ++tally.refused[violations[0].rule];
      continue;
    }
    if (serialize(mutant) == reference.bytes) {
      ++tally.unchanged;
      continue;
    }
    ++tally.accepted;
    ++tally.perBase[reference.base.name];
    std::string wrong = reference.compare(mutant);
    std::string what =
        concat(reference.base.name, ", seed ", seed, ", ", edit.text);
    if (!wrong.empty()) {
      tally.wrong.push_back(concat(what, ": ", wrong));
      continue;
    }
    auto &survivors = tally.survivors[{edit.kind, edit.opcode}];
    if (survivors.count++ == 0)
      survivors.example = what;
  }
  return tally;
}

std::string test::toJson(const MutationTally &tally, uint64_t begin,
                         uint64_t end) {
  nlohmann::ordered_json json;
  json["seeds"] = {begin, end};
  json["edits"] = tally.edits;
  json["unchanged"] = tally.unchanged;
  json["accepted"] = tally.accepted;
  json["refused"] = tally.refused;
  json["accepted_per_base"] = tally.perBase;
  json["wrong"] = tally.wrong;
  json["survivors"] = nlohmann::ordered_json::array();
  for (const auto &[place, survivors] : tally.survivors) {
    nlohmann::ordered_json survivor;
    survivor["edit"] = place.first;
    survivor["instruction"] = place.second;
    survivor["count"] = survivors.count;
    survivor["example"] = survivors.example;
    survivor["reason"] = survivorReason(place.first, place.second);
    json["survivors"].push_back(survivor);
  }
  return json.dump(1) + "\n";
}
