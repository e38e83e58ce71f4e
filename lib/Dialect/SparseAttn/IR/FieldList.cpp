//===- FieldList.cpp - <name = value, ...> of attributes ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FieldList.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"

using namespace mlir;
using namespace mlir::sparseattn;

void FieldList::add(StringRef name, std::function<ParseResult()> read,
                    bool required) {
  fields.push_back({name, std::move(read), required, /*isFlag=*/false,
                    /*seen=*/false});
}

void FieldList::addInt(StringRef name, int64_t &value, bool required) {
  add(name, [this, &value] { return parser.parseInteger(value); }, required);
}

void FieldList::addFlag(StringRef name, bool &value) {
  add(name, [&value]() -> ParseResult {
    value = true;
    return success();
  });
  fields.back().isFlag = true;
}

void FieldList::addInts(StringRef name, SmallVectorImpl<int64_t> &values,
                        bool required) {
  add(name, [this, &values] { return parseInts(parser, values); }, required);
}

void FieldList::addRows(StringRef name, int64_t width,
                        SmallVectorImpl<int64_t> &values) {
  add(name, [this, name, width, &values] {
    return parser.parseCommaSeparatedList(
        AsmParser::Delimiter::Square, [&]() -> ParseResult {
          SMLoc loc = parser.getCurrentLocation();
          SmallVector<int64_t> row;
          if (parseInts(parser, row))
            return failure();
          if (static_cast<int64_t>(row.size()) != width)
            return parser.emitError(loc)
                   << "numbers in an entry of '" << name << "': got "
                   << row.size() << ", expected " << width;
          values.append(row);
          return success();
        });
  });
}

ParseResult FieldList::parseOne() {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  bool isName = succeeded(parser.parseOptionalKeyword(&name));
  Field *field =
      llvm::find_if(fields, [&](Field &f) { return f.name == name; });
  if (!isName || field == fields.end()) {
    auto diag = parser.emitError(loc);
    if (isName)
      diag << "unknown field: got '" << name << "', expected one of: ";
    else
      diag << "expected a field, one of: ";
    llvm::interleaveComma(fields, diag,
                          [&](const Field &f) { diag << f.name; });
    return diag;
  }
  if (field->seen)
    return parser.emitError(loc)
           << "field '" << name << "': got it twice, expected it once";
  field->seen = true;
  if (!field->isFlag && parser.parseEqual())
    return failure();
  return field->read();
}

ParseResult FieldList::parse(bool first) {
  SMLoc loc = parser.getCurrentLocation();
  while (failed(parser.parseOptionalGreater())) {
    if (!first && parser.parseComma())
      return failure();
    first = false;
    if (parseOne())
      return failure();
  }
  for (Field &field : fields)
    if (field.required && !field.seen)
      return parser.emitError(loc) << "missing field '" << field.name << "'";
  return success();
}

ParseResult sparseattn::parseInts(AsmParser &parser,
                                  SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(values.emplace_back());
  });
}

void sparseattn::printInts(AsmPrinter &printer, ArrayRef<int64_t> values) {
  printer << '[';
  llvm::interleaveComma(values, printer);
  printer << ']';
}

void sparseattn::printRows(AsmPrinter &printer, int64_t width,
                           ArrayRef<int64_t> values) {
  printer << '[';
  for (size_t i = 0; i < values.size(); i += width) {
    if (i)
      printer << ", ";
    printInts(printer, values.slice(i, width));
  }
  printer << ']';
}

ParseResult sparseattn::parseNumber(AsmParser &parser, double &value) {
  SMLoc loc = parser.getCurrentLocation();
  // The parser would read the keywords true and false as integers.
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword)))
    return parser.emitError(loc)
           << "number: got '" << keyword << "', expected a decimal number";
  bool negative = succeeded(parser.parseOptionalMinus());
  int64_t whole = 0;
  OptionalParseResult isWhole = parser.parseOptionalInteger(whole);
  if (isWhole.has_value())
    value = static_cast<double>(whole);
  if (isWhole.has_value() ? failed(*isWhole) : failed(parser.parseFloat(value)))
    return failure();
  if (negative)
    value = -value;
  return success();
}

std::string sparseattn::shortestText(const APFloat &value) {
  if (value.isNaN())
    return "nan";
  if (value.isInfinity())
    return value.isNegative() ? "-inf" : "inf";
  SmallString<32> text;
  for (unsigned digits = 1; digits <= 17; ++digits) {
    text.clear();
    value.toString(text, digits, /*FormatMaxPadding=*/6);
    if (APFloat(value.getSemantics(), text).bitwiseIsEqual(value))
      break;
  }
  // The lexer wants a point with digits on both sides before an exponent.
  auto [mantissa, exponent] = StringRef(text).split('E');
  std::string result = mantissa.str();
  if (!mantissa.contains('.'))
    result += ".0";
  if (!exponent.empty())
    result += "e" + exponent.str();
  return result;
}

ParseResult sparseattn::refuseType(AsmParser &parser, StringRef mnemonic,
                                   Type type) {
  if (!type)
    return success();
  return parser.emitError(parser.getCurrentLocation())
         << "attribute before ':': got '#sparseattn." << mnemonic
         << "<...>', expected '<...>' without its name, or an alias";
}
