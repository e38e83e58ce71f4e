//===- DriverDouble.h - A CUDA driver without a GPU, for tests --*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_CUDA_DRIVERDOUBLE_H
#define SPARSEATTN_TEST_UNIT_CUDA_DRIVERDOUBLE_H

#include "CudaDriver.h"

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <vector>

namespace sart::cuda {

/// Handles are numbers from 1.
template <typename Handle>
inline Handle handleOf(size_t index) {
  return reinterpret_cast<Handle>(index + 1);
}
template <typename Handle>
inline size_t indexOf(Handle handle) {
  return reinterpret_cast<size_t>(handle) - 1;
}

/// A launch as the driver got it.
struct DoubleLaunch {
  std::string kernel;
  unsigned grid[3] = {}, threads[3] = {};
  unsigned sharedBytes = 0;
  int stream = 0;
  std::vector<std::vector<unsigned char>> arguments;

  template <typename T>
  T argument(size_t index) const {
    T value;
    if (arguments.at(index).size() != sizeof(T))
      std::abort();
    std::memcpy(&value, arguments[index].data(), sizeof(T));
    return value;
  }
};

/// A tensor map as it was encoded.
struct DoubleMap {
  TensorMapDataType type;
  unsigned rank;
  void *address;
  std::vector<uint64_t> sizes, strides;
  std::vector<uint32_t> box, elementStrides;
  int interleave, swizzle, promotion, fill;
};

/// Stands in for the driver: device memory is host memory that only the
/// driver's calls and kernels can touch (anything else ends the test), and the
/// work of a stream is done when somebody waits for it, so that a missing wait
/// shows. One lives at a time.
class DriverDouble {
public:
  DriverDouble();
  ~DriverDouble();

  std::shared_ptr<const CudaDriver> driver();
  static CudaDriver table();
  static DriverDouble *current; ///< the one that lives

  // What it pretends to be. Set before use.
  int devices = 1;
  std::map<int, int> attributes; ///< DeviceAttribute -> value
  int64_t memoryBytes = int64_t(1) << 34;

  /// A kernel that modules have: the sizes of its parameters and what it does,
  /// on the thread that waits for it.
  void addKernel(const std::string &name, std::vector<size_t> parameterBytes,
                 std::function<void(const DoubleLaunch &)> body = nullptr);
  /// Adds the kernel of this name when a module is asked for one that it lacks.
  std::function<void(const std::string &)> makeKernel;
  int localBytes = 0;      ///< of every function, a thread
  bool checkCubins = true; ///< refuse those without the text sm_90
  /// The call of this symbol fails, after `skip` that do not.
  void fail(const std::string &symbol, Result result, int skip = 0);
  void heal() { failures.clear(); }

  // What happened.
  std::vector<std::string> calls; ///< symbols
  std::vector<DoubleLaunch> launches;
  std::map<uint64_t, DoubleMap> maps; ///< by the number in its bytes
  int64_t allocatedBytes = 0;
  std::set<std::string> live; ///< handles that nobody destroyed

  size_t count(const std::string &symbol) const;
  /// The map that `bytes` (a kernel's argument) hold.
  const DoubleMap &mapOf(const unsigned char *bytes) const;
  /// Content of device memory, after all work so far.
  template <typename T>
  std::vector<T> read(DevicePtr from, size_t count) {
    std::vector<T> values(count);
    readBytes(from, values.data(), count * sizeof(T));
    return values;
  }

private:
  friend struct DoubleCalls;
  friend struct DoubleMemoryCalls;
  using Work = std::function<void()>;
  struct Event {
    int stream = -1;
    size_t position = 0; ///< items of the stream's queue before it
    int time = 0;        ///< in milliseconds: one for each record
  };
  struct Item {
    Work work;
    int waitStream = -1;
    size_t waitPosition = 0;
  };
  struct Stream {
    std::vector<Item> items;
    size_t done = 0;
    bool capturing = false;
    std::vector<Work> captured;
  };
  struct Function {
    std::string name;
    std::vector<size_t> parameterBytes;
    std::function<void(const DoubleLaunch &)> body;
  };
  struct Graph {
    std::vector<Work> work;
  };

  Result enter(const char *symbol);
  void queue(StreamHandle stream, Work work);
  void runUntil(int stream, size_t position);
  void runAll(StreamHandle stream);
  void expose(bool open);
  bool isDevice(DevicePtr address, size_t bytes) const;
  bool isPinned(DevicePtr address) const;
  Result copy(DevicePtr to, DevicePtr from, size_t bytes, StreamHandle stream);
  void readBytes(DevicePtr from, void *to, size_t bytes);
  int streamOf(StreamHandle stream) const;

  mutable std::recursive_mutex mutex;
  std::map<std::string, std::pair<Result, int>> failures;
  std::map<DevicePtr, size_t> deviceBlocks; ///< mapped bytes
  std::map<DevicePtr, size_t> pinnedBlocks;
  std::deque<Stream> streams;
  std::deque<Event> events;
  std::deque<Function> functions;
  std::deque<Graph> graphs;
  std::map<std::string, Function> kernels;
  std::vector<std::string> modules;
  uint64_t nextMap = 1;
  bool exposed = false; ///< device memory can be touched
  int depth = 0;        ///< of runUntil
  int now = 0;
};

} // namespace sart::cuda

#endif // SPARSEATTN_TEST_UNIT_CUDA_DRIVERDOUBLE_H
