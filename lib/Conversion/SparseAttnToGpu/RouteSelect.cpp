//===- RouteSelect.cpp - Top-p selection of a row by one warp -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Semantics: design of the reference (RouteKernel.cpp of the CPU kernels says
// them in full). Masses are exp(score - largest score), not divided by their
// sum: the sums they are compared with are multiplied by it.
//
// There is no sort. An interval of scores is halved until it holds at most 32
// candidates, which are then ranked, one by each lane; or until it holds one
// value that more than 32 candidates have, of which the first by index are
// taken. The halving is by value, as scores are spread evenly where it
// matters, and after some steps by bit pattern, which bounds their number. The
// cut is the last kept block; a block is kept if its score is higher, or equal
// and its index not above.
//
// Blocks whose cumulative mass is near the threshold are among the ranked ones
// if the masses at both ends of the interval are not near; if not, two more
// searches count them.
//
//===----------------------------------------------------------------------===//
#include "RouteEmitter.h"

#include <limits>

using namespace mlir;
using namespace mlir::sparseattn;

static constexpr double kTieWidth = 1e-5;
/// Candidates that one step of ranking takes.
static constexpr int64_t kWindow = 32;
/// Steps of halving by value; by bit pattern, 64 are enough.
static constexpr int64_t kValueSteps = 12;
/// Scratch of a warp: pairs of the window, then their indices.
static constexpr int64_t kIndexOffset = kWindow * 16;

void RouteEmitter::selectRow() {
  mask = e.pointer(e.field(e.i64, record, 16));
  maskStride = e.field(e.i32, record, 68);
  visible = e.field(e.i64, record, 24);
  summary = e.field(e.i64, record, 32);
  rowTiles = e.field(e.i64, record, 72);
  figures = e.pointer(e.field(e.i64, record, 40));
  rowNumber = e.add(firstRow, warp);
  candidates = e.branch(
      e.notZero(visible), {e.i32},
      [&]() -> Values {
        Value at =
            e.offset(e.pointer(visible), e.mul(e.cast(rowNumber, e.i64), 4));
        return {e.least(e.load(e.i32, at), kvBlocks)};
      },
      [&]() -> Values { return {kvBlocks}; })[0];
  pairs = e.offset(scores, e.shl(e.mul(warp, scoreStride), 4));
  scratch = e.offset(e.shared(), e.mul(warp, 1024));
  Value none = e.lessEqual(candidates, e.integer(0));
  e.when(none, [&] { writeEmptyRow(); });
  e.when(e.notOf(none), [&] {
    computeMasses();
    Value near;
    Cut cut = findCut(near);
    writeRow(cut, near);
  });
}

DeviceEmitter::Values RouteEmitter::forRow(
    ValueRange initial,
    llvm::function_ref<Values(ArrayRef<Value>, ArrayRef<Value>, ValueRange)>
        body) {
  return e.loop(e.integer(0), candidates, e.integer(32 * kUnroll), initial,
                [&](Value first, ValueRange carried) {
                  Value own = e.add(first, lane);
                  Value base = e.offset(pairs, e.shl(own, 4));
                  Values blocks, addresses;
                  for (int64_t u = 0; u < kUnroll; ++u) {
                    blocks.push_back(e.add(own, u * 32));
                    addresses.push_back(e.offset(base, u * 32 * 16));
                  }
                  return body(blocks, addresses, carried);
                });
}

void RouteEmitter::computeMasses() {
  Value lowest = e.negativeInfinity(e.f64);
  Value highest = e.real(std::numeric_limits<double>::infinity());
  Values initial(kUnroll, lowest);
  initial.append(kUnroll, highest);
  Values extremes =
      forRow(initial, [&](ArrayRef<Value> blocks, ArrayRef<Value> at,
                          ValueRange carried) {
        Values next(carried);
        for (int64_t u = 0; u < kUnroll; ++u) {
          Value exists = e.less(blocks[u], candidates);
          Value score = e.load(e.f64, at[u]);
          next[u] = e.maxF(e.select(exists, score, lowest), next[u]);
          Value &least = next[kUnroll + u];
          least = e.minF(e.select(exists, score, highest), least);
        }
        return next;
      });
  auto maximum = [&](Value l, Value r) { return e.maxF(l, r); };
  auto minimum = [&](Value l, Value r) { return e.minF(l, r); };
  maxScore = e.foldWarp(e.maxF(e.maxF(extremes[0], extremes[1]),
                               e.maxF(extremes[2], extremes[3])),
                        maximum);
  minScore = e.foldWarp(e.minF(e.minF(extremes[4], extremes[5]),
                               e.minF(extremes[6], extremes[7])),
                        minimum);
  Values sums = forRow(
      Values(kUnroll, e.real(0)),
      [&](ArrayRef<Value> blocks, ArrayRef<Value> at, ValueRange carried) {
        Values next;
        for (int64_t u = 0; u < kUnroll; ++u) {
          // Blocks beyond the candidates never count.
          Value exists = e.less(blocks[u], candidates);
          Value score = e.select(exists, e.load(e.f64, at[u]), lowest);
          Value mass = e.exponential(e.subF(score, maxScore));
          e.store(e.vector({score, mass}), at[u], 16);
          next.push_back(e.addF(carried[u], mass));
        }
        return next;
      });
  total = sumWarp(e.addF(e.addF(sums[0], sums[1]), e.addF(sums[2], sums[3])));
}

