//===- Attributes.cpp - Rules of the attributes ---------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FieldList.h"
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::sparseattn;

#include "sparseattn/Dialect/SparseAttn/IR/SparseAttnAttrInterfaces.cpp.inc"
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttnEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttnAttrs.cpp.inc"

void SparseAttnDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttnAttrs.cpp.inc"
      >();
}

namespace {
using EmitError = function_ref<InFlightDiagnostic()>;

constexpr int64_t maxTokens = int64_t(1) << 40;
constexpr int64_t maxRanks = 65536;

/// The half-open ranges `ranges` (begin, end, ...) are not empty, ascending and
/// disjoint, within [0, limit).
LogicalResult verifyRanges(EmitError emitError, StringRef what,
                           ArrayRef<int64_t> ranges, int64_t limit) {
  int64_t last = 0;
  for (size_t i = 0; i + 1 < ranges.size(); i += 2) {
    int64_t begin = ranges[i], end = ranges[i + 1];
    if (begin < last || end <= begin || end > limit) {
      auto diag = emitError() << what << ": got [" << begin << ", " << end
                              << "], expected " << last << " <= begin < end";
      if (limit != std::numeric_limits<int64_t>::max())
        diag << " <= " << limit;
      return diag;
    }
    last = end;
  }
  return success();
}

LogicalResult verifyKeep(EmitError emitError, ArrayRef<int64_t> keep) {
  return verifyRanges(emitError, "range of keep", keep,
                      std::numeric_limits<int64_t>::max());
}

LogicalResult verifyIndex(EmitError emitError, const Twine &what, int64_t got,
                          int64_t limit) {
  if (got >= 0 && got < limit)
    return success();
  return emitError() << what << ": got " << got << ", expected from 0 to "
                     << limit - 1;
}

LogicalResult verifyHeads(EmitError emitError, StringRef what, int64_t heads,
                          int64_t kvHeads) {
  if (heads < 1 || kvHeads < 1)
    return emitError() << "heads and kv_heads of " << what << ": got " << heads
                       << " and " << kvHeads << ", expected at least 1";
  if (heads % kvHeads)
    return emitError() << "kv_heads of " << what << " must divide heads: got "
                       << kvHeads << ", expected a divisor of " << heads;
  return success();
}

LogicalResult verifyBlocks(EmitError emitError, StringRef what, int64_t qBlocks,
                           int64_t kvBlocks) {
  if (qBlocks < 0 || kvBlocks < 0)
    return emitError() << "q_blocks and kv_blocks of " << what << ": got "
                       << qBlocks << " and " << kvBlocks
                       << ", expected at least 0";
  return success();
}

/// Sets `count` to prefix + t * h * w + suffix. True when it reaches 2^40.
bool tooManyTokens(ArrayRef<int64_t> grid, int64_t prefix, int64_t suffix,
                   int64_t &count) {
  int64_t area = 0, volume = 0, sum = 0;
  return llvm::MulOverflow(grid[0], grid[1], area) ||
         llvm::MulOverflow(area, grid[2], volume) ||
         llvm::AddOverflow(volume, prefix, sum) ||
         llvm::AddOverflow(sum, suffix, count) || count >= maxTokens;
}
} // namespace

// -- Order ------------------------------------------------------------------

