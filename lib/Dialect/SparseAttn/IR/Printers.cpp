//===- Printers.cpp - Text of the attributes ------------------------------===//
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

namespace {
constexpr int64_t defaultCube[] = {4, 4, 4};
constexpr int64_t defaultTiles[] = {1, 1};
constexpr int64_t defaultTilePs = 1000;
} // namespace

// -- Order ------------------------------------------------------------------

Attribute OrderAttr::parse(AsmParser &parser, Type type) {
  SMLoc loc = parser.getCurrentLocation();
  if (refuseType(parser, getMnemonic(), type))
    return {};
  if (parser.parseLess())
    return {};
  SMLoc kindLoc = parser.getCurrentLocation();
  StringRef keyword;
  if (failed(parser.parseOptionalKeyword(&keyword))) {
    parser.emitError(kindLoc)
        << "expected the kind of an order: raster, cubes, hilbert, stripes "
           "or tiles";
    return {};
  }
  std::optional<OrderKind> kind = symbolizeOrderKind(keyword);
  if (!kind) {
    parser.emitError(kindLoc) << "kind of an order: got '" << keyword
                              << "', expected raster, cubes, hilbert, stripes "
                                 "or tiles";
    return {};
  }
  SmallVector<int64_t> grid, cube, tiles;
  int64_t prefix = 0, suffix = 0;
  FieldList fields(parser);
  fields.addInts("grid", grid, /*required=*/true);
  fields.addInt("prefix", prefix);
  fields.addInt("suffix", suffix);
  fields.add("cube", [&]() -> ParseResult {
    SMLoc cubeLoc = parser.getCurrentLocation();
    if (parseInts(parser, cube))
      return failure();
    if (cube.empty())
      return parser.emitError(cubeLoc)
             << "cube of an order: got [], expected three sizes of at least 1";
    return success();
  });
  fields.add("tiles", [&]() -> ParseResult {
    SMLoc tilesLoc = parser.getCurrentLocation();
    if (parseInts(parser, tiles))
      return failure();
    if (tiles.empty())
      return parser.emitError(tilesLoc)
             << "tiles of an order: got [], expected two counts of at least 1";
    return success();
  });
  if (fields.parse(/*first=*/false))
    return {};
  if (cube.empty())
    cube.assign(std::begin(defaultCube), std::end(defaultCube));
  if (tiles.empty())
    tiles.assign(std::begin(defaultTiles), std::end(defaultTiles));
  return parser.getChecked<OrderAttr>(
      loc, parser.getContext(), *kind, ArrayRef<int64_t>(grid), prefix, suffix,
      ArrayRef<int64_t>(cube), ArrayRef<int64_t>(tiles));
}

void OrderAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyOrderKind(getKind());
  FieldPrinter fields(printer, /*first=*/false);
  fields.ints("grid", getGrid());
  fields.integerUnless("prefix", getPrefix(), 0);
  fields.integerUnless("suffix", getSuffix(), 0);
  if (getCube() != ArrayRef<int64_t>(defaultCube))
    fields.ints("cube", getCube());
  if (getTiles() != ArrayRef<int64_t>(defaultTiles))
    fields.ints("tiles", getTiles());
  printer << '>';
}

// -- Routing policies -------------------------------------------------------

Attribute TopPAttr::parse(AsmParser &parser, Type type) {
  SMLoc loc = parser.getCurrentLocation();
  if (refuseType(parser, getMnemonic(), type))
    return {};
  double p = 0;
  int64_t minBlocks = 1;
  SmallVector<int64_t> keep;
  FieldList fields(parser);
  fields.add("p", [&] { return parseNumber(parser, p); }, /*required=*/true);
  fields.addInt("min_blocks", minBlocks);
  fields.addRows("keep", 2, keep);
  if (parser.parseLess() || fields.parse(/*first=*/true))
    return {};
  return parser.getChecked<TopPAttr>(loc, parser.getContext(), APFloat(p),
                                     minBlocks, ArrayRef<int64_t>(keep));
}

void TopPAttr::print(AsmPrinter &printer) const {
  printer << '<';
  FieldPrinter fields(printer);
  fields.name("p") << " = " << shortestText(getShare());
  fields.integerUnless("min_blocks", getMinBlocks(), 1);
  fields.rowsUnlessEmpty("keep", 2, getKeep());
  printer << '>';
}

Attribute TopKAttr::parse(AsmParser &parser, Type type) {
  SMLoc loc = parser.getCurrentLocation();
  if (refuseType(parser, getMnemonic(), type))
    return {};
  int64_t k = 0;
  SmallVector<int64_t> keep;
  FieldList fields(parser);
  fields.addInt("k", k, /*required=*/true);
  fields.addRows("keep", 2, keep);
  if (parser.parseLess() || fields.parse(/*first=*/true))
    return {};
  return parser.getChecked<TopKAttr>(loc, parser.getContext(), k,
                                     ArrayRef<int64_t>(keep));
}

