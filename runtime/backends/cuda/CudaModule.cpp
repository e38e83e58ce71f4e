//===- CudaModule.cpp - Binaries loaded on a device -----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaModule.h"

#include <cstring>
#include <vector>

using namespace sart;
using namespace sart::cuda;

/// Room for what the driver says about PTX.
static constexpr size_t logBytes = 65536;

static bool isElf(const std::string &image) {
  return image.compare(0, 4,
                       "\x7f"
                       "ELF") == 0;
}

Status CudaFunction::allowShared(const CudaDriver &driver,
                                 int32_t bytes) const {
  if (bytes <= allowedShared.load(std::memory_order_acquire))
    return Status::success();
  // A smaller limit that another thread sets would replace this one.
  std::lock_guard<std::mutex> lock(mutex);
  if (bytes <= allowedShared.load(std::memory_order_relaxed))
    return Status::success();
  SART_RETURN_IF_ERROR(driver.check(
      driver.funcSetAttribute(handle, functionMaxDynamicSharedBytes, bytes),
      "cuFuncSetAttribute(", name, ", max dynamic shared bytes ", bytes, ")"));
  allowedShared.store(bytes, std::memory_order_release);
  return Status::success();
}

Expected<std::unique_ptr<CudaModule>>
CudaModule::load(std::shared_ptr<CudaDevice> device,
                 std::shared_ptr<const std::string> image,
                 const std::string &name) {
  if (!image || image->empty())
    return makeError("binary of ", name,
                     ": got no bytes, expected a cubin or PTX text");
  std::unique_ptr<CudaModule> created(
      new CudaModule(std::move(device), std::move(image)));
  const CudaDriver &driver = created->device->driver();
  DeviceScope scope(*created->device);
  SART_RETURN_IF_ERROR(scope.status());

  bool elf = isElf(*created->image);
  std::vector<char> info(logBytes, 0), errors(logBytes, 0);
  JitOption options[] = {jitInfoLogBuffer, jitInfoLogBufferBytes,
                         jitErrorLogBuffer, jitErrorLogBufferBytes,
                         jitLogVerbose};
  // The driver takes numbers as pointers.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  auto number = [](size_t value) { return reinterpret_cast<void *>(value); };
  // One byte stays, so that the text ends.
  void *values[] = {info.data(), number(logBytes - 1), errors.data(),
                    number(logBytes - 1), number(1)};
  Result result = driver.moduleLoadDataEx(
      &created->module, created->image->c_str(), elf ? 0 : 5,
      elf ? nullptr : options, elf ? nullptr : values);
  created->driverLog = std::string(info.data()) + errors.data();
  if (result == success) {
    // What a compile ahead would have been refused for; see PtxasLog.
    for (const char *warning : {"C7508", "C751"})
      if (created->driverLog.find(warning) != std::string::npos)
        return makeError("kernel ", name, " compiled by the driver: got '",
                         created->driverLog, "', expected no ", warning,
                         " (give a ptxas of another version)");
    // What is missing from a full log could be just that.
    if (std::strlen(info.data()) + 1 >= logBytes - 1)
      return makeError("log of kernel ", name, " compiled by the driver: got ",
                       logBytes - 1, " bytes or more, expected less");
    return created;
  }
  const DeviceProperties &properties = created->device->properties();
  std::string call = concat("kernel ", name, " on ", properties.name, " (sm_",
                            properties.capability(), "): cuModuleLoadDataEx(",
                            created->image->size(),
                            elf ? " bytes of cubin)" : " bytes of PTX)");
  if (result == errorNoBinaryForGpu || result == errorInvalidImage)
    return makeError(call, ": got ", driver.describe(result),
                     ", expected a binary for sm_", properties.capability());
  Status failure = driver.check(result, call);
  if (!created->driverLog.empty())
    return makeError(failure.message(),
                     "; the driver says: ", created->driverLog);
  return failure;
}

CudaModule::~CudaModule() {
  if (!module)
    return;
  DeviceScope scope(*device);
  (void)device->driver().moduleUnload(module);
}

Expected<const CudaFunction *> CudaModule::function(const std::string &entry) {
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<CudaFunction> &known = functions[entry];
  if (known)
    return static_cast<const CudaFunction *>(known.get());
  const CudaDriver &driver = device->driver();
  auto created = std::make_unique<CudaFunction>();
  created->name = entry;
  SART_RETURN_IF_ERROR(driver.check(
      driver.moduleGetFunction(&created->handle, module, entry.c_str()),
      "cuModuleGetFunction(", entry, ")"));
  SART_RETURN_IF_ERROR(
      driver.check(driver.funcGetAttribute(&created->registers,
                                           functionRegisters, created->handle),
                   "cuFuncGetAttribute(", entry, ", registers)"));
  SART_RETURN_IF_ERROR(
      driver.check(driver.funcGetAttribute(&created->localBytes,
                                           functionLocalBytes, created->handle),
                   "cuFuncGetAttribute(", entry, ", local bytes)"));
  if (!isElf(*image) && created->localBytes > 0)
    return makeError("kernel ", entry, " compiled by the driver: got ",
                     created->localBytes,
                     " bytes of stack and spills a thread, expected 0 (give a "
                     "ptxas of another version)");
  known = std::move(created);
  return static_cast<const CudaFunction *>(known.get());
}

Expected<const CudaFunction *>
CudaModuleTable::function(const std::shared_ptr<const std::string> &image,
                          const std::string &entry) {
  CudaModule *module = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = loaded.find(image.get());
    if (found == loaded.end()) {
      auto created = CudaModule::load(device, image, entry);
      if (!created)
        return created.status();
      found = loaded.emplace(image.get(), std::move(*created)).first;
    }
    module = found->second.get();
  }
  DeviceScope scope(*device);
  SART_RETURN_IF_ERROR(scope.status());
  return module->function(entry);
}

size_t CudaModuleTable::modules() const {
  std::lock_guard<std::mutex> lock(mutex);
  return loaded.size();
}
