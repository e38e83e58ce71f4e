//===- Schedule.h - Who meets whom in a bound program -----------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every instruction of every rank gets one number, its id: first[rank] + index.
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_CORE_SCHEDULE_H
#define SPARSEATTN_RT_CORE_SCHEDULE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sart {

/// A meeting of all members of a group: instruction ids, in group order.
struct Meeting {
  std::vector<int32_t> members;
};

struct Schedule {
  std::vector<int32_t> first;  ///< per rank, and the total at the end
  std::vector<int32_t> rankOf; ///< per id
  /// Per id: the receive of a send and back, the signal of a wait_signal and
  /// back; -1 otherwise.
  std::vector<int32_t> partner;
  std::vector<int32_t> meetingOf; ///< per id: index into meetings, or -1
  std::vector<Meeting> meetings;
  /// Per id: ids that a wait awaits are awaited[awaitedFirst[id] ..
  /// awaitedFirst[id + 1]).
  std::vector<int32_t> awaitedFirst;
  std::vector<int32_t> awaited;

  int32_t idOf(int64_t rank, size_t index) const {
    return first[static_cast<size_t>(rank)] + static_cast<int32_t>(index);
  }
  size_t indexOf(int32_t id) const {
    return static_cast<size_t>(
        id - first[static_cast<size_t>(rankOf[static_cast<size_t>(id)])]);
  }
};

} // namespace sart

#endif // SPARSEATTN_RT_CORE_SCHEDULE_H
