//===- Executor.cpp - Runs programs over the ranks of this process --------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Executor.h"

#include "RankExecutor.h"
#include "RankTeam.h"
#include "sparseattn-rt/Binder.h"
#include "sparseattn-rt/Validator.h"

#include <algorithm>
#include <limits>
#include <system_error>
#include <unistd.h>

using namespace sart;

struct Executor::State {
  ExecutorShared shared;
  std::vector<std::unique_ptr<RankExecutor>> ranks;
  std::vector<size_t> splits; ///< per rank: first instruction of finish
  std::unique_ptr<RankTeam> team;
  bool begun = false;    ///< begin succeeded, finish has not run
  bool complete = false; ///< the last run succeeded
  int64_t beginNs = 0;
  std::optional<BlockMask> mask; ///< of the last run, made when asked for

  void findSplits();
  Status bindTensors(const std::vector<RankTensors> &tensors, bool queries,
                     bool rest);
  Status start(const RunOptions &options);
  Status runParts(bool first, bool second);
  Status finishRun(RunStats &stats, int64_t totalNs);
};

/// The parts of a run meet at a border of phases, the same on every rank: an
/// instruction before it never waits for one behind it.
void Executor::State::findSplits() {
  int32_t v = shared.program.findWindow("v_shard");
  int64_t border = std::numeric_limits<int64_t>::max();
  for (const std::vector<Instruction> &list : shared.program.ranks)
    for (const Instruction &instruction : list)
      for (int32_t window : instruction.windows)
        if (v >= 0 && window == v)
          border = std::min<int64_t>(border, instruction.phase);
  for (int64_t rank = 0; rank < shared.ranks(); ++rank) {
    const auto &list = shared.program.instructionsOf(rank);
    splits.push_back(
        static_cast<size_t>(std::find_if(list.begin(), list.end(),
                                         [&](const Instruction &instruction) {
                                           return instruction.phase >= border;
                                         }) -
                            list.begin()));
  }
}

/// Refuses programs whose windows cannot fit this machine, before the system
/// ends the process for touching them.
static Status checkMemory(const Program &program) {
  double bytes = 0;
  for (const Window &window : program.windows)
    if (window.role == Window::Role::Internal)
      bytes += static_cast<double>(window.slots) *
               static_cast<double>(window.rows) *
               static_cast<double>(window.rowBytes());
  bytes *= static_cast<double>(program.placement.mesh.ranks());
  double available = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                     static_cast<double>(sysconf(_SC_PAGESIZE));
  if (available > 0 && bytes > available)
    return makeError("memory of the windows over all ranks not available: got ",
                     static_cast<int64_t>(available / 1e6),
                     " MB on this machine, expected ",
                     static_cast<int64_t>(std::min(bytes / 1e6, 9e18)), " MB");
  return Status::success();
}

static Status validateOnce(const Program &program) {
  ValidatorOptions options;
  // A bound program's mask is constant: its coverage is proven once.
  options.coverage = true;
  return validate(program, options);
}

Executor::Executor(std::unique_ptr<State> state) : state(std::move(state)) {}
Executor::~Executor() = default;

