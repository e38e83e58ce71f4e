//===- KernelEmitter.cpp - Short forms for writing kernels ----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::sparseattn;

//===----------------------------------------------------------------------===//
// Function
//===----------------------------------------------------------------------===//

func::FuncOp KernelEmitter::beginFunction(const sart::KernelSpec &spec,
                                          TypeRange arguments,
                                          int64_t scratchBytes,
                                          int64_t scratchBytesPerBlock) {
  auto func = func::FuncOp::create(b, loc, spec.name(),
                                   b.getFunctionType(arguments, {}));
  func->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(), b.getUnitAttr());
  // Without unwinding there are no frame tables to link and register.
  func->setAttr("passthrough", b.getStrArrayAttr({"nounwind"}));
  func->setAttr(kScratchBytesAttr, b.getI64IntegerAttr(scratchBytes));
  func->setAttr(kScratchBytesPerBlockAttr,
                b.getI64IntegerAttr(scratchBytesPerBlock));
  entry = func.addEntryBlock();
  b.setInsertionPointToStart(entry);
  return func;
}

void KernelEmitter::endFunction() {
  func::ReturnOp::create(b, loc);
  b.setInsertionPointAfter(entry->getParentOp());
}

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

Type KernelEmitter::elementType(sart::DType type) {
  switch (type) {
  case sart::DType::F32:
    return b.getF32Type();
  case sart::DType::BF16:
    return b.getBF16Type();
  case sart::DType::F16:
    return b.getF16Type();
  case sart::DType::I32:
    return b.getI32Type();
  case sart::DType::I64:
    return b.getI64Type();
  }
  llvm_unreachable("every element type is listed");
}

VectorType KernelEmitter::vec(Type element, int64_t lanes) {
  return VectorType::get({lanes}, element);
}

MemRefType KernelEmitter::rowsType(Type element, int64_t columns) {
  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic,
                                       {ShapedType::kDynamic, 1});
  return MemRefType::get({ShapedType::kDynamic, columns}, element, layout);
}

MemRefType KernelEmitter::stridedType(Type element) {
  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic,
                                       {ShapedType::kDynamic});
  return MemRefType::get({ShapedType::kDynamic}, element, layout);
}

MemRefType KernelEmitter::flatType(Type element) {
  return MemRefType::get({ShapedType::kDynamic}, element);
}

Value KernelEmitter::constant(TypedAttr attr) {
  Value &value = constants[attr];
  if (!value) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    value = arith::ConstantOp::create(b, loc, attr);
  }
  return value;
}

/// `attr` repeated in every lane if `type` is a vector.
static TypedAttr splatAttr(Type type, TypedAttr attr) {
  if (auto vector = dyn_cast<VectorType>(type))
    return DenseElementsAttr::get(vector, Attribute(attr));
  return attr;
}

Value KernelEmitter::index(int64_t value) {
  return constant(b.getIndexAttr(value));
}

Value KernelEmitter::real(Type type, double value) {
  return constant(
      splatAttr(type, b.getFloatAttr(getElementTypeOrSelf(type), value)));
}

Value KernelEmitter::integer(Type type, int64_t value) {
  if (getElementTypeOrSelf(type).isInteger(32))
    value = static_cast<int32_t>(value); // patterns above 2^31
  return constant(
      splatAttr(type, b.getIntegerAttr(getElementTypeOrSelf(type), value)));
}

Value KernelEmitter::negativeInfinity(Type type) {
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  APFloat value =
      APFloat::getInf(element.getFloatSemantics(), /*Negative=*/true);
  return constant(splatAttr(type, b.getFloatAttr(element, value)));
}

