//===- AttendRecipe.h - How a Hopper attend kernel is built -----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_CONVERSION_SPARSEATTNTOSM90_ATTENDRECIPE_H
#define SPARSEATTN_CONVERSION_SPARSEATTNTOSM90_ATTENDRECIPE_H

#include "sparseattn-rt/Executable.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace mlir::sparseattn {

/// How the attend kernel of one shape class is built. The kernels of all
/// recipes come from one builder and differ by these numbers alone.
///
/// A CTA has one producer warpgroup and two consumer warpgroups. With
/// `pairs` = 1 both consumers work on one tile of 128 query rows, 64 each; with
/// `pairs` = 2 each works on a tile of 64 rows of its own, with its own ring
/// and producer warp. A *step* visits `parts` slots of `partKeys` keys: one
/// list entry or more, or a half of one.
struct AttendRecipe {
  int64_t headDim = 128, blockQ = 128, blockK = 128; ///< what it serves
  int64_t pairs = 1;
  int64_t partKeys = 128;       ///< keys of one slot; divides blockK
  int64_t parts = 1;            ///< slots of keys in one step
  int64_t stages = 6;           ///< slots of the ring of keys and values
  bool queryInRegisters = true; ///< Q K^T reads Q from registers
  /// Q travels in the slots of the key ring: it may then be loaded early, and
  /// leaves no slot idle. Needs queryInRegisters.
  bool queryInRing = true;
  bool pingPong = true; ///< the consumers of a tile take turns at the products
  /// P V reads P from registers; otherwise through shared memory.
  bool probabilitiesInRegisters = true;
  int64_t producerRegisters = 40, consumerRegisters = 232;
  /// Where not zero: O, its sums and its maximum are rescaled only when a row's
  /// maximum has grown by more than 2^rescaleBits (a warp decides for its rows;
  /// https://github.com/Dao-AILab/flash-attention, FlashAttention-4). P is then
  /// at most 2^rescaleBits instead of 1, with the same relative rounding.
  int64_t rescaleBits = 0;

  int64_t tileRows() const { return pairs == 2 ? 64 : 128; }
  int64_t stepKeys() const { return parts * partKeys; }
  /// Slots of one block of keys.
  int64_t split() const { return blockK / partKeys; }
  int64_t slotBytes() const { return partKeys * headDim * 2; }
  int64_t queryBytes() const { return tileRows() * headDim * 2; }
  /// Slots that the rows of one query tile take in the ring.
  int64_t querySlots() const { return queryBytes() / slotBytes(); }
};

/// Threads and registers of every recipe's CTA: one producer warpgroup, two
/// consumers, as many registers a thread as one CTA can have at its entry.
inline constexpr int64_t kAttendThreads = 384;
inline constexpr int64_t kAttendEntryRegisters = 168;

/// Every recipe, one a shape class.
llvm::ArrayRef<AttendRecipe> attendRecipes();
/// The recipe for `spec`; null if there is none.
const AttendRecipe *findAttendRecipe(const sart::KernelSpec &spec);

/// The spec of an attend kernel's name, such as attend_bf16_bf16_d128_q128_k64.
sart::Expected<sart::KernelSpec> parseAttendName(llvm::StringRef name);
/// Refuses what the builder cannot do, or what a CTA has no room for.
sart::Status checkRecipe(const AttendRecipe &recipe);
/// Sets fields of `recipe` from texts such as "stages=6" or "ping_pong=0".
/// Errors: those of checkRecipe too.
sart::Status overrideRecipe(AttendRecipe &recipe,
                            llvm::ArrayRef<std::string> fields);

/// Places in the dynamic shared memory of a kernel, in bytes. Copy i of what a
/// pair has lies `copyStride` further on (0 with one copy).
struct AttendLayout {
  explicit AttendLayout(const AttendRecipe &recipe);
  int64_t ring = 0, ringBarriers = 0;
  int64_t query = 0, queryBarriers = 0; ///< unused with queryInRing
  int64_t probabilities = 0;            ///< two tiles, one a consumer
  int64_t mailbox = 0, mailboxBarriers = 0;
  int64_t copyStride = 0;
  int64_t bytes = 0;
};

/// How the runtime launches the kernel of `spec`.
sart::DeviceLaunch attendLaunch(const sart::KernelSpec &spec,
                                const AttendRecipe &recipe);

} // namespace mlir::sparseattn

#endif // SPARSEATTN_CONVERSION_SPARSEATTNTOSM90_ATTENDRECIPE_H
