//===- CommOps.cpp - Builders and names of the sa_comm operations ---------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CommSyntax.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sa_comm;
using namespace mlir::sa_comm::detail;

void sa_comm::detail::buildSchedule(OpBuilder &builder, OperationState &state,
                                    StringRef name,
                                    const sart::Placement &placement,
                                    float scale,
                                    const sart::RoutingPolicy &policy,
                                    const sart::PlannerOptions &planner) {
  MLIRContext *context = builder.getContext();
  state.addAttribute(SymbolTable::getSymbolAttrName(),
                     builder.getStringAttr(name));
  state.addAttribute("mesh", MeshAttr::get(context, placement));
  state.addAttribute("shape", ShapeAttr::get(context, placement.shape));
  state.addAttribute("scale", builder.getF32FloatAttr(scale));
  state.addAttribute("policy", PolicyAttr::get(context, policy));
  PlannerAttr options = PlannerAttr::get(context, planner);
  // The defaults are not written.
  if (options != PlannerAttr::get(context, sart::PlannerOptions()))
    state.addAttribute("planner", options);
  state.addRegion()->emplaceBlock();
}

void SendOp::getAsmResultNames(function_ref<void(Value, StringRef)> setName) {
  setName(getToken(), "sent");
}

void RecvOp::getAsmResultNames(function_ref<void(Value, StringRef)> setName) {
  setName(getToken(), "received");
}

// The generated classes call the custom directives by their bare names.
namespace mlir::sa_comm {
using namespace detail;
} // namespace mlir::sa_comm

#define GET_OP_CLASSES
#include "sparseattn/Dialect/Comm/IR/CommOps.cpp.inc"