Value KernelEmitter::iota(int64_t first, int64_t lanes) {
  SmallVector<int32_t> values;
  for (int64_t i = 0; i < lanes; ++i)
    values.push_back(static_cast<int32_t>(first + i));
  return constant(DenseElementsAttr::get(vec(b.getI32Type(), lanes),
                                         ArrayRef<int32_t>(values)));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value KernelEmitter::add(Value l, Value r) {
  return arith::AddIOp::create(b, loc, l, r);
}
Value KernelEmitter::sub(Value l, Value r) {
  return arith::SubIOp::create(b, loc, l, r);
}
Value KernelEmitter::mul(Value l, Value r) {
  return arith::MulIOp::create(b, loc, l, r);
}
Value KernelEmitter::minimum(Value l, Value r) {
  return arith::MinSIOp::create(b, loc, l, r);
}
Value KernelEmitter::maximum(Value l, Value r) {
  return arith::MaxSIOp::create(b, loc, l, r);
}
Value KernelEmitter::ceilDiv(Value l, int64_t divisor) {
  // Signed: an extent below zero stays at or below zero, an empty loop.
  return arith::DivSIOp::create(b, loc, add(l, index(divisor - 1)),
                                index(divisor));
}
Value KernelEmitter::modulo(Value l, int64_t divisor) {
  return arith::RemSIOp::create(b, loc, l, index(divisor));
}
Value KernelEmitter::compare(arith::CmpIPredicate predicate, Value l, Value r) {
  return arith::CmpIOp::create(b, loc, predicate, l, r);
}
Value KernelEmitter::both(Value l, Value r) {
  return arith::AndIOp::create(b, loc, l, r);
}
Value KernelEmitter::either(Value l, Value r) {
  return arith::OrIOp::create(b, loc, l, r);
}
Value KernelEmitter::toIndex(Value i32) {
  return castInteger(i32, b.getIndexType());
}
Value KernelEmitter::castInteger(Value value, Type type) {
  return arith::IndexCastOp::create(b, loc, type, value);
}
Value KernelEmitter::select(Value condition, Value l, Value r) {
  return arith::SelectOp::create(b, loc, condition, l, r);
}
Value KernelEmitter::addF(Value l, Value r) {
  return arith::AddFOp::create(b, loc, l, r);
}
Value KernelEmitter::subF(Value l, Value r) {
  return arith::SubFOp::create(b, loc, l, r);
}
Value KernelEmitter::mulF(Value l, Value r) {
  return arith::MulFOp::create(b, loc, l, r);
}
Value KernelEmitter::divF(Value l, Value r) {
  return arith::DivFOp::create(b, loc, l, r);
}
Value KernelEmitter::compareF(arith::CmpFPredicate predicate, Value l,
                              Value r) {
  return arith::CmpFOp::create(b, loc, predicate, l, r);
}
Value KernelEmitter::maximumF(Value l, Value r) {
  return select(compareF(arith::CmpFPredicate::OGT, l, r), l, r);
}

Value KernelEmitter::fma(Value l, Value r, Value accumulator) {
  // On a target without the instruction vector.fma becomes a call per lane.
  if (target.hasFma && isa<VectorType>(l.getType()))
    return vector::FMAOp::create(b, loc, l, r, accumulator);
  return addF(mulF(l, r), accumulator);
}

Value KernelEmitter::sumLanes(Value vector) {
  // The flag only frees the reduction from strict lane order.
  return vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD, vector,
                                     arith::FastMathFlags::reassoc);
}

Value KernelEmitter::splat(VectorType type, Value scalar) {
  return vector::BroadcastOp::create(b, loc, type, scalar);
}

