//===- FailureTest.cpp - Errors end every rank and name their cause -------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExecutorTestSupport.h"
#include "Support/FailingNew.h"

#include <atomic>
#include <chrono>
#include <new>

using namespace sart;
using namespace sart::test;

namespace {

int64_t millisecondsOf(const std::function<void()> &body) {
  auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now() - begin)
      .count();
}

ExecutorOptions trusting(int64_t timeoutMs) {
  ExecutorOptions options;
  options.validate = false;
  options.poison = true;
  options.timeoutMs = timeoutMs;
  return options;
}

/// Index of the n-th instruction of an opcode on a rank, or -1.
int64_t findInstruction(const Program &program, int64_t rank, Opcode opcode,
                        int64_t n = 0) {
  const auto &list = program.instructionsOf(rank);
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].opcode == opcode && n-- == 0)
      return static_cast<int64_t>(i);
  return -1;
}

/// A ring of two: every rank sends kv-blocks to the other.
Program ringProgram(Placement &placement) {
  placement = placementOf(1, 2, 2, 2, 100, 150);
  const LayerShape &shape = placement.shape;
  return boundOf(placement, BlockMask::dense(shape.heads, shape.qBlocks(),
                                             shape.kvBlocks()));
}

} // namespace

TEST(Failure, RankThatFailsMidWayEndsAllAndIsNamed) {
  for (const Placement &placement :
       {placementOf(4, 1, 7, 7, 100, 100), placementOf(2, 2, 4, 4, 100, 150),
        placementOf(1, 4, 2, 2, 100, 150)}) {
    // Every attend call fails once.
    for (int64_t failing = 0; failing < 12; ++failing) {
      auto backend = std::make_shared<HookedBackend>([=](int64_t call) {
        return call == failing ? Status::error("injected") : Status();
      });
      auto executor = executorOf(templateOf(placement, topP(0.8f)),
                                 strictOptions(), backend);
      LayerData data(placement.shape, 31);
      auto tensors = data.shards(placement);
      RunStats stats;
      Status status;
      int64_t ms =
          millisecondsOf([&] { status = executor->run(tensors, {}, stats); });
      if (status.ok()) {
        ASSERT_GE(failing, 4) << "fewer calls than ranks";
        break;
      }
      EXPECT_LT(ms, strictOptions().timeoutMs) << "nobody waits in vain";
      const std::string &text = status.message();
      EXPECT_EQ(text.rfind("rank ", 0), 0u) << text;
      EXPECT_NE(text.find(" phase "), std::string::npos) << text;
      EXPECT_NE(text.find(" instruction "), std::string::npos) << text;
      EXPECT_NE(text.find("(attend): injected"), std::string::npos) << text;
      EXPECT_EQ(text.find("aborted by"), std::string::npos) << text;
      auto none = executor->lastMask();
      EXPECT_TRUE(none.ok() && *none == nullptr) << none.message();
      // The executor is as good as new.
      data.forget();
      runAll(*executor, data);
      expectOracle(data, maskOf(*executor), executor->program().scale);
    }
  }
}

TEST(Failure, LowestFailingRankIsReported) {
  Placement placement = placementOf(4, 1, 4, 4, 64, 64);
  BlockMask mask = BlockMask::dense(4, 4, 3);
  auto backend = std::make_shared<HookedBackend>(
      [](int64_t) { return Status::error("always"); });
  auto executor =
      executorOf(boundOf(placement, mask), strictOptions(), backend);
  LayerData data(placement.shape, 32);
  for (int round = 0; round < 20; ++round) {
    RunStats stats;
    std::string text =
        executor->run(data.shards(placement), {}, stats).message();
    EXPECT_NE(text.find("(attend): always"), std::string::npos) << text;
  }
}

TEST(Failure, MemoryThatRunsOutOnARankEndsAll) {
  for (const Placement &placement :
       {placementOf(4, 1, 4, 4, 100, 100), placementOf(1, 4, 2, 2, 100, 150)})
    for (bool whole : {false, true}) {
      // `whole`: there is none for a message either, from there on.
      std::atomic<bool> fails{true};
      auto backend = std::make_shared<HookedBackend>([&](int64_t) -> Status {
        if (!fails.exchange(false))
          return {};
        allocationsLeft = whole && allocationsCanFail ? 0 : -1;
        throw std::bad_alloc();
      });
      auto executor = executorOf(templateOf(placement, topP(0.8f)),
                                 strictOptions(), backend);
      LayerData data(placement.shape, 31);
      auto tensors = data.shards(placement);
      RunStats stats;
      int64_t ms = millisecondsOf([&] {
        EXPECT_THROW((void)executor->run(tensors, {}, stats), std::bad_alloc);
      });
      EXPECT_LT(ms, strictOptions().timeoutMs) << "nobody waits in vain";
      if (whole)
        continue; // that rank's thread has no memory any more
      runAll(*executor, data);
      expectOracle(data, maskOf(*executor), executor->program().scale);
    }
}

