//===- SymbolicMemory.h - Rows of all slots of all ranks --------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_CORE_SYMBOLICMEMORY_H
#define SPARSEATTN_RT_CORE_SYMBOLICMEMORY_H

#include "RowMap.h"
#include "ValidatorContext.h"

#include <deque>
#include <map>

namespace sart {

/// Slots exist once they are touched. Input windows begin with the rank's
/// shards, all others unwritten.
class SymbolicMemory {
public:
  explicit SymbolicMemory(const ValidatorContext &context);

  RowMap &rows(int64_t rank, int32_t window, int64_t slot);

private:
  void grow();
  static size_t hashOf(int64_t key) {
    return static_cast<size_t>(
        (static_cast<uint64_t>(key) * 0x9e3779b97f4a7c15ull) >> 20);
  }

  const ValidatorContext &context;
  std::vector<RowKind> inputKinds; ///< per window; Unknown: not an input
  struct Entry {
    int64_t key = -1;
    RowMap *rows = nullptr;
  };
  std::vector<Entry> table; ///< open addressing, a power of two
  std::deque<RowMap> maps;
};

/// Sets of kv-blocks that partial results cover, each with a number.
class Covers {
public:
  int32_t of(Range blocks);
  /// Union of two; -1 when they share a block (then `shared` says which).
  int32_t unite(int32_t a, int32_t b, Range &shared);
  const std::vector<Range> &ranges(int32_t cover) const {
    return sets[static_cast<size_t>(cover)];
  }
  std::string text(int32_t cover) const;

private:
  int32_t intern(std::vector<Range> ranges);

  std::vector<std::vector<Range>> sets;
  Range lastRange;
  int32_t lastCover = -1;
  std::map<std::vector<int64_t>, int32_t> known;
  std::map<std::pair<int32_t, int32_t>, int32_t> unions;
};

} // namespace sart

#endif // SPARSEATTN_RT_CORE_SYMBOLICMEMORY_H
