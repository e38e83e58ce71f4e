//===- Dialect.cpp - The sparseattn dialect -------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sparseattn;

#include "sparseattn/Dialect/SparseAttn/IR/SparseAttnDialect.cpp.inc"

namespace {
/// Masks, orders and plans are long; they are printed once, under a name.
struct AliasInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    StringRef name = llvm::TypeSwitch<Attribute, StringRef>(attr)
                         .Case<OrderAttr>([](auto) { return "order"; })
                         .Case<PlacementAttr>([](auto) { return "placement"; })
                         .Case<CostModelAttr>([](auto) { return "cost"; })
                         .Case<PlanAttr>([](auto) { return "plan"; })
                         .Default([](Attribute) { return ""; });
    os << name;
    return name.empty() ? AliasResult::NoAlias : AliasResult::OverridableAlias;
  }

  AliasResult getAlias(Type type, raw_ostream &os) const override {
    if (!isa<MaskType>(type))
      return AliasResult::NoAlias;
    os << "mask";
    return AliasResult::OverridableAlias;
  }
};
} // namespace

void sparseattn::registerSparseAttnDialect(DialectRegistry &registry) {
  registry.insert<SparseAttnDialect>();
}

void SparseAttnDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttnOps.cpp.inc"
      >();
  addInterfaces<AliasInterface>();
}

Operation *SparseAttnDialect::materializeConstant(OpBuilder &builder,
                                                  Attribute value, Type type,
                                                  Location loc) {
  auto bits = dyn_cast<DenseIntElementsAttr>(value);
  auto mask = dyn_cast<MaskType>(type);
  if (!bits || !mask)
    return nullptr;
  return ExplicitMaskOp::create(builder, loc, mask, bits);
}

LogicalResult SparseAttnDialect::verifyOperationAttribute(Operation *op,
                                                          NamedAttribute attr) {
  if (attr.getName() != "sparseattn.boundary_order")
    return success();
  auto order = dyn_cast<OrderAttr>(attr.getValue());
  if (!order)
    return op->emitOpError()
           << "attribute 'sparseattn.boundary_order': got " << attr.getValue()
           << ", expected #sparseattn.order<...>";
  // Whoever runs the function permutes axis 1 of all tensors.
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return op->emitOpError() << "attribute 'sparseattn.boundary_order': got "
                                "another operation, expected a function";
  for (ArrayRef<Type> types :
       {function.getArgumentTypes(), function.getResultTypes()})
    for (Type type : types) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (tensor &&
          (tensor.getRank() < 2 || tensor.getDimSize(1) != order.getTokens()))
        return op->emitOpError()
               << "attribute 'sparseattn.boundary_order': got an order of "
               << order.getTokens() << " tokens, expected those of " << tensor;
    }
  return success();
}
