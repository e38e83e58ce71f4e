//===- KernelTestSupport.cpp - Run kernels on guarded memory --------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelTestSupport.h"

#include "sparseattn/Conversion/SparseAttnToVector/KernelBuilder.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>

using namespace kerneltest;
using mlir::sparseattn::CompiledKernel;
using mlir::sparseattn::CpuTarget;
using mlir::sparseattn::KernelCompiler;
using sart::DType;
using sart::KernelSpec;
using sart::MemRef;

static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
static constexpr double kInfinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

const std::vector<std::string> &kerneltest::runnableTargets() {
  static const std::vector<std::string> targets = [] {
    std::vector<std::string> names{"host"};
    auto features = llvm::sys::getHostCPUFeatures();
    if (features.lookup("avx2") && features.lookup("fma"))
      names.push_back("haswell");
    if (features.lookup("sse2"))
      names.push_back("x86-64");
    return names;
  }();
  return targets;
}

namespace {
/// One compiler for each target.
struct Session {
  Session() : context(mlir::MLIRContext::Threading::DISABLED) {
    mlir::DialectRegistry registry;
    mlir::sparseattn::registerKernelDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }
  mlir::MLIRContext context;
  std::map<std::string, std::unique_ptr<KernelCompiler>> compilers;
  std::map<std::string, CompiledKernel> kernels;
};
} // namespace

