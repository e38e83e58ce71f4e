//===- DeviceInterpreter.cpp - Runs GPU kernels on the host ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DeviceInterpreter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::sparseattn;

uint64_t DeviceInterpreter::allow(void *data, size_t bytes) {
  auto begin = reinterpret_cast<uint64_t>(data);
  ranges[begin] = begin + bytes;
  return begin;
}

int64_t DeviceInterpreter::elementsOf(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getNumElements();
  if (auto structure = dyn_cast<LLVM::LLVMStructType>(type))
    return static_cast<int64_t>(structure.getBody().size());
  return 1;
}

Type DeviceInterpreter::elementTypeOf(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getElementType();
  if (auto structure = dyn_cast<LLVM::LLVMStructType>(type))
    return structure.getBody()[0];
  return type;
}

DeviceInterpreter::Lanes &DeviceInterpreter::make(Value value) {
  Lanes &lanes = of(value);
  lanes.resize(static_cast<size_t>(threads * elementsOf(value.getType())));
  return lanes;
}

bool DeviceInterpreter::any(const Mask &mask) const {
  return std::find(mask.begin(), mask.end(), 1) != mask.end();
}

bool DeviceInterpreter::wholeWarps(const Mask &mask) const {
  for (int32_t t = 0; t < threads; ++t)
    if (mask[t] != mask[t / 32 * 32])
      return false;
  return true;
}

void DeviceInterpreter::assign(Value to, const Lanes &from, const Mask &mask) {
  Lanes &lanes = make(to);
  int64_t elements = elementsOf(to.getType());
  for (int32_t t = 0; t < threads; ++t)
    if (mask[t])
      std::copy_n(from.begin() + t * elements, elements,
                  lanes.begin() + t * elements);
}

void DeviceInterpreter::assignAll(ValueRange to, ValueRange from,
                                  const Mask &mask) {
  std::vector<Lanes> copies;
  for (Value value : from)
    copies.push_back(of(value));
  for (auto [value, lanes] : llvm::zip_equal(to, copies))
    assign(value, lanes, mask);
}

void DeviceInterpreter::access(void *data, uint64_t address, size_t bytes,
                               bool write) {
  auto begin = reinterpret_cast<uint64_t>(shared.data());
  bool inside = address >= begin && address + bytes <= begin + shared.size();
  auto range = ranges.upper_bound(address);
  if (!inside && range != ranges.begin())
    inside = address + bytes <= (--range)->second;
  if (!inside)
    return fail("access outside of memory");
  if (bytes <= 16 && address % bytes != 0)
    return fail("access not aligned");
  void *place = reinterpret_cast<void *>(address);
  if (write)
    std::memcpy(place, data, bytes);
  else
    std::memcpy(data, place, bytes);
}

std::string DeviceInterpreter::run(StringRef kernel, int64_t grid,
                                   int32_t count, int64_t sharedBytes,
                                   ArrayRef<uint64_t> arguments) {
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(kernel);
  if (!function)
    return "no kernel " + kernel.str();
  auto most = function->getAttrOfType<DenseI32ArrayAttr>("nvvm.maxntid");
  if (!most || count > most[0])
    return "more threads than the kernel allows";
  if (arguments.size() != function.getNumArguments())
    return "wrong number of arguments";
  threads = count;
  error.clear();
  auto memory = module.lookupSymbol<LLVM::GlobalOp>((kernel + "_shared").str());
  if (memory && sharedBytes == 0)
    sharedBytes = cast<LLVM::LLVMArrayType>(memory.getType()).getNumElements();
  for (cta = 0; cta < grid && error.empty(); ++cta) {
    values.clear();
    // Shared memory begins as anything; NaN shows in most results.
    shared.assign(static_cast<size_t>(sharedBytes), char(0xff));
    for (auto [i, bits] : llvm::enumerate(arguments))
      std::fill(make(function.getArgument(i)).begin(),
                of(function.getArgument(i)).end(), bits);
    runBlock(function.getBody().front(), Mask(threads, 1));
  }
  return error;
}

void DeviceInterpreter::runBlock(Block &block, const Mask &mask) {
  for (Operation &op : block.without_terminator()) {
    if (!error.empty())
      return;
    runOp(op, mask);
  }
}

void DeviceInterpreter::runOp(Operation &op, const Mask &mask) {
  if (runControl(op, mask) || runMemory(op, mask) || runCollective(op, mask) ||
      runScalar(op, mask))
    return;
  fail("operation not known: " + op.getName().getStringRef().str());
}

