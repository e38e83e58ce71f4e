//===- TimelineSection.cpp - What each rank did, and when -----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Charts.h"
#include "Sections.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace mlir::sparseattn::report;
using llvm::raw_ostream;
using llvm::StringRef;

namespace {

constexpr size_t shownTimelines = 8;
/// What the timelines of a page may take, about.
constexpr size_t mostBytes = 1 << 20;
constexpr double laneWidth = 1080, laneLeft = 60, laneStep = 22,
                 laneHeight = 16;

struct Kind {
  const char *name, *explanation;
  std::vector<const char *> opcodes;
};

const std::array<Kind, 7> &kinds() {
  static const std::array<Kind, 7> all = {{
      {"attend", "sparse attention", {"attend"}},
      {"exchange", "between shards and heads", {"all_to_all", "all_gather"}},
      {"route",
       "pooling and routing",
       {"pool", "route", "augment", "load_mask"}},
      {"plan", "placement for this mask", {"plan"}},
      {"send and receive",
       "heads and kv-blocks",
       {"send", "recv", "put", "signal"}},
      {"merge and copy",
       "within a rank",
       {"merge", "pack", "convert", "release"}},
      {"wait", "for another rank", {"wait", "wait_signal"}},
  }};
  return all;
}

/// Events are named by their opcode, then what it works on.
size_t kindOf(StringRef name) {
  StringRef opcode = name.split(' ').first;
  for (size_t kind = 0; kind < kinds().size(); ++kind)
    for (const char *each : kinds()[kind].opcodes)
      if (opcode == each)
        return kind;
  return 5;
}

std::string at(double value) { return fixedText(value, 2); }

class TimelineWriter {
public:
  TimelineWriter(raw_ostream &os, const TimelineModel &timeline)
      : os(os), timeline(timeline) {
    for (const TimelineModel::Event &event : timeline.events) {
      ranks = std::max(ranks, event.rank + 1);
      end = std::max(end, event.beginNs + event.durationNs);
    }
  }

  void write(const std::string &label) {
    os << "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
          "aria-label=\"Timeline of "
       << label << "\"><div class=\"laneset\">";
    writeLanes(label);
    os << "</div></div>\n";
    writeTable(label);
  }

private:
  double x(int64_t ns) const {
    return laneLeft + (laneWidth - laneLeft - 10) * static_cast<double>(ns) /
                          static_cast<double>(std::max<int64_t>(end, 1));
  }

  void writeLanes(const std::string &label) {
    double height = laneStep * static_cast<double>(ranks) + 34;
    os << "<svg viewBox=\"0 0 " << at(laneWidth) << " " << at(height)
       << "\" role=\"img\" aria-label=\"Instructions of "
       << countText(ranks, "rank") << " over "
       << millisecondsText(static_cast<double>(end) * 1e-6) << ", " << label
       << "; the table below has the sums\">";
    Axis axis(0, static_cast<double>(end) * 1e-6);
    int digits = static_cast<int>(
        std::max(0.0, std::ceil(-std::log10(axis.step) - 1e-6)));
    double floor = laneStep * static_cast<double>(ranks) + 2;
    for (int i = 0; i <= axis.ticks; ++i) {
      double ms = axis.begin + axis.step * i;
      if (ms * 1e6 > static_cast<double>(end) * 1.0001)
        break;
      double place = x(static_cast<int64_t>(ms * 1e6));
      os << "<line class=\"grid\" x1=\"" << at(place) << "\" x2=\"" << at(place)
         << "\" y1=\"0\" y2=\"" << at(floor) << "\"/><text x=\"" << at(place)
         << "\" y=\"" << at(floor + 13) << "\" text-anchor=\"middle\">"
         << fixedText(ms, digits) << "</text>";
    }
    os << "<text x=\"" << at(laneWidth / 2) << "\" y=\"" << at(floor + 28)
       << "\" text-anchor=\"middle\">ms since the run began</text>";
    for (int64_t rank = 0; rank < ranks; ++rank)
      os << "<text x=\"0\" y=\""
         << at(laneStep * static_cast<double>(rank) + 13) << "\">rank " << rank
         << "</text>";
    writeEvents();
    os << "</svg>";
  }

  /// Long ones with a tooltip each; of the short ones the units of the picture
  /// that they touch, as one path for each colour.
  void writeEvents() {
    constexpr auto columns = static_cast<size_t>(laneWidth);
    double shortest = ranks > 16 ? 8 : 2;
    std::vector<std::array<std::vector<bool>, 7>> touched(
        static_cast<size_t>(ranks));
    for (const TimelineModel::Event &event : timeline.events) {
      const std::string &name = timeline.names[static_cast<size_t>(event.name)];
      size_t kind = kindOf(name);
      double from = x(event.beginNs);
      double to = x(event.beginNs + event.durationNs);
      if (to - from < shortest) {
        std::vector<bool> &units =
            touched[static_cast<size_t>(event.rank)][kind];
        units.resize(columns);
        for (auto unit = static_cast<size_t>(from);
             unit < columns && static_cast<double>(unit) <= to; ++unit)
          units[unit] = true;
        continue;
      }
      double y = laneStep * static_cast<double>(event.rank) + 1;
      os << "<rect class=\"f" << kind << "\" x=\"" << at(from) << "\" y=\""
         << at(y) << "\" width=\"" << at(to - from) << "\" height=\""
         << at(laneHeight) << "\"><title>" << escape(name) << ", phase "
         << event.phase << ", "
         << millisecondsText(static_cast<double>(event.durationNs) * 1e-6);
      if (event.tiles > 0)
        os << ", " << countText(event.tiles, "tile");
      if (event.bytes > 0)
        os << ", " << bytesText(event.bytes);
      os << "</title></rect>";
    }
    for (size_t kind = 0; kind < kinds().size(); ++kind) {
      std::string path;
      for (size_t rank = 0; rank < touched.size(); ++rank)
        addRuns(touched[rank][kind], rank, path);
      if (!path.empty())
        os << "<path class=\"f" << kind << "\" d=\"" << path << "\"/>";
    }
  }

