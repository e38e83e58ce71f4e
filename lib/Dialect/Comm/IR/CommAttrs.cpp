//===- CommAttrs.cpp - Checks and conversions of sa_comm attributes -------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CommSyntax.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sa_comm;
using namespace mlir::sa_comm::detail;

using EmitError = function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// Helpers of the public header
//===----------------------------------------------------------------------===//

Type mlir::sa_comm::toType(MLIRContext *context, sart::DType dtype) {
  Builder builder(context);
  switch (dtype) {
  case sart::DType::F32:
    return builder.getF32Type();
  case sart::DType::BF16:
    return builder.getBF16Type();
  case sart::DType::F16:
    return builder.getF16Type();
  case sart::DType::I32:
    return builder.getI32Type();
  case sart::DType::I64:
    return builder.getI64Type();
  }
  return {};
}

std::optional<sart::DType> mlir::sa_comm::toDType(Type type) {
  if (type.isF32())
    return sart::DType::F32;
  if (type.isBF16())
    return sart::DType::BF16;
  if (type.isF16())
    return sart::DType::F16;
  if (type.isSignlessInteger(32))
    return sart::DType::I32;
  if (type.isSignlessInteger(64))
    return sart::DType::I64;
  return std::nullopt;
}

SmallVector<int64_t> mlir::sa_comm::flattenList(Attribute literal) {
  auto copy = [](ArrayRef<int64_t> values) {
    return SmallVector<int64_t>(values.begin(), values.end());
  };
  if (auto chunks = dyn_cast_or_null<ChunksAttr>(literal))
    return copy(chunks.getValues());
  if (auto work = dyn_cast_or_null<WorkListAttr>(literal))
    return copy(work.getValues());
  if (auto integers = dyn_cast_or_null<DenseI64ArrayAttr>(literal))
    return copy(integers.asArrayRef());
  if (auto side = dyn_cast_or_null<SideAttr>(literal))
    return {static_cast<int64_t>(side.getValue())};
  return {};
}

Attribute mlir::sa_comm::chunkList(MLIRContext *context,
                                   ArrayRef<int64_t> values) {
  return ChunksAttr::get(context, values);
}
Attribute mlir::sa_comm::workList(MLIRContext *context,
                                  ArrayRef<int64_t> values) {
  return WorkListAttr::get(context, values);
}
Attribute mlir::sa_comm::intList(MLIRContext *context,
                                 ArrayRef<int64_t> values) {
  return DenseI64ArrayAttr::get(context, values);
}
Attribute mlir::sa_comm::symbolList(MLIRContext *context, StringRef name) {
  return FlatSymbolRefAttr::get(context, name);
}

//===----------------------------------------------------------------------===//
// Header
//===----------------------------------------------------------------------===//

/// `what` lies in [least, most].
static LogicalResult checkBetween(EmitError emitError, const Twine &what,
                                  int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most)
    return success();
  return emitError() << what << " is out of range: got " << value
                     << ", expected " << least << " to " << most;
}

LogicalResult MeshAttr::verify(EmitError emitError, int64_t ulysses,
                               int64_t ring, bool) {
  if (failed(checkBetween(emitError, "ulysses", ulysses, 1,
                          sart::maxRanks)) || // C1
      failed(checkBetween(emitError, "ring", ring, 1, sart::maxRanks)))
    return failure();
  return checkBetween(emitError, "number of ranks", ulysses * ring, 1,
                      sart::maxRanks);
}

LogicalResult ShapeAttr::verify(EmitError emitError, int64_t heads,
                                int64_t kvHeads, int64_t sq, int64_t skv,
                                int64_t headDim, int64_t blockQ, int64_t blockK,
                                Type dtype, bool) {
  std::tuple<StringRef, int64_t, int64_t> small[] = {
      {"heads", heads, maxHeads},
      {"kv_heads", kvHeads, maxHeads},
      {"head_dim", headDim, maxBlock},
      {"block_q", blockQ, maxBlock},
      {"block_k", blockK, maxBlock}};
  for (auto [name, value, most] : small) // C1
    if (failed(checkBetween(emitError, name, value, 1, most)))
      return failure();
  if (failed(checkBetween(emitError, "sq", sq, 0, maxCount)) ||
      failed(checkBetween(emitError, "skv", skv, 0, maxCount)))
    return failure();
  if (heads % kvHeads != 0) // C2
    return emitError() << "kv_heads does not divide heads: got " << kvHeads
                       << " and " << heads << ", expected a divisor of "
                       << heads;
  if (!dtype.isF32() && !dtype.isBF16() && !dtype.isF16()) // C3
    return emitError() << "dtype is unknown: got " << dtype
                       << ", expected f32, bf16 or f16";
  return success();
}

sart::LayerShape ShapeAttr::toShape() const {
  sart::LayerShape shape;
  shape.heads = getHeads();
  shape.kvHeads = getKvHeads();
  shape.sq = getSq();
  shape.skv = getSkv();
  shape.headDim = getHeadDim();
  shape.blockQ = getBlockQ();
  shape.blockK = getBlockK();
  shape.causal = getCausal();
  shape.dtype = toDType(getDtype()).value_or(sart::DType::F32);
  return shape;
}

