//===- ProductLowering.cpp - Tensor-core products and their waits ---------===//
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

/// The descriptor of a tile at shared address `address`: 128-byte swizzle;
/// `leading` and `stride` in bytes.
static Value describe(Emitter &emitter, Value address, int64_t leading,
                      int64_t stride) {
  Value field = emitter.bitAnd(emitter.shiftRight(address, 4), 0x3FFF);
  int64_t constant = (leading / 16) << 16 | (stride / 16) << 32 | 1LL << 62;
  return emitter.builder.createOrFold<arith::OrIOp>(
      emitter.loc, emitter.toI64(field), emitter.i64(constant));
}

/// Of a tile whose rows are consecutive in memory along k (A, and B of scores).
static Value describeRows(Emitter &emitter, Value address) {
  return describe(emitter, address, 16, 1024);
}

/// Of a tile that is read transposed (B of accumulate): the leading dimension
/// is the distance of its boxes of 64 columns.
static Value describeColumns(Emitter &emitter, Value address, TileType type) {
  return describe(emitter, address, type.getBoxBytes(), 1024);
}

/// Distance of k step `step` from the tile's start, in units of 16 bytes.
static int64_t rowsOffset(int64_t step, TileType type) {
  return step / 4 * (type.getBoxBytes() / 16) + step % 4 * 2;
}

static StringRef elementName(Type element) {
  return element.isBF16() ? "bf16" : "f16";
}

namespace {
/// Writes the text of one product: fence, k steps, commit.
class ProductText {
public:
  ProductText(Assembly &assembly, Type element)
      : assembly(assembly), element(element) {
    text = "{ .reg .pred no, yes; .reg .b64 a, b; setp.ne.b32 no, 0, 0; "
           "setp.eq.b32 yes, 0, 0; wgmma.fence.sync.aligned; ";
  }

  /// Adds A as inputs of the assembly.
  void addA(Emitter &emitter, Value a, ValueRange registers) {
    tile = dyn_cast<TileType>(a.getType());
    if (tile)
      firstA = assembly.input(describeRows(emitter, registers.front()));
    else
      for (auto [i, value] : llvm::enumerate(registers)) {
        unsigned number = assembly.input(value);
        firstA = i == 0 ? number : firstA;
      }
  }

  /// Adds D[registers from `firstOut`, `columns` columns] (+)= A[k step] * B.
  void step(unsigned firstOut, int64_t columns, int64_t stepOfA,
            unsigned descriptorOfB, int64_t offsetOfB, bool transposed,
            bool accumulates) {
    std::string a = operandA(stepOfA),
                b = operand("b", descriptorOfB, offsetOfB);
    text += "wgmma.mma_async.sync.aligned.m64n" + std::to_string(columns) +
            "k16.f32." +
            (elementName(element) + "." + elementName(element)).str() + " " +
            Assembly::list(firstOut, columns / 2) + ", " + a + ", " + b + ", " +
            (accumulates ? "yes" : "no") + ", 1, 1, ";
    if (tile)
      text += "0, ";
    text += transposed ? "1; " : "0; ";
  }

  std::string finish() { return text + "wgmma.commit_group.sync.aligned; }"; }

private:
  /// A descriptor moved by `offset`, in local register `local` if need be.
  std::string operand(const char *local, unsigned descriptor, int64_t offset) {
    if (offset == 0)
      return Assembly::name(descriptor);
    text += std::string("add.s64 ") + local + ", " +
            Assembly::name(descriptor) + ", " + std::to_string(offset) + "; ";
    return local;
  }

  std::string operandA(int64_t step) {
    if (tile)
      return operand("a", firstA, rowsOffset(step, tile));
    return Assembly::list(firstA + 4 * step, 4);
  }

