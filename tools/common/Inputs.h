//===- Inputs.h - Tensors of a layer ----------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_COMMON_INPUTS_H
#define SPARSEATTN_TOOLS_COMMON_INPUTS_H

#include "sparseattn-rt/DType.h"
#include "sparseattn-rt/Npz.h"

#include "sparseattn-c/sparseattn.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sart {

/// An owned dense tensor [heads, tokens, dim].
struct HostTensor {
  DType dtype = DType::F32;
  std::array<int64_t, 3> shape = {0, 0, 0};
  std::vector<uint8_t> data;

  static HostTensor zeros(DType dtype, std::array<int64_t, 3> shape);
  int64_t elements() const { return shape[0] * shape[1] * shape[2]; }
  /// A copy in another element type, rounded to nearest even.
  HostTensor converted(DType to) const;
  sa_tensor view();
};

/// q, k, v and the optional mask of an archive.
struct RunInputs {
  HostTensor q, k, v;
  bool hasMask = false;
  std::array<int64_t, 3> maskShape = {0, 0, 0};
  std::vector<uint8_t> mask;
};

/// Takes q, k, v (fp32, fp16, or bf16 as uint16) and mask (bool) out of an
/// archive. Refuses missing and unknown arrays, wrong ranks, mixed dtypes,
/// shapes that do not fit each other, NaN and Inf, by name and position.
Expected<RunInputs> loadInputs(const std::string &path);

/// Normal random q, k, v of a layer's shape from a counter-based generator.
RunInputs randomInputs(const sa_layer_info &info, DType dtype, int64_t seed);

} // namespace sart

#endif // SPARSEATTN_TOOLS_COMMON_INPUTS_H
