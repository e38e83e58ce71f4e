//===- ReportTest.cpp - Reports through the C API -------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CapiTestSupport.h"

#include <nlohmann/json.hpp>

#include <cstring>

using namespace capi_test;
using nlohmann::json;

TEST(Report, SaysWhatTheRunDid) {
  Shape shape;
  Tensors tensors(shape);
  Layer layer =
      makeLayer(sharedEngine(), routedText(shape), layerOptions(2, 2));
  ASSERT_TRUE(layer);
  const char *text = nullptr;
  size_t length = 0;
  EXPECT_SA_ERROR(sa_layer_get_report(layer.get(), &text, &length),
                  "layer: got no finished run, expected one before");
  sa_run_stats stats = emptyStats();
  ASSERT_EQ(runWhole(layer.get(), tensors, &stats), "");
  std::string written = textOf(sa_layer_get_report, layer.get());
  json report = json::parse(written);
  EXPECT_EQ(report["schema"], 1);
  EXPECT_EQ(report["version"], sa_version());
  EXPECT_EQ(report["device"], "cpu");
  EXPECT_EQ(report["dtype"], "f32");
  EXPECT_EQ(report["order"], nullptr);
  EXPECT_EQ(report["mesh"], (json{{"ulysses", 2}, {"ring", 2}}));
  EXPECT_EQ(report["shape"]["block"], (json{shape.block, shape.block}));
  const json &run = report["steps"][0]["layers"][0];
  EXPECT_EQ(run["tiles"], stats.tiles);
  EXPECT_EQ(run["density"], stats.density);
  EXPECT_EQ(run["rho_after"], stats.rho_after);
  EXPECT_EQ(run["ms"], stats.ms);
  EXPECT_EQ(run["loads_after"].get<std::vector<int64_t>>(),
            std::vector<int64_t>(stats.loads_after, stats.loads_after + 4));
  int64_t crossed = 0, selected = 0;
  for (const json &row : run["link_bytes"])
    for (const json &bytes : row)
      crossed += bytes.get<int64_t>();
  EXPECT_EQ(crossed,
            stats.bytes_ulysses + stats.bytes_moved + stats.bytes_routed);
  for (const json &tiles : run["mask"]["tiles"])
    selected += tiles.get<int64_t>();
  EXPECT_EQ(selected, stats.tiles);
  EXPECT_FALSE(run["timeline"]["events"].empty());

  const char *page = nullptr;
  ASSERT_SA_OK(sa_report_html(written.data(), written.size(), &page, &length));
  EXPECT_EQ(std::string(page, 15), "<!DOCTYPE html>");
  EXPECT_EQ(std::string(page, length).substr(length - 8), "</html>\n");
}

TEST(Report, RefusesWhatItCannotUse) {
  const char *page = nullptr;
  size_t length = 0;
  EXPECT_SA_ERROR(sa_report_html("{}", 2, &page, &length),
                  "schema of the report: got none, expected 1");
  EXPECT_SA_ERROR(sa_report_html(nullptr, 0, &page, &length),
                  "arguments: got a null pointer, expected none");
  EXPECT_SA_ERROR(sa_layer_get_report(nullptr, &page, &length),
                  "arguments: got a null pointer, expected none");
}
