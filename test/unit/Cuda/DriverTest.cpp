//===- DriverTest.cpp - The driver layer over the double ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaTensorMap.h"
#include "CudaTestSupport.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <thread>

using namespace sart;
using namespace sart::cuda;

TEST(CudaDriver, NoLibrary) {
  auto driver = CudaDriver::open("libsparseattn-no-such-driver.so");
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.message(),
            "cuda driver: got 'libsparseattn-no-such-driver.so: cannot open "
            "shared object file: No such file or directory', expected the "
            "library libsparseattn-no-such-driver.so of an NVIDIA driver");
}

TEST(CudaDriver, MissingSymbolsAreNamed) {
  auto find = [](void *, const char *symbol) -> void * {
    if (!std::strcmp(symbol, "cuTensorMapEncodeTiled") ||
        !std::strcmp(symbol, "cuMemAlloc_v2"))
      return nullptr;
    static int somewhere;
    return &somewhere;
  };
  auto driver = CudaDriver::fromSymbols("libcuda.so.1", find, nullptr);
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.message(),
            "functions of the cuda driver: got libcuda.so.1 without "
            "cuMemAlloc_v2, cuTensorMapEncodeTiled, expected a driver of CUDA "
            "12.0 or newer");
}

TEST(CudaDriver, EveryFunctionHasItsOwnSymbol) {
  std::vector<std::string> asked;
  auto find = [](void *list, const char *symbol) -> void * {
    static_cast<std::vector<std::string> *>(list)->push_back(symbol);
    return list;
  };
  ASSERT_TRUE(CudaDriver::fromSymbols("x", find, &asked).ok());
  std::set<std::string> different(asked.begin(), asked.end());
  EXPECT_EQ(different.size(), asked.size());
  // Functions whose first version takes other parameters.
  for (const char *versioned :
       {"cuMemAlloc_v2", "cuMemFree_v2", "cuMemcpy2DAsync_v2",
        "cuStreamDestroy_v2", "cuEventDestroy_v2", "cuDeviceTotalMem_v2",
        "cuDevicePrimaryCtxRelease_v2", "cuStreamBeginCapture_v2"})
    EXPECT_EQ(different.count(versioned), 1u) << versioned;
}

TEST_F(CudaTest, DeviceProperties) {
  device = open();
  const DeviceProperties &properties = device->properties();
  EXPECT_EQ(properties.name, "NVIDIA Double");
  EXPECT_EQ(properties.capability(), 90);
  EXPECT_EQ(properties.multiprocessors, 132);
  EXPECT_EQ(properties.maxSharedBytes, 232448);
  EXPECT_EQ(properties.driverVersion, 13000);
  EXPECT_EQ(properties.memoryBytes, driver.memoryBytes);
}

TEST_F(CudaTest, DevicesThatAreNotThere) {
  EXPECT_EQ(CudaDevice::open(driver.driver(), 1).message(),
            "number of the cuda device: got 1 of 1 device, expected 0 to 0");
  driver.devices = 0;
  EXPECT_EQ(CudaDevice::open(driver.driver(), 0).message(),
            "number of the cuda device: got 0 of 0 devices, expected a device");
  driver.fail("cuDeviceGetCount", errorNoDevice);
  EXPECT_EQ(CudaDevice::open(driver.driver(), 0).message(),
            "cuDeviceGetCount(): got CUDA_ERROR_NO_DEVICE (text of it), "
            "expected success");
  driver.fail("cuDeviceGetCount", 4711);
  EXPECT_EQ(CudaDevice::open(driver.driver(), 0).message(),
            "cuDeviceGetCount(): got error 4711, which the driver does not "
            "know, expected success");
}

TEST_F(CudaTest, EveryFailingCallOfOpenIsNamed) {
  struct {
    const char *symbol, *call;
  } cases[] = {
      {"cuDeviceGet", "cuDeviceGet(device 0)"},
      {"cuDeviceGetAttribute",
       "cuDeviceGetAttribute(compute capability major, device 0)"},
      {"cuDriverGetVersion", "cuDriverGetVersion()"},
      {"cuDeviceGetName", "cuDeviceGetName(device 0)"},
      {"cuDeviceTotalMem_v2", "cuDeviceTotalMem(device 0)"},
      {"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRetain(device 0)"},
  };
  for (const auto &entry : cases) {
    driver.heal();
    driver.fail(entry.symbol, errorInvalidValue);
    EXPECT_EQ(CudaDevice::open(driver.driver(), 0).message(),
              std::string(entry.call) +
                  ": got CUDA_ERROR_INVALID_VALUE (text of it), expected "
                  "success");
  }
}

