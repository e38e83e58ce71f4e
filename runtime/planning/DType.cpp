//===- DType.cpp - Element types and their conversions --------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/DType.h"

#include <cstring>
#include <limits>

using namespace sart;

namespace {

template <typename To, typename From>
To bitCast(From value) {
  static_assert(sizeof(To) == sizeof(From), "sizes must agree");
  To result;
  std::memcpy(&result, &value, sizeof(To));
  return result;
}

/// value / 2^shift, rounded to nearest, ties to even. shift in 1..31.
uint32_t roundedShift(uint32_t value, unsigned shift) {
  uint32_t half = uint32_t(1) << (shift - 1);
  uint32_t rest = value & ((half << 1) - 1);
  uint32_t result = value >> shift;
  if (rest > half || (rest == half && (result & 1)))
    ++result;
  return result;
}

} // namespace

int64_t sart::byteSize(DType type) {
  switch (type) {
  case DType::F32:
  case DType::I32:
    return 4;
  case DType::BF16:
  case DType::F16:
    return 2;
  case DType::I64:
    return 8;
  }
  return 0;
}

std::string_view sart::toString(DType type) {
  switch (type) {
  case DType::F32:
    return "f32";
  case DType::BF16:
    return "bf16";
  case DType::F16:
    return "f16";
  case DType::I32:
    return "i32";
  case DType::I64:
    return "i64";
  }
  return "unknown";
}

Expected<DType> sart::parseDType(std::string_view text) {
  for (DType type :
       {DType::F32, DType::BF16, DType::F16, DType::I32, DType::I64})
    if (text == toString(type))
      return type;
  if (text == "fp32")
    return DType::F32;
  if (text == "fp16")
    return DType::F16;
  return makeError("element type not known: got '", text,
                   "', expected f32, bf16, f16, i32 or i64");
}

float sart::bf16ToFloat(uint16_t bits) {
  return bitCast<float>(uint32_t(bits) << 16);
}

uint16_t sart::floatToBf16(float value) {
  uint32_t bits = bitCast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) // NaN: keep it one after the cut
    return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>(roundedShift(bits, 16));
}

float sart::f16ToFloat(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000u) << 16;
  uint32_t exponent = (bits >> 10) & 0x1fu;
  uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0x1f)
    return bitCast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0)
    return bitCast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  // Zero or subnormal: fraction * 2^-24 is exact in float.
  float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return bitCast<float>(sign | bitCast<uint32_t>(magnitude));
}

uint16_t sart::floatToF16(float value) {
  uint32_t bits = bitCast<uint32_t>(value);
  uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) // NaN
    return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  // 65520 and above round to infinity.
  if (magnitude >= 0x477ff000u)
    return static_cast<uint16_t>(sign | 0x7c00u);
  uint32_t exponent = magnitude >> 23;
  if (exponent >=
      113) // normal: a carry out of the fraction raises the exponent
    return static_cast<uint16_t>(
        sign | roundedShift(magnitude - (uint32_t(112) << 23), 13));
  if (exponent < 102) // below half of the smallest subnormal
    return static_cast<uint16_t>(sign);
  uint32_t fraction = (magnitude & 0x7fffffu) | 0x800000u;
  return static_cast<uint16_t>(sign | roundedShift(fraction, 126 - exponent));
}

float sart::loadAsFloat(const void *data, DType type, int64_t index) {
  switch (type) {
  case DType::F32:
    return static_cast<const float *>(data)[index];
  case DType::BF16:
    return bf16ToFloat(static_cast<const uint16_t *>(data)[index]);
  case DType::F16:
    return f16ToFloat(static_cast<const uint16_t *>(data)[index]);
  case DType::I32:
  case DType::I64:
    break;
  }
  return std::numeric_limits<float>::quiet_NaN();
}

void sart::storeFromFloat(void *data, DType type, int64_t index, float value) {
  switch (type) {
  case DType::F32:
    static_cast<float *>(data)[index] = value;
    return;
  case DType::BF16:
    static_cast<uint16_t *>(data)[index] = floatToBf16(value);
    return;
  case DType::F16:
    static_cast<uint16_t *>(data)[index] = floatToF16(value);
    return;
  case DType::I32:
  case DType::I64:
    return;
  }
}
