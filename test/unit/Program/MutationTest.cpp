//===- MutationTest.cpp - Random edits of valid programs ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramTestSupport.h"
#include "Support/ProgramMutator.h"
#include "sparseattn-rt/Executor.h"

#include <cmath>
#include <limits>
#include <map>
#include <random>

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

/// Whole tensors of a layer; scores of magnitude 10 and more.
struct Layer {
  explicit Layer(const LayerShape &shape) : shape(shape) {
    std::mt19937_64 random(5);
    auto fill = [&](std::vector<float> &values, int64_t heads, int64_t rows) {
      values.resize(static_cast<size_t>(heads * rows * shape.headDim));
      for (float &value : values)
        value = static_cast<float>(static_cast<int64_t>(random() % 801) - 400) /
                100;
    };
    fill(q, shape.heads, shape.sq);
    fill(k, shape.kvHeads, shape.skv);
    fill(v, shape.kvHeads, shape.skv);
  }

  /// Runs the program over outputs full of NaN.
  Status run(const Program &program, std::vector<float> &o,
             std::vector<float> &lse) {
    float nan = std::numeric_limits<float>::quiet_NaN();
    o.assign(q.size(), nan);
    lse.assign(static_cast<size_t>(shape.heads * shape.sq), nan);
    ExecutorOptions options;
    options.poison = true;
    options.validate = false;
    options.timeoutMs = 10000;
    auto executor = Executor::create(program, backend, options);
    if (!executor)
      return executor.status();
    auto tensor = [&](std::vector<float> &values, int64_t heads, int64_t rows,
                      int64_t elements) {
      return Tensor::contiguous(values.data(), DType::F32, heads, rows,
                                elements);
    };
    RunStats stats;
    return (*executor)->run(
        shardViews(program.placement,
                   tensor(q, shape.heads, shape.sq, shape.headDim),
                   tensor(k, shape.kvHeads, shape.skv, shape.headDim),
                   tensor(v, shape.kvHeads, shape.skv, shape.headDim),
                   tensor(o, shape.heads, shape.sq, shape.headDim),
                   tensor(lse, shape.heads, shape.sq, 1)),
        {}, stats);
  }

  LayerShape shape;
  std::vector<float> q, k, v;
  std::shared_ptr<Backend> backend =
      createReferenceBackend(std::make_shared<ThreadPool>(1));
};

/// Largest difference; NaN differs from everything.
float distance(const std::vector<float> &a, const std::vector<float> &b) {
  float most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i])
      continue; // also -inf
    float apart = std::abs(a[i] - b[i]);
    if (!(apart <= most))
      most = apart;
  }
  return most;
}

TEST(Mutation, AcceptedEditsComputeTheSame) {
  std::vector<Base> programs = bases();
  uint64_t ran = 0;
  for (Base &base : programs) {
    Layer layer(base.program.placement.shape);
    std::vector<float> o, lse, otherO, otherLse;
    Status status = layer.run(base.program, o, lse);
    ASSERT_TRUE(status.ok()) << status.message();
    for (uint64_t seed = 0; seed < 1000; ++seed) {
      Program mutant = base.program;
      std::string what = mutateProgram(mutant, 1000003 * seed + 7);
      if (!validateBound(mutant).empty())
        continue;
      SCOPED_TRACE(concat(base.name, " seed ", seed, ": ", what));
      ++ran;
      status = layer.run(mutant, otherO, otherLse);
      EXPECT_TRUE(status.ok()) << status.message();
      EXPECT_LE(distance(o, otherO), 1e-5f);
      EXPECT_LE(distance(lse, otherLse), 1e-5f);
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
