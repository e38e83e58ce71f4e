//===- MeshOption.h - --ranks and --mesh ------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_COMMON_MESHOPTION_H
#define SPARSEATTN_TOOLS_COMMON_MESHOPTION_H

#include "sparseattn-rt/Status.h"

#include <cstdint>
#include <string>

namespace sart {

/// Largest mesh that one process drives as threads.
constexpr int64_t maxLocalRanks = 64;

/// Axes of a mesh; 0: as the layer's text says.
struct MeshOption {
  int64_t ulysses = 0, ring = 0;
};

/// `mesh` is the value of --mesh (`ulysses=U,ring=R`, an axis that is left out
/// is 1; empty: not given), `ranks` that of --ranks (0: not given). Without
/// --mesh all ranks are one Ulysses group. Refuses a mesh that does not
/// multiply to the ranks, or has more than `most`.
Expected<MeshOption> parseMesh(const std::string &mesh, int64_t ranks,
                               int64_t most = maxLocalRanks);

} // namespace sart

#endif // SPARSEATTN_TOOLS_COMMON_MESHOPTION_H
