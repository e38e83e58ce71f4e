//===- TensorRows.cpp - Rows of a tensor as bytes -------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TensorRows.h"

#include <cstring>

using namespace sart;

static char *rowOf(const Tensor &tensor, int64_t head, int64_t row) {
  return static_cast<char *>(tensor.data) +
         (head * tensor.strides[0] + row * tensor.strides[1]) *
             byteSize(tensor.dtype);
}

std::string sart::packRows(const Tensor &tensor) {
  int64_t width = tensor.sizes[2] * byteSize(tensor.dtype);
  std::string bytes;
  bytes.reserve(static_cast<size_t>(tensor.sizes[0] * tensor.sizes[1] * width));
  for (int64_t head = 0; head < tensor.sizes[0]; ++head)
    for (int64_t row = 0; row < tensor.sizes[1]; ++row)
      bytes.append(rowOf(tensor, head, row), static_cast<size_t>(width));
  return bytes;
}

Status sart::unpackRows(const std::string &bytes, size_t &taken,
                        const Tensor &tensor) {
  auto width = static_cast<size_t>(tensor.sizes[2] * byteSize(tensor.dtype));
  size_t all = static_cast<size_t>(tensor.sizes[0] * tensor.sizes[1]) * width;
  if (bytes.size() - taken < all)
    return makeError("gathered rows truncated: got ", bytes.size() - taken,
                     " bytes, expected ", all);
  for (int64_t head = 0; head < tensor.sizes[0]; ++head)
    for (int64_t row = 0; row < tensor.sizes[1]; ++row, taken += width)
      std::memcpy(rowOf(tensor, head, row), bytes.data() + taken, width);
  return Status::success();
}
