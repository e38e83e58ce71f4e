//===- ExceptionsTest.cpp - Memory that cannot be had ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CapiTestSupport.h"

#include <cstdio>
#include <cstdlib>
#include <new>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

using namespace capi_test;

namespace {

/// Address space in use, in bytes.
rlim_t addressSpace() {
  unsigned long long pages = 0;
  if (std::FILE *file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%llu", &pages) != 1)
      pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

/// Lets the process have `more` bytes than now; 0: as much as before.
void limitMemory(rlim_t more) {
  static rlimit before = [] {
    rlimit limit;
    ::getrlimit(RLIMIT_AS, &limit);
    return limit;
  }();
  // What earlier tests have freed is held meanwhile, small pieces excepted.
  struct Piece {
    Piece *next;
  };
  static Piece *held = nullptr;
  rlimit limit = before;
  limit.rlim_cur = addressSpace();
  if (more) {
    ::setrlimit(RLIMIT_AS, &limit);
    while (void *piece = std::malloc(1 << 15))
      held = new (piece) Piece{held};
    limit.rlim_cur += more;
  } else {
    limit = before;
  }
  ::setrlimit(RLIMIT_AS, &limit);
  while (!more && held) {
    Piece *next = held->next;
    std::free(held);
    held = next;
  }
}

constexpr const char *noMemory =
    "memory: got an allocation that failed, expected enough for the layer and "
    "its tensors";

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SKIP_UNDER_SANITIZERS GTEST_SKIP() << "sanitizers reserve all memory"
#endif
#endif
#ifndef SKIP_UNDER_SANITIZERS
#define SKIP_UNDER_SANITIZERS
#endif

/// Runs `body` in a process of its own; the number that it returns, or 100 and
/// the signal that ended it.
template <typename Body>
int inChild(Body body) {
  pid_t child = ::fork();
  if (child == 0)
    ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

} // namespace

TEST(Exceptions, SizesBeyondTheAddressSpaceAreErrors) {
  int64_t grid[3] = {int64_t(1) << 20, int64_t(1) << 20, int64_t(1) << 21};
  int64_t place = 0;
  EXPECT_EQ(sa_order_permutation("raster", grid, &place, int64_t(1) << 61),
            SA_ERROR);
  EXPECT_NE(std::string(sa_last_error()).find("expected"), std::string::npos)
      << sa_last_error();
}

TEST(Exceptions, NoMemoryIsAnErrorAndTheLayerStaysUsable) {
  SKIP_UNDER_SANITIZERS;
  // A new process: heaps that earlier tests have grown would serve the copies.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto body = [] {
    Shape shape;
    shape.heads = shape.kvHeads = 4;
    shape.sq = shape.skv = 20000;
    shape.block = 128;
    shape.policy = "#sparseattn.top_k<k = 1>";
    // Whole tensors are copied into the order.
    shape.order = "#sparseattn.order<hilbert, grid = [2, 100, 100]>";
    Engine engine = makeEngine("reference");
    Layer layer = makeLayer(engine.get(), routedText(shape), layerOptions());
    Tensors tensors(shape);
    limitMemory(4 << 20);
    std::string message = runWhole(layer.get(), tensors);
    limitMemory(0);
    if (message != noMemory) {
      std::fprintf(stderr, "got '%s'\n", message.c_str());
      return 1;
    }
    return runWhole(layer.get(), tensors).empty() ? 0 : 2;
  };
  EXPECT_EXIT(std::_Exit(body()), testing::ExitedWithCode(0), "");
}

TEST(Exceptions, NoMemoryForAPermutation) {
  SKIP_UNDER_SANITIZERS;
  EXPECT_EQ(inChild([] {
              int64_t grid[3] = {1, 1 << 10, 1 << 14};
              std::vector<int64_t> permutation(size_t(1) << 24);
              limitMemory(16 << 20);
              sa_status status = sa_order_permutation(
                  "hilbert", grid, permutation.data(), int64_t(1) << 24);
              limitMemory(0);
              return status == SA_ERROR &&
                             std::string(sa_last_error()) == noMemory
                         ? 0
                         : 1;
            }),
            0);
}

TEST(Exceptions, NoMemoryForAReport) {
  SKIP_UNDER_SANITIZERS;
  EXPECT_EQ(
      inChild([] {
        Shape shape;
        shape.heads = shape.kvHeads = 4;
        shape.sq = shape.skv = 20000;
        shape.block = 16; // 6 million tiles
        shape.policy = "#sparseattn.top_k<k = 1>";
        Engine engine = makeEngine("reference");
        Layer layer =
            makeLayer(engine.get(), routedText(shape), layerOptions());
        Tensors tensors(shape);
        if (!runWhole(layer.get(), tensors).empty())
          return 1;
        const char *text = nullptr;
        size_t length = 0;
        limitMemory(1);
        sa_status status = sa_layer_get_report(layer.get(), &text, &length);
        limitMemory(0);
        if (status != SA_ERROR || std::string(sa_last_error()) != noMemory)
          return 2;
        return sa_layer_get_report(layer.get(), &text, &length) == SA_OK ? 0
                                                                         : 3;
      }),
      0);
}

TEST(Exceptions, NoMemoryForAPage) {
  SKIP_UNDER_SANITIZERS;
  EXPECT_EQ(inChild([] {
              std::string numbers = "[0";
              for (int i = 0; i < 1000000; ++i)
                numbers += ",0";
              numbers += "]";
              const char *page = nullptr;
              size_t length = 0;
              limitMemory(16 << 20);
              sa_status status = sa_report_html(numbers.data(), numbers.size(),
                                                &page, &length);
              limitMemory(0);
              return status == SA_ERROR &&
                             std::string(sa_last_error()) == noMemory
                         ? 0
                         : 1;
            }),
            0);
}

TEST(Exceptions, NoThreadsForTheRanks) {
  SKIP_UNDER_SANITIZERS;
  int result = inChild([] {
    Shape shape;
    Engine engine = makeEngine("reference");
    // The limit counts a user's threads, and not the system owner's.
    if (::geteuid() == 0 && ::setuid(65534) != 0)
      return 77;
    rlimit limit = {1, 1};
    ::setrlimit(RLIMIT_NPROC, &limit);
    try {
      std::thread([] {}).join();
      return 77;
    } catch (const std::system_error &) {
    }
    std::string message =
        layerError(engine.get(), routedText(shape), layerOptions(2, 1));
    if (message == "threads: got 'Resource temporarily unavailable', expected "
                   "one per rank")
      return 0;
    std::fprintf(stderr, "got '%s'\n", message.c_str());
    return 1;
  });
  if (result == 77)
    GTEST_SKIP() << "no limit on threads here";
  EXPECT_EQ(result, 0);
}
