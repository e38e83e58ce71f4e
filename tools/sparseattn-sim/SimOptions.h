//===- SimOptions.h - Options of sparseattn-sim -----------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_SIM_SIMOPTIONS_H
#define SPARSEATTN_TOOLS_SIM_SIMOPTIONS_H

#include "MeshOption.h"

#include <cstdint>
#include <string>

namespace sart {

/// What the command line asked for; empty text means not given.
struct SimOptions {
  std::string path, function, inputs, outputs;
  int64_t ranks = 0; ///< 0: from the mesh
  std::string mesh;
  std::string balance;
  bool augment = false;
  int64_t seed = 0, threads = 0, timeoutMs = 0;
  bool masks = false, explain = false, check = false, help = false;
  std::string machine, mask, trace;  ///< of a prediction
  int64_t instance = 0, density = 0; ///< density in thousandths, 0: not given
  bool json = false;
  MeshOption axes; ///< derived from ranks and mesh

  bool autoMesh() const { return mesh == "auto"; }
  /// Left open; with --mesh auto it is unless it was given.
  bool autoBalance() const {
    return balance == "auto" || (autoMesh() && balance.empty());
  }
  /// Nothing is computed, whatever the file.
  bool predicts() const {
    return !mask.empty() || density > 0 || json || autoMesh() || autoBalance();
  }
  /// Something is computed, not only predicted.
  bool computes() const {
    return !inputs.empty() || !outputs.empty() || masks || check;
  }

  /// A function is also compiled to a program and run over ranks.
  bool wantsProgram() const {
    return ranks > 0 || !mesh.empty() || !balance.empty() || augment ||
           explain || check || !machine.empty();
  }
};

/// Reads and cross-checks the options; `helpText` receives --help's text.
Status parseOptions(int argc, char **argv, SimOptions &options,
                    std::string &helpText);

/// Refuses options that a program in the file fixes.
Status checkForProgram(const SimOptions &options);

} // namespace sart

#endif // SPARSEATTN_TOOLS_SIM_SIMOPTIONS_H
