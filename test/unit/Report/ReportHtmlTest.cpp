//===- ReportHtmlTest.cpp - A report as a page ----------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Report/ReportHtml.h"
#include "sparseattn/Report/RunReport.h"

#include "gtest/gtest.h"

using namespace mlir::sparseattn;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

namespace {

std::string textOf(Object object) {
  std::string text;
  llvm::raw_string_ostream(text) << Value(std::move(object));
  return text;
}

/// The page; fails the test when there is none.
std::string pageOf(Object report) {
  llvm::Expected<std::string> page = makeReportHtml(textOf(std::move(report)));
  EXPECT_TRUE(bool(page)) << llvm::toString(page.takeError());
  return page ? *page : "";
}

std::string errorOf(llvm::StringRef json) {
  llvm::Expected<std::string> page = makeReportHtml(json);
  return page ? "no error" : llvm::toString(page.takeError());
}

bool has(const std::string &page, const std::string &part) {
  return page.find(part) != std::string::npos;
}

int64_t countOf(const std::string &page, const std::string &part) {
  int64_t count = 0;
  for (size_t at = page.find(part); at != std::string::npos;
       at = page.find(part, at + 1))
    ++count;
  return count;
}

Object reportOf(Array steps) {
  return Object{{"schema", 1}, {"steps", std::move(steps)}};
}

Object step(Object run) { return Object{{"layers", Array{std::move(run)}}}; }

/// Nothing that a reader would take for a fault of the page.
void expectClean(const std::string &page) {
  std::string body = page.substr(page.find("</style>"));
  // The letters of pictures say anything.
  const std::string picture = "src=\"data:";
  for (size_t at = body.find(picture); at != std::string::npos;
       at = body.find(picture, at + 1))
    body.erase(at + picture.size(),
               body.find('"', at + picture.size()) - at - picture.size());
  for (const char *fault : {">nan", ">-nan", ">inf", " nan", " inf ", "null",
                            "undefined", "NaN", "\"nan", "\"inf", "-inf"})
    EXPECT_FALSE(has(body, fault)) << fault;
}

} // namespace

TEST(ReportHtml, RefusesWhatIsNoReport) {
  EXPECT_EQ(errorOf("[]"), "report: got JSON of another kind, expected an "
                           "object");
  EXPECT_EQ(errorOf("{}"), "schema of the report: got none, expected 1");
  EXPECT_EQ(errorOf(R"({"schema":2})"),
            "schema of the report: got '2', expected 1");
  EXPECT_EQ(errorOf(R"({"schema":1})"),
            "runs of the report: got none, expected steps[].layers[] with at "
            "least one");
  EXPECT_EQ(errorOf(R"({"schema":1,"steps":[{"layers":[]},3]})"),
            "runs of the report: got none, expected steps[].layers[] with at "
            "least one");
  std::string error = errorOf("{\"schema\":1");
  EXPECT_TRUE(has(error, "report: got text that is not JSON (")) << error;
  EXPECT_TRUE(has(error, "), expected a JSON object")) << error;
  EXPECT_TRUE(has(errorOf(""), "not JSON"));
  EXPECT_TRUE(has(errorOf("{\"schema\":1,\"name\":\"\xff\"}"), "not JSON"));
}

TEST(ReportHtml, RefusesNestingWithoutEnd) {
  for (const char *open : {"[", "{\"a\":"}) {
    std::string text = "{\"schema\":1,\n\"a\":";
    for (int i = 0; i < 100000; ++i)
      text += open;
    EXPECT_EQ(errorOf(text), "report: line 2: nesting of the text: got more "
                             "than 256, expected at most that");
  }
}

