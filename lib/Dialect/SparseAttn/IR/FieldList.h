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
  template <typename T>
  void nested(StringRef field, T attr) {
    name(field) << " = ";
    printer.printStrippedAttrOrType(attr);
  }

private:
  AsmPrinter &printer;
  bool first;
};

/// Reads a decimal number, with or without a point.
ParseResult parseNumber(AsmParser &parser, double &value);
/// The shortest decimal text that reads back as `value`.
std::string shortestText(const APFloat &value);

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
ParseResult refuseType(AsmParser &parser, StringRef mnemonic, Type type);

} // namespace mlir::sparseattn

#endif // SPARSEATTN_LIB_DIALECT_SPARSEATTN_IR_FIELDLIST_H
