//===- ReportHtml.h - A report as a page ------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_REPORT_REPORTHTML_H
#define SPARSEATTN_REPORT_REPORTHTML_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::sparseattn {

/// A report (JSON, schema in Report.md) as one HTML page that needs nothing
/// beside itself: styles and SVG inline, pictures as PNG data, no script. What
/// the report lacks is left out or explained; what is too much is reduced, and
/// the page says so. Refuses text that is no JSON object, a schema other than
/// 1, a report without a run, and one that nests too deeply or has more than
/// 1024 ranks.
llvm::Expected<std::string> makeReportHtml(llvm::StringRef json);

} // namespace mlir::sparseattn

#endif // SPARSEATTN_REPORT_REPORTHTML_H
