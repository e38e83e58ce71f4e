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
#include "TensorRows.h"
#include "sparseattn-rt/Binder.h"
#include "sparseattn-rt/Validator.h"

#include <algorithm>
#include <limits>
#include <system_error>

using namespace sart;

struct Executor::State {
  ExecutorShared shared;
  std::vector<std::unique_ptr<RankExecutor>> ranks; ///< the local ones
  std::vector<size_t> splits; ///< of each: first instruction of finish
  std::unique_ptr<RankTeam> team;
  bool begun = false;    ///< begin succeeded, finish has not run
  bool complete = false; ///< the last run succeeded
  int64_t beginNs = 0;
  std::optional<BlockMask> mask; ///< of the last run, made when asked for

  int64_t rankOf(size_t local) const { return shared.localRanks()[local]; }
  /// Gives the local ranks what they need of the program and the transport.
  Status makeRanks();
  void findSplits();
  Status bindTensors(const std::vector<RankTensors> &tensors, bool queries,
                     bool rest);
  /// Makes everything as it was before the first run, memory excepted.
  Status start(const RunOptions &options,
               const std::vector<RankTensors> &tensors, bool rest);
  Status prepare(const RunOptions &options,
                 const std::vector<RankTensors> &tensors, bool rest);
  /// Tells the other processes that this one does not take part in a run.
  Status withdraw(Status status);
  /// Calls `task` on every local rank's thread; the most useful error.
  Status onRanks(const std::function<RankOutcome(size_t local)> &task);
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
  for (int64_t rank : shared.localRanks()) {
    const auto &list = shared.program.instructionsOf(rank);
    splits.push_back(
        static_cast<size_t>(std::find_if(list.begin(), list.end(),
                                         [&](const Instruction &instruction) {
                                           return instruction.phase >= border;
                                         }) -
                            list.begin()));
  }
}

static Status validateOnce(const Program &program) {
  ValidatorOptions options;
  // A bound program's mask is constant: its coverage is proven once.
  options.coverage = true;
  return validate(program, options);
}

Executor::Executor(std::unique_ptr<State> state) : state(std::move(state)) {}
Executor::~Executor() = default;

Status Executor::State::makeRanks() {
  auto count = static_cast<size_t>(shared.ranks());
  shared.records.resize(count);
  shared.rankBackends.resize(count);
  shared.arenas.resize(count);
  std::vector<MemorySpace *> spaces;
  std::vector<WindowResolver> windows;
  for (int64_t rank : shared.localRanks()) {
    auto index = static_cast<size_t>(rank);
    auto own = shared.backend->ofRank(shared.program, rank);
    if (!own)
      return own.status();
    shared.rankBackends[index] = std::move(*own);
    spaces.push_back(&shared.backendOf(rank).memory());
    auto arena = WindowArena::create(shared.program, rank, *spaces.back());
    if (!arena)
      return arena.status();
    shared.arenas[index] = std::move(*arena);
    windows.emplace_back([this, index](const RemoteRows &rows) {
      auto known = static_cast<int64_t>(shared.program.windows.size());
      if (rows.window < 0 || rows.window >= known)
        return Expected<SegmentList>(
            makeError("window of a put out of range: got ", rows.window,
                      ", expected 0 to ", known - 1));
      return shared.arenas[index]->segments(rows.window, rows.chunks);
    });
  }
  shared.transport->useSpaces(std::move(spaces));
  shared.transport->useWindows(std::move(windows));
  for (int64_t rank : shared.localRanks())
    ranks.push_back(std::make_unique<RankExecutor>(shared, rank));
  return Status::success();
}

