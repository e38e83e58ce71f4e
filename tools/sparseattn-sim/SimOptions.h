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
  MeshOption axes; ///< derived from ranks and mesh

  /// A function is also compiled to a program and run over ranks.
  bool wantsProgram() const {
    return ranks > 0 || !mesh.empty() || !balance.empty() || augment ||
           explain || check;
  }
};

/// Reads and cross-checks the options; `helpText` receives --help's text.
Status parseOptions(int argc, char **argv, SimOptions &options,
                    std::string &helpText);

/// Refuses options that a program in the file fixes.
Status checkForProgram(const SimOptions &options);

} // namespace sart

#endif // SPARSEATTN_TOOLS_SIM_SIMOPTIONS_H