bool DeviceInterpreter::runControl(Operation &op, const Mask &mask) {
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    Mask taken = mask, other = mask;
    for (int32_t t = 0; t < threads; ++t) {
      bool condition = of(branch.getCondition())[t] & 1;
      taken[t] = mask[t] && condition;
      other[t] = mask[t] && !condition;
    }
    auto runSide = [&](Block *block, const Mask &side) {
      if (!block || !any(side))
        return;
      runBlock(*block, side);
      if (error.empty())
        assignAll(op.getResults(), block->getTerminator()->getOperands(), side);
    };
    runSide(branch.thenBlock(), taken);
    runSide(branch.elseBlock(), other);
    for (Value result : op.getResults())
      make(result);
    return true;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    Value i = loop.getInductionVar();
    assign(i, of(loop.getLowerBound()), mask);
    assignAll(loop.getRegionIterArgs(), loop.getInitArgs(), mask);
    Mask active = mask;
    Lanes end = of(loop.getUpperBound()), step = of(loop.getStep());
    while (error.empty()) {
      Lanes &now = of(i);
      for (int32_t t = 0; t < threads; ++t)
        active[t] = active[t] &&
                    static_cast<int32_t>(now[t]) < static_cast<int32_t>(end[t]);
      if (!any(active))
        break;
      runBlock(*loop.getBody(), active);
      if (!error.empty())
        break;
      assignAll(loop.getRegionIterArgs(),
                loop.getBody()->getTerminator()->getOperands(), active);
      for (int32_t t = 0; t < threads; ++t)
        if (active[t])
          now[t] = static_cast<uint32_t>(now[t] + step[t]);
    }
    assignAll(op.getResults(), loop.getRegionIterArgs(), mask);
    return true;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    Block *before = loop.getBeforeBody(), *after = loop.getAfterBody();
    assignAll(before->getArguments(), loop.getInits(), mask);
    Mask active = mask;
    for (int64_t steps = 0; any(active); ++steps) {
      if (steps > 100000)
        fail("loop without end");
      runBlock(*before, active);
      if (!error.empty())
        return true;
      auto condition = cast<scf::ConditionOp>(before->getTerminator());
      assignAll(op.getResults(), condition.getArgs(), active);
      for (int32_t t = 0; t < threads; ++t)
        active[t] = active[t] && (of(condition.getCondition())[t] & 1);
      if (!any(active))
        break;
      assignAll(after->getArguments(), condition.getArgs(), active);
      runBlock(*after, active);
      if (!error.empty())
        return true;
      assignAll(before->getArguments(), after->getTerminator()->getOperands(),
                active);
    }
    return true;
  }
  return false;
}

bool DeviceInterpreter::runMemory(Operation &op, const Mask &mask) {
  auto widthOf = [](Type type) {
    return static_cast<size_t>(elementTypeOf(type).getIntOrFloatBitWidth()) / 8;
  };
  if (isa<LLVM::AddressOfOp>(op)) {
    Lanes &lanes = make(op.getResult(0));
    std::fill(lanes.begin(), lanes.end(),
              reinterpret_cast<uint64_t>(shared.data()));
    return true;
  }
  if (auto gep = dyn_cast<LLVM::GEPOp>(op)) {
    Value bytes = gep.getDynamicIndices()[0];
    Lanes base = of(gep.getBase()), index = of(bytes);
    Lanes &result = make(gep.getResult());
    for (int32_t t = 0; t < threads; ++t)
      if (mask[t])
        result[t] = base[t] +
                    (bytes.getType().isInteger(32)
                         ? static_cast<int64_t>(static_cast<int32_t>(index[t]))
                         : static_cast<int64_t>(index[t]));
    return true;
  }
  Value pointer, value;
  bool write = isa<LLVM::StoreOp>(op);
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    pointer = load.getAddr();
    value = load.getResult();
    make(value);
  } else if (auto store = dyn_cast<LLVM::StoreOp>(op)) {
    pointer = store.getAddr();
    value = store.getValue();
  } else if (auto atomic = dyn_cast<LLVM::AtomicRMWOp>(op)) {
    for (int32_t t = 0; t < threads; ++t) {
      if (!mask[t])
        continue;
      uint32_t old = 0;
      access(&old, of(atomic.getPtr())[t], 4, false);
      auto operand = static_cast<uint32_t>(of(atomic.getVal())[t]);
      uint32_t next = atomic.getBinOp() == LLVM::AtomicBinOp::_or
                          ? old | operand
                          : old + operand;
      access(&next, of(atomic.getPtr())[t], 4, true);
    }
    return true;
  } else {
    return false;
  }
  size_t width = widthOf(value.getType());
  auto elements = static_cast<size_t>(elementsOf(value.getType()));
  Lanes &lanes = of(value);
  for (int32_t t = 0; t < threads && error.empty(); ++t) {
    if (!mask[t])
      continue;
    char bytes[64] = {};
    if (write)
      for (size_t i = 0; i < elements; ++i)
        std::memcpy(bytes + i * width, &lanes[t * elements + i], width);
    access(bytes, of(pointer)[t], width * elements, write);
    if (write)
      continue;
    for (size_t i = 0; i < elements; ++i) {
      lanes[t * elements + i] = 0;
      std::memcpy(&lanes[t * elements + i], bytes + i * width, width);
    }
  }
  return true;
}

