//===- CommParsers.cpp - Lists and headers read from text -----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CommSyntax.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallString.h"

using namespace mlir;
using namespace mlir::sa_comm;
using namespace mlir::sa_comm::detail;

ParseResult sa_comm::detail::parseNumber(AsmParser &parser, StringRef what,
                                         int64_t least, int64_t most,
                                         int64_t &value) {
  SMLoc loc = parser.getCurrentLocation();
  APInt number;
  OptionalParseResult parsed = parser.parseOptionalInteger(number);
  if (!parsed.has_value())
    return parser.emitError(loc) << "expected " << what << ", an integer";
  if (failed(*parsed))
    return failure();
  if (number.getSignificantBits() > 64 || number.getSExtValue() < least ||
      number.getSExtValue() > most) {
    SmallString<24> text;
    number.toStringSigned(text);
    return parser.emitError(loc) << what << " is out of range: got " << text
                                 << ", expected " << least << " to " << most;
  }
  value = number.getSExtValue();
  return success();
}

ParseResult Field::parseValue(AsmParser &parser) const {
  if (rangeEnd)
    return parseRange(parser, *number, *rangeEnd, /*allowSingle=*/true);
  if (number)
    return parseNumber(parser, name, least, most, *number);
  if (!flag)
    return parse();
  *flag = succeeded(parser.parseOptionalKeyword("true"));
  return *flag ? success() : parser.parseKeyword("false");
}

ParseResult sa_comm::detail::parseFields(AsmParser &parser, StringRef what,
                                         AsmParser::Delimiter delimiter,
                                         MutableArrayRef<Field> fields) {
  SMLoc begin = parser.getCurrentLocation();
  auto names = [&](InFlightDiagnostic &&error, bool requiredOnly) {
    bool first = true;
    for (const Field &field : fields) {
      if (requiredOnly && !field.required)
        continue;
      error << (first ? "" : ", ") << field.name;
      first = false;
    }
    return ParseResult(error);
  };
  auto parseField = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    auto *field =
        llvm::find_if(fields, [&](Field &f) { return f.name == name; });
    if (field == fields.end())
      return names(parser.emitError(loc)
                       << "key of " << what << " is unknown: got '" << name
                       << "', expected one of ",
                   /*requiredOnly=*/false);
    if (field->seen)
      return parser.emitError(loc) << "key of " << what << " is repeated: got '"
                                   << name << "' twice, expected it once";
    field->seen = true;
    if (parser.parseEqual())
      return failure();
    return field->parseValue(parser);
  };
  if (parser.parseCommaSeparatedList(delimiter, parseField))
    return failure();
  for (const Field &field : fields)
    if (field.required && !field.seen)
      return names(parser.emitError(begin)
                       << "key of " << what << " is missing: got no '"
                       << field.name << "', expected ",
                   /*requiredOnly=*/true);
  return success();
}

static auto errorAt(AsmParser &parser, SMLoc loc) {
  return [&parser, loc] { return parser.emitError(loc); };
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

ParseResult sa_comm::detail::parseRange(AsmParser &parser, int64_t &begin,
                                        int64_t &end, bool allowSingle) {
  SMLoc loc = parser.getCurrentLocation();
  if (parseNumber(parser, "begin of range", 0, maxRow, begin))
    return failure();
  if (failed(parser.parseOptionalColon())) {
    end = begin + 1;
    return allowSingle ? success() : parser.parseColon();
  }
  if (parseNumber(parser, "end of range", 0, maxRow, end))
    return failure();
  if (end < begin)
    return parser.emitError(loc) << "range is reversed: got " << begin << ":"
                                 << end << ", expected begin <= end";
  return success();
}

ParseResult sa_comm::detail::parseRanges(AsmParser &parser,
                                         SmallVectorImpl<int64_t> &pairs) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    int64_t begin = 0, end = 0;
    if (parseRange(parser, begin, end, /*allowSingle=*/true))
      return failure();
    pairs.append({begin, end});
    return success();
  });
}

ParseResult sa_comm::detail::parseChunks(AsmParser &parser,
                                         SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    int64_t slot = 0, begin = 0, end = 0;
    if (parser.parseLSquare() ||
        parseNumber(parser, "slot", 0, maxCount, slot) || parser.parseComma() ||
        parseRange(parser, begin, end, /*allowSingle=*/false) ||
        parser.parseRSquare())
      return failure();
    values.append({slot, begin, end});
    return success();
  });
}

