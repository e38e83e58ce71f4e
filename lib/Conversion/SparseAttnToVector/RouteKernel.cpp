//===- RouteKernel.cpp - Top-p selection of kv-blocks for one q-block -----===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Candidates are the kv-blocks [0, visible). score = scale * (pq[row] . pk[j]),
// prob = softmax of the scores. In the order (score descending, index
// ascending), the shortest prefix whose probabilities sum to at least p and
// that has at least minBlocks (clamped to [1, visible]) blocks is kept; p >= 1
// keeps all. Candidates in a `keep` range are kept as well. `out` gets the
// number of kept blocks and their indices, ascending; what lies beyond them is
// not written. stats gets the sum of the kept probabilities and, for 0 < p < 1,
// the number of blocks whose cumulative sum lies within 1e-5 of p (else 0).
//
// Everything is computed in fp64, from exact products of the fp32 inputs, so
// that the choice equals that of any other fp64 evaluation save for cumulative
// sums that agree with p to rounding.
//
// There is no sort. The cut is found by bisection over the scores' bit
// patterns, mapped to integers of the same order: the largest pattern T for
// which the blocks at or above T suffice. Blocks above T are kept, of those
// equal to T as many as are needed, by ascending index. The bisection stops as
// soon as one block is left in the interval. The same search with p -+ 1e-5
// gives the second figure of stats.
//
//===----------------------------------------------------------------------===//
#include "KernelEmitter.h"

using namespace mlir;
using namespace mlir::sparseattn;

namespace {

constexpr double kLog2E = 1.442695040888963407;
constexpr double kTieWidth = 1e-5;
/// Arrays are padded to a multiple of this many elements.
constexpr int64_t kPadding = 8;

class RouteEmitter {
public:
  RouteEmitter(KernelEmitter &e, const sart::KernelSpec &spec)
      : e(e), spec(spec), lanes(e.target.lanes / 2), f32(e.b.getF32Type()),
        f64(e.b.getF64Type()), i32(e.b.getI32Type()), i64(e.b.getI64Type()),
        wide(e.vec(f64, lanes)), wideInteger(e.vec(i64, lanes)) {}

  func::FuncOp build();

private:
  using Values = KernelEmitter::Values;

  void makeViews();
  void computeScores();
  void computeProbabilities();
  /// Marks the shortest prefix that reaches `mass` and has `count` blocks;
  /// returns how many blocks it has and their mass.
  std::pair<Value, Value> markPrefix(Value mass, Value count);
  /// Blocks in order whose cumulative sum is below `mass`.
  Value blocksBelow(Value mass);
  void markKeepRanges();
  void writeResult(Value near);
  void writeEmpty();

  Value idx(int64_t i) { return e.index(i); }
  Value ordered(Value scores);
  Value toDouble(Value value) {
    return arith::ExtFOp::create(e.b, e.loc, e.like(value, f64), value);
  }
  Value toSingle(Value value) {
    return arith::TruncFOp::create(e.b, e.loc, f32, value);
  }

  KernelEmitter &e;
  const sart::KernelSpec &spec;
  int64_t lanes; ///< fp64 values in one register
  Type f32, f64, i32, i64;
  VectorType wide, wideInteger;

  // Arguments.
  Value pooledQ, pooledK, out, scratch, row, visible, scale, p, minBlocks, keep,
      stats;
  // Scratch views, and the padded number of candidates.
  Value padded, query, scores, probabilities, keys, flags;
  Value minScore, maxScore;
};

} // namespace

int64_t mlir::sparseattn::routeScratchBytes(const sart::KernelSpec &spec,
                                            const CpuTarget &) {
  return spec.headDim * 8 + kPadding * routeScratchBytesPerBlock();
}

int64_t mlir::sparseattn::routeScratchBytesPerBlock() {
  return 8 + 8 + 8 + 1; // score, probability, key, flag
}

