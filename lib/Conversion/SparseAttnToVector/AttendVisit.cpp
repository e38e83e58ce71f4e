//===- AttendVisit.cpp - One kv-block against one q-block -----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttendEmitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::sparseattn;

static constexpr int64_t kCacheLine = 64;
/// Iterations of the innermost loops side by side: 3 % faster than one; eight
/// gain nothing more and take longer to compile.
static constexpr int64_t kUnroll = 4;

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
    int64_t unroll = whole % (lanes * kUnroll) ? 1 : kUnroll;
    e.loop(idx(0), idx(whole), idx(lanes * unroll), [&](Value d) {
      for (int64_t i = 0; i < unroll; ++i)
        copy(t, i ? e.add(d, idx(i * lanes)) : d, lanes);
    });
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
        e.ceilDiv(e.minimum(seen, idx(spec.blockK)), layout.scoreTiles.high);
    count = e.minimum(e.mul(tiles, idx(layout.scoreTiles.high)), count);
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

  outputTiles(visit, panel, count, rescale);
}

/// Scores of `count` keys against one panel into `weights`; returns the
/// lane-wise maxima.
AttendEmitter::Values AttendEmitter::scoreTiles(const Visit &visit, Value panel,
                                                Value count) {
  Value packed = panelFeatures(queries, panel);
  Values maxima(layout.vectors, e.negativeInfinity(reg));
  Value begin = idx(0);
  auto tiles = [&](Value end, int64_t rows) {
    maxima =
        e.loop(begin, end, idx(rows), maxima, [&](Value t, ValueRange carried) {
          if (rows == 1)
            return scoreTile(visit, packed, t, 1, carried, nullptr);
          Fetch fetch = shareOf(visit.nextK, t, rows, panel);
          return scoreTile(visit, packed, t, rows, carried, &fetch);
        });
    begin = end;
  };
  Value end = count;
  if (layout.scoreTiles.low) {
    // Enough low tiles that high ones take up the rest; see RowTiles.
    Value even = arith::AndIOp::create(e.b, e.loc, count, idx(-2));
    Value missing = e.modulo(e.sub(idx(6), e.modulo(even, 6)), 6);
    Value wanted = arith::DivUIOp::create(e.b, e.loc, missing, idx(2));
    Value most = arith::DivUIOp::create(e.b, e.loc, even, idx(4));
    Value low = e.mul(e.minimum(wanted, most), idx(4));
    Value high = e.sub(even, low);
    high = e.sub(high, e.modulo(high, 6));
    tiles(high, layout.scoreTiles.high);
    tiles(e.add(high, low), layout.scoreTiles.low);
  } else {
    int64_t rows = layout.scoreTiles.high;
    tiles(e.sub(count, e.modulo(count, rows)), rows);
  }
  tiles(end, 1);
  return maxima;
}

