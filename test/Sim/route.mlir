// Routing of whole numbers, where every set is known: the scores are the rows
// of pooled k, picked by unit vectors of pooled q.

// RUN: sparseattn-sim %s --function top_k | FileCheck %s --check-prefix=TOPK
// RUN: sparseattn-sim %s --function ties | FileCheck %s --check-prefix=TIES
// RUN: sparseattn-sim %s --function top_p | FileCheck %s --check-prefix=TOPP
// RUN: sparseattn-sim %s --function floor_and_keep | FileCheck %s --check-prefix=FLOOR
// RUN: sparseattn-sim %s --function everything | FileCheck %s --check-prefix=ALL
// RUN: sparseattn-sim %s --function causal | FileCheck %s --check-prefix=CAUSAL
// RUN: sparseattn-sim %s --function grouped | FileCheck %s --check-prefix=GROUPED
// RUN: sparseattn-sim %s --function by_rule | FileCheck %s --check-prefix=RULE
// RUN: sparseattn-sim %s --function pooled | FileCheck %s --check-prefix=POOLED

!pq = tensor<1x2x2xf32>
!pk = tensor<1x5x2xf32>
!mask = !sparseattn.mask<1x2x5, block = 16x16, tokens = 32x70>

// Scores of row 0: 3 -1 7 0 5, of row 1: 2 9 -4 9 1.
// TOPK: row 0 [2, 4]
// TOPK-NEXT: row 1 [1, 3]
func.func @top_k() -> !mask {
  %q = arith.constant dense<[[[1.0, 0.0], [0.0, 1.0]]]> : !pq
  %k = arith.constant dense<[[[3.0, 2.0], [-1.0, 9.0], [7.0, -4.0], [0.0, 9.0], [5.0, 1.0]]]> : !pk
  %0 = sparseattn.route %q, %k policy #sparseattn.top_k<k = 2> scale 1.0
    : !pq, !pk -> !mask
  return %0 : !mask
}

// Equal scores: the lower index first.
// TIES: row 0 [0, 2]
// TIES-NEXT: row 1 [0:2]
func.func @ties() -> !mask {
  %q = arith.constant dense<[[[1.0, 0.0], [0.0, 1.0]]]> : !pq
  %k = arith.constant dense<[[[4.0, 6.0], [1.0, 6.0], [4.0, 6.0], [4.0, 6.0], [4.0, 6.0]]]> : !pk
  %0 = sparseattn.route %q, %k policy #sparseattn.top_k<k = 2> scale 0.5
    : !pq, !pk -> !mask
  return %0 : !mask
}

// Row 0: one score of 40 above zeros has all of the mass. Row 1: equal scores,
// a fifth each: 0.7 needs four.
// TOPP: row 0 [3]
// TOPP-NEXT: row 1 [0:4]
func.func @top_p() -> !mask {
  %q = arith.constant dense<[[[1.0, 0.0], [0.0, 1.0]]]> : !pq
  %k = arith.constant dense<[[[0.0, 7.0], [0.0, 7.0], [0.0, 7.0], [40.0, 7.0], [0.0, 7.0]]]> : !pk
  %0 = sparseattn.route %q, %k
    policy #sparseattn.top_p<p = 0.7> scale 1.0 : !pq, !pk -> !mask
  return %0 : !mask
}

// The floor of three counts blocks by score; kept ranges come on top of it.
// FLOOR: row 0 [0:2, 3:5]
// FLOOR-NEXT: row 1 [0:5]
func.func @floor_and_keep() -> !mask {
  %q = arith.constant dense<[[[1.0, 0.0], [0.0, 1.0]]]> : !pq
  %k = arith.constant dense<[[[0.0, 9.0], [1.0, 9.0], [-3.0, 9.0], [40.0, 9.0], [-2.0, 9.0]]]> : !pk
  %0 = sparseattn.route %q, %k
    policy #sparseattn.top_p<p = 0.7, min_blocks = 3, keep = [[4, 5]]> scale 1.0
    : !pq, !pk -> !mask
  return %0 : !mask
}

