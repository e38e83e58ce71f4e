//===- ProgramTextRefusalsTest.cpp - Programs that have no text -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ProgramTextTestSupport.h"

using namespace sart;
using namespace sart::test;

namespace {

Program small() {
  return boundOf(makePlacement(2, 1, 2, 2, 64, 64), BlockMask::dense(2, 4, 4));
}

/// Importing `program` fails with `message`.
void expectRefused(const Program &program, const std::string &message) {
  TextContext context;
  EXPECT_EQ(context.print(program), "");
  EXPECT_EQ(context.errors.substr(0, context.errors.find('\n')), message);
}

/// The first instruction of rank 0 with this opcode.
Instruction &find(Program &program, Opcode opcode) {
  for (Instruction &instruction : program.ranks[0])
    if (instruction.opcode == opcode)
      return instruction;
  ADD_FAILURE() << "no such instruction";
  return program.ranks[0].front();
}

TEST(ProgramTextRefusals, Header) {
  Program program = small();
  program.placement.mesh.ring = int64_t(1) << 62;
  TextContext context;
  EXPECT_EQ(context.print(program), "");
  EXPECT_NE(context.errors, "");
  program = small();
  program.ranks.pop_back();
  expectRefused(program,
                "number of instruction lists differs: got 1, expected 2");
  program = small();
  program.name = "";
  expectRefused(program,
                "name of the program is empty: got '', expected a name");
  program = small();
  program.scale = std::numeric_limits<float>::quiet_NaN();
  expectRefused(program, "'sa_comm.program' op scale is not finite: got nan, "
                         "expected a finite number");
  program = small();
  program.policy.p = std::numeric_limits<float>::infinity();
  expectRefused(program,
                "p is not finite: got infinity, expected a finite number");
  program = small();
  program.placement.shape.sq = -1;
  expectRefused(program,
                "sq is out of range: got -1, expected 0 to 2147483648");
  program = small();
  program.planner.cost.bytePs = -5;
  expectRefused(program,
                "byte_ps is out of range: got -5, expected 0 to 1099511627776");
  program = small();
  program.symbols.push_back({"s", true});
  expectRefused(program, "bound program has symbols: got 1 symbols and values "
                         "of 0 ranks, expected none");
}

TEST(ProgramTextRefusals, Names) {
  Program program = small();
  program.windows[1].name = program.windows[0].name;
  TextContext context;
  EXPECT_EQ(context.print(program), "");
  EXPECT_NE(context.errors.find("name is not unique: got @"), std::string::npos)
      << context.errors;
  program.windows[1].name = "";
  expectRefused(program, "name of a window is empty: got '', expected a name");
}

TEST(ProgramTextRefusals, Template) {
  Program program = templateOf(makePlacement(2, 1, 2, 2, 64, 64));
  program.mask = BlockMask::dense(2, 4, 4);
  expectRefused(program, "template has a mask: got one, expected none");
  program.mask.reset();
  Program values = program;
  values.statics.values.pop_back();
  expectRefused(values, "number of ranks of the static values differs: got 1, "
                        "expected 2");
  values = program;
  values.statics.values[1].pop_back();
  EXPECT_EQ(TextContext().print(values), "");
  values = program;
  for (size_t i = 0; i < program.symbols.size(); ++i)
    if (program.symbols[i].name == "attend_local")
      values.statics.values[1][i] = {1, 2};
  expectRefused(values, "dynamic symbol 'attend_local' has values in a "
                        "template: got 2 integers for rank 1, expected none");
}

TEST(ProgramTextRefusals, Operands) {
  Program program = small();
  size_t windows = program.windows.size();
  program.ranks[0].resize(1);
  Instruction &first = program.ranks[0][0];
  first = find(*std::make_unique<Program>(small()), Opcode::Attend);
  const Instruction attend = first;
  first.windows.pop_back();
  expectRefused(program,
                "instruction 0 of rank 0: operands of 'attend' differ: "
                "got 5 windows and 1 lists, expected 6 and 1");
  first = attend;
  first.windows[2] = 99;
  expectRefused(program,
                concat("instruction 0 of rank 0: window of 'attend' is out of "
                       "range: got 99, expected 0 to ",
                       windows - 1));
  first = attend;
  first.lists[0].values.pop_back();
  EXPECT_EQ(TextContext().print(program), "");
  first = attend;
  first.lists[0].values[0] = -3;
  expectRefused(program, "instruction 0 of rank 0: head of work entry 0 is out "
                         "of range: got -3, expected 0 to 2147483648");
  first = attend;
  first.lists[0] = Operand::ofSymbol(0);
  expectRefused(program,
                "instruction 0 of rank 0: symbol operand is malformed: "
                "got symbol 0 with 0 values, expected one of 0 symbols "
                "without values");
  first = attend;
  first.peer = Operand::immediate({1});
  expectRefused(program, "instruction 0 of rank 0: 'attend' has a peer: got "
                         "one, expected none");
  first = attend;
  first.group = Group::Ring;
  expectRefused(program, "instruction 0 of rank 0: 'attend' has a group: got "
                         "ring, expected all");
  first = attend;
  first.token = 1;
  expectRefused(program, "instruction 0 of rank 0: token of 'attend' does not "
                         "fit: got 1, expected -1");
  first = attend;
  first.waits = {1};
  expectRefused(program, "instruction 0 of rank 0: 'attend' waits for tokens: "
                         "got 1, expected none");
}

TEST(ProgramTextRefusals, Tokens) {
  Program program = small();
  Instruction send;
  send.opcode = Opcode::Send;
  send.windows = {0};
  send.lists = {Operand::immediate({0, 0, 1})};
  send.peer = Operand::immediate({1});
  send.token = 4;
  Instruction wait;
  wait.waits = {4};
  program.ranks[0] = {wait, send};
  expectRefused(program, "instruction 0 of rank 0: token is waited for before "
                         "it is defined: got token 4, expected a token of an "
                         "earlier send or receive");
  program.ranks[0] = {send, send};
  expectRefused(program, "instruction 1 of rank 0: token is defined twice: got "
                         "token 4, expected a new one");
  send.peer = Operand::immediate({1, 2});
  program.ranks[0] = {send};
  expectRefused(program, "'sa_comm.send' op peer is not one rank: got 2 ranks, "
                         "expected one or none");
}

} // namespace
