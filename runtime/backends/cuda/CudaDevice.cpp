//===- CudaDevice.cpp - One GPU and its context ---------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaDevice.h"

using namespace sart;
using namespace sart::cuda;

Expected<std::shared_ptr<CudaDevice>>
CudaDevice::open(std::shared_ptr<const CudaDriver> driver, int ordinal) {
  int count = 0;
  SART_RETURN_IF_ERROR(
      driver->check(driver->deviceGetCount(&count), "cuDeviceGetCount()"));
  if (ordinal < 0 || ordinal >= count)
    return makeError("number of the cuda device: got ", ordinal, " of ", count,
                     count == 1 ? " device" : " devices", ", expected ",
                     count > 0 ? concat("0 to ", count - 1) : "a device");
  std::shared_ptr<CudaDevice> opened(
      new CudaDevice(std::move(driver), ordinal));
  const CudaDriver &table = *opened->table;
  SART_RETURN_IF_ERROR(table.check(table.deviceGet(&opened->device, ordinal),
                                   "cuDeviceGet(device ", ordinal, ")"));
  SART_RETURN_IF_ERROR(opened->readProperties());
  Context context = nullptr;
  SART_RETURN_IF_ERROR(
      table.check(table.devicePrimaryCtxRetain(&context, opened->device),
                  "cuDevicePrimaryCtxRetain(device ", ordinal, ")"));
  opened->primary = context;
  return opened;
}

CudaDevice::~CudaDevice() {
  if (primary)
    (void)table->devicePrimaryCtxRelease(device);
}

Status CudaDevice::readProperties() {
  struct {
    DeviceAttribute attribute;
    int DeviceProperties::*value;
    const char *name;
  } const wanted[] = {
      {attributeCapabilityMajor, &DeviceProperties::capabilityMajor,
       "compute capability major"},
      {attributeCapabilityMinor, &DeviceProperties::capabilityMinor,
       "compute capability minor"},
      {attributeMultiprocessorCount, &DeviceProperties::multiprocessors,
       "multiprocessor count"},
      {attributeMaxSharedBytesOptIn, &DeviceProperties::maxSharedBytes,
       "max shared memory per block opt-in"},
      {attributeMaxGridX, &DeviceProperties::maxGridX, "max grid dim x"},
      {attributeL2CacheBytes, &DeviceProperties::l2CacheBytes, "l2 cache size"},
  };
  for (const auto &entry : wanted)
    SART_RETURN_IF_ERROR(table->check(
        table->deviceGetAttribute(&(known.*entry.value), entry.attribute,
                                  device),
        "cuDeviceGetAttribute(", entry.name, ", device ", number, ")"));
  SART_RETURN_IF_ERROR(table->check(
      table->driverGetVersion(&known.driverVersion), "cuDriverGetVersion()"));
  char name[256] = {};
  SART_RETURN_IF_ERROR(
      table->check(table->deviceGetName(name, sizeof(name) - 1, device),
                   "cuDeviceGetName(device ", number, ")"));
  known.name = name;
  size_t bytes = 0;
  SART_RETURN_IF_ERROR(table->check(table->deviceTotalMem(&bytes, device),
                                    "cuDeviceTotalMem(device ", number, ")"));
  known.memoryBytes = static_cast<int64_t>(bytes);
  return Status::success();
}

DeviceScope::DeviceScope(const CudaDevice &device) : device(device) {
  const CudaDriver &driver = device.driver();
  entered = driver.check(driver.ctxGetCurrent(&before), "cuCtxGetCurrent()");
  if (!entered.ok() || before == device.context())
    return;
  entered = driver.check(driver.ctxSetCurrent(device.context()),
                         "cuCtxSetCurrent(device ", device.ordinal(), ")");
  changed = entered.ok();
}

DeviceScope::~DeviceScope() {
  if (changed)
    (void)device.driver().ctxSetCurrent(before);
}