/// What threads read of each other, and of themselves.
bool DeviceInterpreter::runCollective(Operation &op, const Mask &mask) {
  if (isa<LLVM::InlineAsmOp>(op)) {
    runAsm(op, mask);
    return true;
  }
  auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
  if (!call)
    return false;
  StringRef name = call.getIntrin();
  if (!name.consume_front("llvm.nvvm."))
    return false;
  if (name == "barrier.cta.sync.aligned.all") {
    if (std::find(mask.begin(), mask.end(), 0) != mask.end())
      fail("barrier not met by all threads");
    return true;
  }
  bool collective = name.starts_with("shfl") || name.starts_with("vote") ||
                    name.starts_with("bar.warp");
  if (collective && !wholeWarps(mask))
    fail("collective operation not met by a whole warp");
  if (name == "bar.warp.sync")
    return true;
  auto argument = [&](unsigned i) { return of(call.getArgs()[i]); };
  Lanes &result = make(op.getResult(0));
  Lanes in = call.getArgs().empty() ? Lanes() : argument(0);
  Lanes second = call.getArgs().size() > 1 ? argument(1) : Lanes();
  Lanes third = call.getArgs().size() > 2 ? argument(2) : Lanes();
  auto asFloat = [](uint64_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  };
  for (int32_t t = 0; t < threads; ++t) {
    if (!mask[t])
      continue;
    int32_t first = t / 32 * 32;
    if (name == "read.ptx.sreg.tid.x") {
      result[t] = static_cast<uint64_t>(t);
    } else if (name == "read.ptx.sreg.ctaid.x") {
      result[t] = static_cast<uint64_t>(cta);
    } else if (name == "read.ptx.sreg.ntid.x") {
      result[t] = static_cast<uint64_t>(threads);
    } else if (name == "vote.ballot.sync") {
      result[t] = 0;
      for (int32_t lane = 0; lane < 32; ++lane)
        result[t] |= (second[first + lane] & 1) << lane;
    } else if (name == "shfl.sync.bfly.i32") {
      result[t] =
          second[first + ((t - first) ^ static_cast<int32_t>(third[t]))];
    } else if (name == "shfl.sync.idx.i32") {
      result[t] = second[first + static_cast<int32_t>(third[t]) % 32];
    } else if (name == "ex2.approx.f32") {
      result[t] = bitsOf(std::exp2(asFloat(in[t])));
    } else if (name == "lg2.approx.f") {
      result[t] = bitsOf(std::log2(asFloat(in[t])));
    } else {
      return false;
    }
  }
  return true;
}

/// The product of fp64 tensor cores, with the registers that PTX gives each
/// lane, and special registers.
void DeviceInterpreter::runAsm(Operation &op, const Mask &mask) {
  auto assembly = cast<LLVM::InlineAsmOp>(op);
  StringRef text = assembly.getAsmString();
  Lanes &result = make(op.getResult(0));
  if (text.starts_with("mov.u32 $0, %")) {
    for (int32_t t = 0; t < threads; ++t)
      result[t] = static_cast<uint64_t>(text.contains("%ctaid.x")  ? cta
                                        : text.contains("%laneid") ? t % 32
                                                                   : t);
    return;
  }
  if (!text.starts_with("mma.sync.aligned.m16n8k16.row.col.f64"))
    return fail("assembly not known: " + text.str());
  if (!wholeWarps(mask))
    return fail("product not met by a whole warp");
  auto operand = [&](unsigned i, int32_t thread) {
    double value;
    std::memcpy(&value, &of(op.getOperand(i))[thread], sizeof(value));
    return value;
  };
  for (int32_t first = 0; first < threads; first += 32) {
    if (!mask[first])
      continue;
    double a[16][16], b[16][8];
    for (int32_t lane = 0; lane < 32; ++lane) {
      int32_t g = lane / 4, t = lane % 4;
      for (int32_t i = 0; i < 8; ++i)
        a[g + 8 * (i % 2)][i / 2 * 4 + t] = operand(i, first + lane);
      for (int32_t i = 0; i < 4; ++i)
        b[i * 4 + t][g] = operand(8 + i, first + lane);
    }
    for (int32_t lane = 0; lane < 32; ++lane)
      for (int32_t i = 0; i < 4; ++i) {
        int32_t row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
        double sum = operand(12 + i, first + lane);
        for (int32_t k = 0; k < 16; ++k)
          sum = std::fma(a[row][k], b[k][column], sum);
        std::memcpy(&result[(first + lane) * 4 + i], &sum, sizeof(sum));
      }
  }
}
