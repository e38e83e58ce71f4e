//===- CudaTensorMap.cpp - Tensor maps of strided tensors -----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaTensorMap.h"

using namespace sart;
using namespace sart::cuda;

TensorMapDataType sart::cuda::tensorMapType(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return tensorMapFloat32;
  case DType::BF16:
    return tensorMapBFloat16;
  case DType::F16:
    return tensorMapFloat16;
  case DType::I32:
    return tensorMapInt32;
  case DType::I64:
    return tensorMapInt64;
  }
  return tensorMapUInt8;
}

Expected<TensorMap> sart::cuda::encodeTensorMap(const CudaDriver &driver,
                                                const TensorMapView &view,
                                                const std::string &what) {
  constexpr int64_t alignment = 16;
  constexpr int64_t mostBytes = int64_t(1) << 40;
  constexpr int64_t mostRows = int64_t(1) << 32;
  constexpr int64_t boxBytes = 128;
  if (view.dtype != DType::BF16 && view.dtype != DType::F16)
    return makeError("dtype of ", what, " for a tensor map: got ",
                     toString(view.dtype), ", expected bf16 or f16");
  if (view.address == 0 || view.address % alignment != 0)
    return makeError("address of ", what, " for a tensor map: got ",
                     view.address, ", expected a multiple of ", alignment);
  struct {
    const char *name;
    int64_t size;
  } const sizes[] = {{"columns", view.columns},
                     {"rows", view.rows},
                     {"heads", view.heads},
                     {"batch", view.batch}};
  for (const auto &extent : sizes)
    if (extent.size < 1 || extent.size > mostRows)
      return makeError(extent.name, " of ", what, " for a tensor map: got ",
                       extent.size, ", expected 1 to ", mostRows);
  // The next border after the row: the stride of an extent of one.
  int64_t unused = (view.columns * byteSize(view.dtype) + alignment - 1) /
                   alignment * alignment;
  struct {
    const char *name;
    int64_t bytes;
    bool used;
  } strides[] = {{"row", view.rowBytes, view.rows > 1},
                 {"head", view.headBytes, view.heads > 1},
                 {"batch", view.batchBytes, view.batch > 1}};
  uint64_t strideBytes[3];
  for (size_t i = 0; i < 3; ++i) {
    int64_t bytes = strides[i].used ? strides[i].bytes : unused;
    if (bytes % alignment != 0 || bytes < alignment || bytes >= mostBytes)
      return makeError(strides[i].name, " stride of ", what,
                       " for a tensor map: got ", bytes,
                       " bytes, expected a multiple of ", alignment, " from ",
                       alignment, " to ", mostBytes - alignment);
    strideBytes[i] = static_cast<uint64_t>(bytes);
  }
  if (view.boxRows < 1 || view.boxRows > 256)
    return makeError("box rows of ", what, " for a tensor map: got ",
                     view.boxRows, ", expected 1 to 256");
  if (view.boxColumns * byteSize(view.dtype) != boxBytes)
    return makeError("box columns of ", what, " for a tensor map: got ",
                     view.boxColumns, ", expected ",
                     boxBytes / byteSize(view.dtype));

  uint64_t extents[4];
  for (size_t i = 0; i < 4; ++i)
    extents[i] = static_cast<uint64_t>(sizes[i].size);
  uint32_t box[4] = {static_cast<uint32_t>(view.boxColumns),
                     static_cast<uint32_t>(view.boxRows), 1, 1};
  uint32_t steps[4] = {1, 1, 1, 1};
  TensorMap map = {};
  SART_RETURN_IF_ERROR(driver.check(
      driver.tensorMapEncodeTiled(
          &map, tensorMapType(view.dtype), 4,
          // NOLINTNEXTLINE(performance-no-int-to-ptr): as the driver has it
          reinterpret_cast<void *>(static_cast<uintptr_t>(view.address)),
          extents, strideBytes, box, steps, tensorMapInterleaveNone,
          tensorMapSwizzle128, tensorMapPromotion256, tensorMapFillZero),
      "cuTensorMapEncodeTiled(", what, ", ", toString(view.dtype), ", sizes ",
      extents[0], "x", extents[1], "x", extents[2], "x", extents[3],
      ", strides ", strideBytes[0], ", ", strideBytes[1], ", ", strideBytes[2],
      " bytes, box ", box[0], "x", box[1], ")"));
  return map;
}
