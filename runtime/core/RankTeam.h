//===- RankTeam.h - One persistent thread per rank --------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_CORE_RANKTEAM_H
#define SPARSEATTN_RUNTIME_CORE_RANKTEAM_H

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sart {

/// Threads that live as long as the team and sleep between runs.
class RankTeam {
public:
  /// Throws std::system_error where the system has no more threads.
  explicit RankTeam(int64_t ranks);
  ~RankTeam();
  RankTeam(const RankTeam &) = delete;
  RankTeam &operator=(const RankTeam &) = delete;

  /// Calls task(rank) on every rank's thread; returns when all have returned.
  /// Throws the first of the exceptions that left a task.
  void run(const std::function<void(int64_t)> &task);

private:
  void work(int64_t rank);
  void stop();

  std::mutex mutex;
  std::condition_variable wake, finished;
  const std::function<void(int64_t)> *task = nullptr;
  uint64_t round = 0;
  int64_t running = 0;
  std::exception_ptr failure; ///< of this round, the first
  bool stopping = false;
  std::vector<std::thread> threads;
};

} // namespace sart

#endif // SPARSEATTN_RUNTIME_CORE_RANKTEAM_H
