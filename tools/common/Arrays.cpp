//===- Arrays.cpp - Arrays of archives as tensors -------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Arrays.h"

#include <cmath>

using namespace sart;

std::string sart::shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

Expected<DType> sart::arrayDType(const std::string &name,
                                 const NpzArray &array) {
  if (array.dtype == "f4")
    return DType::F32;
  if (array.dtype == "f2")
    return DType::F16;
  if (array.dtype == "u2")
    return DType::BF16;
  return makeError("dtype of array '", name, "': got ", array.dtype,
                   ", expected f4 (fp32), f2 (fp16) or u2 (bf16 bits)");
}

Status sart::checkFinite(const std::string &name, const NpzArray &array,
                         DType dtype, bool allowEmptyLse) {
  for (int64_t i = 0, e = array.elements(); i < e; ++i) {
    float value = loadAsFloat(array.data.data(), dtype, i);
    if (std::isfinite(value) ||
        (allowEmptyLse && std::isinf(value) && value < 0))
      continue;
    std::vector<int64_t> position(array.shape.size());
    int64_t rest = i;
    for (size_t axis = array.shape.size(); axis-- > 0;) {
      position[axis] = rest % array.shape[axis];
      rest /= array.shape[axis];
    }
    return makeError("array '", name, "' at ", shapeText(position), ": got ",
                     std::isnan(value) ? "nan"
                     : value < 0       ? "-inf"
                                       : "inf",
                     ", expected finite values",
                     allowEmptyLse ? " or -inf" : "");
  }
  return Status::success();
}

NpzArray sart::toArray(DType dtype, std::vector<int64_t> shape,
                       std::vector<uint8_t> data) {
  NpzArray array;
  array.dtype = dtype == DType::F32 ? "f4" : dtype == DType::F16 ? "f2" : "u2";
  array.shape = std::move(shape);
  array.data = std::move(data);
  return array;
}

uint64_t sart::mixBits(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

void sart::fillNormal(void *data, DType dtype, int64_t elements, int64_t seed,
                      int64_t stream) {
  constexpr double twoPi = 6.283185307179586;
  uint64_t base =
      mixBits(static_cast<uint64_t>(seed) * 3 + static_cast<uint64_t>(stream));
  for (int64_t i = 0; i < elements; ++i) {
    // Box and Muller's transform of two 32-bit uniform numbers.
    uint64_t bits = mixBits(base + static_cast<uint64_t>(i));
    double u = (static_cast<double>(bits >> 32) + 1.0) / 4294967297.0;
    double v = static_cast<double>(bits & 0xffffffffu) / 4294967296.0;
    storeFromFloat(
        data, dtype, i,
        static_cast<float>(std::sqrt(-2 * std::log(u)) * std::cos(twoPi * v)));
  }
}
