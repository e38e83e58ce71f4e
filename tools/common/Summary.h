//===- Summary.h - The figures of one run as text ---------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_COMMON_SUMMARY_H
#define SPARSEATTN_TOOLS_COMMON_SUMMARY_H

#include "Check.h"

namespace sart {

/// Shape, density, loads, bytes and times of one run, a line each. `check` may
/// be null.
std::string makeSummary(const sa_layer_info &info, const sa_run_stats &stats,
                        const CheckResult *check);

} // namespace sart

#endif // SPARSEATTN_TOOLS_COMMON_SUMMARY_H
