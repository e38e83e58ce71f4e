//===- HostCalibration.cpp - Launches and copies of this machine ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HostCalibration.h"
#include "Sample.h"

#include "sparseattn-rt/Backend.h"
#include "sparseattn-rt/Transport.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

using namespace sart;

namespace {
constexpr int repetitions = 15;
constexpr int64_t smallBytes = 4096, largeBytes = int64_t(16) << 20;
} // namespace

/// Median seconds of one send of so many bytes to another thread.
static Expected<double> transferSeconds(LocalTransport &transport,
                                        int64_t bytes) {
  std::vector<char> from(static_cast<size_t>(bytes), 1),
      to(static_cast<size_t>(bytes), 2);
  Status receiving = Status::success(), sending = Status::success();
  auto transfer = [&](int64_t rank, Status &status) {
    Endpoint &endpoint = transport.endpoint(rank);
    auto handle = rank == 0 ? endpoint.send(1, {{from.data(), bytes}})
                            : endpoint.recv(0, {{to.data(), bytes}});
    status = handle ? endpoint.wait(**handle) : handle.status();
    return status.ok();
  };
  Sample sample;
  std::thread receiver([&] {
    for (int i = 0; i <= repetitions; ++i)
      if (!transport.endpoint(1).barrier().ok() || !transfer(1, receiving))
        return;
  });
  for (int i = 0; i <= repetitions; ++i) {
    if (!transport.endpoint(0).barrier().ok())
      break;
    double seconds = secondsOf([&] { transfer(0, sending); });
    if (!sending.ok())
      break;
    if (i > 0) // the first one touches the pages
      sample.add(seconds);
  }
  receiver.join();
  SART_RETURN_IF_ERROR(sending);
  SART_RETURN_IF_ERROR(receiving);
  if (sample.empty())
    return Status::error("transfers between two threads: got none, expected "
                         "some");
  return sample.median();
}

static double memoryBytesPerSecond() {
  std::vector<char> from(static_cast<size_t>(4 * largeBytes), 1),
      to(static_cast<size_t>(4 * largeBytes), 2);
  Sample sample;
  for (int i = 0; i < repetitions; ++i)
    sample.add(secondsOf([&] {
      // A copy in sight that nobody reads would be left out.
      (void)copySegments({{from.data(), static_cast<int64_t>(from.size())}},
                         {{to.data(), static_cast<int64_t>(to.size())}});
    }));
  return 2.0 * static_cast<double>(from.size()) / sample.median();
}

/// Work for every thread that does nothing.
static double launchSeconds(int64_t threads) {
  ThreadPool pool(threads);
  Sample sample;
  for (int i = 0; i < 20 * repetitions; ++i)
    sample.add(
        secondsOf([&] { pool.parallelFor(threads, [](int64_t, int64_t) {}); }));
  return sample.median();
}

Status sart::measureHost(Machine &machine, int32_t source, int64_t threads) {
  if (threads == 0)
    threads = std::max<int64_t>(std::thread::hardware_concurrency(), 1);
  MachineDevice &device = machine.device;
  device.multiprocessors = {threads, source};
  device.launchPs = {std::llround(launchSeconds(threads) * 1e12), source};
  device.memoryBytesPerS = {std::llround(memoryBytesPerSecond()), source};
  if (machine.links.empty())
    return Status::success();
  auto transport = LocalTransport::create(2);
  if (!transport)
    return transport.status();
  Expected<double> small = transferSeconds(**transport, smallBytes);
  if (!small)
    return small.status();
  Expected<double> large = transferSeconds(**transport, largeBytes);
  if (!large)
    return large.status();
  double rate = static_cast<double>(largeBytes - smallBytes) /
                std::max(*large - *small, 1e-9);
  machine.links[0].bytesPerS = {
      std::clamp<int64_t>(std::llround(rate), 1000000, 1000000000000000),
      source};
  machine.links[0].latencyPs = {std::llround(*small * 1e12), source};
  return Status::success();
}
