//===- RoundMachine.h - A machine to reckon with by hand --------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_PROGRAM_ROUNDMACHINE_H
#define SPARSEATTN_TEST_PROGRAM_ROUNDMACHINE_H

#include "sparseattn-rt/Machine.h"

namespace sart::test {

/// A tile takes 1 us, a byte 1 ns on a link and 1 ps in memory, a transfer 1 us
/// more; rows, launches, scores, planning and reading take nothing.
inline Machine roundMachine(int64_t ranks) {
  Machine machine;
  machine.name = "round";
  machine.sources = {{"test", Evidence::Assumed, "round numbers"}};
  machine.device.name = "device";
  machine.device.multiprocessors = {1, 0};
  machine.device.memoryBytesPerS = {1000000000000, 0};
  machine.device.kernels = {{DType::F32, 16, 16, 32, {1000000, 0}, {0, 0}}};
  machine.links = {{"link", ranks, {1000000000, 0}, {1000000, 0}}};
  return machine;
}

} // namespace sart::test

#endif // SPARSEATTN_TEST_PROGRAM_ROUNDMACHINE_H