Expected<std::unique_ptr<Executor>>
Executor::create(Program program, std::shared_ptr<Backend> backend,
                 const ExecutorOptions &options,
                 std::unique_ptr<Transport> transport) {
  if (!backend)
    return makeError("backend missing: got a null pointer");
  SART_RETURN_IF_ERROR(checkStructure(program));
  int64_t ranks = program.placement.mesh.ranks();
  if (transport && transport->ranks() != ranks)
    return makeError("ranks of the transport: got ", transport->ranks(),
                     ", expected ", ranks, ", those of the program");
  if (backend->memory().onHost())
    SART_RETURN_IF_ERROR(
        checkMemory(program, transport ? transport->localRanks().size()
                                       : static_cast<size_t>(ranks)));
  if (options.validate)
    SART_RETURN_IF_ERROR(validateOnce(program));
  SART_RETURN_IF_ERROR(backend->supports(program));

  auto state = std::make_unique<State>();
  ExecutorShared &shared = state->shared;
  shared.program = std::move(program);
  shared.backend = std::move(backend);
  shared.options = options;
  shared.programHash = contentHash(shared.program);
  shared.transport = std::move(transport);
  if (!shared.transport) {
    auto local = LocalTransport::create(ranks, options.timeoutMs);
    if (!local)
      return local.status();
    shared.transport = std::move(*local);
  }
  SART_RETURN_IF_ERROR(state->makeRanks());
  state->findSplits();
  try {
    state->team = std::make_unique<RankTeam>(
        static_cast<int64_t>(shared.localRanks().size()));
  } catch (const std::system_error &failure) {
    return makeError("threads: got '", failure.code().message(),
                     "', expected one per rank");
  }
  return std::unique_ptr<Executor>(new Executor(std::move(state)));
}

const Program &Executor::program() const { return state->shared.program; }

const std::vector<int64_t> &Executor::localRanks() const {
  return state->shared.localRanks();
}