  Assembly &assembly;
  Type element;
  TileType tile;
  unsigned firstA = 0;
  std::string text;
};

struct ScoresLowering : Sm90Pattern<ScoresOp> {
  using Sm90Pattern::Sm90Pattern;
  Results lower(ScoresOp op, Operands operands,
                Emitter &emitter) const override {
    int64_t columns = op.getResult().getType().getColumns();
    bool early = isa<OperandType>(op.getA().getType());
    Assembly assembly;
    for (int64_t i = 0; i < columns / 2; ++i)
      assembly.output(emitter.builder.getF32Type(), early);
    auto first = cast<TileType>(op.getB().front().getType());
    ProductText text(assembly, first.getElement());
    text.addA(emitter, op.getA(), operands.getA());
    SmallVector<unsigned> descriptors;
    for (ValueRange b : operands.getB())
      descriptors.push_back(assembly.input(describeRows(emitter, b.front())));
    unsigned firstOut = 0;
    for (auto [b, descriptor] : llvm::zip_equal(op.getB(), descriptors)) {
      auto type = cast<TileType>(b.getType());
      for (int64_t step = 0; step < type.getColumns() / 16; ++step)
        text.step(firstOut, type.getRows(), step, descriptor,
                  rowsOffset(step, type), /*transposed=*/false,
                  /*accumulates=*/step > 0);
      firstOut += type.getRows() / 2;
    }
    return SmallVector<Registers>{assembly.emit(emitter, text.finish())};
  }
};

struct AccumulateLowering : Sm90Pattern<AccumulateOp> {
  using Sm90Pattern::Sm90Pattern;
  Results lower(AccumulateOp op, Operands operands,
                Emitter &emitter) const override {
    int64_t columns = op.getResult().getType().getColumns();
    Assembly assembly;
    for (int64_t i = 0; i < columns / 2; ++i)
      assembly.output(emitter.builder.getF32Type(), op.getClear());
    if (!op.getClear())
      for (auto [i, value] : llvm::enumerate(operands.getInit()))
        assembly.tied(value, i);
    auto first = cast<TileType>(op.getB().front().getType());
    ProductText text(assembly, first.getElement());
    text.addA(emitter, op.getA(), operands.getA());
    SmallVector<unsigned> descriptors;
    for (auto [b, registers] : llvm::zip_equal(op.getB(), operands.getB()))
      descriptors.push_back(assembly.input(describeColumns(
          emitter, registers.front(), cast<TileType>(b.getType()))));
    int64_t stepOfA = 0;
    for (auto [b, descriptor] : llvm::zip_equal(op.getB(), descriptors)) {
      // 16 rows of 128 bytes a step.
      constexpr int64_t distance = 16 * 128 / 16;
      int64_t steps = cast<TileType>(b.getType()).getRows() / 16;
      for (int64_t step = 0; step < steps; ++step, ++stepOfA)
        text.step(/*firstOut=*/0, columns, stepOfA, descriptor, step * distance,
                  /*transposed=*/true,
                  /*accumulates=*/stepOfA > 0 || !op.getClear());
    }
    return SmallVector<Registers>{assembly.emit(emitter, text.finish())};
  }
};

struct WaitLowering : Sm90Pattern<WaitOp> {
  using Sm90Pattern::Sm90Pattern;
  Results lower(WaitOp op, Operands operands, Emitter &emitter) const override {
    Assembly assembly;
    Registers all;
    for (ValueRange accumulator : operands.getAccumulators())
      all.append(accumulator.begin(), accumulator.end());
    for (Value value : all)
      assembly.output(value.getType());
    for (auto [i, value] : llvm::enumerate(all))
      assembly.tied(value, i);
    Registers waited =
        assembly.emit(emitter, "wgmma.wait_group.sync.aligned " +
                                   std::to_string(op.getPending()) + ";");
    SmallVector<Registers> results;
    size_t next = 0;
    for (ValueRange accumulator : operands.getAccumulators()) {
      results.emplace_back(ArrayRef(waited).slice(next, accumulator.size()));
      next += accumulator.size();
    }
    return results;
  }
};
} // namespace

void sparseattn::populateProductLowerings(const TypeConverter &types,
                                          RewritePatternSet &patterns) {
  patterns.add<ScoresLowering, AccumulateLowering, WaitLowering>(
      types, patterns.getContext());
}
