//===- TextInterpreterTest.cpp - Interpreting text ------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Interpreter/TextInterpreter.h"

#include <gtest/gtest.h>

using namespace mlir::sparseattn;

namespace {

const char *const functions = R"mlir(
!mask = !sparseattn.mask<1x2x2, block = 16x16, tokens = 32x32>
func.func @unite(%a: !mask, %b: !mask) -> !mask {
  %window = sparseattn.policy_mask #sparseattn.window<blocks = 0> -> !mask
  %0 = sparseattn.union %a, %window : !mask
  return %0 : !mask
}
func.func @pool(%tokens: tensor<1x3x2xbf16>, %plan: !sparseattn.plan)
    -> tensor<1x3x2xbf16> {
  return %tokens : tensor<1x3x2xbf16>
}
)mlir";

std::unique_ptr<TextInterpreter> parse(const char *text) {
  auto interpreter = TextInterpreter::create(text);
  EXPECT_TRUE(interpreter.ok()) << interpreter.message();
  return interpreter ? std::move(*interpreter) : nullptr;
}

InterpreterValue makeMask(std::vector<uint8_t> bits) {
  return std::make_shared<const MaskValue>(
      MaskValue{sart::BlockMask::fromBits(bits.data(), 1, 2, 2), {}});
}

TEST(TextInterpreterTest, KeepsTheNamesOfArguments) {
  auto interpreter = parse(functions);
  ASSERT_NE(interpreter, nullptr);
  EXPECT_FALSE(interpreter->hasSchedule());
  auto unite = interpreter->signature("unite");
  ASSERT_TRUE(unite.ok()) << unite.message();
  EXPECT_EQ(unite->argumentNames, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(unite->arguments[1].kind, ValueType::Kind::Mask);
  EXPECT_EQ(unite->arguments[1].shape, (std::vector<int64_t>{1, 2, 2}));
  auto pool = interpreter->signature("pool");
  ASSERT_TRUE(pool.ok()) << pool.message();
  EXPECT_EQ(pool->arguments[0].dtype, sart::DType::BF16);
  EXPECT_EQ(pool->arguments[1].kind, ValueType::Kind::Plan);
  EXPECT_EQ(interpreter->signature("").message(),
            "functions: got 2 (unite, pool), expected one, or the name of one");
}

TEST(TextInterpreterTest, ShowsEveryMaskWithItsLine) {
  auto interpreter = parse(functions);
  ASSERT_NE(interpreter, nullptr);
  std::vector<std::string> seen;
  auto results = interpreter->run(
      "unite", {makeMask({0, 1, 0, 0}), makeMask({0, 0, 0, 0})}, 1,
      [&](const std::string &op, int64_t line, const MaskValue &mask) {
        seen.push_back(sart::concat(op, " ", line, " ", mask.mask.tiles()));
      });
  ASSERT_TRUE(results.ok()) << results.message();
  EXPECT_EQ(seen, (std::vector<std::string>{"sparseattn.policy_mask 4 2",
                                            "sparseattn.union 5 3"}));
  auto mask = std::get<std::shared_ptr<const MaskValue>>(results->front());
  EXPECT_EQ(mask->mask.toBits(), (std::vector<uint8_t>{1, 1, 0, 1}));
}

TEST(TextInterpreterTest, RefusesValuesOfOtherTypes) {
  auto interpreter = parse(functions);
  ASSERT_NE(interpreter, nullptr);
  EXPECT_EQ(interpreter->run("unite", {makeMask({0, 0, 0, 0})}, 1).message(),
            "line 3, column 1: 'func.func' op arguments: got 1, expected 2");
  InterpreterValue tensor = std::make_shared<const TensorValue>(
      TensorValue::zeros(sart::DType::F32, {1, 2, 2}));
  std::string message =
      interpreter->run("unite", {makeMask({0, 0, 0, 0}), tensor}, 1).message();
  EXPECT_NE(message.find("argument 1: got a value of another type, expected "
                         "'!sparseattn.mask<1x2x2"),
            std::string::npos)
      << message;
}

TEST(TextInterpreterTest, ReportsWhereTextIsWrong) {
  auto interpreter =
      TextInterpreter::create("func.func @f() {\n  return %x\n}");
  ASSERT_FALSE(interpreter.ok());
  EXPECT_EQ(interpreter.message().substr(0, 8), "line 2, ");
}

} // namespace
