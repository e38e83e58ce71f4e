//===- Handles.h - Owners of the C API's objects ----------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_COMMON_HANDLES_H
#define SPARSEATTN_TOOLS_COMMON_HANDLES_H

#include "sparseattn-rt/Status.h"

#include "sparseattn-c/sparseattn.h"

#include <memory>

namespace sart {

struct EngineDeleter {
  void operator()(sa_engine *engine) const { sa_engine_destroy(engine); }
};
struct LayerDeleter {
  void operator()(sa_layer *layer) const { sa_layer_destroy(layer); }
};
/// The engine must outlive its layers.
using EngineHandle = std::unique_ptr<sa_engine, EngineDeleter>;
using LayerHandle = std::unique_ptr<sa_layer, LayerDeleter>;

/// The calling thread's last error of the C API.
inline Status lastError() { return Status::error(sa_last_error()); }

} // namespace sart

#endif // SPARSEATTN_TOOLS_COMMON_HANDLES_H
