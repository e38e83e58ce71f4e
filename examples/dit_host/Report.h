//===- Report.h - What the host says and writes -----------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_EXAMPLES_DITHOST_REPORT_H
#define SPARSEATTN_EXAMPLES_DITHOST_REPORT_H

#include "Denoiser.h"

#include <string>

namespace dit {

/// Three lines about one run of one layer.
std::string layerText(const LayerRecord &record, const Options &options);

/// Two lines about the whole schedule.
std::string summaryText(const Denoised &denoised);

/// report.json. Bytes are those that cross between ranks, over all ranks;
/// kept_mass is the mean over the sampled rows of exp(lse_sparse - lse_dense);
/// psnr is in dB against the clean clip; times are in the unit of their name.
/// What was not measured (--no-check) is null. `title` says what was denoised.
std::string reportJson(const Denoised &denoised, const Options &options,
                       const std::array<int64_t, 3> &grid,
                       const std::string &title);

/// The library's report of a run as it is kept: of a long schedule only some
/// runs keep their mask and timeline.
std::string boundedReport(const std::string &report, size_t run, size_t runs);

/// report.html, made of report.json.
std::string reportPage(const std::string &json);

/// trace.json, for Perfetto.
std::string traceJson(const Denoised &denoised);

} // namespace dit

#endif // SPARSEATTN_EXAMPLES_DITHOST_REPORT_H
