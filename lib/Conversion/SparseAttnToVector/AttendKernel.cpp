//===- AttendKernel.cpp - Block-sparse attention of one q-block row -------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One call computes the rows [qRow, qRow + blockQ) of one head, as far as they
// exist, against the listed kv-blocks:
//   o[i] = sum_j p_ij v[j] / sum_j p_ij,  p_ij = exp(scale q[i].k[j] - max_i)
//   lse[i] = log sum_j exp(scale q[i].k[j])
// A row that sees no key gets o = 0 and lse = -inf. With `causal`, row i sees
// key j if and only if j <= i + diag.
//
// Vector lanes are queries: the kernel computes S^T = K Q^T and O^T += V^T P^T
// with the running softmax of FlashAttention (Dao et al., 2022) in base 2. K
// and V are then read as scalars that are broadcast, straight from the caller's
// rows: nothing is packed per visit, tails are loop bounds, and row maximum,
// row sum and rescaling are lane-wise. Only Q is transposed on entry, with
// scale * log2(e) folded into the fp32 values, and O on exit. 16-bit K and V
// are widened once per visit.
//
//===----------------------------------------------------------------------===//
#include "AttendEmitter.h"

using namespace mlir;
using namespace mlir::sparseattn;

static constexpr double kLog2E = 1.442695040888963407;
static constexpr double kLn2 = 0.693147180559945309;

void AttendEmitter::makeViews() {
  int64_t features = layout.panels * spec.headDim;
  auto panelArray = MemRefType::get({features, layout.width}, f32);
  auto rowArray = MemRefType::get({layout.panels, layout.width}, f32);
  auto block = MemRefType::get({spec.blockK, layout.widePitch}, f32);
  queries = e.view(scratch, layout.queries, panelArray);
  outputs = e.view(scratch, layout.outputs, panelArray);
  weights = e.view(scratch, layout.weights,
                   MemRefType::get({spec.blockK, layout.width}, f32));
  maxima = e.view(scratch, layout.maxima, rowArray);
  sums = e.view(scratch, layout.sums, rowArray);
  if (layout.widened) {
    wideKeys = e.view(scratch, layout.keys, block);
    wideValues = e.view(scratch, layout.values, block);
  }
  // Results in the output type, still transposed; the queries are done by then.
  rounded = e.view(scratch, layout.queries,
                   MemRefType::get({features, layout.width}, outType));
}

func::FuncOp AttendEmitter::build() {
  Type element = e.elementType(spec.dtype);
  outType = e.elementType(spec.outDtype);
  Type index = e.b.getIndexType();
  MemRefType rows = e.rowsType(element, spec.headDim);
  Type arguments[] = {rows,
                      rows,
                      rows,
                      e.rowsType(outType, spec.headDim),
                      e.stridedType(f32),
                      e.flatType(e.b.getI32Type()),
                      e.flatType(e.b.getI8Type()),
                      index,
                      index,
                      f32};
  func::FuncOp func = e.beginFunction(spec, arguments, layout.bytes, 0);
  Value *names[] = {&q,    &k,       &v,    &o,    &lse,
                    &list, &scratch, &qRow, &diag, &scale};
  for (auto [i, name] : llvm::enumerate(names))
    *name = e.argument(i);
  makeViews();

  Value validRows = e.minimum(e.sub(e.dim(q, 0), qRow), idx(spec.blockQ));
  Value panels = e.ceilDiv(validRows, layout.width);
  e.loop(idx(0), panels, idx(1), [&](Value panel) {
    initializePanel(panel);
    packQueries(panel, validRows);
  });

  Value listLength = e.dim(list, 0);
  e.loop(idx(0), listLength, idx(1), [&](Value n) {
    Visit visit = beginVisit(n, listLength);
    // Panels outermost: the scores of one panel stay near the first-level
    // cache from Q K^T to P V.
    e.loop(idx(0), panels, idx(1),
           [&](Value panel) { attendPanel(visit, panel); });
  });

  e.loop(idx(0), panels, idx(1), [&](Value panel) { finishPanel(panel); });
  e.loop(idx(0), validRows, idx(1), [&](Value row) { writeRow(row); });
  e.endFunction();
  return func;
}

