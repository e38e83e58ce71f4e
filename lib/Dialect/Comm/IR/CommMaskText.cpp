//===- CommMaskText.cpp - Masks as text, both ways ------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CommSyntax.h"

using namespace mlir;
using namespace mlir::sa_comm;
using namespace mlir::sa_comm::detail;

namespace {
/// Reads `H x Q x K { head h { row r [...] ... } ... }`. Heads and rows ascend,
/// so that the compressed rows are filled in one pass.
struct MaskReader {
  AsmParser &parser;
  SmallVector<int64_t> sizes = {}, offsets = {0}, pairs = {};
  SmallVector<int32_t> indices = {};

  /// Number of rows that are complete.
  int64_t filled() const { return static_cast<int64_t>(offsets.size()) - 1; }
  void fillTo(int64_t row) {
    offsets.resize(static_cast<size_t>(row) + 1,
                   static_cast<int64_t>(indices.size()));
  }

  ParseResult readRow(int64_t head) {
    SMLoc loc = parser.getCurrentLocation();
    int64_t begin = 0, end = 0;
    if (parseRange(parser, begin, end, /*allowSingle=*/true))
      return failure();
    int64_t next = filled() - head * sizes[1];
    if (begin < next || end > sizes[1])
      return parser.emitError(loc)
             << "rows of head " << head << " do not ascend: got " << begin
             << ":" << end << ", expected rows from " << next << " to "
             << sizes[1];
    fillTo(head * sizes[1] + begin);
    loc = parser.getCurrentLocation();
    pairs.clear();
    if (parseRanges(parser, pairs))
      return failure();
    size_t first = indices.size();
    int64_t least = 0;
    for (size_t i = 0; i < pairs.size(); i += 2) {
      if (pairs[i] < least || pairs[i + 1] > sizes[2])
        return parser.emitError(loc)
               << "kv-blocks of head " << head << " row " << begin
               << " do not ascend: got " << pairs[i] << ":" << pairs[i + 1]
               << ", expected kv-blocks from " << least << " to " << sizes[2];
      for (int64_t block = pairs[i]; block < pairs[i + 1]; ++block)
        indices.push_back(static_cast<int32_t>(block));
      least = pairs[i + 1];
    }
    size_t count = indices.size() - first;
    for (int64_t row = begin; row < end; ++row) {
      if (row > begin)
        for (size_t i = 0; i < count; ++i)
          indices.push_back(indices[first + i]);
      offsets.push_back(static_cast<int64_t>(indices.size()));
    }
    return success();
  }

  ParseResult readHead() {
    SMLoc loc = parser.getCurrentLocation();
    int64_t head = 0;
    if (parseNumber(parser, "head", 0, maxCount, head))
      return failure();
    int64_t least = sizes[1] == 0 ? 0 : (filled() + sizes[1] - 1) / sizes[1];
    if (head < least || head >= sizes[0])
      return parser.emitError(loc)
             << "heads of the mask do not ascend: got " << head
             << ", expected heads from " << least << " to " << sizes[0];
    fillTo(head * sizes[1]);
    if (parser.parseLBrace())
      return failure();
    while (succeeded(parser.parseOptionalKeyword("row")))
      if (readRow(head))
        return failure();
    // A head that was written is complete, so that it cannot come twice.
    fillTo((head + 1) * sizes[1]);
    return parser.parseRBrace();
  }

  ParseResult read() {
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseDimensionList(sizes, /*allowDynamic=*/false,
                                  /*withTrailingX=*/false))
      return failure();
    bool fits = sizes.size() == 3;
    for (int64_t size : sizes)
      fits &= size <= maxMaskTiles;
    fits = fits && sizes[0] * sizes[1] <= maxMaskTiles &&
           sizes[0] * sizes[1] * sizes[2] <= maxMaskTiles;
    if (!fits) {
      InFlightDiagnostic error = parser.emitError(loc);
      error << "mask sizes are out of range: got ";
      llvm::interleave(sizes, error, " x ");
      return error << ", expected heads x q-blocks x kv-blocks with at most "
                   << maxMaskTiles << " tiles";
    }
    if (parser.parseLBrace())
      return failure();
    while (succeeded(parser.parseOptionalKeyword("head")))
      if (readHead())
        return failure();
    fillTo(sizes[0] * sizes[1]);
    return parser.parseRBrace();
  }
};
} // namespace

static MaskRowsAttr readMask(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  MaskReader reader{parser};
  if (reader.read())
    return {};
  return MaskRowsAttr::getChecked(
      [&] { return parser.emitError(loc); }, parser.getContext(),
      reader.sizes[0], reader.sizes[1], reader.sizes[2],
      ArrayRef<int64_t>(reader.offsets), ArrayRef<int32_t>(reader.indices));
}

Attribute MaskRowsAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  MaskRowsAttr rows = readMask(parser);
  if (!rows || parser.parseGreater())
    return {};
  return rows;
}

ParseResult sa_comm::detail::parseMaskRows(OpAsmParser &parser,
                                           MaskRowsAttr &rows) {
  rows = readMask(parser);
  return success(rows != nullptr);
}

/// Neighbouring indices as ranges.
static void printIndices(AsmPrinter &printer, ArrayRef<int32_t> indices) {
  SmallVector<int64_t> pairs;
  for (int64_t index : indices) {
    if (!pairs.empty() && pairs.back() == index)
      ++pairs.back();
    else
      pairs.append({index, index + 1});
  }
  printRanges(printer, pairs);
}

/// `lineBreaks`: one row on a line, as operations print it.
static void printMask(AsmPrinter &printer, MaskRowsAttr mask, bool lineBreaks) {
  auto separate = [&] {
    if (lineBreaks)
      printer.printNewline();
    else
      printer << " ";
  };
  ArrayRef<int64_t> offsets = mask.getOffsets();
  auto rowOf = [&](int64_t row) {
    return mask.getIndices().slice(offsets[row],
                                   offsets[row + 1] - offsets[row]);
  };
  printer << mask.getHeads() << " x " << mask.getQBlocks() << " x "
          << mask.getKvBlocks() << " {";
  printer.increaseIndent();
  for (int64_t head = 0; head < mask.getHeads(); ++head) {
    separate();
    printer << "head " << head << " {";
    printer.increaseIndent();
    int64_t first = head * mask.getQBlocks();
    for (int64_t row = 0; row < mask.getQBlocks();) {
      ArrayRef<int32_t> indices = rowOf(first + row);
      int64_t end = row + 1;
      while (end < mask.getQBlocks() && rowOf(first + end) == indices)
        ++end;
      separate();
      printer << "row ";
      printRange(printer, row, end);
      printer << " ";
      printIndices(printer, indices);
      row = end;
    }
    printer.decreaseIndent();
    separate();
    printer << "}";
  }
  printer.decreaseIndent();
  separate();
  printer << "}";
}

void MaskRowsAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printMask(printer, *this, /*lineBreaks=*/false);
  printer << ">";
}

void sa_comm::detail::printMaskRows(OpAsmPrinter &printer, Operation *,
                                    MaskRowsAttr rows) {
  printMask(printer, rows, /*lineBreaks=*/true);
}
