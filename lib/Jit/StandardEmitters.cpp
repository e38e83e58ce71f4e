//===- StandardEmitters.cpp - Who writes which kernel of a GPU ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "StandardEmitters.h"

using namespace mlir::sparseattn;

GpuKernelEmitters mlir::sparseattn::standardGpuKernelEmitters() {
  return {createAttendEmitter(), createRoutingEmitter()};
}