// ALL: row 0:2 [0:5]
func.func @everything() -> !mask {
  %q = arith.constant dense<[[[1.0, 0.0], [0.0, 1.0]]]> : !pq
  %k = arith.constant dense<[[[0.0, 9.0], [-90.0, 9.0], [0.0, 9.0], [90.0, 9.0], [0.0, 9.0]]]> : !pk
  %0 = sparseattn.route %q, %k policy #sparseattn.top_p<p = 1.0> scale 1.0
    : !pq, !pk -> !mask
  return %0 : !mask
}

// Blocks that a row cannot see take no part, however high their scores, and
// are not kept: row 0 sees one block, row 1 two.
!causal = !sparseattn.mask<1x2x5, block = 16x16, tokens = 32x80, causal>
!causal_square = !sparseattn.mask<1x2x2, block = 16x16, tokens = 32x32, causal>
!pk2 = tensor<1x2x2xf32>
// CAUSAL: row 0 [0]
// CAUSAL-NEXT: row 1 [1]
// CAUSAL: row 0 [2:4]
// CAUSAL-NEXT: row 1 [2, 4]
func.func @causal() -> (!causal_square, !causal) {
  %q = arith.constant dense<[[[1.0, 0.0], [0.0, 1.0]]]> : !pq
  %k = arith.constant dense<[[[-5.0, 0.0], [90.0, 3.0]]]> : !pk2
  %0 = sparseattn.route %q, %k
    policy #sparseattn.top_k<k = 1> scale 1.0 : !pq, !pk2 -> !causal_square
  %k5 = arith.constant dense<[[[0.0, 1.0], [1.0, 0.0], [5.0, 8.0], [4.0, -1.0], [90.0, 7.0]]]> : !pk
  %1 = sparseattn.route %q, %k5
    policy #sparseattn.top_k<k = 2> scale 1.0 : !pq, !pk -> !causal
  return %0, %1 : !causal_square, !causal
}

// Heads 0, 1 read kv head 0, heads 2, 3 kv head 1.
!pq4 = tensor<4x1x1xf32>
!pkg = tensor<2x3x1xf32>
!grouped = !sparseattn.mask<4x1x3, block = 16x16, tokens = 16x48>
// GROUPED: head 0 {
// GROUPED-NEXT: row 0 [0]
// GROUPED: head 1 {
// GROUPED-NEXT: row 0 [2]
// GROUPED: head 2 {
// GROUPED-NEXT: row 0 [1]
// GROUPED: head 3 {
// GROUPED-NEXT: row 0 [0]
func.func @grouped() -> !grouped {
  %q = arith.constant dense<[[[1.0]], [[-1.0]], [[1.0]], [[-1.0]]]> : !pq4
  %k = arith.constant dense<[[[8.0], [4.0], [1.0]], [[2.0], [7.0], [3.0]]]> : !pkg
  %0 = sparseattn.route %q, %k
    policy #sparseattn.top_k<k = 1> scale 1.0 : !pq4, !pkg -> !grouped
  return %0 : !grouped
}

// Policies that need no scores.
// RULE: row 0:2 [0:5]
// RULE: row 0 [0:2]
// RULE-NEXT: row 1 [1:4]
func.func @by_rule(%q: !pq, %k: !pk) -> (!mask, !mask) {
  %0 = sparseattn.route %q, %k policy #sparseattn.dense scale 1.0
    : !pq, !pk -> !mask
  %1 = sparseattn.route %q, %k policy #sparseattn.window<blocks = 1> scale 1.0
    : !pq, !pk -> !mask
  return %0, %1 : !mask, !mask
}

// From tokens: means over valid tokens only. Blocks of 16 over 40 tokens, all
// ones: a tail block that were divided by 16 would score 8 instead of 16.
!x = tensor<1x40x32xbf16>
!px = tensor<1x3x32xf32>
!pooled = !sparseattn.mask<1x3x3, block = 16x16, tokens = 40x40>
// POOLED: row 0:3 [0:3]
func.func @pooled() -> !pooled {
  %x = arith.constant dense<1.0> : !x
  %p = sparseattn.pool %x block 16 : !x -> !px
  %0 = sparseattn.route %p, %p
    policy #sparseattn.top_p<p = 0.99> scale 0.5 : !px, !px -> !pooled
  return %0 : !pooled
}
