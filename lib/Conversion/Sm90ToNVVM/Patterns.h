//===- Patterns.h - Lowerings of sa_sm90 operations -------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_CONVERSION_SM90TONVVM_PATTERNS_H
#define SPARSEATTN_LIB_CONVERSION_SM90TONVVM_PATTERNS_H

#include "Emitter.h"

#include "mlir/Transforms/DialectConversion.h"

namespace mlir {
namespace sparseattn {

/// A lowering of one operation. The converter gives each value's registers.
template <typename Op>
class Sm90Pattern : public OpConversionPattern<Op> {
public:
  using OpConversionPattern<Op>::OpConversionPattern;
  using Operands = typename OpConversionPattern<Op>::OneToNOpAdaptor;

  LogicalResult
  matchAndRewrite(Op op, Operands operands,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    FailureOr<SmallVector<Registers>> results = lower(op, operands, emitter);
    if (failed(results))
      return failure();
    if (results->empty())
      rewriter.eraseOp(op);
    else
      rewriter.replaceOpWithMultiple(op, std::move(*results));
    return success();
  }

  /// The registers of each result.
  virtual FailureOr<SmallVector<Registers>> lower(Op op, Operands operands,
                                                  Emitter &emitter) const = 0;
};

void populateFragmentLowerings(const TypeConverter &types,
                               RewritePatternSet &patterns);
void populateOperandLowerings(const TypeConverter &types,
                              RewritePatternSet &patterns);
void populateProductLowerings(const TypeConverter &types,
                              RewritePatternSet &patterns);
/// `guard`: waits on a barrier trap after many tries.
void populateRingLowerings(const TypeConverter &types,
                           RewritePatternSet &patterns, bool guard);
void populateStoreLowerings(const TypeConverter &types,
                            RewritePatternSet &patterns);

/// A barrier in shared memory that the kernel's entry initialises.
struct BarrierPlace {
  /// Bytes from the start of dynamic shared memory.
  int64_t offset;
  /// Arrivals that complete a phase.
  int64_t count;
};

/// The barriers of all rings and mailboxes of the kernel, in order.
SmallVector<BarrierPlace> listBarriers(sa_sm90::KernelOp kernel);

/// Replaces `kernel`, whose body holds no values of the dialect any more, by a
/// function: barriers, then one branch chain over the roles.
void lowerKernel(sa_sm90::KernelOp kernel, ArrayRef<BarrierPlace> barriers);

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_LIB_CONVERSION_SM90TONVVM_PATTERNS_H
