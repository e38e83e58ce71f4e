//===- Sections.h - The parts of a page -------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_REPORT_SECTIONS_H
#define SPARSEATTN_LIB_REPORT_SECTIONS_H

#include "HtmlText.h"
#include "ReportModel.h"

#include "llvm/Support/raw_ostream.h"

namespace mlir::sparseattn::report {

/// What a page leaves out or draws smaller, a sentence each.
using Notes = std::vector<std::string>;

/// "step 1, layer 2".
std::string runLabel(const ReportModel &model, const RunModel &run);
/// At most `most` of 0 .. count - 1, evenly spread, first and last included.
std::vector<size_t> spreadOver(size_t count, size_t most);
/// The head of a section, which ends with "</section>".
void openSection(llvm::raw_ostream &os, llvm::StringRef id,
                 llvm::StringRef title, llvm::StringRef explanation);

/// The page's style sheet.
extern const char *const styleSheet;

// Each writes a section, or nothing when the report has nothing for it.
void writeSummary(llvm::raw_ostream &os, const ReportModel &model);
void writeSteps(llvm::raw_ostream &os, const ReportModel &model);
void writeLoads(llvm::raw_ostream &os, const ReportModel &model, Notes &notes);
void writeMasks(llvm::raw_ostream &os, const ReportModel &model, Notes &notes);
void writeLinks(llvm::raw_ostream &os, const ReportModel &model, Notes &notes);
void writeTimelines(llvm::raw_ostream &os, const ReportModel &model,
                    Notes &notes);
void writeRuns(llvm::raw_ostream &os, const ReportModel &model, Notes &notes);
void writeFacts(llvm::raw_ostream &os, const ReportModel &model,
                const Notes &notes);

} // namespace mlir::sparseattn::report

#endif // SPARSEATTN_LIB_REPORT_SECTIONS_H
