//===- MachineUnits.h - Units and ranges of machine files -------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_PLANNING_MACHINEUNITS_H
#define SPARSEATTN_RT_PLANNING_MACHINEUNITS_H

#include <cstdint>

namespace sart {

/// What a number of a machine may be, in the unit that it is kept in.
struct MachineRange {
  int64_t least, most;
  const char *unit;
};

constexpr MachineRange timeRange = {0, 10000000000000, " picoseconds"};
constexpr MachineRange positiveTimeRange = {1, 10000000000000, " picoseconds"};
constexpr MachineRange rateRange = {1000000, 1000000000000000,
                                    " bytes a second"};
constexpr MachineRange countRange = {1, 1 << 20, ""};

/// Kept units per unit of the file.
constexpr double perNs = 1e3, perUs = 1e6, perGbPerS = 1e9, perCount = 1;

} // namespace sart

#endif // SPARSEATTN_RT_PLANNING_MACHINEUNITS_H