TEST(ReportHtml, RefusesMoreRanksThanAPageCanShow) {
  auto meshOf = [](int64_t ulysses, int64_t ring) {
    Object report = reportOf(Array{step(Object{})});
    report["mesh"] = Object{{"ulysses", ulysses}, {"ring", ring}};
    return textOf(std::move(report));
  };
  EXPECT_EQ(errorOf(meshOf(1024, 1)), "no error");
  EXPECT_EQ(errorOf(meshOf(32, 32)), "no error");
  int64_t huge = int64_t(1) << 50;
  EXPECT_EQ(errorOf(meshOf(huge, huge)),
            "mesh of the report: got ulysses 1125899906842624 and ring "
            "1125899906842624, expected at most 1024 ranks");
  EXPECT_EQ(errorOf(meshOf(1025, 0)),
            "mesh of the report: got ulysses 1025 and ring 0, expected at most "
            "1024 ranks");
  EXPECT_EQ(errorOf(meshOf(33, 32)),
            "mesh of the report: got ulysses 33 and ring 32, expected at most "
            "1024 ranks");
  for (const char *key : {"loads", "loads_after", "link_bytes"}) {
    Object run{{key, Array(std::vector<int64_t>(1025, 1))}};
    EXPECT_EQ(errorOf(textOf(reportOf(Array{step(std::move(run))}))),
              std::string(key) + " of the report: got 1025 ranks, expected at "
                                 "most 1024");
  }
}

TEST(ReportHtml, RowsBeyond64BitsAreTheMost) {
  int64_t huge = int64_t(1) << 50;
  Object report = reportOf(Array{step(Object{
      {"max_abs_error", 1}, {"max_abs_error_bound", 2}, {"moves", huge}})});
  report["sampled_rows_per_head"] = huge;
  report["shape"] = Object{{"heads", huge}};
  EXPECT_TRUE(has(pageOf(std::move(report)), "9,223,372,036,854,775,807 rows"));
}

TEST(ReportHtml, CellsBeyondEveryMaskCountAsMissing) {
  auto pageOfCell = [](int64_t cell) {
    return pageOf(reportOf(
        Array{step(Object{{"mask", Object{{"q_blocks", 1},
                                          {"kv_blocks", 1},
                                          {"levels", 1},
                                          {"cell", Array{cell, cell}},
                                          {"tiles", Array{1}},
                                          {"heads", Array{0}},
                                          {"cells", Array{"gA=="}}}}})}));
  };
  EXPECT_TRUE(has(pageOfCell(int64_t(1) << 20), "<section id=\"masks\""));
  EXPECT_FALSE(has(pageOfCell(int64_t(1) << 50), "<section id=\"masks\""));
}

TEST(ReportHtml, TimelinesBeginWithTheRun) {
  // One event, from 8 to 10 ms: in the last fifth of the lane.
  Object timeline{{"names", Array{"attend"}},
                  {"events", Array{Array{0, 0, 0, 8000000, 2000000, 0, 0}}}};
  std::string page =
      pageOf(reportOf(Array{step(Object{{"timeline", std::move(timeline)}})}));
  EXPECT_TRUE(has(page, "Instructions of 1 rank over 10 ms")) << page;
  EXPECT_TRUE(has(page, "<rect class=\"f0\" x=\"868.00\" y=\"1.00\" "
                        "width=\"202.00\""));
}

TEST(ReportHtml, EverythingMissing) {
  std::string page = pageOf(reportOf(Array{step(Object{})}));
  expectClean(page);
  EXPECT_TRUE(has(page, "not checked"));
  EXPECT_TRUE(has(page, "one rank"));
  EXPECT_TRUE(has(page, "Masks: the report has none that could be drawn."));
  EXPECT_TRUE(has(page, "Timeline: the report has no instructions."));
  for (const char *section : {"steps", "loads", "masks", "links", "timeline"})
    EXPECT_FALSE(has(page, std::string("<section id=\"") + section)) << section;
  EXPECT_TRUE(has(page, "<section id=\"runs\""));
}

TEST(ReportHtml, WrongTypesCountAsMissing) {
  Object run{{"density", "much"},
             {"loads", Array{"a", 3}},
             {"loads_after", 7},
             {"rho_before", Array{}},
             {"link_bytes", Array{Array{1, 2}, Array{3}}},
             {"mask", Object{{"q_blocks", -1}}},
             {"timeline", Object{{"events", Array{1}}, {"names", Array{}}}},
             {"ms", 1e300},
             {"moves", -4}};
  std::string page = pageOf(Object{{"schema", 1},
                                   {"name", 3},
                                   {"shape", "none"},
                                   {"mesh", Object{{"ulysses", "many"}}},
                                   {"order", Object{{"kind", "spiral"}}},
                                   {"steps", Array{step(std::move(run))}}});
  expectClean(page);
  EXPECT_FALSE(has(page, "<section id=\"loads\""));
}

