//===- Choice.h - Machine options of a layer --------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_CAPI_CHOICE_H
#define SPARSEATTN_LIB_CAPI_CHOICE_H

#include "Objects.h"

namespace capi {

/// Reads the machine of `options` into `layerOptions` and puts there the mesh
/// and the balance that were left open; `choice` says what was predicted.
sart::Status applyMachine(const sa_engine &engine, std::string_view text,
                          const sa_layer_options &options,
                          mlir::sparseattn::LayerOptions &layerOptions,
                          std::string &choice);

} // namespace capi

#endif // SPARSEATTN_LIB_CAPI_CHOICE_H
