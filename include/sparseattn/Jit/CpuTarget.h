//===- CpuTarget.h - CPU that kernels are generated for ---------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_JIT_CPUTARGET_H
#define SPARSEATTN_JIT_CPUTARGET_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace mlir {
namespace sparseattn {

/// A CPU and what kernel generation derives from it: the vector width and the
/// register tiles. The tile fields may be changed before kernels are built.
struct CpuTarget {
  std::string triple;
  std::string cpu;
  std::string features; ///< comma-separated, "+avx2,-avx512f" form

  int64_t lanes = 4;       ///< fp32 values in one vector register
  bool hasFma = false;     ///< fused multiply-add in hardware
  bool hasHalf = false;    ///< conversions between fp16 and fp32 in hardware
  int64_t tileVectors = 2; ///< vectors side by side in a register tile
  int64_t scoreRows = 6;   ///< keys in a register tile of Q K^T
  int64_t outputRows = 4;  ///< features in a register tile of P V

  /// The machine that this process runs on.
  static llvm::Expected<CpuTarget> host();

  /// A named CPU, such as ("x86-64", "") or ("haswell", "+avx2"). An empty
  /// triple means the triple of this process. Fails if LLVM does not know the
  /// triple or the CPU.
  static llvm::Expected<CpuTarget>
  get(llvm::StringRef triple, llvm::StringRef cpu, llvm::StringRef features);

  /// Whether this process's CPU has every instruction set of the target.
  bool runsHere() const;

  /// Code generator for this target; position-independent code.
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
  createTargetMachine() const;
};

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_JIT_CPUTARGET_H
