//===- CommPrinters.cpp - Lists and headers as text -----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CommSyntax.h"

#include "mlir/IR/Builders.h"

#include <charconv>
#include <string>

using namespace mlir;
using namespace mlir::sa_comm;
using namespace mlir::sa_comm::detail;

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

void sa_comm::detail::printRange(AsmPrinter &printer, int64_t begin,
                                 int64_t end) {
  printer << begin;
  if (end != begin + 1)
    printer << ":" << end;
}

void sa_comm::detail::printRanges(AsmPrinter &printer,
                                  ArrayRef<int64_t> pairs) {
  printer << "[";
  for (size_t i = 0; i < pairs.size(); i += 2) {
    printer << (i == 0 ? "" : ", ");
    printRange(printer, pairs[i], pairs[i + 1]);
  }
  printer << "]";
}

static void printChunk(AsmPrinter &printer, ArrayRef<int64_t> chunk) {
  printer << "[" << chunk[0] << ", " << chunk[1] << ":" << chunk[2] << "]";
}

void sa_comm::detail::printChunks(AsmPrinter &printer,
                                  ArrayRef<int64_t> values) {
  printer << "[";
  for (size_t i = 0; i < values.size(); i += sart::chunkInts) {
    printer << (i == 0 ? "" : ", ");
    printChunk(printer, values.slice(i, sart::chunkInts));
  }
  printer << "]";
}

void sa_comm::detail::printWorkEntry(AsmPrinter &printer,
                                     ArrayRef<int64_t> entry) {
  printer << "{head = " << entry[0] << ", q = " << entry[1]
          << ", kv = " << entry[2] << ", rows = " << entry[3] << ":" << entry[4]
          << ", cols = " << entry[5] << ":" << entry[6];
  if (entry[7] != 0)
    printer << ", budget = " << entry[7];
  if (entry[8] >= 0)
    printer << ", origin = " << entry[8];
  printer << "}";
}

void sa_comm::detail::printInts(AsmPrinter &printer, ArrayRef<int64_t> values) {
  printer << "[";
  llvm::interleaveComma(values, printer);
  printer << "]";
}

/// Prints the symbol of a template's operand; false for a literal.
static bool printSymbol(OpAsmPrinter &printer, Attribute list) {
  auto symbol = dyn_cast<FlatSymbolRefAttr>(list);
  if (symbol)
    printer.printSymbolName(symbol.getValue());
  return symbol != nullptr;
}

/// Brackets around entries of `stride` integers, `perLine` of them on a line;
/// one line when they fit on it.
static void printEntries(OpAsmPrinter &printer, ArrayRef<int64_t> values,
                         size_t stride, size_t perLine,
                         void (*print)(AsmPrinter &, ArrayRef<int64_t>)) {
  size_t entries = values.size() / stride;
  bool broken = entries > perLine;
  printer << "[";
  printer.increaseIndent();
  for (size_t i = 0; i < entries; ++i) {
    printer << (i == 0 ? "" : ",");
    if (broken && i % perLine == 0)
      printer.printNewline();
    else if (i != 0)
      printer << " ";
    print(printer, values.slice(i * stride, stride));
  }
  printer.decreaseIndent();
  if (broken)
    printer.printNewline();
  printer << "]";
}

void sa_comm::detail::printChunkList(OpAsmPrinter &printer, Operation *,
                                     Attribute list) {
  if (!printSymbol(printer, list))
    printEntries(printer, cast<ChunksAttr>(list).getValues(), sart::chunkInts,
                 /*perLine=*/4, printChunk);
}

void sa_comm::detail::printWorkItems(OpAsmPrinter &printer, Operation *,
                                     Attribute list) {
  if (!printSymbol(printer, list))
    printEntries(printer, cast<WorkListAttr>(list).getValues(), sart::workInts,
                 /*perLine=*/1, printWorkEntry);
}

void sa_comm::detail::printIntList(OpAsmPrinter &printer, Operation *,
                                   Attribute list) {
  if (!printSymbol(printer, list))
    printInts(printer, cast<DenseI64ArrayAttr>(list).asArrayRef());
}

void sa_comm::detail::printPeer(OpAsmPrinter &printer, Operation *,
                                Attribute peer) {
  if (printSymbol(printer, peer))
    return;
  ArrayRef<int64_t> ranks = cast<DenseI64ArrayAttr>(peer).asArrayRef();
  if (ranks.empty())
    printer << "none";
  else
    printer << ranks.front();
}

/// Literal lists of collectives get a line of their own.
static void separate(OpAsmPrinter &printer, Attribute list) {
  if (isa<FlatSymbolRefAttr>(list))
    printer << " ";
  else
    printer.printNewline();
}