TEST(Failure, DroppedSendTimesOut) {
  Placement placement;
  Program program = ringProgram(placement);
  int64_t dropped = findInstruction(program, 1, Opcode::Send);
  ASSERT_GE(dropped, 0);
  int32_t token = program.ranks[1][static_cast<size_t>(dropped)].token;
  program.ranks[1].erase(program.ranks[1].begin() + dropped);
  for (Instruction &instruction : program.ranks[1])
    instruction.waits.erase(
        std::remove(instruction.waits.begin(), instruction.waits.end(), token),
        instruction.waits.end());
  // The verifier sees it before anything runs.
  auto refused = Executor::create(program, referenceBackend());
  EXPECT_FALSE(refused.ok());
  EXPECT_NE(refused.message().find("rank "), std::string::npos);

  auto executor = executorOf(program, trusting(1500));
  LayerData data(placement.shape, 33);
  RunStats stats;
  Status status;
  int64_t ms = millisecondsOf(
      [&] { status = executor->run(data.shards(placement), {}, stats); });
  EXPECT_LT(ms, 100000);
  // v's send meets the receive of k; the receive of v meets nothing.
  EXPECT_NE(
      status.message().find("(wait): receive from rank 1 not met in time: "
                            "got nothing within 1500 ms"),
      std::string::npos)
      << status.message();
  EXPECT_EQ(status.message().rfind("rank 0 phase ", 0), 0u);
}

TEST(Failure, SizesThatDisagreeAreNamed) {
  Placement placement;
  Program program = ringProgram(placement);
  int64_t index = findInstruction(program, 0, Opcode::Send);
  auto &chunks = program.ranks[0][static_cast<size_t>(index)].lists[0].values;
  chunks[2] -= 1;
  auto refused = Executor::create(program, referenceBackend());
  EXPECT_FALSE(refused.ok());
  auto executor = executorOf(program, trusting(60000));
  LayerData data(placement.shape, 34);
  RunStats stats;
  std::string text = executor->run(data.shards(placement), {}, stats).message();
  EXPECT_NE(text.find("sizes of send and receive differ from rank 0 to rank 1: "
                      "got "),
            std::string::npos)
      << text;
}

TEST(Failure, TemplateWithoutItsPlan) {
  Placement placement = placementOf(2, 2, 4, 4, 100, 150);
  Program layer = templateOf(placement, topP(0.8f));
  int64_t index = findInstruction(layer, 0, Opcode::Plan);
  layer.ranks[0].erase(layer.ranks[0].begin() + index);
  auto refused = Executor::create(layer, referenceBackend());
  EXPECT_FALSE(refused.ok()) << "symbols are used that nobody binds";
  // Run anyway, nothing is computed, and that is an error too.
  auto executor = executorOf(layer, trusting(60000));
  LayerData data(placement.shape, 35);
  RunStats stats;
  Status status = executor->run(data.shards(placement), {}, stats);
  EXPECT_NE(status.message().find("chunk counts of a collective do not match: "
                                  "got 0 counts, expected one for each of 2 "
                                  "members"),
            std::string::npos)
      << status.message();
}

TEST(Failure, RowsNobodyRoutedAreRefused) {
  Placement placement = placementOf(1, 1, 2, 2, 64, 64);
  Program program = boundOf(placement, BlockMask::dense(2, 4, 3));
  int64_t index = findInstruction(program, 0, Opcode::LoadMask);
  auto &work = program.ranks[0][static_cast<size_t>(index)].lists[0].values;
  work.resize(static_cast<size_t>(workInts));
  auto executor = executorOf(program, trusting(60000));
  LayerData data(placement.shape, 36);
  RunStats stats;
  EXPECT_NE(executor->run(data.shards(placement), {}, stats)
                .message()
                .find("head 1 q-block 0: mask row was not written: got count "
                      "-1, expected 0 to 3"),
            std::string::npos);
}