Status Executor::State::bindTensors(const std::vector<RankTensors> &tensors,
                                    bool queries, bool rest) {
  if (tensors.size() != ranks.size())
    return makeError("number of tensor sets does not match the ranks: got ",
                     tensors.size(), ", expected ", ranks.size());
  const Placement &placement = shared.program.placement;
  for (size_t local = 0; local < ranks.size(); ++local) {
    int64_t rank = rankOf(local);
    const RankTensors &own = tensors[local];
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

Status Executor::State::prepare(const RunOptions &options,
                                const std::vector<RankTensors> &tensors,
                                bool rest) {
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
  shared.gatherMask = options.gatherMask;
  for (int64_t rank : shared.localRanks())
    shared.arenas[static_cast<size_t>(rank)]->unbind();
  for (auto &rank : ranks)
    SART_RETURN_IF_ERROR(rank->restart());
  return bindTensors(tensors, /*queries=*/true, rest);
}

Status Executor::State::start(const RunOptions &options,
                              const std::vector<RankTensors> &tensors,
                              bool rest) {
  begun = complete = false;
  mask.reset();
  beginNs = 0;
  shared.givenPlan.reset();
  // Whatever is wrong here: the others have begun a run as well.
  shared.transport->reset();
  Status status = prepare(options, tensors, rest);
  return status.ok() ? status : withdraw(std::move(status));
}

Status Executor::State::withdraw(Status status) {
  if (!shared.allLocal())
    shared.transport->endpoint(rankOf(0)).abort(
        concat("rank ", rankOf(0), " start: ", status.message()));
  return status;
}

Status
Executor::State::onRanks(const std::function<RankOutcome(size_t local)> &task) {
  std::vector<RankOutcome> outcomes(ranks.size());
  team->run([&](int64_t local) {
    auto index = static_cast<size_t>(local);
    try {
      outcomes[index] = task(index);
    } catch (...) {
      // Only memory exhaustion in a container gets here; there may be none for
      // a message either.
      shared.transport->endpoint(rankOf(index)).abort(shared.thrownReason);
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

Status Executor::State::runParts(bool first, bool second) {
  // A round of its own: a peer may put into a window as soon as it runs.
  if (shared.options.poison)
    SART_RETURN_IF_ERROR(onRanks([&](size_t local) {
      return RankOutcome{
          ranks[local]->poison(/*internal=*/first, /*outputs=*/second)};
    }));
  if (!shared.allLocal())
    SART_RETURN_IF_ERROR(
        onRanks([&](size_t local) { return ranks[local]->meet(); }));
  if (first)
    shared.start = Clock::now();
  return onRanks([&](size_t local) {
    return ranks[local]->runUntil(second ? std::numeric_limits<size_t>::max()
                                         : splits[local]);
  });
}

Status Executor::State::finishRun(RunStats &stats, int64_t totalNs) {
  if (!shared.allLocal())
    SART_RETURN_IF_ERROR(
        onRanks([&](size_t local) { return ranks[local]->report(); }));
  collectStats(shared, stats);
  stats.totalNs = totalNs;
  complete = true;
  for (int64_t rank : shared.localRanks())
    shared.arenas[static_cast<size_t>(rank)]->unbind();
  return Status::success();
}

Status Executor::run(const std::vector<RankTensors> &tensors,
                     const RunOptions &options, RunStats &stats) {
  SART_RETURN_IF_ERROR(state->start(options, tensors, /*rest=*/true));
  SART_RETURN_IF_ERROR(state->runParts(/*first=*/true, /*second=*/true));
  return state->finishRun(stats, nanosecondsSince(state->shared.start));
}

Status Executor::begin(const std::vector<RankTensors> &tensors,
                       const RunOptions &options) {
  SART_RETURN_IF_ERROR(state->start(options, tensors, /*rest=*/false));
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
  if (Status status = state->bindTensors(tensors, false, true); !status.ok())
    return state->withdraw(std::move(status));
  Clock::time_point second = Clock::now();
  SART_RETURN_IF_ERROR(state->runParts(/*first=*/false, /*second=*/true));
  return state->finishRun(stats, state->beginNs + nanosecondsSince(second));
}

Status Executor::gatherOutputs(const std::vector<RankTensors> &own,
                               const std::vector<RankTensors> &all) {
  const ExecutorShared &shared = state->shared;
  if (shared.allLocal())
    return Status::success();
  return state->onRanks([&](size_t local) {
    int64_t rank = state->rankOf(local);
    auto gathered = shared.transport->endpoint(rank).gather(
        0, packRows(own[local].o) + packRows(own[local].lse));
    Status status = gathered.status();
    for (size_t peer = 0; gathered && peer < gathered->size(); ++peer) {
      if (!status.ok() || shared.isLocal(static_cast<int64_t>(peer)))
        continue;
      const std::string &bytes = (*gathered)[peer];
      size_t taken = 0;
      for (const Tensor *tensor : {&all[peer].o, &all[peer].lse})
        if (status.ok())
          status = unpackRows(bytes, taken, *tensor);
    }
    if (!status.ok())
      status = makeError("rank ", rank, " outputs: ", status.message());
    return RankOutcome{status};
  });
}

Expected<Program> Executor::boundProgram() const {
  const Program &program = state->shared.program;
  if (program.bound)
    return program;
  auto mask = lastMask();
  if (!mask)
    return mask.status();
  int64_t first = state->shared.localRanks().front();
  const std::optional<Plan> &plan =
      state->shared.records[static_cast<size_t>(first)].plan;
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
    if (!state->shared.isLocal(0))
      return makeError("mask of the run: got rank ", state->rankOf(0),
                       ", expected rank 0, where it was gathered");
    for (size_t local = 0; local < state->ranks.size(); ++local)
      if (Status status = state->ranks[local]->fetchRows(); !status.ok())
        return makeError("rank ", state->rankOf(local),
                         " mask: ", status.message());
    auto mask = state->shared.assembleMask();
    if (!mask)
      return mask.status();
    state->mask = std::move(*mask);
  }
  return static_cast<const BlockMask *>(&*state->mask);
}
