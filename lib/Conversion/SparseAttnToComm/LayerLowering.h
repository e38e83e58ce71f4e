//===- LayerLowering.h - One layer function to one schedule -----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_CONVERSION_SPARSEATTNTOCOMM_LAYERLOWERING_H
#define SPARSEATTN_LIB_CONVERSION_SPARSEATTNTOCOMM_LAYERLOWERING_H

#include "ScheduleBuilder.h"

#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <memory>

namespace mlir {
namespace sparseattn {

/// Lowers the ops of a layer one by one, in the order of the body.
class LayerLowering {
public:
  LayerLowering(func::FuncOp layer, OpBuilder &builder)
      : layer(layer), builder(builder) {}

  /// Emits the template after the layer. Errors go to the op that cannot be
  /// lowered.
  FailureOr<sa_comm::TemplateOp> run();

  /// The constant mask and its plan; null for a routed layer.
  ExplicitMaskOp getConstantMask() { return explicitMask; }
  BalanceOp getBalance() { return balance; }

private:
  LogicalResult collect();
  LogicalResult checkChain();
  LogicalResult collectHeader();
  LogicalResult lower(Operation &op);
  LogicalResult lowerReshard(ReshardOp op);
  LogicalResult lowerPool(PoolOp op);
  LogicalResult lowerRoute(RouteOp op);
  LogicalResult lowerExplicitMask(ExplicitMaskOp op);
  LogicalResult lowerBalance(BalanceOp op);
  LogicalResult lowerAugment(AugmentOp op);
  LogicalResult lowerAttend(AttendOp op);
  void emitMoves();
  void emitRowMoves();
  sa_comm::Group exchangeGroup();
  SmallVector<Value> postRing(int64_t distance);
  void finish();
  void enterPhase(StringRef name);
  bool moves();

  func::FuncOp layer;
  OpBuilder &builder;
  PlaceOp place;
  RouteOp route;
  ExplicitMaskOp explicitMask;
  BalanceOp balance;
  AugmentOp augment;
  AttendOp attend;
  ScheduleHeader header;
  std::unique_ptr<ScheduleBuilder> schedule;
  std::string openPhase;
  SmallVector<Value> firstRing; ///< tokens of ring distance 1, once posted
};

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_LIB_CONVERSION_SPARSEATTNTOCOMM_LAYERLOWERING_H
