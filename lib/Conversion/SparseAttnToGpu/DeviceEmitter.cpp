//===- DeviceEmitter.cpp - Short forms for writing GPU kernels ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DeviceEmitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace mlir::sparseattn;

static constexpr unsigned kGlobal = 1, kShared = 3;

DeviceEmitter::DeviceEmitter(ModuleOp module, StringRef name,
                             TypeRange arguments, int32_t threads,
                             int64_t sharedBytes)
    : b(module.getBodyRegion()), loc(module.getLoc()) {
  MLIRContext *context = b.getContext();
  i1 = b.getI1Type();
  i8 = b.getI8Type();
  i16 = b.getI16Type();
  i32 = b.getI32Type();
  i64 = b.getI64Type();
  f32 = b.getF32Type();
  f64 = b.getF64Type();
  globalPointer = LLVM::LLVMPointerType::get(context, kGlobal);
  sharedPointer = LLVM::LLVMPointerType::get(context, kShared);

  b.setInsertionPointToEnd(module.getBody());
  std::string symbol = (name + "_shared").str();
  if (sharedBytes != 0)
    declareShared(symbol, sharedBytes);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                          llvm::to_vector(arguments));
  function = LLVM::LLVMFuncOp::create(b, loc, name, type);
  function->setAttr("nvvm.kernel", b.getUnitAttr());
  function->setAttr("nvvm.maxntid", b.getDenseI32ArrayAttr({threads}));
  b.setInsertionPointToStart(function.addEntryBlock(b));
  if (sharedBytes != 0)
    sharedMemory = LLVM::AddressOfOp::create(b, loc, sharedPointer, symbol);
}

void DeviceEmitter::declareShared(StringRef symbol, int64_t bytes) {
  bool dynamic = bytes < 0;
  auto memory = LLVM::GlobalOp::create(
      b, loc, LLVM::LLVMArrayType::get(i8, dynamic ? 0 : bytes),
      /*isConstant=*/false,
      dynamic ? LLVM::Linkage::External : LLVM::Linkage::Internal, symbol,
      Attribute(), /*alignment=*/16, kShared);
  if (dynamic)
    return;
  // Shared memory has no initial value, yet without one this is a declaration.
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&memory.getInitializerRegion());
  Value none = LLVM::UndefOp::create(b, loc, memory.getType());
  LLVM::ReturnOp::create(b, loc, none);
}

void DeviceEmitter::finish() { LLVM::ReturnOp::create(b, loc, ValueRange()); }

Value DeviceEmitter::argument(unsigned i) { return function.getArgument(i); }

// Constants.

