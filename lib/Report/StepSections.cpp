//===- StepSections.cpp - Figures of runs: steps, loads, links, table -----===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Charts.h"
#include "Sections.h"

#include <algorithm>
#include <cmath>

using namespace mlir::sparseattn::report;
using llvm::raw_ostream;

namespace {

constexpr size_t shownLoads = 16, tableRows = 400;

using Field = std::optional<double> RunModel::*;

/// One line per layer, or their mean within a band when there are many. One
/// step: along the layers.
void addSeries(const ReportModel &model, Field field, const std::string &name,
               int colour, bool dashed, std::vector<Series> &series) {
  auto prefixed = [&](const std::string &rest) {
    return name.empty() ? rest : rest.empty() ? name : name + ", " + rest;
  };
  auto steps = static_cast<size_t>(model.steps);
  if (model.steps == 1) {
    Series line;
    line.name = name.empty() ? "run" : name;
    line.values.resize(static_cast<size_t>(model.layers));
    line.colour = colour;
    line.dashed = dashed;
    for (const RunModel &run : model.runs)
      line.values[static_cast<size_t>(run.layer)] = run.*field;
    series.push_back(std::move(line));
    return;
  }
  if (model.layers <= 2) {
    for (int64_t layer = 0; layer < model.layers; ++layer) {
      Series line;
      line.name =
          prefixed(model.layers > 1 ? "layer " + std::to_string(layer + 1)
                   : name.empty()   ? "layer 1"
                                    : "");
      line.values.resize(steps);
      line.colour = colour + static_cast<int>(layer);
      line.dashed = dashed;
      for (const RunModel &run : model.runs)
        if (run.layer == layer)
          line.values[static_cast<size_t>(run.step)] = run.*field;
      series.push_back(std::move(line));
    }
    return;
  }
  Series line;
  line.name =
      prefixed("mean and range of " + std::to_string(model.layers) + " layers");
  line.values.resize(steps);
  line.low.resize(steps);
  line.high.resize(steps);
  line.colour = colour;
  line.dashed = dashed;
  std::vector<double> counts(steps);
  for (const RunModel &run : model.runs) {
    auto step = static_cast<size_t>(run.step);
    const std::optional<double> &value = run.*field;
    if (!value)
      continue;
    counts[step] += 1;
    line.values[step] = line.values[step].value_or(0) + *value;
    line.low[step] = std::min(line.low[step].value_or(*value), *value);
    line.high[step] = std::max(line.high[step].value_or(*value), *value);
  }
  for (size_t step = 0; step < steps; ++step)
    if (line.values[step])
      *line.values[step] /= counts[step];
  series.push_back(std::move(line));
}

/// loads / mean, of ranks that fit each other.
bool hasLoads(const RunModel &run) {
  return run.loadsAfter.size() > 1 &&
         (run.loadsBefore.empty() ||
          run.loadsBefore.size() == run.loadsAfter.size());
}

} // namespace

std::string mlir::sparseattn::report::runLabel(const ReportModel &model,
                                               const RunModel &run) {
  if (model.runs.size() == 1)
    return "the run";
  return "step " + std::to_string(run.step + 1) + ", layer " +
         std::to_string(run.layer + 1);
}

std::vector<size_t> mlir::sparseattn::report::spreadOver(size_t count,
                                                         size_t most) {
  std::vector<size_t> chosen;
  size_t wanted = std::min(count, most);
  for (size_t i = 0; i < wanted; ++i)
    chosen.push_back(wanted < 2 ? count - 1 : i * (count - 1) / (wanted - 1));
  return chosen;
}