//===----------------------------------------------------------------------===//
// Entry and exit
//===----------------------------------------------------------------------===//

void AttendEmitter::initializePanel(Value panel) {
  Value zero = e.real(reg, 0);
  for (int64_t i = 0; i < layout.vectors; ++i) {
    e.storeVector(e.negativeInfinity(reg), maxima, {panel, lane(i)});
    e.storeVector(zero, sums, {panel, lane(i)});
  }
  Value accumulators = panelFeatures(outputs, panel);
  e.loop(idx(0), idx(spec.headDim), idx(1), [&](Value d) {
    for (int64_t i = 0; i < layout.vectors; ++i)
      e.storeVector(zero, accumulators, {d, lane(i)});
  });
}

void AttendEmitter::packQueries(Value panel, Value validRows) {
  Value factor = e.mulF(scale, e.real(f32, kLog2E));
  Value first = e.mul(panel, idx(layout.width));
  Value last = e.sub(validRows, idx(1));
  Value packed = panelFeatures(queries, panel);
  e.loop(idx(0), idx(layout.width), idx(1), [&](Value i) {
    // Lanes without a query repeat the last one; their results are not written.
    Value row = e.add(qRow, e.minimum(e.add(first, i), last));
    forEachFeature([&](Value d) {
      Value scaled = e.mulF(e.widen(e.load(q, {row, d})), factor);
      e.store(scaled, packed, {d, i});
    });
  });
}

/// Scalar copies are bound by loop control; four at a time halve their cost.
void AttendEmitter::forEachFeature(llvm::function_ref<void(Value)> body) {
  constexpr int64_t kUnroll = 4;
  e.loop(idx(0), idx(spec.headDim), idx(kUnroll), [&](Value first) {
    for (int64_t i = 0; i < kUnroll; ++i)
      body(i ? e.add(first, idx(i)) : first);
  });
}

void AttendEmitter::finishPanel(Value panel) {
  Value zero = e.real(reg, 0);
  Values inverse;
  for (int64_t i = 0; i < layout.vectors; ++i) {
    Value at[] = {panel, lane(i)};
    Value sum = e.loadVector(reg, sums, at);
    Value nonEmpty = e.compareF(arith::CmpFPredicate::OGT, sum, zero);
    Value natural =
        e.fma(e.loadVector(reg, maxima, at), e.real(reg, kLn2), e.log(sum));
    e.storeVector(e.select(nonEmpty, natural, e.negativeInfinity(reg)), maxima,
                  at);
    inverse.push_back(e.select(nonEmpty, e.divF(e.real(reg, 1), sum), zero));
  }
  Value from = panelFeatures(outputs, panel),
        to = panelFeatures(rounded, panel);
  e.loop(idx(0), idx(spec.headDim), idx(1), [&](Value d) {
    for (int64_t i = 0; i < layout.vectors; ++i) {
      Value result = e.mulF(e.loadVector(reg, from, {d, lane(i)}), inverse[i]);
      e.storeVector(e.narrow(result, outType), to, {d, lane(i)});
    }
  });
}

void AttendEmitter::writeRow(Value row) {
  Value panel = arith::DivUIOp::create(e.b, e.loc, row, idx(layout.width));
  Value i = arith::RemUIOp::create(e.b, e.loc, row, idx(layout.width));
  Value target = e.add(qRow, row);
  e.store(e.load(maxima, {panel, i}), lse, target);
  Value from = panelFeatures(rounded, panel);
  forEachFeature(
      [&](Value d) { e.store(e.load(from, {d, i}), o, {target, d}); });
}

func::FuncOp mlir::sparseattn::buildAttendKernel(KernelEmitter &e,
                                                 const sart::KernelSpec &spec) {
  return AttendEmitter(e, spec).build();
}