Expected<std::unique_ptr<Executor>>
Executor::create(Program program, std::shared_ptr<Backend> backend,
                 const ExecutorOptions &options) {
  if (!backend)
    return makeError("backend missing: got a null pointer");
  SART_RETURN_IF_ERROR(checkStructure(program));
  if (backend->memory().onHost())
    SART_RETURN_IF_ERROR(checkMemory(program));
  if (options.validate)
    SART_RETURN_IF_ERROR(validateOnce(program));
  SART_RETURN_IF_ERROR(backend->supports(program));

  auto state = std::make_unique<State>();
  ExecutorShared &shared = state->shared;
  shared.program = std::move(program);
  shared.backend = std::move(backend);
  shared.options = options;
  shared.programHash = contentHash(shared.program);
  auto transport = LocalTransport::create(shared.ranks(), options.timeoutMs);
  if (!transport)
    return transport.status();
  shared.transport = std::move(*transport);
  shared.records.resize(static_cast<size_t>(shared.ranks()));
  std::vector<MemorySpace *> spaces;
  for (int64_t rank = 0; rank < shared.ranks(); ++rank) {
    auto own = shared.backend->ofRank(shared.program, rank);
    if (!own)
      return own.status();
    shared.rankBackends.push_back(std::move(*own));
    spaces.push_back(&shared.backendOf(rank).memory());
    auto arena = WindowArena::create(shared.program, rank, *spaces.back());
    if (!arena)
      return arena.status();
    shared.arenas.push_back(std::move(*arena));
  }
  shared.transport->useSpaces(std::move(spaces));
  for (int64_t rank = 0; rank < shared.ranks(); ++rank)
    state->ranks.push_back(std::make_unique<RankExecutor>(shared, rank));
  state->findSplits();
  try {
    state->team = std::make_unique<RankTeam>(shared.ranks());
  } catch (const std::system_error &failure) {
    return makeError("threads: got '", failure.code().message(),
                     "', expected one per rank");
  }
  return std::unique_ptr<Executor>(new Executor(std::move(state)));
}

const Program &Executor::program() const { return state->shared.program; }

Status Executor::State::bindTensors(const std::vector<RankTensors> &tensors,
                                    bool queries, bool rest) {
  if (static_cast<int64_t>(tensors.size()) != shared.ranks())
    return makeError("number of tensor sets does not match the ranks: got ",
                     tensors.size(), ", expected ", shared.ranks());
  const Placement &placement = shared.program.placement;
  for (int64_t rank = 0; rank < shared.ranks(); ++rank) {
    const RankTensors &own = tensors[static_cast<size_t>(rank)];
    WindowArena &arena = *shared.arenas[static_cast<size_t>(rank)];
    int64_t qRows = placement.qShardOf(rank).size();
    int64_t kvRows = placement.kvShardOf(rank).size();
    auto bind = [&](ExternalTensor which, const Tensor &tensor, int64_t rows) {
      Status status = arena.bind(which, tensor, rows);
      return status.ok() ? status
                         : makeError("rank ", rank, ": ", status.message());
    };
    if (queries) {
      SART_RETURN_IF_ERROR(bind(ExternalTensor::Q, own.q, qRows));
      SART_RETURN_IF_ERROR(bind(ExternalTensor::K, own.k, kvRows));
    }
    if (rest) {
      SART_RETURN_IF_ERROR(bind(ExternalTensor::V, own.v, kvRows));
      SART_RETURN_IF_ERROR(bind(ExternalTensor::O, own.o, qRows));
      SART_RETURN_IF_ERROR(bind(ExternalTensor::Lse, own.lse, qRows));
    }
  }
  return Status::success();
}

/// Makes everything as it was before the first run, memory excepted.
Status Executor::State::start(const RunOptions &options) {
  begun = complete = false;
  mask.reset();
  beginNs = 0;
  shared.givenPlan.reset();
  if (options.plan) {
    if (shared.program.bound)
      return makeError("plan given for a bound program: expected a template, "
                       "or no plan");
    shared.givenPlan = *options.plan;
  }
  if (options.dense && shared.program.bound)
    return makeError("dense routing asked of a bound program: expected a "
                     "template, or a program with a dense mask");
  shared.dense = options.dense;
  shared.trace = options.trace;
  shared.transport->reset();
  for (auto &arena : shared.arenas)
    arena->unbind();
  for (auto &rank : ranks)
    SART_RETURN_IF_ERROR(rank->restart());
  return Status::success();
}

