//===- DriverDouble.cpp - A CUDA driver without a GPU, for tests ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DriverDouble.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

using namespace sart;
using namespace sart::cuda;

DriverDouble *DriverDouble::current = nullptr;

DriverDouble::DriverDouble() {
  attributes = {{attributeMaxGridX, 2147483647},
                {attributeMultiprocessorCount, 132},
                {attributeL2CacheBytes, 52428800},
                {attributeCapabilityMajor, 9},
                {attributeCapabilityMinor, 0},
                {attributeMaxSharedBytesOptIn, 232448}};
  current = this;
}

DriverDouble::~DriverDouble() {
  for (const auto &block : deviceBlocks)
    munmap(reinterpret_cast<void *>(block.first), block.second);
  current = nullptr;
}

std::shared_ptr<const CudaDriver> DriverDouble::driver() {
  return std::make_shared<CudaDriver>(table());
}

void DriverDouble::addKernel(const std::string &name,
                             std::vector<size_t> parameterBytes,
                             std::function<void(const DoubleLaunch &)> body) {
  kernels[name] = {name, std::move(parameterBytes), std::move(body)};
}

void DriverDouble::fail(const std::string &symbol, Result result, int skip) {
  failures[symbol] = {result, skip};
}

Result DriverDouble::enter(const char *symbol) {
  calls.push_back(symbol);
  auto found = failures.find(symbol);
  if (found == failures.end() || found->second.second-- > 0)
    return success;
  return found->second.first;
}

size_t DriverDouble::count(const std::string &symbol) const {
  return static_cast<size_t>(std::count(calls.begin(), calls.end(), symbol));
}

const DoubleMap &DriverDouble::mapOf(const unsigned char *bytes) const {
  uint64_t number;
  std::memcpy(&number, bytes, sizeof(number));
  return maps.at(number);
}

int DriverDouble::streamOf(StreamHandle stream) const {
  return static_cast<int>(indexOf(stream));
}

void DriverDouble::queue(StreamHandle stream, Work work) {
  Stream &target = streams[indexOf(stream)];
  if (target.capturing) {
    target.captured.push_back(std::move(work));
    return;
  }
  Item item;
  item.work = std::move(work);
  target.items.push_back(std::move(item));
}

void DriverDouble::expose(bool open) {
  exposed = open;
  for (const auto &block : deviceBlocks)
    mprotect(reinterpret_cast<void *>(block.first), block.second,
             open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void DriverDouble::runUntil(int stream, size_t position) {
  Stream &queue = streams[static_cast<size_t>(stream)];
  ++depth;
  while (queue.done < std::min(position, queue.items.size())) {
    size_t index = queue.done++;
    if (queue.items[index].waitStream >= 0)
      runUntil(queue.items[index].waitStream, queue.items[index].waitPosition);
    if (queue.items[index].work) {
      if (!exposed)
        expose(true);
      queue.items[index].work();
      queue.items[index].work = nullptr;
    }
  }
  if (--depth == 0 && exposed)
    expose(false);
}

void DriverDouble::runAll(StreamHandle stream) {
  runUntil(streamOf(stream), streams[indexOf(stream)].items.size());
}

static bool within(const std::map<DevicePtr, size_t> &blocks, DevicePtr address,
                   size_t bytes) {
  auto after = blocks.upper_bound(address);
  if (after == blocks.begin())
    return false;
  --after;
  return address + bytes <= after->first + after->second;
}

bool DriverDouble::isDevice(DevicePtr address, size_t bytes) const {
  return within(deviceBlocks, address, bytes);
}

bool DriverDouble::isPinned(DevicePtr address) const {
  return within(pinnedBlocks, address, 1);
}

Result DriverDouble::copy(DevicePtr to, DevicePtr from, size_t bytes,
                          StreamHandle stream) {
  bool toDevice = isDevice(to, bytes), fromDevice = isDevice(from, bytes);
  auto *target = reinterpret_cast<void *>(to);
  auto *source = reinterpret_cast<const void *>(from);
  // Memory that is not pinned is read at once, and written before the return.
  if (!fromDevice && !isPinned(from)) {
    auto *begin = static_cast<const char *>(source);
    queue(stream, [target, staged = std::vector<char>(begin, begin + bytes)] {
      std::memcpy(target, staged.data(), staged.size());
    });
  } else {
    queue(stream, [=] { std::memmove(target, source, bytes); });
  }
  if (!toDevice && !isPinned(to)) {
    if (streams[indexOf(stream)].capturing)
      return errorInvalidValue;
    runAll(stream);
  }
  return success;
}

void DriverDouble::readBytes(DevicePtr from, void *to, size_t bytes) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  for (size_t i = 0; i < streams.size(); ++i)
    runAll(handleOf<StreamHandle>(i));
  expose(true);
  std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  expose(false);
}
