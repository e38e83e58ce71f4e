//===- RankTeam.cpp - One persistent thread per rank ----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RankTeam.h"

#include <utility>

using namespace sart;

RankTeam::RankTeam(int64_t ranks) {
  try {
    for (int64_t rank = 0; rank < ranks; ++rank)
      threads.emplace_back([this, rank] { work(rank); });
  } catch (...) {
    stop();
    throw;
  }
}

RankTeam::~RankTeam() { stop(); }

void RankTeam::stop() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  wake.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

void RankTeam::run(const std::function<void(int64_t)> &newTask) {
  std::unique_lock<std::mutex> lock(mutex);
  task = &newTask;
  running = static_cast<int64_t>(threads.size());
  ++round;
  wake.notify_all();
  finished.wait(lock, [&] { return running == 0; });
  task = nullptr;
  if (std::exception_ptr thrown = std::exchange(failure, nullptr))
    std::rethrow_exception(thrown);
}

void RankTeam::work(int64_t rank) {
  uint64_t seen = 0;
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    wake.wait(lock, [&] { return stopping || round != seen; });
    if (stopping)
      return;
    seen = round;
    const std::function<void(int64_t)> &current = *task;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      current(rank);
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    if (thrown && !failure)
      failure = thrown;
    if (--running == 0)
      finished.notify_all();
  }
}
