//===- ThreadPoolTest.cpp - Worker threads --------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Support/FailingNew.h"
#include "sparseattn-rt/Backend.h"

#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

using namespace sart;

TEST(ThreadPool, CallsEveryIndexOnce) {
  for (int64_t threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t count : {0, 1, 2, 3, 100, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<size_t>(count));
      std::atomic<int> badWorker{0};
      pool.parallelFor(count, [&](int64_t i, int64_t worker) {
        ++calls[static_cast<size_t>(i)];
        badWorker += worker < 0 || worker >= threads;
      });
      for (auto &call : calls)
        EXPECT_EQ(call, 1);
      EXPECT_EQ(badWorker, 0);
    }
  }
}

TEST(ThreadPool, ZeroMeansOnePerCore) {
  ThreadPool pool(0);
  EXPECT_EQ(pool.threads(),
            std::max<int64_t>(1, std::thread::hardware_concurrency()));
}

TEST(ThreadPool, WorkerIndexBelongsToOneThread) {
  ThreadPool pool(4);
  std::mutex mutex;
  std::vector<std::set<std::thread::id>> threads(4);
  pool.parallelFor(64, [&](int64_t, int64_t worker) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    std::lock_guard<std::mutex> lock(mutex);
    threads[static_cast<size_t>(worker)].insert(std::this_thread::get_id());
  });
  EXPECT_EQ(threads[0], std::set<std::thread::id>{std::this_thread::get_id()})
      << "the caller works too";
  for (const auto &ids : threads)
    EXPECT_LE(ids.size(), 1u);
}

TEST(ThreadPool, StartsInAscendingOrder) {
  ThreadPool pool(3);
  std::mutex mutex;
  std::vector<int64_t> last(3, -1);
  bool ascending = true;
  pool.parallelFor(500, [&](int64_t i, int64_t worker) {
    std::lock_guard<std::mutex> lock(mutex);
    ascending &= i > last[static_cast<size_t>(worker)];
    last[static_cast<size_t>(worker)] = i;
  });
  EXPECT_TRUE(ascending);
}

TEST(ThreadPool, ManyCallersShareTheWorkers) {
  ThreadPool pool(3);
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        std::atomic<int64_t> own{0};
        pool.parallelFor(20, [&](int64_t i, int64_t) { own += i; });
        // All of this call's work is done when it returns.
        EXPECT_EQ(own, 190);
        total += own;
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(total, 8 * 200 * 190);
}

TEST(ThreadPool, ReturnsAfterTheLastItem) {
  ThreadPool pool(2);
  for (int round = 0; round < 20; ++round) {
    // Whichever thread is not the caller is slow.
    std::atomic<int> done{0};
    pool.parallelFor(4, [&](int64_t, int64_t worker) {
      std::this_thread::sleep_for(std::chrono::milliseconds(worker ? 5 : 1));
      ++done;
    });
    ASSERT_EQ(done, 4);
  }
}

TEST(ThreadPool, CallsMayNest) {
  ThreadPool pool(2);
  std::atomic<int> calls{0};
  pool.parallelFor(4, [&](int64_t, int64_t) {
    pool.parallelFor(4, [&](int64_t, int64_t) { ++calls; });
  });
  EXPECT_EQ(calls, 16);
}

TEST(ThreadPool, ThrowsWhatTheBodyThrewAndStaysUsable) {
  ThreadPool pool(3);
  for (int64_t failing : {0, 1, 57, 99}) {
    try {
      pool.parallelFor(100, [&](int64_t i, int64_t) {
        if (i == failing)
          throw std::runtime_error("item " + std::to_string(i));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error &failure) {
      EXPECT_EQ(failure.what(), "item " + std::to_string(failing));
    }
    std::atomic<int64_t> calls{0};
    pool.parallelFor(100, [&](int64_t, int64_t) { ++calls; });
    EXPECT_EQ(calls, 100);
  }
  EXPECT_THROW(pool.parallelFor(100, [](int64_t, int64_t) { throw 7; }), int)
      << "all of them";
}

TEST(ThreadPool, EndsTheThreadsThatStartedWhenMemoryRunsOut) {
  if (!test::allocationsCanFail)
    GTEST_SKIP() << "sanitizers bring an operator new";
  for (int64_t allowed = 0; allowed < 6; ++allowed) {
    test::allocationsLeft = allowed;
    bool threw = false;
    try {
      ThreadPool pool(16);
    } catch (const std::bad_alloc &) {
      threw = true;
    }
    test::allocationsLeft = -1;
    EXPECT_TRUE(threw) << allowed;
  }
}
