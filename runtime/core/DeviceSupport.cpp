//===- DeviceSupport.cpp - What GPU kernels serve -------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/DeviceSupport.h"

#include "sparseattn-rt/Executable.h"

#include <algorithm>
#include <iterator>
#include <utility>

using namespace sart;

static Status refuseCausal(const LayerShape &shape) {
  if (shape.causal)
    return makeError("mask on device cuda: got a causal one, expected one of "
                     "whole blocks (device cpu runs token-level masks)");
  return Status::success();
}

Status sart::checkDeviceScale(float scale) {
  // Kernels take the largest score before they scale.
  if (!(scale > 0))
    return makeError("scale on device cuda: got ", scale,
                     ", expected above 0 (device cpu runs it)");
  return Status::success();
}

Status sart::checkDeviceProgram(const Program &program) {
  SART_RETURN_IF_ERROR(refuseCausal(program.placement.shape));
  SART_RETURN_IF_ERROR(checkDeviceScale(program.scale));
  for (const KernelSpec &spec : requiredDeviceKernels(program))
    if (spec.kind == KernelSpec::Kind::Convert && spec.dtype != DType::F32 &&
        spec.outDtype != DType::F32)
      return makeError("conversion on device cuda: got ", toString(spec.dtype),
                       " to ", toString(spec.outDtype),
                       ", expected one from or to f32 (device cpu runs it)");
  return Status::success();
}

Status sart::checkDeviceShape(const LayerShape &shape) {
  constexpr int64_t headDims[] = {64, 128, 256};
  constexpr std::pair<int64_t, int64_t> blocks[] = {
      {128, 128}, {128, 64}, {64, 128}, {64, 64}};
  SART_RETURN_IF_ERROR(refuseCausal(shape));
  if (std::find(std::begin(headDims), std::end(headDims), shape.headDim) ==
      std::end(headDims))
    return makeError("head dimension on device cuda: got ", shape.headDim,
                     ", expected 64, 128 or 256 (device cpu runs it)");
  if (std::find(std::begin(blocks), std::end(blocks),
                std::pair(shape.blockQ, shape.blockK)) == std::end(blocks))
    return makeError("blocks on device cuda: got ", shape.blockQ, "x",
                     shape.blockK,
                     ", expected 128x128, 128x64, 64x128 or 64x64 (device cpu "
                     "runs them)");
  if (shape.dtype != DType::BF16 && shape.dtype != DType::F16)
    return makeError("element type of q, k and v on device cuda: got ",
                     toString(shape.dtype),
                     ", expected bf16 or f16 (device cpu runs it)");
  return Status::success();
}

Status sart::checkDeviceKernels(const Program &program) {
  SART_RETURN_IF_ERROR(checkDeviceProgram(program));
  for (const KernelSpec &spec : requiredDeviceKernels(program)) {
    if (spec.kind != KernelSpec::Kind::Attend)
      continue;
    LayerShape shape = program.placement.shape;
    shape.dtype = spec.dtype;
    SART_RETURN_IF_ERROR(checkDeviceShape(shape));
  }
  return Status::success();
}
