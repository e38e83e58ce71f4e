//===- StoreLowering.cpp - Stores of rows to global memory ----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Patterns.h"

using namespace mlir;
using namespace mlir::sparseattn;
using namespace mlir::sa_sm90;

using Results = FailureOr<SmallVector<Registers>>;

namespace {
/// A 2x2 exchange with the lane at `distance`: of the pair (a, b), the lanes
/// with `upper` keep b and get the partner's b as a; the others keep a and get
/// the partner's a as b.
void exchangePair(Emitter &emitter, Value upper, int64_t distance, Value &a,
                  Value &b) {
  Value sent = emitter.select(upper, a, b);
  Value received = emitter.exchange(sent, distance);
  a = emitter.select(upper, received, a);
  b = emitter.select(upper, b, received);
}

/// Stores the rows of one fragment, 16 bytes a lane and a store.
class RowStorer {
public:
  RowStorer(Emitter &emitter, StoreRowsOp op, Value base, Value stride,
            Value valid)
      : emitter(emitter), op(op), base(base), stride(stride), valid(valid),
        place(threadPlace(emitter, op)) {
    Value zero = emitter.i32(0);
    quad = emitter.bitAnd(place.lane, 3);
    odd = emitter.compare(arith::CmpIPredicate::ne, emitter.bitAnd(quad, 1),
                          zero);
    high = emitter.compare(arith::CmpIPredicate::ne, emitter.bitAnd(quad, 2),
                           zero);
  }

  void store(ValueRange source) {
    for (int64_t half : {0, 1}) {
      Registers ofRow;
      for (size_t i = 2 * half; i < source.size(); i += 4)
        ofRow.append({source[i], source[i + 1]});
      if (op.getElement().isF32())
        storeWide(half, ofRow);
      else
        storeNarrow(half, ofRow);
    }
  }

private:
  /// Address of byte `offset` of the thread's row, and that row.
  std::pair<Value, Value> row(int64_t half, Value offset, int64_t bytes) {
    OpBuilder &builder = emitter.builder;
    Value row = emitter.add(place.fragmentRow(emitter), 8 * half);
    Value elements = builder.createOrFold<arith::MulIOp>(
        emitter.loc, emitter.toI64(row), stride);
    Value distance = builder.createOrFold<arith::MulIOp>(emitter.loc, elements,
                                                         emitter.i64(bytes));
    distance = builder.createOrFold<arith::AddIOp>(emitter.loc, distance,
                                                   emitter.toI64(offset));
    Value address = LLVM::GEPOp::create(builder, emitter.loc, base.getType(),
                                        builder.getI8Type(), base,
                                        ArrayRef<LLVM::GEPArg>{distance});
    return {address, row};
  }

  void store(Value row, Value address, int64_t offset, ArrayRef<Value> words) {
    Assembly assembly;
    assembly.input(row);
    assembly.input(valid);
    assembly.input(address);
    for (Value word : words)
      assembly.input(word);
    assembly.emit(emitter, "{ .reg .pred p; setp.lt.s32 p, $0, $1; "
                           "@p st.global.v4.b32 [$2+" +
                               std::to_string(offset) +
                               "], {$3, $4, $5, $6}; }");
  }

  /// 16-bit elements: a lane has word q of each group of four words; after the
  /// transposition inside the quad it has group q, 8 columns.
  void storeNarrow(int64_t half, ArrayRef<Value> values) {
    auto [address, row] = this->row(half, emitter.mul(quad, 16), 2);
    Registers words;
    for (size_t i = 0; i < values.size(); i += 2)
      words.push_back(emitter.pack(values[i], values[i + 1], op.getElement()));
    for (size_t group = 0; group < words.size(); group += 4) {
      Registers w(ArrayRef(words).slice(group, 4));
      exchangePair(emitter, odd, 1, w[0], w[1]);
      exchangePair(emitter, odd, 1, w[2], w[3]);
      exchangePair(emitter, high, 2, w[0], w[2]);
      exchangePair(emitter, high, 2, w[1], w[3]);
      store(row, address, group * 16, w);
    }
  }

  /// f32: a lane has columns 2 q, 2 q + 1 of each 8; after the exchange with
  /// its neighbour the even lane has four columns of the first 8, the odd lane
  /// of the second.
  void storeWide(int64_t half, ArrayRef<Value> values) {
    Value first = emitter.mul(emitter.bitAnd(quad, 2), 8);
    Value offset = emitter.add(first, emitter.mul(emitter.bitAnd(quad, 1), 32));
    auto [address, row] = this->row(half, offset, 4);
    Type word = emitter.builder.getI32Type();
    for (size_t i = 0; i < values.size(); i += 4) {
      Registers w;
      for (Value value : values.slice(i, 4))
        w.push_back(emitter.bitcast(value, word));
      exchangePair(emitter, odd, 1, w[0], w[2]);
      exchangePair(emitter, odd, 1, w[1], w[3]);
      store(row, address, i / 4 * 64, w);
    }
  }

  Emitter &emitter;
  StoreRowsOp op;
  Value base, stride, valid;
  ThreadPlace place;
  Value quad, odd, high;
};

struct StoreRowsLowering : Sm90Pattern<StoreRowsOp> {
  using Sm90Pattern::Sm90Pattern;
  Results lower(StoreRowsOp op, Operands operands,
                Emitter &emitter) const override {
    RowStorer(emitter, op, operands.getBase().front(),
              operands.getStride().front(), operands.getValid().front())
        .store(operands.getSource());
    return SmallVector<Registers>{};
  }
};

struct StoreRowValuesLowering : Sm90Pattern<StoreRowValuesOp> {
  using Sm90Pattern::Sm90Pattern;
  Results lower(StoreRowValuesOp op, Operands operands,
                Emitter &emitter) const override {
    OpBuilder &builder = emitter.builder;
    ThreadPlace place = threadPlace(emitter, op);
    Value quad = emitter.bitAnd(place.lane, 3);
    Value row = place.fragmentRow(emitter);
    Value base = operands.getBase().front();
    Value address = LLVM::GEPOp::create(
        builder, emitter.loc, base.getType(), builder.getF32Type(), base,
        ArrayRef<LLVM::GEPArg>{emitter.toI64(row)});
    for (int64_t half : {0, 1}) {
      Assembly store;
      store.input(emitter.add(row, 8 * half));
      store.input(operands.getValid().front());
      store.input(quad);
      store.input(address);
      store.input(half == 0 ? operands.getLow().front()
                            : operands.getHigh().front());
      store.emit(emitter, "{ .reg .pred p; setp.lt.s32 p, $0, $1; "
                          "setp.eq.and.s32 p, $2, 0, p; "
                          "@p st.global.f32 [$3+" +
                              std::to_string(32 * half) + "], $4; }");
    }
    return SmallVector<Registers>{};
  }
};
} // namespace

void sparseattn::populateStoreLowerings(const TypeConverter &types,
                                        RewritePatternSet &patterns) {
  patterns.add<StoreRowsLowering, StoreRowValuesLowering>(
      types, patterns.getContext());
}
