//===- PlanPrinter.cpp - Text of plans ------------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FieldList.h"
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"

using namespace mlir;
using namespace mlir::sparseattn;

/// Reads `[[kv_head, ulysses, from, to, [begin, end, ...]], ...]`.
static ParseResult parseTransfers(AsmParser &parser,
                                  SmallVectorImpl<PlannedTransfer> &transfers,
                                  SmallVectorImpl<int64_t> &ranges) {
  auto parseOne = [&]() -> ParseResult {
    PlannedTransfer t{};
    if (parser.parseLSquare() || parser.parseInteger(t.kvHead) ||
        parser.parseComma() || parser.parseInteger(t.ulysses) ||
        parser.parseComma() || parser.parseInteger(t.from) ||
        parser.parseComma() || parser.parseInteger(t.to) || parser.parseComma())
      return failure();
    SMLoc loc = parser.getCurrentLocation();
    SmallVector<int64_t> blocks;
    if (parseInts(parser, blocks) || parser.parseRSquare())
      return failure();
    if (blocks.size() % 2)
      return parser.emitError(loc)
             << "numbers in the ranges of a transfer: got " << blocks.size()
             << ", expected an even count (begin, end, ...)";
    t.numRanges = static_cast<int64_t>(blocks.size()) / 2;
    transfers.push_back(t);
    ranges.append(blocks);
    return success();
  };
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne);
}

Attribute PlanAttr::parse(AsmParser &parser, Type type) {
  SMLoc loc = parser.getCurrentLocation();
  if (refuseType(parser, getMnemonic(), type))
    return {};
  MeshAttr mesh;
  int64_t heads = 0, kvHeads = 0, qBlocks = 0, kvBlocks = 0;
  SmallVector<int64_t> moveRows, rowMoveRows, extraRows, ranges, before, after;
  SmallVector<PlannedTransfer> transfers;
  FieldList fields(parser);
  addNested(fields, parser, "mesh", mesh, /*required=*/true);
  fields.addInt("heads", heads, /*required=*/true);
  fields.addInt("kv_heads", kvHeads, /*required=*/true);
  fields.addInt("q_blocks", qBlocks, /*required=*/true);
  fields.addInt("kv_blocks", kvBlocks, /*required=*/true);
  fields.addRows("moves", 3, moveRows);
  fields.addRows("row_moves", 5, rowMoveRows);
  fields.add("transfers",
             [&] { return parseTransfers(parser, transfers, ranges); });
  fields.addRows("extras", 3, extraRows);
  fields.addInts("loads_before", before);
  fields.addInts("loads_after", after);
  if (parser.parseLess() || fields.parse(/*first=*/true))
    return {};
  SmallVector<PlannedMove> moves;
  for (size_t i = 0; i < moveRows.size(); i += 3)
    moves.push_back({moveRows[i], moveRows[i + 1], moveRows[i + 2]});
  SmallVector<PlannedRowMove> rowMoves;
  for (size_t i = 0; i < rowMoveRows.size(); i += 5)
    rowMoves.push_back({rowMoveRows[i], rowMoveRows[i + 1], rowMoveRows[i + 2],
                        rowMoveRows[i + 3], rowMoveRows[i + 4]});
  SmallVector<PlannedExtra> extras;
  for (size_t i = 0; i < extraRows.size(); i += 3)
    extras.push_back({extraRows[i], extraRows[i + 1], extraRows[i + 2]});
  return parser.getChecked<PlanAttr>(
      loc, parser.getContext(), mesh, heads, kvHeads, qBlocks, kvBlocks,
      ArrayRef<PlannedMove>(moves), ArrayRef<PlannedRowMove>(rowMoves),
      ArrayRef<PlannedTransfer>(transfers), ArrayRef<int64_t>(ranges),
      ArrayRef<PlannedExtra>(extras), ArrayRef<int64_t>(before),
      ArrayRef<int64_t>(after));
}

void PlanAttr::print(AsmPrinter &printer) const {
  printer << '<';
  FieldPrinter fields(printer);
  fields.nested("mesh", getMesh());
  fields.integer("heads", getHeads());
  fields.integer("kv_heads", getKvHeads());
  fields.integer("q_blocks", getQBlocks());
  fields.integer("kv_blocks", getKvBlocks());
  SmallVector<int64_t> rows;
  for (const PlannedMove &move : getMoves())
    rows.append({move.head, move.from, move.to});
  fields.rowsUnlessEmpty("moves", 3, rows);
  rows.clear();
  for (const PlannedRowMove &move : getRowMoves())
    rows.append({move.head, move.begin, move.end, move.from, move.to});
  fields.rowsUnlessEmpty("row_moves", 5, rows);
  if (!getTransfers().empty()) {
    fields.name("transfers") << " = [";
    StringRef separator = "";
    forEachTransfer([&](const PlannedTransfer &t, ArrayRef<int64_t> ranges) {
      printer << separator << '[' << t.kvHead << ", " << t.ulysses << ", "
              << t.from << ", " << t.to << ", ";
      printInts(printer, ranges);
      printer << ']';
      separator = ", ";
    });
    printer << ']';
  }
  rows.clear();
  for (const PlannedExtra &extra : getExtras())
    rows.append({extra.head, extra.ring, extra.tiles});
  fields.rowsUnlessEmpty("extras", 3, rows);
  fields.intsUnlessEmpty("loads_before", getLoadsBefore());
  fields.intsUnlessEmpty("loads_after", getLoadsAfter());
  printer << '>';
}
