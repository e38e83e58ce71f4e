//===- CudaBackendTest.cpp - The GPU backend over the driver double -------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaTestSupport.h"
#include "DoubleKernels.h"
#include "Executor/ExecutorTestSupport.h"

#include <cmath>

using namespace sart;
using namespace sart::cuda;
using namespace sart::test;

namespace {

class CudaBackendTest : public CudaTest {
protected:
  std::unique_ptr<Executor> executorOver(const Program &program) {
    device = open();
    auto backend = CudaBackend::create(std::make_shared<CudaShared>(
        device, doubleKernels(driver, requiredDeviceKernels(program))));
    EXPECT_TRUE(backend.ok()) << backend.message();
    ExecutorOptions options = strictOptions();
    options.poison = options.coverage = false;
    return executorOf(program, options, std::move(*backend));
  }
  static Placement oneRank(int64_t heads, int64_t kvHeads, int64_t sq,
                           int64_t skv) {
    Placement placement = placementOf(1, 1, heads, kvHeads, sq, skv);
    placement.shape.dtype = DType::BF16;
    placement.shape.headDim = 64;
    return placement;
  }
  static Placement small() { return oneRank(4, 2, 100, 90); }
};

} // namespace

TEST_F(CudaBackendTest, OneRankNeverWaitsForTheDevice) {
  Program program = templateOf(small(), topP(0.8f));
  auto executor = executorOver(program);
  LayerData data(small().shape, 1);
  runAll(*executor, data);
  size_t before = driver.count("cuStreamSynchronize");
  runAll(*executor, data);
  // When the run starts, for the loads that the plan needs, and at the end.
  EXPECT_EQ(driver.count("cuStreamSynchronize") - before, 3u);
}

TEST_F(CudaBackendTest, NothingIsAllocatedOrEncodedAgainInLaterRuns) {
  Program program = templateOf(small(), topP(0.8f));
  auto executor = executorOver(program);
  LayerData data(small().shape, 1);
  runAll(*executor, data);
  std::vector<const char *> symbols = {
      "cuMemAlloc_v2",      "cuMemHostAlloc",         "cuEventCreate",
      "cuModuleLoadDataEx", "cuTensorMapEncodeTiled", "cuFuncSetAttribute",
      "cuModuleGetFunction"};
  std::vector<size_t> before;
  for (const char *symbol : symbols)
    before.push_back(driver.count(symbol));
  runAll(*executor, data);
  for (size_t i = 0; i < symbols.size(); ++i)
    EXPECT_EQ(driver.count(symbols[i]), before[i]) << symbols[i];
}

TEST_F(CudaBackendTest, TheTraceSaysWhenTheDeviceWorked) {
  Program program = templateOf(small(), topP(0.8f));
  auto executor = executorOver(program);
  LayerData data(small().shape, 1);
  RunStats stats = runAll(*executor, data);
  ASSERT_GT(stats.events.size(), 5u);
  // The double's clock ticks once a mark, and there is one after each event.
  for (size_t i = 0; i < stats.events.size(); ++i) {
    const TraceEvent &event = stats.events[i];
    EXPECT_EQ(event.endNs - event.beginNs, 1000000) << event.name;
    if (i > 0)
      EXPECT_EQ(event.beginNs, stats.events[i - 1].endNs) << event.name;
  }
  RunOptions quiet;
  quiet.trace = false;
  size_t before = driver.count("cuEventRecord");
  EXPECT_TRUE(runAll(*executor, data, quiet).events.empty());
  EXPECT_EQ(driver.count("cuEventRecord"), before);
}

