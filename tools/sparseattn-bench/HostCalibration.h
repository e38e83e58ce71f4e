//===- HostCalibration.h - Launches and copies of this machine --*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_HOSTCALIBRATION_H
#define SPARSEATTN_TOOLS_BENCH_HOSTCALIBRATION_H

#include "sparseattn-rt/Machine.h"

namespace sart {

/// Measures on this machine, and puts into `machine` under `source`: what it
/// takes to start work on `threads` threads (0: one per core), the rate of its
/// memory, and rate and latency of transfers between two ranks of the local
/// transport (the innermost link).
Status measureHost(Machine &machine, int32_t source, int64_t threads);

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_HOSTCALIBRATION_H