LogicalResult OrderAttr::verify(EmitError emitError, OrderKind kind,
                                ArrayRef<int64_t> grid, int64_t prefix,
                                int64_t suffix, ArrayRef<int64_t> cube,
                                ArrayRef<int64_t> tiles) {
  auto isBox = [](ArrayRef<int64_t> axes, size_t count = 3) {
    return axes.size() == count &&
           llvm::all_of(axes, [](int64_t n) { return n >= 1; });
  };
  auto text = [](ArrayRef<int64_t> axes) {
    return "[" +
           llvm::join(llvm::map_range(
                          axes, [](int64_t n) { return std::to_string(n); }),
                      ", ") +
           "]";
  };
  if (!isBox(grid))
    return emitError() << "grid of an order: got " << text(grid)
                       << ", expected three sizes of at least 1";
  if (prefix < 0 || suffix < 0)
    return emitError() << "prefix and suffix of an order: got " << prefix
                       << " and " << suffix << ", expected at least 0";
  if (!isBox(cube))
    return emitError() << "cube of an order: got " << text(cube)
                       << ", expected three sizes of at least 1";
  if (kind != OrderKind::Cubes && kind != OrderKind::Tiles &&
      cube != ArrayRef<int64_t>{4, 4, 4})
    return emitError() << "order with a cube: got " << stringifyOrderKind(kind)
                       << ", expected cubes or tiles";
  if (!isBox(tiles, 2))
    return emitError() << "tiles of an order: got " << text(tiles)
                       << ", expected two counts of at least 1";
  if (kind != OrderKind::Tiles && tiles != ArrayRef<int64_t>{1, 1})
    return emitError() << "order with tiles: got " << stringifyOrderKind(kind)
                       << ", expected tiles";
  int64_t count = 0;
  if (tooManyTokens(grid, prefix, suffix, count))
    return emitError() << "tokens of an order: got grid " << text(grid)
                       << ", prefix " << prefix << " and suffix " << suffix
                       << ", expected fewer than " << maxTokens << " tokens";
  return success();
}

int64_t OrderAttr::getTokens() const {
  ArrayRef<int64_t> grid = getGrid();
  return getPrefix() + grid[0] * grid[1] * grid[2] + getSuffix();
}

// -- Routing policies -------------------------------------------------------

TopPAttr TopPAttr::get(MLIRContext *context, double p, int64_t minBlocks,
                       ArrayRef<int64_t> keep) {
  return get(context, APFloat(p), minBlocks, keep);
}

LogicalResult TopPAttr::verify(EmitError emitError, APFloat share,
                               int64_t minBlocks, ArrayRef<int64_t> keep) {
  if (!share.isFinite() || share.isNegative())
    return emitError() << "p of top_p: got " << shortestText(share)
                       << ", expected a finite number of at least 0";
  if (minBlocks < 1)
    return emitError() << "min_blocks of top_p: got " << minBlocks
                       << ", expected at least 1";
  return verifyKeep(emitError, keep);
}

bool TopPAttr::isStatic() const { return false; }
int64_t TopPAttr::getKeepEnd() const {
  return getKeep().empty() ? 0 : getKeep().back();
}

LogicalResult TopKAttr::verify(EmitError emitError, int64_t k,
                               ArrayRef<int64_t> keep) {
  if (k < 1)
    return emitError() << "k of top_k: got " << k << ", expected at least 1";
  return verifyKeep(emitError, keep);
}

bool TopKAttr::isStatic() const { return false; }
int64_t TopKAttr::getKeepEnd() const {
  return getKeep().empty() ? 0 : getKeep().back();
}

bool DenseAttr::isStatic() const { return true; }
int64_t DenseAttr::getKeepEnd() const { return 0; }

LogicalResult WindowAttr::verify(EmitError emitError, int64_t blocks) {
  if (blocks < 0)
    return emitError() << "blocks of window: got " << blocks
                       << ", expected at least 0";
  return success();
}

bool WindowAttr::isStatic() const { return true; }
int64_t WindowAttr::getKeepEnd() const { return 0; }

// -- Mesh, placement, cost --------------------------------------------------

LogicalResult MeshAttr::verify(EmitError emitError, int64_t ulysses,
                               int64_t ring) {
  if (ulysses < 1 || ring < 1)
    return emitError() << "ulysses and ring of a mesh: got " << ulysses
                       << " and " << ring << ", expected at least 1";
  if (ulysses > maxRanks || ring > maxRanks / ulysses)
    return emitError() << "ranks of a mesh: got " << ulysses << "x" << ring
                       << ", expected at most " << maxRanks;
  return success();
}

