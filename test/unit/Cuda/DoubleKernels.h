//===- DoubleKernels.h - What device kernels do, in loops of the host -*- C++
//-*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_CUDA_DOUBLEKERNELS_H
#define SPARSEATTN_TEST_UNIT_CUDA_DOUBLEKERNELS_H

#include "CudaBackend.h"
#include "DriverDouble.h"

namespace sart::cuda {

/// Kernels of every spec in `specs`, in the table and in the double, where
/// plain loops read the arguments as the kernels' documentation lays them out
/// and compute in double precision.
std::shared_ptr<KernelTable>
doubleKernels(DriverDouble &driver, const std::vector<KernelSpec> &specs);

/// Adds the kernel `name` of a compiled program to the double. Names of no
/// kernel are ignored.
void addKernelByName(DriverDouble &driver, const std::string &name);

/// The launch of attend kernels there: 2 tiles at once, boxes of 64 columns.
DeviceLaunch doubleAttendLaunch(const KernelSpec &spec);

/// Sizes of an attend kernel's parameters.
std::vector<size_t> attendParameterBytes();

} // namespace sart::cuda

#endif // SPARSEATTN_TEST_UNIT_CUDA_DOUBLEKERNELS_H
