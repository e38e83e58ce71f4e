//===- DeviceTimer.cpp - Times of launches by events of a GPU -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DeviceTimer.h"

#include <algorithm>
#include <chrono>
#include <thread>

using namespace sart;

/// Launches that are timed together: what a short one would need to fill this
/// many milliseconds, at most kMostLaunches.
static constexpr double kTimedMs = 400;
static constexpr int64_t kMostLaunches = 60;
/// Longer ones than this heat the device by themselves.
static constexpr double kLongestSpacedMs = 30;

Expected<DeviceTimer>
DeviceTimer::create(std::shared_ptr<cuda::CudaStream> stream,
                    const TimerOptions &options) {
  DeviceTimer timer(std::move(stream), options);
  int64_t count = std::max(
      {options.launches, options.spacedLaunches, kMostLaunches, int64_t(1)});
  for (int64_t i = 0; i < count; ++i) {
    Pair pair;
    for (Event *event : {&pair.begin, &pair.end}) {
      auto created = cuda::CudaEvent::create(timer.stream->device(), true);
      if (!created)
        return created.status();
      *event = *created;
    }
    timer.pairs.push_back(std::move(pair));
  }
  return timer;
}

Status DeviceTimer::timed(const Pair &pair,
                          const std::function<Status(int64_t)> &run,
                          int64_t set) {
  SART_RETURN_IF_ERROR(stream->record(*pair.begin));
  SART_RETURN_IF_ERROR(run(set));
  return stream->record(*pair.end);
}

Expected<DeviceTimes>
DeviceTimer::measure(const std::function<Status(int64_t)> &run) {
  // The first launch pays for what is set up once.
  SART_RETURN_IF_ERROR(run(0));
  SART_RETURN_IF_ERROR(timed(pairs[0], run, 1));
  SART_RETURN_IF_ERROR(stream->synchronize());
  Expected<float> once = pairs[0].end->since(*pairs[0].begin);
  if (!once)
    return once.status();
  double estimate = std::max(static_cast<double>(*once), 1e-3);

  int64_t set = 2;
  auto begin = std::chrono::steady_clock::now();
  auto burst = static_cast<int64_t>(std::max(1.0, 50 / estimate));
  while (std::chrono::steady_clock::now() - begin <
         std::chrono::milliseconds(options.preheatMs)) {
    for (int64_t i = 0; i < burst; ++i)
      SART_RETURN_IF_ERROR(run(set++));
    SART_RETURN_IF_ERROR(stream->synchronize());
  }

  DeviceTimes times;
  auto enough = static_cast<int64_t>(kTimedMs / estimate);
  times.launches = std::max(options.launches, std::min(kMostLaunches, enough));
  auto count = static_cast<size_t>(times.launches);
  for (size_t i = 0; i < count; ++i)
    SART_RETURN_IF_ERROR(timed(pairs[i], run, set++));
  SART_RETURN_IF_ERROR(stream->synchronize());
  auto note = [&](const Pair &pair, Sample &sample) -> Status {
    Expected<float> ms = pair.end->since(*pair.begin);
    if (ms)
      sample.add(static_cast<double>(*ms));
    return ms.status();
  };
  for (size_t i = 0; i < count; ++i)
    SART_RETURN_IF_ERROR(note(pairs[i], times.hot));

  if (estimate > kLongestSpacedMs)
    return times;
  for (int64_t i = 0; i < options.spacedLaunches; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(options.spacedGapMs));
    SART_RETURN_IF_ERROR(timed(pairs[0], run, set++));
    SART_RETURN_IF_ERROR(stream->synchronize());
    SART_RETURN_IF_ERROR(note(pairs[0], times.spaced));
  }
  return times;
}
