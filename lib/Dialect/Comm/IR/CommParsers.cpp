//===- CommParsers.cpp - Lists, headers and masks read from text
//-----------===//
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
                                         int64_t most, int64_t &value) {
  SMLoc loc = parser.getCurrentLocation();
  APInt number;
  OptionalParseResult parsed = parser.parseOptionalInteger(number);
  if (!parsed.has_value())
    return parser.emitError(loc) << "expected " << what << ", an integer";
  if (failed(*parsed))
    return failure();
  if (number.getSignificantBits() > 64 || number.getSExtValue() < 0 ||
      number.getSExtValue() > most) {
    SmallString<24> text;
    number.toStringSigned(text);
    return parser.emitError(loc) << what << " is out of range: got " << text
                                 << ", expected 0 to " << most;
  }
  value = number.getSExtValue();
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
  if (parseNumber(parser, "begin of range", maxRow, begin))
    return failure();
  if (failed(parser.parseOptionalColon())) {
    end = begin + 1;
    return allowSingle ? success() : parser.parseColon();
  }
  if (parseNumber(parser, "end of range", maxRow, end))
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
    if (parser.parseLSquare() || parseNumber(parser, "slot", maxCount, slot) ||
        parser.parseComma() ||
        parseRange(parser, begin, end, /*allowSingle=*/false) ||
        parser.parseRSquare())
      return failure();
    values.append({slot, begin, end});
    return success();
  });
}

/// `{head = 3, q = 1, kv = 1, rows = 0:4, cols = 0:8, budget = 2}`, keys in any
/// order, each once; only the budget may be left out.
static ParseResult parseWorkEntry(AsmParser &parser,
                                  SmallVectorImpl<int64_t> &values) {
  struct Key {
    StringRef name;
    int64_t *begin;
    int64_t *end; ///< null: a number
    bool seen = false;
  };
  sart::Work work;
  Key keys[] = {
      {"head", &work.head, nullptr},        {"q", &work.qSlot, nullptr},
      {"kv", &work.kvSlot, nullptr},        {"rows", &work.qBegin, &work.qEnd},
      {"cols", &work.kvBegin, &work.kvEnd}, {"budget", &work.budget, nullptr}};
  SMLoc entryLoc = parser.getCurrentLocation();
  auto parseKey = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    auto *key = llvm::find_if(keys, [&](Key &k) { return k.name == name; });
    if (key == std::end(keys))
      return parser.emitError(loc)
             << "key of work entry is unknown: got '" << name
             << "', expected head, q, kv, rows, cols or budget";
    if (key->seen)
      return parser.emitError(loc) << "key of work entry is repeated: got '"
                                   << name << "' twice, expected it once";
    key->seen = true;
    if (key->end)
      return parseRange(parser, *key->begin, *key->end, /*allowSingle=*/true);
    return parseNumber(parser, key->name, maxCount, *key->begin);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseKey))
    return failure();
  for (Key &key : keys)
    if (!key.seen && key.name != "budget")
      return parser.emitError(entryLoc)
             << "key of work entry is missing: got no '" << key.name
             << "', expected head, q, kv, rows and cols";
  values.append({work.head, work.qSlot, work.kvSlot, work.qBegin, work.qEnd,
                 work.kvBegin, work.kvEnd, work.budget});
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

Attribute PolicyAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  FailureOr<PolicyKind> kind = FieldParser<PolicyKind>::parse(parser);
  if (failed(kind))
    return {};
  sart::RoutingPolicy policy;
  SmallVector<int64_t> keep;
  SmallVector<StringRef> seen;
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc keyLoc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return {};
    if (llvm::is_contained(seen, name)) {
      parser.emitError(keyLoc) << "key of policy is repeated: got '" << name
                               << "' twice, expected it once";
      return {};
    }
    seen.push_back(name);
    ParseResult parsed = success();
    double p = 0;
    if (name == "p") {
      parsed = parser.parseFloat(p);
      policy.p = static_cast<float>(p);
    } else if (name == "min_blocks") {
      parsed = parseNumber(parser, name, maxCount, policy.minBlocks);
    } else if (name == "k") {
      parsed = parseNumber(parser, name, maxCount, policy.k);
    } else if (name == "blocks") {
      parsed = parseNumber(parser, name, maxCount, policy.windowBlocks);
    } else if (name == "keep") {
      parsed = parseRanges(parser, keep);
    } else {
      parsed = parser.emitError(keyLoc)
               << "key of policy is unknown: got '" << name
               << "', expected p, min_blocks, k, blocks or keep";
    }
    if (failed(parsed))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return getChecked(errorAt(parser, loc), parser.getContext(), *kind,
                    APFloat(policy.p), policy.minBlocks, policy.k,
                    policy.windowBlocks, ArrayRef<int64_t>(keep));
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
