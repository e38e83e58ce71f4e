//===- Ops.cpp - Syntax and builders of the ops ---------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::sparseattn;

// -- custom<SameTypes>: one written type for several values -----------------

template <typename... Types>
static ParseResult parseSameTypes(OpAsmParser &parser, Type &first,
                                  Types &...rest) {
  if (parser.parseType(first))
    return failure();
  ((rest = first), ...);
  return success();
}

template <typename... Types>
static void printSameTypes(OpAsmPrinter &printer, Operation *, Type first,
                           Types...) {
  printer << first;
}

// -- custom<Thresholds>, custom<Slack>: two numbers, absent when default ----

static ParseResult parsePair(OpAsmParser &parser, StringRef keyword,
                             IntegerAttr &first, IntegerAttr &second) {
  if (failed(parser.parseOptionalKeyword(keyword)))
    return success();
  Type i64 = parser.getBuilder().getI64Type();
  return failure(parser.parseAttribute(first, i64) || parser.parseComma() ||
                 parser.parseAttribute(second, i64));
}

static void printPair(OpAsmPrinter &printer, StringRef keyword,
                      IntegerAttr first, IntegerAttr second, int64_t byDefault1,
                      int64_t byDefault2) {
  int64_t a = first ? first.getInt() : byDefault1;
  int64_t b = second ? second.getInt() : byDefault2;
  if (a != byDefault1 || b != byDefault2)
    printer << ' ' << keyword << ' ' << a << ", " << b;
}

static ParseResult parseThresholds(OpAsmParser &parser, IntegerAttr &k1,
                                   IntegerAttr &k2) {
  return parsePair(parser, "thresholds", k1, k2);
}
static void printThresholds(OpAsmPrinter &printer, BalanceOp, IntegerAttr k1,
                            IntegerAttr k2) {
  printPair(printer, "thresholds", k1, k2, 1050, 1100);
}

static ParseResult parseMaxPieces(OpAsmParser &parser, IntegerAttr &pieces) {
  if (failed(parser.parseOptionalKeyword("pieces")))
    return success();
  return parser.parseAttribute(pieces, parser.getBuilder().getI64Type());
}
static void printMaxPieces(OpAsmPrinter &printer, BalanceOp,
                           IntegerAttr pieces) {
  if (pieces && pieces.getInt() != 6)
    printer << " pieces " << pieces.getInt();
}

static ParseResult parseSlack(OpAsmParser &parser, IntegerAttr &n1,
                              IntegerAttr &n2) {
  return parsePair(parser, "slack", n1, n2);
}
static void printSlack(OpAsmPrinter &printer, AugmentOp, IntegerAttr n1,
                       IntegerAttr n2) {
  printPair(printer, "slack", n1, n2, 800, 70);
}

#define GET_OP_CLASSES
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttnOps.cpp.inc"

// -- Builders ---------------------------------------------------------------

void PermuteOp::build(OpBuilder &, OperationState &state, Value input,
                      OrderAttr order, bool inverse) {
  state.addOperands(input);
  state.addTypes(input.getType());
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.order = order;
  if (inverse)
    properties.inverse = UnitAttr::get(order.getContext());
}

void BalanceOp::build(OpBuilder &builder, OperationState &state, Value plan,
                      Value mask, BalanceAlgorithm algorithm) {
  state.addOperands({plan, mask});
  state.addTypes(PlanType::get(builder.getContext()));
  state.getOrAddProperties<Properties>().algorithm =
      BalanceAlgorithmAttr::get(builder.getContext(), algorithm);
}

void AugmentOp::build(OpBuilder &, OperationState &state, Value mask,
                      Value plan) {
  state.addOperands({mask, plan});
  state.addTypes(mask.getType());
}

void ReshardOp::build(OpBuilder &builder, OperationState &state, Value input,
                      Value plan, Layout layout) {
  state.addOperands({input, plan});
  state.addTypes(input.getType());
  state.getOrAddProperties<Properties>().layout =
      LayoutAttr::get(builder.getContext(), layout);
}
