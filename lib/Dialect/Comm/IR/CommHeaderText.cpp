//===- CommHeaderText.cpp - Attributes of a schedule's header as text -----===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CommSyntax.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::sa_comm;
using namespace mlir::sa_comm::detail;

static constexpr auto angles = AsmParser::Delimiter::LessGreater;

static auto errorAt(AsmParser &parser, SMLoc loc) {
  return [&parser, loc] { return parser.emitError(loc); };
}

//===----------------------------------------------------------------------===//
// Mesh and shape
//===----------------------------------------------------------------------===//

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  sart::Mesh mesh;
  bool blockShards = false;
  Field fields[] = {
      Field::ofNumber("ulysses", true, 1, sart::maxRanks, mesh.ulysses),
      Field::ofNumber("ring", true, 1, sart::maxRanks, mesh.ring),
      Field::ofFlag("block_shards", blockShards)};
  if (parseFields(parser, "mesh", angles, fields))
    return {};
  return getChecked(errorAt(parser, loc), parser.getContext(), mesh.ulysses,
                    mesh.ring, blockShards);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<ulysses = " << getUlysses() << ", ring = " << getRing();
  if (getBlockShards())
    printer << ", block_shards = true";
  printer << ">";
}

Attribute ShapeAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  sart::LayerShape s;
  Type dtype;
  auto parseDType = [&]() -> ParseResult { return parser.parseType(dtype); };
  // Ranges are those of the attribute's verifier, so that text and builders are
  // refused with the same words.
  Field fields[] = {Field::ofNumber("heads", true, 1, maxHeads, s.heads),
                    Field::ofNumber("kv_heads", true, 1, maxHeads, s.kvHeads),
                    Field::ofNumber("sq", true, 0, maxCount, s.sq),
                    Field::ofNumber("skv", true, 0, maxCount, s.skv),
                    Field::ofNumber("head_dim", true, 1, maxBlock, s.headDim),
                    Field::ofNumber("block_q", true, 1, maxBlock, s.blockQ),
                    Field::ofNumber("block_k", true, 1, maxBlock, s.blockK),
                    Field::ofOther("dtype", true, parseDType),
                    Field::ofFlag("causal", s.causal)};
  if (parseFields(parser, "shape", angles, fields))
    return {};
  return getChecked(errorAt(parser, loc), parser.getContext(), s.heads,
                    s.kvHeads, s.sq, s.skv, s.headDim, s.blockQ, s.blockK,
                    dtype, s.causal);
}

void ShapeAttr::print(AsmPrinter &printer) const {
  printer << "<heads = " << getHeads() << ", kv_heads = " << getKvHeads()
          << ", sq = " << getSq() << ", skv = " << getSkv()
          << ", head_dim = " << getHeadDim() << ", block_q = " << getBlockQ()
          << ", block_k = " << getBlockK() << ", dtype = " << getDtype();
  if (getCausal())
    printer << ", causal = true";
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Policy
//===----------------------------------------------------------------------===//

Attribute PolicyAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  FailureOr<PolicyKind> kind = FieldParser<PolicyKind>::parse(parser);
  if (failed(kind))
    return {};
  sart::RoutingPolicy policy;
  double p = policy.p;
  SmallVector<int64_t> keep;
  auto parseP = [&]() -> ParseResult { return parser.parseFloat(p); };
  auto parseKeep = [&] { return parseRanges(parser, keep); };
  Field fields[] = {
      Field::ofOther("p", false, parseP),
      Field::ofNumber("min_blocks", false, 0, maxCount, policy.minBlocks),
      Field::ofNumber("k", false, 0, maxCount, policy.k),
      Field::ofNumber("blocks", false, 0, maxCount, policy.windowBlocks),
      Field::ofOther("keep", false, parseKeep)};
  if (succeeded(parser.parseOptionalComma()) &&
      parseFields(parser, "policy", AsmParser::Delimiter::None, fields))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked(errorAt(parser, loc), parser.getContext(), *kind,
                    APFloat(static_cast<float>(p)), policy.minBlocks, policy.k,
                    policy.windowBlocks, ArrayRef<int64_t>(keep));
}

