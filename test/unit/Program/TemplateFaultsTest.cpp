//===- TemplateFaultsTest.cpp - Rules of templates ------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramTestSupport.h"

using namespace sart;
using namespace sart::test;

namespace {

Program someTemplate() {
  TemplateOptions options;
  options.planner.augment = true;
  return templateOf(makePlacement(2, 2, 4, 2, 128, 128), options);
}

std::vector<int64_t> &staticOf(Program &p, size_t rank, const char *name) {
  return p.statics.values[rank][static_cast<size_t>(p.findSymbol(name))];
}

TEST(TemplateFaults, Valid) {
  EXPECT_EQ(textOf(validateTemplate(someTemplate())), "");
  EXPECT_TRUE(validate(someTemplate()).ok());
  // Also without values of its static symbols.
  Program p = someTemplate();
  p.statics.values.clear();
  EXPECT_EQ(textOf(validateTemplate(p)), "");
}

TEST(TemplateFaults, FirstViolationAsStatus) {
  Program p = someTemplate();
  drop(p, 0, find(p, 0, Opcode::Wait));
  EXPECT_EQ(validate(p).message(),
            "template phase 8 instruction 10: send token is never awaited: got "
            "0 open at the end, expected a wait");
}

TEST(TemplateFaults, InstructionLists) {
  Program p = someTemplate();
  p.ranks.resize(2);
  expectFault(p, "[header] program: number of instruction lists differs: got "
                 "2, expected 1");
}

TEST(TemplateFaults, SymbolDeclaredTwice) {
  Program p = someTemplate();
  p.symbols[3].name = p.symbols[1].name;
  expectFault(p, "[header] program: name of a symbol is not unique: got "
                 "xq_send_n at least twice, expected once");
}

TEST(TemplateFaults, SymbolWithoutName) {
  Program p = someTemplate();
  p.symbols[3].name = "";
  expectFault(
      p,
      "[header] program: name of symbol 3 is empty: got \"\", expected a name");
}

TEST(TemplateFaults, SymbolNotDeclared) {
  Program p = someTemplate();
  at(p, 0, find(p, 0, Opcode::Attend)).lists[0].symbol = 1000;
  expectFault(p, "[symbol] template phase 8 instruction 18: attend symbol is "
                 "not declared: got 1000, expected 0 to 42");
}

TEST(TemplateFaults, PeerNotDeclared) {
  Program p = someTemplate();
  at(p, 0, find(p, 0, Opcode::Send)).peer.symbol = 1000;
  expectFault(p, "[symbol] template phase 8 instruction 10: send symbol is not "
                 "declared: got 1000, expected 0 to 42");
}

TEST(TemplateFaults, PeerMissing) {
  Program p = someTemplate();
  at(p, 0, find(p, 0, Opcode::Send)).peer = Operand();
  expectFault(p, "[structure] template phase 8 instruction 10: send number of "
                 "peers differs: got 0, expected 1");
}

TEST(TemplateFaults, ValuesBesideASymbol) {
  Program p = someTemplate();
  at(p, 0, find(p, 0, Opcode::Attend)).lists[0].values = {1};
  expectFault(p, "[symbol] template phase 8 instruction 18: attend list 0 has "
                 "values beside its symbol: got 1, expected 0");
}

TEST(TemplateFaults, ImmediateNotWhole) {
  Program p = someTemplate();
  at(p, 0, find(p, 0, Opcode::Attend)).lists[0] = Operand::immediate({1, 2, 3});
  expectFault(p,
              "[range] template phase 8 instruction 18: attend length of list "
              "0 is not whole: got 3 integers, expected a multiple of 9");
}

TEST(TemplateFaults, DynamicSymbolBeforeThePlan) {
  Program p = someTemplate();
  at(p, 0, find(p, 0, Opcode::Route)).lists[0].symbol =
      p.findSymbol("attend_local");
  expectFault(p, "[symbol] template phase 3 instruction 5: route symbol "
                 "attend_local has no value yet: got a use before the plan, "
                 "expected a static symbol or a plan before");
}

TEST(TemplateFaults, DynamicPeerWithoutAPlan) {
  Program p = someTemplate();
  drop(p, 0, find(p, 0, Opcode::Plan));
  expectFault(p, "[symbol] template phase 6 instruction 7: augment symbol "
                 "augment has no value yet: got a use before the plan, "
                 "expected a static symbol or a plan before");
}

TEST(TemplateFaults, TwoPlans) {
  Program p = someTemplate();
  size_t plan = find(p, 0, Opcode::Plan);
  insert(p, 0, plan, at(p, 0, plan));
  expectFault(p, "[structure] template phase 5 instruction 8: plan occurs "
                 "twice: got instructions 7 and 8, expected one");
}

TEST(TemplateFaults, CollectiveOnACondition) {
  Program p = someTemplate();
  at(p, 0, find(p, 0, Opcode::AllToAll, "o_shard")).peer =
      Operand::ofSymbol(p.findSymbol("mv_peer_out"));
  expectFault(p, "[structure] template phase 12 instruction 35: all_to_all "
                 "collective depends on a peer: got a peer, expected none");
}

TEST(TemplateFaults, PhaseDescends) {
  Program p = someTemplate();
  at(p, 0, find(p, 0, Opcode::Plan)).phase = 2;
  expectFault(p, "[phase] template phase 2 instruction 7: plan phase does not "
                 "ascend: got 2, expected at least 4");
}

TEST(TemplateFaults, TokenNeverAwaited) {
  Program p = someTemplate();
  at(p, 0, find(p, 0, Opcode::Wait)).waits.pop_back();
  expectFault(p, "[token] template phase 8 instruction 17: recv token is never "
                 "awaited: got 7 open at the end, expected a wait");
}

TEST(TemplateFaults, ReleasedWhileATransferIsOpen) {
  Program p = someTemplate();
  std::swap(at(p, 0, find(p, 0, Opcode::Release)),
            at(p, 0, find(p, 0, Opcode::Wait)));
  expectFault(p, "[lifetime] template phase 8 instruction 19: release of q "
                 "while a transfer of it is open: got token 0 of instruction "
                 "10, expected a wait before");
}

TEST(TemplateFaults, PlanWindowTooSmall) {
  Program p = someTemplate();
  at(p, 0, find(p, 0, Opcode::Plan)).windows[0] = p.findWindow("summary");
  expectFault(p, "[structure] template phase 5 instruction 7: plan slots of "
                 "window summary do not fit the layer: got 4, expected 16");
}

TEST(TemplateFaults, StaticsOfTooFewRanks) {
  Program p = someTemplate();
  p.statics.values.pop_back();
  expectFault(p, "[header] program: number of ranks of the static symbols "
                 "differs: got 3, expected 4");
}

TEST(TemplateFaults, StaticsOfTooFewSymbols) {
  Program p = someTemplate();
  p.statics.values[2].pop_back();
  expectFault(p, "[header] program: number of symbol values of rank 2 differs: "
                 "got 42, expected 43");
}

// What comes before the plan is executed symbolically.

TEST(TemplateFaults, ExchangePartLost) {
  Program p = someTemplate();
  staticOf(p, 3, "xq_send").resize(3);
  staticOf(p, 3, "xq_send_n") = {1, 0};
  expectFault(p, "[collective] rank 2 phase 0 instruction 0: all_to_all part "
                 "from rank 3 differs in size: got 8192 bytes, expected 4096 "
                 "(instruction 0 of rank 3)");
}

TEST(TemplateFaults, PooledBeforeTheExchange) {
  Program p = someTemplate();
  std::rotate(p.ranks[0].begin(), p.ranks[0].begin() + 2,
              p.ranks[0].begin() + 4);
  for (Instruction &instruction : p.ranks[0])
    instruction.phase = std::max(instruction.phase, 1);
  expectFault(p, "[lifetime] rank 0 phase 1 instruction 0: pool reads q[0] "
                 "rows 0..64 before they are written: got rows 0..64 "
                 "unwritten, expected all of them written");
}

TEST(TemplateFaults, PoolOfAnotherHead) {
  Program p = someTemplate();
  staticOf(p, 2, "pool_q")[0] = 1;
  expectFault(
      p,
      "[content] rank 2 phase 1 instruction 2: pool reads other data in q[0] "
      "rows 0..64: got q of head 0 from 64, expected q of head 1 from 64");
}

TEST(TemplateFaults, PooledKeysNotGathered) {
  Program p = someTemplate();
  at(p, 0, find(p, 0, Opcode::Route)).windows[1] = p.findWindow("pooled_k");
  expectFault(p, "[lifetime] rank 2 phase 3 instruction 5: route reads "
                 "pooled_k[0] rows 0..8 before they are written: got rows 0..4 "
                 "unwritten, expected all of them written");
}

TEST(TemplateFaults, SummaryOfAnotherHead) {
  Program p = someTemplate();
  std::swap(staticOf(p, 1, "gs_send")[0], staticOf(p, 1, "gs_send")[3]);
  expectFault(p, "[content] rank 0 phase 5 instruction 7: plan reads other "
                 "data in summary_all[6] rows 0..1: got summary of head 3 from "
                 "1, expected summary of head 2 from 1");
}

TEST(TemplateFaults, SummaryLost) {
  Program p = someTemplate();
  for (size_t rank = 0; rank < 4; ++rank) {
    // Nobody takes the second head of rank 2.
    std::vector<int64_t> &chunks = staticOf(p, rank, "gs_recv");
    chunks.erase(chunks.begin() + 15, chunks.begin() + 18);
    staticOf(p, rank, "gs_recv_n")[2] = 1;
  }
  staticOf(p, 2, "gs_send").resize(3);
  expectFault(p, "[lifetime] rank 0 phase 5 instruction 7: plan reads "
                 "summary_all[9] rows 0..1 before they are written: got rows "
                 "0..1 unwritten, expected all of them written");
}

} // namespace
