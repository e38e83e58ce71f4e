//===- Emitter.h - What the lowerings of sa_sm90 share ----------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_CONVERSION_SM90TONVVM_EMITTER_H
#define SPARSEATTN_LIB_CONVERSION_SM90TONVVM_EMITTER_H

#include "sparseattn/Dialect/Sm90/IR/Sm90.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <string>

namespace mlir {
namespace sparseattn {

/// The registers of one value of the dialect, as one thread holds them.
using Registers = SmallVector<Value>;

/// Writes the short operations of which lowerings are made.
class Emitter {
public:
  Emitter(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value i32(int64_t value);
  Value i64(int64_t value);
  Value f32(double value);
  Value add(Value a, Value b);
  Value add(Value a, int64_t b);
  Value sub(Value a, int64_t b);
  Value mul(Value a, int64_t b);
  Value bitAnd(Value a, int64_t b);
  Value bitOr(Value a, int64_t b);
  Value bitXor(Value a, Value b);
  Value shiftRight(Value a, int64_t by);
  Value compare(arith::CmpIPredicate predicate, Value a, Value b);
  Value select(Value condition, Value a, Value b);
  Value toI64(Value a);
  Value bitcast(Value a, Type type);

  /// Lane 0's `value` in every lane; the result is uniform across the warp.
  Value firstLane(Value value);
  /// The value of lane (own XOR `distance`).
  Value exchange(Value value, int64_t distance);
  /// `low` and `high` rounded to 16-bit floats, `low` in the lower half.
  Value pack(Value low, Value high, Type element);
  /// Address of byte `offset` of dynamic shared memory, i32.
  Value sharedAddress(int64_t offset);

  OpBuilder &builder;
  Location loc;

private:
  Value shuffle(NVVM::ShflKind kind, Value value, int64_t offset);
};

/// One inline assembly. Outputs are added before inputs; each is named in the
/// text by the number that adding it gave. It may touch memory and is neither
/// removed nor moved over another one.
class Assembly {
public:
  /// A result, in a register of `type`'s class; `early`: written before all
  /// inputs have been read.
  unsigned output(Type type, bool early = false);
  unsigned input(Value value);
  /// An input in the register of output `number`.
  unsigned tied(Value value, unsigned number);
  Registers emit(Emitter &emitter, StringRef text);

  /// `$n`.
  static std::string name(unsigned number);
  /// `{$first, ..., $(first + count - 1)}`.
  static std::string list(unsigned first, unsigned count);

private:
  SmallVector<Type> results;
  SmallVector<std::string> constraints;
  SmallVector<Value> inputs;
};

/// What a thread knows of itself inside a role.
struct ThreadPlace {
  /// Lane of the warp, and warp of the warpgroup (0 to 3).
  Value lane, warp;
  /// Row of the thread's first row in a fragment of 64 rows.
  Value fragmentRow(Emitter &emitter) const;
};
ThreadPlace threadPlace(Emitter &emitter, Operation *op);

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_LIB_CONVERSION_SM90TONVVM_EMITTER_H