/// Integers with the order of the scores.
Value RouteEmitter::ordered(Value score) {
  Value bits = e.bitcast(score, e.i64);
  return e.xorI(bits, e.shr(e.sar(bits, 63), 1));
}
Value RouteEmitter::unordered(Value key) {
  return e.bitcast(e.xorI(key, e.shr(e.sar(key, 63), 1)), e.f64);
}

static Value suffices(DeviceEmitter &e, Value gotMass, Value gotCount,
                      Value mass, Value count) {
  return e.andI(e.greaterEqualF(gotMass, mass), e.lessEqual(count, gotCount));
}

DeviceEmitter::Values RouteEmitter::narrow(Value mass, Value count) {
  // Carried: low, high, blocks at or above each, mass at or above high, steps.
  Value above = unordered(e.add(ordered(maxScore), 1));
  Values initial = {minScore,     above,     candidates,
                    e.integer(0), e.real(0), e.integer(0)};
  Values found = e.repeat(
      initial,
      [&](ValueRange c) {
        Value many = e.less(e.integer(kWindow), e.sub(c[2], c[3]));
        Value apart = e.sub(ordered(c[1]), ordered(c[0]));
        Value divisible =
            e.compare(arith::CmpIPredicate::ugt, apart, e.wide(1));
        Value bounded = e.less(c[5], e.integer(kValueSteps + 70));
        return e.andI(e.andI(many, divisible), bounded);
      },
      [&](ValueRange c) -> Values {
        Value middle = e.fma(e.subF(c[1], c[0]), e.real(0.5), c[0]);
        Value low = ordered(c[0]);
        Value half = e.shr(e.sub(ordered(c[1]), low), 1);
        Value byPattern = unordered(e.add(low, half));
        using arith::CmpFPredicate;
        Value inside = e.andI(e.compareF(CmpFPredicate::OGT, middle, c[0]),
                              e.compareF(CmpFPredicate::OLT, middle, c[1]));
        Value byValue = e.andI(inside, e.less(c[5], e.integer(kValueSteps)));
        Value pivot = e.select(byValue, middle, byPattern);

        Values start(kUnroll, e.real(0));
        start.append(kUnroll, e.integer(0));
        Values sums = forRow(start, [&](ArrayRef<Value>, ArrayRef<Value> at,
                                        ValueRange carried) {
          Values next(carried);
          for (int64_t u = 0; u < kUnroll; ++u) {
            Value pair = loadPair(at[u]);
            Value counts = e.greaterEqualF(e.element(pair, 0), pivot);
            next[u] =
                e.select(counts, e.addF(next[u], e.element(pair, 1)), next[u]);
            Value &number = next[kUnroll + u];
            number = e.add(number, e.cast(counts, e.i32));
          }
          return next;
        });
        Value gotMass =
            sumWarp(e.addF(e.addF(sums[0], sums[1]), e.addF(sums[2], sums[3])));
        Value gotCount =
            countWarp(e.add(e.add(sums[4], sums[5]), e.add(sums[6], sums[7])));
        Value enough = suffices(e, gotMass, gotCount, mass, count);
        return {
            e.select(enough, pivot, c[0]),    e.select(enough, c[1], pivot),
            e.select(enough, gotCount, c[2]), e.select(enough, c[3], gotCount),
            e.select(enough, c[4], gotMass),  e.add(c[5], 1)};
      });
  found.pop_back();
  return found;
}

