//===- KernelTestSupport.h - Run kernels on guarded memory ------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_KERNELS_KERNELTESTSUPPORT_H
#define SPARSEATTN_TEST_UNIT_KERNELS_KERNELTESTSUPPORT_H

#include "sparseattn-rt/Executable.h"
#include "sparseattn/Jit/KernelCompiler.h"

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace kerneltest {

/// Names of the targets that this machine can run: "host", and "haswell" and
/// "x86-64" where they exist.
const std::vector<std::string> &runnableTargets();

/// The kernel for `spec`, compiled once per process and target.
const mlir::sparseattn::CompiledKernel &
compiled(const sart::KernelSpec &spec, const std::string &target = "host");

/// A generator that gives the same numbers in every run.
std::mt19937 seeded(unsigned seed);

/// A matrix in memory of its own: rows are `pitch` elements apart, and there
/// are spare rows before and after. All that is not an element is NaN.
class Matrix {
public:
  Matrix(sart::DType type, int64_t rows, int64_t columns, int64_t pitch);

  /// Rounds to the element type.
  void set(int64_t row, int64_t column, double value);
  double get(int64_t row, int64_t column) const;
  /// Fills all elements.
  void fill(const std::function<double(int64_t, int64_t)> &value);
  void fillNormal(std::mt19937 &random, double deviation);
  sart::MemRef<void, 2> view();
  /// False if something outside the elements is no longer NaN.
  bool paddingIntact() const;
  const std::vector<uint8_t> &bytes() const { return storage; }

  sart::DType type;
  int64_t rows, columns, pitch;

private:
  int64_t position(int64_t row, int64_t column) const;
  std::vector<uint8_t> storage;
};

/// Scratch memory aligned to 64 bytes, filled with NaN, with a guard behind it.
class Scratch {
public:
  explicit Scratch(int64_t bytes);
  sart::MemRef<int8_t, 1> view();
  bool guardIntact() const;

private:
  int64_t size;
  std::vector<uint8_t> storage;
  uint8_t *start;
};

/// One head of attention.
struct AttendProblem {
  AttendProblem(const sart::KernelSpec &spec, int64_t queries, int64_t keys,
                int64_t extraPitch = 3);

  /// kv-block lists, one for each q-block: each block with probability
  /// `density`; a row is empty with probability `empty`.
  void randomLists(std::mt19937 &random, double density, double empty);
  void fullLists();
  int64_t qBlocks() const;
  int64_t kBlocks() const;

  sart::KernelSpec spec;
  Matrix q, k, v;
  std::vector<std::vector<int32_t>> lists;
  int64_t diag;
  float scale;
};

/// Results of one head.
struct AttendResult {
  Matrix o, lse;
};

/// Runs the kernel on one q-block, with q, k and v from somewhere else than
/// `problem`. Fails the test if anything outside the results is written.
void callAttend(const AttendProblem &problem, int64_t block,
                sart::MemRef<void, 2> q, sart::MemRef<void, 2> k,
                sart::MemRef<void, 2> v, Matrix &o, Matrix &lse,
                const std::string &target = "host");

/// Runs the kernel on every q-block. Fails the test if anything outside the
/// results is written.
AttendResult runAttend(const AttendProblem &problem,
                       const std::string &target = "host");

/// Compares with a float64 evaluation. `slack` multiplies the bound, which is
/// derived in KernelTestSupport.cpp. Returns the largest error of o.
double expectAttends(const AttendProblem &problem, const AttendResult &result,
                     double slack = 1);

/// runAttend and expectAttends.
double checkAttend(const AttendProblem &problem,
                   const std::string &target = "host");

} // namespace kerneltest

#endif // SPARSEATTN_TEST_UNIT_KERNELS_KERNELTESTSUPPORT_H