/// `{head = 3, q = 1, kv = 1, rows = 0:4, cols = 0:8, budget = 2, origin
/// = 16}`; only budget and origin may be left out.
static ParseResult parseWorkEntry(AsmParser &parser,
                                  SmallVectorImpl<int64_t> &values) {
  sart::Work work;
  auto number = [](StringRef name, bool required, int64_t &value) {
    return Field::ofNumber(name, required, 0, maxCount, value);
  };
  Field fields[] = {number("head", true, work.head),
                    number("q", true, work.qSlot),
                    number("kv", true, work.kvSlot),
                    Field::ofRange("rows", work.qBegin, work.qEnd),
                    Field::ofRange("cols", work.kvBegin, work.kvEnd),
                    number("budget", false, work.budget),
                    number("origin", false, work.origin)};
  if (parseFields(parser, "work entry", AsmParser::Delimiter::Braces, fields))
    return failure();
  values.append({work.head, work.qSlot, work.kvSlot, work.qBegin, work.qEnd,
                 work.kvBegin, work.kvEnd, work.budget, work.origin});
  return success();
}

ParseResult sa_comm::detail::parseWork(AsmParser &parser,
                                       SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parseWorkEntry(parser, values);
  });
}

ParseResult sa_comm::detail::parseInts(AsmParser &parser,
                                       SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(values.emplace_back());
  });
}

/// A symbol into `list`, or false when there is none.
static bool parseOptionalSymbol(OpAsmParser &parser, Attribute &list) {
  StringAttr name;
  if (failed(parser.parseOptionalSymbolName(name)))
    return false;
  list = FlatSymbolRefAttr::get(name);
  return true;
}

ParseResult sa_comm::detail::parseChunkList(OpAsmParser &parser,
                                            Attribute &list) {
  if (parseOptionalSymbol(parser, list))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> values;
  if (parseChunks(parser, values))
    return failure();
  list = ChunksAttr::getChecked(errorAt(parser, loc), parser.getContext(),
                                ArrayRef<int64_t>(values));
  return success(list != nullptr);
}

ParseResult sa_comm::detail::parseWorkItems(OpAsmParser &parser,
                                            Attribute &list) {
  if (parseOptionalSymbol(parser, list))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> values;
  if (parseWork(parser, values))
    return failure();
  list = WorkListAttr::getChecked(errorAt(parser, loc), parser.getContext(),
                                  ArrayRef<int64_t>(values));
  return success(list != nullptr);
}

ParseResult sa_comm::detail::parseIntList(OpAsmParser &parser,
                                          Attribute &list) {
  if (parseOptionalSymbol(parser, list))
    return success();
  SmallVector<int64_t> values;
  if (parseInts(parser, values))
    return failure();
  list = DenseI64ArrayAttr::get(parser.getContext(), values);
  return success();
}

/// `@src -> @dst`
static ParseResult parseWindows(OpAsmParser &parser, FlatSymbolRefAttr &src,
                                FlatSymbolRefAttr &dst) {
  return failure(parser.parseAttribute(src) || parser.parseArrow() ||
                 parser.parseAttribute(dst));
}

ParseResult
sa_comm::detail::parseExchange(OpAsmParser &parser, FlatSymbolRefAttr &src,
                               FlatSymbolRefAttr &dst, Attribute &send,
                               Attribute &sendCounts, Attribute &recv,
                               Attribute &recvCounts) {
  return failure(
      parseWindows(parser, src, dst) || parser.parseKeyword("send") ||
      parseChunkList(parser, send) || parser.parseKeyword("counts") ||
      parseIntList(parser, sendCounts) || parser.parseKeyword("recv") ||
      parseChunkList(parser, recv) || parser.parseKeyword("counts") ||
      parseIntList(parser, recvCounts));
}

ParseResult sa_comm::detail::parseGather(OpAsmParser &parser,
                                         FlatSymbolRefAttr &src,
                                         FlatSymbolRefAttr &dst,
                                         Attribute &send, Attribute &recv,
                                         Attribute &recvCounts) {
  return failure(parseWindows(parser, src, dst) ||
                 parser.parseKeyword("send") || parseChunkList(parser, send) ||
                 parser.parseKeyword("recv") || parseChunkList(parser, recv) ||
                 parser.parseKeyword("counts") ||
                 parseIntList(parser, recvCounts));
}

