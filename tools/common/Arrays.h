//===- Arrays.h - Arrays of archives as tensors -----------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_COMMON_ARRAYS_H
#define SPARSEATTN_TOOLS_COMMON_ARRAYS_H

#include "sparseattn-rt/DType.h"
#include "sparseattn-rt/Npz.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sart {

/// "[2, 3, 4]".
std::string shapeText(const std::vector<int64_t> &shape);

/// Element type of an array: f4 fp32, f2 fp16, u2 the bits of bf16. Refuses the
/// others by name.
Expected<DType> arrayDType(const std::string &name, const NpzArray &array);

/// Refuses NaN and infinities by name and position; `allowEmptyLse` accepts
/// -inf, the lse of a row without a visible key.
Status checkFinite(const std::string &name, const NpzArray &array, DType dtype,
                   bool allowEmptyLse = false);

/// An array of f32, f16 or bf16 (as u2) elements.
NpzArray toArray(DType dtype, std::vector<int64_t> shape,
                 std::vector<uint8_t> data);

/// Fills `elements` elements with normal random values that depend on (seed,
/// stream, index) alone: the same on every machine.
void fillNormal(void *data, DType dtype, int64_t elements, int64_t seed,
                int64_t stream);

/// SplitMix64's output function (Steele, Lea, Flood 2014).
uint64_t mixBits(uint64_t x);

} // namespace sart

#endif // SPARSEATTN_TOOLS_COMMON_ARRAYS_H
