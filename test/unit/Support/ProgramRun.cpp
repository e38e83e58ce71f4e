//===- ProgramRun.cpp - Runs programs over made-up tensors ----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/ProgramRun.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace sart;
using namespace sart::test;

ProgramRun::ProgramRun(const LayerShape &shape)
    : shape(shape),
      backend(createReferenceBackend(std::make_shared<ThreadPool>(1))) {
  std::mt19937_64 random(5);
  auto fill = [&](std::vector<uint8_t> &bytes, int64_t heads, int64_t rows) {
    int64_t count = heads * rows * shape.headDim;
    bytes.resize(static_cast<size_t>(count * byteSize(shape.dtype)));
    for (int64_t i = 0; i < count; ++i) {
      auto value = static_cast<int64_t>(random() % 801) - 400;
      storeFromFloat(bytes.data(), shape.dtype, i,
                     static_cast<float>(value) / 100);
    }
  };
  fill(q, shape.heads, shape.sq);
  fill(k, shape.kvHeads, shape.skv);
  fill(v, shape.kvHeads, shape.skv);
}

Status ProgramRun::run(const Program &program, int64_t timeoutMs) {
  DType outDtype = shape.dtype;
  if (int32_t window = program.findWindow("o_shard"); window >= 0)
    outDtype = program.windows[static_cast<size_t>(window)].dtype;
  int64_t count = shape.heads * shape.sq * shape.headDim;
  // All bits set is a NaN in every type.
  std::vector<uint8_t> out(static_cast<size_t>(count * byteSize(outDtype)),
                           uint8_t(0xFF));
  lse.assign(static_cast<size_t>(shape.heads * shape.sq),
             std::numeric_limits<float>::quiet_NaN());
  ExecutorOptions options;
  options.poison = true;
  options.validate = false;
  options.timeoutMs = timeoutMs;
  auto executor = Executor::create(program, backend, options);
  if (!executor)
    return executor.status();
  auto tensor = [&](std::vector<uint8_t> &bytes, DType dtype, int64_t heads,
                    int64_t rows) {
    return Tensor::contiguous(bytes.data(), dtype, heads, rows, shape.headDim);
  };
  RunStats stats;
  SART_RETURN_IF_ERROR((*executor)->run(
      shardViews(
          program.placement, tensor(q, shape.dtype, shape.heads, shape.sq),
          tensor(k, shape.dtype, shape.kvHeads, shape.skv),
          tensor(v, shape.dtype, shape.kvHeads, shape.skv),
          tensor(out, outDtype, shape.heads, shape.sq),
          Tensor::contiguous(lse.data(), DType::F32, shape.heads, shape.sq, 1)),
      {}, stats));
  o.resize(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    o[static_cast<size_t>(i)] = loadAsFloat(out.data(), outDtype, i);
  return Status::success();
}

bool test::isSmall(const Program &program) {
  const LayerShape &shape = program.placement.shape;
  if (!program.placement.verify().ok() || program.placement.mesh.ranks() > 8 ||
      shape.heads > 64 || shape.sq > 512 || shape.skv > 512 ||
      shape.heads * shape.sq * shape.skv > int64_t(1) << 20)
    return false;
  int64_t bytes = 0, limit = int64_t(16) << 20;
  for (const Window &window : program.windows) {
    // More is for the validator to refuse.
    if (!window.verify().ok())
      continue;
    bytes += window.slots * window.rows * window.rowBytes();
    if (bytes > limit)
      return false;
  }
  return bytes * program.placement.mesh.ranks() <= limit;
}

float test::distance(const std::vector<float> &a, const std::vector<float> &b) {
  if (a.size() != b.size())
    return std::numeric_limits<float>::infinity();
  float most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i])
      continue; // also -inf
    float apart = std::abs(a[i] - b[i]);
    if (std::isnan(apart))
      return std::numeric_limits<float>::infinity();
    most = std::max(most, apart);
  }
  return most;
}
