//===- LayerOverrides.cpp - What a caller sets over a layer's text
//---------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LayerOverrides.h"

#include "sparseattn/Dialect/Comm/IR/Comm.h"
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"
#include "sparseattn/Target/Plan/Plan.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sparseattn;

FailureOr<func::FuncOp> mlir::sparseattn::findLayer(ModuleOp module) {
  func::FuncOp layer;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() ||
        function.getBody().front().getOps<AttendOp>().empty())
      continue;
    if (layer) {
      InFlightDiagnostic diagnostic = function.emitError(
          "layers of the module: got a second, expected one function with an "
          "attend op");
      diagnostic.attachNote(layer.getLoc()) << "the first is here";
      return diagnostic;
    }
    layer = function;
  }
  if (!layer)
    return module.emitError("layers of the module: got none, expected one "
                            "function with an attend op");
  return layer;
}

Type mlir::sparseattn::elementTypeOf(func::FuncOp layer) {
  AttendOp attend = *layer.getBody().front().getOps<AttendOp>().begin();
  return cast<RankedTensorType>(attend.getQ().getType()).getElementType();
}

void mlir::sparseattn::overrideElementType(func::FuncOp layer,
                                           sart::DType dtype) {
  Type element = sa_comm::toType(layer.getContext(), dtype);
  auto retype = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    // LSE is the only tensor of two axes.
    if (type && type.getRank() == 3)
      value.setType(RankedTensorType::get(type.getShape(), element));
  };
  Block &body = layer.getBody().front();
  for (BlockArgument argument : body.getArguments())
    retype(argument);
  for (Operation &op : body)
    if (!isa<PoolOp>(op))
      for (OpResult result : op.getResults())
        retype(result);
  auto inputs = body.getArgumentTypes();
  auto results = body.getTerminator()->getOperandTypes();
  layer.setFunctionType(FunctionType::get(layer.getContext(), inputs, results));
}

LogicalResult mlir::sparseattn::overrideMask(func::FuncOp layer,
                                             ArrayRef<uint8_t> bits) {
  AttendOp attend = *layer.getBody().front().getOps<AttendOp>().begin();
  MaskType type = attend.getMask().getType();
  if (static_cast<int64_t>(bits.size()) != type.getTiles())
    return attend.emitOpError("size of the given mask must equal the layer's: "
                              "got ")
           << bits.size() << " tiles, expected " << type.getHeads() << " x "
           << type.getQBlocks() << " x " << type.getKvBlocks();
  OpBuilder builder(attend);
  SmallVector<bool> values;
  values.reserve(bits.size());
  for (uint8_t bit : bits)
    values.push_back(bit != 0);
  auto tensor = RankedTensorType::get(
      {type.getHeads(), type.getQBlocks(), type.getKvBlocks()},
      builder.getI1Type());
  auto mask = ExplicitMaskOp::create(
      builder, attend.getLoc(), type,
      cast<DenseIntElementsAttr>(DenseElementsAttr::get(tensor, values)));
  attend.getMaskMutable().assign(mask);
  return success();
}

LogicalResult mlir::sparseattn::setCosts(ModuleOp module,
                                         const sart::Machine &machine) {
  WalkResult result = module.walk([&](BalanceOp balance) {
    auto place = balance.getPlan().getDefiningOp<PlaceOp>();
    if (balance.getCostAttr() || !place)
      return WalkResult::advance();
    FailureOr<sart::Placement> placement =
        toPlacement(place, balance.getMask().getType());
    if (failed(placement))
      return WalkResult::interrupt();
    sart::CostModel cost = machine.costModel(*placement);
    balance.setCostAttr(CostModelAttr::get(balance.getContext(), cost.tilePs,
                                           cost.rowPs, cost.transferPs,
                                           cost.bytePs, cost.scheduleNs));
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
