//===- CpuBackendTest.cpp - How compiled kernels are called ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain functions stand in for compiled kernels: they have the same calling
// convention and record what they get.
//
//===----------------------------------------------------------------------===//
#include "BackendTestSupport.h"

#include <limits>
#include <mutex>

using namespace sart;
using namespace sart::test;

namespace {

struct AttendCall {
  MemRef<float, 2> q, k, v, o;
  MemRef<float, 1> lse;
  std::vector<int32_t> list;
  MemRef<int8_t, 1> scratch;
  intptr_t qRow, diag;
  float scale, tiny;
};
struct PoolCall {
  MemRef<float, 2> x, y;
  intptr_t begin, end;
};
struct RouteCall {
  MemRef<float, 2> pooledQ, pooledK;
  MemRef<int32_t, 1> out;
  MemRef<int8_t, 1> scratch;
  intptr_t row, visible, minBlocks;
  float scale, p;
  std::vector<int32_t> keep;
};

/// 2^-127, not a normal number, as it is computed here and now.
float tinyProduct() {
  volatile float smallest = std::numeric_limits<float>::min();
  volatile float half = 0.5f;
  return smallest * half;
}

std::mutex mutex;
std::vector<AttendCall> attendCalls;
std::vector<PoolCall> poolCalls;
std::vector<RouteCall> routeCalls;

void attendRecorder(MemRef<float, 2> *q, MemRef<float, 2> *k,
                    MemRef<float, 2> *v, MemRef<float, 2> *o,
                    MemRef<float, 1> *lse, MemRef<int32_t, 1> *idx,
                    MemRef<int8_t, 1> *scratch, intptr_t qRow, intptr_t diag,
                    float scale) {
  // Scratch is writable and nobody else's.
  std::fill(scratch->aligned, scratch->aligned + scratch->sizes[0],
            static_cast<int8_t>(qRow));
  std::lock_guard<std::mutex> lock(mutex);
  attendCalls.push_back(
      {*q, *k, *v, *o, *lse,
       std::vector<int32_t>(idx->aligned, idx->aligned + idx->sizes[0]),
       *scratch, qRow, diag, scale, tinyProduct()});
}

void poolRecorder(MemRef<float, 2> *x, MemRef<float, 2> *y, intptr_t begin,
                  intptr_t end) {
  std::lock_guard<std::mutex> lock(mutex);
  poolCalls.push_back({*x, *y, begin, end});
}

void routeRecorder(MemRef<float, 2> *pooledQ, MemRef<float, 2> *pooledK,
                   MemRef<int32_t, 1> *out, MemRef<int8_t, 1> *scratch,
                   intptr_t row, intptr_t visible, float scale, float p,
                   intptr_t minBlocks, MemRef<int32_t, 1> *keep,
                   MemRef<float, 1> *stats) {
  out->aligned[0] = static_cast<int32_t>(row);
  stats->aligned[0] = 0.25f * static_cast<float>(row);
  stats->aligned[1] = static_cast<float>(row);
  std::lock_guard<std::mutex> lock(mutex);
  routeCalls.push_back(
      {*pooledQ, *pooledK, *out, *scratch, row, visible, minBlocks, scale, p,
       std::vector<int32_t>(keep->aligned, keep->aligned + keep->sizes[0])});
}

template <typename Function>
void addKernel(KernelTable &table, const KernelSpec &spec, Function *function,
               int64_t scratch = 0, int64_t perBlock = 0) {
  LoadedKernel kernel;
  kernel.spec = spec;
  kernel.entry = reinterpret_cast<void *>(function);
  kernel.scratchBytes = scratch;
  kernel.scratchBytesPerKvBlock = perBlock;
  table.add(kernel);
}

class CpuBackendTest : public ::testing::TestWithParam<int64_t> {
protected:
  CpuBackendTest() : shape(shapeOf(64, 100)), program(programOf(shape)) {
    attendCalls.clear();
    poolCalls.clear();
    routeCalls.clear();
    auto table = std::make_shared<KernelTable>();
    addKernel(*table, attendKernel(program, DType::F32, DType::F32),
              attendRecorder, 4096);
    addKernel(*table, poolKernel(program, DType::F32, true), poolRecorder);
    addKernel(*table, routeKernel(program), routeRecorder, 64, 8);
    backend = createCpuBackend(table, std::make_shared<ThreadPool>(GetParam()));
  }

  LayerShape shape; ///< 5 kv-blocks of 24, 4 q-blocks of 16
  Program program;
  std::unique_ptr<Backend> backend;
};

} // namespace

