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
#include "AttendLayout.h"
#include "KernelEmitter.h"

using namespace mlir;
using namespace mlir::sparseattn;

namespace {

constexpr double kLog2E = 1.442695040888963407;
constexpr double kLn2 = 0.693147180559945309;
constexpr int64_t kCacheLine = 64;

class AttendEmitter {
public:
  AttendEmitter(KernelEmitter &e, const sart::KernelSpec &spec)
      : e(e), spec(spec), layout(spec, e.target), f32(e.b.getF32Type()),
        reg(e.f32Vec()) {}

  func::FuncOp build();

private:
  using Values = KernelEmitter::Values;

  /// One visited kv-block, and the one after it.
  struct Visit {
    MatrixRows k, v;         ///< its rows, fp32
    MatrixRows nextK, nextV; ///< rows of the next listed block, as stored
    Value firstKey;          ///< number of its first key among all keys
    Value count;             ///< keys in the block
  };

  void makeViews();
  void initializePanel(Value panel);
  void packQueries(Value panel, Value validRows);
  Visit beginVisit(Value n, Value listLength);
  MatrixRows widenBlock(const MatrixRows &block, Value count,
                        Value scratchBlock);
  void attendPanel(const Visit &visit, Value panel);
  Values scoreTiles(const Visit &visit, Value panel, Value count);
  Values scoreTile(const Visit &visit, Value packed, Value t, int64_t rows,
                   ValueRange running);
  Values maskScores(Value count, Value offset);
  void outputTile(const Visit &visit, Value panel, Value count, Value feature,
                  ArrayRef<Value> rescale);
  void prefetchRows(const MatrixRows &matrix, Value row, int64_t rows,
                    Value panel);
  void finishPanel(Value panel);
  void writeRow(Value row);

  Value idx(int64_t i) { return e.index(i); }
  /// Column of vector `v` inside a panel.
  Value lane(int64_t v) { return idx(v * e.target.lanes); }
  /// The [headDim][width] part of a panel array that belongs to `panel`.
  Value panelFeatures(Value array, Value panel) {
    return e.window(e.rowsOf(array), e.mul(panel, idx(spec.headDim)), idx(0),
                    idx(spec.headDim), layout.width);
  }

  KernelEmitter &e;
  const sart::KernelSpec &spec;
  AttendLayout layout;
  Type f32;
  VectorType reg;
  Type outType;

  // Arguments.
  Value q, k, v, o, lse, list, scratch, qRow, diag, scale;
  // Scratch views.
  Value queries, outputs, weights, maxima, sums, wideKeys, wideValues, rounded;
};

} // namespace

void AttendEmitter::makeViews() {
  int64_t features = layout.panels * spec.headDim;
  auto panelArray = MemRefType::get({features, layout.width}, f32);
  auto rowArray = MemRefType::get({layout.panels, layout.width}, f32);
  auto block = MemRefType::get({spec.blockK, spec.headDim}, f32);
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
    e.loop(idx(0), idx(spec.headDim), idx(1), [&](Value d) {
      Value scaled = e.mulF(e.widen(e.load(q, {row, d})), factor);
      e.store(scaled, packed, {d, i});
    });
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
  e.loop(idx(0), idx(spec.headDim), idx(1),
         [&](Value d) { e.store(e.load(from, {d, i}), o, {target, d}); });
}

//===----------------------------------------------------------------------===//
// One visit
//===----------------------------------------------------------------------===//

AttendEmitter::Visit AttendEmitter::beginVisit(Value n, Value listLength) {
  auto firstKeyOf = [&](Value position) {
    return e.mul(e.toIndex(e.load(list, position)), idx(spec.blockK));
  };
  Visit visit;
  visit.firstKey = firstKeyOf(n);
  visit.count = e.minimum(e.sub(e.dim(k, 0), visit.firstKey), idx(spec.blockK));
  MatrixRows allKeys = e.rowsOf(k), allValues = e.rowsOf(v);
  visit.k = e.skipRows(allKeys, visit.firstKey);
  visit.v = e.skipRows(allValues, visit.firstKey);
  Value next =
      firstKeyOf(e.minimum(e.add(n, idx(1)), e.sub(listLength, idx(1))));
  visit.nextK = e.skipRows(allKeys, next);
  visit.nextV = e.skipRows(allValues, next);
  if (layout.widened) {
    visit.k = widenBlock(visit.k, visit.count, wideKeys);
    visit.v = widenBlock(visit.v, visit.count, wideValues);
  }
  return visit;
}

