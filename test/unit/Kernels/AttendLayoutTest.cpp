//===- AttendLayoutTest.cpp - Strides and offsets -------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelTestSupport.h"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

using namespace kerneltest;
using sart::DType;
using sart::KernelSpec;
using sart::MemRef;

namespace {

KernelSpec spec64() {
  KernelSpec spec;
  spec.headDim = spec.blockQ = spec.blockK = 64;
  return spec;
}

TEST(AttendLayout, PitchDoesNotChangeTheBits) {
  auto run = [](int64_t extraPitch) {
    std::mt19937 random = seeded(4);
    AttendProblem problem(spec64(), 150, 170, extraPitch);
    problem.q.fillNormal(random, 1);
    problem.k.fillNormal(random, 1);
    problem.v.fillNormal(random, 1);
    return runAttend(problem);
  };
  AttendResult packed = run(0), odd = run(3), fused = run(2 * 64);
  EXPECT_EQ(packed.o.bytes(), odd.o.bytes());
  EXPECT_EQ(packed.o.bytes(), fused.o.bytes());
  EXPECT_EQ(packed.lse.bytes(), fused.lse.bytes());
}

/// Address space without memory behind it.
class Reservation {
public:
  explicit Reservation(size_t bytes) : bytes(bytes) {
    start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~Reservation() {
    if (valid())
      munmap(start, bytes);
  }
  bool valid() const { return start != MAP_FAILED; }
  float *data() const { return static_cast<float *>(start); }

private:
  size_t bytes;
  void *start;
};

/// A copy of a matrix without padding, right before a page that must not be
/// touched.
class GuardedCopy {
public:
  explicit GuardedCopy(const Matrix &from) {
    int64_t elementBytes = sart::byteSize(from.type);
    int64_t bytes = from.rows * from.columns * elementBytes;
    int64_t page = sysconf(_SC_PAGESIZE);
    int64_t pages = (bytes + page - 1) / page;
    size = static_cast<size_t>((pages + 1) * page);
    start = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
      return;
    char *end = static_cast<char *>(start) + pages * page;
    mprotect(end, static_cast<size_t>(page), PROT_NONE);
    view.allocated = view.aligned = end - bytes;
    view.sizes[0] = from.rows;
    view.sizes[1] = view.strides[0] = from.columns;
    view.strides[1] = 1;
    for (int64_t i = 0; i < from.rows; ++i)
      for (int64_t j = 0; j < from.columns; ++j)
        sart::storeFromFloat(view.aligned, from.type, i * from.columns + j,
                             static_cast<float>(from.get(i, j)));
  }
  ~GuardedCopy() {
    if (start != MAP_FAILED)
      munmap(start, size);
  }
  GuardedCopy(const GuardedCopy &) = delete;
  bool valid() const { return start != MAP_FAILED; }

  MemRef<void, 2> view;

private:
  size_t size;
  void *start;
};

TEST(AttendLayout, NothingBehindTheLastRowIsRead) {
  for (const std::string &target : runnableTargets())
    for (DType type : {DType::F32, DType::BF16, DType::F16})
      for (int64_t headDim : {40, 64})
        for (bool causal : {false, true}) {
          SCOPED_TRACE(target);
          KernelSpec spec = spec64();
          spec.headDim = headDim;
          spec.dtype = spec.outDtype = type;
          spec.causal = causal;
          std::mt19937 random = seeded(4);
          AttendProblem problem(spec, 65, 107);
          problem.q.fillNormal(random, 1);
          problem.k.fillNormal(random, 1);
          problem.v.fillNormal(random, 1);
          AttendResult expected = runAttend(problem, target);
          GuardedCopy q(problem.q), k(problem.k), v(problem.v);
          ASSERT_TRUE(q.valid() && k.valid() && v.valid());
          Matrix o(type, 65, headDim, headDim), lse(DType::F32, 65, 1, 1);
          for (int64_t block = 0; block < 2; ++block)
            callAttend(problem, block, q.view, k.view, v.view, o, lse, target);
          for (int64_t i = 0; i < 65; ++i)
            for (int64_t d = 0; d < headDim; ++d)
              ASSERT_EQ(o.get(i, d), expected.o.get(i, d));
        }
}

TEST(AttendLayout, OffsetsBeyond32Bits) {
  // Rows 2^24 elements apart: row 200 starts at element 3.4e9.
  constexpr int64_t kPitch = int64_t(1) << 24, kRows = 200;
  std::mt19937 random = seeded(4);
  AttendProblem problem(spec64(), 64, kRows);
  problem.q.fillNormal(random, 1);
  problem.k.fillNormal(random, 1);
  problem.v.fillNormal(random, 1);
  AttendResult expected = runAttend(problem);

  Reservation k(kRows * kPitch * 4), v(kRows * kPitch * 4);
  if (!k.valid() || !v.valid())
    GTEST_SKIP() << "address space is limited";
  MemRef<void, 2> views[2];
  for (auto [view, from, to] : {std::tuple(&views[0], &problem.k, k.data()),
                                std::tuple(&views[1], &problem.v, v.data())}) {
    for (int64_t j = 0; j < kRows; ++j)
      for (int64_t d = 0; d < 64; ++d)
        to[j * kPitch + d] = static_cast<float>(from->get(j, d));
    *view = from->view();
    view->allocated = view->aligned = to;
    view->offset = 0;
    view->strides[0] = kPitch;
  }

  Matrix o(DType::F32, 64, 64, 64), lse(DType::F32, 64, 1, 1);
  callAttend(problem, 0, problem.q.view(), views[0], views[1], o, lse);
  for (int64_t i = 0; i < 64; ++i)
    for (int64_t d = 0; d < 64; ++d)
      ASSERT_EQ(o.get(i, d), expected.o.get(i, d));
}

} // namespace
