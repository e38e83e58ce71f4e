//===- StructureFaultsTest.cpp - Headers and operands ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramTestSupport.h"
#include "sparseattn-rt/Executor.h"

#include <cmath>

using namespace sart;
using namespace sart::test;

TEST(StructureFaults, Placement) {
  Program p = swapProgram();
  p.placement.mesh.ulysses = 0;
  expectFault(p, "[header] program: mesh axis ulysses out of range: got 0, "
                 "expected 1 to 1024");
}

TEST(StructureFaults, InstructionLists) {
  Program p = swapProgram();
  p.ranks.pop_back();
  expectFault(p, "[header] program: number of instruction lists differs: got "
                 "1, expected 2");
}

TEST(StructureFaults, MaskMissing) {
  Program p = swapProgram();
  p.mask.reset();
  expectFault(p, "[header] program: mask of a bound program is missing: got "
                 "none, expected one");
}

TEST(StructureFaults, MaskShape) {
  Program p = swapProgram();
  p.mask = BlockMask(4, 4, 5);
  expectFault(
      p, "[header] program: mask shape differs: got 4x4x5, expected 4x4x4");
}

TEST(StructureFaults, WindowNamedTwice) {
  Program p = swapProgram();
  p.windows[static_cast<size_t>(p.findWindow("k"))].name = "q";
  expectFault(p, "[header] program: name of a window is not unique: got q at "
                 "least twice, expected once");
}

TEST(StructureFaults, WindowWithoutName) {
  Program p = swapProgram();
  p.windows[static_cast<size_t>(p.findWindow("lse"))].name = "";
  expectFault(p, "[header] program: name of window 10 is empty: got \"\", "
                 "expected a name");
}

TEST(StructureFaults, WindowTooLarge) {
  Program p = swapProgram();
  p.windows[static_cast<size_t>(p.findWindow("q"))].rows = int64_t(1) << 60;
  expectFault(p, "[header] program: size of window q out of range: got "
                 "3x1152921504606846976x32, expected 1 to 4194304 slots and at "
                 "most 70368744177664 bytes");
}

TEST(StructureFaults, WindowsWhoseBytesDoNotFit) {
  struct Case {
    int64_t slots, rows, rowElements;
  };
  // A row alone, a slot, all slots; rows without elements and none of either.
  for (Case c : {Case{1, 64, 0x6b5f6c6f6f700020}, Case{1, 0, INT64_MAX},
                 Case{3, 0, int64_t(1) << 45}, Case{1, INT64_MAX, INT64_MAX},
                 Case{1, INT64_MAX, 1}, Case{INT64_MAX, 1, 1},
                 Case{(int64_t(1) << 22) + 1, 1, 1}, Case{1, 1, 0},
                 Case{1, 1, -1}, Case{1, INT64_MIN, 1}, Case{0, 1, 1},
                 Case{INT64_MIN, 1, 1}, Case{1, 1, INT64_MIN}}) {
    Program p = swapProgram();
    Window &window = p.windows[static_cast<size_t>(p.findWindow("v"))];
    window.slots = c.slots;
    window.rows = c.rows;
    window.rowElements = c.rowElements;
    std::string message =
        concat("size of window v out of range: got ", c.slots, "x", c.rows, "x",
               c.rowElements, ", expected 1 to 4194304 slots and at most ",
               "70368744177664 bytes");
    EXPECT_EQ(window.verify().message(), message);
    expectFault(p, "[header] program: " + message);
    Program unbound = templateOf(makePlacement(1, 2, 2, 1, 64, 64));
    unbound.windows[0] = window;
    expectFault(unbound, "[header] program: " + message);
    // An executor that trusts its program computes with these numbers too.
    ExecutorOptions options;
    options.validate = false;
    EXPECT_EQ(
        Executor::create(p, createReferenceBackend(nullptr), options).message(),
        message);
    // Without a run there are no bytes to reserve.
    EXPECT_EQ(explainProgram(p),
              "the program is not valid:\n  program: " + message + "\n");
  }
}

TEST(StructureFaults, LargestWindowsFit) {
  for (Window window :
       {Window{"w", DType::F32, int64_t(1) << 22, int64_t(1) << 22, 1},
        Window{"w", DType::F32, 1, 0, int64_t(1) << 44},
        Window{"w", DType::F32, 1, int64_t(1) << 44, 1},
        Window{"w", DType::I64, 1, 1, int64_t(1) << 43}}) {
    EXPECT_TRUE(window.verify().ok()) << window.verify().message();
    ++window.rowElements;
    EXPECT_FALSE(window.verify().ok());
  }
}

