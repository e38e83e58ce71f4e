//===- CommSyntax.h - Text of lists and headers -----------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_DIALECT_COMM_IR_COMMSYNTAX_H
#define SPARSEATTN_LIB_DIALECT_COMM_IR_COMMSYNTAX_H

#include "sparseattn/Dialect/Comm/IR/Comm.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::sa_comm::detail {

/// Largest magnitudes in text. They keep every later sum and product of sizes
/// inside 64 bits.
constexpr int64_t maxCount = int64_t(1) << 31;
constexpr int64_t maxRow = int64_t(1) << 40;
constexpr int64_t maxHeads = 4096;
constexpr int64_t maxBlock = 65536;
constexpr int64_t maxMaskTiles = int64_t(1) << 27;

/// An integer in [least, most]; `what` names it in the error.
ParseResult parseNumber(AsmParser &parser, StringRef what, int64_t least,
                        int64_t most, int64_t &value);

/// One `name = value` of a braced or angled list: a number, a range, a flag, or
/// what `parse` reads. The targets outlive the field.
struct Field {
  StringRef name;
  int64_t least = 0, most = 0;
  int64_t *number = nullptr;
  int64_t *rangeEnd = nullptr; ///< with `number`: the range begins there
  bool *flag = nullptr;
  llvm::function_ref<ParseResult()> parse = nullptr;
  bool required = false;
  bool seen = false;

  static Field ofNumber(StringRef name, bool required, int64_t least,
                        int64_t most, int64_t &value) {
    return {name, least, most, &value, nullptr, nullptr, nullptr, required};
  }
  static Field ofRange(StringRef name, int64_t &begin, int64_t &end) {
    return {name, 0, 0, &begin, &end, nullptr, nullptr, true};
  }
  static Field ofFlag(StringRef name, bool &value) {
    return {name, 0, 0, nullptr, nullptr, &value, nullptr, false};
  }
  static Field ofOther(StringRef name, bool required,
                       llvm::function_ref<ParseResult()> parse) {
    return {name, 0, 0, nullptr, nullptr, nullptr, parse, required};
  }
  ParseResult parseValue(AsmParser &parser) const;
};
/// Fields in any order, each at most once; `what` names the whole in errors.
ParseResult parseFields(AsmParser &parser, StringRef what,
                        AsmParser::Delimiter delimiter,
                        MutableArrayRef<Field> fields);

// Parsers append to `values` the flat integers of the program format.
ParseResult parseChunks(AsmParser &parser, SmallVectorImpl<int64_t> &values);
ParseResult parseWork(AsmParser &parser, SmallVectorImpl<int64_t> &values);
ParseResult parseInts(AsmParser &parser, SmallVectorImpl<int64_t> &values);
/// `begin:end`, or with `allowSingle` one number n for n:n+1.
ParseResult parseRange(AsmParser &parser, int64_t &begin, int64_t &end,
                       bool allowSingle);
/// Indices and ranges between brackets, appended as pairs.
ParseResult parseRanges(AsmParser &parser, SmallVectorImpl<int64_t> &pairs);

void printChunks(AsmPrinter &printer, ArrayRef<int64_t> values);
void printWorkEntry(AsmPrinter &printer, ArrayRef<int64_t> entry);
void printInts(AsmPrinter &printer, ArrayRef<int64_t> values);
/// n:n+1 is printed as n.
void printRange(AsmPrinter &printer, int64_t begin, int64_t end);
void printRanges(AsmPrinter &printer, ArrayRef<int64_t> pairs);
/// The shortest decimal that reads back as the same value.
void printShortFloat(AsmPrinter &printer, const APFloat &value);

// Custom directives of assembly formats.
ParseResult parseChunkList(OpAsmParser &parser, Attribute &list);
void printChunkList(OpAsmPrinter &printer, Operation *op, Attribute list);
ParseResult parseWorkItems(OpAsmParser &parser, Attribute &list);
void printWorkItems(OpAsmPrinter &printer, Operation *op, Attribute list);
ParseResult parseIntList(OpAsmParser &parser, Attribute &list);
void printIntList(OpAsmPrinter &printer, Operation *op, Attribute list);
ParseResult parsePeer(OpAsmParser &parser, Attribute &peer);
void printPeer(OpAsmPrinter &printer, Operation *op, Attribute peer);
/// `@src -> @dst send` list `counts` list `recv` list `counts` list
ParseResult parseExchange(OpAsmParser &parser, FlatSymbolRefAttr &src,
                          FlatSymbolRefAttr &dst, Attribute &send,
                          Attribute &sendCounts, Attribute &recv,
                          Attribute &recvCounts);
void printExchange(OpAsmPrinter &printer, Operation *op, FlatSymbolRefAttr src,
                   FlatSymbolRefAttr dst, Attribute send, Attribute sendCounts,
                   Attribute recv, Attribute recvCounts);
/// `@src -> @dst send` list `recv` list `counts` list
ParseResult parseGather(OpAsmParser &parser, FlatSymbolRefAttr &src,
                        FlatSymbolRefAttr &dst, Attribute &send,
                        Attribute &recv, Attribute &recvCounts);
void printGather(OpAsmPrinter &printer, Operation *op, FlatSymbolRefAttr src,
                 FlatSymbolRefAttr dst, Attribute send, Attribute recv,
                 Attribute recvCounts);
ParseResult parseHeader(OpAsmParser &parser, MeshAttr &mesh, ShapeAttr &shape,
                        FloatAttr &scale, PolicyAttr &policy,
                        PlannerAttr &planner);
void printHeader(OpAsmPrinter &printer, Operation *op, MeshAttr mesh,
                 ShapeAttr shape, FloatAttr scale, PolicyAttr policy,
                 PlannerAttr planner);
ParseResult parseWindowType(OpAsmParser &parser, IntegerAttr &slots,
                            IntegerAttr &rows, IntegerAttr &rowElements,
                            TypeAttr &elementType, RoleAttr &role);
void printWindowType(OpAsmPrinter &printer, Operation *op, IntegerAttr slots,
                     IntegerAttr rows, IntegerAttr rowElements,
                     TypeAttr elementType, RoleAttr role);
// Enumerations as bare keywords.
ParseResult parseKeyword(OpAsmParser &parser, GroupAttr &group);
void printKeyword(OpAsmPrinter &printer, Operation *op, GroupAttr group);
ParseResult parseKeyword(OpAsmParser &parser, SymbolKindAttr &kind);
void printKeyword(OpAsmPrinter &printer, Operation *op, SymbolKindAttr kind);
ParseResult parseKeyword(OpAsmParser &parser, SideAttr &side);
void printKeyword(OpAsmPrinter &printer, Operation *op, SideAttr side);
ParseResult parseRankValues(OpAsmParser &parser, ArrayAttr &values);
void printRankValues(OpAsmPrinter &printer, Operation *op, ArrayAttr values);
ParseResult parseMaskRows(OpAsmParser &parser, MaskRowsAttr &rows);
void printMaskRows(OpAsmPrinter &printer, Operation *op, MaskRowsAttr rows);

} // namespace mlir::sa_comm::detail

#endif // SPARSEATTN_LIB_DIALECT_COMM_IR_COMMSYNTAX_H
