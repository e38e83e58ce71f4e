//===- GpuKernelFlights.h - Each kernel compiled once a process  -*- C++
//-*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_JIT_GPUKERNELFLIGHTS_H
#define SPARSEATTN_LIB_JIT_GPUKERNELFLIGHTS_H

#include "sparseattn-rt/Executable.h"

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace mlir {
namespace sparseattn {

using SharedExecutable = std::shared_ptr<const sart::Executable>;

/// What came of making a kernel.
struct FlightOutcome {
  SharedExecutable executable; ///< null: `error` says why
  std::string error;
};

/// Kernels that the engines of a process make or have. The first one to ask
/// for a key makes the kernel, the others wait for it. Whoever makes several
/// finishes all of them before it waits for any: so no two wait for each other.
class GpuKernelFlights {
public:
  static GpuKernelFlights &ofProcess();

  /// The duty to make one kernel. Without finish() the waiting ones get an
  /// error when it goes.
  class Ticket {
  public:
    Ticket(GpuKernelFlights &flights, std::string key)
        : flights(flights), key(std::move(key)) {}
    Ticket(const Ticket &) = delete;
    Ticket &operator=(const Ticket &) = delete;
    ~Ticket();
    void finish(FlightOutcome outcome);

  private:
    friend class GpuKernelFlights;
    GpuKernelFlights &flights;
    std::string key;
    std::promise<FlightOutcome> promise;
    bool finished = false;
  };

  /// One of three.
  struct Claim {
    SharedExecutable present;                ///< an engine has it
    std::shared_future<FlightOutcome> other; ///< somebody makes it
    std::unique_ptr<Ticket> own;             ///< to be made by the caller
  };
  Claim claim(const std::string &key);

private:
  std::mutex mutex;
  std::map<std::string, std::shared_future<FlightOutcome>> open;
  /// As long as any engine holds them.
  std::map<std::string, std::weak_ptr<const sart::Executable>> made;
};

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_LIB_JIT_GPUKERNELFLIGHTS_H
