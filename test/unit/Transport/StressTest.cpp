//===- StressTest.cpp - Many runs, with ranks that lag --------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1,000 runs of a program; SPARSEATTN_STRESS_RUNS says another number. Each
// sends messages of up to 64 KiB, and ranks are late by up to 200 us. The seed
// is printed; SPARSEATTN_STRESS_SEED sets it.
//
//===----------------------------------------------------------------------===//
#include "ProgramWorld.h"

#include <cstdlib>
#include <random>

using namespace sart;
using namespace sart::test;

namespace {

class Stress : public TransportTest {};

int64_t numberOf(const char *variable, int64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::atoll(text) : otherwise;
}

} // namespace

INSTANTIATE_ON_KINDS(Stress, kind.make != nullptr);

TEST_P(Stress, RunsGiveTheSameBits) {
  MAKE_WORLD(4, 120000);
  int64_t ranks = world->ranks;
  Mesh mesh{ranks % 2 ? ranks : ranks / 2, ranks % 2 ? 1 : 2};
  int64_t runs = numberOf("SPARSEATTN_STRESS_RUNS", 1000);
  auto seed = static_cast<uint32_t>(
      numberOf("SPARSEATTN_STRESS_SEED", std::random_device{}() % 1000000));
  std::printf("%lld runs over %lld ranks, seed %u\n", (long long)runs,
              (long long)ranks, seed);
  // Messages of 3 to 30 KiB over 4 ranks.
  Placement placement = placementOf(mesh.ulysses, mesh.ring, 5, 5, 63, 240);
  Program program = templateOf(placement, topP(0.7f));
  LayerData data(placement.shape, 61), expected(placement.shape, 61);
  auto local = executorOf(program);
  runAll(*local, expected);

  std::vector<std::mt19937> random;
  for (int64_t rank = 0; rank < ranks; ++rank)
    random.emplace_back(seed + static_cast<uint32_t>(rank));
  ExecutorOptions options;
  options.timeoutMs = 120000;
  options.validate = false; // which takes longer than all the rest
  ProgramWorld worldRuns(
      std::move(world), program, options, [&](int64_t rank) -> Status {
        std::this_thread::sleep_for(std::chrono::microseconds(
            random[static_cast<size_t>(rank)]() % 200));
        return Status::success();
      });
  RunOptions quick;
  for (int64_t round = 0; round < runs; ++round) {
    data.forget();
    quick.trace = quick.gatherMask = round % 16 == 0;
    ASSERT_EQ(worldRuns.run(data, quick), "") << "run " << round;
    if (!worldRuns.hasRankZero())
      continue;
    ASSERT_EQ(data.o, expected.o) << "run " << round;
    ASSERT_EQ(data.lse, expected.lse) << "run " << round;
  }
}
