//===- TextLimits.h - Text that the parser can take ----------- -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's parser calls itself for everything that nests, and for operands of
// affine expressions, without a limit: some kilobytes of brackets end the
// process. Text from outside is judged here first.
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_SUPPORT_TEXTLIMITS_H
#define SPARSEATTN_SUPPORT_TEXTLIMITS_H

#include "sparseattn-rt/Status.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace mlir::sparseattn {

/// Far more than any module needs, far less than a stack holds.
constexpr int64_t maxTextNesting = 256;

/// Refuses MLIR text whose brackets nest deeper than maxTextNesting, or with
/// more operators than that in one expression, naming the line.
inline sart::Status checkTextLimits(std::string_view text) {
  int64_t depth = 0, operators = 0, line = 1;
  auto refuse = [&](const char *what) {
    return sart::makeError("line ", line, ": ", what, ": got more than ",
                           maxTextNesting, ", expected at most that");
  };
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    switch (c) {
    case '\n':
      ++line;
      break;
    case '"':
      // A string, or the rest of the line when it has no end.
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        if (text[i] == '\\')
          ++i;
      line += i < text.size() && text[i] == '\n';
      break;
    case '/':
      if (text.substr(i, 2) == "//") {
        i = std::min(text.find('\n', i), text.size());
        ++line;
      }
      break;
    case '<':
    case '(':
    case '[':
    case '{':
      operators = 0;
      if (++depth > maxTextNesting)
        return refuse("nesting of the text");
      break;
    case '>':
      if (i > 0 && text[i - 1] == '-') // an arrow
        break;
      [[fallthrough]];
    case ')':
    case ']':
    case '}':
      depth -= depth > 0;
      break;
    case '+':
    case '*':
    case '-':
      operators += text.substr(i, 2) != "->";
      if (operators > maxTextNesting)
        return refuse("operators of an expression");
      break;
    case ',':
    case ':':
    case '=':
      operators = 0;
      break;
    default:
      break;
    }
  }
  return sart::Status::success();
}

} // namespace mlir::sparseattn

#endif // SPARSEATTN_SUPPORT_TEXTLIMITS_H
