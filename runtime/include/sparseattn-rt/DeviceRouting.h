//===- DeviceRouting.h - Routing kernels of a device ------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The border between the kernels that route on a GPU (built by
// buildDeviceRoutingKernels) and the host code that launches them: records they
// read, arguments in order, launch shapes. Records lie in device memory as
// arrays; pointers are device addresses. All kernels take the grid on x alone,
// need no host synchronisation and no memory of their own, may be captured in a
// graph, and give the same bits in every run.
//
// Kernels and their arguments (ptr: 64-bit device address):
//
//   pool_<dtype>_d<D>_b<block>   (dtype bf16, f16 or f32; D 64, 128 or 256)
//     ptr DevicePoolRecord[], i32 ctasPerRecord
//     Means of the blocks of x, as fp32. A block without rows gives 0.
//
//   route_d<D>_r16, route_d<D>_r8   (deviceRouteLaunch chooses)
//     ptr DeviceRouteRecord[], i32 rowsPerCta, i32 ctasPerRecord,
//     i32 scoreStride, f32 scale, f32 p, i32 minBlocks, ptr keep, i32 keepPairs
//     Mask rows, row figures and summaries. keep: int32 pairs [begin, end) of
//     kv-blocks that are always kept. Top-k: p = 0, minBlocks = k.
//
//   route_totals
//     ptr DeviceRouteRecord[], ptr DeviceRouteTotals[]
//     One sum per record over its row figures, in a fixed order.
//
//   order_tiles
//     ptr DeviceOrderRecord[], ptr DeviceTileRecord[], i32 sortSize
//     Tiles of each record, longest first, equal ones by ascending q-block.
//
//   convert_<from>_<to>   (f32_bf16, f32_f16, bf16_f32, f16_f32)
//     ptr DeviceConvertRecord[], i32 ctasPerRecord, i32 columns
//     Rounds to nearest even. columns: a multiple of 4.
//
//   merge_f32
//     ptr DeviceMergeRecord[], i32 ctasPerRecord, i32 columns
//     mergePartials on the device. columns: a multiple of 4.
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_DEVICEROUTING_H
#define SPARSEATTN_RT_DEVICEROUTING_H

#include "sparseattn-rt/Status.h"

#include <cstdint>
#include <string>