func::FuncOp RouteEmitter::build() {
  Type index = e.b.getIndexType();
  MemRefType rows = e.rowsType(f32, spec.headDim);
  Type arguments[] = {rows,
                      rows,
                      e.flatType(i32),
                      e.flatType(e.b.getI8Type()),
                      index,
                      index,
                      f32,
                      f32,
                      index,
                      e.flatType(i32),
                      e.flatType(f32)};
  func::FuncOp func =
      e.beginFunction(spec, arguments, routeScratchBytes(spec, e.target),
                      routeScratchBytesPerBlock());
  Value *names[] = {&pooledQ, &pooledK, &out,       &scratch, &row,  &visible,
                    &scale,   &p,       &minBlocks, &keep,    &stats};
  for (auto [i, name] : llvm::enumerate(names))
    *name = e.argument(i);

  visible = e.minimum(visible, e.dim(pooledK, 0));
  p = toDouble(p);
  Value none = e.compare(arith::CmpIPredicate::sle, visible, idx(0));
  e.branch(
      none, {},
      [&]() -> Values {
        writeEmpty();
        return {};
      },
      [&]() -> Values {
        makeViews();
        computeScores();
        computeProbabilities();

        Value one = e.real(f64, 1);
        Value undecided =
            e.both(e.compareF(arith::CmpFPredicate::OGT, p, e.real(f64, 0)),
                   e.compareF(arith::CmpFPredicate::OLT, p, one));
        Value near = e.branch(
            undecided, {index},
            [&]() -> Values {
              // One copy of the search: round 0 looks below p, round 1 above.
              return e.loop(
                  idx(0), idx(2), idx(1), {idx(0)},
                  [&](Value round, ValueRange carried) -> Values {
                    Value first =
                        e.compare(arith::CmpIPredicate::eq, round, idx(0));
                    Value delta = e.select(first, e.real(f64, -kTieWidth),
                                           e.real(f64, kTieWidth));
                    return {e.sub(blocksBelow(e.addF(p, delta)), carried[0])};
                  });
            },
            [&]() -> Values { return {idx(0)}; })[0];

        Value all = e.compareF(arith::CmpFPredicate::OGE, p, one);
        Value least = e.minimum(e.maximum(minBlocks, idx(1)), visible);
        markPrefix(p, e.select(all, visible, least));
        markKeepRanges();
        writeResult(near);
        return {};
      });
  e.endFunction();
  return func;
}

void RouteEmitter::makeViews() {
  padded = e.mul(e.ceilDiv(visible, kPadding), idx(kPadding));
  auto at = [&](int64_t array) {
    return e.add(idx(spec.headDim * 8), e.mul(padded, idx(array * 8)));
  };
  query = e.view(scratch, 0, MemRefType::get({spec.headDim}, f64));
  scores = e.view(scratch, at(0), e.flatType(f64), padded);
  probabilities = e.view(scratch, at(1), e.flatType(f64), padded);
  keys = e.view(scratch, at(2), e.flatType(i64), padded);
  flags = e.view(scratch, at(3), e.flatType(e.b.getI8Type()), padded);
}

/// Fills `scores`, with -inf beyond the candidates.
void RouteEmitter::computeScores() {
  VectorType narrow = e.vec(f32, lanes);
  e.loop(idx(0), idx(spec.headDim), idx(lanes), [&](Value d) {
    e.storeVector(toDouble(e.loadVector(narrow, pooledQ, {row, d})), query, d);
  });
  Value factor = toDouble(scale);
  Value infinity = e.negativeInfinity(f64);
  Values extremes = e.loop(
      idx(0), visible, idx(1), {e.subF(e.real(f64, 0), infinity), infinity},
      [&](Value j, ValueRange carried) -> Values {
        Value dot =
            e.loop(idx(0), idx(spec.headDim), idx(lanes), {e.real(wide, 0)},
                   [&](Value d, ValueRange sum) -> Values {
                     Value key =
                         toDouble(e.loadVector(narrow, pooledK, {j, d}));
                     return {e.fma(e.loadVector(wide, query, d), key, sum[0])};
                   })[0];
        // Sums start from +0, so all zero scores have the same sign and with
        // it the same bits.
        Value score = e.mulF(e.sumLanes(dot), factor);
        e.store(score, scores, j);
        Value less = e.compareF(arith::CmpFPredicate::OLT, score, carried[0]);
        return {e.select(less, score, carried[0]),
                e.maximumF(score, carried[1])};
      });
  minScore = extremes[0];
  maxScore = extremes[1];
  e.loop(visible, padded, idx(1),
         [&](Value j) { e.store(infinity, scores, j); });
}