TEST(StructureFaults, PolicyOutOfRange) {
  auto expectRefusal = [](void (*change)(RoutingPolicy &),
                          const std::string &message) {
    Program p = swapProgram();
    change(p.policy);
    expectFault(p, "[header] program: " + message);
    Program unbound = templateOf(makePlacement(1, 2, 2, 1, 64, 64));
    change(unbound.policy);
    expectFault(unbound, "[header] program: " + message);
    ExecutorOptions options;
    options.validate = false;
    EXPECT_EQ(
        Executor::create(unbound, createReferenceBackend(nullptr), options)
            .message(),
        message);
  };
  expectRefusal([](RoutingPolicy &policy) { policy.windowBlocks = INT64_MAX; },
                "window blocks of the routing policy out of range: got "
                "9223372036854775807, expected 0 to 2147483648");
  expectRefusal([](RoutingPolicy &policy) { policy.windowBlocks = INT64_MIN; },
                "window blocks of the routing policy out of range: got "
                "-9223372036854775808, expected 0 to 2147483648");
  expectRefusal([](RoutingPolicy &policy) { policy.minBlocks = -1; },
                "min_blocks of the routing policy out of range: got -1, "
                "expected 0 to 2147483648");
  expectRefusal([](RoutingPolicy &policy) { policy.k = 2147483649; },
                "k of the routing policy out of range: got 2147483649, "
                "expected 0 to 2147483648");
  expectRefusal([](RoutingPolicy &policy) { policy.keep = {{0, 1}, {3, 2}}; },
                "kept range of the routing policy out of range: got 3..2, "
                "expected within 0..2147483648");
  expectRefusal([](RoutingPolicy &policy) { policy.keep = {{0, INT64_MAX}}; },
                "kept range of the routing policy out of range: got "
                "0..9223372036854775807, expected within 0..2147483648");
  expectRefusal([](RoutingPolicy &policy) { policy.p = NAN; },
                "p of the routing policy is not finite: got nan, expected a "
                "finite number");
}

TEST(StructureFaults, UnknownInput) {
  Program p = swapProgram();
  p.windows[static_cast<size_t>(p.findWindow("q"))].role = Window::Role::Input;
  expectFault(p, "[header] program: input window q aliases no tensor: got "
                 "input q, expected inputs q_shard, k_shard, v_shard and "
                 "outputs o_shard, lse_shard");
}

TEST(StructureFaults, OutputMissing) {
  Program p = swapProgram();
  p.windows[static_cast<size_t>(p.findWindow("o_shard"))].role =
      Window::Role::Internal;
  expectFault(p, "[header] program: output window o_shard is missing: got "
                 "none, expected one");
}

TEST(StructureFaults, InputShape) {
  Program p = swapProgram();
  p.windows[static_cast<size_t>(p.findWindow("k_shard"))].slots = 4;
  expectFault(p, "[header] program: shape of window k_shard does not fit the "
                 "layer: got 4x32x32, expected 2x32x32");
}

TEST(StructureFaults, InputDType) {
  Program p = swapProgram();
  p.windows[static_cast<size_t>(p.findWindow("v_shard"))].dtype = DType::F16;
  expectFault(p, "[header] program: dtype of window v_shard does not fit the "
                 "layer: got f16, expected f32");
}

TEST(StructureFaults, OutputDType) {
  Program p = swapProgram();
  p.windows[static_cast<size_t>(p.findWindow("lse_shard"))].dtype = DType::BF16;
  expectFault(p, "[header] program: dtype of window lse_shard does not fit the "
                 "layer: got bf16, expected f32");
}

TEST(StructureFaults, NotBound) {
  Program p = templateOf(makePlacement(2, 1, 4, 2, 64, 64));
  EXPECT_EQ(textOf(validateBound(p)), "[header] program: program is not bound: "
                                      "got a template, expected a bound "
                                      "program\n");
  EXPECT_EQ(textOf(validateTemplate(swapProgram())),
            "[header] program: program is bound: got a bound program, expected "
            "a template\n");
  p.ranks.clear();
  expectFault(p, "[header] program: number of instruction lists differs: got "
                 "0, expected 1");
}

TEST(StructureFaults, RoutingInBoundProgram) {
  Program p = swapProgram();
  at(p, 1, find(p, 1, Opcode::LoadMask)).opcode = Opcode::Route;
  expectFault(p, "[structure] rank 1 phase 1 instruction 2: route is not "
                 "allowed in a bound program: got routing, expected a mask");
}