void mlir::sparseattn::report::writeSteps(raw_ostream &os,
                                          const ReportModel &model) {
  if (model.runs.size() < 2)
    return;
  bool many = model.steps > 1;
  openSection(os, "steps", many ? "Over the steps" : "Over the layers", "");
  os << "<div class=\"cards charts\">\n";
  struct Plan {
    const char *id, *title, *unit;
    int digits;
    std::optional<double> low;
    std::vector<std::pair<const char *, Field>> fields;
  };
  for (const Plan &plan : {Plan{"chart-rho",
                                "Imbalance rho",
                                "largest load / mean load",
                                2,
                                1.0,
                                {{"before", &RunModel::rhoBefore},
                                 {"after", &RunModel::rhoAfter}}},
                           Plan{"chart-density",
                                "Density",
                                "share of tiles attended",
                                2,
                                0.0,
                                {{"", &RunModel::density}}},
                           Plan{"chart-mass",
                                "Softmax mass kept",
                                "share, sampled rows",
                                2,
                                {},
                                {{"", &RunModel::keptMass}}},
                           Plan{"chart-psnr",
                                "PSNR",
                                "dB against the clean clip",
                                1,
                                {},
                                {{"", &RunModel::psnr}}},
                           Plan{"chart-ms",
                                "Time",
                                "ms of attention",
                                0,
                                0.0,
                                {{"", &RunModel::ms}}}}) {
    LineChart chart = {plan.id, plan.title,  plan.unit, many ? "step" : "layer",
                       {},      plan.digits, plan.low};
    int colour = 0;
    for (const auto &[name, field] : plan.fields) {
      addSeries(model, field, name, colour, field == &RunModel::rhoBefore,
                chart.series);
      if (model.steps == 1 || model.layers > 2)
        ++colour;
    }
    writeLineChart(os, chart);
  }
  os << "</div></section>\n";
}

void mlir::sparseattn::report::writeLoads(raw_ostream &os,
                                          const ReportModel &model,
                                          Notes &notes) {
  std::vector<const RunModel *> runs;
  for (const RunModel &run : model.runs)
    if (hasLoads(run))
      runs.push_back(&run);
  if (runs.empty())
    return;
  openSection(os, "loads", "Load per rank",
              "Tiles that each rank attends: with every head where it began, "
              "and after balancing. The dashed line is the mean.");
  os << "<div class=\"key\"><span><span class=\"swatch hollow\"></span>before "
        "balancing</span><span><span class=\"swatch b0\"></span>after "
        "balancing</span></div><div class=\"cards\">\n";
  if (runs.size() > shownLoads)
    notes.push_back("Load bars: " + std::to_string(shownLoads) + " of " +
                    countText(int64_t(runs.size()), "run") +
                    ", evenly spread; the table of runs has rho of more.");
  for (size_t i : spreadOver(runs.size(), shownLoads)) {
    const RunModel &run = *runs[i];
    std::string label = runLabel(model, run);
    os << "<figure><figcaption><b>" << label << "</b> <span class=\"soft\">rho "
       << orDash(run.rhoBefore, 3) << " \u2192 " << orDash(run.rhoAfter, 3);
    if (run.moves)
      os << ", " << countText(*run.moves, "move");
    os << "</span></figcaption>";
    writeLoadChart(os, label, run.loadsBefore, run.loadsAfter);
    os << "</figure>\n";
  }
  os << "</div></section>\n";
}

void mlir::sparseattn::report::writeLinks(raw_ostream &os,
                                          const ReportModel &model,
                                          Notes &notes) {
  size_t ranks = 0, counted = 0;
  std::vector<std::vector<double>> sums;
  double ulysses = 0, moved = 0, routed = 0, dense = 0;
  for (const RunModel &run : model.runs) {
    ulysses += static_cast<double>(run.bytesUlysses.value_or(0));
    moved += static_cast<double>(run.bytesMoved.value_or(0));
    routed += static_cast<double>(run.bytesRouted.value_or(0));
    dense += static_cast<double>(run.bytesDenseRing.value_or(0));
    if (run.links.size() < 2 || (ranks && run.links.size() != ranks))
      continue;
    ranks = run.links.size();
    ++counted;
    sums.resize(ranks, std::vector<double>(ranks));
    for (size_t from = 0; from < ranks; ++from)
      for (size_t to = 0; to < ranks; ++to)
        sums[from][to] += static_cast<double>(run.links[from][to]);
  }
  if (ranks < 2)
    return;
  auto text = [](double bytes) {
    return bytesText(static_cast<int64_t>(std::min(bytes, 9e18)));
  };
  openSection(
      os, "links", "Bytes per link",
      "Payload of q, k, v and o that crossed from the rank of the row "
      "to the rank of the column" +
          std::string(counted > 1
                          ? ", over " + countText(int64_t(counted)) + " runs"
                          : "") +
          ". Exchanged between shards and heads " + text(ulysses) +
          ", with heads that moved " + text(moved) +
          ", kv-blocks over the ring " + text(routed) +
          "; a dense ring over all ranks would carry " + text(dense) + ".");
  double largest = 1;
  for (const std::vector<double> &row : sums)
    largest = std::max(largest, *std::max_element(row.begin(), row.end()));
  os << "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"Bytes per link\"><table class=\"links\"><thead><tr>"
        "<th scope=\"col\">from \\ to</th>";
  for (size_t to = 0; to < ranks; ++to)
    os << "<th scope=\"col\">rank " << to << "</th>";
  os << "<th scope=\"col\">sent</th></tr></thead><tbody>\n";
  for (size_t from = 0; from < ranks; ++from) {
    double sent = 0;
    os << "<tr><th scope=\"row\">rank " << from << "</th>";
    for (size_t to = 0; to < ranks; ++to) {
      sent += sums[from][to];
      if (from == to) {
        os << "<td class=\"soft\">\u2013</td>";
        continue;
      }
      os << "<td style=\"background:rgba(var(--heat),"
         << fixedText(0.5 * sums[from][to] / largest, 2) << ")\">"
         << text(sums[from][to]) << "</td>";
    }
    os << "<td><b>" << text(sent) << "</b></td></tr>\n";
  }
  os << "</tbody></table></div></section>\n";
  if (counted < model.runs.size())
    notes.push_back("Bytes per link: " + std::to_string(counted) + " of " +
                    countText(int64_t(model.runs.size()), "run") +
                    " have them.");
}

