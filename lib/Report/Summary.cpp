//===- Summary.cpp - What a page says first, and last ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Charts.h"
#include "Sections.h"

#include "sparseattn-rt/CheckedMath.h"

#include <algorithm>
#include <cmath>

using namespace mlir::sparseattn::report;
using llvm::raw_ostream;
using llvm::StringRef;

namespace {

/// Smallest, largest and mean of a field over the runs that have it.
struct Range {
  double low = INFINITY, high = -INFINITY, sum = 0;
  int64_t count = 0;
  void add(const std::optional<double> &value) {
    if (!value)
      return;
    low = std::min(low, *value);
    high = std::max(high, *value);
    sum += *value;
    ++count;
  }
  double mean() const { return sum / static_cast<double>(count); }
  std::string text(int digits) const {
    std::string first = fixedText(low, digits), last = fixedText(high, digits);
    return first == last ? first : first + " to " + last;
  }
};

Range rangeOf(const ReportModel &model,
              std::optional<double> RunModel::*field) {
  Range range;
  for (const RunModel &run : model.runs)
    range.add(run.*field);
  return range;
}

void writeTile(raw_ostream &os, StringRef id, StringRef title,
               const std::string &value, const std::string &below) {
  os << "<div class=\"tile\" id=\"" << id << "\"><h3>" << title
     << "</h3><div class=\"big\">" << value << "</div><p>" << below
     << "</p></div>\n";
}

void writeCorrect(raw_ostream &os, const ReportModel &model) {
  Range errors = rangeOf(model, &RunModel::maxError);
  int64_t checked = 0, failed = 0, rows = 0;
  bool endless = false;
  double share = 0;
  for (const RunModel &run : model.runs) {
    checked += run.passed.has_value();
    failed += run.passed && !*run.passed;
    endless |= run.passed && !run.maxError;
    int64_t sampled = run.passed ? model.rowsPerHead.value_or(0) : 0;
    rows = sart::saturatingAdd(
        rows,
        run.rowsChecked.value_or(sart::saturatingMul(sampled, model.heads)));
    if (run.maxError && run.errorBound && *run.errorBound > 0)
      share = std::max(share, *run.maxError / *run.errorBound);
  }
  if (checked == 0) {
    writeTile(os, "correct", "Correct?", "not checked",
              "no comparison with the reference was asked for");
    return;
  }
  std::string value = endless ? "not finite" : shortText(errors.high);
  std::string below =
      failed ? "largest error, above its bound in " + countText(failed, "run") +
                   " of " + countText(checked)
             : "largest error, " + shortText(100 * share) + " % of its bound";
  if (rows > 0)
    below += "; " + countText(rows, "row") + " compared";
  writeTile(os, "correct", "Correct?",
            std::string("<span class=\"") + (failed ? "bad" : "good") + "\">" +
                (failed ? "\u2717 " : "\u2713 ") + value + "</span>",
            below);
}

void writeBalanced(raw_ostream &os, const ReportModel &model) {
  int64_t ranks = model.ulysses * model.ring;
  Range before = rangeOf(model, &RunModel::rhoBefore);
  Range after = rangeOf(model, &RunModel::rhoAfter);
  int64_t moves = 0;
  for (const RunModel &run : model.runs)
    moves = sart::saturatingAdd(moves, run.moves.value_or(0));
  if (ranks < 2)
    writeTile(os, "balanced", "Balanced?", "one rank", "nothing to balance");
  else if (before.count && after.count)
    writeTile(os, "balanced", "Balanced?",
              fixedText(before.mean(), 3) + " \u2192 " +
                  fixedText(after.mean(), 3),
              "rho: largest load over mean" +
                  std::string(model.runs.size() > 1 ? ", averaged" : "") +
                  "; " + countText(moves, "move"));
  else
    writeTile(os, "balanced", "Balanced?", "not known",
              "the report has no loads");
}

void writeFast(raw_ostream &os, const ReportModel &model) {
  Range ms = rangeOf(model, &RunModel::ms);
  Range plan = rangeOf(model, &RunModel::planUs);
  std::string below;
  if (model.runs.size() > 1)
    below = "attention in " + countText(int64_t(model.runs.size()), "run");
  else
    below = "attention";
  if (model.denseMs && ms.count && ms.mean() > 0)
    below += ", dense " + fixedText(*model.denseMs / ms.mean(), 1) +
             " times as long";
  if (plan.count)
    below += "; planning " + millisecondsText(plan.mean() / 1e3) +
             (plan.count > 1 ? " each" : "");
  if (model.compileMs)
    below += "; kernels ready in " + millisecondsText(*model.compileMs);
  writeTile(os, "fast", "Fast?",
            ms.count ? millisecondsText(ms.sum) : "not known", below);
}

} // namespace

