//===- ReportJson.cpp - Fuzz target: reports of runs as pages -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FuzzSupport.h"

#include "sparseattn/Report/ReportHtml.h"

#include <string>

using namespace sart;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text = fuzz::textOf(data, size);
  llvm::Expected<std::string> page =
      mlir::sparseattn::makeReportHtml({text.data(), text.size()});
  if (!page) {
    fuzz::require(!llvm::toString(page.takeError()).empty(),
                  "an error has a message");
    return 0;
  }
  fuzz::require(page->find("</html>") != std::string::npos,
                "a page is complete");
  // Nothing of a report is taken for markup.
  fuzz::require(page->find("<script") == std::string::npos,
                "a page has no script", *page);
  return 0;
}