void mlir::sparseattn::report::writeRuns(raw_ostream &os,
                                         const ReportModel &model,
                                         Notes &notes) {
  openSection(os, "runs", model.runs.size() > 1 ? "Every run" : "The run", "");
  os << "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"Figures of the runs\"><table><thead><tr>";
  bool sigma = false, psnr = false;
  for (const RunModel &run : model.runs) {
    sigma |= run.sigma.has_value();
    psnr |= run.psnr.has_value();
  }
  os << "<th scope=\"col\">step</th><th scope=\"col\">layer</th>";
  if (sigma)
    os << "<th scope=\"col\">noise</th>";
  for (const char *name :
       {"density", "tiles", "rho before", "rho after", "moves", "exchanged",
        "moved", "ring", "mass kept", "largest error", "bound"})
    os << "<th scope=\"col\">" << name << "</th>";
  if (psnr)
    os << "<th scope=\"col\">PSNR, dB</th>";
  os << "<th scope=\"col\">plan</th><th scope=\"col\">run</th>"
        "</tr></thead><tbody>\n";
  for (size_t i : spreadOver(model.runs.size(), tableRows)) {
    const RunModel &run = model.runs[i];
    auto cell = [&](const std::string &text) {
      os << "<td>" << text << "</td>";
    };
    auto bytes = [&](const std::optional<int64_t> &value) {
      cell(value ? bytesText(*value) : "\u2013");
    };
    auto count = [&](const std::optional<int64_t> &value) {
      cell(value ? countText(*value) : "\u2013");
    };
    os << "<tr><td>" << run.step + 1 << "</td><td>" << run.layer + 1 << "</td>";
    if (sigma)
      cell(orDash(run.sigma, 3));
    cell(orDash(run.density, 3));
    count(run.tiles);
    cell(orDash(run.rhoBefore, 3));
    cell(orDash(run.rhoAfter, 3));
    count(run.moves);
    bytes(run.bytesUlysses);
    bytes(run.bytesMoved);
    bytes(run.bytesRouted);
    cell(orDash(run.keptMass, 4));
    std::string error = run.maxError ? shortText(*run.maxError)
                        : run.passed ? "not finite"
                                     : "\u2013";
    cell(run.passed && !*run.passed
             ? "<b class=\"bad\">\u2717 " + error + "</b>"
             : error);
    cell(run.errorBound ? shortText(*run.errorBound) : "\u2013");
    if (psnr)
      cell(orDash(run.psnr, 2));
    cell(run.planUs ? millisecondsText(*run.planUs / 1e3) : "\u2013");
    cell(run.ms ? millisecondsText(*run.ms) : "\u2013");
    os << "</tr>\n";
  }
  os << "</tbody></table></div></section>\n";
  if (model.runs.size() > tableRows)
    notes.push_back("Table of runs: " + std::to_string(tableRows) + " of " +
                    countText(int64_t(model.runs.size()), "run") +
                    ", evenly spread.");
}
