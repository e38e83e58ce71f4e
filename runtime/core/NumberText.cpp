//===- NumberText.cpp - Numbers as people read them -----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NumberText.h"
#include "sparseattn-rt/Status.h"

#include <iomanip>

using namespace sart;

std::string sart::withCommas(int64_t value) {
  std::string digits = std::to_string(value);
  for (size_t at = digits.size(); at > 3; at -= 3)
    digits.insert(at - 3, ",");
  return digits;
}

std::string sart::fixed(double value, int digits) {
  std::ostringstream stream;
  stream << std::fixed << std::setprecision(digits) << value;
  return stream.str();
}

std::string sart::bytesText(int64_t bytes) {
  if (bytes < 10000)
    return concat(withCommas(bytes), " bytes");
  if (bytes < 10000000)
    return concat(fixed(static_cast<double>(bytes) / 1e3, 1), " kB");
  return concat(fixed(static_cast<double>(bytes) / 1e6, 1), " MB");
}

std::string sart::countText(int64_t count, const char *what) {
  return concat(withCommas(count), " ", what, count == 1 ? "" : "s");
}

std::string sart::usText(int64_t ps) {
  return fixed(static_cast<double>(ps) / 1e6, 3) + " us";
}