TEST_P(CpuBackendTest, AttendCallsOncePerRowLongestFirst) {
  std::vector<float> q(64 * 40), k(100 * 32), v(100 * 33), o(64 * 32), lse(128);
  MaskRows mask({{0, 4}, {}, {0, 1, 2, 3, 4}, {2}}, 5);
  AttendTask task;
  task.q = viewOf(q, 32, 8);
  task.k = viewOf(k, 32);
  task.v = viewOf(v, 32, 1);
  task.o = viewOf(o, 32);
  task.lse = viewOf(lse, 1, 1);
  task.mask = mask.view();
  task.qEnd = 4;
  task.kvBlocks = {0, 5};
  task.diag = -7;
  ASSERT_TRUE(backend->attend(program, {task}).ok());
  ASSERT_EQ(attendCalls.size(), 4u);
  if (GetParam() == 1) {
    std::vector<size_t> lengths;
    for (const AttendCall &call : attendCalls)
      lengths.push_back(call.list.size());
    EXPECT_EQ(lengths, (std::vector<size_t>{5, 2, 1, 0}));
  }
  std::vector<std::vector<int32_t>> lists(4);
  for (const AttendCall &call : attendCalls) {
    EXPECT_EQ(call.qRow % 16, 0);
    lists[static_cast<size_t>(call.qRow / 16)] = call.list;
    EXPECT_EQ(call.q.aligned, q.data());
    EXPECT_EQ(call.q.sizes[0], 64);
    EXPECT_EQ(call.q.sizes[1], 32);
    EXPECT_EQ(call.q.strides[0], 40);
    EXPECT_EQ(call.q.strides[1], 1);
    EXPECT_EQ(call.q.offset, 0);
    EXPECT_EQ(call.k.sizes[0], 100);
    EXPECT_EQ(call.v.strides[0], 33);
    EXPECT_EQ(call.o.aligned, o.data());
    EXPECT_EQ(call.lse.aligned, lse.data());
    EXPECT_EQ(call.lse.strides[0], 2);
    EXPECT_EQ(call.diag, -7);
    EXPECT_EQ(call.scale, program.scale);
#if defined(__SSE__)
    EXPECT_EQ(call.tiny, 0); // flushed, inside of the call alone
#endif
    EXPECT_EQ(call.scratch.sizes[0], 4096);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(call.scratch.aligned) % 64, 0u);
  }
  EXPECT_EQ(lists, (std::vector<std::vector<int32_t>>{
                       {0, 4}, {}, {0, 1, 2, 3, 4}, {2}}));
  EXPECT_GT(tinyProduct(), 0);
}

TEST_P(CpuBackendTest, RangeOfKvBlocksIsASliceOfTheList) {
  std::vector<float> x(100 * 32), lse(64);
  MaskRows mask({{0, 2, 4}, {3, 4}, {}, {1, 2, 3}}, 5);
  AttendTask task;
  task.q = task.k = task.v = task.o = viewOf(x, 32);
  task.lse = viewOf(lse, 1);
  task.mask = mask.view();
  task.qBegin = 1;
  task.qEnd = 4;
  task.kvBlocks = {2, 4};
  ASSERT_TRUE(backend->attend(program, {task}).ok());
  std::vector<std::vector<int32_t>> lists(4);
  for (const AttendCall &call : attendCalls)
    lists[static_cast<size_t>(call.qRow / 16)] = call.list;
  EXPECT_EQ(attendCalls.size(), 3u);
  EXPECT_EQ(lists, (std::vector<std::vector<int32_t>>{{}, {3}, {}, {2, 3}}));
}

TEST_P(CpuBackendTest, PoolIsCutIntoPieces) {
  std::vector<float> x(100 * 32), y(20 * 32);
  PoolTask task{viewOf(x, 32), viewOf(y, 32), 1, 20};
  ASSERT_TRUE(backend->pool(program, true, {task, task}).ok());
  std::vector<int> calls(20, 0);
  for (const PoolCall &call : poolCalls) {
    EXPECT_EQ(call.x.sizes[0], 100);
    EXPECT_EQ(call.y.aligned, y.data());
    for (intptr_t block = call.begin; block < call.end; ++block)
      ++calls[static_cast<size_t>(block)];
  }
  EXPECT_EQ(calls[0], 0);
  for (size_t block = 1; block < 20; ++block)
    EXPECT_EQ(calls[block], 2);
}

