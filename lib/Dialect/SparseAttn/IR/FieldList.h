//===- FieldList.h - <name = value, ...> of attributes ----------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_DIALECT_SPARSEATTN_IR_FIELDLIST_H
#define SPARSEATTN_LIB_DIALECT_SPARSEATTN_IR_FIELDLIST_H

#include "mlir/IR/OpImplementation.h"

#include <functional>

namespace mlir::sparseattn {

/// Reads `name = value` fields, separated by commas, in any order; each at most
/// once. A flag is a name without a value.
class FieldList {
public:
  explicit FieldList(AsmParser &parser) : parser(parser) {}

  void add(StringRef name, std::function<ParseResult()> read,
           bool required = false);
  void addInt(StringRef name, int64_t &value, bool required = false);
  void addFlag(StringRef name, bool &value);
  /// `[1, 2, 3]`
  void addInts(StringRef name, SmallVectorImpl<int64_t> &values,
               bool required = false);
  /// `[[1, 2], [3, 4]]` with `width` numbers in each inner list, stored flat.
  void addRows(StringRef name, int64_t width, SmallVectorImpl<int64_t> &values);

  /// Reads fields up to and including `>`. `first`: no comma before the first.
  ParseResult parse(bool first);

private:
  struct Field {
    StringRef name;
    std::function<ParseResult()> read;
    bool required, isFlag, seen;
  };
  ParseResult parseOne();

  AsmParser &parser;
  SmallVector<Field> fields;
};

/// Reads `[1, 2, 3]`.
ParseResult parseInts(AsmParser &parser, SmallVectorImpl<int64_t> &values);

/// Prints `[1, 2, 3]`, `[[1, 2], [3, 4]]`.
void printInts(AsmPrinter &printer, ArrayRef<int64_t> values);
void printRows(AsmPrinter &printer, int64_t width, ArrayRef<int64_t> values);

/// Reads a decimal number, with or without a point.
ParseResult parseNumber(AsmParser &parser, double &value);
/// The shortest decimal text that reads back as `value`.
std::string shortestText(const APFloat &value);

} // namespace mlir::sparseattn

#endif // SPARSEATTN_LIB_DIALECT_SPARSEATTN_IR_FIELDLIST_H
