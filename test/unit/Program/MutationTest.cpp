//===- MutationTest.cpp - Random edits of valid programs ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MutationCampaign.h"
#include "ProgramTestSupport.h"
#include "Support/ProgramMutator.h"
#include "sparseattn-rt/Executor.h"

#include <cstdlib>
#include <fstream>

using namespace sart;
using namespace sart::test;

namespace {

uint64_t fromEnvironment(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// SPARSEATTN_MUTATIONS edits from seed SPARSEATTN_MUTATION_SEED on; the tally
/// goes to the file SPARSEATTN_MUTATION_REPORT.
TEST(Mutation, EveryEditIsRefusedOrChangesNothing) {
  uint64_t begin = fromEnvironment("SPARSEATTN_MUTATION_SEED", 0);
  uint64_t edits = fromEnvironment("SPARSEATTN_MUTATIONS", 10000);
  MutationTally tally = runMutations(mutationBases(), begin, begin + edits);
  std::string json = toJson(tally, begin, begin + edits);
  if (const char *path = std::getenv("SPARSEATTN_MUTATION_REPORT"))
    std::ofstream(path) << json;
  EXPECT_EQ(tally.edits, edits);
  for (const std::string &wrong : tally.wrong)
    ADD_FAILURE() << "accepted: " << wrong;
  for (const auto &[place, survivors] : tally.survivors)
    EXPECT_NE(survivorReason(place.first, place.second), "")
        << place.first << " of " << place.second << ": " << survivors.example;
  // Most edits break something; those that change nothing that matters, such
  // as the order of independent instructions, are not refused.
  EXPECT_GT(tally.accepted, edits / 100);
  EXPECT_LT(tally.accepted, edits / 2);
  for (const char *rule : {"matching", "lifetime", "content", "range"})
    EXPECT_GT(tally.refused[rule], 0u) << rule;
}

TEST(Mutation, ManyEditsAtOnce) {
  std::vector<MutationBase> programs = mutationBases();
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
