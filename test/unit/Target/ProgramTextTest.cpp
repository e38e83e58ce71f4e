//===- ProgramTextTest.cpp - Text gives the program back ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ProgramTextTestSupport.h"
#include "Support/ProgramMutator.h"

#include <chrono>
#include <random>

using namespace sart;
using namespace sart::test;

namespace {

std::vector<Placement> placements() {
  std::vector<Placement> all = {makePlacement(1, 1, 3, 3, 100, 100),
                                makePlacement(4, 1, 12, 12, 640, 640),
                                makePlacement(2, 2, 4, 4, 320, 320),
                                makePlacement(2, 4, 7, 7, 1000, 777),
                                makePlacement(4, 2, 12, 2, 303, 601),
                                makePlacement(8, 1, 2, 1, 1, 1),
                                makePlacement(2, 2, 2, 2, 0, 40),
                                makePlacement(2, 2, 2, 2, 40, 0)};
  all[1].shape.dtype = DType::BF16;
  all[2].shape.causal = true;
  all[3].shape.dtype = DType::F16;
  return all;
}

void expectSame(const Program &program) {
  TextContext context;
  std::string text = context.print(program);
  ASSERT_EQ(context.errors, "");
  std::optional<Program> read = context.parse(text);
  ASSERT_TRUE(read.has_value()) << context.errors << text;
  EXPECT_EQ(normalBytes(*read), normalBytes(program)) << text;
  EXPECT_EQ(context.print(*read), text);
}

TEST(ProgramText, TemplatesAndBoundProgramsComeBack) {
  for (const Placement &placement : placements()) {
    for (double density : {0.0, 0.4, 1.0}) {
      TemplateOptions options;
      options.planner.k1Milli = options.planner.k2Milli = 1000;
      options.planner.augment = density == 0.4;
      options.outDtype = DType::F32;
      expectSame(templateOf(placement, options));
      expectSame(boundOf(placement, maskFor(placement, density, 7), options));
    }
  }
}

TEST(ProgramText, HeaderComesBack) {
  Program program = templateOf(makePlacement(2, 2, 4, 2, 320, 300));
  program.name = "a layer, \"quoted\"";
  for (float scale : {0.125f, 0.08838834764f, 1e-30f, 3.4e38f, -1.0f, 0.0f,
                      1.17549435e-38f, 16777217.0f}) {
    program.scale = program.policy.p = scale;
    expectSame(program);
  }
  program.policy.kind = RoutingPolicy::Kind::TopK;
  program.policy.k = 16;
  program.policy.minBlocks = 0;
  program.policy.keep = {{0, 2}, {5, 6}, {7, 7}};
  program.policy.windowBlocks = 3;
  program.planner.balance = Balance::None;
  program.planner.augment = true;
  program.planner.k1Milli = 1;
  program.planner.n2Milli = 0;
  program.planner.cost = {1, 2, 3, 4, 5};
  expectSame(program);
  for (auto kind : {RoutingPolicy::Kind::Dense, RoutingPolicy::Kind::Window,
                    RoutingPolicy::Kind::Explicit}) {
    program.policy.kind = kind;
    expectSame(program);
  }
}

/// Every opcode and every kind of operand, whether it makes sense or not.
TEST(ProgramText, EveryOpcodeComesBack) {
  Program program =
      boundOf(makePlacement(1, 1, 2, 2, 32, 32), BlockMask::dense(2, 2, 2));
  std::vector<Instruction> &list = program.ranks[0];
  list.clear();
  const Operand chunks = Operand::immediate({0, 1, 5, 1, 0, 0});
  const Operand counts = Operand::immediate({1, 0, 7});
  const Operand work = Operand::immediate({1, 0, 1, 0, 2, 1, 2, 9, 3});
  auto add = [&](Opcode opcode, std::vector<int32_t> windows,
                 std::vector<Operand> lists) -> Instruction & {
    Instruction &instruction = list.emplace_back();
    instruction.opcode = opcode;
    instruction.phase = static_cast<int32_t>(list.size()) * 3 % 7;
    instruction.windows = std::move(windows);
    instruction.lists = std::move(lists);
    return instruction;
  };
  add(Opcode::AllToAll, {0, 1}, {chunks, counts, chunks, counts}).group =
      Group::Ulysses;
  add(Opcode::AllGather, {0, 1}, {chunks, chunks, counts}).group = Group::Ring;
  add(Opcode::AllGather, {1, 1}, {chunks, Operand(), Operand()});
  add(Opcode::Pool, {0, 1}, {work, Operand::immediate({0})});
  add(Opcode::Pool, {0, 1}, {work, Operand::immediate({1})});
  add(Opcode::Route, {0, 1, 2, 3}, {work});
  add(Opcode::Plan, {2}, {});
  add(Opcode::LoadMask, {1}, {Operand()});
  add(Opcode::Pack, {0, 0}, {chunks, chunks});
  Instruction &send = add(Opcode::Send, {2}, {chunks});
  send.peer = Operand::immediate({1});
  send.token = 5;
  add(Opcode::Recv, {2}, {chunks}).token = 3; // no peer: skipped
  add(Opcode::Put, {0, 1}, {chunks, chunks}).peer = Operand::immediate({77});
  add(Opcode::Signal, {}, {}).peer = Operand::immediate({0});
  add(Opcode::Wait, {}, {}).waits = {3, 5, 5};
  add(Opcode::Wait, {}, {});
  add(Opcode::WaitSignal, {}, {}).peer = Operand::immediate({0});
  add(Opcode::Attend, {0, 1, 2, 3, 4, 5}, {work});
  add(Opcode::Merge, {0, 1, 2, 3}, {chunks});
  add(Opcode::Release, {0}, {counts});
  add(Opcode::Augment, {0, 1, 2}, {work});
  add(Opcode::Convert, {0, 1}, {chunks});
  expectSame(program);

  Program symbolic = templateOf(makePlacement(2, 1, 2, 2, 64, 64));
  ASSERT_FALSE(symbolic.symbols.empty());
  for (Instruction &instruction : list) {
    for (Operand &operand : instruction.lists)
      if (instruction.opcode != Opcode::Pool)
        operand = Operand::ofSymbol(0);
    if (instruction.opcode == Opcode::Send)
      instruction.peer = Operand::ofSymbol(1);
  }
  symbolic.ranks[0] = list;
  expectSame(symbolic);
}

TEST(ProgramText, StaticValuesOfTheTextPrevail) {
  Program program = templateOf(makePlacement(2, 1, 4, 4, 64, 64));
  int32_t symbol = program.findSymbol("xq_send");
  ASSERT_GE(symbol, 0);
  program.statics.values[1][static_cast<size_t>(symbol)] = {7, 0, 3};
  program.symbols.push_back({"my_rows", true});
  program.statics.values[0].push_back({1, 2, 3});
  program.statics.values[1].push_back({});
  expectSame(program);
}

TEST(ProgramText, EditedPlacementBindsStaticsAnew) {
  TextContext context;
  std::string text =
      context.print(templateOf(makePlacement(2, 1, 4, 4, 64, 64)));
  size_t at = text.find("sq = 64");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 7, "sq = 48");
  std::optional<Program> edited = context.parse(text);
  ASSERT_TRUE(edited.has_value()) << context.errors;
  Program expected = templateOf(makePlacement(2, 1, 4, 4, 48, 64));
  EXPECT_EQ(edited->statics.values, expected.statics.values);
}