TEST_F(CudaBackendTest, TensorsMayLieInDeviceMemory) {
  Program program = templateOf(small(), topP(0.8f));
  auto executor = executorOver(program);
  LayerData data(small().shape, 1);
  auto stream = CudaStream::create(device);
  ASSERT_TRUE(stream.ok());
  std::vector<DeviceMemory> memory;
  auto onDevice = [&](void *host, size_t bytes) {
    auto made =
        DeviceMemory::allocate(device, static_cast<int64_t>(bytes), "tensor");
    EXPECT_TRUE(made.ok()) << made.message();
    DeviceScope scope(*device);
    EXPECT_TRUE((*stream)
                    ->copy(made->address(), addressOf(host),
                           static_cast<int64_t>(bytes))
                    .ok());
    EXPECT_TRUE((*stream)->synchronize().ok());
    memory.push_back(std::move(*made));
    return reinterpret_cast<void *>(memory.back().address());
  };
  auto shards = data.shards(program.placement);
  ASSERT_EQ(shards.size(), 1u);
  shards[0].q.data = onDevice(data.q.data(), data.q.size());
  shards[0].k.data = onDevice(data.k.data(), data.k.size());
  shards[0].v.data = onDevice(data.v.data(), data.v.size());
  shards[0].o.data = onDevice(data.o.data(), data.o.size());
  shards[0].lse.data = onDevice(data.lse.data(), data.lse.size() * 4);
  RunStats stats;
  Status status = executor->run(shards, {}, stats);
  ASSERT_TRUE(status.ok()) << status.message();
  data.o = driver.read<uint8_t>(memory[3].address(), data.o.size());
  data.lse = driver.read<float>(memory[4].address(), data.lse.size());
  expectOracle(data, maskOf(*executor), program.scale);
}

TEST_F(CudaBackendTest, AttendArguments) {
  Program program = templateOf(small(), topP(0.8f));
  auto executor = executorOver(program);
  LayerData data(small().shape, 1);
  runAll(*executor, data);
  const DoubleLaunch *attend = nullptr, *order = nullptr;
  for (const DoubleLaunch &launch : driver.launches) {
    if (launch.kernel == "attend_bf16_bf16_d64_q16_k24")
      attend = &launch;
    if (launch.kernel == "order_tiles")
      order = &launch;
  }
  ASSERT_NE(attend, nullptr);
  ASSERT_NE(order, nullptr);
  // 4 heads of 7 q-blocks, two at once.
  EXPECT_EQ(attend->argument<int32_t>(3), 28);
  EXPECT_EQ(attend->grid[0], 14u);
  EXPECT_EQ(attend->threads[0], 384u);
  EXPECT_EQ(attend->sharedBytes, 163968u);
  EXPECT_EQ(attend->argument<int64_t>(5), 64) << "rows of o are dense";
  EXPECT_EQ(attend->argument<int32_t>(6), 5) << "count and 4 kv-blocks";
  EXPECT_FLOAT_EQ(attend->argument<float>(7), 0.125f * 1.44269504f);
  EXPECT_EQ(attend->argument<uint64_t>(2), order->argument<uint64_t>(1));

  auto entries = driver.read<EntryRecord>(attend->argument<uint64_t>(1), 4);
  for (int32_t head = 0; head < 4; ++head) {
    const EntryRecord &entry = entries[static_cast<size_t>(head)];
    EXPECT_EQ(entry.source, 0);
    EXPECT_EQ(entry.qHead, head);
    EXPECT_EQ(entry.kvHead, head / 2);
    EXPECT_EQ(entry.qRows, 100);
    EXPECT_EQ(entry.kvRows, 90);
    EXPECT_EQ(entry.qBatch, 0);
    EXPECT_EQ(entry.kvBatch, 0);
    if (head > 0) {
      const EntryRecord &last = entries[static_cast<size_t>(head - 1)];
      EXPECT_EQ(entry.o - last.o, 100u * 64 * 2);
      EXPECT_EQ(entry.lse - last.lse, 448u) << "400 bytes, on a border of 64";
      EXPECT_EQ(entry.mask - last.mask, 192u) << "140 bytes, the same";
    }
  }
  for (size_t source = 0; source < 2; ++source) {
    const unsigned char *maps = attend->arguments[0].data() + source * 3 * 128;
    const DoubleMap &q = driver.mapOf(maps), &k = driver.mapOf(maps + 128),
                    &v = driver.mapOf(maps + 256);
    EXPECT_EQ(q.sizes, (std::vector<uint64_t>{64, 100, 4, 1}));
    EXPECT_EQ(k.sizes, (std::vector<uint64_t>{64, 90, 2, 1}));
    EXPECT_EQ(q.strides[0], 128u);
    EXPECT_EQ(q.strides[1], 12800u);
    EXPECT_EQ(k.strides[1], 11520u);
    EXPECT_EQ(q.box, (std::vector<uint32_t>{64, 16, 1, 1}));
    EXPECT_EQ(k.box, (std::vector<uint32_t>{64, 24, 1, 1}));
    EXPECT_NE(k.address, v.address);
  }
  auto tiles = driver.read<DeviceTileRecord>(attend->argument<uint64_t>(2), 28);
  for (size_t i = 1; i < tiles.size(); ++i)
    EXPECT_TRUE(tiles[i].entry > tiles[i - 1].entry ||
                tiles[i].count <= tiles[i - 1].count)
        << "longest first in each head";
}

