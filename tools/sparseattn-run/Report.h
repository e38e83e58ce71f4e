//===- Report.h - report.json of one layer ----------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_RUN_REPORT_H
#define SPARSEATTN_TOOLS_RUN_REPORT_H

#include "Check.h"

namespace sart {

/// The report of one run, in the schema of a schedule with one step and one
/// layer. `check` may be null (then kept_mass and max_abs_error are null).
std::string makeReport(const sa_layer_info &info,
                       const sa_compile_info &compile,
                       const sa_run_stats &stats, const CheckResult *check);

} // namespace sart

#endif // SPARSEATTN_TOOLS_RUN_REPORT_H
