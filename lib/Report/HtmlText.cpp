//===- HtmlText.cpp - Text and numbers of a page --------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HtmlText.h"

#include "llvm/Support/JSON.h"

#include <cmath>
#include <cstdio>

using namespace mlir::sparseattn::report;

std::string mlir::sparseattn::report::escape(llvm::StringRef text) {
  std::string safe;
  for (char c : llvm::json::fixUTF8(text)) {
    switch (c) {
    case '&':
      safe += "&amp;";
      break;
    case '<':
      safe += "&lt;";
      break;
    case '>':
      safe += "&gt;";
      break;
    case '"':
      safe += "&quot;";
      break;
    case '\'':
      safe += "&#39;";
      break;
    default:
      auto byte = static_cast<unsigned char>(c);
      if ((byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f)
        safe += "&#65533;";
      else
        safe += c;
    }
  }
  return safe;
}

std::string mlir::sparseattn::report::countText(int64_t value) {
  std::string digits = std::to_string(value);
  size_t first = value < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3; at -= 3)
    digits.insert(at - 3, ",");
  return digits;
}

std::string mlir::sparseattn::report::countText(int64_t value,
                                                llvm::StringRef what) {
  return countText(value) + " " + what.str() + (value == 1 ? "" : "s");
}

std::string mlir::sparseattn::report::fixedText(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits,
                std::abs(value) < 1e15 ? value : 0);
  return text;
}

std::string mlir::sparseattn::report::shortText(double value) {
  double size = std::abs(value);
  char text[64];
  if (size != 0 && (size < 1e-3 || size >= 1e6))
    std::snprintf(text, sizeof text, "%.1e", value);
  else
    std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string mlir::sparseattn::report::bytesText(int64_t bytes) {
  const char *const units[] = {"kB", "MB", "GB", "TB", "PB"};
  if (bytes < 1000)
    return countText(bytes) + " B";
  double value = static_cast<double>(bytes) / 1e3;
  size_t unit = 0;
  // What rounds to 1000 has the next unit.
  for (; value >= 999.95 && unit + 1 < std::size(units); ++unit)
    value /= 1e3;
  return fixedText(value, value < 99.95 ? 1 : 0) + " " + units[unit];
}

std::string mlir::sparseattn::report::millisecondsText(double ms) {
  if (ms >= 999.5)
    return fixedText(ms / 1e3, ms < 99950 ? 1 : 0) + " s";
  if (ms >= 0.9995)
    return fixedText(ms, ms < 9.95 ? 1 : 0) + " ms";
  return fixedText(ms * 1e3, ms < 9.95e-3 ? 1 : 0) + " \u00b5s";
}

std::string mlir::sparseattn::report::orDash(const std::optional<double> &value,
                                             int digits) {
  return value ? fixedText(*value, digits) : "\u2013";
}
