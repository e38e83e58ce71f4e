//===- Program.h - Instruction lists that carry a plan out ------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_PROGRAM_H
#define SPARSEATTN_RT_PROGRAM_H

#include "sparseattn-rt/CheckedMath.h"
#include "sparseattn-rt/Planner.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sart {

/// Limits that keep what a program can make the validator and the executor
/// allocate within what its own size justifies, and the byte counts of any one
/// list inside 64 bits. Tokens are numbered below maxTransferTokens.
constexpr int32_t maxTransferTokens = 1 << 16;
constexpr int64_t maxWindowSlots = int64_t(1) << 22;
constexpr int64_t maxWindowBytes = int64_t(1) << 46;

/// A named buffer, declared with the same shape on every rank:
/// slots x rows x rowElements of dtype. External windows alias the caller's
/// tensors (input or output); the others are allocated by the executor.
struct Window {
  enum class Role : uint8_t { Internal = 0, Input = 1, Output = 2 };
  std::string name;
  DType dtype = DType::F32;
  int64_t slots = 0, rows = 0, rowElements = 0;
  Role role = Role::Internal;
  /// Of a window that verifies; any other may give the largest int64.
  int64_t rowBytes() const {
    return saturatingMul(rowElements, byteSize(dtype));
  }
  /// Refuses no slot, more than maxWindowSlots, a negative number of rows, rows
  /// without an element, and more than maxWindowBytes, where a slot without
  /// rows counts as one row.
  Status verify() const;
};

/// Rows [rowBegin, rowEnd) of one slot of a window. Lists of chunks are stored
/// flat, three integers each.
struct Chunk {
  int64_t slot = 0, rowBegin = 0, rowEnd = 0;
};

/// One entry of a work list (pool, route, augment, load_mask, attend), nine
/// integers: q-blocks [qBegin, qEnd) of the rank's segment (numbered from 0)
/// of global head `head`, which stands in slot `qSlot` of the q, mask, o and
/// lse windows, against global kv-blocks [kvBegin, kvEnd) of the kv head in
/// `kvSlot` of the k and v windows. `budget`: extra tiles (augment only).
/// `origin`: the global q-block that row 0 of the entry's windows of queries
/// holds, from which qBegin and qEnd count, where that is not the first of the
/// rank's segment (rows of another segment, or of a shard); pooling keys: the
/// kv-block in place of 0. -1 otherwise.
/// Row counts and global positions follow from the placement and the rank.
struct Work {
  int64_t head = 0, qSlot = 0, kvSlot = 0;
  int64_t qBegin = 0, qEnd = 0, kvBegin = 0, kvEnd = 0;
  int64_t budget = 0;
  int64_t origin = -1;
};
constexpr int64_t workInts = 9;
constexpr int64_t chunkInts = 3;

/// The numbers are part of the program format. Row coordinates: windows of
/// queries and outputs are segment-local (row 0 = first token or q-block of the
/// rank's ring segment), windows of keys and values are global.
enum class Opcode : uint8_t {
  /// windows {src, dst}; lists {sendChunks, sendCounts, recvChunks,
  /// recvCounts}; counts = chunks per member of the group, in group order.
  /// The own part is copied.
  AllToAll = 0,
  /// windows {src, dst}; lists {sendChunks, recvChunks, recvCounts}. Every
  /// member sends the same chunks to all members, itself included.
  AllGather = 1,
  /// windows {x, y}; lists {work}: y[slot][block] = mean of x's rows. q side:
  /// q-blocks [qBegin, qEnd) of qSlot; k side (list 1 present and {1}):
  /// kv-blocks [kvBegin, kvEnd) of kvSlot. lists {work, side: {0} | {1}}
  Pool = 2,
  /// windows {pooledQ, pooledK, mask, summary}; lists {work}. Writes mask rows
  /// [count, indices...] and the summary record of slot `head`.
  Route = 3,
  /// windows {summaryAll}; lists {}. Host: plans from the gathered summaries
  /// (slot = rank * heads + head), compares the plan's hash over all ranks,
  /// binds the dynamic symbols.
  Plan = 4,
  /// windows {mask}; lists {work}. Writes rows of the program's constant mask.
  LoadMask = 5,
  /// windows {src, dst}; lists {srcChunks, dstChunks}. Local copy, same size.
  Pack = 6,
  /// windows {src}; lists {chunks}; peer. Defines a token.
  Send = 7,
  /// windows {dst}; lists {chunks}; peer. Defines a token.
  Recv = 8,
  /// windows {src, dst}; lists {srcChunks, dstChunks}; peer. One-sided write
  /// into the peer's window; visible to it after a later Signal.
  Put = 9,
  /// peer. Raises the peer's flag of this rank after all earlier puts to it.
  Signal = 10,
  /// waits {tokens}. Blocks until the sends and receives are complete.
  Wait = 11,
  /// peer. Blocks until the peer's signal has arrived, then clears it.
  WaitSignal = 12,
  /// windows {q, k, v, mask, o, lse}; lists {work}. Writes o and lse rows with
  /// the partial result of the work's tiles.
  Attend = 13,
  /// windows {oPart, lsePart, o, lse}; lists {chunks} (rows of o): merges the
  /// partial into o and lse in place.
  Merge = 14,
  /// windows {w}; lists {slots}. The slots' rows become unwritten (poisoned).
  Release = 15,
  /// windows {pooledQ, pooledK, mask}; lists {work}. Adds `budget` next-best
  /// tiles to the rows of each entry.
  Augment = 16,
  /// windows {src, dst}; lists {chunks}: dst rows = src rows converted to
  /// dst's dtype, same chunk coordinates.
  Convert = 17,
};
std::string_view toString(Opcode opcode);
constexpr int numOpcodes = 18;

