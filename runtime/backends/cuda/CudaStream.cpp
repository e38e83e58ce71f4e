//===- CudaStream.cpp - Streams, events and graphs ------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaStream.h"

#include <cstring>

using namespace sart;
using namespace sart::cuda;

Expected<std::shared_ptr<CudaEvent>>
CudaEvent::create(std::shared_ptr<CudaDevice> device, bool timed) {
  std::shared_ptr<CudaEvent> created(new CudaEvent(std::move(device)));
  DeviceScope scope(*created->device);
  SART_RETURN_IF_ERROR(scope.status());
  const CudaDriver &driver = created->device->driver();
  unsigned flags = timed ? eventDefault : eventDisableTiming;
  SART_RETURN_IF_ERROR(driver.check(driver.eventCreate(&created->event, flags),
                                    "cuEventCreate(flags ", flags, ")"));
  return created;
}

CudaEvent::~CudaEvent() {
  if (!event)
    return;
  DeviceScope scope(*device);
  (void)device->driver().eventDestroy(event);
}

Status CudaEvent::synchronize() const {
  DeviceScope scope(*device);
  SART_RETURN_IF_ERROR(scope.status());
  return device->driver().check(device->driver().eventSynchronize(event),
                                "cuEventSynchronize()");
}

Expected<float> CudaEvent::since(const CudaEvent &begin) const {
  DeviceScope scope(*device);
  SART_RETURN_IF_ERROR(scope.status());
  float milliseconds = 0;
  SART_RETURN_IF_ERROR(device->driver().check(
      device->driver().eventElapsedTime(&milliseconds, begin.event, event),
      "cuEventElapsedTime()"));
  return milliseconds;
}

CudaGraph::~CudaGraph() {
  DeviceScope scope(*device);
  if (executable)
    (void)device->driver().graphExecDestroy(executable);
  if (graph)
    (void)device->driver().graphDestroy(graph);
}

KernelArguments &KernelArguments::addBytes(const void *value, size_t size,
                                           size_t alignment) {
  size_t offset = (bytes.size() + alignment - 1) / alignment * alignment;
  bytes.resize(offset + size);
  std::memcpy(bytes.data() + offset, value, size);
  offsets.push_back(offset);
  return *this;
}

std::vector<void *> KernelArguments::pointers() const {
  std::vector<void *> list;
  list.reserve(offsets.size());
  for (size_t offset : offsets)
    list.push_back(const_cast<unsigned char *>(bytes.data()) + offset);
  return list;
}

Expected<std::shared_ptr<CudaStream>>
CudaStream::create(std::shared_ptr<CudaDevice> device) {
  std::shared_ptr<CudaStream> created(new CudaStream(std::move(device)));
  DeviceScope scope(*created->owner);
  SART_RETURN_IF_ERROR(scope.status());
  SART_RETURN_IF_ERROR(created->driver().check(
      created->driver().streamCreate(&created->stream, streamNonBlocking),
      "cuStreamCreate(flags ", static_cast<unsigned>(streamNonBlocking), ")"));
  return created;
}

CudaStream::~CudaStream() {
  if (!stream)
    return;
  DeviceScope scope(*owner);
  (void)driver().streamDestroy(stream);
}

Status CudaStream::synchronize() {
  return driver().check(driver().streamSynchronize(stream),
                        "cuStreamSynchronize()");
}

Status CudaStream::record(const CudaEvent &event) {
  return driver().check(driver().eventRecord(event.handle(), stream),
                        "cuEventRecord()");
}

Status CudaStream::wait(const CudaEvent &event) {
  return driver().check(driver().streamWaitEvent(stream, event.handle(), 0),
                        "cuStreamWaitEvent()");
}

/// An address as the driver's documentation writes it.
static std::string hex(DevicePtr address) {
  std::ostringstream text;
  text << "0x" << std::hex << address;
  return text.str();
}

/// What devices take for the distance of rows: 31 bits everywhere.
static bool isPitch(int64_t pitch, int64_t width) {
  return pitch >= width && pitch < int64_t(1) << 31;
}

Status CudaStream::copy(DevicePtr to, DevicePtr from, int64_t bytes) {
  if (bytes == 0)
    return Status::success();
  return driver().check(
      driver().memcpyAsync(to, from, static_cast<size_t>(bytes), stream),
      "cuMemcpyAsync(to ", hex(to), ", from ", hex(from), ", ", bytes,
      " bytes)");
}

