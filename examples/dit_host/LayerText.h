//===- LayerText.h - The attention layer as MLIR ----------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_EXAMPLES_DITHOST_LAYERTEXT_H
#define SPARSEATTN_EXAMPLES_DITHOST_LAYERTEXT_H

#include "Options.h"

#include <array>
#include <string>

namespace dit {

/// A layer of the host in the sparseattn dialect: pooled routing by Top-p with
/// a floor of blocks, then attention over the tokens of `grid`, which come in
/// the options' order. What depends on the mesh is left to sa_layer_options.
std::string makeLayerText(const Options &options,
                          const std::array<int64_t, 3> &grid);

} // namespace dit

#endif // SPARSEATTN_EXAMPLES_DITHOST_LAYERTEXT_H
