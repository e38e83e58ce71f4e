//===- Report.cpp - Reports through the C API -----------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Objects.h"

#include "sparseattn/Report/ReportHtml.h"
#include "sparseattn/Report/RunReport.h"

#include "llvm/Support/raw_ostream.h"

using namespace capi;

sa_status sa_layer_get_report(sa_layer *layer, const char **json,
                              size_t *length) try {
  if (!layer || !json || !length)
    return fail("arguments: got a null pointer, expected none");
  if (!layer->hasRun)
    return fail("layer: got no finished run, expected one before");
  mlir::sparseattn::RunFacts facts = {layer->compiled.program, layer->stats};
  sart::Expected<const sart::BlockMask *> mask = layer->executor->lastMask();
  if (!mask)
    return fail(mask.status());
  facts.mask = *mask;
  facts.order = layer->compiled.maskOrder ? layer->compiled.maskOrder
                                          : layer->compiled.boundaryOrder;
  facts.version = sa_version();
  facts.device = layer->device;
  facts.threads = layer->threads;
  facts.compileMs = layer->compiled.compileMs;
  layer->text.clear();
  llvm::raw_string_ostream stream(layer->text);
  stream << llvm::json::Value(makeRunReport(facts));
  *json = layer->text.data();
  *length = layer->text.size();
  return SA_OK;
} catch (...) {
  return failCaught();
}

sa_status sa_report_html(const char *json, size_t length, const char **html,
                         size_t *htmlLength) try {
  if (!json || !html || !htmlLength)
    return fail("arguments: got a null pointer, expected none");
  static thread_local std::string page;
  llvm::Expected<std::string> made =
      mlir::sparseattn::makeReportHtml({json, length});
  if (!made)
    return fail(llvm::toString(made.takeError()));
  page = std::move(*made);
  *html = page.data();
  *htmlLength = page.size();
  return SA_OK;
} catch (...) {
  return failCaught();
}