/// Ranks the candidates of an interval that has at most kWindow of them.
RouteEmitter::Found RouteEmitter::searchWindow(ArrayRef<Value> interval,
                                               Value mass, Value count) {
  Value low = interval[0], high = interval[1], massAbove = interval[4];
  Value countAbove = interval[3];
  Value inWindow = e.sub(interval[2], countAbove);
  Value own = e.offset(scratch, e.shl(lane, 4));
  e.warpBarrier(); // of reads by an earlier search
  e.store(e.vector({e.negativeInfinity(e.f64), e.real(0)}), own, 16);
  e.warpBarrier();
  Value before = e.sub(e.shl(e.integer(1), lane), 1); // lanes below this one
  forRow({e.integer(0)},
         [&](ArrayRef<Value> blocks, ArrayRef<Value> at,
             ValueRange carried) -> Values {
           Value place = carried[0];
           for (int64_t u = 0; u < kUnroll; ++u) {
             Value pair = loadPair(at[u]);
             Value score = e.element(pair, 0);
             Value inside =
                 e.andI(e.greaterEqualF(score, low),
                        e.compareF(arith::CmpFPredicate::OLT, score, high));
             Value lanes = e.ballot(inside);
             e.when(inside, [&] {
               Value slot = e.add(place, e.bitCount(e.andI(lanes, before)));
               e.store(pair, e.offset(scratch, e.shl(slot, 4)), 16);
               e.store(blocks[u],
                       e.offset(scratch, e.add(e.shl(slot, 2), kIndexOffset)));
             });
             place = e.add(place, e.bitCount(lanes));
           }
           return {place};
         });
  e.warpBarrier();

  Value pair = loadPair(own);
  Value score = e.element(pair, 0), ownMass = e.element(pair, 1);
  Value block =
      e.load(e.i32, e.offset(scratch, e.add(e.shl(lane, 2), kIndexOffset)));
  Values ranked = e.loop(
      e.integer(0), e.integer(kWindow), e.integer(kUnroll),
      {e.real(0), e.integer(0)}, [&](Value first, ValueRange carried) {
        Values next(carried);
        Value base = e.offset(scratch, e.shl(first, 4));
        for (int64_t u = 0; u < kUnroll; ++u) {
          Value other = loadPair(e.offset(base, u * 16));
          Value otherScore = e.element(other, 0);
          Value higher =
              e.compareF(arith::CmpFPredicate::OGT, otherScore, score);
          Value same = e.compareF(arith::CmpFPredicate::OEQ, otherScore, score);
          Value earlier = e.less(e.add(first, u), lane);
          Value ahead = e.orI(higher, e.andI(same, earlier));
          next[0] =
              e.select(ahead, e.addF(next[0], e.element(other, 1)), next[0]);
          next[1] = e.add(next[1], e.cast(ahead, e.i32));
        }
        return next;
      });
  Value exists = e.less(lane, inWindow);
  Value prefixMass = e.addF(massAbove, ranked[0]);
  Value prefixCount = e.add(countAbove, ranked[1]);
  Value cumulative = e.addF(prefixMass, ownMass);
  Value taken = e.andI(
      exists, e.notOf(suffices(e, prefixMass, prefixCount, mass, count)));
  Value number = e.bitCount(e.ballot(taken));
  Value isLast = e.andI(exists, e.equal(ranked[1], e.sub(number, 1)));
  Value last = e.lowestBit(e.ballot(isLast));

  Found found;
  found.score = e.shuffleFrom(score, last);
  found.block = e.shuffleFrom(block, last);
  found.count = e.add(countAbove, number);
  found.mass = e.shuffleFrom(cumulative, last);
  // Near p, whatever this search's target is.
  Value threshold = e.mulF(p, total);
  Value width = e.mulF(total, e.real(kTieWidth));
  Value isNear =
      e.andI(exists, e.compareF(arith::CmpFPredicate::OLE,
                                e.absF(e.subF(cumulative, threshold)), width));
  Value near = e.bitCount(e.ballot(isNear));
  using arith::CmpFPredicate;
  Value noneAbove = e.orI(
      e.equal(countAbove, e.integer(0)),
      e.compareF(CmpFPredicate::OLT, massAbove, e.subF(threshold, width)));
  Value noneBelow =
      e.orI(e.equal(interval[2], candidates),
            e.compareF(CmpFPredicate::OGT,
                       e.addF(massAbove,
                              sumWarp(e.select(exists, ownMass, e.real(0)))),
                       e.addF(threshold, width)));
  found.near = e.select(e.andI(noneAbove, noneBelow), near, e.integer(-1));
  return found;
}