/// A mutant is refused with a reason or comes back as it is.
TEST(ProgramText, MutantsAreRefusedOrComeBack) {
  int same = 0, refused = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Program program = seed % 2 ? swapProgram() : ringProgram();
    std::string edit = mutateProgram(program, seed);
    SCOPED_TRACE(concat("seed ", seed, ": ", edit));
    TextContext context;
    std::string text = context.print(program);
    if (text.empty()) {
      EXPECT_NE(context.errors, "");
      ++refused;
      continue;
    }
    std::optional<Program> read = context.parse(text);
    ASSERT_TRUE(read.has_value()) << context.errors;
    EXPECT_EQ(normalBytes(*read), normalBytes(program));
    ++same;
  }
  EXPECT_GT(same, 150);
  EXPECT_GT(refused, 3);
}

/// One random edit of the text: a digit is changed, or a part is dropped,
/// doubled or replaced.
std::string damage(std::string text, std::mt19937_64 &random) {
  auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  const char *pieces[] = {"-1",    "99999999999999999999",
                          "@q",    "[",
                          "]",     "{",
                          "}",     ":",
                          "%sent", "0x10",
                          "none",  "\"",
                          "<",     ">"};
  size_t at = below(text.size());
  size_t length = std::min(1 + below(40), text.size() - at);
  if (below(2)) {
    at = text.find_first_of("0123456789", at);
    if (at != std::string::npos)
      text[at] = static_cast<char>('0' + below(10));
    return text;
  }
  switch (below(3)) {
  case 0:
    return text.erase(at, length);
  case 1:
    return text.insert(at, text.substr(at, length));
  default:
    return text.replace(at, below(length + 1),
                        pieces[below(std::size(pieces))]);
  }
}

/// Whatever a person types, it is read or refused with a reason.
TEST(ProgramText, DamagedTextIsRefusedOrRead) {
  std::string texts[] = {
      TextContext().print(ringProgram()),
      TextContext().print(templateOf(makePlacement(2, 1, 2, 2, 64, 64)))};
  int read = 0, refused = 0;
  for (uint64_t i = 0; i < 800; ++i) {
    std::mt19937_64 random(i);
    std::string text = texts[i % 2];
    for (size_t edits = 1 + random() % 3; edits > 0; --edits)
      text = damage(std::move(text), random);
    TextContext context;
    std::optional<Program> program = context.parse(text);
    if (!program) {
      EXPECT_NE(context.errors, "") << text;
      ++refused;
      continue;
    }
    ++read;
    // What was read can be judged and printed.
    if (program->bound)
      (void)validateBound(*program);
    else
      (void)validateTemplate(*program);
    EXPECT_NE(context.print(*program), "") << context.errors;
  }
  EXPECT_GT(read, 50);
  EXPECT_GT(refused, 200);
}

TEST(ProgramText, LargeProgramsAreReadFast) {
  Placement placement = makePlacement(8, 1, 12, 12, 14040, 14040, 128);
  placement.shape.headDim = 128;
  Program program = boundOf(placement, maskFor(placement, 0.3, 3));
  TextContext context;
  std::string text = context.print(program);
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(context.parse(text).has_value()) << context.errors;
    best = std::min(best, std::chrono::duration<double, std::milli>(
                              std::chrono::steady_clock::now() - start)
                              .count());
  }
  std::printf("read %zu bytes of text in %.1f ms\n", text.size(), best);
  EXPECT_LT(best, 200.0);
}

} // namespace
