//===- DeviceTimer.h - Times of launches by events of a GPU -----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_DEVICETIMER_H
#define SPARSEATTN_TOOLS_BENCH_DEVICETIMER_H

#include "Sample.h"

#include "CudaStream.h"

#include <functional>

namespace sart {

/// How often and how warm.
struct TimerOptions {
  int64_t launches = 21;    ///< at least; short ones are launched more often
  int64_t preheatMs = 400;  ///< of work before the first that counts
  int64_t spacedGapMs = 40; ///< between spaced launches
  int64_t spacedLaunches = 10;
};

/// Milliseconds of one kind of launch.
struct DeviceTimes {
  Sample hot;    ///< one right after the other, after a preheat
  Sample spaced; ///< with the device idle before each; empty for long ones
  int64_t launches = 0;
};

/// Measures work on one stream.
class DeviceTimer {
public:
  static Expected<DeviceTimer> create(std::shared_ptr<cuda::CudaStream> stream,
                                      const TimerOptions &options);

  /// `run(i)` queues the work on input set i of however many there are. The
  /// device's context must be current.
  Expected<DeviceTimes> measure(const std::function<Status(int64_t)> &run);

private:
  using Event = std::shared_ptr<cuda::CudaEvent>;
  struct Pair {
    Event begin, end;
  };
  DeviceTimer(std::shared_ptr<cuda::CudaStream> stream,
              const TimerOptions &options)
      : stream(std::move(stream)), options(options) {}
  Status timed(const Pair &pair, const std::function<Status(int64_t)> &run,
               int64_t set);

  std::shared_ptr<cuda::CudaStream> stream;
  TimerOptions options;
  std::vector<Pair> pairs;
};

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_DEVICETIMER_H