/// All candidates of the interval have the same score: the first by index.
RouteEmitter::Found RouteEmitter::searchTies(ArrayRef<Value> interval,
                                             Value mass, Value count) {
  Value low = interval[0], high = interval[1], massAbove = interval[4];
  Value countAbove = interval[3];
  Value each = e.exponential(e.subF(low, maxScore));
  auto massOf = [&](Value number) {
    return e.addF(massAbove, e.mulF(e.toReal(number, e.f64), each));
  };
  // The smallest number that suffices, or all.
  Values bounds = e.repeat(
      {e.integer(1), e.sub(interval[2], countAbove)},
      [&](ValueRange c) { return e.less(c[0], c[1]); },
      [&](ValueRange c) -> Values {
        Value middle = e.shr(e.add(c[0], c[1]), 1);
        Value enough =
            suffices(e, massOf(middle), e.add(countAbove, middle), mass, count);
        return {e.select(enough, c[0], e.add(middle, 1)),
                e.select(enough, middle, c[1])};
      });
  Value number = bounds[0];
  Value before = e.sub(e.shl(e.integer(1), lane), 1);
  Values found =
      forRow({e.integer(0), e.integer(0)},
             [&](ArrayRef<Value> blocks, ArrayRef<Value> at,
                 ValueRange carried) -> Values {
               Value place = carried[0], block = carried[1];
               for (int64_t u = 0; u < kUnroll; ++u) {
                 Value score = e.load(e.f64, at[u]);
                 Value inside =
                     e.andI(e.greaterEqualF(score, low),
                            e.compareF(arith::CmpFPredicate::OLT, score, high));
                 Value lanes = e.ballot(inside);
                 Value rank = e.add(place, e.bitCount(e.andI(lanes, before)));
                 Value isLast = e.andI(inside, e.equal(rank, e.sub(number, 1)));
                 Value last = e.ballot(isLast);
                 Value from = e.sub(blocks[u], lane);
                 block = e.select(e.notZero(last),
                                  e.add(from, e.lowestBit(last)), block);
                 place = e.add(place, e.bitCount(lanes));
               }
               return {place, block};
             });
  return {low, found[1], e.add(countAbove, number), massOf(number),
          e.integer(-1)};
}

RouteEmitter::Cut RouteEmitter::findCut(Value &near) {
  // Round 0 finds the cut. Rounds 1 and 2 count the blocks below p - 1e-5 and
  // below p + 1e-5. Carried: round, cut, near.
  using arith::CmpFPredicate;
  Value all = e.greaterEqualF(p, e.real(1));
  Value undecided =
      e.andI(e.notOf(all), e.compareF(CmpFPredicate::OGT, p, e.real(0)));
  Value floor = e.least(e.most(minBlocks, e.integer(1)), candidates);
  Value rounds = e.integer(3);
  Values initial = {
      e.select(all, rounds, e.integer(0)), e.negativeInfinity(e.f64),
      e.integer(std::numeric_limits<int32_t>::max()), e.integer(0)};
  Values found = e.repeat(
      initial, [&](ValueRange c) { return e.less(c[0], rounds); },
      [&](ValueRange c) -> Values {
        Value first = e.equal(c[0], e.integer(0));
        Value shift = e.select(e.equal(c[0], e.integer(1)), e.real(-kTieWidth),
                               e.real(kTieWidth));
        Value target = e.addF(p, e.select(first, e.real(0), shift));
        Value mass = e.mulF(target, total);
        Value count = e.select(first, floor, e.integer(1));
        Values interval = narrow(mass, count);
        Value few =
            e.lessEqual(e.sub(interval[2], interval[3]), e.integer(kWindow));
        auto results = [](const Found &f) -> Values {
          return {f.score, f.block, f.count, f.mass, f.near};
        };
        Values r = e.branch(
            few, {e.f64, e.i32, e.i32, e.f64, e.i32},
            [&] { return results(searchWindow(interval, mass, count)); },
            [&] { return results(searchTies(interval, mass, count)); });
        Value reached = e.greaterEqualF(r[3], mass);
        Value below = e.sub(r[2], e.cast(reached, e.i32));
        Value nearBefore =
            e.select(e.equal(c[0], e.integer(1)), e.integer(0), below);
        Value nearNow =
            e.sub(e.add(c[3], nearBefore),
                  e.select(e.equal(c[0], e.integer(1)), below, e.integer(0)));
        Value known =
            e.orI(e.notOf(undecided), e.lessEqual(e.integer(0), r[4]));
        Value nearFirst =
            e.select(e.andI(undecided, known), r[4], e.integer(0));
        Value next = e.select(e.andI(first, known), rounds, e.add(c[0], 1));
        return {next, e.select(first, r[0], c[1]), e.select(first, r[1], c[2]),
                e.select(first, nearFirst, nearNow)};
      });
  near = found[3];
  return {found[1], found[2]};
}