TEST_F(CudaBackendTest, MoreTilesThanAGridOfOldAllows) {
  Placement placement = oneRank(5, 5, 224000, 24);
  placement.shape.headDim = 32;
  BlockMask mask(5, placement.shape.qBlocks(), 1); // nothing to compute
  Program program = boundOf(placement, mask);
  auto table = doubleKernels(driver, requiredDeviceKernels(program));
  KernelSpec spec = attendKernel(program, DType::BF16, DType::BF16);
  auto once = std::make_shared<KernelTable>();
  LoadedKernel kernel = *table->find(spec);
  kernel.launch->persistent = false;
  kernel.launch->tilesPerCta = 1;
  once->add(kernel);
  once->add(*table->findEntry("order_tiles"));
  device = open();
  auto backend =
      CudaBackend::create(std::make_shared<CudaShared>(device, once));
  ASSERT_TRUE(backend.ok());
  ExecutorOptions options = strictOptions();
  options.poison = options.coverage = options.validate = false;
  auto executor = executorOf(program, options, std::move(*backend));
  LayerData data(placement.shape, 1);
  runAll(*executor, data);
  EXPECT_EQ(driver.launches.back().grid[0], 70000u);
  for (float lse : data.lse)
    ASSERT_EQ(lse, -std::numeric_limits<float>::infinity());
}

TEST_F(CudaBackendTest, UnsupportedProgramsAreRefusedWithAReason) {
  device = open();
  auto backend = CudaBackend::create(
      std::make_shared<CudaShared>(device, std::make_shared<KernelTable>()));
  ASSERT_TRUE(backend.ok());
  Program program = templateOf(small(), topP(0.8f));
  EXPECT_EQ(
      (*backend)->supports(program).message(),
      "kernel pool_bf16_d64_b16 is missing: got 0 other kernels, expected "
      "it compiled for the program and a GPU");
  for (float scale : {0.0f, -0.125f, std::nanf("")}) {
    Program scaled = program;
    scaled.scale = scale;
    EXPECT_EQ((*backend)->supports(scaled).message(),
              concat("scale on device cuda: got ", scale,
                     ", expected above 0 (device cpu runs it)"));
  }
  program.placement.shape.causal = true;
  EXPECT_EQ((*backend)->supports(program).message(),
            "mask on device cuda: got a causal one, expected one of whole "
            "blocks (device cpu runs token-level masks)");
}

