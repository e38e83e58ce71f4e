//===- DType.h - Element types and their conversions ------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_DTYPE_H
#define SPARSEATTN_RT_DTYPE_H

#include "sparseattn-rt/Status.h"

#include <cstdint>
#include <string_view>

namespace sart {

/// Element type of a window or tensor. The values are part of the program
/// format.
enum class DType : uint8_t { F32 = 0, BF16 = 1, F16 = 2, I32 = 3, I64 = 4 };

/// Size of one element in bytes.
int64_t byteSize(DType type);
/// Spelling used in text: f32, bf16, f16, i32, i64.
std::string_view toString(DType type);
/// Reads a spelling; fp32 and fp16 are accepted too.
Expected<DType> parseDType(std::string_view text);

/// Widens one 16-bit value. Exact.
float bf16ToFloat(uint16_t bits);
float f16ToFloat(uint16_t bits);
/// Narrows with round to nearest, ties to even; NaN stays NaN, overflow gives
/// infinity.
uint16_t floatToBf16(float value);
uint16_t floatToF16(float value);

/// Reads element `index` of a F32, BF16 or F16 array as float.
float loadAsFloat(const void *data, DType type, int64_t index);
/// Writes `value` to element `index` of a F32, BF16 or F16 array.
void storeFromFloat(void *data, DType type, int64_t index, float value);

} // namespace sart

#endif // SPARSEATTN_RT_DTYPE_H
