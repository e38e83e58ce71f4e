//===- RunReport.h - One run of a layer as JSON -----------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_REPORT_RUNREPORT_H
#define SPARSEATTN_REPORT_RUNREPORT_H

#include "sparseattn-rt/Order.h"
#include "sparseattn-rt/Program.h"
#include "sparseattn-rt/Stats.h"

#include "llvm/Support/JSON.h"

#include <optional>
#include <string>

namespace mlir::sparseattn {

/// What a report is made of.
struct RunFacts {
  const sart::Program &program; ///< shape, mesh, policy, scale, name
  const sart::RunStats &stats;
  const sart::BlockMask *mask = nullptr; ///< null: not reported
  std::optional<sart::Order> order = {}; ///< of the mask's tokens
  std::string version = {}, device = {};
  int64_t threads = 0;
  double compileMs = 0;
};

/// A report (Report.md beside this header has the schema) of one step of one
/// layer. What only a host knows (errors, kept mass, PSNR) is null.
llvm::json::Object makeRunReport(const RunFacts &facts);

/// The mask as a report holds it: tiles per head, pictures of bounded size, and
/// the whole kv-selection of a few q-blocks. Linear in the mask's tiles.
llvm::json::Object makeMaskReport(const sart::BlockMask &mask);

} // namespace mlir::sparseattn

#endif // SPARSEATTN_REPORT_RUNREPORT_H
