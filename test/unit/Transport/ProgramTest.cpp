//===- ProgramTest.cpp - Programs over every transport --------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ProgramWorld.h"

using namespace sart;
using namespace sart::test;

namespace {

class Programs : public TransportTest {};
class ProgramsApart : public TransportTest {};

} // namespace

INSTANTIATE_ON_KINDS(Programs, kind.make != nullptr);
INSTANTIATE_ON_KINDS(ProgramsApart, kind.apart);

/// Runs a layer over `world` and on one transport of threads: the same bits,
/// the same statistics, and the oracle's values.
static void expectSameAsLocal(std::unique_ptr<World> world,
                              const Placement &placement,
                              const TemplateOptions &options) {
  SCOPED_TRACE(concat("ulysses ", placement.mesh.ulysses, " ring ",
                      placement.mesh.ring, " heads ", placement.shape.heads,
                      " kv-heads ", placement.shape.kvHeads));
  Program program = templateOf(placement, options);
  LayerData data(placement.shape, 5), expected(placement.shape, 5);
  auto local = executorOf(program);
  RunStats expectedStats = runAll(*local, expected);
  ProgramWorld runs(std::move(world), program, strictOptions());
  RunStats stats;
  ASSERT_EQ(runs.run(data, {}, &stats), "");
  if (!runs.hasRankZero())
    return;
  EXPECT_EQ(data.o, expected.o);
  EXPECT_EQ(data.lse, expected.lse);
  expectOracle(data, maskOf(runs.rankZero()), program.scale);
  EXPECT_EQ(stats.planHash, expectedStats.planHash);
  EXPECT_EQ(stats.loadsBefore, expectedStats.loadsBefore);
  EXPECT_EQ(stats.loadsAfter, expectedStats.loadsAfter);
  EXPECT_EQ(stats.bytesSent, expectedStats.bytesSent);
  EXPECT_EQ(stats.bytesExchange, expectedStats.bytesExchange);
  EXPECT_EQ(stats.bytesMoved, expectedStats.bytesMoved);
  EXPECT_EQ(stats.bytesRouted, expectedStats.bytesRouted);
  EXPECT_EQ(stats.tiles, expectedStats.tiles);
  EXPECT_EQ(stats.density, expectedStats.density);
  EXPECT_EQ(stats.routing.rows, expectedStats.routing.rows);
  EXPECT_EQ(stats.routing.keptPooledMass, expectedStats.routing.keptPooledMass);
  EXPECT_EQ(stats.events.size(), expectedStats.events.size());
  auto bound = runs.rankZero().boundProgram(), same = local->boundProgram();
  ASSERT_TRUE(bound.ok() && same.ok()) << bound.message();
  EXPECT_EQ(contentHash(*bound), contentHash(*same));
}

/// A mesh that uses all ranks of this world: programs have as many ranks as
/// the transport.
static std::vector<Mesh> meshesOf(int64_t ranks) {
  std::vector<Mesh> meshes;
  for (int64_t ulysses = 1; ulysses <= ranks; ++ulysses)
    if (ranks % ulysses == 0)
      meshes.push_back({ulysses, ranks / ulysses});
  return meshes;
}

TEST_P(Programs, GiveTheBitsOfThreadsOnEveryMesh) {
  for (int64_t ranks : GetParam().rankCounts) {
    MAKE_WORLD(ranks);
    for (const Mesh &mesh : meshesOf(world->ranks)) {
      makeWorld(ranks);
      expectSameAsLocal(std::move(world),
                        placementOf(mesh.ulysses, mesh.ring, 5, 5, 63, 71),
                        topP(0.7f));
    }
  }
}

TEST_P(Programs, GroupedHeadsAndRanksWithoutWork) {
  for (int64_t ranks : GetParam().rankCounts) {
    MAKE_WORLD(ranks);
    int64_t all = world->ranks;
    expectSameAsLocal(std::move(world), placementOf(all, 1, 28, 7, 100, 130),
                      topP(0.6f));
    // Fewer heads, and fewer tokens, than ranks.
    makeWorld(ranks);
    expectSameAsLocal(std::move(world), placementOf(all, 1, 2, 1, 40, 40),
                      topP(0.8f));
    makeWorld(ranks);
    expectSameAsLocal(std::move(world), placementOf(1, all, 2, 2, 17, 30),
                      topP(0.8f));
  }
}

