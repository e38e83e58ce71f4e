//===- MachineTestSupport.h - Machines of round numbers ---------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_PLANNING_MACHINETESTSUPPORT_H
#define SPARSEATTN_TEST_PLANNING_MACHINETESTSUPPORT_H

#include "sparseattn-rt/Machine.h"

namespace sart::test {

/// Two islands of 4: 400 GB/s inside, 25 across, 10 us a transfer, 5 us a
/// launch, 3 TB/s of memory; 128x128 tiles of 13 ns, 64x64 tiles of 4 ns.
inline Machine islands() {
  Machine machine;
  machine.name = "two islands";
  machine.sources = {{"test", Evidence::Assumed, "round numbers"}};
  machine.device.name = "device";
  machine.device.multiprocessors = {132, 0};
  machine.device.memoryBytesPerS = {3000000000000, 0};
  machine.device.launchPs = {5000000, 0};
  machine.device.scorePs = {20, 0};
  machine.device.kernels = {{DType::BF16, 128, 128, 128, {13000, 0}, {4000, 0}},
                            {DType::BF16, 64, 64, 128, {4000, 0}, {1000, 0}}};
  machine.planPs = {100000000, 0};
  machine.syncPs = {20000000, 0};
  machine.links = {{"inside", 4, {400000000000, 0}, {10000000, 0}},
                   {"across", 8, {25000000000, 0}, {10000000, 0}}};
  return machine;
}

} // namespace sart::test

#endif // SPARSEATTN_TEST_PLANNING_MACHINETESTSUPPORT_H
