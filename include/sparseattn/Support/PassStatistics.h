//===- PassStatistics.h - Statistics as packaged MLIR has them --*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llvm::Statistic is an empty class under NDEBUG and has data members without
// it, and the constructor of mlir::Pass::Statistic is in libMLIR. Debian's is
// built with NDEBUG: a build with assertions would count in members that nobody
// initialised. To be included before any header of MLIR's passes.
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_SUPPORT_PASSSTATISTICS_H
#define SPARSEATTN_SUPPORT_PASSSTATISTICS_H

#ifdef NDEBUG
#include "llvm/ADT/Statistic.h"
#else
#define NDEBUG
#include "llvm/ADT/Statistic.h"
#undef NDEBUG
#include <cassert>
#endif

#if LLVM_ENABLE_STATS != LLVM_FORCE_ENABLE_STATS
#error "include sparseattn/Support/PassStatistics.h before mlir/Pass/Pass.h"
#endif

#endif // SPARSEATTN_SUPPORT_PASSSTATISTICS_H
