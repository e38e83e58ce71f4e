//===- SupportMatrix.cpp - Which layers the verifiers accept --------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Combinations are numbered in mixed radix: one digit per axis. A row fixes one
// digit and runs through the intended values of the others.
//
//===----------------------------------------------------------------------===//
#include "SupportMatrix.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::sparseattn;

namespace {
struct Value {
  const char *name;
  bool intended; ///< takes part in the rows of the other axes
};

struct Axis {
  const char *name;
  std::vector<Value> values;
};

struct Numbers {
  int64_t first, second;
};

enum AxisIndex { Element, HeadDim, Blocks, Tokens, Heads, Causal, Source };

const std::vector<Axis> &axes() {
  static const std::vector<Axis> all = {
      {"element type",
       {{"f32", true},
        {"bf16", true},
        {"f16", true},
        {"f64", false},
        {"f8E4M3FN", false}}},
      {"head dimension",
       {{"32", true},
        {"40", false},
        {"64", false},
        {"128", true},
        {"256", true},
        {"16", false},
        {"100", false},
        {"264", false}}},
      {"blocks (query x key tokens)",
       {{"16x16", true},
        {"64x64", false},
        {"128x64", true},
        {"64x128", false},
        {"128x128", true},
        {"8x8", false},
        {"100x100", false},
        {"256x256", false}}},
      {"tokens (query x key)",
       {{"1024x1024", true},
        {"1000x1000", false},
        {"300x700", true},
        {"1x1", false},
        {"0x0", false}}},
      {"heads (query / key)",
       {{"12/12", true}, {"12/4", true}, {"12/1", false}, {"12/5", false}}},
      {"causal", {{"no", true}, {"yes", true}}},
      {"source of the mask",
       {{"route, top_p", true},
        {"route, top_k", true},
        {"dense", true},
        {"window", true},
        {"explicit", true}}}};
  return all;
}

/// Reads `AxB` or `A/B`.
Numbers split(StringRef text) {
  Numbers numbers{0, 0};
  text.consumeInteger(10, numbers.first);
  text.drop_front().consumeInteger(10, numbers.second);
  return numbers;
}

int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The text of one layer; `digits[axis]` chooses a value.
std::string layerText(const std::vector<size_t> &digits) {
  auto value = [&](AxisIndex axis) {
    return StringRef(axes()[axis].values[digits[axis]].name);
  };
  Numbers block = split(value(Blocks)), tokens = split(value(Tokens)),
          heads = split(value(Heads));
  int64_t qBlocks = ceilDivide(tokens.first, block.first);
  int64_t kvBlocks = ceilDivide(tokens.second, block.second);
  StringRef element = value(Element), headDim = value(HeadDim);
  std::string text = llvm::formatv(
      "!q = tensor<{0}x{1}x{2}x{3}>\n!k = tensor<{4}x{5}x{2}x{3}>\n"
      "!lse = tensor<{0}x{1}xf32>\n!pq = tensor<{0}x{6}x{2}xf32>\n"
      "!pk = tensor<{4}x{7}x{2}xf32>\n"
      "!mask = !sparseattn.mask<{0}x{6}x{7}, block = {8}, tokens = "
      "{1}x{5}{9}>\n"
      "func.func @layer(%q: !q, %k: !k, %v: !k) -> (!q, !lse) {{\n",
      heads.first, tokens.first, headDim, element, heads.second, tokens.second,
      qBlocks, kvBlocks, value(Blocks),
      value(Causal) == "yes" ? ", causal" : "");
  StringRef source = value(Source);
  if (source.consume_front("route, "))
    text += llvm::formatv(
        "  %pq = sparseattn.pool %q block {0} : !q -> !pq\n"
        "  %pk = sparseattn.pool %k block {1} : !k -> !pk\n"
        "  %mask = sparseattn.route %pq, %pk policy #sparseattn.{2} scale 0.1"
        " : !pq, !pk -> !mask\n",
        block.first, block.second,
        source == "top_p" ? "top_p<p = 0.9, min_blocks = 4>" : "top_k<k = 8>");
  else if (source == "explicit")
    text += llvm::formatv("  %mask = sparseattn.explicit_mask dense<true> : "
                          "tensor<{0}x{1}x{2}xi1> -> !mask\n",
                          heads.first, qBlocks, kvBlocks);
  else
    text += llvm::formatv("  %mask = sparseattn.policy_mask #sparseattn.{0} -> "
                          "!mask\n",
                          source == "dense" ? "dense" : "window<blocks = 2>");
  return text + "  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1"
                " : !q, !k, !k, !mask -> !q, !lse\n"
                "  return %o, %lse : !q, !lse\n}\n";
}

/// Whether the verifiers take the layer; else `reason` is their first error.
bool accepts(MLIRContext &context, const std::string &text,
             std::string &reason) {
  std::string first;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (first.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      first = diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!module && reason.empty())
    reason = first;
  return static_cast<bool>(module);
}

/// Runs through the intended values of every axis but `fixed`.
void countRow(MLIRContext &context, size_t fixed, size_t chosen,
              SupportRow &row) {
  std::vector<std::vector<size_t>> choices;
  for (size_t axis = 0; axis < axes().size(); ++axis) {
    std::vector<size_t> indices;
    for (size_t i = 0; i < axes()[axis].values.size(); ++i)
      if (axis == fixed ? i == chosen : axes()[axis].values[i].intended)
        indices.push_back(i);
    choices.push_back(std::move(indices));
  }
  std::vector<size_t> counter(choices.size(), 0), digits(choices.size());
  while (true) {
    for (size_t axis = 0; axis < choices.size(); ++axis)
      digits[axis] = choices[axis][counter[axis]];
    ++row.total;
    row.accepted += accepts(context, layerText(digits), row.reason);
    size_t axis = 0;
    while (axis < choices.size() && ++counter[axis] == choices[axis].size())
      counter[axis++] = 0;
    if (axis == choices.size())
      return;
  }
}
} // namespace

std::vector<SupportRow> sparseattn::buildSupportMatrix(MLIRContext &context) {
  std::vector<SupportRow> rows;
  for (size_t axis = 0; axis < axes().size(); ++axis)
    for (size_t i = 0; i < axes()[axis].values.size(); ++i) {
      SupportRow row{axes()[axis].name, axes()[axis].values[i].name, 0, 0, ""};
      countRow(context, axis, i, row);
      rows.push_back(std::move(row));
    }
  return rows;
}

std::string
sparseattn::printSupportMatrix(const std::vector<SupportRow> &rows) {
  std::string text = "| axis | value | supported | in combinations | otherwise "
                     "|\n|---|---|---|---|---|\n";
  for (const SupportRow &row : rows)
    text += llvm::formatv("| {0} | {1} | {2} | {3} of {4} | {5} |\n", row.axis,
                          row.value,
                          row.accepted == row.total ? "yes"
                          : row.accepted            ? "partly"
                                                    : "no",
                          row.accepted, row.total,
                          row.reason.empty() ? "" : "`" + row.reason + "`");
  return text;
}
