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

/// The report of the layer's last run as JSON (include/sparseattn/Report has
/// the schema). `title` says what was run. `check` may be null (then kept_mass
/// and max_abs_error are null).
Expected<std::string> makeReport(sa_layer *layer,
                                 const sa_compile_info &compile,
                                 const std::string &title,
                                 const CheckResult *check);

/// The last run in words, with times on a machine (text of a machine file)
/// unless that is empty.
Expected<std::string> explainRun(sa_layer *layer, const std::string &machine);

/// A report as an HTML page.
Expected<std::string> makeReportPage(const std::string &report);

} // namespace sart

#endif // SPARSEATTN_TOOLS_RUN_REPORT_H