Status Executor::State::runParts(bool first, bool second) {
  std::vector<RankOutcome> outcomes(ranks.size());
  // A round of its own: a peer may put into a window as soon as it runs.
  if (shared.options.poison) {
    team->run([&](int64_t rank) {
      auto index = static_cast<size_t>(rank);
      outcomes[index].status =
          ranks[index]->poison(/*internal=*/first, /*outputs=*/second);
    });
    for (const RankOutcome &outcome : outcomes)
      SART_RETURN_IF_ERROR(outcome.status);
  }
  team->run([&](int64_t rank) {
    auto index = static_cast<size_t>(rank);
    size_t end = second ? std::numeric_limits<size_t>::max() : splits[index];
    try {
      outcomes[index] = ranks[index]->runUntil(end);
    } catch (...) {
      // Only memory exhaustion in a container gets here; there may be none for
      // a message either.
      shared.transport->endpoint(rank).abort(shared.thrownReason);
      throw;
    }
  });
  // The cause is more useful than what followed from it.
  for (const RankOutcome &outcome : outcomes)
    if (!outcome.status.ok() && !outcome.followsAbort)
      return outcome.status;
  for (const RankOutcome &outcome : outcomes)
    SART_RETURN_IF_ERROR(outcome.status);
  return Status::success();
}

Status Executor::State::finishRun(RunStats &stats, int64_t totalNs) {
  collectStats(shared, stats);
  stats.totalNs = totalNs;
  complete = true;
  for (auto &arena : shared.arenas)
    arena->unbind();
  return Status::success();
}

Status Executor::run(const std::vector<RankTensors> &tensors,
                     const RunOptions &options, RunStats &stats) {
  SART_RETURN_IF_ERROR(state->start(options));
  SART_RETURN_IF_ERROR(state->bindTensors(tensors, true, true));
  state->shared.start = Clock::now();
  SART_RETURN_IF_ERROR(state->runParts(/*first=*/true, /*second=*/true));
  return state->finishRun(stats, nanosecondsSince(state->shared.start));
}

Status Executor::begin(const std::vector<RankTensors> &tensors,
                       const RunOptions &options) {
  SART_RETURN_IF_ERROR(state->start(options));
  SART_RETURN_IF_ERROR(state->bindTensors(tensors, true, false));
  state->shared.start = Clock::now();
  SART_RETURN_IF_ERROR(state->runParts(/*first=*/true, /*second=*/false));
  state->beginNs = nanosecondsSince(state->shared.start);
  state->begun = true;
  return Status::success();
}

Status Executor::finish(const std::vector<RankTensors> &tensors,
                        RunStats &stats) {
  if (!state->begun)
    return makeError("finish without begin: expected a successful begin first");
  state->begun = false;
  SART_RETURN_IF_ERROR(state->bindTensors(tensors, false, true));
  Clock::time_point second = Clock::now();
  SART_RETURN_IF_ERROR(state->runParts(/*first=*/false, /*second=*/true));
  return state->finishRun(stats, state->beginNs + nanosecondsSince(second));
}

Expected<Program> Executor::boundProgram() const {
  const Program &program = state->shared.program;
  if (program.bound)
    return program;
  auto mask = lastMask();
  if (!mask)
    return mask.status();
  const std::optional<Plan> &plan = state->shared.records[0].plan;
  if (!*mask || !plan)
    return makeError("bound program not available: expected a successful run "
                     "first");
  auto binding = bindPlan(program, *plan);
  if (!binding)
    return binding.status();
  return bindProgram(program, *binding, **mask);
}

Expected<const BlockMask *> Executor::lastMask() const {
  const BlockMask *none = nullptr;
  if (!state->complete)
    return none;
  if (state->shared.program.bound)
    return static_cast<const BlockMask *>(&*state->shared.program.mask);
  if (!state->mask) {
    for (size_t rank = 0; rank < state->ranks.size(); ++rank)
      if (Status status = state->ranks[rank]->fetchRows(); !status.ok())
        return makeError("rank ", rank, " mask: ", status.message());
    auto mask = state->shared.assembleMask();
    if (!mask)
      return mask.status();
    state->mask = std::move(*mask);
  }
  return static_cast<const BlockMask *>(&*state->mask);
}