Value KernelEmitter::bitcast(Type type, Value value) {
  return arith::BitcastOp::create(b, loc, type, value);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value KernelEmitter::load(Value memref, ValueRange indices) {
  return memref::LoadOp::create(b, loc, memref, indices);
}
void KernelEmitter::store(Value value, Value memref, ValueRange indices) {
  memref::StoreOp::create(b, loc, value, memref, indices);
}
Value KernelEmitter::loadVector(VectorType type, Value memref,
                                ValueRange indices) {
  return vector::LoadOp::create(b, loc, type, memref, indices);
}
void KernelEmitter::storeVector(Value value, Value memref, ValueRange indices) {
  vector::StoreOp::create(b, loc, value, memref, indices);
}
Value KernelEmitter::view(Value scratch, Value byteOffset, MemRefType type,
                          ValueRange sizes) {
  return memref::ViewOp::create(b, loc, type, scratch, byteOffset, sizes);
}
Value KernelEmitter::dim(Value memref, int64_t i) {
  return memref::DimOp::create(b, loc, memref, index(i));
}
MatrixRows KernelEmitter::rowsOf(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  MatrixRows rows{memref, {}, {}};
  if (!ShapedType::isDynamic(offset) && !ShapedType::isDynamic(strides[0])) {
    rows.offset = index(offset);
    rows.stride = index(strides[0]);
    return rows;
  }
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
  rows.offset = metadata.getOffset();
  rows.stride = metadata.getStrides()[0];
  return rows;
}
MatrixRows KernelEmitter::skipRows(const MatrixRows &rows, Value count) {
  return {rows.memref, add(rows.offset, mul(count, rows.stride)), rows.stride};
}
Value KernelEmitter::window(const MatrixRows &rows, Value row, Value column,
                            Value count, int64_t columns) {
  Type element = cast<MemRefType>(rows.memref.getType()).getElementType();
  Value first = add(add(rows.offset, mul(row, rows.stride)), column);
  // A constant stride stays visible in the type.
  OpFoldResult stride = getAsOpFoldResult(rows.stride);
  int64_t staticStride = ShapedType::kDynamic;
  if (auto attr = dyn_cast<Attribute>(stride))
    staticStride = cast<IntegerAttr>(attr).getInt();
  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic,
                                       {staticStride, 1});
  auto type = MemRefType::get({ShapedType::kDynamic, columns}, element, layout);
  return memref::ReinterpretCastOp::create(
      b, loc, type, rows.memref, OpFoldResult(first),
      {OpFoldResult(count), OpFoldResult(b.getIndexAttr(columns))},
      {stride, OpFoldResult(b.getIndexAttr(1))});
}
void KernelEmitter::prefetch(Value memref, ValueRange indices) {
  // Locality 2 means the second-level cache. 1 is up to 1 % slower; 3 brings
  // the next block into the first level, where it does not fit beside this one.
  memref::PrefetchOp::create(b, loc, memref, indices, /*isWrite=*/false,
                             /*localityHint=*/2, /*isDataCache=*/true);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

KernelEmitter::Values KernelEmitter::loop(
    Value begin, Value end, Value step, ValueRange initial,
    llvm::function_ref<Values(Value iv, ValueRange carried)> body) {
  auto op = scf::ForOp::create(
      b, loc, begin, end, step, initial,
      [&](OpBuilder &, Location, Value iv, ValueRange carried) {
        scf::YieldOp::create(b, loc, body(iv, carried));
      });
  return Values(op->result_begin(), op->result_end());
}

void KernelEmitter::loop(Value begin, Value end, Value step,
                         llvm::function_ref<void(Value iv)> body) {
  loop(begin, end, step, {}, [&](Value iv, ValueRange) -> Values {
    body(iv);
    return {};
  });
}

KernelEmitter::Values
KernelEmitter::branch(Value condition, TypeRange results,
                      llvm::function_ref<Values()> thenBody,
                      llvm::function_ref<Values()> elseBody) {
  auto yielding = [&](llvm::function_ref<Values()> body) {
    return [this, body](OpBuilder &, Location) {
      scf::YieldOp::create(b, loc, body());
    };
  };
  auto op = scf::IfOp::create(b, loc, condition, yielding(thenBody),
                              yielding(elseBody));
  assert(op->getResultTypes() == results && "both arms yield these types");
  (void)results;
  return Values(op->result_begin(), op->result_end());
}

void KernelEmitter::when(Value condition, llvm::function_ref<void()> body) {
  scf::IfOp::create(b, loc, condition, [&](OpBuilder &, Location) {
    body();
    scf::YieldOp::create(b, loc);
  });
}

KernelEmitter::Values
KernelEmitter::repeat(ValueRange initial,
                      llvm::function_ref<Value(ValueRange carried)> condition,
                      llvm::function_ref<Values(ValueRange carried)> body) {
  auto op = scf::WhileOp::create(
      b, loc, initial.getTypes(), initial,
      [&](OpBuilder &, Location, ValueRange carried) {
        scf::ConditionOp::create(b, loc, condition(carried), carried);
      },
      [&](OpBuilder &, Location, ValueRange carried) {
        scf::YieldOp::create(b, loc, body(carried));
      });
  return Values(op->result_begin(), op->result_end());
}
