//===- LayerText.h - The layer that --attend runs ---------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_RUN_LAYERTEXT_H
#define SPARSEATTN_TOOLS_RUN_LAYERTEXT_H

#include "Inputs.h"
#include "RunOptions.h"

namespace sart {

/// sparseattn text of a layer that attends densely over the inputs' shapes.
std::string makeAttendLayer(const CommandOptions &options,
                            const RunInputs &inputs);
/// Refuses a layer of --attend that GPUs do not run: its options are known
/// before a GPU is looked for.
Status checkAttendOnGpu(const CommandOptions &options, const RunInputs &inputs);

} // namespace sart

#endif // SPARSEATTN_TOOLS_RUN_LAYERTEXT_H
