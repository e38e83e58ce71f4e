//===- ThreadPool.cpp - Worker threads of the process ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Backend.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

using namespace sart;

namespace {

/// One call of parallelFor. Lives on the caller's stack; the caller leaves
/// only when no worker is inside.
struct Job {
  Job(const std::function<void(int64_t, int64_t)> &body, int64_t count)
      : body(body), count(count) {}

  const std::function<void(int64_t, int64_t)> &body;
  const int64_t count;
  std::atomic<int64_t> next{0};
  int64_t inside = 0;         ///< workers, under the pool's mutex
  std::exception_ptr failure; ///< the first, under the pool's mutex
  std::condition_variable left;

  /// What stopped the work, if memory ran out; the others stop too.
  std::exception_ptr run(int64_t worker) {
    try {
      for (int64_t i = next.fetch_add(1, std::memory_order_relaxed); i < count;
           i = next.fetch_add(1, std::memory_order_relaxed))
        body(i, worker);
    } catch (...) {
      next.store(count, std::memory_order_relaxed);
      return std::current_exception();
    }
    return nullptr;
  }
  bool exhausted() const {
    return next.load(std::memory_order_relaxed) >= count;
  }
};

} // namespace

struct ThreadPool::State {
  int64_t total = 1;
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<Job *> jobs;
  int64_t busy = 0; ///< callers and workers inside a job
  bool stopping = false;
  std::vector<std::thread> workers;

  ~State();
  void work(int64_t index);
};

ThreadPool::State::~State() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  wake.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

void ThreadPool::State::work(int64_t index) {
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    // Callers keep their cores busy themselves; workers fill the others.
    wake.wait(lock,
              [&] { return stopping || (!jobs.empty() && busy < total); });
    if (stopping)
      return;
    Job *job = jobs.front();
    if (job->exhausted()) {
      // Its caller waits for the workers inside; nobody else needs to look.
      jobs.pop_front();
      continue;
    }
    // The next worker helps another caller first.
    jobs.pop_front();
    jobs.push_back(job);
    ++job->inside;
    ++busy;
    lock.unlock();
    std::exception_ptr failure = job->run(index);
    lock.lock();
    if (failure && !job->failure)
      job->failure = failure;
    --busy;
    if (--job->inside == 0)
      job->left.notify_one();
  }
}

ThreadPool::ThreadPool(int64_t threads) : state(std::make_unique<State>()) {
  if (threads <= 0)
    threads = std::max<int64_t>(1, std::thread::hardware_concurrency());
  state->total = threads;
  try {
    for (int64_t index = 1; index < threads; ++index)
      state->workers.emplace_back(
          [shared = state.get(), index] { shared->work(index); });
  } catch (const std::system_error &) {
    // The system has no more threads: fewer do the same work. (Other exceptions
    // leave; the state then ends the workers that there are.)
    std::lock_guard<std::mutex> lock(state->mutex);
    state->total = static_cast<int64_t>(state->workers.size()) + 1;
  }
}

ThreadPool::~ThreadPool() = default;

int64_t ThreadPool::threads() const { return state->total; }

void ThreadPool::parallelFor(
    int64_t count, const std::function<void(int64_t, int64_t)> &body) {
  if (count <= 0)
    return;
  if (count == 1 || state->workers.empty()) {
    for (int64_t i = 0; i < count; ++i)
      body(i, 0);
    return;
  }
  Job job(body, count);
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->jobs.push_back(&job);
    ++state->busy;
  }
  state->wake.notify_all();
  std::exception_ptr failure = job.run(0);
  std::unique_lock<std::mutex> lock(state->mutex);
  auto &jobs = state->jobs;
  jobs.erase(std::remove(jobs.begin(), jobs.end(), &job), jobs.end());
  --state->busy;
  // This core is free for what other callers still have.
  if (!jobs.empty())
    state->wake.notify_one();
  job.left.wait(lock, [&] { return job.inside == 0; });
  if (!failure)
    failure = job.failure;
  lock.unlock();
  if (failure)
    std::rethrow_exception(failure);
}
