//===- MutationTest.cpp - Random edits of valid programs ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramTestSupport.h"
#include "Support/ProgramMutator.h"
#include "Support/ProgramRun.h"

#include <map>

using namespace sart;
using namespace sart::test;

namespace {

struct Base {
  const char *name;
  Program program;
};

std::vector<Base> bases() {
  TemplateOptions options;
  options.planner.k1Milli = options.planner.k2Milli = 1000;
  auto random = [&](int64_t ulysses, int64_t ring, int64_t heads,
                    int64_t kvHeads, int64_t sq, int64_t skv) {
    Placement placement = makePlacement(ulysses, ring, heads, kvHeads, sq, skv);
    return boundOf(placement, maskFor(placement, 0.4, 17), options);
  };
  return {{"swap", swapProgram()},
          {"ring", ringProgram()},
          {"ulysses 4", random(4, 1, 6, 6, 150, 150)},
          {"ulysses 2 x ring 2", random(2, 2, 5, 5, 150, 170)},
          {"ring 3, grouped heads", random(1, 3, 4, 2, 150, 110)}};
}

TEST(Mutation, EveryEditIsJudgedAndNoneHangs) {
  constexpr uint64_t edits = 10000;
  std::map<std::string, uint64_t> rules;
  uint64_t accepted = 0;
  std::vector<Base> programs = bases();
  for (uint64_t seed = 0; seed < edits; ++seed) {
    const Base &base = programs[seed % programs.size()];
    Program mutant = base.program;
    std::string what = mutateProgram(mutant, seed);
    SCOPED_TRACE(concat(base.name, " seed ", seed, ": ", what));
    std::vector<Violation> violations = validateBound(mutant);
    if (violations.empty()) {
      ++accepted;
      continue;
    }
    ++rules[violations[0].rule];
    EXPECT_NE(violations[0].message, "");
  }
  std::printf("%llu of %llu edits accepted; refused by",
              static_cast<unsigned long long>(accepted),
              static_cast<unsigned long long>(edits));
  for (const auto &[rule, count] : rules)
    std::printf(" %s %llu", rule.c_str(),
                static_cast<unsigned long long>(count));
  std::printf("\n");
  // Most edits break something; edits that change nothing that matters (order
  // of independent instructions, releases at the end) are not refused.
  EXPECT_LT(accepted, edits / 2);
  EXPECT_GT(rules["matching"], 0u);
  EXPECT_GT(rules["lifetime"], 0u);
  EXPECT_GT(rules["content"], 0u);
}

TEST(Mutation, AcceptedEditsComputeTheSame) {
  std::vector<Base> programs = bases();
  uint64_t ran = 0;
  for (Base &base : programs) {
    ProgramRun run(base.program.placement.shape);
    Status status = run.run(base.program);
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<float> o = run.o, lse = run.lse;
    for (uint64_t seed = 0; seed < 1000; ++seed) {
      Program mutant = base.program;
      std::string what = mutateProgram(mutant, 1000003 * seed + 7);
      if (!validateBound(mutant).empty())
        continue;
      SCOPED_TRACE(concat(base.name, " seed ", seed, ": ", what));
      ++ran;
      status = run.run(mutant);
      EXPECT_TRUE(status.ok()) << status.message();
      EXPECT_LE(distance(o, run.o), 1e-5f);
      EXPECT_LE(distance(lse, run.lse), 1e-5f);
    }
  }
  EXPECT_GT(ran, 500u);
}

TEST(Mutation, ManyEditsAtOnce) {
  std::vector<Base> programs = bases();
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Program mutant = programs[seed % programs.size()].program;
    for (uint64_t i = 0; i < 1 + seed % 20; ++i)
      (void)mutateProgram(mutant, seed * 100 + i);
    if (seed % 10 == 0)
      EXPECT_NE(explainProgram(mutant), "");
    else
      (void)validateBound(mutant);
  }
}

} // namespace
