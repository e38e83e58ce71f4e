//===- Printers.cpp - Text of attributes and types ------------------------===//
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
/// Prints the fields of one attribute, separated by commas.
class FieldPrinter {
public:
  explicit FieldPrinter(AsmPrinter &printer, bool first = true)
      : printer(printer), first(first) {}

  AsmPrinter &name(StringRef field) {
    printer << (first ? "" : ", ") << field;
    first = false;
    return printer;
  }
  void integer(StringRef field, int64_t value) {
    name(field) << " = " << value;
  }
  void integerUnless(StringRef field, int64_t value, int64_t byDefault) {
    if (value != byDefault)
      integer(field, value);
  }
  void ints(StringRef field, ArrayRef<int64_t> values) {
    name(field) << " = ";
    printInts(printer, values);
  }
  void intsUnlessEmpty(StringRef field, ArrayRef<int64_t> values) {
    if (!values.empty())
      ints(field, values);
  }
  void rowsUnlessEmpty(StringRef field, int64_t width,
                       ArrayRef<int64_t> values) {
    if (values.empty())
      return;
    name(field) << " = ";
    printRows(printer, width, values);
  }
  void mesh(MeshAttr attr) {
    name("mesh") << " = ";
    printer.printStrippedAttrOrType(attr);
  }

private:
  AsmPrinter &printer;
  bool first;
};

/// A required nested attribute, with or without its `#sparseattn.` prefix.
template <typename T>
void addNested(FieldList &fields, AsmParser &parser, StringRef name, T &value,
               bool required) {
  fields.add(
      name,
      [&parser, &value] {
        return parser.parseCustomAttributeWithFallback(value, Type{});
      },
      required);
}

/// Before the `:` of an op, MLIR takes the op's type for that of a named
/// attribute. Says what to write instead.
ParseResult refuseType(AsmParser &parser, StringRef mnemonic, Type type) {
  if (!type)
    return success();
  return parser.emitError(parser.getCurrentLocation())
         << "attribute before ':': got '#sparseattn." << mnemonic
         << "<...>', expected '<...>' without its name, or an alias";
}

constexpr int64_t defaultCube[] = {4, 4, 4};
constexpr int64_t defaultTilePs = 1000;
} // namespace

// -- Order
// -----------------------------------------------------------------------

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
        << "expected the kind of an order: raster, cubes, hilbert or stripes";
    return {};
  }
  std::optional<OrderKind> kind = symbolizeOrderKind(keyword);
  if (!kind) {
    parser.emitError(kindLoc)
        << "kind of an order: got '" << keyword
        << "', expected raster, cubes, hilbert or stripes";
    return {};
  }
  SmallVector<int64_t> grid, cube;
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
  if (fields.parse(/*first=*/false))
    return {};
  if (cube.empty())
    cube.assign(std::begin(defaultCube), std::end(defaultCube));
  return parser.getChecked<OrderAttr>(loc, parser.getContext(), *kind,
                                      ArrayRef<int64_t>(grid), prefix, suffix,
                                      ArrayRef<int64_t>(cube));
}

void OrderAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyOrderKind(getKind());
  FieldPrinter fields(printer, /*first=*/false);
  fields.ints("grid", getGrid());
  fields.integerUnless("prefix", getPrefix(), 0);
  fields.integerUnless("suffix", getSuffix(), 0);
  if (getCube() != ArrayRef<int64_t>(defaultCube))
    fields.ints("cube", getCube());
  printer << '>';
}

// -- Routing policies
// ------------------------------------------------------------

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

// -- Mesh, placement, cost
// -------------------------------------------------------

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
  if (parser.parseLess() || fields.parse(/*first=*/true))
    return {};
  return parser.getChecked<PlacementAttr>(loc, parser.getContext(), mesh, heads,
                                          kvHeads, qBlocks, kvBlocks);
}

