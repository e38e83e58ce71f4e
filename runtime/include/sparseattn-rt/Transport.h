//===- Transport.h - Data between ranks -------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_TRANSPORT_H
#define SPARSEATTN_RT_TRANSPORT_H

#include "sparseattn-rt/Status.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace sart {

class MemorySpace;

/// Contiguous piece of memory.
struct Segment {
  void *data = nullptr;
  int64_t bytes = 0;
};
using SegmentList = std::vector<Segment>;

int64_t totalBytes(const SegmentList &segments);
/// Copies `from` to `to` in order; refuses different total sizes. A piece whose
/// source is its destination stays; pieces may not overlap otherwise.
Status copySegments(const SegmentList &from, const SegmentList &to);

/// Errors that follow from another rank's abort begin with this text and that
/// rank's number.
constexpr const char *abortedPrefix = "aborted by rank ";

/// Rows of a window of another rank, as that rank's program numbers them: a
/// flat list of chunks (see Chunk).
struct RemoteRows {
  int32_t window = 0;
  std::vector<int64_t> chunks;
};
/// Memory of such rows, asked of the rank that owns them.
using WindowResolver =
    std::function<Expected<SegmentList>(const RemoteRows &rows)>;

/// A send or receive in flight.
class TransferHandle {
public:
  virtual ~TransferHandle() = default;
};

/// One rank's end of a transport. Calls on one endpoint come from one thread.
/// Every blocking call returns an error within the time-out when a peer does
/// not come, and at once when any rank called abort.
class Endpoint {
public:
  virtual ~Endpoint() = default;
  virtual int64_t rank() const = 0;
  virtual int64_t ranks() const = 0;
  /// Non-blocking. The k-th send to a peer meets the k-th receive from this
  /// rank there; total sizes must agree (checked, an error on both sides), the
  /// segment boundaries need not. Memory stays untouched until wait returns.
  virtual Expected<std::shared_ptr<TransferHandle>> send(int64_t peer,
                                                         SegmentList from) = 0;
  virtual Expected<std::shared_ptr<TransferHandle>> recv(int64_t peer,
                                                         SegmentList to) = 0;
  virtual Status wait(TransferHandle &handle) = 0;
  /// One-sided write into the peer's windows. Visible to it after signal and
  /// waitSignal.
  virtual Status put(int64_t peer, const SegmentList &from,
                     const RemoteRows &to) = 0;
  virtual Status signal(int64_t peer) = 0;
  virtual Status waitSignal(int64_t peer) = 0;
  /// All ranks; returns every rank's value, in rank order. Used for plan
  /// hashes and errors.
  virtual Expected<std::vector<uint64_t>> allGather(uint64_t value) = 0;
  virtual Status barrier() = 0;
  /// All ranks; host memory of any length. `root` gets every rank's bytes, in
  /// rank order, the others an empty list. Has an order of its own: sends and
  /// receives in flight are not disturbed.
  virtual Expected<std::vector<std::string>>
  gather(int64_t root, const std::string &bytes) = 0;
  /// Makes every blocked and later call of every rank fail with `reason`,
  /// until reset.
  virtual void abort(const std::string &reason) = 0;
};

/// The ranks of a program, some or all of them in this process. Processes call
/// reset equally often.
class Transport {
public:
  virtual ~Transport() = default;
  virtual int64_t ranks() const = 0;
  /// Ranks of this process, ascending.
  virtual const std::vector<int64_t> &localRanks() const = 0;
  /// `rank` is one of the local ranks.
  virtual Endpoint &endpoint(int64_t rank) = 0;
  /// Lets segments of each local rank lie in its space, and orders transfers
  /// among the ranks' other work there; without, all are host memory. Before
  /// any transfer.
  virtual void useSpaces(std::vector<MemorySpace *> spaces) = 0;
  /// Where puts into each local rank's windows go; without, they are refused.
  virtual void useWindows(std::vector<WindowResolver> windows) = 0;
  /// Forgets all transfers, signals and the abort; no call may be in progress
  /// in this process. Others may still be in what went before.
  virtual void reset() = 0;
};

/// Ranks as threads of this process (runtime/transports/local).
class LocalTransport final : public Transport {
public:
  /// timeoutMs bounds every blocking call.
  static Expected<std::unique_ptr<LocalTransport>>
  create(int64_t ranks, int64_t timeoutMs = 60000);
  ~LocalTransport() override;
  int64_t ranks() const override;
  const std::vector<int64_t> &localRanks() const override;
  Endpoint &endpoint(int64_t rank) override;
  void useSpaces(std::vector<MemorySpace *> spaces) override;
  void useWindows(std::vector<WindowResolver> windows) override;
  void reset() override;

private:
  friend class LocalEndpoint;
  LocalTransport();
  struct State;
  std::unique_ptr<State> state;
};

} // namespace sart

#endif // SPARSEATTN_RT_TRANSPORT_H