/// A list of integers: immediate, or the value of symbol `symbol` of the
/// executing rank.
struct Operand {
  int32_t symbol = -1; ///< -1: immediate
  std::vector<int64_t> values;
  bool isSymbol() const { return symbol >= 0; }
  static Operand immediate(std::vector<int64_t> values) {
    return Operand{-1, std::move(values)};
  }
  static Operand ofSymbol(int32_t symbol) { return Operand{symbol, {}}; }
};

/// Group of a collective: all ranks, the Ulysses group (same ring index) or
/// the ring group (same Ulysses index) of the executing rank.
enum class Group : uint8_t { All = 0, Ulysses = 1, Ring = 2 };

struct Instruction {
  Opcode opcode = Opcode::Wait;
  int32_t phase = 0;
  Group group = Group::All; ///< AllToAll, AllGather
  std::vector<int32_t> windows;
  std::vector<Operand> lists;
  Operand peer;               ///< one integer; an empty list: skip
  int32_t token = -1;         ///< token this instruction defines, or -1
  std::vector<int32_t> waits; ///< tokens (Wait)
};

/// Symbols a template may use. `name` is what the binder fills; `isStatic`
/// symbols depend on the placement alone and are bound at compile time.
struct Symbol {
  std::string name;
  bool isStatic = false;
};

/// Largest number of blocks that a policy may name.
constexpr int64_t maxPolicyBlocks = int64_t(1) << 31;

/// How a layer routes; part of the program, so that a template is whole.
struct RoutingPolicy {
  enum class Kind : uint8_t {
    TopP = 0,
    TopK = 1,
    Dense = 2,
    Window = 3,
    Explicit = 4
  };
  Kind kind = Kind::TopP;
  float p = 0.9f;
  int64_t minBlocks = 1;   ///< TopP floor
  int64_t k = 0;           ///< TopK
  std::vector<Range> keep; ///< kv-blocks always kept
  int64_t windowBlocks =
      0; ///< Window: |q-block position - kv-block| <= windowBlocks
  /// Refuses a p that is not finite, block counts outside 0 to
  /// maxPolicyBlocks, and kept ranges that are reversed or reach outside it.
  Status verify() const;
};

/// Values of all symbols of all ranks: values[rank][symbol].
struct Binding {
  std::vector<std::vector<std::vector<int64_t>>> values;
};

/// Flat chunk and work helpers.
void appendChunk(std::vector<int64_t> &list, const Chunk &chunk);
std::vector<Chunk> toChunks(const std::vector<int64_t> &list);
void appendWork(std::vector<int64_t> &list, const Work &work);
std::vector<Work> toWork(const std::vector<int64_t> &list);

/// A template (one SPMD instruction list with symbols) or a bound program
/// (one list per rank, immediate operands, constant mask).
struct Program {
  std::string name = "layer";
  Placement placement; ///< mesh and shape; shape.dtype = input dtype
  float scale = 0;     ///< softmax scale, multiplies fp32 scores
  RoutingPolicy policy;
  PlannerOptions planner;
  std::vector<Window> windows;
  std::vector<Symbol> symbols; ///< template only
  std::vector<std::vector<Instruction>>
      ranks;       ///< template: 1; bound: one per rank
  Binding statics; ///< template: static symbols bound, dynamic ones empty
  std::optional<BlockMask> mask; ///< bound programs
  bool bound = false;

  const std::vector<Instruction> &instructionsOf(int64_t rank) const {
    return ranks[bound ? static_cast<size_t>(rank) : 0];
  }
  int32_t findWindow(std::string_view windowName) const; ///< -1: none
  int32_t findSymbol(std::string_view symbolName) const; ///< -1: none
};

/// Bytes: magic "SAPROG", version, FNV-1a content hash, body; little endian.
std::vector<uint8_t> serialize(const Program &program);
/// Refuses wrong magic, version, hash, truncation, counts beyond the input,
/// unknown enum values and trailing bytes; never reads outside `bytes`.
Expected<Program> deserialize(const uint8_t *bytes, size_t size);
/// Content hash of the serialised body.
uint64_t contentHash(const Program &program);

/// Substitutes every symbol: one instruction list per rank; instructions whose
/// lists all became empty disappear, as do Pool, Route, Augment, Plan and the
/// gathers between them; LoadMask takes Route's place. Internal windows that no
/// instruction uses disappear, and phases without instructions close up.
/// Collectives stay on every rank as long as one rank has rows for them.
/// `mask` is the final mask (extras included).
Expected<Program> bindProgram(const Program &program, const Binding &binding,
                              const BlockMask &mask);

} // namespace sart

#endif // SPARSEATTN_RT_PROGRAM_H