TEST_F(CudaTest, ScopeGivesTheThreadsContextBack) {
  device = open();
  auto host = reinterpret_cast<Context>(0x1234);
  const CudaDriver &table = device->driver();
  ASSERT_EQ(table.ctxSetCurrent(host), success);
  Context now = nullptr;
  {
    DeviceScope scope(*device);
    ASSERT_TRUE(scope.status().ok());
    DeviceScope inner(*device);
    table.ctxGetCurrent(&now);
    EXPECT_EQ(now, device->context());
  }
  table.ctxGetCurrent(&now);
  EXPECT_EQ(now, host);
  table.ctxSetCurrent(nullptr);
  driver.fail("cuCtxSetCurrent", errorLaunchFailed);
  DeviceScope failing(*device);
  EXPECT_EQ(failing.status().message(),
            "cuCtxSetCurrent(device 0): got CUDA_ERROR_LAUNCH_FAILED (text of "
            "it), expected success");
}

TEST_F(CudaTest, MemoryAndItsErrors) {
  device = open();
  {
    auto memory = DeviceMemory::allocate(device, 1000, "window q");
    ASSERT_TRUE(memory.ok()) << memory.message();
    EXPECT_EQ(memory->bytes(), 1000);
    EXPECT_NE(memory->address(), 0u);
    DeviceMemory moved = std::move(*memory);
    EXPECT_EQ(moved.bytes(), 1000);
    auto none = DeviceMemory::allocate(device, 0, "window q");
    ASSERT_TRUE(none.ok());
    EXPECT_EQ(none->address(), 0u);
  }
  driver.memoryBytes = 1 << 20;
  EXPECT_EQ(DeviceMemory::allocate(device, 1 << 21, "window q").message(),
            "window q on device 0: cuMemAlloc(2097152 bytes): got "
            "CUDA_ERROR_OUT_OF_MEMORY (text of it) with 1047576 of 1048576 "
            "bytes free, expected success");
  driver.fail("cuMemAlloc_v2", errorIllegalAddress);
  EXPECT_EQ(DeviceMemory::allocate(device, 8, "window q").message(),
            "window q on device 0: cuMemAlloc(8 bytes): got "
            "CUDA_ERROR_ILLEGAL_ADDRESS (text of it), expected success");
  driver.fail("cuMemHostAlloc", errorOutOfMemory);
  EXPECT_EQ(PinnedMemory::allocate(device, 8, "staging").message(),
            "staging of device 0: cuMemHostAlloc(8 bytes): got "
            "CUDA_ERROR_OUT_OF_MEMORY (text of it), expected success");
}

TEST_F(CudaTest, ModulesAreLoadedOnceAndTheirErrorsSayWhy) {
  device = open();
  driver.addKernel("attend", {4});
  {
    CudaModuleTable table(device);
    auto binary = cubin();
    auto first = table.function(binary, "attend");
    ASSERT_TRUE(first.ok()) << first.message();
    EXPECT_EQ(*table.function(binary, "attend").operator->(), *first);
    EXPECT_EQ(driver.count("cuModuleLoadDataEx"), 1u);
    EXPECT_EQ(driver.count("cuModuleGetFunction"), 1u);
    EXPECT_EQ(table.function(binary, "missing").message(),
              "cuModuleGetFunction(missing): got CUDA_ERROR_NOT_FOUND (text of "
              "it), expected success");
    EXPECT_EQ(table
                  .function(image("\x7f"
                                  "ELF sm_80"),
                            "attend")
                  .message(),
              "kernel attend on NVIDIA Double (sm_90): cuModuleLoadDataEx(10 "
              "bytes of cubin): got CUDA_ERROR_NO_BINARY_FOR_GPU (text of it), "
              "expected a binary for sm_90");
    EXPECT_EQ(table.function(image("broken ptx"), "attend").message(),
              "kernel attend on NVIDIA Double (sm_90): cuModuleLoadDataEx(10 "
              "bytes of PTX): got CUDA_ERROR_INVALID_PTX (text of it), "
              "expected success; the driver says: ptxas fatal: broken");
    EXPECT_EQ(table.function(image(""), "attend").message(),
              "binary of attend: got no bytes, expected a cubin or PTX text");
    EXPECT_EQ(table.modules(), 1u);
    auto ptx = CudaModule::load(device, image(".version 8.6"), "attend");
    ASSERT_TRUE(ptx.ok()) << ptx.message();
    EXPECT_EQ((*ptx)->log(), "ptxas info: used 168 registers");
    EXPECT_EQ(CudaModule::load(device, image("serial"), "attend").message(),
              "kernel attend compiled by the driver: got 'ptxas info: (C7514) "
              "serialized', expected no C751 (give a ptxas of another "
              "version)");
    EXPECT_EQ(CudaModule::load(device, image("talkative"), "attend").message(),
              "log of kernel attend compiled by the driver: got 65535 bytes or "
              "more, expected less");
    // A cubin's spills were for its compiler to refuse.
    driver.localBytes = 24;
    EXPECT_EQ(table.function(image(".version 8.7"), "attend").message(),
              "kernel attend compiled by the driver: got 24 bytes of stack and "
              "spills a thread, expected 0 (give a ptxas of another version)");
    auto loaded = table.function(cubin(), "attend");
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    EXPECT_EQ((*loaded)->localBytes, 24);
    driver.localBytes = 0;
  }
}

