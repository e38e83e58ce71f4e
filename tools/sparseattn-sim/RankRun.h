//===- RankRun.h - A program run over ranks ---------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_SIM_RANKRUN_H
#define SPARSEATTN_TOOLS_SIM_RANKRUN_H

#include "Handles.h"
#include "Inputs.h"
#include "SimOptions.h"

#include "sparseattn/Interpreter/Values.h"

#include "sparseattn-rt/Program.h"

namespace sart {

/// One layer on the reference backend, over the ranks of its program.
class RankRun {
public:
  /// Compiles sparseattn text, or reads a program (text or bytes).
  static Expected<RankRun> create(const SimOptions &options,
                                  const std::string &contents, bool isProgram);

  const sa_layer_info &info() const { return layerInfo; }
  const sa_run_stats &stats() const { return runStats; }
  sa_layer *handle() { return layer.get(); }

  /// Runs it; `out` and `lse` hold NaN before.
  Status run(RunInputs &inputs);
  HostTensor out, lse;

  /// Of the finished run.
  Expected<BlockMask> mask() const;
  Expected<std::string> planText() const;
  Expected<std::string> explanation() const;
  Expected<Program> program() const;

private:
  EngineHandle engine;
  LayerHandle layer;
  sa_layer_info layerInfo = {};
  sa_run_stats runStats = {};
};

/// How far a run is from the interpretation of the same layer.
struct Comparison {
  double error = 0, bound = 0;       ///< of out
  double lseError = 0, lseBound = 0; ///< of lse; infinite: an empty row differs
  int64_t tiles = 0, differing = 0;  ///< of the masks, visible tiles only
  bool passed() const {
    return error <= bound && lseError <= lseBound && differing == 0;
  }
};

/// Compares the run's out, lse and mask with the interpretation's. `mask` may
/// be null. Both sides compute in double precision and round at the end; the
/// partial results of a ring are fp32. Bounds: errorBound() for out,
/// 2^-18 + 2^-21 * largest |lse| for lse; masks must be equal.
Expected<Comparison> compare(const RankRun &run, const HostTensor &v,
                             const mlir::sparseattn::TensorValue &out,
                             const mlir::sparseattn::TensorValue &lse,
                             const BlockMask *mask);

} // namespace sart

#endif // SPARSEATTN_TOOLS_SIM_RANKRUN_H
