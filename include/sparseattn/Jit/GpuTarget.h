//===- GpuTarget.h - GPU that kernels are generated for ------- -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_JIT_GPUTARGET_H
#define SPARSEATTN_JIT_GPUTARGET_H

#include "sparseattn/Jit/Ptxas.h"

#include <memory>
#include <optional>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace mlir {
namespace sparseattn {

/// A GPU, and the assembler that makes its machine code.
struct GpuTarget {
  std::string chip = "sm_90a";
  /// PTX ISA of the text that LLVM writes (80 for 8.0): the newest that both
  /// LLVM and ptxas know. Without ptxas the oldest with the chip's
  /// instructions, since any driver that runs the chip reads that.
  unsigned ptxVersion = 80;
  /// Without one, kernels stay PTX, which the driver assembles.
  std::optional<Ptxas> ptxas;

  /// "13.0.88", or "none".
  std::string ptxasVersion() const { return ptxas ? ptxas->version() : "none"; }

  /// The chip, with the ptxas in the file `ptxasPath`; empty: with the one that
  /// Ptxas::locate finds, or without any; "none": without. Errors: those of
  /// Ptxas::open.
  static llvm::Expected<GpuTarget> get(llvm::StringRef ptxasPath = "",
                                       llvm::StringRef chip = "sm_90a");
  /// The chip without any ptxas.
  static GpuTarget withoutPtxas(llvm::StringRef chip = "sm_90a");

  /// The chip with this ptxas.
  static GpuTarget with(Ptxas ptxas, llvm::StringRef chip = "sm_90a");

  /// Code generator for the chip and the PTX ISA.
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
  createTargetMachine() const;

  /// Newest PTX ISA that LLVM writes: 90 for 9.0.
  static unsigned newestPtxOfLlvm();
};

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_JIT_GPUTARGET_H
