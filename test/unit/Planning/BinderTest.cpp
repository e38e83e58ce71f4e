//===- BinderTest.cpp - Bound lists carry a layer out ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BinderSimulation.h"

using namespace sart;
using namespace sart::test;

namespace {

/// A plan with arbitrary legal moves, and the demand that follows.
Plan randomPlan(const MaskSummary &summary, const Placement &p,
                Random &random) {
  PlannerOptions options;
  options.balance = Balance::None;
  Plan plan = *makePlan(summary, p, options);
  std::vector<bool> taken(p.mesh.ulysses, false);
  for (int64_t u = 0; u < p.mesh.ulysses; ++u) {
    Range heads = p.headsOf(u);
    int64_t to = random.below(p.mesh.ulysses);
    if (heads.empty() || to == u || taken[to])
      continue;
    taken[to] = true;
    plan.moves.push_back({heads.begin + random.below(heads.size()), u, to});
  }
  plan.transfers = computeDemand(summary, p, plan.owners(p));
  plan.loadsAfter = rankLoads(summary.loads, plan.owners(p), p.mesh);
  return plan;
}

void simulate(const Placement &p, uint64_t seed) {
  SCOPED_TRACE(concat("ulysses ", p.mesh.ulysses, " ring ", p.mesh.ring,
                      " heads ", p.shape.heads, "/", p.shape.kvHeads, " sq ",
                      p.shape.sq, " skv ", p.shape.skv, " seed ", seed));
  Random random(seed);
  BlockMask mask = makeMask(p.shape, random);
  MaskSummary summary = summarize(mask, p);
  PlannerOptions options;
  options.k1Milli = options.k2Milli = 0;
  Plan planned = *makePlan(summary, p, options);
  Simulation(p, mask, planned).run();
  Plan arbitrary = randomPlan(summary, p, random);
  Simulation(p, mask, arbitrary).run();
}

TEST(Binder, CarriesSmallLayersOut) {
  constexpr int64_t heads[][2] = {{12, 12}, {7, 7}, {2, 2}, {40, 40},
                                  {12, 4},  {7, 1}, {2, 1}, {40, 8}};
  constexpr int64_t lengths[] = {0, 1, 3, 63, 64, 65, 700};
  Random random(31);
  for (int round = 0; round < 400; ++round) {
    const auto &h = heads[random.below(8)];
    simulate(makePlacement(1 + random.below(8), 1 + random.below(8), h[0], h[1],
                           lengths[random.below(7)], lengths[random.below(7)],
                           16 + 8 * random.below(7)),
             random.next());
    if (::testing::Test::HasFailure())
      break;
  }
}

TEST(Binder, CarriesLayersOfTheMainJobOut) {
  for (Mesh mesh : {Mesh{4, 1}, Mesh{2, 2}, Mesh{1, 4}, Mesh{8, 1}, Mesh{1, 1}})
    simulate(makePlacement(mesh.ulysses, mesh.ring, 12, 12, 14040, 14040), 77);
  simulate(makePlacement(5, 1, 12, 12, 8423, 8423), 78);
  simulate(makePlacement(4, 2, 12, 4, 8423, 8423), 79);
  simulate(makePlacement(3, 1, 7, 7, 8423, 8423), 80);
}

TEST(Binder, SlotsNeverShift) {
  Placement p = makePlacement(3, 1, 12, 4, 64, 64);
  // Heads 0..3, 4..7, 8..11 with kv heads {0, 1}, {1, 2}, {2, 3}.
  std::vector<HeadMove> moves = {{1, 0, 1}, {5, 1, 0}, {8, 2, 1}};
  moves.pop_back();
  Plan plan;
  plan.moves = moves;
  SlotTable before = slotsOf(p, 1, Plan()), after = slotsOf(p, 1, plan);
  EXPECT_EQ(before.qHeads, (std::vector<int64_t>{4, 5, 6, 7}));
  EXPECT_EQ(before.kvHeads, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(after.qHeads, (std::vector<int64_t>{4, 5, 6, 7, 1}));
  EXPECT_EQ(after.kvHeads, (std::vector<int64_t>{1, 2, 0}));
  EXPECT_EQ(after.qSlotOf(1, 0), 4);
  EXPECT_EQ(after.qSlotOf(0, 0), -1);
  EXPECT_EQ(after.kvSlotOf(0), 2);
  // Head 5's kv head 1 is on index 0 already.
  SlotTable shared = slotsOf(p, 0, plan);
  EXPECT_EQ(shared.qHeads, (std::vector<int64_t>{0, 1, 2, 3, 5}));
  EXPECT_EQ(shared.kvHeads, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(qSlotCapacity(p), 5);
  EXPECT_EQ(kvSlotCapacity(p), 3);
  EXPECT_EQ(qSlotCapacity(makePlacement(1, 4, 12, 12, 64, 64)), 12);
  EXPECT_EQ(qSlotCapacity(makePlacement(8, 1, 2, 2, 64, 64)), 2);
}

TEST(Binder, SymbolsDependOnTheRing) {
  auto names = [](int64_t ring) {
    std::vector<std::string> result;
    for (const Symbol &symbol :
         standardSymbols(makePlacement(2, ring, 2, 2, 64, 64)))
      result.push_back((symbol.isStatic ? "" : "*") + symbol.name);
    return result;
  };
  std::vector<std::string> one = {
      "xq_send",       "xq_send_n",     "xq_recv",      "xq_recv_n",
      "xkv_send",      "xkv_send_n",    "xkv_recv",     "xkv_recv_n",
      "pool_q",        "pool_k",        "gk_send",      "gk_recv",
      "gk_recv_n",     "route",         "gs_send",      "gs_recv",
      "gs_recv_n",     "*augment",      "*mv_peer_out", "*mv_peer_in",
      "*mv_q_out",     "*mv_q_in",      "*mv_kv_out",   "*mv_kv_in",
      "*mv_mask_out",  "*mv_mask_in",   "*free_q",      "*free_kv",
      "*attend_local", "*attend_moved", "*ro_send",     "*ro_send_n",
      "*ro_recv",      "*ro_recv_n",    "*final_o",     "*live_q",
      "*live_kv"};
  EXPECT_EQ(names(1), one);
  std::vector<std::string> three = names(3);
  EXPECT_EQ(three.size(), one.size() + 12);
  for (const char *name : {"*kv_peer_out_1", "*kv_peer_in_1", "*kv_out_2",
                           "*kv_in_2", "*attend_remote_1", "*merge_2"})
    EXPECT_EQ(std::count(three.begin(), three.end(), name), 1) << name;
  EXPECT_TRUE(standardSymbols(makePlacement(0, 1, 2, 2, 64, 64)).empty());
}

TEST(Binder, BindsWhatTheProgramDeclares) {
  Placement p = makePlacement(2, 2, 4, 4, 256, 256, 64);
  Program program;
  program.placement = p;
  program.symbols = {{"final_o", false}, {"xq_send_n", true}};
  MaskSummary summary = summarize(BlockMask::dense(4, 4, 4), p);
  Plan plan = *makePlan(summary, p, {});
  Expected<Binding> statics = bindStatics(program);
  ASSERT_TRUE(statics.ok()) << statics.message();
  ASSERT_EQ(statics->values.size(), 4u);
  EXPECT_TRUE(statics->values[0][0].empty());
  EXPECT_EQ(statics->values[0][1], (std::vector<int64_t>{2, 2}));
  Expected<Binding> all = bindPlan(program, plan);
  ASSERT_TRUE(all.ok()) << all.message();
  EXPECT_EQ(all->values[3][0], (std::vector<int64_t>{0, 0, 128, 1, 0, 128}));
  EXPECT_EQ(*bindPlanForRank(program, plan, 3), all->values[3]);
  // Statics that a template carries are kept.
  program.statics = *statics;
  program.statics.values[1][1] = {9};
  EXPECT_EQ(bindPlan(program, plan)->values[1][1], (std::vector<int64_t>{9}));
}

TEST(Binder, RefusesWhatDoesNotFit) {
  Placement p = makePlacement(2, 1, 4, 4, 256, 256, 64);
  Program program;
  program.placement = p;
  program.symbols = standardSymbols(p);
  Plan plan = *makePlan(summarize(BlockMask::dense(4, 4, 4), p), p, {});
  EXPECT_EQ(bindPlanForRank(program, plan, 2).message(),
            "rank out of range: got 2, expected 0 to 1");
  Plan wrong = plan;
  wrong.moves = {{0, 1, 0}};
  EXPECT_EQ(bindPlan(program, wrong).message(),
            "source of the move of head 0 is not its owner: got ulysses 1, "
            "expected 0");
  EXPECT_EQ(bindPlanForRank(program, wrong, 0).message(),
            "source of the move of head 0 is not its owner: got ulysses 1, "
            "expected 0");
  program.symbols.push_back({"kv_out_1", false});
  EXPECT_EQ(bindStatics(program).message(),
            "symbol not known to the binder: got kv_out_1, expected one of the "
            "37 names for ulysses 2 ring 1");
  program.symbols.back() = {"route", true};
  EXPECT_EQ(bindPlan(program, plan).message(),
            "symbol declared twice: got route, expected distinct names");
  program.symbols = {{"route", false}};
  EXPECT_EQ(bindPlan(program, plan).message(),
            "symbol route declared wrongly: got dynamic, expected static");
  program.placement.shape.headDim = 0;
  EXPECT_EQ(bindStatics(program).message(),
            "head dimension not supported: got 0, expected a multiple of 8 "
            "from 32 to 256");
}

} // namespace