static llvm::Error compile(Session &session, const KernelSpec &spec,
                           const std::string &target, CompiledKernel &kernel) {
  std::unique_ptr<KernelCompiler> &compiler = session.compilers[target];
  if (!compiler) {
    auto cpu =
        target == "host" ? CpuTarget::host() : CpuTarget::get("", target, "");
    if (!cpu)
      return cpu.takeError();
    auto created = KernelCompiler::create(*cpu);
    if (!created)
      return created.takeError();
    compiler = std::move(*created);
  }
  mlir::Location loc = mlir::UnknownLoc::get(&session.context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
  mlir::OpBuilder builder(module->getBodyRegion());
  if (failed(buildKernel(builder, loc, spec, compiler->getTarget())) ||
      failed(mlir::verify(*module)))
    return llvm::createStringError("kernel is not valid: got '%s'",
                                   spec.name().c_str());
  auto result = compiler->compile(*module);
  if (!result)
    return result.takeError();
  kernel = result->kernels.front();
  return llvm::Error::success();
}

const CompiledKernel &kerneltest::compiled(const KernelSpec &spec,
                                           const std::string &target) {
  static Session session;
  auto [found, isNew] =
      session.kernels.try_emplace(target + ":" + spec.name(), CompiledKernel());
  if (isNew)
    if (llvm::Error error = compile(session, spec, target, found->second))
      ADD_FAILURE() << llvm::toString(std::move(error));
  return found->second;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

std::mt19937 kerneltest::seeded(unsigned seed) { return std::mt19937(seed); }

static constexpr int64_t kSpareRows = 3;

Matrix::Matrix(DType type, int64_t rows, int64_t columns, int64_t pitch)
    : type(type), rows(rows), columns(columns), pitch(pitch) {
  int64_t elements = (rows + 2 * kSpareRows) * pitch;
  storage.resize(elements * sart::byteSize(type));
  for (int64_t i = 0; i < elements; ++i)
    sart::storeFromFloat(storage.data(), type, i, static_cast<float>(kNaN));
}

int64_t Matrix::position(int64_t row, int64_t column) const {
  return (row + kSpareRows) * pitch + column;
}

void Matrix::set(int64_t row, int64_t column, double value) {
  sart::storeFromFloat(storage.data(), type, position(row, column),
                       static_cast<float>(value));
}

double Matrix::get(int64_t row, int64_t column) const {
  return sart::loadAsFloat(storage.data(), type, position(row, column));
}

void Matrix::fill(const std::function<double(int64_t, int64_t)> &value) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      set(i, j, value(i, j));
}

void Matrix::fillNormal(std::mt19937 &random, double deviation) {
  std::normal_distribution<double> normal(0, deviation);
  fill([&](int64_t, int64_t) { return normal(random); });
}

MemRef<void, 2> Matrix::view() {
  MemRef<void, 2> view;
  view.allocated = view.aligned = storage.data();
  view.offset = position(0, 0);
  view.sizes[0] = rows;
  view.sizes[1] = columns;
  view.strides[0] = pitch;
  view.strides[1] = 1;
  return view;
}

bool Matrix::paddingIntact() const {
  int64_t elements = (rows + 2 * kSpareRows) * pitch;
  for (int64_t i = 0; i < elements; ++i) {
    int64_t row = i / pitch - kSpareRows;
    bool inside = row >= 0 && row < rows && i % pitch < columns;
    if (!inside && !std::isnan(sart::loadAsFloat(storage.data(), type, i)))
      return false;
  }
  return true;
}

static constexpr int64_t kGuardBytes = 256;

Scratch::Scratch(int64_t bytes)
    : size(bytes), storage(bytes + kGuardBytes + 64, 0xff) {
  auto address = reinterpret_cast<uintptr_t>(storage.data());
  start = storage.data() + (64 - address % 64) % 64;
}

MemRef<int8_t, 1> Scratch::view() {
  MemRef<int8_t, 1> view;
  view.allocated = view.aligned = reinterpret_cast<int8_t *>(start);
  view.sizes[0] = size;
  view.strides[0] = 1;
  return view;
}

bool Scratch::guardIntact() const {
  for (int64_t i = 0; i < kGuardBytes; ++i)
    if (start[size + i] != 0xff)
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

AttendProblem::AttendProblem(const KernelSpec &spec, int64_t queries,
                             int64_t keys, int64_t extraPitch)
    : spec(spec),
      q(spec.dtype, queries, spec.headDim, spec.headDim + extraPitch),
      k(spec.dtype, keys, spec.headDim, spec.headDim + extraPitch),
      v(spec.dtype, keys, spec.headDim, spec.headDim + extraPitch),
      diag(keys - queries),
      scale(1 / std::sqrt(static_cast<float>(spec.headDim))) {
  fullLists();
}

int64_t AttendProblem::qBlocks() const {
  return (q.rows + spec.blockQ - 1) / spec.blockQ;
}

int64_t AttendProblem::kBlocks() const {
  return (k.rows + spec.blockK - 1) / spec.blockK;
}

void AttendProblem::fullLists() {
  std::vector<int32_t> all;
  all.reserve(kBlocks());
  for (int64_t block = 0; block < kBlocks(); ++block)
    all.push_back(static_cast<int32_t>(block));
  lists.assign(qBlocks(), all);
}

void AttendProblem::randomLists(std::mt19937 &random, double density,
                                double empty) {
  std::uniform_real_distribution<double> uniform(0, 1);
  for (std::vector<int32_t> &list : lists) {
    list.clear();
    if (uniform(random) < empty)
      continue;
    for (int64_t block = 0; block < kBlocks(); ++block)
      if (uniform(random) < density)
        list.push_back(static_cast<int32_t>(block));
  }
}

using AttendFunction = void (*)(MemRef<void, 2> *, MemRef<void, 2> *,
                                MemRef<void, 2> *, MemRef<void, 2> *,
                                MemRef<float, 1> *, MemRef<int32_t, 1> *,
                                MemRef<int8_t, 1> *, intptr_t, intptr_t, float);

void kerneltest::callAttend(const AttendProblem &problem, int64_t block,
                            MemRef<void, 2> q, MemRef<void, 2> k,
                            MemRef<void, 2> v, Matrix &o, Matrix &lse,
                            const std::string &target) {
  const CompiledKernel &kernel = compiled(problem.spec, target);
  if (!kernel.entry) // the failure is recorded
    return;
  auto oView = o.view(), lseRows = lse.view();
  MemRef<float, 1> lseView;
  lseView.allocated = lseView.aligned = static_cast<float *>(lseRows.aligned);
  lseView.offset = lseRows.offset;
  lseView.sizes[0] = lseRows.sizes[0];
  lseView.strides[0] = lseRows.strides[0];
  std::vector<int32_t> list = problem.lists[block];
  MemRef<int32_t, 1> listView;
  listView.allocated = listView.aligned = list.data();
  listView.sizes[0] = static_cast<int64_t>(list.size());
  listView.strides[0] = 1;
  Scratch scratch(kernel.scratchBytes);
  auto scratchView = scratch.view();
  auto entry = reinterpret_cast<AttendFunction>(kernel.entry);
  entry(&q, &k, &v, &oView, &lseView, &listView, &scratchView,
        block * problem.spec.blockQ, problem.diag, problem.scale);
  EXPECT_TRUE(scratch.guardIntact());
  EXPECT_TRUE(o.paddingIntact());
  EXPECT_TRUE(lse.paddingIntact());
}

AttendResult kerneltest::runAttend(const AttendProblem &problem,
                                   const std::string &target) {
  const KernelSpec &spec = problem.spec;
  AttendResult result{
      Matrix(spec.outDtype, problem.q.rows, spec.headDim, spec.headDim + 5),
      Matrix(DType::F32, problem.q.rows, 1, 2)};
  Matrix q = problem.q, k = problem.k, v = problem.v;
  // The last q-block first: no call may write over the rows of another.
  for (int64_t block = problem.qBlocks() - 1; block >= 0; --block)
    callAttend(problem, block, q.view(), k.view(), v.view(), result.o,
               result.lse, target);
  EXPECT_EQ(q.bytes(), problem.q.bytes());
  EXPECT_EQ(k.bytes(), problem.k.bytes());
  EXPECT_EQ(v.bytes(), problem.v.bytes());
  return result;
}

/// The elements, row by row.
static std::vector<double> values(const Matrix &matrix) {
  std::vector<double> result;
  result.reserve(matrix.rows * matrix.columns);
  for (int64_t i = 0; i < matrix.rows; ++i)
    for (int64_t j = 0; j < matrix.columns; ++j)
      result.push_back(matrix.get(i, j));
  return result;
}

/// Largest relative rounding error of the element type.
static double roundoff(DType type) {
  return std::ldexp(1, type == DType::F32    ? -24
                       : type == DType::BF16 ? -8
                                             : -11);
}

// The bound. u = 2^-24 is fp32's rounding error; n keys are visible; the sums
// below are over them. Rounding errors of a sum of m terms are taken to grow
// like 4 sqrt(m), which for independent errors covers the largest of about 10^4
// values (the certain bound m is far from what happens and hides mistakes).
//
// - A score is a sum of D products: its error is at most
//   e = 4 sqrt(D) u max_j sum_d |scale q_d k_jd| + 2 u |score|, the last for
//   folding the scale into q.
// - A weight exp(s - max) has relative error e, 1e-7 of the polynomial, 4 u of
//   the operations, and u |s - max|, at most 88 u where the weight is not 0.
//   It is 0 below 2^-126, where the exact one is below 1.2e-38.
//   Altogether w = e + 1e-7 + 92 u.
// - o is a weighted mean of v. Weights that are off by w move it by at most
//   2 w max |v|; its two sums over n keys, rescaled once per visit, add
//   8 sqrt(n) u max |v|. Rounding to the output type adds one roundoff, and in
//   fp16 half of the smallest subnormal number, 2^-25.
// - lse = max + log(sum): e + w + 4 sqrt(n) u + 2 u |lse|.
double kerneltest::expectAttends(const AttendProblem &problem,
                                 const AttendResult &result, double slack) {
  const KernelSpec &spec = problem.spec;
  const double u = roundoff(DType::F32);
  int64_t headDim = spec.headDim;
  double scale = problem.scale, largestError = 0;
  std::vector<double> exact(headDim);
  std::vector<double> q = values(problem.q), k = values(problem.k),
                      v = values(problem.v), o = values(result.o);
  int failures = 0;
  for (int64_t i = 0; i < problem.q.rows; ++i) {
    std::vector<std::pair<int64_t, double>> scores;
    double largest = -kInfinity, magnitude = 0, largestValue = 0;
    for (int32_t block : problem.lists[i / spec.blockQ])
      for (int64_t j = block * spec.blockK;
           j < std::min<int64_t>((block + 1) * spec.blockK, problem.k.rows);
           ++j) {
        if (spec.causal && j > i + problem.diag)
          continue;
        double score = 0, sum = 0;
        for (int64_t d = 0; d < headDim; ++d) {
          double product = q[i * headDim + d] * k[j * headDim + d];
          score += product;
          sum += std::fabs(product);
          largestValue = std::max(largestValue, std::fabs(v[j * headDim + d]));
        }
        scores.emplace_back(j, score * scale);
        largest = std::max(largest, score * scale);
        magnitude = std::max(magnitude, sum * scale);
      }
    double total = 0;
    std::fill(exact.begin(), exact.end(), 0.0);
    for (auto [j, score] : scores) {
      double weight = std::exp(score - largest);
      total += weight;
      for (int64_t d = 0; d < headDim; ++d)
        exact[d] += weight * v[j * headDim + d];
    }
    double n = static_cast<double>(scores.size());
    double scoreError =
        4 * std::sqrt(headDim) * u * magnitude + 2 * u * magnitude;
    double weightError = scoreError + 1e-7 + 92 * u;
    double exactLse = n > 0 ? largest + std::log(total) : -kInfinity;
    double lse = result.lse.get(i, 0);
    if (n == 0) {
      EXPECT_EQ(lse, -kInfinity) << "row " << i;
    } else {
      double bound = slack * (scoreError + weightError + 4 * std::sqrt(n) * u +
                              2 * u * std::fabs(exactLse));
      if (!(std::fabs(lse - exactLse) <= bound) && ++failures < 10)
        ADD_FAILURE() << spec.name() << " lse of row " << i << ": got " << lse
                      << ", expected " << exactLse << " within " << bound;
    }
    for (int64_t d = 0; d < headDim; ++d) {
      double value = n > 0 ? exact[d] / total : 0;
      double bound = 0;
      if (n > 0) {
        double step = roundoff(spec.outDtype);
        bound =
            slack * largestValue * (2 * weightError + 8 * std::sqrt(n) * u) +
            step * std::fabs(value) * (1 + 1e-3);
        if (spec.outDtype == DType::F16)
          bound += std::ldexp(1, -25);
      }
      double error = std::fabs(o[i * headDim + d] - value);
      largestError = std::max(largestError, error);
      if (!(error <= bound) && ++failures < 10)
        ADD_FAILURE() << spec.name() << " o[" << i << "][" << d << "]: got "
                      << o[i * headDim + d] << ", expected " << value
                      << " within " << bound;
    }
  }
  return largestError;
}

double kerneltest::checkAttend(const AttendProblem &problem,
                               const std::string &target) {
  return expectAttends(problem, runAttend(problem, target));
}