LogicalResult PlacementAttr::verify(EmitError emitError, MeshAttr,
                                    int64_t heads, int64_t kvHeads,
                                    int64_t qBlocks, int64_t kvBlocks, bool) {
  return failure(
      failed(verifyHeads(emitError, "a placement", heads, kvHeads)) ||
      failed(verifyBlocks(emitError, "a placement", qBlocks, kvBlocks)));
}

LogicalResult CostModelAttr::verify(EmitError emitError, int64_t tilePs,
                                    int64_t rowPs, int64_t transferPs,
                                    int64_t bytePs, int64_t scheduleNs) {
  std::pair<StringRef, int64_t> costs[] = {{"tile_ps", tilePs},
                                           {"row_ps", rowPs},
                                           {"transfer_ps", transferPs},
                                           {"byte_ps", bytePs},
                                           {"schedule_ns", scheduleNs}};
  for (auto [name, cost] : costs)
    if (cost < 0)
      return emitError() << name << " of a cost model: got " << cost
                         << ", expected at least 0";
  return success();
}

// -- Plan -------------------------------------------------------------------

static LogicalResult verifyMoves(EmitError emitError, MeshAttr mesh,
                                 int64_t heads, ArrayRef<PlannedMove> moves) {
  int64_t last = -1;
  for (const PlannedMove &move : moves) {
    if (failed(verifyIndex(emitError, "head of a move", move.head, heads)) ||
        failed(verifyIndex(emitError, "origin of a move", move.from,
                           mesh.getUlysses())) ||
        failed(verifyIndex(emitError, "destination of a move", move.to,
                           mesh.getUlysses())))
      return failure();
    if (move.from == move.to)
      return emitError() << "destination of the move of head " << move.head
                         << " must differ from its origin: got " << move.to;
    if (move.head <= last)
      return emitError() << "moves must ascend by head: got head " << move.head
                         << " after head " << last;
    last = move.head;
  }
  return success();
}

static LogicalResult verifyRowMoves(EmitError emitError, MeshAttr mesh,
                                    int64_t heads, int64_t qBlocks,
                                    ArrayRef<PlannedRowMove> moves) {
  const PlannedRowMove *last = nullptr;
  for (const PlannedRowMove &move : moves) {
    if (failed(
            verifyIndex(emitError, "head of a row move", move.head, heads)) ||
        failed(verifyIndex(emitError, "origin of a row move", move.from,
                           mesh.getRanks())) ||
        failed(verifyIndex(emitError, "destination of a row move", move.to,
                           mesh.getRanks())))
      return failure();
    int64_t ends[] = {move.begin, move.end};
    if (failed(
            verifyRanges(emitError, "q-blocks of a row move", ends, qBlocks)))
      return failure();
    if (move.from == move.to)
      return emitError() << "destination of the row move of head " << move.head
                         << " must differ from its origin: got " << move.to;
    if (last &&
        std::pair(move.head, move.begin) < std::pair(last->head, last->end))
      return emitError() << "row moves must ascend and be disjoint: got ["
                         << move.head << ", " << move.begin << "] after ["
                         << last->head << ", " << last->end << ")";
    last = &move;
  }
  return success();
}

static LogicalResult verifyTransfers(EmitError emitError, MeshAttr mesh,
                                     int64_t kvHeads, int64_t kvBlocks,
                                     ArrayRef<PlannedTransfer> transfers,
                                     ArrayRef<int64_t> ranges) {
  for (const PlannedTransfer &transfer : transfers) {
    if (failed(verifyIndex(emitError, "kv head of a transfer", transfer.kvHead,
                           kvHeads)) ||
        failed(verifyIndex(emitError, "ulysses index of a transfer",
                           transfer.ulysses, mesh.getUlysses())) ||
        failed(verifyIndex(emitError, "origin of a transfer", transfer.from,
                           mesh.getRing())) ||
        failed(verifyIndex(emitError, "destination of a transfer", transfer.to,
                           mesh.getRing())))
      return failure();
    if (transfer.from == transfer.to)
      return emitError() << "destination of a transfer of kv head "
                         << transfer.kvHead
                         << " must differ from its origin: got " << transfer.to;
    int64_t size = 2 * transfer.numRanges;
    if (size < 0 || size > static_cast<int64_t>(ranges.size()))
      return emitError() << "ranges of a transfer: got " << ranges.size() / 2
                         << ", expected at least " << transfer.numRanges;
    if (failed(verifyRanges(emitError, "kv-blocks of a transfer",
                            ranges.take_front(size), kvBlocks)))
      return failure();
    ranges = ranges.drop_front(size);
  }
  if (!ranges.empty())
    return emitError() << "ranges beside those of the transfers: got "
                       << ranges.size() / 2 << ", expected 0";
  return success();
}