TEST_F(CudaTest, LaunchPassesItsArguments) {
  device = open();
  driver.addKernel("kernel", {4, 8, 128, 1});
  CudaModuleTable table(device);
  auto function = table.function(cubin(), "kernel");
  ASSERT_TRUE(function.ok()) << function.message();
  auto stream = CudaStream::create(device);
  ASSERT_TRUE(stream.ok());
  DeviceScope scope(*device);
  TensorMap map = {};
  map.bytes[127] = 9;
  KernelArguments arguments;
  arguments.add(int32_t(-3)).add(uint64_t(1) << 40).add(map).add('x');
  LaunchShape shape;
  shape.grid = 70000; // more than a y or z extent allows
  shape.threads = 384;
  shape.sharedBytes = 200000;
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE((*stream)->launch(**function, shape, arguments).ok());
  ASSERT_EQ(driver.launches.size(), 2u);
  const DoubleLaunch &launch = driver.launches[0];
  EXPECT_EQ(launch.kernel, "kernel");
  EXPECT_EQ(launch.grid[0], 70000u);
  EXPECT_EQ(launch.grid[1] * launch.grid[2], 1u);
  EXPECT_EQ(launch.threads[0], 384u);
  EXPECT_EQ(launch.sharedBytes, 200000u);
  EXPECT_EQ(launch.argument<int32_t>(0), -3);
  EXPECT_EQ(launch.argument<uint64_t>(1), uint64_t(1) << 40);
  EXPECT_EQ(launch.arguments[2][127], 9);
  EXPECT_EQ(launch.argument<char>(3), 'x');
  EXPECT_EQ(driver.count("cuFuncSetAttribute"), 1u) << "set once";

  driver.fail("cuLaunchKernel", errorInvalidValue);
  EXPECT_EQ((*stream)->launch(**function, shape, arguments).message(),
            "cuLaunchKernel(kernel, grid 70000, threads 384, shared 200000 "
            "bytes, 4 arguments): got CUDA_ERROR_INVALID_VALUE (text of it), "
            "expected success");
  shape.grid = int64_t(1) << 31;
  EXPECT_EQ((*stream)->launch(**function, shape, arguments).message(),
            "grid of kernel out of range: got 2147483648 ctas, expected 1 to "
            "2147483647");
  shape.grid = 0;
  EXPECT_TRUE((*stream)->launch(**function, shape, arguments).ok());
  shape.grid = 1;
  shape.sharedBytes = 232449;
  EXPECT_EQ((*stream)->launch(**function, shape, arguments).message(),
            "shared memory of kernel out of range: got 232449 bytes, expected "
            "at most 232448 on NVIDIA Double");
}

namespace {

/// Stands in for cuFuncSetAttribute: the first caller is held up until another
/// has come and gone, or time is over.
struct SharedLimit {
  std::mutex mutex;
  std::condition_variable changed;
  int calls = 0, finished = 0, limit = 0;
  static SharedLimit *current;

  static Result set(FunctionHandle, FunctionAttribute, int bytes) {
    std::unique_lock<std::mutex> lock(current->mutex);
    bool first = current->calls++ == 0;
    current->changed.notify_all();
    if (first)
      current->changed.wait_for(lock, std::chrono::milliseconds(300),
                                [] { return current->finished > 0; });
    current->limit = bytes;
    return success;
  }
};
SharedLimit *SharedLimit::current = nullptr;

} // namespace

TEST_F(CudaTest, AThreadDoesNotLowerTheSharedMemoryOfAnother) {
  SharedLimit state;
  SharedLimit::current = &state;
  CudaDriver table = DriverDouble::table();
  table.funcSetAttribute = SharedLimit::set;
  CudaFunction function;
  function.name = "kernel";
  std::thread small(
      [&] { EXPECT_TRUE(function.allowShared(table, 100000).ok()); });
  {
    std::unique_lock<std::mutex> lock(state.mutex);
    state.changed.wait(lock, [&] { return state.calls > 0; });
  }
  EXPECT_TRUE(function.allowShared(table, 180000).ok());
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    ++state.finished;
  }
  state.changed.notify_all();
  small.join();
  EXPECT_EQ(state.limit, 180000);
  EXPECT_TRUE(function.allowShared(table, 150000).ok());
  EXPECT_EQ(state.limit, 180000);
  EXPECT_EQ(state.calls, 2);
}