/// Integers with the order of the scores.
Value RouteEmitter::ordered(Value value) {
  Type type = e.like(value, i64);
  Value bits = e.bitcast(type, value);
  // Negative numbers: all bits but the sign are inverted.
  Value sign = arith::ShRSIOp::create(e.b, e.loc, bits, e.integer(type, 63));
  Value mask = arith::ShRUIOp::create(e.b, e.loc, sign, e.integer(type, 1));
  return arith::XOrIOp::create(e.b, e.loc, bits, mask);
}

void RouteEmitter::computeProbabilities() {
  Value top = e.splat(wide, maxScore);
  Value total = e.loop(idx(0), padded, idx(lanes), {e.real(wide, 0)},
                       [&](Value j, ValueRange carried) -> Values {
                         Value score = e.loadVector(wide, scores, j);
                         Value exponent =
                             e.mulF(e.subF(score, top), e.real(wide, kLog2E));
                         Value weight = e.exp2(exponent);
                         e.storeVector(weight, probabilities, j);
                         e.storeVector(ordered(score), keys, j);
                         return {e.addF(carried[0], weight)};
                       })[0];
  Value sum = e.splat(wide, e.sumLanes(total));
  e.loop(idx(0), padded, idx(lanes), [&](Value j) {
    Value weight = e.loadVector(wide, probabilities, j);
    e.storeVector(e.divF(weight, sum), probabilities, j);
  });
}

std::pair<Value, Value> RouteEmitter::markPrefix(Value mass, Value count) {
  using arith::CmpIPredicate;
  Value wanted = e.castInteger(count, i64);
  auto suffices = [&](Value gotMass, Value gotCount) {
    return e.both(e.compareF(arith::CmpFPredicate::OGE, gotMass, mass),
                  e.compare(CmpIPredicate::sge, gotCount, wanted));
  };
  Value zero = e.integer(i64, 0), one = e.integer(i64, 1);

  // Blocks at or above `low` suffice (or are all), those at or above `high` do
  // not. Carried: low, high, blocks at or above each, mass at or above high.
  Values cut = e.repeat(
      {ordered(minScore), e.add(ordered(maxScore), one),
       e.castInteger(visible, i64), zero, e.real(f64, 0)},
      [&](ValueRange c) {
        // Unsigned, as the keys may be further apart than 2^63.
        Value apart = e.compare(CmpIPredicate::ugt, e.sub(c[1], c[0]), one);
        Value several = e.compare(CmpIPredicate::sgt, e.sub(c[2], c[3]), one);
        return e.both(apart, several);
      },
      [&](ValueRange c) -> Values {
        Value half = arith::ShRUIOp::create(e.b, e.loc, e.sub(c[1], c[0]), one);
        Value middle = e.add(c[0], half);
        Value limit = e.splat(wideInteger, middle);
        Values sums = e.loop(
            idx(0), padded, idx(lanes),
            {e.real(wide, 0), e.integer(wideInteger, 0)},
            [&](Value j, ValueRange carried) -> Values {
              Value key = e.loadVector(wideInteger, keys, j);
              Value above = e.compare(CmpIPredicate::sge, key, limit);
              Value weight = e.loadVector(wide, probabilities, j);
              return {
                  e.addF(carried[0], e.select(above, weight, e.real(wide, 0))),
                  e.add(carried[1], e.select(above, e.integer(wideInteger, 1),
                                             e.integer(wideInteger, 0)))};
            });
        Value gotMass = e.sumLanes(sums[0]), gotCount = e.sumLanes(sums[1]);
        Value enough = suffices(gotMass, gotCount);
        return {e.select(enough, middle, c[0]), e.select(enough, c[1], middle),
                e.select(enough, gotCount, c[2]),
                e.select(enough, c[3], gotCount),
                e.select(enough, c[4], gotMass)};
      });

  Type i8 = e.b.getI8Type();
  Values got = e.loop(
      idx(0), visible, idx(1), {cut[3], cut[4]},
      [&](Value j, ValueRange carried) -> Values {
        Value key = e.load(keys, j);
        Value above = e.compare(CmpIPredicate::sge, key, cut[1]);
        Value atLeast = e.compare(CmpIPredicate::sge, key, cut[0]);
        Value missing =
            arith::XOrIOp::create(e.b, e.loc, suffices(carried[1], carried[0]),
                                  e.integer(e.b.getI1Type(), 1));
        Value inside = e.select(above, e.integer(e.b.getI1Type(), 0), atLeast);
        Value taken = e.both(inside, missing);
        e.store(arith::ExtUIOp::create(e.b, e.loc, i8, e.either(above, taken)),
                flags, j);
        Value weight =
            e.select(taken, e.load(probabilities, j), e.real(f64, 0));
        return {e.add(carried[0], e.select(taken, one, zero)),
                e.addF(carried[1], weight)};
      });
  return {got[0], got[1]};
}

