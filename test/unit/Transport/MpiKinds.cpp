//===- MpiKinds.cpp - Processes of an MPI launcher ------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Started by mpirun, each process runs all tests. Without, there is one rank.
//
//===----------------------------------------------------------------------===//
#include "ProgramWorld.h"
#include "sparseattn-rt/TransportHub.h"

#include <csignal>

using namespace sart;
using namespace sart::test;

static std::shared_ptr<TransportHub> hub;

static std::unique_ptr<World> makeMpi(int64_t ranks, int64_t timeoutMs) {
  if (ranks > hub->ranks())
    return nullptr;
  // Processes come to a test at their own pace.
  auto before = hub->createTransport(60000),
       transport = hub->createTransport(timeoutMs);
  EXPECT_TRUE(before.ok() && transport.ok());
  Status status = (*before)->endpoint(hub->rank()).barrier();
  EXPECT_TRUE(status.ok()) << status.message();
  std::vector<std::unique_ptr<Transport>> parts;
  parts.push_back(std::move(*transport));
  return std::make_unique<World>(hub->ranks(), std::move(parts));
}

std::vector<TransportKind> test::transportKinds() {
  TransportKind mpi{"mpi", makeMpi};
  mpi.threads = false;
  mpi.rankCounts = {hub ? hub->ranks() : 1};
  return {mpi};
}

/// Rank 1 sends itself a signal in the middle of a layer. By the launcher's
/// tests alone: it ends the whole run.
static void expectEndAfter(int number) {
  auto world = makeMpi(3, 2000);
  ASSERT_TRUE(world) << "not enough ranks";
  Placement placement = placementOf(world->ranks, 1, 7, 7, 63, 63);
  ProgramWorld runs(std::move(world), templateOf(placement, topP(0.7f)),
                    ExecutorOptions(), [&](int64_t rank) -> Status {
                      if (rank == 1)
                        std::raise(number);
                      return Status::success();
                    });
  LayerData data(placement.shape, 3);
  std::string error = runs.run(data);
  std::printf("survivor: %s\n", error.c_str());
  std::fflush(stdout);
  EXPECT_NE(error, "");
}

TEST(MpiProcess, DISABLED_IsKilled) { expectEndAfter(SIGKILL); }
TEST(MpiProcess, DISABLED_IsStopped) { expectEndAfter(SIGSTOP); }

int main(int argc, char **argv) {
  auto opened = openMpiHub(SPARSEATTN_MPI_PLUGIN);
  if (!opened) {
    std::fprintf(stderr, "error: %s\n", opened.message().c_str());
    return 1;
  }
  hub = std::move(*opened);
  testing::InitGoogleTest(&argc, argv);
  // One report is enough; what fails elsewhere is printed as well.
  if (hub->rank() != 0)
    testing::UnitTest::GetInstance()->listeners().Release(
        testing::UnitTest::GetInstance()->listeners().default_xml_generator());
  int result = RUN_ALL_TESTS();
  hub = nullptr;
  return result;
}
