//===- TextInterpreter.h - Interprets modules given as text -----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_INTERPRETER_TEXTINTERPRETER_H
#define SPARSEATTN_INTERPRETER_TEXTINTERPRETER_H

#include "sparseattn/Interpreter/Values.h"

#include <functional>
#include <string>
#include <string_view>

namespace mlir {
namespace sparseattn {

/// Type of an argument or result of a function.
struct ValueType {
  enum class Kind { Tensor, Mask, Plan };
  Kind kind = Kind::Tensor;
  sart::DType dtype = sart::DType::F32; ///< tensors
  /// Tensors: their shape. Masks: heads, q-blocks, kv-blocks.
  std::vector<int64_t> shape;
};

/// Name, arguments and results of a function. Arguments are named as the text
/// names them, without `%`.
struct Signature {
  std::string name;
  std::vector<std::string> argumentNames;
  std::vector<ValueType> arguments, results;
};

/// A parsed module of sparseattn functions, or of sa_comm schedules. Errors
/// carry the diagnostics with line and column. Not safe for use by two threads
/// at once.
class TextInterpreter {
public:
  static sart::Expected<std::unique_ptr<TextInterpreter>>
  create(std::string_view text);
  ~TextInterpreter();

  /// Whether the module holds a sa_comm.template or sa_comm.program.
  bool hasSchedule() const;

  /// The function called `name`, or the only one when `name` is empty. Refuses
  /// argument and result types that no value can have.
  sart::Expected<Signature> signature(std::string_view name);

  /// Sees every mask with the name of the op that made it and its line.
  using MaskObserver = std::function<void(const std::string &op, int64_t line,
                                          const MaskValue &mask)>;

  /// Evaluates the function (see interpret()).
  sart::Expected<std::vector<InterpreterValue>>
  run(std::string_view name, const std::vector<InterpreterValue> &arguments,
      int64_t threads, const MaskObserver &observe = {});

private:
  TextInterpreter();
  struct State;
  std::unique_ptr<State> state;
};

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_INTERPRETER_TEXTINTERPRETER_H
