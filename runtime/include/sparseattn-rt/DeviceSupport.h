//===- DeviceSupport.h - What GPU kernels serve -----------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_DEVICESUPPORT_H
#define SPARSEATTN_RT_DEVICESUPPORT_H

#include "sparseattn-rt/Program.h"

namespace sart {

/// Refuses what no GPU kernel does, however it is compiled: token-level masks,
/// scales that are not positive, conversions between 16-bit types. Asked where
/// kernels are compiled and again where they run.
Status checkDeviceProgram(const Program &program);

/// Refuses scales that are not positive.
Status checkDeviceScale(float scale);

/// Refuses layers that attention is not compiled for: head dimensions, blocks
/// and, as shape.dtype, element types of q, k and v. Needs neither a program
/// nor a GPU, and so tells what is wrong with options.
Status checkDeviceShape(const LayerShape &shape);

/// Both, for what the program's instructions attend to.
Status checkDeviceKernels(const Program &program);

} // namespace sart

#endif // SPARSEATTN_RT_DEVICESUPPORT_H
