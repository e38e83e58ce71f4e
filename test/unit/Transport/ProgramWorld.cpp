//===- ProgramWorld.cpp - A program over the ranks of a world -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ProgramWorld.h"

#include <algorithm>

using namespace sart;
using namespace sart::test;

namespace {

/// Knows the rank that each attend call is of.
class RankBackend final : public HookedBackend {
public:
  RankBackend(int64_t rank, const std::function<Status(int64_t)> &before)
      : HookedBackend([=](int64_t) { return before(rank); }) {}
};

/// Gives each rank of a process its own.
class BackendOfRanks final : public HookedBackend {
public:
  explicit BackendOfRanks(std::function<Status(int64_t)> before)
      : HookedBackend([](int64_t) { return Status(); }),
        before(std::move(before)) {}
  Expected<std::shared_ptr<Backend>> ofRank(const Program &,
                                            int64_t rank) override {
    return std::shared_ptr<Backend>(
        std::make_shared<RankBackend>(rank, before));
  }

private:
  std::function<Status(int64_t)> before;
};

} // namespace

ProgramWorld::ProgramWorld(
    std::unique_ptr<World> world, const Program &program,
    const ExecutorOptions &options, std::function<Status(int64_t)> before,
    const std::function<void(int64_t, Program &)> &change) {
  for (auto &part : world->parts) {
    Program own = program;
    if (change)
      change(part->localRanks().front(), own);
    std::shared_ptr<Backend> backend = referenceBackend();
    if (before)
      backend = std::make_shared<BackendOfRanks>(before);
    auto executor = Executor::create(std::move(own), std::move(backend),
                                     options, std::move(part));
    EXPECT_TRUE(executor.ok()) << executor.message();
    executors.push_back(std::move(*executor));
  }
}

bool ProgramWorld::has(int64_t rank) const {
  return std::any_of(executors.begin(), executors.end(), [&](const auto &own) {
    const auto &ranks = own->localRanks();
    return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
  });
}

std::vector<std::string> ProgramWorld::onParts(
    LayerData &data,
    const std::function<Status(Executor &, const std::vector<RankTensors> &,
                               const std::vector<RankTensors> &)> &body) {
  std::vector<std::string> errors(executors.size());
  std::vector<RankTensors> all = data.shards(program().placement);
  std::vector<std::thread> threads;
  for (size_t part = 0; part < executors.size(); ++part)
    threads.emplace_back([&, part] {
      std::vector<RankTensors> own;
      for (int64_t rank : executors[part]->localRanks())
        own.push_back(all[static_cast<size_t>(rank)]);
      errors[part] = body(*executors[part], own, all).message();
    });
  for (std::thread &thread : threads)
    thread.join();
  return errors;
}

static std::string firstOf(const std::vector<std::string> &errors) {
  for (const std::string &error : errors)
    if (!error.empty())
      return error;
  return "";
}

std::string ProgramWorld::run(LayerData &data, const RunOptions &options,
                              RunStats *stats) {
  return firstOf(onParts(
      data,
      [&](Executor &executor, const auto &own, const auto &all) -> Status {
        RunStats local;
        SART_RETURN_IF_ERROR(executor.run(own, options, local));
        if (stats && executor.localRanks().front() == 0)
          *stats = std::move(local);
        return executor.gatherOutputs(own, all);
      }));
}

std::string ProgramWorld::begin(LayerData &data) {
  return firstOf(
      onParts(data, [&](Executor &executor, const auto &own, const auto &) {
        return executor.begin(own, {});
      }));
}

std::string ProgramWorld::finish(LayerData &data) {
  return firstOf(onParts(
      data,
      [&](Executor &executor, const auto &own, const auto &all) -> Status {
        RunStats local;
        SART_RETURN_IF_ERROR(executor.finish(own, local));
        return executor.gatherOutputs(own, all);
      }));
}

std::vector<std::string>
ProgramWorld::runEach(LayerData &data,
                      const std::function<RunOptions(int64_t)> &options,
                      int64_t withoutTensors) {
  std::vector<std::string> byPart =
      onParts(data, [&](Executor &executor, const auto &own, const auto &) {
        int64_t rank = executor.localRanks().front();
        RunStats local;
        return executor.run(rank == withoutTensors ? std::vector<RankTensors>()
                                                   : own,
                            options(rank), local);
      });
  std::vector<std::string> byRank(
      static_cast<size_t>(program().placement.mesh.ranks()));
  for (size_t part = 0; part < executors.size(); ++part)
    for (int64_t rank : executors[part]->localRanks())
      byRank[static_cast<size_t>(rank)] = byPart[part];
  return byRank;
}
