//===- Launch.h - Starts one process for each rank --------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_RUN_LAUNCH_H
#define SPARSEATTN_TOOLS_RUN_LAUNCH_H

#include "RunOptions.h"

#include <functional>

namespace sart {

/// Whether an MPI launcher started this process.
bool isLaunched();

/// Becomes Open MPI's launcher with this same command, on this machine, for as
/// many processes as there are ranks; its exit status is the command's.
/// Returns when that cannot be done. `ranksOfLayer` is asked where the options
/// leave the number to the layer.
Status launchByMpi(const CommandOptions &options, char **argv,
                   const std::function<Expected<int64_t>()> &ranksOfLayer);

} // namespace sart

#endif // SPARSEATTN_TOOLS_RUN_LAUNCH_H