  static void addRuns(const std::vector<bool> &units, size_t rank,
                      std::string &path) {
    std::string y = fixedText(laneStep * static_cast<double>(rank) + 1, 0);
    std::string height = fixedText(laneHeight, 0);
    for (size_t first = 0; first < units.size(); ++first) {
      size_t end = first;
      while (end < units.size() && units[end])
        ++end;
      if (end == first)
        continue;
      std::string width = std::to_string(end - first);
      path += "M" + std::to_string(first) + " " + y + "h" + width + "v" +
              height + "h-" + width + "z";
      first = end;
    }
  }

  void writeTable(const std::string &label) {
    std::vector<std::array<double, 7>> sums(static_cast<size_t>(ranks));
    std::array<double, 7> inAll = {};
    for (const TimelineModel::Event &event : timeline.events) {
      size_t kind = kindOf(timeline.names[static_cast<size_t>(event.name)]);
      double ms = static_cast<double>(event.durationNs) * 1e-6;
      sums[static_cast<size_t>(event.rank)][kind] += ms;
      inAll[kind] += ms;
    }
    os << "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
          "aria-label=\"Time of each rank, "
       << label << "\" style=\"margin-top:8px\"><table><thead><tr>"
       << "<th scope=\"col\">ms</th>";
    for (size_t kind = 0; kind < kinds().size(); ++kind)
      if (inAll[kind] > 0)
        os << "<th scope=\"col\"><span class=\"swatch b" << kind << "\"></span>"
           << kinds()[kind].name << "</th>";
    os << "</tr></thead><tbody>\n";
    for (int64_t rank = 0; rank < ranks; ++rank) {
      os << "<tr><th scope=\"row\">rank " << rank << "</th>";
      for (size_t kind = 0; kind < kinds().size(); ++kind)
        if (inAll[kind] > 0) {
          double ms = sums[static_cast<size_t>(rank)][kind];
          os << "<td>" << fixedText(ms, ms < 10 ? 2 : 1) << "</td>";
        }
      os << "</tr>\n";
    }
    os << "</tbody></table></div>\n";
  }

  raw_ostream &os;
  const TimelineModel &timeline;
  int64_t ranks = 0, end = 0; ///< end: ns since the run began, as events are
};

} // namespace

void mlir::sparseattn::report::writeTimelines(raw_ostream &os,
                                              const ReportModel &model,
                                              Notes &notes) {
  std::vector<const RunModel *> runs;
  int64_t leftOut = 0;
  for (const RunModel &run : model.runs)
    if (run.timeline && !run.timeline->events.empty()) {
      runs.push_back(&run);
      leftOut += run.timeline->leftOut;
    }
  if (runs.empty()) {
    notes.push_back("Timeline: the report has no instructions.");
    return;
  }
  openSection(os, "timeline", "Timeline of the ranks",
              "What each rank did, measured. Time in an exchange and in "
              "receiving includes waiting for the other ranks.");
  os << "<div class=\"key\">";
  for (size_t kind = 0; kind < kinds().size(); ++kind)
    os << "<span><span class=\"swatch b" << kind << "\"></span>"
       << kinds()[kind].name << ": " << kinds()[kind].explanation << "</span>";
  os << "</div>\n";
  // The last one first, which is open; then as many as there is room for.
  std::vector<size_t> chosen = spreadOver(runs.size(), shownTimelines);
  std::vector<std::string> written(chosen.size());
  size_t used = 0, shown = 0;
  for (size_t i = chosen.size(); i-- > 0 && (shown == 0 || used < mostBytes);) {
    const RunModel &run = *runs[chosen[i]];
    std::string label = runLabel(model, run);
    llvm::raw_string_ostream part(written[i]);
    part << "<details" << (shown == 0 ? " open=\"open\"" : "") << "><summary>"
         << label << " <span class=\"soft\">"
         << (run.ms ? millisecondsText(*run.ms) : "")
         << "</span></summary><div class=\"inside\">\n";
    TimelineWriter(part, *run.timeline).write(label);
    part << "</div></details>\n";
    part.flush();
    used += written[i].size();
    ++shown;
  }
  for (const std::string &part : written)
    os << part;
  os << "</section>\n";
  if (shown < model.runs.size())
    notes.push_back("Timelines: " + std::to_string(shown) + " of " +
                    countText(int64_t(model.runs.size()), "run") +
                    ", to keep the file small.");
  if (leftOut > 0)
    notes.push_back("Timelines: " + countText(leftOut, "short instruction") +
                    " are left out.");
}