TEST(StructureFaults, NumberOfWindows) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Send)).windows.push_back(0);
  expectFault(p,
              "[structure] rank 0 phase 3 instruction 4: send number of "
              "operands differs: got 2 windows and 1 lists, expected 1 and 1");
}

TEST(StructureFaults, NumberOfLists) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).lists.clear();
  expectFault(p,
              "[structure] rank 0 phase 3 instruction 12: attend number of "
              "operands differs: got 6 windows and 0 lists, expected 6 and 1");
}

TEST(StructureFaults, WindowIndex) {
  Program p = swapProgram();
  at(p, 1, find(p, 1, Opcode::Recv)).windows[0] = 99;
  expectFault(p, "[structure] rank 1 phase 3 instruction 8: recv window out of "
                 "range: got 99, expected 0 to 10");
}

TEST(StructureFaults, PeerNotAllowed) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).peer = Operand::immediate({1});
  expectFault(p, "[structure] rank 0 phase 3 instruction 12: attend peer is "
                 "not allowed: got one, expected none");
}

TEST(StructureFaults, CollectiveWithPeer) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::AllToAll)).peer = Operand::immediate({1});
  expectFault(p, "[structure] rank 0 phase 0 instruction 0: all_to_all "
                 "collective depends on a peer: got a peer, expected none");
}

TEST(StructureFaults, TokenMissing) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Send)).token = -1;
  expectFault(p, "[token] rank 0 phase 3 instruction 4: send token out of "
                 "range: got -1, expected 0 to 65535");
}

TEST(StructureFaults, TokenNotAllowed) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Release)).token = 3;
  expectFault(p, "[token] rank 0 phase 3 instruction 14: release token out of "
                 "range: got 3, expected -1");
}

TEST(StructureFaults, TokenTooLarge) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Send)).token = 1 << 30;
  expectFault(p, "[token] rank 0 phase 3 instruction 4: send token out of "
                 "range: got 1073741824, expected 0 to 65535");
}

TEST(StructureFaults, WaitsNotAllowed) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Release)).waits = {3};
  expectFault(p, "[structure] rank 0 phase 3 instruction 14: release awaited "
                 "tokens are not allowed: got 1, expected 0");
}

TEST(StructureFaults, OperandDType) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).windows[4] = p.findWindow("mask");
  expectFault(p, "[structure] rank 0 phase 3 instruction 12: attend rows of "
                 "window mask do not fit operand 4: got i32 rows of 5, "
                 "expected f32, bf16 or f16 rows of 32");
}

TEST(StructureFaults, AttendInputDType) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).windows[0] = p.findWindow("lse");
  expectFault(
      p, "[structure] rank 0 phase 3 instruction 12: attend rows of window lse "
         "do not fit operand 0: got f32 rows of 1, expected f32 rows of 32");
}

TEST(StructureFaults, CopyBetweenUnlikeRows) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::AllToAll)).windows[1] = p.findWindow("lse");
  expectFault(p, "[structure] rank 0 phase 0 instruction 0: all_to_all rows of "
                 "window lse differ from those of q_shard: got f32 rows of 1, "
                 "expected f32 rows of 32");
}

TEST(StructureFaults, WritesInput) {
  Program p = swapProgram();
  at(p, 1, find(p, 1, Opcode::Recv)).windows[0] = p.findWindow("q_shard");
  expectFault(
      p, "[structure] rank 1 phase 3 instruction 8: recv window q_shard is "
         "written: got an input, expected an internal or output window");
}

TEST(StructureFaults, SameWindowTwice) {
  Program p = swapProgram();
  at(p, 1, find(p, 1, Opcode::Attend)).windows[4] = p.findWindow("q");
  expectFault(p,
              "[structure] rank 1 phase 3 instruction 12: attend window q is "
              "used twice: got operands 0 and 4, expected different windows");
}

TEST(StructureFaults, ReleasesOutput) {
  Program p = swapProgram();
  at(p, 1, find(p, 1, Opcode::Release)).windows[0] = p.findWindow("o_shard");
  expectFault(
      p, "[structure] rank 1 phase 3 instruction 14: release window o_shard is "
         "released: got an output, expected an internal window");
}

TEST(StructureFaults, MergeOfUnlikeWindows) {
  Program p = ringProgram();
  p.windows.push_back({"o_small", DType::F32, 2, 16, 32});
  at(p, 0, find(p, 0, Opcode::Merge)).windows[0] = p.findWindow("o_small");
  expectFault(p,
              "[structure] rank 0 phase 4 instruction 11: merge size of window "
              "lse_part differs from that of o_small: got 2x32, expected 2x16");
}
