//===- LayerText.cpp - The layer that --attend runs -----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LayerText.h"

#include "sparseattn-rt/DeviceSupport.h"

#include <cmath>
#include <cstdio>

using namespace sart;

Status sart::checkAttendOnGpu(const CommandOptions &options,
                              const RunInputs &inputs) {
  LayerShape shape;
  shape.headDim = inputs.q.shape[2];
  shape.blockQ = options.blockQ;
  shape.blockK = options.blockK;
  shape.causal = options.causal;
  bool f16 = options.dtype == "f16" ||
             (options.dtype.empty() && inputs.q.dtype == DType::F16);
  // What is left is bf16, or rounded to it.
  shape.dtype = f16 ? DType::F16 : DType::BF16;
  SART_RETURN_IF_ERROR(checkDeviceShape(shape));
  return options.scale.empty()
             ? Status::success()
             : checkDeviceScale(static_cast<float>(options.scaleValue));
}

std::string sart::makeAttendLayer(const CommandOptions &options,
                                  const RunInputs &inputs) {
  const auto &[heads, sq, dim] = inputs.q.shape;
  const auto &[kvHeads, skv, kvDim] = inputs.k.shape;
  double scale = options.scaleValue != 0
                     ? options.scaleValue
                     : 1 / std::sqrt(static_cast<double>(dim > 0 ? dim : 1));
  char scaleText[64];
  std::snprintf(scaleText, sizeof scaleText, "%.9e", scale);
  std::string element(toString(inputs.q.dtype));
  auto blocks = [](int64_t tokens, int64_t block) {
    return (tokens + block - 1) / block;
  };
  return concat(
      "!q = tensor<", heads, "x", sq, "x", dim, "x", element, ">\n",
      "!kv = tensor<", kvHeads, "x", skv, "x", kvDim, "x", element, ">\n",
      "!lse = tensor<", heads, "x", sq, "xf32>\n", "!mask = !sparseattn.mask<",
      heads, "x", blocks(sq, options.blockQ), "x", blocks(skv, options.blockK),
      ", block = ", options.blockQ, "x", options.blockK, ", tokens = ", sq, "x",
      skv, options.causal ? ", causal" : "", ">\n",
      "func.func @attend(%q: !q, %k: !kv, %v: !kv) -> (!q, !lse) {\n"
      "  %mask = sparseattn.policy_mask #sparseattn.dense -> !mask\n"
      "  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale ",
      scaleText,
      " : !q, !kv, !kv, !mask -> !q, !lse\n"
      "  return %o, %lse : !q, !lse\n"
      "}\n");
}