Value DeviceEmitter::integer(int64_t value, Type type) {
  type = type ? type : i32;
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

Value DeviceEmitter::real(double value, Type type) {
  type = type ? type : f64;
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
}

Value DeviceEmitter::negativeInfinity(Type type) {
  return real(-std::numeric_limits<double>::infinity(), type);
}

// Arithmetic.

Value DeviceEmitter::add(Value l, Value r) {
  return arith::AddIOp::create(b, loc, l, r);
}
Value DeviceEmitter::sub(Value l, Value r) {
  return arith::SubIOp::create(b, loc, l, r);
}
Value DeviceEmitter::mul(Value l, Value r) {
  return arith::MulIOp::create(b, loc, l, r);
}
Value DeviceEmitter::div(Value l, Value r) {
  return arith::DivUIOp::create(b, loc, l, r);
}
Value DeviceEmitter::andI(Value l, Value r) {
  return arith::AndIOp::create(b, loc, l, r);
}
Value DeviceEmitter::orI(Value l, Value r) {
  return arith::OrIOp::create(b, loc, l, r);
}
Value DeviceEmitter::xorI(Value l, Value r) {
  return arith::XOrIOp::create(b, loc, l, r);
}
Value DeviceEmitter::shl(Value l, Value r) {
  return arith::ShLIOp::create(b, loc, l, r);
}
Value DeviceEmitter::shr(Value l, int64_t r) {
  return arith::ShRUIOp::create(b, loc, l, integer(r, l.getType()));
}
Value DeviceEmitter::sar(Value l, int64_t r) {
  return arith::ShRSIOp::create(b, loc, l, integer(r, l.getType()));
}
Value DeviceEmitter::least(Value l, Value r) {
  return arith::MinSIOp::create(b, loc, l, r);
}
Value DeviceEmitter::most(Value l, Value r) {
  return arith::MaxSIOp::create(b, loc, l, r);
}
Value DeviceEmitter::bitCount(Value value) {
  return LLVM::CtPopOp::create(b, loc, value.getType(), value);
}
Value DeviceEmitter::lowestBit(Value value) {
  return LLVM::CountTrailingZerosOp::create(b, loc, value.getType(), value,
                                            /*is_zero_poison=*/false);
}
Value DeviceEmitter::compare(arith::CmpIPredicate predicate, Value l, Value r) {
  return arith::CmpIOp::create(b, loc, predicate, l, r);
}
Value DeviceEmitter::less(Value l, Value r) {
  return compare(arith::CmpIPredicate::slt, l, r);
}
Value DeviceEmitter::lessEqual(Value l, Value r) {
  return compare(arith::CmpIPredicate::sle, l, r);
}
Value DeviceEmitter::equal(Value l, Value r) {
  return compare(arith::CmpIPredicate::eq, l, r);
}
Value DeviceEmitter::notZero(Value value) {
  return compare(arith::CmpIPredicate::ne, value, integer(0, value.getType()));
}
Value DeviceEmitter::notOf(Value condition) {
  return xorI(condition, flag(true));
}
Value DeviceEmitter::select(Value condition, Value l, Value r) {
  return arith::SelectOp::create(b, loc, condition, l, r);
}
Value DeviceEmitter::cast(Value value, Type type) {
  unsigned from = value.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (from == to)
    return value;
  if (from > to)
    return arith::TruncIOp::create(b, loc, type, value);
  if (from == 1)
    return arith::ExtUIOp::create(b, loc, type, value);
  return arith::ExtSIOp::create(b, loc, type, value);
}

Value DeviceEmitter::addF(Value l, Value r) {
  return arith::AddFOp::create(b, loc, l, r);
}
Value DeviceEmitter::subF(Value l, Value r) {
  return arith::SubFOp::create(b, loc, l, r);
}
Value DeviceEmitter::mulF(Value l, Value r) {
  return arith::MulFOp::create(b, loc, l, r);
}
Value DeviceEmitter::divF(Value l, Value r) {
  return arith::DivFOp::create(b, loc, l, r);
}
Value DeviceEmitter::fma(Value l, Value r, Value accumulator) {
  return LLVM::FMAOp::create(b, loc, l, r, accumulator);
}
Value DeviceEmitter::absF(Value value) {
  return LLVM::FAbsOp::create(b, loc, value);
}
Value DeviceEmitter::compareF(arith::CmpFPredicate predicate, Value l,
                              Value r) {
  return arith::CmpFOp::create(b, loc, predicate, l, r);
}
Value DeviceEmitter::greaterEqualF(Value l, Value r) {
  return compareF(arith::CmpFPredicate::OGE, l, r);
}
Value DeviceEmitter::maxF(Value l, Value r) {
  return select(compareF(arith::CmpFPredicate::OGT, l, r), l, r);
}
Value DeviceEmitter::minF(Value l, Value r) {
  return select(compareF(arith::CmpFPredicate::OLT, l, r), l, r);
}
Value DeviceEmitter::resize(Value value, Type type) {
  if (value.getType() == type)
    return value;
  Type from = getElementTypeOrSelf(value), to = getElementTypeOrSelf(type);
  if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, type, value);
  return arith::TruncFOp::create(b, loc, type, value);
}
Value DeviceEmitter::toReal(Value integer, Type type) {
  return arith::SIToFPOp::create(b, loc, type, integer);
}
Value DeviceEmitter::bitcast(Value value, Type type) {
  return LLVM::BitcastOp::create(b, loc, type, value);
}