/// Copies `count` rows to fp32 scratch; returns the copy.
MatrixRows AttendEmitter::widenBlock(const MatrixRows &block, Value count,
                                     Value scratchBlock) {
  Type element = e.elementType(spec.dtype);
  Value from = e.window(block, idx(0), idx(0), count, spec.headDim);
  auto copy = [&](Value t, Value d, int64_t lanes) {
    Value narrow = e.loadVector(e.vec(element, lanes), from, {t, d});
    e.storeVector(e.widen(narrow), scratchBlock, {t, d});
  };
  int64_t lanes = e.target.lanes;
  int64_t whole = spec.headDim / lanes * lanes;
  e.loop(idx(0), count, idx(1), [&](Value t) {
    e.loop(idx(0), idx(whole), idx(lanes), [&](Value d) { copy(t, d, lanes); });
    if (whole != spec.headDim)
      copy(t, idx(whole), spec.headDim - whole);
  });
  return e.rowsOf(scratchBlock);
}

void AttendEmitter::attendPanel(const Visit &visit, Value panel) {
  Value count = visit.count;
  Value offset;
  if (spec.causal) {
    // Lane i of the panel sees key t of the block iff t <= offset + i.
    Value firstQuery = e.add(qRow, e.mul(panel, idx(layout.width)));
    offset = e.sub(e.add(firstQuery, diag), visit.firstKey);
    // Keys that no lane sees are left out, in whole tiles.
    Value seen = e.maximum(e.add(offset, idx(layout.width)), idx(0));
    Value tiles =
        e.ceilDiv(e.minimum(seen, idx(spec.blockK)), layout.scoreRows);
    count = e.minimum(e.mul(tiles, idx(layout.scoreRows)), count);
  }

  Values blockMaxima = scoreTiles(visit, panel, count);
  if (spec.causal) {
    // Only panels that cross the diagonal pay for the mask.
    SmallVector<Type> types(layout.vectors, reg);
    Value crosses =
        e.compare(arith::CmpIPredicate::slt, offset, e.sub(count, idx(1)));
    blockMaxima = e.branch(
        crosses, types, [&] { return maskScores(count, offset); },
        [&] { return blockMaxima; });
  }

  Values maximum, rescale, partialSums;
  for (int64_t i = 0; i < layout.vectors; ++i) {
    Value at[] = {panel, lane(i)};
    Value before = e.loadVector(reg, maxima, at);
    maximum.push_back(e.maximumF(before, blockMaxima[i]));
    e.storeVector(maximum[i], maxima, at);
    // -inf - -inf is NaN, for which exp2 gives 0: right for an empty row.
    rescale.push_back(e.exp2(e.subF(before, maximum[i])));
    partialSums.push_back(e.mulF(e.loadVector(reg, sums, at), rescale[i]));
  }
  partialSums = e.loop(
      idx(0), count, idx(1), partialSums, [&](Value t, ValueRange carried) {
        Values updated;
        for (int64_t i = 0; i < layout.vectors; ++i) {
          Value score = e.loadVector(reg, weights, {t, lane(i)});
          Value weight = e.exp2(e.subF(score, maximum[i]));
          e.storeVector(weight, weights, {t, lane(i)});
          updated.push_back(e.addF(carried[i], weight));
        }
        return updated;
      });
  for (int64_t i = 0; i < layout.vectors; ++i)
    e.storeVector(partialSums[i], sums, {panel, lane(i)});

  e.loop(idx(0), idx(spec.headDim), idx(layout.outputRows), [&](Value feature) {
    outputTile(visit, panel, count, feature, rescale);
  });
}

/// Scores of `count` keys against one panel into `weights`; returns the
/// lane-wise maxima.
AttendEmitter::Values AttendEmitter::scoreTiles(const Visit &visit, Value panel,
                                                Value count) {
  Values lowest(layout.vectors, e.negativeInfinity(reg));
  Value remainder =
      arith::RemSIOp::create(e.b, e.loc, count, idx(layout.scoreRows));
  Value whole = e.sub(count, remainder);
  Value packed = panelFeatures(queries, panel);
  Values result =
      e.loop(idx(0), whole, idx(layout.scoreRows), lowest,
             [&](Value t, ValueRange carried) {
               prefetchRows(visit.nextK, t, layout.scoreRows, panel);
               return scoreTile(visit, packed, t, layout.scoreRows, carried);
             });
  return e.loop(whole, count, idx(1), result, [&](Value t, ValueRange carried) {
    return scoreTile(visit, packed, t, 1, carried);
  });
}