// Declared by TableGen, by value.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
LogicalResult PolicyAttr::verify(EmitError emitError, PolicyKind, APFloat p,
                                 int64_t minBlocks, int64_t k,
                                 int64_t windowBlocks, ArrayRef<int64_t> keep) {
  if (!p.isFinite()) // C1
    return emitError() << "p is not finite: got "
                       << (p.isNaN() ? "nan" : "infinity")
                       << ", expected a finite number";
  if (failed(checkBetween(emitError, "min_blocks", minBlocks, 0, maxCount)) ||
      failed(checkBetween(emitError, "k", k, 0, maxCount)) || // C2
      failed(checkBetween(emitError, "blocks", windowBlocks, 0, maxCount)))
    return failure();
  if (keep.size() % 2 != 0)
    return emitError() << "number of bounds of keep is odd: got " << keep.size()
                       << ", expected pairs";
  for (size_t i = 0; i < keep.size(); i += 2) // C3
    if (keep[i] < 0 || keep[i + 1] < keep[i] || keep[i + 1] > maxCount)
      return emitError() << "range of keep is malformed: got " << keep[i] << ":"
                         << keep[i + 1]
                         << ", expected 0 <= begin <= end <= " << maxCount;
  return success();
}

PolicyAttr PolicyAttr::get(MLIRContext *context,
                           const sart::RoutingPolicy &policy) {
  SmallVector<int64_t> keep;
  for (const sart::Range &range : policy.keep)
    keep.append({range.begin, range.end});
  return get(context, static_cast<PolicyKind>(policy.kind), APFloat(policy.p),
             policy.minBlocks, policy.k, policy.windowBlocks, keep);
}

sart::RoutingPolicy PolicyAttr::toPolicy() const {
  sart::RoutingPolicy policy;
  policy.kind = static_cast<sart::RoutingPolicy::Kind>(getKind());
  policy.p = getP().convertToFloat();
  policy.minBlocks = getMinBlocks();
  policy.k = getK();
  policy.windowBlocks = getWindowBlocks();
  ArrayRef<int64_t> keep = getKeep();
  for (size_t i = 0; i + 1 < keep.size(); i += 2)
    policy.keep.push_back({keep[i], keep[i + 1]});
  return policy;
}

LogicalResult CostAttr::verify(EmitError emitError, int64_t tilePs,
                               int64_t rowPs, int64_t transferPs,
                               int64_t bytePs, int64_t scheduleNs) {
  std::pair<StringRef, int64_t> costs[] = {{"tile_ps", tilePs},
                                           {"row_ps", rowPs},
                                           {"transfer_ps", transferPs},
                                           {"byte_ps", bytePs},
                                           {"schedule_ns", scheduleNs}};
  for (auto [name, value] : costs) // C1
    if (failed(checkBetween(emitError, name, value, 0, maxRow)))
      return failure();
  return success();
}

LogicalResult PlannerAttr::verify(EmitError emitError, Balance, bool,
                                  int64_t k1, int64_t k2, int64_t n1,
                                  int64_t n2, int64_t maxPieces, bool,
                                  CostAttr) {
  std::pair<StringRef, int64_t> thresholds[] = {{"k1_milli", k1},
                                                {"k2_milli", k2},
                                                {"n1_milli", n1},
                                                {"n2_milli", n2},
                                                {"max_pieces", maxPieces}};
  for (auto [name, value] : thresholds) // C1
    if (failed(checkBetween(emitError, name, value, 0, maxCount)))
      return failure();
  return success();
}

PlannerAttr PlannerAttr::get(MLIRContext *context,
                             const sart::PlannerOptions &options) {
  const sart::CostModel &cost = options.cost;
  auto costAttr = CostAttr::get(context, cost.tilePs, cost.rowPs,
                                cost.transferPs, cost.bytePs, cost.scheduleNs);
  sart::CostModel none;
  if (costAttr == CostAttr::get(context, none.tilePs, none.rowPs,
                                none.transferPs, none.bytePs, none.scheduleNs))
    costAttr = {}; // the defaults are not written
  return get(context, static_cast<Balance>(options.balance), options.augment,
             options.k1Milli, options.k2Milli, options.n1Milli, options.n2Milli,
             options.maxPieces, options.repair, costAttr);
}

