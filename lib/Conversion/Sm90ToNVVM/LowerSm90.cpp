//===- LowerSm90.cpp - Lowers Hopper kernels to LLVM and NVVM -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Conversion/Sm90ToNVVM/Passes.h"

#include "Patterns.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::sparseattn {
#define GEN_PASS_DEF_LOWERSM90PASS
#include "sparseattn/Conversion/Sm90ToNVVM/Passes.h.inc"
} // namespace mlir::sparseattn

using namespace mlir;
using namespace mlir::sparseattn;
using namespace mlir::sa_sm90;

/// Which registers hold a value of each type.
static void addConversions(TypeConverter &types) {
  using Types = SmallVectorImpl<Type>;
  types.addConversion([](Type type) { return type; });
  types.addConversion([](AccumulatorType type, Types &registers) {
    registers.append(type.getColumns() / 2,
                     Float32Type::get(type.getContext()));
    return success();
  });
  auto words = [](Type type, int64_t count, Types &registers) {
    registers.append(count, IntegerType::get(type.getContext(), 32));
    return success();
  };
  types.addConversion([=](OperandType type, Types &registers) {
    return words(type, type.getColumns() / 4, registers);
  });
  types.addConversion([=](TileType type, Types &registers) {
    return words(type, 1, registers);
  });
  types.addConversion([=](CursorType type, Types &registers) {
    return words(type, 2, registers);
  });
  types.addConversion([=](RingType type, Types &registers) {
    return words(type, 2, registers);
  });
  types.addConversion([=](MailboxType type, Types &registers) {
    return words(type, 2, registers);
  });
}

namespace {
/// Selects register by register.
struct SelectLowering : Sm90Pattern<arith::SelectOp> {
  using Sm90Pattern::Sm90Pattern;
  FailureOr<SmallVector<Registers>> lower(arith::SelectOp, Operands operands,
                                          Emitter &emitter) const override {
    Registers selected;
    for (auto [a, b] :
         llvm::zip_equal(operands.getTrueValue(), operands.getFalseValue()))
      selected.push_back(emitter.select(operands.getCondition().front(), a, b));
    return SmallVector<Registers>{selected};
  }
};

struct LowerSm90 : sparseattn::impl::LowerSm90PassBase<LowerSm90> {
  using LowerSm90PassBase::LowerSm90PassBase;

  void runOnOperation() override {
    TypeConverter types;
    addConversions(types);
    RewritePatternSet patterns(&getContext());
    populateFragmentLowerings(types, patterns);
    populateOperandLowerings(types, patterns);
    populateProductLowerings(types, patterns);
    populateRingLowerings(types, patterns, guard);
    populateStoreLowerings(types, patterns);
    patterns.add<SelectLowering>(types, &getContext());
    ConversionTarget target(getContext());
    target.addLegalDialect<arith::ArithDialect, LLVM::LLVMDialect,
                           NVVM::NVVMDialect>();
    target.addIllegalDialect<Sm90Dialect>();
    target.addLegalOp<KernelOp, RoleOp>();
    target.addDynamicallyLegalOp<arith::SelectOp>(
        [&](arith::SelectOp op) { return types.isLegal(op.getType()); });
    scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns,
                                                         target);
    FrozenRewritePatternSet frozen(std::move(patterns));

    SmallVector<KernelOp> kernels(getOperation().getOps<KernelOp>());
    for (KernelOp kernel : kernels) {
      SmallVector<BarrierPlace> barriers = listBarriers(kernel);
      if (failed(applyPartialConversion(kernel, target, frozen)))
        return signalPassFailure();
      lowerKernel(kernel, barriers);
      ++numKernels;
    }
  }
};
} // namespace
