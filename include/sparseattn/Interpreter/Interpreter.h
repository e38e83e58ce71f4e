//===- Interpreter.h - Evaluates functions of sparseattn ops ----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_INTERPRETER_INTERPRETER_H
#define SPARSEATTN_INTERPRETER_INTERPRETER_H

#include "sparseattn/Interpreter/Values.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>

namespace mlir::sparseattn {

struct InterpreterOptions {
  /// Worker threads, 0: one per core. Results do not depend on it.
  int64_t threads = 0;
  /// Sees every op after it was evaluated, with its results.
  std::function<void(Operation *, ArrayRef<InterpreterValue>)> observe;
};

/// Evaluates one function op by op, on one rank, in double precision, apart
/// from everything that is compiled: the reference of the ops' semantics.
///
/// Ops: the sparseattn dialect, constants of float tensors, func.return, in one
/// block. Results are rounded to the op's element type, nearest even. `place`,
/// `balance`, `demand` and `reshard` have no numeric effect. `augment` adds the
/// extra tiles of the plan's `fixed_plan`, or of the plan that the planning
/// library makes for the mask, to a routed mask, next-best first by its scores.
/// A layer whose permutes were hoisted (attribute `sparseattn.boundary_order`)
/// permutes its arguments and results over axis 1.
///
/// `arguments` are of the function's types: tensors of the same shape and
/// element type, masks of the same blocks. Errors are diagnostics on the op.
FailureOr<SmallVector<InterpreterValue>>
interpret(func::FuncOp function, ArrayRef<InterpreterValue> arguments,
          const InterpreterOptions &options = {});

} // namespace mlir::sparseattn

#endif // SPARSEATTN_INTERPRETER_INTERPRETER_H