static LogicalResult verifyExtras(EmitError emitError, MeshAttr mesh,
                                  int64_t heads,
                                  ArrayRef<PlannedExtra> extras) {
  const PlannedExtra *last = nullptr;
  for (const PlannedExtra &extra : extras) {
    if (failed(
            verifyIndex(emitError, "head of extra tiles", extra.head, heads)) ||
        failed(verifyIndex(emitError, "ring index of extra tiles", extra.ring,
                           mesh.getRing())))
      return failure();
    if (extra.tiles < 1)
      return emitError() << "extra tiles of head " << extra.head << ": got "
                         << extra.tiles << ", expected at least 1";
    if (last &&
        std::pair(extra.head, extra.ring) <= std::pair(last->head, last->ring))
      return emitError() << "extras must ascend by head and ring index: got ["
                         << extra.head << ", " << extra.ring << "] after ["
                         << last->head << ", " << last->ring << "]";
    last = &extra;
  }
  return success();
}

static LogicalResult verifyLoads(EmitError emitError, StringRef what,
                                 MeshAttr mesh, ArrayRef<int64_t> loads) {
  if (!loads.empty() && static_cast<int64_t>(loads.size()) != mesh.getRanks())
    return emitError() << "entries of " << what << ": got " << loads.size()
                       << ", expected 0 or one per rank, " << mesh.getRanks();
  for (int64_t load : loads)
    if (load < 0)
      return emitError() << "entry of " << what << ": got " << load
                         << ", expected at least 0";
  return success();
}

LogicalResult PlanAttr::verify(
    EmitError emitError, MeshAttr mesh, int64_t heads, int64_t kvHeads,
    int64_t qBlocks, int64_t kvBlocks, ArrayRef<PlannedMove> moves,
    ArrayRef<PlannedRowMove> rowMoves, ArrayRef<PlannedTransfer> transfers,
    ArrayRef<int64_t> transferRanges, ArrayRef<PlannedExtra> extras,
    ArrayRef<int64_t> loadsBefore, ArrayRef<int64_t> loadsAfter) {
  return failure(
      failed(verifyHeads(emitError, "a plan", heads, kvHeads)) ||
      failed(verifyBlocks(emitError, "a plan", qBlocks, kvBlocks)) ||
      failed(verifyMoves(emitError, mesh, heads, moves)) ||
      failed(verifyRowMoves(emitError, mesh, heads, qBlocks, rowMoves)) ||
      failed(verifyTransfers(emitError, mesh, kvHeads, kvBlocks, transfers,
                             transferRanges)) ||
      failed(verifyExtras(emitError, mesh, heads, extras)) ||
      failed(verifyLoads(emitError, "loads_before", mesh, loadsBefore)) ||
      failed(verifyLoads(emitError, "loads_after", mesh, loadsAfter)));
}

void PlanAttr::forEachTransfer(
    function_ref<void(const PlannedTransfer &, ArrayRef<int64_t>)> visit)
    const {
  ArrayRef<int64_t> ranges = getTransferRanges();
  for (const PlannedTransfer &transfer : getTransfers()) {
    visit(transfer, ranges.take_front(2 * transfer.numRanges));
    ranges = ranges.drop_front(2 * transfer.numRanges);
  }
}