Value DeviceEmitter::exponential(Value x) {
  // x = k ln 2 + r, |r| <= ln 2 / 2; Taylor's series of e^r to the 11th power
  // leaves 6e-15. The sum with 1.5 * 2^52 holds k in its low bits.
  constexpr double shifter = 6755399441055744.0;
  constexpr double log2E = 1.442695040888963407;
  constexpr double ln2High = 0x1.62e42fefa0000p-1;
  constexpr double ln2Low = 0x1.cf79abc9e3b3ap-40;
  Value shifted = fma(x, real(log2E), real(shifter));
  Value k = cast(bitcast(shifted, i64), i32);
  Value rounded = subF(shifted, real(shifter));
  Value r = fma(rounded, real(-ln2High), x);
  r = fma(rounded, real(-ln2Low), r);
  double factorials[12] = {1};
  for (int i = 1; i < 12; ++i)
    factorials[i] = factorials[i - 1] * i;
  Value sum = real(1 / factorials[11]);
  for (int i = 10; i >= 0; --i)
    sum = fma(sum, r, real(1 / factorials[i]));
  Value scaled = bitcast(add(bitcast(sum, i64), shl(cast(k, i64), 52)), f64);
  Value normal = greaterEqualF(x, real(-708));
  return select(normal, scaled, real(0));
}

// Vectors.

Value DeviceEmitter::element(Value vector, int64_t i) {
  return LLVM::ExtractElementOp::create(b, loc, vector, integer(i));
}

Value DeviceEmitter::vector(ValueRange elements) {
  Type type = vec(elements[0].getType(), elements.size());
  Value result = LLVM::PoisonOp::create(b, loc, type);
  for (auto [i, value] : llvm::enumerate(elements))
    result = LLVM::InsertElementOp::create(b, loc, result, value, integer(i));
  return result;
}

// Memory.

Value DeviceEmitter::offset(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(b, loc, pointer.getType(), i8, pointer, bytes,
                             LLVM::GEPNoWrapFlags::inbounds);
}
Value DeviceEmitter::offset(Value pointer, int64_t bytes) {
  if (bytes == 0)
    return pointer;
  return offset(pointer,
                integer(bytes, pointer.getType() == sharedPointer ? i32 : i64));
}
Value DeviceEmitter::load(Type type, Value pointer, int64_t alignment) {
  return LLVM::LoadOp::create(b, loc, type, pointer, alignment);
}
void DeviceEmitter::store(Value value, Value pointer, int64_t alignment) {
  LLVM::StoreOp::create(b, loc, value, pointer, alignment);
}
Value DeviceEmitter::pointer(Value address) {
  return LLVM::IntToPtrOp::create(b, loc, globalPointer, address);
}
Value DeviceEmitter::record(Value array, Value index, int64_t bytes) {
  return offset(array, mul(cast(index, i64), wide(bytes)));
}
void DeviceEmitter::atomic(LLVM::AtomicBinOp kind, Value value, Value pointer) {
  LLVM::AtomicRMWOp::create(b, loc, kind, pointer, value,
                            LLVM::AtomicOrdering::monotonic, "device");
}

// Threads.