TEST_F(CudaTest, StreamsCopyFillAndWaitForEachOther) {
  device = open();
  auto memory = DeviceMemory::allocate(device, 256, "memory");
  auto pinned = PinnedMemory::allocate(device, 256, "pinned");
  auto a = CudaStream::create(device), b = CudaStream::create(device);
  auto event = CudaEvent::create(device);
  ASSERT_TRUE(memory.ok() && pinned.ok() && a.ok() && b.ok() && event.ok());
  DeviceScope scope(*device);
  DevicePtr at = memory->address();
  auto address = [](const void *host) {
    return reinterpret_cast<DevicePtr>(host);
  };
  ASSERT_TRUE((*a)->fill(at, 7, 256).ok());
  ASSERT_TRUE((*a)->fillRows({at, 16}, 9, 4, 3).ok());
  ASSERT_TRUE((*a)->record(**event).ok());
  ASSERT_TRUE((*b)->wait(**event).ok());
  pinned->data()[8] = 1;
  ASSERT_TRUE(
      (*b)->copyRows({address(pinned->data()), 8}, {at, 16}, 6, 2).ok());
  EXPECT_EQ(pinned->data()[8], 1) << "nobody has waited yet";
  ASSERT_TRUE((*b)->synchronize().ok());
  const char expected[] = {9, 9, 9, 9, 7, 7};
  EXPECT_EQ(std::memcmp(pinned->data(), expected, 6), 0);
  EXPECT_EQ(std::memcmp(pinned->data() + 8, expected, 6), 0);
  // Rows in descending order have a negative pitch.
  ASSERT_TRUE((*b)->copyRows({at + 64, 4}, {at + 32, -16}, 4, 3).ok());
  EXPECT_EQ(driver.read<char>(at + 64, 12), std::vector<char>(12, 9));

  // Rows too far apart for one copy: the pitch has 31 bits.
  int64_t far = int64_t(1) << 31;
  auto large = DeviceMemory::allocate(device, far + 64, "large");
  ASSERT_TRUE(large.ok()) << large.message();
  driver.calls.clear();
  RowsOf rows{large->address(), far};
  ASSERT_TRUE((*b)->fillRows(rows, 3, 8, 2).ok());
  ASSERT_TRUE((*b)->copyRows(rows, {at, 16}, 4, 2).ok());
  EXPECT_EQ(driver.count("cuMemsetD8Async"), 2u);
  EXPECT_EQ(driver.count("cuMemcpyAsync"), 2u);
  EXPECT_EQ(driver.count("cuMemsetD2D8Async"), 0u);
  EXPECT_EQ(driver.count("cuMemcpy2DAsync_v2"), 0u);
  EXPECT_EQ(
      driver.read<char>(large->address() + static_cast<DevicePtr>(far), 8),
      (std::vector<char>{9, 9, 9, 9, 3, 3, 3, 3}));

  driver.fail("cuMemcpy2DAsync_v2", errorInvalidValue);
  Status failed = (*b)->copyRows({at, 32}, {at + 64, 16}, 4, 2);
  EXPECT_NE(failed.message().find(" pitch 16, 2 rows of 4 bytes): got "
                                  "CUDA_ERROR_INVALID_VALUE"),
            std::string::npos)
      << failed.message();
  driver.fail("cuStreamSynchronize", errorIllegalAddress);
  EXPECT_EQ((*b)->synchronize().message(),
            "cuStreamSynchronize(): got CUDA_ERROR_ILLEGAL_ADDRESS (text of "
            "it), expected success");
}

TEST_F(CudaTest, GraphsReplayWhatWasCapturedInOrder) {
  device = open();
  std::vector<int> order;
  driver.addKernel("step", {4}, [&](const DoubleLaunch &launch) {
    order.push_back(launch.argument<int32_t>(0));
  });
  CudaModuleTable table(device);
  auto function = table.function(cubin(), "step");
  auto stream = CudaStream::create(device);
  ASSERT_TRUE(function.ok() && stream.ok());
  DeviceScope scope(*device);
  ASSERT_TRUE((*stream)->beginCapture().ok());
  for (int32_t i = 0; i < 3; ++i)
    ASSERT_TRUE((*stream)
                    ->launch(**function, {1, 32, 0}, KernelArguments().add(i))
                    .ok());
  {
    auto graph = (*stream)->endCapture();
    ASSERT_TRUE(graph.ok()) << graph.message();
    ASSERT_TRUE((*stream)->synchronize().ok());
    EXPECT_TRUE(order.empty()) << "a capture runs nothing";
    ASSERT_TRUE((*stream)->launch(**graph).ok());
    ASSERT_TRUE((*stream)->launch(**graph).ok());
    ASSERT_TRUE((*stream)->synchronize().ok());
  }
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ((*stream)->endCapture().message(),
            "cuStreamEndCapture(): got CUDA_ERROR_INVALID_VALUE (text of it), "
            "expected success");
}
