//===- Emitter.cpp - What the lowerings of sa_sm90 share ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"

#include "sparseattn/Conversion/Sm90ToNVVM/Passes.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::sparseattn;

//===----------------------------------------------------------------------===//
// Emitter
//===----------------------------------------------------------------------===//

Value Emitter::i32(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}

Value Emitter::i64(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 64);
}

Value Emitter::f32(double value) {
  return arith::ConstantOp::create(
      builder, loc,
      builder.getFloatAttr(builder.getF32Type(), static_cast<float>(value)));
}

Value Emitter::add(Value a, Value b) {
  return builder.createOrFold<arith::AddIOp>(loc, a, b);
}

Value Emitter::add(Value a, int64_t b) { return b ? add(a, i32(b)) : a; }

Value Emitter::sub(Value a, int64_t b) {
  return b ? builder.createOrFold<arith::SubIOp>(loc, a, i32(b)) : a;
}

Value Emitter::mul(Value a, int64_t b) {
  return builder.createOrFold<arith::MulIOp>(loc, a, i32(b));
}

Value Emitter::bitAnd(Value a, int64_t b) {
  return builder.createOrFold<arith::AndIOp>(loc, a, i32(b));
}

Value Emitter::bitOr(Value a, int64_t b) {
  return builder.createOrFold<arith::OrIOp>(loc, a, i32(b));
}

Value Emitter::bitXor(Value a, Value b) {
  return builder.createOrFold<arith::XOrIOp>(loc, a, b);
}

Value Emitter::shiftRight(Value a, int64_t by) {
  return builder.createOrFold<arith::ShRUIOp>(loc, a, i32(by));
}

Value Emitter::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return builder.createOrFold<arith::CmpIOp>(loc, predicate, a, b);
}

Value Emitter::select(Value condition, Value a, Value b) {
  return builder.createOrFold<arith::SelectOp>(loc, condition, a, b);
}

Value Emitter::toI64(Value a) {
  return builder.createOrFold<arith::ExtUIOp>(loc, builder.getI64Type(), a);
}

Value Emitter::bitcast(Value a, Type type) {
  return LLVM::BitcastOp::create(builder, loc, type, a);
}

Value Emitter::shuffle(NVVM::ShflKind kind, Value value, int64_t offset) {
  return NVVM::ShflOp::create(builder, loc, value.getType(), i32(-1), value,
                              i32(offset), i32(31), kind, UnitAttr());
}

Value Emitter::firstLane(Value value) {
  return shuffle(NVVM::ShflKind::idx, value, 0);
}

Value Emitter::exchange(Value value, int64_t distance) {
  return shuffle(NVVM::ShflKind::bfly, value, distance);
}

Value Emitter::pack(Value low, Value high, Type element) {
  auto pair = VectorType::get(2, builder.getF32Type());
  Value both = LLVM::UndefOp::create(builder, loc, pair);
  both = LLVM::InsertElementOp::create(builder, loc, both, low, i32(0));
  both = LLVM::InsertElementOp::create(builder, loc, both, high, i32(1));
  Value rounded =
      LLVM::FPTruncOp::create(builder, loc, VectorType::get(2, element), both);
  return bitcast(rounded, builder.getI32Type());
}

Value Emitter::sharedAddress(int64_t offset) {
  auto pointer = LLVM::LLVMPointerType::get(
      builder.getContext(), unsigned(NVVM::NVVMMemorySpace::Shared));
  Value base =
      LLVM::AddressOfOp::create(builder, loc, pointer, kSharedMemoryName);
  return add(LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), base),
             offset);
}

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

static StringRef registerClass(Type type) {
  if (type.isF32())
    return "f";
  return type.isInteger(32) ? "r" : "l";
}

unsigned Assembly::output(Type type, bool early) {
  results.push_back(type);
  constraints.push_back(
      (Twine(early ? "=&" : "=") + registerClass(type)).str());
  return constraints.size() - 1;
}

unsigned Assembly::input(Value value) {
  inputs.push_back(value);
  constraints.push_back(registerClass(value.getType()).str());
  return constraints.size() - 1;
}

unsigned Assembly::tied(Value value, unsigned number) {
  inputs.push_back(value);
  constraints.push_back(std::to_string(number));
  return constraints.size() - 1;
}

Registers Assembly::emit(Emitter &emitter, StringRef text) {
  OpBuilder &builder = emitter.builder;
  constraints.push_back("~{memory}");
  Type type;
  if (results.size() == 1)
    type = results.front();
  else if (!results.empty())
    type = LLVM::LLVMStructType::getLiteral(builder.getContext(), results);
  auto op = LLVM::InlineAsmOp::create(
      builder, emitter.loc, type ? TypeRange(type) : TypeRange(), inputs, text,
      llvm::join(constraints, ","), /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
  if (results.size() < 2)
    return Registers(op->getResults());
  Registers values;
  for (size_t i = 0; i < results.size(); ++i)
    values.push_back(LLVM::ExtractValueOp::create(builder, emitter.loc,
                                                  op.getRes(), int64_t(i)));
  return values;
}

std::string Assembly::name(unsigned number) {
  return "$" + std::to_string(number);
}

std::string Assembly::list(unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = first; i < first + count; ++i)
    text += (i == first ? "" : ", ") + name(i);
  return text + "}";
}

//===----------------------------------------------------------------------===//
// ThreadPlace
//===----------------------------------------------------------------------===//

Value ThreadPlace::fragmentRow(Emitter &emitter) const {
  return emitter.add(emitter.mul(warp, 16), emitter.shiftRight(lane, 2));
}

ThreadPlace sparseattn::threadPlace(Emitter &emitter, Operation *op) {
  auto role = op->getParentOfType<sa_sm90::RoleOp>();
  Block &body = role.getBody().front();
  Value warp = emitter.add(body.getArgument(0), role.getFirstWarp() % 4);
  return {body.getArgument(1), emitter.bitAnd(warp, 3)};
}
