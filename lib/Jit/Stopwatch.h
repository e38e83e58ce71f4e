//===- Stopwatch.h - Time of the stages of a compilation ------ -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_JIT_STOPWATCH_H
#define SPARSEATTN_LIB_JIT_STOPWATCH_H

#include <chrono>

namespace mlir {
namespace sparseattn {

/// Milliseconds since construction or the last call.
class Stopwatch {
public:
  double lap() {
    auto now = Clock::now();
    std::chrono::duration<double, std::milli> elapsed = now - last;
    last = now;
    return elapsed.count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last = Clock::now();
};

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_LIB_JIT_STOPWATCH_H
