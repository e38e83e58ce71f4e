//===- RunOptions.h - Options of sparseattn-run -----------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_RUN_RUNOPTIONS_H
#define SPARSEATTN_TOOLS_RUN_RUNOPTIONS_H

#include "sparseattn-rt/Status.h"

#include <cstdint>
#include <string>

namespace sart {

/// What the command line asked for; empty text means not given.
struct CommandOptions {
  std::string layerPath;
  bool attend = false;
  std::string block; ///< QxK
  bool causal = false;
  std::string scale;
  int64_t ranks = 0; ///< 0: from the mesh, or 1
  std::string mesh;  ///< ulysses=U,ring=R
  std::string balance;
  std::string machine;     ///< name or file
  std::string machineText; ///< derived: its contents
  bool repair = false;
  bool augment = false;
  std::string device = "cpu", ptxas, transport = "local", dtype;
  std::string inputs, outputs, plan, program, savePlan, saveProgram;
  bool check = false;
  std::string checkMode; ///< "" or "full"
  std::string report, reportHtml, trace;
  std::string cacheDir = "default"; ///< as of the C API; empty: no cache
  int64_t cacheMaxMib = 0;          ///< 0: the default
  bool explain = false, compileOnly = false, help = false;
  int64_t seed = -1; ///< -1: not given
  int64_t threads = 0, timeoutMs = 0;
  // Derived.
  int64_t ulysses = 0, ring = 0; ///< 0: the layer text's mesh
  int64_t autoRanks = 0;         ///< --mesh auto over so many
  int64_t blockQ = 128, blockK = 128;
  double scaleValue = 0; ///< 0: 1 / sqrt(head_dim)
};

/// Reads and cross-checks the options; `helpText` receives --help's text.
Status parseOptions(int argc, char **argv, CommandOptions &options,
                    std::string &helpText);

} // namespace sart

#endif // SPARSEATTN_TOOLS_RUN_RUNOPTIONS_H
