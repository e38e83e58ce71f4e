//===- GpuKernelFlights.cpp - Each kernel compiled once a process ---------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GpuKernelFlights.h"

using namespace mlir::sparseattn;

GpuKernelFlights &GpuKernelFlights::ofProcess() {
  static GpuKernelFlights flights;
  return flights;
}

GpuKernelFlights::Claim GpuKernelFlights::claim(const std::string &key) {
  std::lock_guard<std::mutex> lock(mutex);
  Claim claim;
  if (auto found = made.find(key); found != made.end()) {
    claim.present = found->second.lock();
    if (claim.present)
      return claim;
    made.erase(found);
  }
  if (auto found = open.find(key); found != open.end()) {
    claim.other = found->second;
    return claim;
  }
  claim.own = std::make_unique<Ticket>(*this, key);
  open[key] = claim.own->promise.get_future().share();
  return claim;
}

void GpuKernelFlights::Ticket::finish(FlightOutcome outcome) {
  {
    std::lock_guard<std::mutex> lock(flights.mutex);
    if (outcome.executable)
      flights.made[key] = outcome.executable;
    flights.open.erase(key);
  }
  finished = true;
  promise.set_value(std::move(outcome));
}

GpuKernelFlights::Ticket::~Ticket() {
  if (!finished)
    finish({nullptr, "kernel: got a compilation that was given up, expected "
                     "its end"});
}