void PolicyAttr::print(AsmPrinter &printer) const {
  sart::RoutingPolicy defaults;
  printer << "<" << stringifyPolicyKind(getKind());
  if (getKind() == PolicyKind::TopP || getP().convertToFloat() != defaults.p) {
    printer << ", p = ";
    printShortFloat(printer, getP());
  }
  if (getMinBlocks() != defaults.minBlocks)
    printer << ", min_blocks = " << getMinBlocks();
  if (getKind() == PolicyKind::TopK || getK() != defaults.k)
    printer << ", k = " << getK();
  if (getKind() == PolicyKind::Window ||
      getWindowBlocks() != defaults.windowBlocks)
    printer << ", blocks = " << getWindowBlocks();
  if (!getKeep().empty()) {
    printer << ", keep = ";
    printRanges(printer, getKeep());
  }
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Planner
//===----------------------------------------------------------------------===//

/// Prints `, name = value` unless the value is the default; `first` drops the
/// comma.
static void printUnless(AsmPrinter &printer, StringRef name, int64_t value,
                        int64_t byDefault, bool &first) {
  if (value == byDefault)
    return;
  printer << (first ? "" : ", ") << name << " = " << value;
  first = false;
}

Attribute CostAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  sart::CostModel cost;
  auto field = [](StringRef name, int64_t &value) {
    return Field::ofNumber(name, false, 0, maxRow, value);
  };
  Field fields[] = {field("tile_ps", cost.tilePs), field("row_ps", cost.rowPs),
                    field("transfer_ps", cost.transferPs),
                    field("byte_ps", cost.bytePs),
                    field("schedule_ns", cost.scheduleNs)};
  if (parseFields(parser, "cost", angles, fields))
    return {};
  return getChecked(errorAt(parser, loc), parser.getContext(), cost.tilePs,
                    cost.rowPs, cost.transferPs, cost.bytePs, cost.scheduleNs);
}

void CostAttr::print(AsmPrinter &printer) const {
  sart::CostModel none;
  bool first = true;
  printer << "<";
  printUnless(printer, "tile_ps", getTilePs(), none.tilePs, first);
  printUnless(printer, "row_ps", getRowPs(), none.rowPs, first);
  printUnless(printer, "transfer_ps", getTransferPs(), none.transferPs, first);
  printUnless(printer, "byte_ps", getBytePs(), none.bytePs, first);
  printUnless(printer, "schedule_ns", getScheduleNs(), none.scheduleNs, first);
  printer << ">";
}

Attribute PlannerAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  sart::PlannerOptions options;
  auto balance = static_cast<Balance>(options.balance);
  CostAttr cost;
  auto field = [](StringRef name, int64_t &value) {
    return Field::ofNumber(name, false, 0, maxCount, value);
  };
  auto parseBalance = [&]() -> ParseResult {
    FailureOr<Balance> parsed = FieldParser<Balance>::parse(parser);
    if (succeeded(parsed))
      balance = *parsed;
    return success(succeeded(parsed));
  };
  auto parseCost = [&]() -> ParseResult {
    return parser.parseCustomAttributeWithFallback(cost);
  };
  Field fields[] = {Field::ofOther("balance", true, parseBalance),
                    Field::ofFlag("augment", options.augment),
                    field("k1_milli", options.k1Milli),
                    field("k2_milli", options.k2Milli),
                    field("n1_milli", options.n1Milli),
                    field("n2_milli", options.n2Milli),
                    field("max_pieces", options.maxPieces),
                    Field::ofFlag("repair", options.repair),
                    Field::ofOther("cost", false, parseCost)};
  if (parseFields(parser, "planner", angles, fields))
    return {};
  return getChecked(errorAt(parser, loc), parser.getContext(), balance,
                    options.augment, options.k1Milli, options.k2Milli,
                    options.n1Milli, options.n2Milli, options.maxPieces,
                    options.repair, cost);
}

void PlannerAttr::print(AsmPrinter &printer) const {
  sart::PlannerOptions none;
  bool first = false;
  printer << "<balance = " << stringifyBalance(getBalance());
  if (getAugment())
    printer << ", augment = true";
  printUnless(printer, "k1_milli", getK1Milli(), none.k1Milli, first);
  printUnless(printer, "k2_milli", getK2Milli(), none.k2Milli, first);
  printUnless(printer, "n1_milli", getN1Milli(), none.n1Milli, first);
  printUnless(printer, "n2_milli", getN2Milli(), none.n2Milli, first);
  printUnless(printer, "max_pieces", getMaxPieces(), none.maxPieces, first);
  if (getRepair())
    printer << ", repair = true";
  if (getCost()) {
    printer << ", cost = ";
    printer.printStrippedAttrOrType(getCost());
  }
  printer << ">";
}