Value RouteEmitter::blocksBelow(Value mass) {
  auto [count, got] = markPrefix(mass, idx(1));
  Value blocks = e.castInteger(count, e.b.getIndexType());
  Value reached = e.compareF(arith::CmpFPredicate::OGE, got, mass);
  return e.select(reached, e.sub(blocks, idx(1)), blocks);
}

void RouteEmitter::markKeepRanges() {
  Value set = e.integer(e.b.getI8Type(), 1);
  Value end = e.sub(e.dim(keep, 0), idx(1)); // a lone last value is no range
  e.loop(idx(0), end, idx(2), [&](Value i) {
    Value first = e.maximum(e.toIndex(e.load(keep, i)), idx(0));
    Value last = e.minimum(e.toIndex(e.load(keep, e.add(i, idx(1)))), visible);
    e.loop(first, last, idx(1), [&](Value j) { e.store(set, flags, j); });
  });
}

void RouteEmitter::writeResult(Value near) {
  Values kept = e.loop(
      idx(0), visible, idx(1), {idx(0), e.real(f64, 0)},
      [&](Value j, ValueRange carried) -> Values {
        Value flag = e.compare(arith::CmpIPredicate::ne, e.load(flags, j),
                               e.integer(e.b.getI8Type(), 0));
        Value next = e.add(carried[0], idx(1));
        e.when(flag, [&] { e.store(e.castInteger(j, i32), out, next); });
        Value weight = e.select(flag, e.load(probabilities, j), e.real(f64, 0));
        return {e.select(flag, next, carried[0]), e.addF(carried[1], weight)};
      });
  e.store(e.castInteger(kept[0], i32), out, idx(0));
  e.store(toSingle(kept[1]), stats, idx(0));
  e.store(arith::SIToFPOp::create(e.b, e.loc, f32, e.castInteger(near, i64)),
          stats, idx(1));
}

void RouteEmitter::writeEmpty() {
  e.store(e.integer(i32, 0), out, idx(0));
  e.store(e.real(f32, 0), stats, idx(0));
  e.store(e.real(f32, 0), stats, idx(1));
}

func::FuncOp mlir::sparseattn::buildRouteKernel(KernelEmitter &e,
                                                const sart::KernelSpec &spec) {
  return RouteEmitter(e, spec).build();
}
