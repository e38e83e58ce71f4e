//===- CudaTensorMap.h - Tensor maps of strided tensors ---------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDATENSORMAP_H
#define SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDATENSORMAP_H

#include "CudaDriver.h"
#include "sparseattn-rt/DType.h"

#include <string>

namespace sart::cuda {

/// A tensor (columns, rows, heads, batch) of 16-bit elements in device memory,
/// dense columns, strides in bytes and 64 bits; and the box a kernel loads: one
/// head's rows of one 128-byte stretch of columns, swizzled over 128 bytes.
/// What lies outside of the tensor reads as zero.
struct TensorMapView {
  DevicePtr address = 0;
  DType dtype = DType::BF16;
  int64_t columns = 0, rows = 0, heads = 1, batch = 1;
  int64_t rowBytes = 0, headBytes = 0, batchBytes = 0;
  int32_t boxColumns = 64, boxRows = 128;
};

/// Refuses, before the driver does and naming `what`, addresses and strides
/// that are not on 16-byte borders, strides from 2^40 bytes, sizes outside of 1
/// to 2^32 and boxes outside of 1 to 256 or of another width than 128 bytes.
/// Extents of one may have any stride; it is not used.
Expected<TensorMap> encodeTensorMap(const CudaDriver &driver,
                                    const TensorMapView &view,
                                    const std::string &what);

/// The driver's name of an element type; refuses none.
TensorMapDataType tensorMapType(DType dtype);

} // namespace sart::cuda

#endif // SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDATENSORMAP_H