void sa_comm::detail::printExchange(OpAsmPrinter &printer, Operation *op,
                                    FlatSymbolRefAttr src,
                                    FlatSymbolRefAttr dst, Attribute send,
                                    Attribute sendCounts, Attribute recv,
                                    Attribute recvCounts) {
  printer << src << " -> " << dst;
  printer.increaseIndent();
  separate(printer, send);
  printer << "send ";
  printChunkList(printer, op, send);
  printer << " counts ";
  printIntList(printer, op, sendCounts);
  separate(printer, recv);
  printer << "recv ";
  printChunkList(printer, op, recv);
  printer << " counts ";
  printIntList(printer, op, recvCounts);
  printer.decreaseIndent();
}

void sa_comm::detail::printGather(OpAsmPrinter &printer, Operation *op,
                                  FlatSymbolRefAttr src, FlatSymbolRefAttr dst,
                                  Attribute send, Attribute recv,
                                  Attribute recvCounts) {
  printer << src << " -> " << dst;
  printer.increaseIndent();
  separate(printer, send);
  printer << "send ";
  printChunkList(printer, op, send);
  separate(printer, recv);
  printer << "recv ";
  printChunkList(printer, op, recv);
  printer << " counts ";
  printIntList(printer, op, recvCounts);
  printer.decreaseIndent();
}

void sa_comm::detail::printRankValues(OpAsmPrinter &printer, Operation *,
                                      ArrayAttr values) {
  printer << "[";
  llvm::interleaveComma(values, printer, [&](Attribute list) {
    printInts(printer, cast<DenseI64ArrayAttr>(list).asArrayRef());
  });
  printer << "]";
}

//===----------------------------------------------------------------------===//
// Header and windows
//===----------------------------------------------------------------------===//

void sa_comm::detail::printShortFloat(AsmPrinter &printer,
                                      const APFloat &value) {
  char buffer[64];
  float number = value.convertToFloat();
  auto [end, error] =
      std::to_chars(std::begin(buffer), std::end(buffer), number);
  std::string text(buffer, error == std::errc() ? end : buffer);
  // The reader takes a double and narrows; in the rare case that this ends
  // elsewhere, all digits of the value as a double are written.
  if (error != std::errc() ||
      static_cast<float>(std::strtod(text.c_str(), nullptr)) != number) {
    int length = std::snprintf(buffer, sizeof(buffer), "%.17g", double(number));
    text.assign(buffer, length > 0 ? static_cast<size_t>(length) : 0);
  }
  // A float literal of MLIR has a point before its exponent.
  if (text.find('.') == std::string::npos) {
    size_t exponent = text.find('e');
    text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
  }
  printer << text;
}

void sa_comm::detail::printHeader(OpAsmPrinter &printer, Operation *,
                                  MeshAttr mesh, ShapeAttr shape,
                                  FloatAttr scale, PolicyAttr policy,
                                  PlannerAttr planner) {
  printer << "mesh ";
  printer.printStrippedAttrOrType(mesh);
  printer.increaseIndent();
  printer.increaseIndent();
  printer.printNewline();
  printer << "shape ";
  printer.printStrippedAttrOrType(shape);
  printer.printNewline();
  printer << "scale ";
  printShortFloat(printer, scale.getValue());
  printer << " policy ";
  printer.printStrippedAttrOrType(policy);
  if (planner) {
    printer << " planner ";
    printer.printStrippedAttrOrType(planner);
  }
  printer.decreaseIndent();
  printer.decreaseIndent();
}

void sa_comm::detail::printWindowType(OpAsmPrinter &printer, Operation *,
                                      IntegerAttr slots, IntegerAttr rows,
                                      IntegerAttr rowElements,
                                      TypeAttr elementType, RoleAttr role) {
  printer << slots.getInt() << " x " << rows.getInt() << " x "
          << rowElements.getInt() << " x " << elementType.getValue();
  if (role && role.getValue() != Role::Internal)
    printer << " " << stringifyRole(role.getValue());
}

void sa_comm::detail::printKeyword(OpAsmPrinter &printer, Operation *,
                                   GroupAttr group) {
  printer << stringifyGroup(group.getValue());
}

void sa_comm::detail::printKeyword(OpAsmPrinter &printer, Operation *,
                                   SymbolKindAttr kind) {
  printer << stringifySymbolKind(kind.getValue());
}

void sa_comm::detail::printKeyword(OpAsmPrinter &printer, Operation *,
                                   SideAttr side) {
  printer << stringifySide(side.getValue());
}

//===----------------------------------------------------------------------===//
// Lists as attributes
//===----------------------------------------------------------------------===//

void ChunksAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printChunks(printer, getValues());
  printer << ">";
}

void WorkListAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  for (size_t i = 0; i < size(); ++i) {
    printer << (i == 0 ? "" : ", ");
    printWorkEntry(printer,
                   getValues().slice(i * sart::workInts, sart::workInts));
  }
  printer << "]>";
}
