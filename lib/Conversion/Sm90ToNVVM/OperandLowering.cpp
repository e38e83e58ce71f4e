//===- OperandLowering.cpp - A operands between registers and tiles -------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Patterns.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::sparseattn;
using namespace mlir::sa_sm90;

using Results = FailureOr<SmallVector<Registers>>;

namespace {
/// Where a lane reads or writes its row of the four 8x8 matrices of a k step.
class MatrixAddresses {
public:
  MatrixAddresses(Emitter &emitter, Operation *op, Value tile, TileType type)
      : type(type) {
    ThreadPlace place = threadPlace(emitter, op);
    // Matrices in order: rows 0-7, rows 8-15 of k 0-7, then those of k 8-15.
    Value row = emitter.add(emitter.bitAnd(place.lane, 15),
                            emitter.mul(place.warp, 16));
    Value half = emitter.shiftRight(place.lane, 4);
    Value swizzle = emitter.bitAnd(place.lane, 7);
    Value start = emitter.add(tile, emitter.mul(row, 128));
    for (int64_t step = 0; step < 4; ++step) {
      Value chunk = emitter.bitXor(emitter.add(half, 2 * step), swizzle);
      addresses.push_back(emitter.add(start, emitter.mul(chunk, 16)));
    }
  }

  Value address(int64_t step) const { return addresses[step % 4]; }
  /// ` + offset` of the step's box, to follow the address in the text.
  std::string offset(int64_t step) const {
    return step < 4 ? "" : "+" + std::to_string(step / 4 * type.getBoxBytes());
  }

private:
  TileType type;
  SmallVector<Value, 4> addresses;
};

struct LoadOperandLowering : Sm90Pattern<LoadOperandOp> {
  using Sm90Pattern::Sm90Pattern;
  Results lower(LoadOperandOp op, Operands operands,
                Emitter &emitter) const override {
    TileType type = op.getTile().getType();
    MatrixAddresses addresses(emitter, op, operands.getTile().front(), type);
    Registers all;
    for (int64_t step = 0; step < type.getColumns() / 16; ++step) {
      Assembly load;
      for (int i = 0; i < 4; ++i)
        load.output(emitter.builder.getI32Type());
      load.input(addresses.address(step));
      all.append(load.emit(
          emitter, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, "
                   "[$4" +
                       addresses.offset(step) + "];"));
    }
    return SmallVector<Registers>{all};
  }
};

struct StoreOperandLowering : Sm90Pattern<StoreOperandOp> {
  using Sm90Pattern::Sm90Pattern;
  Results lower(StoreOperandOp op, Operands operands,
                Emitter &emitter) const override {
    TileType type = op.getTile().getType();
    MatrixAddresses addresses(emitter, op, operands.getTile().front(), type);
    for (int64_t step = 0; step < type.getColumns() / 16; ++step) {
      Assembly store;
      store.input(addresses.address(step));
      for (Value word : operands.getOperand().slice(4 * step, 4))
        store.input(word);
      store.emit(emitter, "stmatrix.sync.aligned.m8n8.x4.shared.b16 [$0" +
                              addresses.offset(step) + "], {$1, $2, $3, $4};");
    }
    // The products read through the asynchronous proxy.
    Assembly fence;
    fence.emit(emitter, "fence.proxy.async.shared::cta;");
    Assembly barrier;
    APInt constant;
    std::string id;
    if (matchPattern(op.getBarrier(), m_ConstantInt(&constant)))
      id = std::to_string(constant.getZExtValue());
    else
      id = Assembly::name(barrier.input(operands.getBarrier().front()));
    barrier.emit(emitter, "bar.sync " + id + ", 128;");
    return SmallVector<Registers>{};
  }
};

struct ScratchLowering : Sm90Pattern<ScratchOp> {
  using Sm90Pattern::Sm90Pattern;
  Results lower(ScratchOp op, Operands operands,
                Emitter &emitter) const override {
    return SmallVector<Registers>{
        {emitter.add(emitter.sharedAddress(op.getOffset()),
                     emitter.mul(operands.getIndex().front(),
                                 op.getTile().getType().getBytes()))}};
  }
};

struct ToOperandLowering : Sm90Pattern<ToOperandOp> {
  using Sm90Pattern::Sm90Pattern;
  Results lower(ToOperandOp op, Operands operands,
                Emitter &emitter) const override {
    Registers words;
    ValueRange source = operands.getSource();
    for (size_t i = 0; i < source.size(); i += 2)
      words.push_back(emitter.pack(source[i], source[i + 1],
                                   op.getResult().getType().getElement()));
    return SmallVector<Registers>{words};
  }
};
} // namespace

void sparseattn::populateOperandLowerings(const TypeConverter &types,
                                          RewritePatternSet &patterns) {
  patterns.add<LoadOperandLowering, StoreOperandLowering, ScratchLowering,
               ToOperandLowering>(types, patterns.getContext());
}
