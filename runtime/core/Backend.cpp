//===- Backend.cpp - What every backend does alike ------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Backend.h"

#include <cstring>

using namespace sart;

/// Rounds to nearest even, as floatToBf16, in a form that vectorises.
static void narrowToBf16(const float *from, uint16_t *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits;
    std::memcpy(&bits, from + i, sizeof(bits));
    uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
    uint32_t quietNan = (bits >> 16) | 0x40;
    bool isNan = (bits & 0x7FFFFFFF) > 0x7F800000;
    to[i] = static_cast<uint16_t>(isNan ? quietNan : rounded);
  }
}

static void convertRow(const void *from, DType fromType, void *to, DType toType,
                       int64_t count) {
  if (fromType == toType) {
    std::memcpy(to, from, static_cast<size_t>(count * byteSize(toType)));
    return;
  }
  if (fromType == DType::F32 && toType == DType::BF16) {
    narrowToBf16(static_cast<const float *>(from), static_cast<uint16_t *>(to),
                 count);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    storeFromFloat(to, toType, i, loadAsFloat(from, fromType, i));
}

Status Backend::merge(const Program &program,
                      const std::vector<MergeTask> &tasks) {
  for (const MergeTask &task : tasks) {
    auto at = [&](const SlotView &view) {
      return static_cast<float *>(view.data) + task.rowBegin * view.rowStride;
    };
    mergePartials(at(task.oPart), task.oPart.rowStride, at(task.lsePart),
                  task.lsePart.rowStride, at(task.o), task.o.rowStride,
                  at(task.lse), task.lse.rowStride, task.rowEnd - task.rowBegin,
                  program.placement.shape.headDim);
  }
  return Status::success();
}

Status Backend::convert(const Program &,
                        const std::vector<ConvertTask> &tasks) {
  for (const ConvertTask &task : tasks)
    for (int64_t row = task.rowBegin; row < task.rowEnd; ++row)
      convertRow(static_cast<const char *>(task.from.data) +
                     row * task.from.rowStride * byteSize(task.from.dtype),
                 task.from.dtype,
                 static_cast<char *>(task.to.data) +
                     row * task.to.rowStride * byteSize(task.to.dtype),
                 task.to.dtype, task.from.rowElements);
  return Status::success();
}

Expected<std::shared_ptr<Backend>> Backend::ofRank(const Program &, int64_t) {
  return std::shared_ptr<Backend>();
}

MemorySpace &Backend::memory() { return hostMemorySpace(); }

Status Backend::finish(BackendCounts &) { return Status::success(); }
