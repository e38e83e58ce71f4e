//===- Types.cpp - Masks and plans as values ------------------------------===//
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
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sparseattn;

#define GET_TYPEDEF_CLASSES
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttnTypes.cpp.inc"

void SparseAttnDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttnTypes.cpp.inc"
      >();
}

namespace {
constexpr int64_t tooMany = int64_t(1) << 40;
} // namespace

LogicalResult MaskType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t heads, int64_t qBlocks, int64_t kvBlocks,
                               int64_t blockQ, int64_t blockK, int64_t sq,
                               int64_t skv, OrderAttr order, bool) {
  if (heads < 1)
    return emitError() << "heads of a mask: got " << heads
                       << ", expected at least 1";
  if (blockQ < 1 || blockK < 1)
    return emitError() << "block of a mask: got " << blockQ << "x" << blockK
                       << ", expected at least 1x1";
  if (sq < 0 || skv < 0 || sq >= tooMany || skv >= tooMany)
    return emitError() << "tokens of a mask: got " << sq << "x" << skv
                       << ", expected from 0 to " << tooMany - 1;
  if (qBlocks != ceilBlocks(sq, blockQ))
    return emitError() << "q-block count of a mask must equal ceil(" << sq
                       << " / " << blockQ << "): got " << qBlocks
                       << ", expected " << ceilBlocks(sq, blockQ);
  if (kvBlocks != ceilBlocks(skv, blockK))
    return emitError() << "kv-block count of a mask must equal ceil(" << skv
                       << " / " << blockK << "): got " << kvBlocks
                       << ", expected " << ceilBlocks(skv, blockK);
  // Each factor is below 2^40; the quotients keep the products from wrapping.
  if (heads >= tooMany || (qBlocks && heads >= tooMany / qBlocks) ||
      (qBlocks && kvBlocks && heads * qBlocks >= tooMany / kvBlocks))
    return emitError() << "tiles of a mask: got " << heads << "x" << qBlocks
                       << "x" << kvBlocks << ", expected fewer than "
                       << tooMany;
  if (order && (order.getTokens() != sq || order.getTokens() != skv))
    return emitError() << "tokens of a mask must equal those of its order: got "
                       << sq << "x" << skv << ", expected " << order.getTokens()
                       << "x" << order.getTokens();
  return success();
}

bool MaskType::isVisible(int64_t qBlock, int64_t kvBlock) const {
  if (!getCausal())
    return true;
  int64_t lastQuery = std::min((qBlock + 1) * getBlockQ(), getSq()) - 1;
  int64_t firstKey = kvBlock * getBlockK();
  return firstKey <= lastQuery + getSkv() - getSq();
}

// -- Text -------------------------------------------------------------------

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