TEST(ReportHtml, EscapesWhatComesFromOutside) {
  const char *evil = "<script>alert(\"x\" + 'y')</script>&\x01";
  Object timeline{{"names", Array{evil}},
                  {"events", Array{Array{0, 0, 0, 0, 1000000, 0, 0}}}};
  Object report =
      reportOf(Array{step(Object{{"timeline", std::move(timeline)}})});
  for (const char *key :
       {"title", "name", "device", "dtype", "policy", "version"})
    report[key] = evil;
  report["options"] = Object{{evil, evil}};
  std::string page = pageOf(std::move(report));
  EXPECT_FALSE(has(page, "<script"));
  EXPECT_FALSE(has(page, "alert(\""));
  EXPECT_FALSE(has(page, "'y'"));
  EXPECT_FALSE(has(page, "\x01"));
  EXPECT_TRUE(has(page, "<h1>&lt;script&gt;alert(&quot;x&quot; + &#39;y&#39;)"
                        "&lt;/script&gt;&amp;&#65533;</h1>"));
  // In an event's tooltip too.
  EXPECT_TRUE(has(page, "<title>&lt;script&gt;"));
}

TEST(ReportHtml, NeedsNothingBesideItself) {
  std::string page = pageOf(reportOf(Array{step(Object{{"density", 0.5}})}));
  for (const char *part : {"http:", "https:", "<script", "<link", "url(",
                           "@import", "src=\"http", "//"})
    EXPECT_FALSE(has(page, part)) << part;
}

TEST(ReportHtml, SaysWhetherItWasRight) {
  auto pageWith = [](Object run) {
    return pageOf(reportOf(Array{step(std::move(run))}));
  };
  std::string right = pageWith(Object{{"max_abs_error", 3e-5},
                                      {"max_abs_error_bound", 1e-3},
                                      {"rows_checked", 64}});
  EXPECT_TRUE(has(right, "<span class=\"good\">\u2713 3.0e-05</span>"));
  EXPECT_TRUE(has(right, "largest error, 3 % of its bound; 64 rows compared"));
  std::string wrong =
      pageWith(Object{{"max_abs_error", 0.5}, {"max_abs_error_bound", 0.25}});
  EXPECT_TRUE(has(wrong, "<span class=\"bad\">\u2717 0.5</span>"));
  EXPECT_TRUE(has(wrong, "above its bound in 1 run of 1"));
  // JSON has no NaN: the error is null, and the check has failed.
  std::string endless = pageWith(Object{{"max_abs_error", nullptr},
                                        {"max_abs_error_bound", 0.25},
                                        {"check_passed", false}});
  EXPECT_TRUE(has(endless, "<span class=\"bad\">\u2717 not finite</span>"));
  expectClean(endless);
}

TEST(ReportHtml, ShowsTheFiguresOfTheRuns) {
  Array steps;
  for (int i = 0; i < 2; ++i)
    steps.push_back(
        step(Object{{"density", 0.25 + 0.25 * i},
                    {"loads", Array{3000, 1000}},
                    {"loads_after", Array{2100, 1900}},
                    {"rho_before", 1.5},
                    {"rho_after", 1.05},
                    {"moves", 1},
                    {"link_bytes", Array{Array{0, 1500000}, Array{250, 0}}},
                    {"ms", 12.5},
                    {"psnr", 20.0 + i}}));
  Object report = reportOf(std::move(steps));
  report["mesh"] = Object{{"ulysses", 2}, {"ring", 1}};
  report["psnr_noised"] = 11.5;
  std::string page = pageOf(std::move(report));
  expectClean(page);
  EXPECT_TRUE(has(page, "1.500 \u2192 1.050"));
  EXPECT_TRUE(has(page, "averaged; 2 moves"));
  EXPECT_TRUE(has(page, ">0.375</div>"));
  EXPECT_TRUE(has(page, "(0.250 to 0.500)"));
  EXPECT_TRUE(has(page, "11.50 \u2192 21.00"));
  EXPECT_TRUE(has(page, "rank 1 after balancing: 1,900 tiles"));
  // Two runs: 2 x 1.5 MB, 2 x 250 B.
  EXPECT_TRUE(has(page, ">3.0 MB</td>"));
  EXPECT_TRUE(has(page, ">500 B</td>"));
  for (const char *chart : {"chart-rho", "chart-density", "chart-psnr"})
    EXPECT_EQ(countOf(page, std::string("id=\"") + chart + "\""), 1) << chart;
  EXPECT_EQ(countOf(page, "id=\"chart-mass\""), 0);
}

