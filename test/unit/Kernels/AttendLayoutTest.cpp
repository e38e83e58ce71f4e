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
    std::mt19937 random(4);
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

TEST(AttendLayout, OffsetsBeyond32Bits) {
  // Rows 2^24 elements apart: row 200 starts at element 3.4e9.
  constexpr int64_t kPitch = int64_t(1) << 24, kRows = 200;
  std::mt19937 random(4);
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

  const auto &kernel = compiled(problem.spec);
  ASSERT_NE(kernel.entry, nullptr);
  Matrix o(DType::F32, 64, 64, 64), lse(DType::F32, 64, 1, 1);
  auto q = problem.q.view(), oView = o.view(), lseRows = lse.view();
  MemRef<float, 1> lseView;
  lseView.allocated = lseView.aligned = static_cast<float *>(lseRows.aligned);
  lseView.offset = lseRows.offset;
  lseView.sizes[0] = 64;
  lseView.strides[0] = 1;
  MemRef<int32_t, 1> list;
  list.allocated = list.aligned = problem.lists[0].data();
  list.sizes[0] = static_cast<int64_t>(problem.lists[0].size());
  list.strides[0] = 1;
  Scratch scratch(kernel.scratchBytes);
  auto scratchView = scratch.view();
  reinterpret_cast<void (*)(MemRef<void, 2> *, MemRef<void, 2> *,
                            MemRef<void, 2> *, MemRef<void, 2> *,
                            MemRef<float, 1> *, MemRef<int32_t, 1> *,
                            MemRef<int8_t, 1> *, intptr_t, intptr_t, float)>(
      kernel.entry)(&q, &views[0], &views[1], &oView, &lseView, &list,
                    &scratchView, 0, 0, problem.scale);
  for (int64_t i = 0; i < 64; ++i)
    for (int64_t d = 0; d < 64; ++d)
      ASSERT_EQ(o.get(i, d), expected.o.get(i, d));
}

} // namespace