TEST_P(Programs, BeginAndFinishInterleaveWithOtherLayers) {
  MAKE_WORLD(2);
  int64_t ranks = world->ranks;
  std::unique_ptr<World> first = std::move(world);
  makeWorld(2);
  Placement placement = placementOf(ranks, 1, 5, 5, 63, 63);
  Program program = templateOf(placement, topP(0.7f));
  LayerData a(placement.shape, 1), b(placement.shape, 2),
      plainA(placement.shape, 1), plainB(placement.shape, 2);
  auto local = executorOf(program);
  runAll(*local, plainA);
  runAll(*local, plainB);
  ProgramWorld one(std::move(first), program, strictOptions());
  ProgramWorld two(std::move(world), program, strictOptions());
  for (int round = 0; round < 3; ++round) {
    a.forget();
    b.forget();
    EXPECT_EQ(one.begin(a), "");
    EXPECT_EQ(two.run(b), "");
    EXPECT_EQ(one.finish(a), "");
    if (one.hasRankZero()) {
      EXPECT_EQ(a.o, plainA.o);
      EXPECT_EQ(b.o, plainB.o);
    }
  }
}

TEST_P(ProgramsApart, DifferentPlansAreFoundOut) {
  MAKE_WORLD(3);
  int64_t ranks = world->ranks;
  Placement placement = placementOf(ranks, 1, 7, 7, 63, 63);
  ProgramWorld runs(std::move(world), templateOf(placement, topP(0.7f)),
                    strictOptions());
  LayerData data(placement.shape, 3);
  RunStats stats;
  ASSERT_EQ(runs.run(data, {}, &stats), "");
  // Rank 1 alone is given another plan: head 0 goes to rank 1, nothing else.
  auto local = executorOf(templateOf(placement, topP(0.7f)));
  runAll(*local, data);
  MaskSummary summary = summarize(maskOf(*local), placement);
  PlannerOptions staying;
  staying.balance = Balance::None;
  auto other = makePlan(summary, placement, staying);
  ASSERT_TRUE(other.ok()) << other.message();
  other->moves = {{0, 0, 1}};
  std::vector<int64_t> owners = other->owners(placement);
  other->transfers = computeDemand(summary, placement, owners);
  other->loadsAfter = rankLoads(summary.loads, owners, placement.mesh);
  RunOptions given;
  given.plan = &*other;
  auto errors = runs.runEach(
      data, [&](int64_t rank) { return rank == 1 ? given : RunOptions(); });
  for (int64_t rank = 0; rank < ranks; ++rank) {
    if (!runs.has(rank))
      continue;
    const std::string &text = errors[static_cast<size_t>(rank)];
    EXPECT_NE(text.find(concat("rank ", rank, " phase ")), std::string::npos)
        << text;
    EXPECT_NE(text.find("(plan): "), std::string::npos) << text;
    EXPECT_NE(text.find("plans of the ranks differ: got hash "),
              std::string::npos)
        << text;
  }
  data.forget();
  EXPECT_EQ(runs.run(data), "") << "the next run is unharmed";
}

TEST_P(ProgramsApart, DifferentProgramsAreFoundOut) {
  MAKE_WORLD(2);
  Placement placement = placementOf(world->ranks, 1, 4, 4, 63, 63);
  Program program = templateOf(placement, topP(0.7f));
  ProgramWorld runs(std::move(world), program, strictOptions(), {},
                    [](int64_t rank, Program &p) {
                      if (rank == 1)
                        p.scale *= 2;
                    });
  LayerData data(placement.shape, 3);
  auto errors = runs.runEach(data, [](int64_t) { return RunOptions(); });
  for (size_t rank : {0, 1})
    if (runs.has(static_cast<int64_t>(rank))) {
      EXPECT_NE(errors[rank].find(concat("rank ", rank, " start: ")),
                std::string::npos)
          << errors[rank];
      EXPECT_NE(errors[rank].find("programs of the ranks differ: got hash "),
                std::string::npos)
          << errors[rank];
    }
}