TEST(ReportHtml, EmptyShapesAndMasks) {
  for (auto [heads, q, k] :
       {std::array<int64_t, 3>{0, 4, 4}, {2, 0, 0}, {2, 0, 3}, {3, 4, 4}}) {
    sart::BlockMask mask(heads, q, k);
    Object report = reportOf(
        Array{step(Object{{"density", 0},
                          {"loads", Array{0, 0}},
                          {"loads_after", Array{0, 0}},
                          {"rho_before", 1},
                          {"rho_after", 1},
                          {"link_bytes", Array{Array{0, 0}, Array{0, 0}}},
                          {"mask", makeMaskReport(mask)}})});
    report["mesh"] = Object{{"ulysses", 2}, {"ring", 1}};
    report["shape"] = Object{{"heads", heads},
                             {"sq", 16 * q},
                             {"skv", 16 * k},
                             {"block", Array{16, 16}}};
    std::string page = pageOf(std::move(report));
    expectClean(page);
    bool drawn = heads * q * k > 0;
    EXPECT_EQ(has(page, "The masks have no tile at all."), drawn);
    EXPECT_EQ(countOf(page, "<img "), drawn ? heads : 0);
  }
}

TEST(ReportHtml, StaysSmallForLongSchedulesAndLargeMasks) {
  // Noise does not compress.
  std::vector<uint8_t> bits(40 * 591 * 591);
  uint32_t state = 1;
  for (uint8_t &bit : bits) {
    state = state * 1664525 + 1013904223;
    bit = state >> 30 == 0;
  }
  auto mask = sart::BlockMask::fromBits(bits.data(), 40, 591, 591);
  Array steps, events;
  for (int64_t i = 0; i < 20000; ++i)
    events.push_back(Array{i % 8, 0, 0, i * 100000, 90000, 1, 1});
  for (int i = 0; i < 500; ++i) {
    Object run{{"density", 0.25}, {"psnr", 20}, {"ms", 3}};
    if (i % 200 == 99) {
      run["mask"] = makeMaskReport(mask);
      run["timeline"] =
          Object{{"names", Array{"attend"}}, {"events", Array(events)}};
    }
    steps.push_back(step(std::move(run)));
  }
  Object report = reportOf(std::move(steps));
  report["mesh"] = Object{{"ulysses", 8}, {"ring", 1}};
  report["shape"] = Object{
      {"heads", 40}, {"sq", 75600}, {"skv", 75600}, {"block", Array{128, 128}}};
  report["order"] = Object{{"kind", "hilbert"}, {"grid", Array{21, 45, 80}}};
  std::string page = pageOf(std::move(report));
  expectClean(page);
  EXPECT_LT(page.size(), size_t(5000000));
  EXPECT_GE(countOf(page, "<img "), 40 * 4);
  EXPECT_TRUE(has(page, "of 500 runs are drawn, to keep the file small."));
  EXPECT_TRUE(has(page, "a point is 3 x 3 blocks"));
  EXPECT_TRUE(has(page, "Table of runs: 400 of 500 runs, evenly spread."));
}

TEST(ReportHtml, SaysWhyThereAreNoFrames) {
  sart::BlockMask mask = sart::BlockMask::dense(1, 4, 4);
  auto pageWith = [&](Value order, int64_t tokens) {
    Object report =
        reportOf(Array{step(Object{{"mask", makeMaskReport(mask)}})});
    report["shape"] = Object{{"heads", 1},
                             {"sq", tokens},
                             {"skv", tokens},
                             {"block", Array{16, 16}}};
    report["order"] = std::move(order);
    return pageOf(std::move(report));
  };
  EXPECT_TRUE(has(pageWith(nullptr, 64),
                  "There are no pictures on the token grid: the layer&#39;s "
                  "text gives its mask no order over a grid."));
  Object order{{"kind", "cubes"}, {"grid", Array{4, 4, 4}}};
  EXPECT_TRUE(has(pageWith(Object(order), 60),
                  "its order has 64 tokens, the layer 60 keys"));
  EXPECT_TRUE(has(pageWith(Object{{"kind", "cubes"}}, 64),
                  "its order is not one of raster"));
  EXPECT_EQ(countOf(pageWith(Object(order), 64), "<img "), 1 + 3);
}
