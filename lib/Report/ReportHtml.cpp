//===- ReportHtml.cpp - A report as a page --------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Report/ReportHtml.h"

#include "Sections.h"

using namespace mlir::sparseattn::report;
using llvm::raw_ostream;
using llvm::StringRef;

void mlir::sparseattn::report::openSection(raw_ostream &os, StringRef id,
                                           StringRef title,
                                           StringRef explanation) {
  os << "<section id=\"" << id << "\" aria-labelledby=\"" << id
     << "-title\"><h2 id=\"" << id << "-title\">" << escape(title) << "</h2>\n";
  if (!explanation.empty())
    os << "<p>" << escape(explanation) << "</p>\n";
}

/// Shape, order, mesh and device in one line.
static std::string subtitle(const ReportModel &model) {
  std::string text =
      countText(model.heads, "head") + " \u00d7 " +
      std::to_string(model.headDim) + ", " +
      (model.sq == model.skv ? countText(model.sq, "token")
                             : countText(model.sq, "query token") + " and " +
                                   countText(model.skv, "key token"));
  if (model.order)
    text += " in " + std::string(sart::toString(model.order->kind)) +
            " order over " + std::to_string(model.order->grid[0]) + " \u00d7 " +
            std::to_string(model.order->grid[1]) + " \u00d7 " +
            std::to_string(model.order->grid[2]);
  text += ", blocks " + std::to_string(model.blockQ) + " \u00d7 " +
          std::to_string(model.blockK);
  if (model.causal)
    text += ", causal";
  if (!model.policy.empty())
    text += ", " + model.policy;
  if (!model.dtype.empty())
    text += "; " + model.dtype;
  if (!model.device.empty())
    text += " on " + model.device;
  text += ", " + countText(model.ulysses * model.ring, "rank");
  if (model.ulysses * model.ring > 1)
    text += " (ulysses " + std::to_string(model.ulysses) + " \u00d7 ring " +
            std::to_string(model.ring) + ")";
  return text;
}

llvm::Expected<std::string>
mlir::sparseattn::makeReportHtml(llvm::StringRef json) {
  llvm::Expected<ReportModel> read = readReport(json);
  if (!read)
    return read.takeError();
  const ReportModel &model = *read;
  std::string name = model.title.empty() ? model.name : model.title;
  if (name.empty())
    name = "attention";

  Notes notes;
  std::string body;
  llvm::raw_string_ostream sections(body);
  struct Part {
    const char *id, *link;
    size_t size;
  };
  std::vector<Part> parts;
  auto add = [&](const char *id, const char *link, auto write) {
    size_t before = body.size();
    write();
    sections.flush();
    if (body.size() > before)
      parts.push_back({id, link, body.size() - before});
  };
  add("steps", model.steps > 1 ? "Steps" : "Layers",
      [&] { writeSteps(sections, model); });
  add("loads", "Load", [&] { writeLoads(sections, model, notes); });
  add("masks", "Masks", [&] { writeMasks(sections, model, notes); });
  add("links", "Links", [&] { writeLinks(sections, model, notes); });
  add("timeline", "Timeline", [&] { writeTimelines(sections, model, notes); });
  add("runs", "Runs", [&] { writeRuns(sections, model, notes); });
  add("facts", "What ran", [&] { writeFacts(sections, model, notes); });

  std::string page;
  llvm::raw_string_ostream os(page);
  os << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\"/>\n<title>"
     << escape(name) << " \u2013 sparseattn report</title>\n<style>"
     << styleSheet << "</style></head>\n<body><div class=\"page\">\n"
     << "<header><p class=\"eyebrow\">sparseattn report</p><h1>" << escape(name)
     << "</h1>\n<p>" << escape(subtitle(model)) << "</p></header>\n";
  writeSummary(os, model);
  os << "<nav aria-label=\"Sections\">";
  for (const Part &part : parts)
    os << "<a href=\"#" << part.id << "\">" << part.link << "</a> ";
  os << "</nav>\n"
     << body << "<footer>Written by sparseattn"
     << (model.version.empty() ? "" : " " + escape(model.version))
     << ". Everything here comes from the report's JSON.</footer>\n"
        "</div></body></html>\n";
  return page;
}
