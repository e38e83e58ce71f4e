//===- LayerChoice.h - A layer's mesh and balance by their time -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_JIT_LAYERCHOICE_H
#define SPARSEATTN_JIT_LAYERCHOICE_H

#include "sparseattn/Jit/LayerCompiler.h"

#include "sparseattn-rt/Timeline.h"

#include <string>
#include <vector>

namespace mlir {
namespace sparseattn {

/// The bound program of `mask` on a machine: the layer's template planned with
/// the machine's costs, or its fixed plan. A layer that is bound already is
/// given back as it is, whatever the mask. Refuses a mask of another shape.
sart::Expected<sart::Program> bindLayer(const CompiledLayer &layer,
                                        const sart::BlockMask &mask,
                                        const sart::Machine &machine);

/// One way to run a layer.
struct LayerCandidate {
  int64_t ulysses = 1, ring = 1;
  std::string balance;
  std::string problem;    ///< why it is out; empty: it is predicted
  int64_t makespanPs = 0; ///< of the whole layer
  int64_t computePs = 0;  ///< of the rank with the most work
  int64_t exposedPs = 0;  ///< most exposed communication of a rank
};

/// What chooseLayer tries. At least one of the two is open.
struct ChoiceOptions {
  int64_t ranks = 1;
  bool anyMesh = false;    ///< every ulysses x ring of `ranks`
  bool anyBalance = false; ///< every balance that the compiler knows
};

struct LayerChoice {
  std::vector<LayerCandidate> candidates; ///< in the order of preference
  size_t best = 0;
  sart::Program program; ///< bound, of the best one
  /// The candidates and the choice, a line each.
  std::string text() const;
};

/// Compiles the layer for every candidate, binds `mask` and takes the one with
/// the least predicted time. Fewer ring segments, then a simpler balance, are
/// preferred within 3 % of that: predictions are no better. `compiler` may be
/// one without kernels. Errors: of the layer itself, or when no candidate runs.
sart::Expected<LayerChoice>
chooseLayer(LayerCompiler &compiler, std::string_view text,
            const LayerOptions &options, const sart::Machine &machine,
            const sart::BlockMask &mask, const ChoiceOptions &choice);

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_JIT_LAYERCHOICE_H