AttendEmitter::Values AttendEmitter::scoreTile(const Visit &visit, Value packed,
                                               Value t, int64_t rows,
                                               ValueRange running,
                                               const Fetch *fetch) {
  int64_t n = layout.vectors;
  // A window for each row gives each a base address of its own; with one for
  // all, the code generator adds the stride up row by row.
  Values keys;
  for (int64_t r = 0; r < rows; ++r)
    keys.push_back(e.window(visit.k, r ? e.add(t, idx(r)) : t, idx(0), idx(1),
                            spec.headDim));
  auto accumulate = [&](Value d, ValueRange carried) {
    Values query, updated;
    for (int64_t i = 0; i < n; ++i)
      query.push_back(e.loadVector(reg, packed, {d, lane(i)}));
    for (int64_t r = 0; r < rows; ++r) {
      Value key = e.splat(reg, e.load(keys[r], {idx(0), d}));
      for (int64_t i = 0; i < n; ++i)
        updated.push_back(e.fma(key, query[i], carried[r * n + i]));
    }
    return updated;
  };
  Values scores(rows * n, e.real(reg, 0));
  Value end = idx(spec.headDim);
  if (fetch)
    scores = fetchingLoop(end, spec.headDim, *fetch, scores, accumulate);
  else
    scores = e.loop(idx(0), end, idx(1), scores, accumulate);

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
  // From -width down no lane sees a key: `count` is 0 and a value that does not
  // fit 32 bits is not used. From `count` up nothing is masked.
  Value low = e.castInteger(offset, i32);
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

void AttendEmitter::outputTiles(const Visit &visit, Value panel, Value count,
                                ArrayRef<Value> rescale) {
  const RowTiles &tiles = layout.outputTiles;
  int64_t lowTiles = tiles.lowCount(spec.headDim);
  int64_t low = spec.headDim - lowTiles * tiles.low;
  int64_t highTiles = low / tiles.high;
  // Each tile fetches its share of the next block's V.
  int64_t all = highTiles + lowTiles, share = (spec.blockK + all - 1) / all;
  auto emit = [&](int64_t first, int64_t end, int64_t rows, int64_t before) {
    if (first == end)
      return;
    e.loop(idx(first), idx(end), idx(rows), [&](Value feature) {
      Value tile = e.add(arith::DivUIOp::create(
                             e.b, e.loc, e.sub(feature, idx(first)), idx(rows)),
                         idx(before));
      // Small blocks have fewer rows than there are tiles.
      Value row = e.minimum(e.mul(tile, idx(share)), idx(spec.blockK - share));
      Fetch fetch = shareOf(visit.nextV, row, share, panel);
      outputTile(visit, panel, count, feature, rows, rescale, fetch);
    });
  };
  emit(0, low, tiles.high, 0);
  emit(low, spec.headDim, tiles.low, highTiles);
}

void AttendEmitter::outputTile(const Visit &visit, Value panel, Value count,
                               Value feature, int64_t rows,
                               ArrayRef<Value> rescale, const Fetch &fetch) {
  int64_t n = layout.vectors;
  Value values = e.window(visit.v, idx(0), feature, count, rows);
  Value results = e.window(e.rowsOf(outputs),
                           e.add(e.mul(panel, idx(spec.headDim)), feature),
                           idx(0), idx(rows), layout.width);
  Values accumulators;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < n; ++i)
      accumulators.push_back(
          e.mulF(e.loadVector(reg, results, {idx(r), lane(i)}), rescale[i]));
  accumulators = fetchingLoop(
      count, spec.blockK, fetch, accumulators,
      [&](Value t, ValueRange carried) {
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

/// The part of `rows` rows of the next block, from `row` on, that one panel
/// fetches during one loop.
AttendEmitter::Fetch AttendEmitter::shareOf(const MatrixRows &next, Value row,
                                            int64_t rows, Value panel) {
  int64_t perLine = kCacheLine / sart::byteSize(spec.dtype);
  int64_t lines = (spec.headDim + perLine - 1) / perLine;
  Fetch fetch;
  fetch.count = rows;
  fetch.perLine = perLine;
  fetch.lines = (lines + layout.panels - 1) / layout.panels;
  fetch.rows = e.skipRows(next, row);
  fetch.column = e.mul(panel, idx(fetch.lines * perLine));
  return fetch;
}

/// A loop from 0 to `end`, which is `usual` or less, that fetches a row of
/// `fetch` every few iterations. All rows at once would occupy the fill
/// buffers, and loads of the tile would wait behind them; a line at a time
/// costs instructions that compete with the products. The address may lie
/// beyond the tensor, which the hardware ignores.
AttendEmitter::Values AttendEmitter::fetchingLoop(
    Value end, int64_t usual, const Fetch &fetch, ValueRange carried,
    llvm::function_ref<Values(Value, ValueRange)> body) {
  auto unrolled = [&](Value first, ValueRange values) {
    Values updated(values);
    for (int64_t i = 0; i < kUnroll; ++i)
      updated = body(i ? e.add(first, idx(i)) : first, updated);
    return updated;
  };
  int64_t chunk = (usual + fetch.count - 1) / fetch.count;
  chunk = (chunk + kUnroll - 1) / kUnroll * kUnroll;
  std::optional<int64_t> constantEnd = getConstantIntValue(end);
  bool divides = constantEnd && *constantEnd % kUnroll == 0;
  Value whole = divides ? end : e.sub(end, e.modulo(end, kUnroll));
  Values result = e.loop(
      idx(0), whole, idx(chunk), carried, [&](Value begin, ValueRange outer) {
        Value row = arith::DivUIOp::create(e.b, e.loc, begin, idx(chunk));
        Value next = e.window(fetch.rows, row, fetch.column, idx(1),
                              fetch.lines * fetch.perLine);
        for (int64_t line = 0; line < fetch.lines; ++line)
          e.prefetch(next, {idx(0), idx(line * fetch.perLine)});
        Value stop = e.minimum(e.add(begin, idx(chunk)), whole);
        return e.loop(begin, stop, idx(kUnroll), outer, unrolled);
      });
  return divides ? result : e.loop(whole, end, idx(1), result, body);
}