AttendEmitter::Values AttendEmitter::scoreTile(const Visit &visit, Value packed,
                                               Value t, int64_t rows,
                                               ValueRange running) {
  int64_t n = layout.vectors;
  Value keys = e.window(visit.k, t, idx(0), idx(rows), spec.headDim);
  Values zeros(rows * n, e.real(reg, 0));
  Values scores =
      e.loop(idx(0), idx(spec.headDim), idx(1), zeros,
             [&](Value d, ValueRange carried) {
               Values query, updated;
               for (int64_t i = 0; i < n; ++i)
                 query.push_back(e.loadVector(reg, packed, {d, lane(i)}));
               for (int64_t r = 0; r < rows; ++r) {
                 Value key = e.splat(reg, e.load(keys, {idx(r), d}));
                 for (int64_t i = 0; i < n; ++i)
                   updated.push_back(e.fma(key, query[i], carried[r * n + i]));
               }
               return updated;
             });

  Value target =
      e.window(e.rowsOf(weights), t, idx(0), idx(rows), layout.width);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < n; ++i)
      e.storeVector(scores[r * n + i], target, {idx(r), lane(i)});

  Values result;
  for (int64_t i = 0; i < n; ++i) {
    Values level{running[i]};
    for (int64_t r = 0; r < rows; ++r)
      level.push_back(scores[r * n + i]);
    while (level.size() > 1) {
      Values next;
      for (size_t j = 0; j + 1 < level.size(); j += 2)
        next.push_back(e.maximumF(level[j], level[j + 1]));
      if (level.size() % 2)
        next.push_back(level.back());
      level = next;
    }
    result.push_back(level.front());
  }
  return result;
}

/// Replaces scores of invisible keys by -inf; returns the lane-wise maxima of
/// the others.
AttendEmitter::Values AttendEmitter::maskScores(Value count, Value offset) {
  Type i32 = e.b.getI32Type();
  VectorType lanes = e.vec(i32, e.target.lanes);
  // At -width and below no lane sees a key.
  Value low = e.castInteger(e.maximum(offset, idx(-layout.width)), i32);
  Values limits;
  for (int64_t i = 0; i < layout.vectors; ++i)
    limits.push_back(
        e.add(e.splat(lanes, low), e.iota(i * e.target.lanes, e.target.lanes)));
  Values lowest(layout.vectors, e.negativeInfinity(reg));
  return e.loop(
      idx(0), count, idx(1), lowest, [&](Value t, ValueRange carried) {
        Value key = e.splat(lanes, e.castInteger(t, i32));
        Values updated;
        for (int64_t i = 0; i < layout.vectors; ++i) {
          Value at[] = {t, lane(i)};
          Value seen = e.compare(arith::CmpIPredicate::sle, key, limits[i]);
          Value score = e.select(seen, e.loadVector(reg, weights, at),
                                 e.negativeInfinity(reg));
          e.storeVector(score, weights, at);
          updated.push_back(e.maximumF(carried[i], score));
        }
        return updated;
      });
}

void AttendEmitter::outputTile(const Visit &visit, Value panel, Value count,
                               Value feature, ArrayRef<Value> rescale) {
  int64_t n = layout.vectors, rows = layout.outputRows;
  // Each tile fetches its share of the next block's V.
  int64_t tiles = spec.headDim / rows;
  int64_t share = (spec.blockK + tiles - 1) / tiles;
  Value tile = arith::DivUIOp::create(e.b, e.loc, feature, idx(rows));
  prefetchRows(visit.nextV, e.mul(tile, idx(share)), share, panel);

  Value values = e.window(visit.v, idx(0), feature, count, rows);
  Value results = e.window(e.rowsOf(outputs),
                           e.add(e.mul(panel, idx(spec.headDim)), feature),
                           idx(0), idx(rows), layout.width);
  Values accumulators;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < n; ++i)
      accumulators.push_back(
          e.mulF(e.loadVector(reg, results, {idx(r), lane(i)}), rescale[i]));
  accumulators = e.loop(
      idx(0), count, idx(1), accumulators, [&](Value t, ValueRange carried) {
        Values weight, updated;
        for (int64_t i = 0; i < n; ++i)
          weight.push_back(e.loadVector(reg, weights, {t, lane(i)}));
        for (int64_t r = 0; r < rows; ++r) {
          Value value = e.splat(reg, e.load(values, {t, idx(r)}));
          for (int64_t i = 0; i < n; ++i)
            updated.push_back(e.fma(value, weight[i], carried[r * n + i]));
        }
        return updated;
      });
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < n; ++i)
      e.storeVector(accumulators[r * n + i], results, {idx(r), lane(i)});
}

/// Fetches one panel's share of the cache lines of `rows` rows. The address may
/// lie beyond the tensor, which the hardware ignores.
void AttendEmitter::prefetchRows(const MatrixRows &matrix, Value row,
                                 int64_t rows, Value panel) {
  int64_t elementBytes = layout.widened ? 2 : 4;
  int64_t perLine = kCacheLine / elementBytes;
  int64_t lines = (spec.headDim + perLine - 1) / perLine;
  int64_t share = (lines + layout.panels - 1) / layout.panels;
  Value column = e.mul(panel, idx(share * perLine));
  Value next = e.window(matrix, row, column, idx(rows), share * perLine);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t line = 0; line < share; ++line)
      e.prefetch(next, {idx(r), idx(line * perLine)});
}

func::FuncOp mlir::sparseattn::buildAttendKernel(KernelEmitter &e,
                                                 const sart::KernelSpec &spec) {
  return AttendEmitter(e, spec).build();
}
