//===- ValueText.cpp - Values as lines of text ----------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ValueText.h"

#include "Arrays.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace sart;
using mlir::sparseattn::InterpreterValue;
using mlir::sparseattn::MaskValue;
using mlir::sparseattn::TensorValue;

static std::string rangeText(int64_t begin, int64_t end) {
  return end == begin + 1 ? std::to_string(begin) : concat(begin, ":", end);
}

/// kv-blocks of one row; neighbours as ranges.
static std::string rowText(const int32_t *row, int64_t count) {
  std::string text = "[";
  for (int64_t i = 0; i < count;) {
    int64_t last = i + 1;
    while (last < count && row[last] == row[last - 1] + 1)
      ++last;
    text += (i ? ", " : "") + rangeText(row[i], row[last - 1] + int64_t(1));
    i = last;
  }
  return text + "]";
}

std::string sart::maskText(const BlockMask &mask) {
  char density[32];
  std::snprintf(density, sizeof density, "%.4f", mask.density());
  std::string text = concat(mask.heads(), " x ", mask.qBlocks(), " x ",
                            mask.kvBlocks(), ", ", mask.tiles(), " of ",
                            mask.heads() * mask.qBlocks() * mask.kvBlocks(),
                            " tiles (density ", density, ") {\n");
  for (int64_t head = 0; head < mask.heads(); ++head) {
    text += concat("  head ", head, " {\n");
    for (int64_t row = 0; row < mask.qBlocks();) {
      int64_t count = mask.count(head, row);
      const int32_t *blocks = mask.row(head, row);
      int64_t end = row + 1;
      while (end < mask.qBlocks() && mask.count(head, end) == count &&
             std::equal(blocks, blocks + count, mask.row(head, end)))
        ++end;
      text += concat("    row ", rangeText(row, end), " ",
                     rowText(blocks, count), "\n");
      row = end;
    }
    text += "  }\n";
  }
  return text + "}";
}

std::string sart::tensorText(const TensorValue &tensor) {
  std::string text =
      concat(toString(tensor.dtype), " ", shapeText(tensor.shape));
  int64_t finite = 0, nan = 0, negative = 0, positive = 0;
  double least = 0, largest = 0, sum = 0;
  for (int64_t i = 0, e = tensor.elements(); i < e; ++i) {
    double value = static_cast<double>(tensor.load(i));
    if (std::isnan(value)) {
      ++nan;
    } else if (std::isinf(value)) {
      ++(value < 0 ? negative : positive);
    } else {
      least = finite ? std::min(least, value) : value;
      largest = finite ? std::max(largest, value) : value;
      sum += value;
      ++finite;
    }
  }
  char figures[96];
  if (finite) {
    std::snprintf(figures, sizeof figures, ", %.5g to %.5g, mean %.5g", least,
                  largest, sum / static_cast<double>(finite));
    text += figures;
  }
  for (auto [count, what] : {std::pair<int64_t, const char *>{nan, "nan"},
                             {negative, "-inf"},
                             {positive, "inf"}})
    if (count)
      text += concat(", ", count, " ", what);
  return text;
}

std::string sart::valueText(const InterpreterValue &value) {
  if (auto tensor = std::get_if<std::shared_ptr<const TensorValue>>(&value))
    return tensorText(**tensor);
  if (auto mask = std::get_if<std::shared_ptr<const MaskValue>>(&value))
    return "mask " + maskText((*mask)->mask);
  return "plan";
}

std::string sart::column(const std::string &label) {
  constexpr size_t width = 11;
  return label +
         std::string(label.size() < width ? width - label.size() : 1, ' ');
}
