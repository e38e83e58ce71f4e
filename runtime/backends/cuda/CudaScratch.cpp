//===- CudaScratch.cpp - Short-lived memory of launches -------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaScratch.h"

#include <algorithm>

using namespace sart;
using namespace sart::cuda;

template <typename Memory>
Expected<std::pair<Memory *, int64_t>> CudaScratch::take(Chunks<Memory> &chunks,
                                                         int64_t bytes) {
  for (; chunks.current < chunks.memory.size(); ++chunks.current) {
    Memory &chunk = chunks.memory[chunks.current];
    if (chunk.bytes() - chunks.used >= bytes)
      break;
    chunks.used = 0;
  }
  if (chunks.current == chunks.memory.size()) {
    auto made = Memory::allocate(space.device(), std::max(bytes, chunkBytes),
                                 "memory of launches");
    if (!made)
      return made.status();
    chunks.memory.push_back(std::move(*made));
    chunks.used = 0;
  }
  int64_t offset = chunks.used;
  chunks.used += (bytes + border - 1) / border * border;
  return std::pair<Memory *, int64_t>(&chunks.memory[chunks.current], offset);
}

Expected<DevicePtr> CudaScratch::reserve(int64_t bytes) {
  auto place = take(onDevice, bytes);
  if (!place)
    return place.status();
  return place->first->address() + static_cast<DevicePtr>(place->second);
}

Expected<DevicePtr> CudaScratch::upload(const void *data, int64_t bytes) {
  auto to = reserve(bytes);
  if (!to || bytes == 0)
    return to;
  auto from = take(onHost, bytes);
  if (!from)
    return from.status();
  char *staged = from->first->data() + from->second;
  std::memcpy(staged, data, static_cast<size_t>(bytes));
  SART_RETURN_IF_ERROR(space.stream().copy(*to, addressOf(staged), bytes));
  return to;
}

Expected<const char *> CudaScratch::download(DevicePtr from, int64_t bytes) {
  auto to = take(onHost, bytes);
  if (!to)
    return to.status();
  char *staged = to->first->data() + to->second;
  SART_RETURN_IF_ERROR(space.stream().copy(addressOf(staged), from, bytes));
  return static_cast<const char *>(staged);
}

void CudaScratch::clear() {
  onDevice.current = onHost.current = 0;
  onDevice.used = onHost.used = 0;
}