TEST_P(CpuBackendTest, RouteCallsOncePerRow) {
  std::vector<float> pooledQ(4 * 32), pooledK(5 * 32);
  MaskRows mask({{}, {}, {}, {}}, 5);
  RouteTask task;
  task.pooledQ = viewOf(pooledQ, 32);
  task.pooledK = viewOf(pooledK, 32);
  task.mask = mask.view();
  task.qBegin = 1;
  task.qEnd = 4;
  task.visible = {3, 4, 5};
  program.policy.p = 0.8f;
  program.policy.minBlocks = 2;
  program.policy.keep = {{0, 1}, {3, 99}};
  RouteStats stats;
  ASSERT_TRUE(backend->route(program, {task}, stats).ok());
  ASSERT_EQ(routeCalls.size(), 3u);
  for (const RouteCall &call : routeCalls) {
    EXPECT_EQ(call.visible, call.row + 2);
    EXPECT_EQ(call.out.sizes[0], 6);
    EXPECT_EQ(call.out.aligned, mask.values.data() + call.row * 6);
    EXPECT_EQ(call.scratch.sizes[0], 64 + 5 * 8);
    EXPECT_EQ(call.pooledQ.sizes[0], 4);
    EXPECT_EQ(call.pooledK.sizes[0], 5);
    EXPECT_EQ(call.p, 0.8f);
    EXPECT_EQ(call.minBlocks, 2);
    EXPECT_EQ(call.keep, (std::vector<int32_t>{0, 1, 3, 5}));
  }
  EXPECT_EQ(stats.rows, 3);
  EXPECT_EQ(stats.nearThreshold, 6);
  EXPECT_EQ(stats.keptPooledMass, 1.5);

  routeCalls.clear();
  program.policy.kind = RoutingPolicy::Kind::TopK;
  program.policy.k = 3;
  ASSERT_TRUE(backend->route(program, {task}, stats).ok());
  EXPECT_EQ(routeCalls[0].p, 0);
  EXPECT_EQ(routeCalls[0].minBlocks, 3);
}

TEST_P(CpuBackendTest, WorkingMemoryBeyond64BitsIsRefused) {
  std::vector<float> pooled(5 * 32);
  MaskRows mask({{}}, 5);
  RouteTask task;
  task.pooledQ = task.pooledK = viewOf(pooled, 32);
  task.mask = mask.view();
  task.qEnd = 1;
  task.visible = {5};
  RouteStats stats;
  for (int64_t perBlock : {int64_t(1) << 40, INT64_MAX / 4, INT64_MAX}) {
    auto table = std::make_shared<KernelTable>();
    addKernel(*table, routeKernel(program), routeRecorder, 64, perBlock);
    auto damaged = createCpuBackend(table, std::make_shared<ThreadPool>(1));
    EXPECT_EQ(damaged->route(program, {task}, stats).message(),
              concat("working memory of a kernel not available: got no ",
                     perBlock > int64_t(1) << 40 ? INT64_MAX : 5497558138944,
                     " bytes"));
  }
  EXPECT_TRUE(routeCalls.empty());
}

TEST_P(CpuBackendTest, MissingKernelsAreNamed) {
  const char *rest = " is missing: got 3 other kernels, expected it compiled "
                     "for the program (dtypes, head dimension, block sizes and "
                     "causal must agree)";
  AttendTask attend;
  attend.q.dtype = attend.k.dtype = attend.v.dtype = DType::BF16;
  EXPECT_EQ(backend->attend(program, {attend}).message(),
            std::string("kernel attend_bf16_f32_d32_q16_k24") + rest);
  PoolTask pool;
  EXPECT_EQ(backend->pool(program, /*keySide=*/false, {pool}).message(),
            std::string("kernel pool_f32_d32_b16") + rest);
  program.placement.shape.headDim = 40;
  RouteStats stats;
  EXPECT_EQ(backend->route(program, {RouteTask()}, stats).message(),
            std::string("kernel route_d40") + rest);
}

TEST_P(CpuBackendTest, NothingToDo) {
  RouteStats stats;
  EXPECT_TRUE(backend->attend(program, {}).ok());
  EXPECT_TRUE(backend->pool(program, true, {}).ok());
  EXPECT_TRUE(backend->route(program, {}, stats).ok());
}

TEST_P(CpuBackendTest, MixedDtypesAreRefused) {
  std::vector<float> x(100 * 32), lse(64);
  MaskRows mask({{0}}, 5);
  AttendTask task;
  task.q = task.k = task.v = task.o = viewOf(x, 32);
  task.k.dtype = DType::F16;
  task.lse = viewOf(lse, 1);
  task.mask = mask.view();
  EXPECT_EQ(backend->attend(program, {task}).message(),
            "dtypes of attend do not match: got f32, f16, f32, lse f32, mask "
            "i32, expected f32 three times, f32 and i32");
}

INSTANTIATE_TEST_SUITE_P(Threads, CpuBackendTest, ::testing::Values(1, 3));
