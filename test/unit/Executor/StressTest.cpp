//===- StressTest.cpp - Many runs, with ranks that lag --------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExecutorTestSupport.h"

#include <chrono>
#include <thread>

using namespace sart;
using namespace sart::test;

namespace {

/// Every fifth attend call is late, on whatever rank it is.
std::shared_ptr<Backend> laggingBackend() {
  return std::make_shared<HookedBackend>([](int64_t call) {
    if (call % 5 == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    return Status();
  });
}

} // namespace

TEST(Stress, TwoHundredRunsGiveTheSameBits) {
  Placement placement = placementOf(2, 2, 5, 5, 63, 63);
  ExecutorOptions options = strictOptions();
  options.coverage = false;
  auto executor =
      executorOf(templateOf(placement, topP(0.7f)), options, laggingBackend());
  LayerData data(placement.shape, 61);
  runAll(*executor, data);
  expectOracle(data, maskOf(*executor), executor->program().scale);
  std::vector<uint8_t> o = data.o;
  std::vector<float> lse = data.lse;
  for (int round = 0; round < 200; ++round) {
    data.forget();
    runAll(*executor, data);
    ASSERT_EQ(data.o, o) << "round " << round;
    ASSERT_EQ(data.lse, lse) << "round " << round;
  }
}

TEST(Stress, InputsChangeFromRunToRun) {
  // Nothing of a run may reach the next one: masks, plans, moved heads.
  Placement placement = placementOf(4, 2, 7, 7, 100, 100);
  auto executor = executorOf(templateOf(placement, topP(0.6f)));
  bool differ = false;
  uint64_t hash = 0;
  for (uint32_t seed = 0; seed < 12; ++seed) {
    LayerData data(placement.shape, 100 + seed);
    RunStats stats = runAll(*executor, data);
    expectOracle(data, maskOf(*executor), executor->program().scale);
    differ |= seed > 0 && stats.planHash != hash;
    hash = stats.planHash;
  }
  EXPECT_TRUE(differ);
}

TEST(Stress, ExecutorsRunSideBySide) {
  auto backend = referenceBackend();
  std::vector<std::thread> threads;
  for (uint32_t index = 0; index < 3; ++index)
    threads.emplace_back([&, index] {
      Placement placement = placementOf(2, 1 + index % 2, 5, 5, 63, 63);
      for (uint32_t round = 0; round < 5; ++round) {
        auto executor = executorOf(templateOf(placement, topP(0.7f)),
                                   strictOptions(), backend);
        LayerData data(placement.shape, index);
        runAll(*executor, data);
        expectOracle(data, maskOf(*executor), executor->program().scale);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Stress, FailuresAndSuccessesAlternate) {
  Placement placement = placementOf(4, 1, 7, 7, 63, 63);
  std::atomic<bool> fail{false};
  auto executor = executorOf(templateOf(placement, topP(0.7f)), strictOptions(),
                             std::make_shared<HookedBackend>([&](int64_t call) {
                               return fail && call % 7 == 0
                                          ? Status::error("injected")
                                          : Status();
                             }));
  LayerData data(placement.shape, 62);
  runAll(*executor, data);
  std::vector<uint8_t> o = data.o;
  for (int round = 0; round < 40; ++round) {
    fail = round % 2 == 0;
    data.forget();
    RunStats stats;
    Status status = executor->run(data.shards(placement), {}, stats);
    if (fail && !status.ok())
      EXPECT_NE(status.message().find("injected"), std::string::npos)
          << status.message();
    else
      EXPECT_EQ(data.o, o);
  }
}