TEST_F(CudaBackendTest, ErrorsOfTheWorkBetweenRunsAreKept) {
  Program program = templateOf(small(), topP(0.8f));
  auto executor = executorOver(program);
  LayerData data(small().shape, 1);
  runAll(*executor, data);
  const char *failed = ": got CUDA_ERROR_ILLEGAL_ADDRESS (text of it), "
                       "expected success";
  // The rows of the mask are fetched when somebody asks for it.
  driver.fail("cuStreamSynchronize", errorIllegalAddress);
  std::string message = concat("rank 0 mask: cuStreamSynchronize()", failed);
  EXPECT_EQ(executor->lastMask().message(), message);
  EXPECT_EQ(executor->boundProgram().message(), message);
  // A run that is begun and dropped leaves work under way.
  driver.heal();
  auto shards = data.shards(program.placement);
  ASSERT_TRUE(executor->begin(shards, {}).ok());
  driver.fail("cuStreamSynchronize", errorIllegalAddress);
  RunStats stats;
  EXPECT_EQ(executor->run(shards, {}, stats).message(),
            concat("rank 0 start: cuStreamSynchronize()", failed));
  driver.heal();
  data.forget();
  runAll(*executor, data);
  expectOracle(data, maskOf(*executor), program.scale);
}

TEST_F(CudaBackendTest, MaskRowsNobodyWroteAreRefused) {
  Placement placement = small();
  const LayerShape &shape = placement.shape;
  Program program =
      boundOf(placement,
              BlockMask::dense(shape.heads, shape.qBlocks(), shape.kvBlocks()));
  for (Instruction &instruction : program.ranks[0])
    if (instruction.opcode == Opcode::LoadMask)
      instruction.lists[0].values.resize(static_cast<size_t>(workInts));
  device = open();
  auto backend = CudaBackend::create(std::make_shared<CudaShared>(
      device, doubleKernels(driver, requiredDeviceKernels(program))));
  ASSERT_TRUE(backend.ok());
  ExecutorOptions options = strictOptions();
  options.validate = options.coverage = false;
  auto executor = executorOf(program, options, std::move(*backend));
  LayerData data(shape, 1);
  RunStats stats;
  EXPECT_EQ(executor->run(data.shards(placement), {}, stats).message(),
            "rank 0 end of program: entry 1 of attend, q-block 0: mask row was "
            "not written: got count -1, expected 0 to 4");
}

TEST_F(CudaBackendTest, TasksOfAConversionThatDifferAreRefused) {
  Program program = templateOf(small(), topP(0.8f));
  device = open();
  auto made = CudaBackend::create(std::make_shared<CudaShared>(
      device, doubleKernels(driver, {convertKernel(DType::F32, DType::BF16),
                                     convertKernel(DType::F32, DType::F16)})));
  ASSERT_TRUE(made.ok());
  CudaBackend &backend = **made;
  auto memory = backend.memory().allocate(4096, "rows");
  ASSERT_TRUE(memory.ok());
  auto task = [&](DType from, DType to, int64_t columns) {
    SlotView source{memory->get(), from, 2, columns, columns};
    SlotView target{memory->get() + 2048, to, 2, columns, columns};
    return ConvertTask{source, target, 0, 2};
  };
  auto messageOf = [&](const ConvertTask &first, const ConvertTask &second) {
    return backend.convert(program, {first, second}).message();
  };
  ConvertTask first = task(DType::F32, DType::BF16, 8);
  EXPECT_EQ(messageOf(first, first), "");
  EXPECT_EQ(messageOf(first, task(DType::F32, DType::F16, 8)),
            "tasks of a conversion do not match: got f32 to f16 of 8 elements, "
            "expected those of the first task, f32 to bf16 of 8");
  // Rows that are copied come first: no kernel has their name.
  EXPECT_EQ(messageOf(task(DType::F32, DType::F32, 8), first),
            "tasks of a conversion do not match: got f32 to bf16 of 8 "
            "elements, expected those of the first task, f32 to f32 of 8");
  EXPECT_EQ(messageOf(first, task(DType::F32, DType::BF16, 16)),
            "tasks of a conversion do not match: got f32 to bf16 of 16 "
            "elements, expected those of the first task, f32 to bf16 of 8");
  BackendCounts counts;
  EXPECT_TRUE(backend.finish(counts).ok());
}