void RouteEmitter::writeRow(const Cut &cut, Value near) {
  Value number = e.cast(e.add(firstBlock, warp), e.i64);
  Value row =
      e.offset(mask, e.mul(e.mul(number, e.cast(maskStride, e.i64)), 4));
  Value before = e.sub(e.shl(e.integer(1), lane), 1);
  Value hasSummary = e.notZero(summary);
  Values kept = forRow(
      {e.integer(0), e.real(0)},
      [&](ArrayRef<Value> blocks, ArrayRef<Value> at,
          ValueRange carried) -> Values {
        Values flags, masses;
        for (int64_t u = 0; u < kUnroll; ++u) {
          Value pair = loadPair(at[u]);
          Value score = e.element(pair, 0);
          masses.push_back(e.element(pair, 1));
          Value higher =
              e.compareF(arith::CmpFPredicate::OGT, score, cut.score);
          Value same = e.compareF(arith::CmpFPredicate::OEQ, score, cut.score);
          flags.push_back(
              e.orI(higher, e.andI(same, e.lessEqual(blocks[u], cut.block))));
        }
        flags = e.loop(
            e.integer(0), keepPairs, e.integer(1), flags,
            [&](Value i, ValueRange carried) {
              Value range = e.load(e.vec(e.i32, 2), e.record(keep, i, 8), 4);
              Value begin = e.element(range, 0), end = e.element(range, 1);
              Values next;
              for (int64_t u = 0; u < kUnroll; ++u)
                next.push_back(
                    e.orI(carried[u], e.andI(e.lessEqual(begin, blocks[u]),
                                             e.less(blocks[u], end))));
              return next;
            });
        Value place = carried[0], mass = carried[1], word = e.integer(0);
        for (int64_t u = 0; u < kUnroll; ++u) {
          Value flag = e.andI(flags[u], e.less(blocks[u], candidates));
          Value lanes = e.ballot(flag);
          e.when(flag, [&] {
            Value slot = e.add(place, e.bitCount(e.andI(lanes, before)));
            e.store(blocks[u],
                    e.offset(row, e.mul(e.cast(e.add(slot, 1), e.i64), 4)));
          });
          place = e.add(place, e.bitCount(lanes));
          mass = e.select(flag, e.addF(mass, masses[u]), mass);
          word = e.select(e.equal(lane, e.integer(u)), lanes, word);
        }
        e.when(e.andI(hasSummary, e.notZero(word)), [&] {
          Value at = e.add(e.shr(e.sub(blocks[0], lane), 5), lane);
          e.atomic(LLVM::AtomicBinOp::_or, word,
                   e.offset(e.pointer(summary),
                            e.mul(e.cast(e.add(at, 1), e.i64), 4)));
        });
        return {place, mass};
      });
  Value share = e.divF(sumWarp(kept[1]), total);
  e.when(e.equal(lane, e.integer(0)), [&] {
    e.store(kept[0], row);
    e.when(hasSummary, [&] {
      e.atomic(LLVM::AtomicBinOp::add, kept[0], e.pointer(summary));
    });
    e.when(e.notZero(rowTiles), [&] {
      e.store(kept[0], e.offset(e.pointer(rowTiles), e.mul(number, 4)));
    });
    Value figure = e.record(figures, rowNumber, 16);
    e.store(share, figure);
    e.store(e.vector({near, kept[0]}), e.offset(figure, 8), 8);
  });
}

void RouteEmitter::writeEmptyRow() {
  e.when(e.equal(lane, e.integer(0)), [&] {
    Value number = e.cast(e.add(firstBlock, warp), e.i64);
    e.store(e.integer(0),
            e.offset(mask, e.mul(e.mul(number, e.cast(maskStride, e.i64)), 4)));
    Value figure = e.record(figures, rowNumber, 16);
    e.store(e.real(0), figure);
    e.store(e.wide(0), e.offset(figure, 8));
  });
}
