//===- Sm90Ops.cpp - Builders and syntax of sa_sm90 operations ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Dialect/Sm90/IR/Sm90.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace mlir::sa_sm90;

#define GET_OP_CLASSES
#include "sparseattn/Dialect/Sm90/IR/Sm90Ops.cpp.inc"

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     FunctionType type, int64_t threads, int64_t entryRegisters,
                     int64_t sharedBytes) {
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.addAttribute(getThreadsAttrName(state.name),
                     builder.getI64IntegerAttr(threads));
  state.addAttribute(getEntryRegistersAttrName(state.name),
                     builder.getI64IntegerAttr(entryRegisters));
  state.addAttribute(getSharedBytesAttrName(state.name),
                     builder.getI64IntegerAttr(sharedBytes));
  Block *body = new Block();
  for (Type input : type.getInputs())
    body->addArgument(input, state.location);
  state.addRegion()->push_back(body);
}

void RoleOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                   int64_t firstWarp, int64_t warps, int64_t registers,
                   bool singleThread) {
  state.addAttribute(getNameAttrName(state.name), builder.getStringAttr(name));
  state.addAttribute(getFirstWarpAttrName(state.name),
                     builder.getI64IntegerAttr(firstWarp));
  state.addAttribute(getWarpsAttrName(state.name),
                     builder.getI64IntegerAttr(warps));
  state.addAttribute(getRegistersAttrName(state.name),
                     builder.getI64IntegerAttr(registers));
  if (singleThread)
    state.addAttribute(getSingleThreadAttrName(state.name),
                       builder.getUnitAttr());
  Block *body = new Block();
  body->addArguments({builder.getI32Type(), builder.getI32Type()},
                     {state.location, state.location});
  state.addRegion()->push_back(body);
}

// sa_sm90.kernel @name(%arg: type, ...) threads N registers N shared N { ... }
ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> resultTypes;
  SmallVector<DictionaryAttr> resultAttrs;
  bool variadic = false;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name),
                             result.attributes) ||
      function_interface_impl::parseFunctionSignatureWithArguments(
          parser, /*allowVariadic=*/false, arguments, variadic, resultTypes,
          resultAttrs))
    return failure();
  SmallVector<Type> types;
  for (const OpAsmParser::Argument &argument : arguments)
    types.push_back(argument.type);
  Builder &builder = parser.getBuilder();
  result.addAttribute(
      getFunctionTypeAttrName(result.name),
      TypeAttr::get(builder.getFunctionType(types, resultTypes)));
  call_interface_impl::addArgAndResultAttrs(
      builder, result, arguments, resultAttrs, getArgAttrsAttrName(result.name),
      getResAttrsAttrName(result.name));
  IntegerAttr threads, registers, shared;
  Type i64 = builder.getI64Type();
  if (parser.parseKeyword("threads") ||
      parser.parseAttribute(threads, i64, getThreadsAttrName(result.name),
                            result.attributes) ||
      parser.parseKeyword("registers") ||
      parser.parseAttribute(registers, i64,
                            getEntryRegistersAttrName(result.name),
                            result.attributes) ||
      parser.parseKeyword("shared") ||
      parser.parseAttribute(shared, i64, getSharedBytesAttrName(result.name),
                            result.attributes) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return parser.parseRegion(*result.addRegion(), arguments);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  call_interface_impl::printFunctionSignature(
      printer, getArgumentTypes(), getArgAttrsAttr(), /*isVariadic=*/false,
      getResultTypes(), getResAttrsAttr(), &getBody(),
      /*printEmptyResult=*/false);
  printer << " threads " << getThreads() << " registers " << getEntryRegisters()
          << " shared " << getSharedBytes();
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getSymNameAttrName(), getFunctionTypeAttrName(), getThreadsAttrName(),
       getEntryRegistersAttrName(), getSharedBytesAttrName(),
       getArgAttrsAttrName(), getResAttrsAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}
