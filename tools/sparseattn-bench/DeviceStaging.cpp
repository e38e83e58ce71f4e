//===- DeviceStaging.cpp - Data on its way to and from a GPU --------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DeviceStaging.h"

#include "CudaSpace.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

using namespace sart;
using namespace sart::cuda;

static constexpr int64_t kStagingBytes = int64_t(64) << 20;

void sart::inThreads(int64_t count,
                     const std::function<void(int64_t, int64_t)> &body) {
  int64_t workers = std::clamp<int64_t>(
      static_cast<int64_t>(std::thread::hardware_concurrency()), 1,
      std::max<int64_t>(1, count));
  std::vector<std::thread> threads;
  for (int64_t i = 1; i < workers; ++i)
    threads.emplace_back(body, count * i / workers, count * (i + 1) / workers);
  body(0, count / workers);
  for (std::thread &thread : threads)
    thread.join();
}

Expected<DeviceStaging>
DeviceStaging::create(std::shared_ptr<CudaStream> stream) {
  DeviceStaging staging(std::move(stream));
  auto memory = PinnedMemory::allocate(staging.stream->device(), kStagingBytes,
                                       "staging");
  if (!memory)
    return memory.status();
  staging.memory = std::move(*memory);
  return staging;
}

Status DeviceStaging::reserve(DeviceMemory &target, int64_t bytes,
                              const char *what) const {
  if (target.bytes() >= bytes)
    return Status::success();
  target = DeviceMemory();
  auto created = DeviceMemory::allocate(stream->device(), bytes, what);
  if (!created)
    return created.status();
  target = std::move(*created);
  return Status::success();
}

Status DeviceStaging::upload(DeviceMemory &target, const void *data,
                             size_t bytes, const char *what) const {
  auto size = static_cast<int64_t>(bytes);
  SART_RETURN_IF_ERROR(reserve(target, size, what));
  const auto *source = static_cast<const char *>(data);
  for (int64_t done = 0; done < size; done += memory.bytes()) {
    int64_t part = std::min(memory.bytes(), size - done);
    std::memcpy(memory.data(), source + done, static_cast<size_t>(part));
    SART_RETURN_IF_ERROR(
        stream->copy(target.address() + static_cast<DevicePtr>(done),
                     addressOf(memory.data()), part));
    SART_RETURN_IF_ERROR(stream->synchronize());
  }
  return Status::success();
}

Status DeviceStaging::download(void *to, DevicePtr from, int64_t bytes) const {
  for (int64_t done = 0; done < bytes; done += memory.bytes()) {
    int64_t part = std::min(memory.bytes(), bytes - done);
    SART_RETURN_IF_ERROR(stream->copy(
        addressOf(memory.data()), from + static_cast<DevicePtr>(done), part));
    SART_RETURN_IF_ERROR(stream->synchronize());
    std::memcpy(static_cast<char *>(to) + done, memory.data(),
                static_cast<size_t>(part));
  }
  return Status::success();
}

Status DeviceStaging::generate(
    const DeviceMemory &to, int64_t rows, int64_t elements,
    const std::function<void(uint16_t *, int64_t, int64_t)> &generate) const {
  int64_t rowBytes = elements * 2, most = memory.bytes() / rowBytes;
  auto *host = reinterpret_cast<uint16_t *>(memory.data());
  for (int64_t begin = 0; begin < rows; begin += most) {
    int64_t part = std::min(most, rows - begin);
    inThreads(part, [&](int64_t first, int64_t last) {
      generate(host + first * elements, begin + first, begin + last);
    });
    SART_RETURN_IF_ERROR(
        stream->copy(to.address() + static_cast<DevicePtr>(begin * rowBytes),
                     addressOf(host), part * rowBytes));
    SART_RETURN_IF_ERROR(stream->synchronize());
  }
  return Status::success();
}

Status DeviceStaging::scan(
    const DeviceMemory &from, int64_t bytes,
    const std::function<void(const char *, int64_t, int64_t)> &look) const {
  for (int64_t begin = 0; begin < bytes; begin += memory.bytes()) {
    int64_t part = std::min(memory.bytes(), bytes - begin);
    SART_RETURN_IF_ERROR(
        stream->copy(addressOf(memory.data()),
                     from.address() + static_cast<DevicePtr>(begin), part));
    SART_RETURN_IF_ERROR(stream->synchronize());
    look(memory.data(), begin, begin + part);
  }
  return Status::success();
}
