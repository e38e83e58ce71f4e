//===- SymbolicMemory.cpp - Rows of all slots of all ranks ----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SymbolicMemory.h"

#include <algorithm>

using namespace sart;

SymbolicMemory::SymbolicMemory(const ValidatorContext &context)
    : context(context), table(1024) {
  for (const Window &window : context.program.windows) {
    RowKind kind = RowKind::Unknown;
    if (window.role == Window::Role::Input)
      kind = window.name == "q_shard"   ? RowKind::Query
             : window.name == "k_shard" ? RowKind::Key
                                        : RowKind::Value;
    inputKinds.push_back(kind);
  }
}

RowMap &SymbolicMemory::rows(int64_t rank, int32_t window, int64_t slot) {
  int64_t key = (rank * static_cast<int64_t>(inputKinds.size()) + window) *
                    (maxWindowSlots * 2) +
                slot;
  size_t i = hashOf(key) & (table.size() - 1);
  while (table[i].key != key) {
    if (table[i].key >= 0) {
      i = (i + 1) & (table.size() - 1);
      continue;
    }
    if (maps.size() * 2 >= table.size()) {
      grow();
      return rows(rank, window, slot);
    }
    maps.emplace_back();
    table[i] = {key, &maps.back()};
    RowKind kind = inputKinds[static_cast<size_t>(window)];
    if (kind != RowKind::Unknown) {
      const RankGeometry &geometry =
          context.geometry[static_cast<size_t>(rank)];
      Range shard = kind == RowKind::Query ? geometry.qShard : geometry.kvShard;
      maps.back().insert({{0, shard.size()},
                          RowState::Written,
                          -1,
                          {kind, static_cast<int32_t>(slot), -1, shard.begin}});
    }
    break;
  }
  return *table[i].rows;
}

void SymbolicMemory::grow() {
  std::vector<Entry> old(table.size() * 4);
  old.swap(table);
  for (const Entry &entry : old) {
    if (entry.key < 0)
      continue;
    size_t i = hashOf(entry.key) & (table.size() - 1);
    while (table[i].key >= 0)
      i = (i + 1) & (table.size() - 1);
    table[i] = entry;
  }
}

int32_t Covers::intern(std::vector<Range> ranges) {
  std::vector<int64_t> key;
  for (Range range : ranges) {
    key.push_back(range.begin);
    key.push_back(range.end);
  }
  auto [it, isNew] =
      known.try_emplace(std::move(key), static_cast<int32_t>(sets.size()));
  if (isNew)
    sets.push_back(std::move(ranges));
  return it->second;
}

int32_t Covers::of(Range blocks) {
  if (blocks.empty())
    return intern({});
  // Entries of one instruction mostly share their kv-blocks.
  if (!(blocks == lastRange)) {
    lastCover = intern({blocks});
    lastRange = blocks;
  }
  return lastCover;
}

int32_t Covers::unite(int32_t a, int32_t b, Range &shared) {
  if (auto it = unions.find({a, b}); it != unions.end())
    return it->second;
  std::vector<Range> all = ranges(a);
  all.insert(all.end(), ranges(b).begin(), ranges(b).end());
  std::sort(all.begin(), all.end(),
            [](Range x, Range y) { return x.begin < y.begin; });
  std::vector<Range> joined;
  for (Range range : all) {
    if (!joined.empty() && range.begin < joined.back().end) {
      shared = {range.begin, std::min(range.end, joined.back().end)};
      return -1;
    }
    if (!joined.empty() && range.begin == joined.back().end)
      joined.back().end = range.end;
    else
      joined.push_back(range);
  }
  int32_t cover = intern(std::move(joined));
  unions[{a, b}] = cover;
  return cover;
}

std::string Covers::text(int32_t cover) const {
  std::string text;
  for (Range range : ranges(cover))
    text += (text.empty() ? "" : ", ") + rangeText(range);
  return text.empty() ? "none" : text;
}
