//===- Values.h - What the interpreter computes with ------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No MLIR header: tools and tests hand values in and out without one.
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_INTERPRETER_VALUES_H
#define SPARSEATTN_INTERPRETER_VALUES_H

#include "sparseattn-rt/Planner.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace mlir {
namespace sparseattn {

/// A dense tensor of two or three axes, row-major, of f32, bf16 or f16.
struct TensorValue {
  sart::DType dtype = sart::DType::F32;
  std::vector<int64_t> shape;
  std::vector<uint8_t> data;

  static TensorValue zeros(sart::DType dtype, std::vector<int64_t> shape);
  int64_t elements() const;
  /// Element `index` in row-major order, widened; stores round to nearest even.
  float load(int64_t index) const {
    return sart::loadAsFloat(data.data(), dtype, index);
  }
  void store(int64_t index, float value) {
    sart::storeFromFloat(data.data(), dtype, index, value);
  }
};

/// A block mask. A routed one also has the scores that augmentation goes by:
/// `scores` is [heads][q-blocks][kv-blocks], -inf for a kv-block that the row
/// cannot see; empty for every other mask.
struct MaskValue {
  sart::BlockMask mask;
  std::vector<float> scores;
};

/// A plan as far as it has a numeric effect: the mesh, the layer's heads, the
/// balance options and the plan that is written in the text. Block sizes and
/// causality of `placement` are those of the mask it is used with.
struct PlanValue {
  sart::Placement placement;
  sart::PlannerOptions options;
  std::optional<sart::Plan> fixedPlan;
};

/// Values are shared and never change.
using InterpreterValue = std::variant<std::shared_ptr<const TensorValue>,
                                      std::shared_ptr<const MaskValue>,
                                      std::shared_ptr<const PlanValue>>;

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_INTERPRETER_VALUES_H
