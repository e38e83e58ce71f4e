//===- OpcodeInfo.h - What operands each opcode takes -----------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table behind the reader, the binder and the validator, and views of the
// flat lists that allocate nothing.
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_CORE_OPCODEINFO_H
#define SPARSEATTN_RT_CORE_OPCODEINFO_H

#include "sparseattn-rt/Program.h"

namespace sart {

enum class ListKind : uint8_t {
  Chunks, ///< chunks of the window `window`
  Counts, ///< chunks per group member of the list before
  Work,   ///< work entries
  Slots,  ///< slots of the window `window`
  Side,   ///< {0} query side, {1} key side
};

struct ListInfo {
  ListKind kind = ListKind::Chunks;
  int8_t window = 0;        ///< index into the instruction's windows
  int8_t secondWindow = -1; ///< chunks that address this window too
};

struct OpcodeInfo {
  const char *name = "";
  int numWindows = 0;
  int numLists = 0;
  ListInfo lists[4];
  bool collective = false; ///< entered by every member of a group
  bool peer = false;       ///< takes a peer
  bool token = false;      ///< defines a token
  bool routing = false;    ///< templates only; vanishes when bound
};

/// `opcode` must be one of the numOpcodes values.
const OpcodeInfo &infoOf(Opcode opcode);

/// Iterates the entries of a flat list; a rest that is no whole entry is left
/// out.
template <typename Entry, int64_t Ints, Entry (*Load)(const int64_t *)>
class FlatList {
public:
  explicit FlatList(const std::vector<int64_t> &list)
      : first(list.data()), count(static_cast<int64_t>(list.size()) / Ints) {}
  FlatList(const int64_t *first, int64_t count) : first(first), count(count) {}

  struct Iterator {
    const int64_t *at;
    Entry operator*() const { return Load(at); }
    Iterator &operator++() {
      at += Ints;
      return *this;
    }
    bool operator!=(const Iterator &o) const { return at != o.at; }
  };
  Iterator begin() const { return {first}; }
  Iterator end() const { return {first + count * Ints}; }
  int64_t size() const { return count; }
  Entry operator[](int64_t i) const { return Load(first + i * Ints); }
  FlatList slice(int64_t from, int64_t entries) const {
    return FlatList(first + from * Ints, entries);
  }

private:
  const int64_t *first;
  int64_t count;
};

inline Chunk loadChunk(const int64_t *p) { return {p[0], p[1], p[2]}; }
inline Work loadWork(const int64_t *p) {
  return {p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8]};
}
using ChunkList = FlatList<Chunk, chunkInts, loadChunk>;
using WorkList = FlatList<Work, workInts, loadWork>;

/// Rows of all chunks; row counts must be valid.
inline int64_t rowsOf(const ChunkList &chunks) {
  int64_t rows = 0;
  for (Chunk chunk : chunks)
    rows = saturatingAdd(rows, chunk.rowEnd - chunk.rowBegin);
  return rows;
}

/// Members of the group that `rank` belongs to, in group order.
std::vector<int64_t> groupMembers(const Mesh &mesh, Group group, int64_t rank);
/// Number of members without listing them.
inline int64_t groupSize(const Mesh &mesh, Group group) {
  return group == Group::All       ? mesh.ranks()
         : group == Group::Ulysses ? mesh.ulysses
                                   : mesh.ring;
}
const char *toString(Group group);
/// By window: whether attend reads queries from it. Their rows move; keys and
/// values that cross ring segments are routed.
std::vector<bool> queryWindows(const Program &program);

} // namespace sart

#endif // SPARSEATTN_RT_CORE_OPCODEINFO_H
