//===- GpuSupport.cpp - Which programs GPU kernels serve ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GpuSupport.h"

#include "sparseattn-rt/Executable.h"

#include <algorithm>
#include <iterator>
#include <utility>

using sart::Status;

Status mlir::sparseattn::checkGpuSupport(const sart::Program &program) {
  const sart::LayerShape &shape = program.placement.shape;
  constexpr int64_t headDims[] = {64, 128, 256};
  constexpr std::pair<int64_t, int64_t> blocks[] = {
      {128, 128}, {128, 64}, {64, 128}, {64, 64}};
  if (shape.causal)
    return sart::makeError("mask on device cuda: got a causal one, expected "
                           "one of whole blocks (device cpu runs token-level "
                           "masks)");
  if (std::find(std::begin(headDims), std::end(headDims), shape.headDim) ==
      std::end(headDims))
    return sart::makeError("head dimension on device cuda: got ", shape.headDim,
                           ", expected 64, 128 or 256 (device cpu runs it)");
  if (std::find(std::begin(blocks), std::end(blocks),
                std::pair(shape.blockQ, shape.blockK)) == std::end(blocks))
    return sart::makeError("blocks on device cuda: got ", shape.blockQ, "x",
                           shape.blockK,
                           ", expected 128x128, 128x64, 64x128 or 64x64 "
                           "(device cpu runs them)");
  for (const sart::KernelSpec &spec : sart::requiredDeviceKernels(program))
    if (spec.kind == sart::KernelSpec::Kind::Attend &&
        spec.dtype != sart::DType::BF16 && spec.dtype != sart::DType::F16)
      return sart::makeError("element type of q, k and v on device cuda: got ",
                             sart::toString(spec.dtype),
                             ", expected bf16 or f16 (device cpu runs it)");
  return Status::success();
}