sart::PlannerOptions PlannerAttr::toOptions() const {
  sart::PlannerOptions options;
  options.balance = static_cast<sart::Balance>(getBalance());
  options.augment = getAugment();
  options.k1Milli = getK1Milli();
  options.k2Milli = getK2Milli();
  options.n1Milli = getN1Milli();
  options.n2Milli = getN2Milli();
  options.maxPieces = getMaxPieces();
  options.repair = getRepair();
  if (CostAttr cost = getCost())
    options.cost = {cost.getTilePs(), cost.getRowPs(), cost.getTransferPs(),
                    cost.getBytePs(), cost.getScheduleNs()};
  return options;
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

LogicalResult ChunksAttr::verify(EmitError emitError,
                                 ArrayRef<int64_t> values) {
  if (values.size() % sart::chunkInts != 0) // C1
    return emitError() << "number of integers of a chunk list is uneven: got "
                       << values.size() << ", expected a multiple of "
                       << sart::chunkInts;
  for (size_t i = 0; i < values.size(); i += sart::chunkInts) { // C2
    int64_t slot = values[i], begin = values[i + 1], end = values[i + 2];
    if (slot < 0 || slot > maxCount || begin < 0 || end < begin || end > maxRow)
      return emitError() << "chunk " << i / sart::chunkInts
                         << " is malformed: got [" << slot << ", " << begin
                         << ":" << end
                         << "], expected 0 <= slot <= " << maxCount
                         << " and 0 <= begin <= end <= " << maxRow;
  }
  return success();
}

sart::Chunk ChunksAttr::getChunk(size_t index) const {
  ArrayRef<int64_t> v = getValues().slice(index * sart::chunkInts);
  return {v[0], v[1], v[2]};
}

LogicalResult WorkListAttr::verify(EmitError emitError,
                                   ArrayRef<int64_t> values) {
  if (values.size() % sart::workInts != 0) // C1
    return emitError() << "number of integers of a work list is uneven: got "
                       << values.size() << ", expected a multiple of "
                       << sart::workInts;
  for (size_t i = 0; i < values.size(); i += sart::workInts) {
    ArrayRef<int64_t> v = values.slice(i, sart::workInts);
    size_t index = i / sart::workInts;
    std::pair<StringRef, int64_t> numbers[] = {
        {"head", v[0]}, {"q", v[1]}, {"kv", v[2]}, {"budget", v[7]}};
    for (auto [name, value] : numbers) // C2
      if (failed(checkBetween(emitError,
                              name + " of work entry " + Twine(index), value, 0,
                              maxCount)))
        return failure();
    if (failed(checkBetween(emitError, "origin of work entry " + Twine(index),
                            v[8], -1, maxCount)))
      return failure();
    std::tuple<StringRef, int64_t, int64_t> ranges[] = {{"rows", v[3], v[4]},
                                                        {"cols", v[5], v[6]}};
    for (auto [name, begin, end] : ranges) // C3
      if (begin < 0 || end < begin || end > maxCount)
        return emitError() << name << " of work entry " << index
                           << " are malformed: got " << begin << ":" << end
                           << ", expected 0 <= begin <= end <= " << maxCount;
  }
  return success();
}

sart::Work WorkListAttr::getWork(size_t index) const {
  ArrayRef<int64_t> v = getValues().slice(index * sart::workInts);
  return {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]};
}

LogicalResult MaskRowsAttr::verify(EmitError emitError, int64_t heads,
                                   int64_t qBlocks, int64_t kvBlocks,
                                   ArrayRef<int64_t> offsets,
                                   ArrayRef<int32_t> indices) {
  // C1. Each size is bounded first so that the products stay in 64 bits.
  for (int64_t size : {heads, qBlocks, kvBlocks})
    if (failed(checkBetween(emitError, "mask size", size, 0, maxMaskTiles)))
      return failure();
  int64_t rows = heads * qBlocks;
  if (failed(checkBetween(emitError, "number of mask rows", rows, 0,
                          maxMaskTiles)) ||
      failed(checkBetween(emitError, "number of mask tiles", rows * kvBlocks, 0,
                          maxMaskTiles)))
    return failure();
  int64_t count = static_cast<int64_t>(indices.size());
  if (static_cast<int64_t>(offsets.size()) != rows + 1 || // C2
      offsets.front() != 0 || offsets.back() != count)
    return emitError() << "mask offsets do not fit: got " << offsets.size()
                       << " offsets for " << count << " indices, expected "
                       << rows + 1 << " from 0 to " << count;
  for (int64_t row = 0; row < rows; ++row) {
    if (offsets[row + 1] < offsets[row] || offsets[row + 1] > count)
      return emitError() << "mask offsets do not ascend: got "
                         << offsets[row + 1] << " after " << offsets[row]
                         << ", expected " << offsets[row] << " to " << count;
    for (int64_t i = offsets[row]; i < offsets[row + 1]; ++i) { // C3
      int64_t least = i == offsets[row] ? 0 : int64_t(indices[i - 1]) + 1;
      if (indices[i] < least || indices[i] >= kvBlocks)
        return emitError() << "kv-blocks of head " << row / qBlocks << " row "
                           << row % qBlocks << " do not ascend: got "
                           << indices[i] << ", expected " << least << " to "
                           << kvBlocks - 1;
    }
  }
  return success();
}

MaskRowsAttr MaskRowsAttr::get(MLIRContext *context,
                               const sart::BlockMask &mask) {
  return get(context, mask.heads(), mask.qBlocks(), mask.kvBlocks(),
             mask.rowOffsets(), mask.rowIndices());
}