namespace sart {

/// Blocks [blockBegin, blockEnd) of one head's x, rows x D elements. x is
/// aligned to 16 bytes, and so is each row: xStride is a multiple of 16 bytes.
struct DevicePoolRecord {
  uint64_t x = 0;      ///< row 0
  uint64_t y = 0;      ///< fp32 row of block 0, aligned to 16 bytes
  int64_t xStride = 0; ///< elements between rows
  int32_t rows = 0;    ///< valid rows of x
  int32_t yStride = 0; ///< floats between rows, a multiple of 4
  int32_t blockBegin = 0;
  int32_t blockEnd = 0;
  uint64_t reserved = 0;
};

/// Rows [qBegin, qEnd) of one head.
struct DeviceRouteRecord {
  uint64_t pooledQ = 0; ///< fp32 row of q-block 0, aligned to 16 bytes
  uint64_t pooledK = 0; ///< fp32 row of kv-block 0, aligned to 16 bytes
  uint64_t mask = 0;    ///< int32 mask row of q-block 0
  /// int32[qEnd - qBegin]: kv-blocks each row may see, a prefix; 0: all.
  uint64_t visible = 0;
  /// uint32[MaskSummary::rowWords(kvBlocks)], [tiles, demand bits...], to which
  /// this record's tiles are added: zero it before. 0: none.
  uint64_t summary = 0;
  uint64_t rowFigures = 0; ///< DeviceRowFigures[qEnd - qBegin]
  int32_t qBegin = 0;
  int32_t qEnd = 0;
  int32_t kvBlocks = 0;   ///< rows of pooledK
  int32_t qStride = 0;    ///< floats between rows, a multiple of 4
  int32_t kStride = 0;    ///< floats between rows, a multiple of 4
  int32_t maskStride = 0; ///< int32s between mask rows, > kvBlocks
  /// int32 of q-block 0: kept blocks of each row, written where not 0; zero it
  /// before. 0: none.
  uint64_t rowTiles = 0;
};

/// What route says about one row.
struct DeviceRowFigures {
  double keptMass = 0;       ///< sum of the kept probabilities
  int32_t nearThreshold = 0; ///< blocks with |cumulative - p| <= 1e-5
  int32_t tiles = 0;         ///< kept blocks
};

/// Sums over the rows of one record.
struct DeviceRouteTotals {
  double keptMass = 0;
  int64_t nearThreshold = 0;
  int64_t tiles = 0;
  int64_t rows = 0;
};

/// q-blocks [qBegin, qEnd) of one entry, restricted to kv-blocks
/// [kvBegin, kvEnd); its tiles begin at tiles[firstTile].
struct DeviceOrderRecord {
  uint64_t mask = 0; ///< int32 mask row of q-block 0
  int32_t maskStride = 0;
  int32_t entry = 0; ///< goes into the tiles
  int32_t qBegin = 0;
  int32_t qEnd = 0;
  int32_t kvBegin = 0;
  int32_t kvEnd = 0;
  int32_t firstTile = 0;
  int32_t reserved = 0;
};

/// One q-block of an entry; visits the kv-blocks
/// mask[qBlock * maskStride + 1 + first .. + count). A row whose length is not
/// 0 to maskStride - 1 was not written: count is 0 and first its length with
/// the sign bit set.
struct DeviceTileRecord {
  int32_t entry = 0;
  int32_t qBlock = 0;
  int32_t first = 0;
  int32_t count = 0;
};

/// Rows of elements, each aligned to 4 elements.
struct DeviceConvertRecord {
  uint64_t from = 0;
  uint64_t to = 0;
  int64_t fromStride = 0; ///< elements
  int64_t toStride = 0;   ///< elements
  int64_t rows = 0;
};

/// Joins the partial (oPart, lsePart) into (o, lse), all fp32; rows of o are
/// aligned to 16 bytes.
struct DeviceMergeRecord {
  uint64_t oPart = 0;
  uint64_t lsePart = 0;
  uint64_t o = 0;
  uint64_t lse = 0;
  int64_t oPartStride = 0;
  int64_t lsePartStride = 0;
  int64_t oStride = 0;
  int64_t lseStride = 0;
  int64_t rows = 0;
};

static_assert(sizeof(DevicePoolRecord) == 48, "kernels know the layout");
static_assert(sizeof(DeviceRouteRecord) == 80, "kernels know the layout");
static_assert(sizeof(DeviceRowFigures) == 16, "kernels know the layout");
static_assert(sizeof(DeviceRouteTotals) == 32, "kernels know the layout");
static_assert(sizeof(DeviceOrderRecord) == 40, "kernels know the layout");
static_assert(sizeof(DeviceTileRecord) == 16, "kernels know the layout");
static_assert(sizeof(DeviceConvertRecord) == 40, "kernels know the layout");
static_assert(sizeof(DeviceMergeRecord) == 72, "kernels know the layout");

/// Largest dynamic shared memory of a CTA of sm_90, in bytes.
inline constexpr int64_t maxDeviceSharedBytes = 232448;

/// How one of the kernels is launched.
struct DeviceRoutingLaunch {
  std::string kernel;
  int64_t grid = 0;
  int32_t threads = 0;
  int32_t sharedBytes = 0; ///< dynamic
  /// The kernel's i32 arguments of these names.
  int32_t ctasPerRecord = 0;
  int32_t rowsPerCta = 0;
  int32_t scoreStride = 0;
  int32_t sortSize = 0;
};

/// The largest number of rows, blocks ... of any record decides. Each refuses
/// grids over 2^31 - 1.
/// pool: `kernel` is the name of its spec, for instance pool_bf16_d128_b128.
Expected<DeviceRoutingLaunch> devicePoolLaunch(const std::string &kernel,
                                               int64_t records,
                                               int64_t blocksPerRecord);
/// route: refuses more kv-blocks than the scores of a row fit into shared
/// memory.
Expected<DeviceRoutingLaunch> deviceRouteLaunch(int64_t headDim,
                                                int64_t records,
                                                int64_t rowsPerRecord,
                                                int64_t kvBlocks);
Expected<DeviceRoutingLaunch> deviceTotalsLaunch(int64_t records);
/// order_tiles: refuses more rows per record than fit into shared memory.
Expected<DeviceRoutingLaunch> deviceOrderLaunch(int64_t records,
                                                int64_t rowsPerRecord);
/// convert_<from>_<to>: `kernel` is its name.
Expected<DeviceRoutingLaunch> deviceConvertLaunch(const std::string &kernel,
                                                  int64_t records,
                                                  int64_t rowsPerRecord,
                                                  int64_t columns);
Expected<DeviceRoutingLaunch> deviceMergeLaunch(int64_t records,
                                                int64_t rowsPerRecord);

} // namespace sart

#endif // SPARSEATTN_RT_DEVICEROUTING_H
