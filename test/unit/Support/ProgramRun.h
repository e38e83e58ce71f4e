//===- ProgramRun.h - Runs programs over made-up tensors ------ -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_SUPPORT_PROGRAMRUN_H
#define SPARSEATTN_TEST_SUPPORT_PROGRAMRUN_H

#include "sparseattn-rt/Backend.h"
#include "sparseattn-rt/Executor.h"

#include <memory>
#include <vector>

namespace sart::test {

/// Whole tensors of a layer, in fp32, bf16 or fp16, the same for every run:
/// scores of magnitude 10 and more.
class ProgramRun {
public:
  explicit ProgramRun(const LayerShape &shape);

  /// Interprets `program` without validating it, over outputs and workspace
  /// full of NaN; o and lse hold the result.
  Status run(const Program &program, int64_t timeoutMs = 10000);

  /// Rows [head][token] of the last run, widened.
  std::vector<float> o; ///< times headDim
  std::vector<float> lse;

private:
  LayerShape shape;
  std::vector<uint8_t> q, k, v;
  std::shared_ptr<Backend> backend;
};

/// Whether a run takes well below a second: few ranks, tokens and bytes.
bool isSmall(const Program &program);

/// Largest difference; NaN differs from everything.
float distance(const std::vector<float> &a, const std::vector<float> &b);

} // namespace sart::test

#endif // SPARSEATTN_TEST_SUPPORT_PROGRAMRUN_H
