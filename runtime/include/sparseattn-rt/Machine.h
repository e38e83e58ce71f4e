//===- Machine.h - What a machine costs -------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_MACHINE_H
#define SPARSEATTN_RT_MACHINE_H

#include "sparseattn-rt/Planner.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sart {

/// Where a number of a machine file comes from. `Assumed`: nobody measured or
/// stated it; a guess that says so.
enum class Evidence : uint8_t {
  Measured = 0,
  Datasheet = 1,
  Published = 2,
  Assumed = 3
};
std::string_view toString(Evidence evidence);

struct MachineSource {
  std::string name; ///< by which numbers refer to it
  Evidence evidence = Evidence::Assumed;
  std::string text; ///< file, document or reason
};

/// An integer in the unit that its name says, and its source.
struct MachineNumber {
  int64_t value = 0;
  int32_t source = 0; ///< index into Machine::sources
};

/// The attend kernel of one element type and block shape on one device, busy
/// as a whole: a launch of t tiles in r rows (q-blocks of a head) takes
/// launchPs + t * tilePs + r * rowPs.
struct MachineKernel {
  DType dtype = DType::BF16;
  int64_t blockQ = 128, blockK = 128, headDim = 128;
  MachineNumber tilePs, rowPs;
};

struct MachineDevice {
  std::string name;
  int64_t ranks = 1; ///< that share one device and take turns on it
  MachineNumber multiprocessors;
  MachineNumber memoryBytesPerS; ///< bytes read and bytes written both count
  MachineNumber launchPs;        ///< one kernel, also a merge or a copy
  /// One score of routing: a product of a pooled query and a pooled key of
  /// head dimension 128, its softmax and its place in the sorted order.
  MachineNumber scorePs;
  std::vector<MachineKernel> kernels; ///< different combinations, at least one
};

/// Links of one level. Ranks form groups of `ranks` consecutive ones; two ranks
/// talk over the innermost level whose group has both. One direction of one
/// rank's port; a transfer holds the sender's sending port and the receiver's
/// receiving port for latencyPs + bytes / bytesPerS.
struct MachineLink {
  std::string name;
  int64_t ranks = 2;
  MachineNumber bytesPerS;
  MachineNumber latencyPs;
};

/// The costs of `kernelOf`, and where they come from.
struct KernelCost {
  int64_t tilePs = 0, rowPs = 0;
  bool exact = true; ///< false: scaled from `kernel`
  MachineKernel kernel;
};

/// A machine of equal ranks. Times are integer picoseconds, rates integer
/// bytes a second, so that every rank derives the same costs from the same
/// file.
struct Machine {
  std::string name;
  std::vector<MachineSource> sources;
  MachineDevice device;
  MachineNumber planPs;     ///< planning one mask on the host
  MachineNumber syncPs;     ///< reading the loads on the host, once a mask
  bool portPerLink = false; ///< false: one port serves all levels
  std::vector<MachineLink> links; ///< inner to outer; empty: one rank

  /// Largest number of ranks.
  int64_t ranks() const { return links.empty() ? 1 : links.back().ranks; }
  /// Level whose links two different ranks talk over.
  size_t levelOf(int64_t a, int64_t b) const;
  /// Device of a rank.
  int64_t deviceOf(int64_t rank) const { return rank / device.ranks; }

  /// The kernel for a layer: the listed one, else the nearest of the same kind
  /// of type (16 bits, else any) and head dimension, by work: a tile costs in
  /// proportion to blockQ * blockK * headDim, a row to blockQ * headDim.
  KernelCost kernelOf(const LayerShape &shape) const;

  /// Costs that the planner decides with: kernels of the layer's shape; a
  /// transfer over the outermost level that the mesh's Ulysses groups span,
  /// with one launch for the work that came with it; planning and reading.
  /// Picoseconds a byte are rounded to the nearest integer, at least 1.
  CostModel costModel(const Placement &placement) const;

  /// Time of `bytes` over level `level`, without the latency, rounded up.
  int64_t transferPs(int64_t bytes, size_t level) const;
  /// Time of reading and writing `bytes` in all in a device's memory.
  int64_t memoryPs(int64_t bytes) const;
  /// The same machine with links of `milli` thousandths of the rate.
  Machine withLinkRate(int64_t milli) const;

  /// Refuses no source, kernel or name, numbers outside their ranges, kernels
  /// listed twice, levels that do not grow by whole groups, more than maxRanks.
  Status verify() const;

  /// Reads a machine file: JSON with every member once and none other, every
  /// number with its source. Errors name the place: `links[1].gb_per_s`.
  static Expected<Machine> parse(std::string_view text);
  /// The file of this machine; parse gives the same machine back.
  std::string text() const;
};

} // namespace sart

#endif // SPARSEATTN_RT_MACHINE_H