Value DeviceEmitter::intrinsic(StringRef name, Type result,
                               ValueRange operands) {
  StringAttr intrinsic = b.getStringAttr(name);
  if (result)
    return LLVM::CallIntrinsicOp::create(b, loc, result, intrinsic, operands)
        ->getResult(0);
  LLVM::CallIntrinsicOp::create(b, loc, intrinsic, operands);
  return {};
}
Value DeviceEmitter::threadIndex() {
  return intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", i32, {});
}
Value DeviceEmitter::ctaIndex() {
  return intrinsic("llvm.nvvm.read.ptx.sreg.ctaid.x", i32, {});
}
Value DeviceEmitter::specialRegister(StringRef name) {
  return LLVM::InlineAsmOp::create(
             b, loc, i32, ValueRange(), ("mov.u32 $0, %" + name + ";").str(),
             "=r", /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::TailCallKind::None,
             LLVM::AsmDialectAttr::get(b.getContext(),
                                       LLVM::AsmDialect::AD_ATT),
             /*operand_attrs=*/ArrayAttr())
      .getResult(0);
}
void DeviceEmitter::barrier() {
  intrinsic("llvm.nvvm.barrier.cta.sync.aligned.all", {}, {integer(0)});
}
void DeviceEmitter::warpBarrier() {
  intrinsic("llvm.nvvm.bar.warp.sync", {}, {integer(-1)});
}
Value DeviceEmitter::ballot(Value condition) {
  return intrinsic("llvm.nvvm.vote.ballot.sync", i32, {integer(-1), condition});
}
Value DeviceEmitter::shuffle(StringRef name, Value value, Value lane) {
  if (value.getType() == f64) {
    Value halves = bitcast(value, vec(i32, 2));
    Value low = shuffle(name, element(halves, 0), lane);
    Value high = shuffle(name, element(halves, 1), lane);
    return bitcast(vector({low, high}), f64);
  }
  return intrinsic(name, i32, {integer(-1), value, lane, integer(31)});
}
Value DeviceEmitter::shuffleXor(Value value, int32_t mask) {
  return shuffle("llvm.nvvm.shfl.sync.bfly.i32", value, integer(mask));
}
Value DeviceEmitter::shuffleFrom(Value value, Value lane) {
  return shuffle("llvm.nvvm.shfl.sync.idx.i32", value, lane);
}
Value DeviceEmitter::foldWarp(Value value,
                              llvm::function_ref<Value(Value, Value)> fold) {
  for (int32_t mask = 16; mask > 0; mask /= 2)
    value = fold(value, shuffleXor(value, mask));
  return value;
}

// Control flow.

DeviceEmitter::Values DeviceEmitter::loop(
    Value begin, Value end, Value step, ValueRange initial,
    llvm::function_ref<Values(Value i, ValueRange carried)> body) {
  auto loop = scf::ForOp::create(
      b, loc, begin, end, step, initial,
      [&](OpBuilder &, Location, Value i, ValueRange carried) {
        scf::YieldOp::create(b, loc, body(i, carried));
      });
  return Values(loop.getResults());
}

void DeviceEmitter::loop(Value begin, Value end, Value step,
                         llvm::function_ref<void(Value i)> body) {
  loop(begin, end, step, ValueRange(), [&](Value i, ValueRange) -> Values {
    body(i);
    return {};
  });
}

DeviceEmitter::Values
DeviceEmitter::branch(Value condition, TypeRange results,
                      llvm::function_ref<Values()> thenBody,
                      llvm::function_ref<Values()> elseBody) {
  auto branch = scf::IfOp::create(b, loc, results, condition,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, thenBody());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, elseBody());
  return Values(branch.getResults());
}

void DeviceEmitter::when(Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

DeviceEmitter::Values
DeviceEmitter::repeat(ValueRange initial,
                      llvm::function_ref<Value(ValueRange carried)> condition,
                      llvm::function_ref<Values(ValueRange carried)> body) {
  auto loop = scf::WhileOp::create(
      b, loc, initial.getTypes(), initial,
      [&](OpBuilder &, Location, ValueRange carried) {
        scf::ConditionOp::create(b, loc, condition(carried), carried);
      },
      [&](OpBuilder &, Location, ValueRange carried) {
        scf::YieldOp::create(b, loc, body(carried));
      });
  return Values(loop.getResults());
}
