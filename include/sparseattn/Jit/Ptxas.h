//===- Ptxas.h - PTX text to a cubin -------------------------- -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_JIT_PTXAS_H
#define SPARSEATTN_JIT_PTXAS_H

#include "sparseattn/Jit/PtxasLog.h"

#include <string>

namespace mlir {
namespace sparseattn {

/// A cubin and how ptxas made it.
struct AssembledPtx {
  std::string cubin;
  std::string log; ///< all that ptxas wrote, stdout and stderr
  PtxasReport report;
  double milliseconds = 0; ///< of the child process
};

/// NVIDIA's assembler, a program that is run as a child process. It is never
/// part of this project: a CUDA toolkit has it, and so does a package of its
/// own on PyPI.
class Ptxas {
public:
  /// The first that can be executed of $CUDA_HOME/bin/ptxas, ptxas on PATH, and
  /// ../ptxas/bin/ptxas beside the folder of this library or program (where the
  /// build puts one); empty if there is none.
  static std::string locate();

  /// The message for users when locate() is empty and a cubin is needed.
  static std::string notFound();

  /// The ptxas in file `path`, which is run to learn its version. Errors: a
  /// file that is not there or cannot be run, output of something else, a
  /// version that is too old for sm_90a.
  static llvm::Expected<Ptxas> open(llvm::StringRef path);

  /// The ptxas in `path`, which said this about itself before.
  static Ptxas known(std::string path, std::string version,
                     unsigned ptxVersion);

  const std::string &path() const { return file; }
  /// "13.0.88": release and build, which decide the machine code.
  const std::string &version() const { return text; }
  /// Newest PTX ISA that it reads: 90 for 9.0.
  unsigned ptxVersion() const { return isa; }

  /// Assembles one PTX module for `chip`, with full optimisation. Errors: ptxas
  /// cannot be started, is killed, refuses the text (its lines are in the
  /// message) or leaves no cubin. The report is not judged here, see
  /// checkPtxasReport. May be called by several threads at once.
  llvm::Expected<AssembledPtx> assemble(llvm::StringRef ptx,
                                        llvm::StringRef chip) const;

  /// What `ptxas --version` calls release and build: "13.0.88" from
  /// "..., release 13.0, V13.0.88"; empty in any other text.
  static std::string parseVersion(llvm::StringRef output);
  /// 90 from "Unsupported .version 99.9; current version is '9.0'"; else 0.
  static unsigned parsePtxVersion(llvm::StringRef output);

private:
  std::string file;
  std::string text;
  unsigned isa = 0;
};

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_JIT_PTXAS_H