void TopKAttr::print(AsmPrinter &printer) const {
  printer << '<';
  FieldPrinter fields(printer);
  fields.integer("k", getK());
  fields.rowsUnlessEmpty("keep", 2, getKeep());
  printer << '>';
}

Attribute WindowAttr::parse(AsmParser &parser, Type type) {
  SMLoc loc = parser.getCurrentLocation();
  if (refuseType(parser, getMnemonic(), type))
    return {};
  int64_t blocks = 0;
  FieldList fields(parser);
  fields.addInt("blocks", blocks, /*required=*/true);
  if (parser.parseLess() || fields.parse(/*first=*/true))
    return {};
  return parser.getChecked<WindowAttr>(loc, parser.getContext(), blocks);
}

void WindowAttr::print(AsmPrinter &printer) const {
  printer << "<blocks = " << getBlocks() << '>';
}

// -- Mesh, placement, cost --------------------------------------------------

Attribute MeshAttr::parse(AsmParser &parser, Type type) {
  SMLoc loc = parser.getCurrentLocation();
  if (refuseType(parser, getMnemonic(), type))
    return {};
  int64_t ulysses = 0, ring = 0;
  FieldList fields(parser);
  fields.addInt("ulysses", ulysses, /*required=*/true);
  fields.addInt("ring", ring, /*required=*/true);
  if (parser.parseLess() || fields.parse(/*first=*/true))
    return {};
  return parser.getChecked<MeshAttr>(loc, parser.getContext(), ulysses, ring);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<ulysses = " << getUlysses() << ", ring = " << getRing() << '>';
}

Attribute PlacementAttr::parse(AsmParser &parser, Type type) {
  SMLoc loc = parser.getCurrentLocation();
  if (refuseType(parser, getMnemonic(), type))
    return {};
  MeshAttr mesh;
  int64_t heads = 0, kvHeads = 0, qBlocks = 0, kvBlocks = 0;
  FieldList fields(parser);
  addNested(fields, parser, "mesh", mesh, /*required=*/true);
  fields.addInt("heads", heads, /*required=*/true);
  fields.addInt("kv_heads", kvHeads, /*required=*/true);
  fields.addInt("q_blocks", qBlocks, /*required=*/true);
  fields.addInt("kv_blocks", kvBlocks, /*required=*/true);
  bool blockShards = false;
  fields.addFlag("block_shards", blockShards);
  if (parser.parseLess() || fields.parse(/*first=*/true))
    return {};
  return parser.getChecked<PlacementAttr>(loc, parser.getContext(), mesh, heads,
                                          kvHeads, qBlocks, kvBlocks,
                                          blockShards);
}

void PlacementAttr::print(AsmPrinter &printer) const {
  printer << '<';
  FieldPrinter fields(printer);
  fields.nested("mesh", getMesh());
  fields.integer("heads", getHeads());
  fields.integer("kv_heads", getKvHeads());
  fields.integer("q_blocks", getQBlocks());
  fields.integer("kv_blocks", getKvBlocks());
  if (getBlockShards())
    fields.name("block_shards");
  printer << '>';
}

Attribute CostModelAttr::parse(AsmParser &parser, Type type) {
  SMLoc loc = parser.getCurrentLocation();
  if (refuseType(parser, getMnemonic(), type))
    return {};
  int64_t tilePs = defaultTilePs, rowPs = 0, transferPs = 0, bytePs = 0,
          scheduleNs = 0;
  FieldList fields(parser);
  fields.addInt("tile_ps", tilePs);
  fields.addInt("row_ps", rowPs);
  fields.addInt("transfer_ps", transferPs);
  fields.addInt("byte_ps", bytePs);
  fields.addInt("schedule_ns", scheduleNs);
  if (parser.parseLess() || fields.parse(/*first=*/true))
    return {};
  return parser.getChecked<CostModelAttr>(
      loc, parser.getContext(), tilePs, rowPs, transferPs, bytePs, scheduleNs);
}

void CostModelAttr::print(AsmPrinter &printer) const {
  printer << '<';
  FieldPrinter fields(printer);
  fields.integer("tile_ps", getTilePs());
  fields.integerUnless("row_ps", getRowPs(), 0);
  fields.integerUnless("transfer_ps", getTransferPs(), 0);
  fields.integerUnless("byte_ps", getBytePs(), 0);
  fields.integerUnless("schedule_ns", getScheduleNs(), 0);
  printer << '>';
}
