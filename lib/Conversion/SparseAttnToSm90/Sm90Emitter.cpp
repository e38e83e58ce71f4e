//===- Sm90Emitter.cpp - Short forms for writing Hopper kernels -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Sm90Emitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::sparseattn;

Value Sm90Emitter::i32(int64_t value) {
  return arith::ConstantIntOp::create(b, value, 32);
}

Value Sm90Emitter::i64(int64_t value) {
  return arith::ConstantIntOp::create(b, value, 64);
}

Value Sm90Emitter::f32(float value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

Value Sm90Emitter::div(Value l, int64_t r) {
  if (r == 1)
    return l;
  if (llvm::isPowerOf2_64(static_cast<uint64_t>(r)))
    return arith::ShRUIOp::create(b, l, i32(llvm::Log2_64(r)));
  return arith::DivUIOp::create(b, l, i32(r));
}

Value Sm90Emitter::mod(Value l, int64_t r) {
  if (llvm::isPowerOf2_64(static_cast<uint64_t>(r)))
    return r == 1 ? i32(0) : arith::AndIOp::create(b, l, i32(r - 1));
  return arith::RemUIOp::create(b, l, i32(r));
}

Value Sm90Emitter::fma(Value x, Value y, Value z) {
  return LLVM::FMAOp::create(b, x.getType(), x, y, z);
}

Value Sm90Emitter::fmax(Value l, Value r) {
  return arith::MaxNumFOp::create(b, l, r);
}

Value Sm90Emitter::special(StringRef intrinsic, Value v) {
  return LLVM::CallIntrinsicOp::create(
             b, b.getF32Type(), b.getStringAttr(intrinsic), ValueRange{v})
      .getResult(0);
}

Value Sm90Emitter::gep(Value pointer, Type element, Value offset) {
  return LLVM::GEPOp::create(b, pointer.getType(), element, pointer,
                             ArrayRef<LLVM::GEPArg>{offset});
}

Value Sm90Emitter::byteOffset(Value pointer, int64_t bytes) {
  return LLVM::GEPOp::create(
      b, pointer.getType(), b.getI8Type(), pointer,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}

Value Sm90Emitter::load(Type type, Value pointer, unsigned alignment) {
  return LLVM::LoadOp::create(b, type, pointer, alignment);
}

SmallVector<Value> Sm90Emitter::loadInts(Value pointer, int64_t count) {
  auto type = VectorType::get(count, b.getI32Type());
  Value vector = load(type, pointer, static_cast<unsigned>(4 * count));
  SmallVector<Value> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(LLVM::ExtractElementOp::create(b, vector, i32(i)));
  return values;
}

Value Sm90Emitter::loadPointer(Value pointer) {
  Value address = load(b.getI64Type(), pointer, 8);
  return LLVM::IntToPtrOp::create(b, pointer.getType(), address);
}