TEST_P(Programs, SurvivorsNameRankPhaseAndInstruction) {
  MAKE_WORLD(3);
  int64_t ranks = world->ranks;
  Placement placement = placementOf(ranks, 1, 7, 7, 63, 63);
  std::atomic<bool> fail{true};
  ProgramWorld runs(std::move(world), templateOf(placement, topP(0.7f)),
                    strictOptions(), [&](int64_t rank) -> Status {
                      return rank == 1 && fail ? makeError("out of luck")
                                               : Status::success();
                    });
  LayerData data(placement.shape, 3);
  std::vector<std::string> errors;
  int64_t ms = millisecondsOf([&] {
    errors = runs.runEach(data, [](int64_t) { return RunOptions(); });
  });
  EXPECT_LT(ms, 60000);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    if (!runs.has(rank))
      continue;
    const std::string &text = errors[static_cast<size_t>(rank)];
    size_t cause = text.find("rank 1 phase ");
    ASSERT_NE(cause, std::string::npos) << text;
    EXPECT_NE(text.find("(attend): out of luck", cause), std::string::npos)
        << text;
    // Where ranks are threads of one executor, the cause is all that is said.
    if (rank != 1 && GetParam().apart) {
      EXPECT_EQ(text.rfind(concat("rank ", rank, " "), 0), 0u) << text;
      EXPECT_NE(text.find("aborted by rank 1: rank 1 phase "),
                std::string::npos)
          << text;
    }
  }
  fail = false;
  data.forget();
  EXPECT_EQ(runs.run(data), "");
  if (runs.hasRankZero())
    expectOracle(data, maskOf(runs.rankZero()), runs.program().scale);
}

TEST_P(ProgramsApart, RankThatCannotStartIsNamed) {
  MAKE_WORLD(2);
  Placement placement = placementOf(world->ranks, 1, 4, 4, 63, 63);
  ProgramWorld runs(std::move(world), templateOf(placement, topP(0.7f)),
                    strictOptions());
  LayerData data(placement.shape, 3);
  auto errors = runs.runEach(
      data, [](int64_t) { return RunOptions(); }, /*withoutTensors=*/1);
  for (size_t rank : {0, 1})
    if (runs.has(static_cast<int64_t>(rank)))
      EXPECT_NE(errors[rank].find("number of tensor sets does not match the "
                                  "ranks: got 0, expected 1"),
                std::string::npos)
          << errors[rank];
  EXPECT_EQ(runs.run(data), "");
}

TEST_P(ProgramsApart, MaskStaysWhereItIsUnlessAskedFor) {
  MAKE_WORLD(2);
  Placement placement = placementOf(world->ranks, 1, 4, 4, 63, 63);
  Program program = templateOf(placement, topP(0.7f));
  LayerData data(placement.shape, 3), expected(placement.shape, 3);
  auto local = executorOf(program);
  RunStats expectedStats = runAll(*local, expected), stats;
  ExecutorOptions options = strictOptions();
  options.coverage = false; // which needs the mask
  ProgramWorld runs(std::move(world), program, options);
  RunOptions lean;
  lean.gatherMask = lean.trace = false;
  ASSERT_EQ(runs.run(data, lean, &stats), "");
  if (!runs.hasRankZero()) {
    auto mask = runs.local(0).lastMask();
    EXPECT_EQ(mask.message(), concat("mask of the run: got rank ",
                                     runs.local(0).localRanks()[0],
                                     ", expected rank 0, where it was "
                                     "gathered"));
    return;
  }
  EXPECT_EQ(stats.density, expectedStats.density);
  EXPECT_EQ(stats.loadsAfter, expectedStats.loadsAfter);
  EXPECT_TRUE(stats.events.empty());
  EXPECT_NE(runs.rankZero().lastMask().message().find(
                "mask of the run not complete: got no row of head "),
            std::string::npos);
}

TEST_P(ProgramsApart, TransportOfOtherRanksIsRefused) {
  MAKE_WORLD(2);
  int64_t ranks = world->ranks;
  Program program = templateOf(placementOf(1, 1, 4, 4, 63, 63), topP(0.7f));
  auto refused = Executor::create(program, referenceBackend(), {},
                                  std::move(world->parts[0]));
  EXPECT_EQ(refused.message(), concat("ranks of the transport: got ", ranks,
                                      ", expected 1, those of the program"));
}