TEST(Failure, ListsOutOfRangeAreRefusedWithoutTheValidator) {
  struct Edit {
    Opcode opcode;
    size_t list, position;
    int64_t value;
    const char *message;
  };
  const Edit edits[] = {
      {Opcode::AllToAll, 0, 0, 99,
       "slot of window q_shard out of range: got "
       "99, expected 0 to 1"},
      {Opcode::AllToAll, 0, 2, 1000,
       "rows of window q_shard out of range: got "
       "0 to 1000, expected within 0 to "},
      {Opcode::AllToAll, 1, 0, 9,
       "chunk count of a collective out of range: "
       "got 9, expected at most 2"},
      {Opcode::Attend, 0, 0, 2,
       "head of a work entry out of range: got 2, "
       "expected 0 to 1"},
      {Opcode::Attend, 0, 1, -1, "slot of window q out of range: got -1"},
      {Opcode::Attend, 0, 4, 99,
       "q-blocks of a work entry out of range: got 0 "
       "to 99, expected within 0 to "},
      {Opcode::Attend, 0, 6, 99,
       "kv-blocks of a work entry out of range: got "},
      {Opcode::Merge, 0, 2, 1000, "rows of window o_part do not suffice: got "},
      {Opcode::Convert, 0, 1, -2, "rows of a conversion out of range: got -2"},
      {Opcode::Release, 0, 0, 77, "slot of window o_part out of range: got 77"},
  };
  for (const Edit &edit : edits) {
    Placement placement;
    Program program = ringProgram(placement);
    int64_t index = findInstruction(program, 0, edit.opcode);
    ASSERT_GE(index, 0) << toString(edit.opcode);
    program.ranks[0][static_cast<size_t>(index)]
        .lists[edit.list]
        .values[edit.position] = edit.value;
    EXPECT_FALSE(Executor::create(program, referenceBackend()).ok());
    auto executor = executorOf(program, trusting(60000));
    LayerData data(placement.shape, 37);
    RunStats stats;
    std::string text =
        executor->run(data.shards(placement), {}, stats).message();
    EXPECT_NE(text.find(edit.message), std::string::npos)
        << toString(edit.opcode) << ": " << text;
    EXPECT_EQ(text.rfind("rank 0 ", 0), 0u) << text;
  }
}

TEST(Failure, StructureIsCheckedWithoutTheValidator) {
  auto messageOf = [](const std::function<void(Program &)> &edit) {
    Placement placement;
    Program program = ringProgram(placement);
    edit(program);
    return Executor::create(program, referenceBackend(), trusting(60000))
        .message();
  };
  EXPECT_EQ(messageOf([](Program &p) { p.ranks.pop_back(); }),
            "number of instruction lists does not match: got 1, expected 2");
  EXPECT_EQ(messageOf([](Program &p) { p.mask.reset(); }),
            "mask of a bound program missing: expected one of 2x7x7 blocks");
  EXPECT_EQ(messageOf([](Program &p) { p.mask = BlockMask(2, 7, 8); }),
            "mask of the program does not match its shape: got 2x7x8 blocks, "
            "expected 2x7x7");
  EXPECT_EQ(messageOf([](Program &p) { p.ranks[1][0].windows.pop_back(); }),
            "rank 1 instruction 0: number of windows of all_to_all does not "
            "match: got 1, expected 2");
  EXPECT_EQ(messageOf([](Program &p) { p.ranks[1][0].lists.pop_back(); }),
            "rank 1 instruction 0: number of lists of all_to_all does not "
            "match: got 3, expected 4");
  EXPECT_EQ(messageOf([](Program &p) {
              p.ranks[0][0].windows[1] = 99;
            }).rfind("rank 0 instruction 0: window out of range: got 99", 0),
            0u);
  EXPECT_EQ(messageOf([](Program &p) { p.ranks[0][0].lists[0].symbol = 3; }),
            "rank 0 instruction 0: symbol out of range: got 3, expected below "
            "0");
  EXPECT_EQ(messageOf([](Program &p) {
              p.ranks[0][0].opcode = static_cast<Opcode>(200);
            }),
            "rank 0 instruction 0: opcode out of range: got 200, expected "
            "below 18");
  EXPECT_EQ(messageOf([](Program &p) {
              int64_t wait = findInstruction(p, 0, Opcode::Wait);
              p.ranks[0][static_cast<size_t>(wait)].waits[0] = 500;
            }).find("token out of range: got 500") != std::string::npos,
            true);
  EXPECT_EQ(messageOf([](Program &p) { p.ranks[0][0].token = INT32_MAX; }),
            "rank 0 instruction 0: token out of range: got 2147483647, "
            "expected -1 to 65535");
  EXPECT_EQ(messageOf([](Program &p) { p.ranks[1][0].token = INT32_MIN; }),
            "rank 1 instruction 0: token out of range: got -2147483648, "
            "expected -1 to 65535");
  EXPECT_EQ(messageOf([](Program &p) { p.placement.mesh.ring = 0; }).empty(),
            false);
  EXPECT_NE(messageOf([](Program &p) {
              p.windows[5].rows = int64_t(1) << 36;
            }).find("memory of the windows over all ranks not available"),
            std::string::npos);
  EXPECT_EQ(messageOf([](Program &p) { p.windows[0].name = "queries"; }),
            "external window has no tensor: got queries, expected q_shard, "
            "k_shard, v_shard, o_shard or lse_shard");
}

TEST(Failure, BackendWithoutTheKernelIsRefusedAtOnce) {
  Placement placement;
  Program program = ringProgram(placement);
  EXPECT_EQ(Executor::create(program, nullptr).message(),
            "backend missing: got a null pointer");
  EXPECT_EQ(Executor::create(program, createCpuBackend(nullptr, nullptr))
                .message()
                .rfind("kernel attend_f32_f32_d32_q16_k24 is missing: got 0 "
                       "other kernels",
                       0),
            0u);
}