ParseResult sa_comm::detail::parsePeer(OpAsmParser &parser, Attribute &peer) {
  if (parseOptionalSymbol(parser, peer))
    return success();
  SmallVector<int64_t> values;
  if (failed(parser.parseOptionalKeyword("none"))) {
    SMLoc loc = parser.getCurrentLocation();
    int64_t rank = 0;
    OptionalParseResult parsed = parser.parseOptionalInteger(rank);
    if (!parsed.has_value())
      return parser.emitError(loc, "expected a rank, a symbol or 'none'");
    if (failed(*parsed))
      return failure();
    values.push_back(rank);
  }
  peer = DenseI64ArrayAttr::get(parser.getContext(), values);
  return success();
}

ParseResult sa_comm::detail::parseRankValues(OpAsmParser &parser,
                                             ArrayAttr &values) {
  SmallVector<Attribute> lists;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        SmallVector<int64_t> list;
        if (parseInts(parser, list))
          return failure();
        lists.push_back(DenseI64ArrayAttr::get(parser.getContext(), list));
        return success();
      }))
    return failure();
  values = ArrayAttr::get(parser.getContext(), lists);
  return success();
}

//===----------------------------------------------------------------------===//
// Header and windows
//===----------------------------------------------------------------------===//

ParseResult sa_comm::detail::parseHeader(OpAsmParser &parser, MeshAttr &mesh,
                                         ShapeAttr &shape, FloatAttr &scale,
                                         PolicyAttr &policy,
                                         PlannerAttr &planner) {
  double value = 0;
  if (parser.parseKeyword("mesh") ||
      parser.parseCustomAttributeWithFallback(mesh) ||
      parser.parseKeyword("shape") ||
      parser.parseCustomAttributeWithFallback(shape) ||
      parser.parseKeyword("scale") || parser.parseFloat(value) ||
      parser.parseKeyword("policy") ||
      parser.parseCustomAttributeWithFallback(policy))
    return failure();
  scale = parser.getBuilder().getF32FloatAttr(static_cast<float>(value));
  if (succeeded(parser.parseOptionalKeyword("planner")))
    return parser.parseCustomAttributeWithFallback(planner);
  return success();
}

ParseResult
sa_comm::detail::parseWindowType(OpAsmParser &parser, IntegerAttr &slots,
                                 IntegerAttr &rows, IntegerAttr &rowElements,
                                 TypeAttr &elementType, RoleAttr &role) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> sizes;
  Type type;
  if (parser.parseDimensionList(sizes, /*allowDynamic=*/false,
                                /*withTrailingX=*/true) ||
      parser.parseType(type))
    return failure();
  if (sizes.size() != 3)
    return parser.emitError(loc)
           << "number of window sizes is wrong: got " << sizes.size()
           << ", expected slots x rows x row elements";
  Builder builder = parser.getBuilder();
  slots = builder.getI64IntegerAttr(sizes[0]);
  rows = builder.getI64IntegerAttr(sizes[1]);
  rowElements = builder.getI64IntegerAttr(sizes[2]);
  elementType = TypeAttr::get(type);
  Role value = Role::Internal;
  for (Role candidate : {Role::Internal, Role::Input, Role::Output})
    if (succeeded(parser.parseOptionalKeyword(stringifyRole(candidate))))
      value = candidate;
  role = RoleAttr::get(parser.getContext(), value);
  return success();
}

template <typename AttrType, typename Enum>
static ParseResult parseEnum(OpAsmParser &parser, AttrType &attribute, Enum) {
  FailureOr<Enum> value = FieldParser<Enum>::parse(parser);
  if (failed(value))
    return failure();
  attribute = AttrType::get(parser.getContext(), *value);
  return success();
}

ParseResult sa_comm::detail::parseKeyword(OpAsmParser &parser,
                                          GroupAttr &group) {
  return parseEnum(parser, group, Group());
}

ParseResult sa_comm::detail::parseKeyword(OpAsmParser &parser,
                                          SymbolKindAttr &kind) {
  return parseEnum(parser, kind, SymbolKind());
}

ParseResult sa_comm::detail::parseKeyword(OpAsmParser &parser, SideAttr &side) {
  return parseEnum(parser, side, Side());
}

//===----------------------------------------------------------------------===//
// Lists as attributes
//===----------------------------------------------------------------------===//

Attribute ChunksAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> values;
  if (parser.parseLess() || parseChunks(parser, values) ||
      parser.parseGreater())
    return {};
  return getChecked(errorAt(parser, loc), parser.getContext(),
                    ArrayRef<int64_t>(values));
}

Attribute WorkListAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> values;
  if (parser.parseLess() || parseWork(parser, values) || parser.parseGreater())
    return {};
  return getChecked(errorAt(parser, loc), parser.getContext(),
                    ArrayRef<int64_t>(values));
}