void mlir::sparseattn::report::writeSummary(raw_ostream &os,
                                            const ReportModel &model) {
  os << "<div class=\"tiles\">\n";
  writeCorrect(os, model);
  Range density = rangeOf(model, &RunModel::density);
  Range kept = rangeOf(model, &RunModel::keptMass);
  std::string below = "of all tiles attended";
  if (density.count > 1)
    below += " (" + density.text(3) + ")";
  if (kept.count)
    below += "; softmax mass kept " + fixedText(kept.mean(), 4);
  writeTile(os, "sparse", "Sparse?",
            density.count ? fixedText(density.mean(), 3) : "not known", below);
  writeBalanced(os, model);
  writeFast(os, model);
  std::optional<double> last;
  for (const RunModel &run : model.runs)
    if (run.psnr)
      last = run.psnr;
  if (last)
    writeTile(
        os, "quality", "Good picture?",
        (model.psnrNoised ? fixedText(*model.psnrNoised, 2) + " \u2192 " : "") +
            fixedText(*last, 2),
        model.psnrNoised ? "PSNR in dB, from the noised input to the result"
                         : "PSNR of the result in dB");
  os << "</div>\n";
}

void mlir::sparseattn::report::writeFacts(raw_ostream &os,
                                          const ReportModel &model,
                                          const Notes &notes) {
  openSection(os, "facts", "What ran", "");
  os << "<div class=\"facts\"><dl>\n";
  auto fact = [&](StringRef name, const std::string &value) {
    if (!value.empty())
      os << "<dt>" << escape(name) << "</dt><dd>" << escape(value) << "</dd>\n";
  };
  fact("layer", model.name);
  fact("heads", countText(model.heads) +
                    (model.kvHeads == model.heads
                         ? ""
                         : " (" + countText(model.kvHeads) + " of k and v)") +
                    ", " + countText(model.headDim, "element") + " each");
  fact("tokens", countText(model.sq, "query token") + ", " +
                     countText(model.skv, "key token") + ", blocks of " +
                     std::to_string(model.blockQ) + " x " +
                     std::to_string(model.blockK) +
                     (model.causal ? ", causal" : ""));
  if (model.order)
    fact("order",
         std::string(sart::toString(model.order->kind)) + " over " +
             countText(model.order->grid[0], "frame") + " of " +
             std::to_string(model.order->grid[1]) + " x " +
             std::to_string(model.order->grid[2]) +
             (model.order->prefix
                  ? ", text before: " + countText(model.order->prefix, "token")
                  : "") +
             (model.order->suffix
                  ? ", text behind: " + countText(model.order->suffix, "token")
                  : ""));
  fact("routing", model.policy);
  if (model.scale)
    fact("scale", shortText(*model.scale));
  fact("element type", model.dtype);
  fact("mesh", countText(model.ulysses * model.ring, "rank") + ": ulysses " +
                   std::to_string(model.ulysses) + " x ring " +
                   std::to_string(model.ring));
  fact("device",
       model.device +
           (model.threads ? ", " + countText(*model.threads, "thread") : ""));
  Range ms = rangeOf(model, &RunModel::ms);
  Range plan = rangeOf(model, &RunModel::planUs);
  if (model.compileMs)
    fact("compile", millisecondsText(*model.compileMs));
  if (plan.count)
    fact("plan",
         millisecondsText(plan.low / 1e3) +
             (plan.count > 1
                  ? " to " + millisecondsText(plan.high / 1e3) + " a run"
                  : ""));
  if (ms.count)
    fact("run", millisecondsText(ms.low) +
                    (ms.count > 1 ? " to " + millisecondsText(ms.high) : ""));
  if (model.denseMs)
    fact("a dense run", millisecondsText(*model.denseMs));
  if (model.ms)
    fact("everything", millisecondsText(*model.ms));
  for (const auto &[name, value] : model.options)
    if (name != "order" && name != "dtype")
      fact(name, value);
  fact("version", model.version.empty() ? "" : "sparseattn " + model.version);
  os << "</dl></div>\n";
  if (!notes.empty()) {
    os << "<ul class=\"notes\" id=\"notes\">\n";
    for (const std::string &note : notes)
      os << "<li>" << escape(note) << "</li>\n";
    os << "</ul>\n";
  }
  os << "</section>\n";
}
