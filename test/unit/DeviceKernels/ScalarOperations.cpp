//===- ScalarOperations.cpp - Element-wise operations of one thread -------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DeviceInterpreter.h"

#include "sparseattn-rt/DType.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <cmath>
#include <optional>

using namespace mlir;
using namespace mlir::sparseattn;

static double toDouble(uint64_t bits, Type type) {
  if (type.isBF16())
    return sart::bf16ToFloat(static_cast<uint16_t>(bits));
  if (type.isF16())
    return sart::f16ToFloat(static_cast<uint16_t>(bits));
  if (type.isF32()) {
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

static uint64_t fromDouble(double value, Type type) {
  if (type.isBF16())
    return sart::floatToBf16(static_cast<float>(value));
  if (type.isF16())
    return sart::floatToF16(static_cast<float>(value));
  if (type.isF32())
    return DeviceInterpreter::bitsOf(static_cast<float>(value));
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

static int64_t toSigned(uint64_t bits, unsigned width) {
  return static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
}

static uint64_t cut(uint64_t bits, unsigned width) {
  return width == 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}

static bool compareFloats(arith::CmpFPredicate predicate, double l, double r) {
  switch (predicate) {
  case arith::CmpFPredicate::OGT:
    return l > r;
  case arith::CmpFPredicate::OGE:
    return l >= r;
  case arith::CmpFPredicate::OLT:
    return l < r;
  case arith::CmpFPredicate::OLE:
    return l <= r;
  case arith::CmpFPredicate::OEQ:
    return l == r;
  case arith::CmpFPredicate::UNE:
    return !(l == r);
  default:
    return false;
  }
}

/// Two operands, or fma's three, of one element. fp32 results of +, -, *, / are
/// right: fp64 has more than twice the digits.
static std::optional<uint64_t> evaluate(Operation &op, Type type,
                                        Type resultType, uint64_t x, uint64_t y,
                                        uint64_t z) {
  bool isFloat = isa<FloatType>(type);
  unsigned width = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64;
  auto integer = [&](uint64_t value) { return cut(value, width); };
  auto real = [&](double value) { return fromDouble(value, resultType); };
  double l = isFloat ? toDouble(x, type) : 0,
         r = isFloat ? toDouble(y, type) : 0;
  int64_t sl = isFloat ? 0 : toSigned(x, width),
          sr = isFloat ? 0 : toSigned(y, width);
  if (isa<arith::AddIOp>(op))
    return integer(x + y);
  if (isa<arith::SubIOp>(op))
    return integer(x - y);
  if (isa<arith::MulIOp>(op))
    return integer(x * y);
  if (isa<arith::DivUIOp>(op))
    return y == 0 ? 0 : integer(x / y);
  if (isa<arith::AndIOp>(op))
    return x & y;
  if (isa<arith::OrIOp>(op))
    return x | y;
  if (isa<arith::XOrIOp>(op))
    return integer(x ^ y);
  if (isa<arith::ShLIOp>(op))
    return y >= width ? 0 : integer(x << y);
  if (isa<arith::ShRUIOp>(op))
    return y >= width ? 0 : x >> y;
  if (isa<arith::ShRSIOp>(op))
    return integer(static_cast<uint64_t>(sl >> std::min<uint64_t>(y, 63)));
  if (isa<arith::MinSIOp>(op))
    return sl < sr ? x : y;
  if (isa<arith::MaxSIOp>(op))
    return sl > sr ? x : y;
  if (isa<LLVM::CtPopOp>(op))
    return static_cast<uint64_t>(__builtin_popcountll(x));
  if (isa<LLVM::CountTrailingZerosOp>(op))
    return x == 0 ? width : static_cast<uint64_t>(__builtin_ctzll(x));
  if (isa<arith::AddFOp>(op))
    return real(l + r);
  if (isa<arith::SubFOp>(op))
    return real(l - r);
  if (isa<arith::MulFOp>(op))
    return real(l * r);
  if (isa<arith::DivFOp>(op))
    return real(l / r);
  if (isa<LLVM::FMAOp>(op)) {
    double c = toDouble(z, type);
    return type.isF32()
               ? real(std::fma(static_cast<float>(l), static_cast<float>(r),
                               static_cast<float>(c)))
               : real(std::fma(l, r, c));
  }
  if (isa<LLVM::FAbsOp>(op))
    return real(std::fabs(l));
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return real(l);
  if (isa<arith::ExtUIOp>(op))
    return x;
  if (isa<arith::ExtSIOp>(op))
    return cut(static_cast<uint64_t>(sl), resultType.getIntOrFloatBitWidth());
  if (isa<arith::TruncIOp>(op))
    return cut(x, resultType.getIntOrFloatBitWidth());
  if (isa<arith::SIToFPOp>(op))
    return real(static_cast<double>(sl));
  if (isa<LLVM::IntToPtrOp>(op))
    return x;
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return compareFloats(compare.getPredicate(), l, r);
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return arith::applyCmpPredicate(
        compare.getPredicate(), llvm::APInt(width, x), llvm::APInt(width, y));
  return std::nullopt;
}

bool DeviceInterpreter::runScalar(Operation &op, const Mask &mask) {
  if (op.getNumResults() != 1)
    return false;
  Value result = op.getResult(0);
  int64_t elements = elementsOf(result.getType());
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    uint64_t bits =
        isa<IntegerAttr>(constant.getValue())
            ? cast<IntegerAttr>(constant.getValue()).getValue().getZExtValue()
            : fromDouble(
                  cast<FloatAttr>(constant.getValue()).getValueAsDouble(),
                  result.getType());
    Lanes &lanes = make(result);
    std::fill(lanes.begin(), lanes.end(), bits);
    return true;
  }
  if (isa<LLVM::PoisonOp>(op)) {
    make(result);
    return true;
  }
  std::vector<Lanes> in;
  for (Value operand : op.getOperands())
    in.push_back(of(operand));
  Lanes &out = make(result);
  for (int32_t t = 0; t < threads; ++t) {
    if (!mask[t])
      continue;
    auto at = static_cast<size_t>(t * elements);
    if (isa<arith::SelectOp>(op)) {
      for (int64_t i = 0; i < elements; ++i)
        out[at + i] = in[0][t] & 1 ? in[1][at + i] : in[2][at + i];
    } else if (isa<LLVM::ExtractElementOp>(op)) {
      out[t] = in[0][t * elementsOf(op.getOperand(0).getType()) + in[1][t]];
    } else if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op)) {
      out[t] = in[0][t * elementsOf(op.getOperand(0).getType()) +
                     extract.getPosition()[0]];
    } else if (isa<LLVM::InsertElementOp>(op)) {
      std::copy_n(in[0].begin() + at, elements, out.begin() + at);
      out[at + in[2][t]] = in[1][t];
    } else if (isa<LLVM::BitcastOp>(op)) {
      Type from = op.getOperand(0).getType();
      size_t width = elementTypeOf(from).getIntOrFloatBitWidth() / 8;
      size_t target =
          elementTypeOf(result.getType()).getIntOrFloatBitWidth() / 8;
      auto count = static_cast<size_t>(elementsOf(from));
      char bytes[64] = {};
      for (size_t i = 0; i < count; ++i)
        std::memcpy(bytes + i * width, &in[0][t * count + i], width);
      for (int64_t i = 0; i < elements; ++i) {
        out[at + i] = 0;
        std::memcpy(&out[at + i], bytes + i * target, target);
      }
    } else {
      Type type = elementTypeOf(op.getOperand(0).getType());
      Type resultType = elementTypeOf(result.getType());
      for (int64_t i = 0; i < elements; ++i) {
        auto operand = [&](size_t n) {
          return n < in.size() ? in[n][at + i] : 0;
        };
        std::optional<uint64_t> value =
            evaluate(op, type, resultType, operand(0), operand(1), operand(2));
        if (!value)
          return false;
        out[at + i] = *value;
      }
    }
  }
  return true;
}
