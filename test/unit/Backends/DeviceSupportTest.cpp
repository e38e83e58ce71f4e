//===- DeviceSupportTest.cpp - What GPU kernels serve ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BackendTestSupport.h"

#include "sparseattn-rt/DeviceSupport.h"

#include <cmath>

using namespace sart;
using namespace sart::test;

namespace {

LayerShape served() {
  LayerShape shape = shapeOf(100, 200);
  shape.headDim = 128;
  shape.blockQ = 128;
  shape.blockK = 64;
  shape.dtype = DType::BF16;
  return shape;
}

/// A program that converts once and attends once.
Program programWith(const LayerShape &shape, DType from, DType to) {
  Program program = programOf(shape);
  for (DType dtype : {from, to, shape.dtype})
    program.windows.push_back({"window", dtype, 1, 100, shape.headDim});
  Instruction convert, attend;
  convert.opcode = Opcode::Convert;
  convert.windows = {0, 1};
  attend.opcode = Opcode::Attend;
  attend.windows = {2, 2, 2, 2, 2, 2};
  program.ranks.push_back({convert, attend});
  return program;
}

} // namespace

TEST(DeviceSupport, EveryServedShape) {
  LayerShape shape = served();
  for (int64_t headDim : {64, 128, 256})
    for (int64_t blockQ : {64, 128})
      for (int64_t blockK : {64, 128})
        for (DType dtype : {DType::BF16, DType::F16}) {
          shape.headDim = headDim;
          shape.blockQ = blockQ;
          shape.blockK = blockK;
          shape.dtype = dtype;
          EXPECT_EQ(checkDeviceShape(shape).message(), "");
          EXPECT_EQ(checkDeviceKernels(programWith(shape, DType::F32, dtype))
                        .message(),
                    "");
        }
}

TEST(DeviceSupport, OtherShapesAreNamed) {
  auto refused = [](auto change) {
    LayerShape shape = served();
    change(shape);
    std::string message = checkDeviceShape(shape).message();
    // The compiler says the same of a program.
    EXPECT_EQ(checkDeviceKernels(programWith(shape, DType::F32, DType::BF16))
                  .message(),
              message);
    return message;
  };
  EXPECT_EQ(refused([](LayerShape &shape) { shape.causal = true; }),
            "mask on device cuda: got a causal one, expected one of whole "
            "blocks (device cpu runs token-level masks)");
  EXPECT_EQ(refused([](LayerShape &shape) { shape.headDim = 96; }),
            "head dimension on device cuda: got 96, expected 64, 128 or 256 "
            "(device cpu runs it)");
  EXPECT_EQ(refused([](LayerShape &shape) { shape.blockQ = 32; }),
            "blocks on device cuda: got 32x64, expected 128x128, 128x64, "
            "64x128 or 64x64 (device cpu runs them)");
  EXPECT_EQ(refused([](LayerShape &shape) { shape.dtype = DType::F32; }),
            "element type of q, k and v on device cuda: got f32, expected bf16 "
            "or f16 (device cpu runs it)");
}

TEST(DeviceSupport, ScalesArePositive) {
  Program program = programWith(served(), DType::F32, DType::BF16);
  for (float scale : {0.0f, -0.0f, -0.125f, std::nanf("")}) {
    program.scale = scale;
    std::string message = concat("scale on device cuda: got ", scale,
                                 ", expected above 0 (device cpu runs it)");
    EXPECT_EQ(checkDeviceProgram(program).message(), message);
    EXPECT_EQ(checkDeviceKernels(program).message(), message);
  }
  EXPECT_TRUE(checkDeviceScale(1e-30f).ok());
}

TEST(DeviceSupport, ConversionsHaveOneSideInF32) {
  auto messageOf = [](DType from, DType to) {
    return checkDeviceProgram(programWith(served(), from, to)).message();
  };
  for (DType half : {DType::BF16, DType::F16}) {
    EXPECT_EQ(messageOf(half, DType::F32), "");
    EXPECT_EQ(messageOf(DType::F32, half), "");
    EXPECT_EQ(messageOf(half, half), "");
  }
  EXPECT_EQ(messageOf(DType::BF16, DType::F16),
            "conversion on device cuda: got bf16 to f16, expected one from or "
            "to f32 (device cpu runs it)");
  EXPECT_EQ(messageOf(DType::F16, DType::BF16),
            "conversion on device cuda: got f16 to bf16, expected one from or "
            "to f32 (device cpu runs it)");
}