TEST_F(CudaBackendTest, EveryFailingCallEndsTheRunAndNamesItself) {
  Program program = templateOf(small(), topP(0.8f));
  auto executor = executorOver(program);
  LayerData data(small().shape, 1);
  runAll(*executor, data);
  struct {
    const char *symbol, *expected;
    int skip;
  } cases[] = {
      {"cuMemcpyAsync", "rank 0 inputs: cuMemcpyAsync(to 0x", 0},
      {"cuLaunchKernel",
       "rank 0 phase 1 instruction 2 (pool): cuLaunchKernel(pool_bf16_d64_b16, "
       "grid ",
       0},
      {"cuStreamSynchronize", "): cuStreamSynchronize(): got ", 1},
      {"cuMemsetD8Async", "cuMemsetD8Async(to 0x", 0},
  };
  for (const auto &entry : cases) {
    driver.fail(entry.symbol, errorIllegalAddress, entry.skip);
    RunStats stats;
    Status status = executor->run(data.shards(program.placement), {}, stats);
    ASSERT_FALSE(status.ok()) << entry.symbol;
    EXPECT_NE(status.message().find(entry.expected), std::string::npos)
        << status.message();
    EXPECT_NE(status.message().find(
                  "got CUDA_ERROR_ILLEGAL_ADDRESS (text of it), expected "
                  "success"),
              std::string::npos)
        << status.message();
    driver.heal();
    data.forget();
    runAll(*executor, data);
    expectOracle(data, maskOf(*executor), program.scale);
  }
}

TEST_F(CudaBackendTest, BinariesOfAnotherGpuAreRefusedBeforeTheFirstRun) {
  Program program = templateOf(small(), topP(0.8f));
  auto table = doubleKernels(driver, requiredDeviceKernels(program));
  auto wrong = std::make_shared<KernelTable>();
  LoadedKernel kernel =
      *table->find(attendKernel(program, DType::BF16, DType::BF16));
  kernel.binary = image("\x7f"
                        "ELF sm_100");
  wrong->add(kernel);
  for (const char *entry :
       {"pool_bf16_d64_b16", "pool_bf16_d64_b24", "route_d64_r16",
        "route_d64_r8", "route_totals", "order_tiles"})
    wrong->add(*table->findEntry(entry));
  device = open();
  auto backend =
      CudaBackend::create(std::make_shared<CudaShared>(device, wrong));
  ASSERT_TRUE(backend.ok());
  auto executor = Executor::create(program, std::move(*backend), {});
  ASSERT_FALSE(executor.ok());
  EXPECT_EQ(executor.message(),
            "kernel attend_bf16_bf16_d64_q16_k24 on NVIDIA Double (sm_90): "
            "cuModuleLoadDataEx(11 bytes of cubin): got "
            "CUDA_ERROR_NO_BINARY_FOR_GPU (text of it), expected a binary for "
            "sm_90");
}

TEST_F(CudaBackendTest, TooLittleMemoryNamesTheWindow) {
  Program program = templateOf(small(), topP(0.8f));
  driver.memoryBytes = 1 << 14;
  device = open();
  auto backend = CudaBackend::create(std::make_shared<CudaShared>(
      device, doubleKernels(driver, requiredDeviceKernels(program))));
  ASSERT_TRUE(backend.ok());
  auto executor = Executor::create(program, std::move(*backend), {});
  ASSERT_FALSE(executor.ok());
  EXPECT_NE(executor.message().find("memory of window q_shard on rank 0 on "
                                    "device 0: cuMemAlloc(51264 bytes): got "
                                    "CUDA_ERROR_OUT_OF_MEMORY"),
            std::string::npos)
      << executor.message();
}