void PlacementAttr::print(AsmPrinter &printer) const {
  printer << '<';
  FieldPrinter fields(printer);
  fields.mesh(getMesh());
  fields.integer("heads", getHeads());
  fields.integer("kv_heads", getKvHeads());
  fields.integer("q_blocks", getQBlocks());
  fields.integer("kv_blocks", getKvBlocks());
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

// -- Plan
// ------------------------------------------------------------------------

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
  SmallVector<int64_t> moveRows, extraRows, ranges, before, after;
  SmallVector<PlannedTransfer> transfers;
  FieldList fields(parser);
  addNested(fields, parser, "mesh", mesh, /*required=*/true);
  fields.addInt("heads", heads, /*required=*/true);
  fields.addInt("kv_heads", kvHeads, /*required=*/true);
  fields.addInt("q_blocks", qBlocks, /*required=*/true);
  fields.addInt("kv_blocks", kvBlocks, /*required=*/true);
  fields.addRows("moves", 3, moveRows);
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
  SmallVector<PlannedExtra> extras;
  for (size_t i = 0; i < extraRows.size(); i += 3)
    extras.push_back({extraRows[i], extraRows[i + 1], extraRows[i + 2]});
  return parser.getChecked<PlanAttr>(
      loc, parser.getContext(), mesh, heads, kvHeads, qBlocks, kvBlocks,
      ArrayRef<PlannedMove>(moves), ArrayRef<PlannedTransfer>(transfers),
      ArrayRef<int64_t>(ranges), ArrayRef<PlannedExtra>(extras),
      ArrayRef<int64_t>(before), ArrayRef<int64_t>(after));
}

void PlanAttr::print(AsmPrinter &printer) const {
  printer << '<';
  FieldPrinter fields(printer);
  fields.mesh(getMesh());
  fields.integer("heads", getHeads());
  fields.integer("kv_heads", getKvHeads());
  fields.integer("q_blocks", getQBlocks());
  fields.integer("kv_blocks", getKvBlocks());
  SmallVector<int64_t> rows;
  for (const PlannedMove &move : getMoves())
    rows.append({move.head, move.from, move.to});
  fields.rowsUnlessEmpty("moves", 3, rows);
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

// -- Mask type
// -------------------------------------------------------------------

/// Reads `12x110x110` with `count` numbers.
static ParseResult parseSizes(AsmParser &parser, StringRef what, size_t count,
                              SmallVectorImpl<int64_t> &sizes) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(sizes, /*allowDynamic=*/false,
                                /*withTrailingX=*/false))
    return failure();
  if (sizes.size() != count)
    return parser.emitError(loc)
           << what << ": got " << sizes.size() << " sizes, expected " << count;
  return success();
}

Type MaskType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t, 3> shape, block, tokens;
  OrderAttr order;
  bool causal = false;
  if (parser.parseLess() ||
      parseSizes(parser, "heads x q-blocks x kv-blocks of a mask", 3, shape))
    return {};
  FieldList fields(parser);
  fields.add(
      "block", [&] { return parseSizes(parser, "block of a mask", 2, block); },
      /*required=*/true);
  fields.add(
      "tokens",
      [&] { return parseSizes(parser, "tokens of a mask", 2, tokens); },
      /*required=*/true);
  addNested(fields, parser, "order", order, /*required=*/false);
  fields.addFlag("causal", causal);
  if (fields.parse(/*first=*/false))
    return {};
  return parser.getChecked<MaskType>(loc, parser.getContext(), shape[0],
                                     shape[1], shape[2], block[0], block[1],
                                     tokens[0], tokens[1], order, causal);
}

void MaskType::print(AsmPrinter &printer) const {
  printer << '<' << getHeads() << 'x' << getQBlocks() << 'x' << getKvBlocks()
          << ", block = " << getBlockQ() << 'x' << getBlockK()
          << ", tokens = " << getSq() << 'x' << getSkv();
  if (getOrder()) {
    printer << ", order = ";
    printer.printStrippedAttrOrType(getOrder());
  }
  if (getCausal())
    printer << ", causal";
  printer << '>';
}
