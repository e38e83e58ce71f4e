//===- HostRows.h - Rows of a slot that the host works on -------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_CORE_HOSTROWS_H
#define SPARSEATTN_RUNTIME_CORE_HOSTROWS_H

#include "sparseattn-rt/Backend.h"

namespace sart {

/// Rows of a slot under the host's hands: the memory itself where it is the
/// host's, else a copy that is loaded and stored.
class HostRows {
public:
  HostRows(MemorySpace &space, const SlotView &slot, Range rows)
      : space(space), slot(slot), rows(rows) {
    if (space.onHost()) {
      base = static_cast<char *>(slot.data);
      pitch = slot.rowStride * byteSize(slot.dtype);
      return;
    }
    pitch = slot.rowElements * byteSize(slot.dtype);
    copy.resize(static_cast<size_t>(rows.size() * pitch));
    base = copy.data();
    first = rows.begin;
  }

  /// Row `row` of the slot, one of the rows.
  template <typename T>
  T *row(int64_t row) {
    return reinterpret_cast<T *>(base + (row - first) * pitch);
  }
  Status load() {
    if (space.onHost())
      return Status::success();
    SART_RETURN_IF_ERROR(space.toHost(here(), there()));
    return space.finish();
  }
  Status store() {
    return space.onHost() ? Status::success() : space.fromHost(there(), here());
  }

private:
  MemoryRows here() { return {copy.data(), pitch, pitch, rows.size()}; }
  MemoryRows there() const {
    int64_t bytes = slot.rowStride * byteSize(slot.dtype);
    return {static_cast<char *>(slot.data) + rows.begin * bytes, bytes, pitch,
            rows.size()};
  }

  MemorySpace &space;
  const SlotView slot;
  const Range rows;
  std::vector<char> copy;
  char *base = nullptr;
  int64_t first = 0; ///< the row at `base`
  int64_t pitch = 0;
};

} // namespace sart

#endif // SPARSEATTN_RUNTIME_CORE_HOSTROWS_H
