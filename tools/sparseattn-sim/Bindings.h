//===- Bindings.h - Arguments from arrays, results to arrays ----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_SIM_BINDINGS_H
#define SPARSEATTN_TOOLS_SIM_BINDINGS_H

#include "Inputs.h"

#include "sparseattn/Interpreter/TextInterpreter.h"

namespace sart {

/// Values for every argument out of an archive. Argument `i` takes the array of
/// its name in the text, or `arg<i>`; q, k, v serve arg0, arg1, arg2 of a layer
/// as a compiler prints it. Tensors: fp32, fp16 or bf16 (uint16)
/// arrays of its shape, rounded to its element type (`notice` then says so);
/// -inf is accepted in tensors of two axes (lse). Masks: bool [heads, q-blocks,
/// kv-blocks]. Refuses missing, unknown and wrong arrays, NaN and Inf, by name.
Expected<std::vector<mlir::sparseattn::InterpreterValue>>
loadArguments(const std::string &path,
              const mlir::sparseattn::Signature &signature,
              std::string &notice);

/// Normal random tensors, the same as sparseattn-run's for q, k, v; masks of
/// density one half.
Expected<std::vector<mlir::sparseattn::InterpreterValue>>
randomArguments(const mlir::sparseattn::Signature &signature, int64_t seed);

/// q, k, v of a layer: its first three arguments. Refuses other arguments.
Expected<RunInputs>
toRunInputs(const std::vector<mlir::sparseattn::InterpreterValue> &arguments);

/// out and lse for the results of a layer, else result0, result1, ...
std::vector<std::string>
resultNames(const mlir::sparseattn::Signature &signature);

/// Arrays of tensors and masks (bool); plans are left out.
NpzArchive
toArchive(const std::vector<std::string> &names,
          const std::vector<mlir::sparseattn::InterpreterValue> &values);

} // namespace sart

#endif // SPARSEATTN_TOOLS_SIM_BINDINGS_H
