//===- TileText.cpp - Text of time x space tiles --------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TileText.h"

#include "sparseattn-rt/Placement.h"

#include <charconv>

using namespace sart;

namespace {

/// Takes `name=<number>` off the text.
bool takeNumber(std::string_view &text, std::string_view name,
                int64_t &number) {
  if (text.substr(0, name.size()) != name)
    return false;
  text.remove_prefix(name.size());
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 1 || number > maxRanks)
    return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

} // namespace

bool sart::parseTiles(std::string_view text, int64_t &t, int64_t &h) {
  return takeNumber(text, "tiles<t=", t) && takeNumber(text, ",h=", h) &&
         text == ">";
}