Status CudaStream::copyRows(const RowsOf &to, const RowsOf &from, int64_t width,
                            int64_t rows) {
  if (width == 0 || rows == 0)
    return Status::success();
  if (rows == 1 || (to.pitch == width && from.pitch == width))
    return copy(to.start, from.start, width * rows);
  // Pitches are at least the width and have a bound; other rows go one by one.
  if (!isPitch(to.pitch, width) || !isPitch(from.pitch, width)) {
    for (int64_t row = 0; row < rows; ++row)
      SART_RETURN_IF_ERROR(
          copy(to.start + static_cast<DevicePtr>(row * to.pitch),
               from.start + static_cast<DevicePtr>(row * from.pitch), width));
    return Status::success();
  }
  Memcpy2D copy;
  copy.srcDevice = from.start;
  copy.srcPitch = static_cast<size_t>(from.pitch);
  copy.dstDevice = to.start;
  copy.dstPitch = static_cast<size_t>(to.pitch);
  copy.widthInBytes = static_cast<size_t>(width);
  copy.height = static_cast<size_t>(rows);
  return driver().check(driver().memcpy2DAsync(&copy, stream),
                        "cuMemcpy2DAsync(to ", hex(to.start), " pitch ",
                        to.pitch, ", from ", hex(from.start), " pitch ",
                        from.pitch, ", ", rows, " rows of ", width, " bytes)");
}

Status CudaStream::fill(DevicePtr to, uint8_t value, int64_t bytes) {
  if (bytes == 0)
    return Status::success();
  return driver().check(
      driver().memsetD8Async(to, value, static_cast<size_t>(bytes), stream),
      "cuMemsetD8Async(to ", hex(to), ", value ", static_cast<int>(value), ", ",
      bytes, " bytes)");
}

Status CudaStream::fillRows(const RowsOf &to, uint8_t value, int64_t width,
                            int64_t rows) {
  if (width == 0 || rows == 0)
    return Status::success();
  if (rows == 1 || to.pitch == width)
    return fill(to.start, value, width * rows);
  if (!isPitch(to.pitch, width)) {
    for (int64_t row = 0; row < rows; ++row)
      SART_RETURN_IF_ERROR(fill(
          to.start + static_cast<DevicePtr>(row * to.pitch), value, width));
    return Status::success();
  }
  return driver().check(
      driver().memsetD2D8Async(to.start, static_cast<size_t>(to.pitch), value,
                               static_cast<size_t>(width),
                               static_cast<size_t>(rows), stream),
      "cuMemsetD2D8Async(to ", hex(to.start), " pitch ", to.pitch, ", value ",
      static_cast<int>(value), ", ", rows, " rows of ", width, " bytes)");
}

Status CudaStream::launch(const CudaFunction &function,
                          const LaunchShape &shape,
                          const KernelArguments &arguments) {
  if (shape.grid == 0)
    return Status::success();
  const DeviceProperties &device = owner->properties();
  if (shape.grid < 0 || shape.grid > device.maxGridX)
    return makeError("grid of ", function.name, " out of range: got ",
                     shape.grid, " ctas, expected 1 to ", device.maxGridX);
  if (shape.sharedBytes > device.maxSharedBytes)
    return makeError("shared memory of ", function.name, " out of range: got ",
                     shape.sharedBytes, " bytes, expected at most ",
                     device.maxSharedBytes, " on ", device.name);
  SART_RETURN_IF_ERROR(function.allowShared(driver(), shape.sharedBytes));
  std::vector<void *> parameters = arguments.pointers();
  return driver().check(
      driver().launchKernel(function.handle, static_cast<unsigned>(shape.grid),
                            1, 1, static_cast<unsigned>(shape.threads), 1, 1,
                            static_cast<unsigned>(shape.sharedBytes), stream,
                            parameters.data(), nullptr),
      "cuLaunchKernel(", function.name, ", grid ", shape.grid, ", threads ",
      shape.threads, ", shared ", shape.sharedBytes, " bytes, ",
      parameters.size(), " arguments)");
}

Status CudaStream::beginCapture() {
  return driver().check(driver().streamBeginCapture(stream, captureThreadLocal),
                        "cuStreamBeginCapture(thread local)");
}

Expected<std::shared_ptr<CudaGraph>> CudaStream::endCapture() {
  std::shared_ptr<CudaGraph> captured(new CudaGraph(owner));
  SART_RETURN_IF_ERROR(
      driver().check(driver().streamEndCapture(stream, &captured->graph),
                     "cuStreamEndCapture()"));
  SART_RETURN_IF_ERROR(driver().check(
      driver().graphInstantiate(&captured->executable, captured->graph, 0),
      "cuGraphInstantiate(flags 0)"));
  return captured;
}

Status CudaStream::launch(const CudaGraph &graph) {
  return driver().check(driver().graphLaunch(graph.handle(), stream),
                        "cuGraphLaunch()");
}
