//===- KernelTranslation.h - GPU kernels as text to PTX and cubins  -*- C++
//-*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_TRANSLATE_KERNELTRANSLATION_H
#define SPARSEATTN_TOOLS_TRANSLATE_KERNELTRANSLATION_H

#include "sparseattn-rt/Status.h"

#include <string>

namespace mlir {
class MLIRContext;

namespace sparseattn {

/// PTX of the kernels in a module's text, for the newest ISA that LLVM and the
/// ptxas in file `ptxas` know (empty: the one that is found, if any; "none":
/// the oldest ISA that has the chip).
sart::Expected<std::string> kernelToPtx(const std::string &text,
                                        MLIRContext &context,
                                        const std::string &ptxas);

/// The same to a cubin. What ptxas reports as slower than written (spills,
/// serialised wgmma) is an error.
sart::Expected<std::string> kernelToCubin(const std::string &text,
                                          MLIRContext &context,
                                          const std::string &ptxas);

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_TOOLS_TRANSLATE_KERNELTRANSLATION_H
