// Extra tiles: from the plan that is written in the text, or from the plan that
// the planning library makes, next-best first by the routing scores. Head 0
// keeps everything, head 1 one tile a row; scores of head 1 are 40 3 2 1 in row
// 0 and 1 2 40 3 in row 1.

// RUN: sparseattn-sim %s --function planned --masks | FileCheck %s --check-prefix=PLANNED
// RUN: sparseattn-sim %s --function written | FileCheck %s --check-prefix=WRITTEN
// RUN: sparseattn-sim %s --function segments | FileCheck %s --check-prefix=SEGMENTS
// RUN: sparseattn-sim %s --function nothing | FileCheck %s --check-prefix=NOTHING
// RUN: not sparseattn-sim %s --function no_scores 2>&1 | FileCheck %s --check-prefix=NOSCORES
// RUN: not sparseattn-sim %s --function wrong_plan 2>&1 | FileCheck %s --check-prefix=WRONG

!x = tensor<2x32x32xf32>
!kv = tensor<2x64x32xf32>
!pq = tensor<2x2x2xf32>
!pk = tensor<2x4x2xf32>
!mask = !sparseattn.mask<2x2x4, block = 16x16, tokens = 32x64>
#two = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 2, kv_heads = 2, q_blocks = 2, kv_blocks = 4>
#ring = #sparseattn.placement<mesh = <ulysses = 1, ring = 2>, heads = 2, kv_heads = 2, q_blocks = 2, kv_blocks = 4>

// Loads 8 and 2: four fifths of the slack of 6 are 4 tiles, 2 for each row.
// PLANNED: mask       sparseattn.route at line {{[0-9]+}}: 2 x 2 x 4, 10 of 16 tiles
// PLANNED: head 1 {
// PLANNED-NEXT: row 0 [0]
// PLANNED-NEXT: row 1 [2]
// PLANNED: mask       sparseattn.augment at line
// PLANNED: result0    mask 2 x 2 x 4, 14 of 16 tiles
// PLANNED: head 0 {
// PLANNED-NEXT: row 0:2 [0:4]
// PLANNED: head 1 {
// PLANNED-NEXT: row 0 [0:3]
// PLANNED-NEXT: row 1 [1:4]
func.func @planned(%q: !x, %k: !kv) -> !mask {
  %pq = arith.constant dense<[[[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]]> : !pq
  %pk = arith.constant dense<[[[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0]],
                              [[40.0, 1.0], [3.0, 2.0], [2.0, 40.0], [1.0, 3.0]]]> : !pk
  %routed = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 0.9> scale 1.0 : !pq, !pk -> !mask
  %0 = sparseattn.place %q, %k on #two : !x, !kv
  %1 = sparseattn.balance %0, %routed using swap : !mask
  %2 = sparseattn.augment %routed, %1 : !mask
  %3 = sparseattn.demand %2, %1 : !mask
  return %2 : !mask
}

// Three tiles: the odd one goes to the first row.
// WRITTEN: result0    mask 2 x 2 x 4, 13 of 16 tiles
// WRITTEN: head 1 {
// WRITTEN-NEXT: row 0 [0:3]
// WRITTEN-NEXT: row 1 [2:4]
func.func @written(%q: !x, %k: !kv) -> !mask {
  %pq = arith.constant dense<[[[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]]> : !pq
  %pk = arith.constant dense<[[[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0]],
                              [[40.0, 1.0], [3.0, 2.0], [2.0, 40.0], [1.0, 3.0]]]> : !pk
  %routed = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 0.9> scale 1.0 : !pq, !pk -> !mask
  %0 = sparseattn.place %q, %k on #two : !x, !kv
  %1 = sparseattn.balance %0, %routed using swap
    plan <mesh = <ulysses = 2, ring = 1>, heads = 2, kv_heads = 2,
                          q_blocks = 2, kv_blocks = 4, extras = [[1, 0, 3]]> : !mask
  %2 = sparseattn.augment %routed, %1 : !mask
  return %2 : !mask
}

// In a ring the rows of a segment take kv-blocks of their own segment only,
// also when others score higher: row 1 has block 3, not 1.
// SEGMENTS: result0    mask 2 x 2 x 4, 12 of 16 tiles
// SEGMENTS: head 1 {
// SEGMENTS-NEXT: row 0 [0:2]
// SEGMENTS-NEXT: row 1 [2:4]
func.func @segments(%q: !x, %k: !kv) -> !mask {
  %pq = arith.constant dense<[[[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]]> : !pq
  %pk = arith.constant dense<[[[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0]],
                              [[40.0, 1.0], [3.0, 5.0], [2.0, 40.0], [1.0, 3.0]]]> : !pk
  %routed = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 0.9> scale 1.0 : !pq, !pk -> !mask
  %0 = sparseattn.place %q, %k on #ring : !x, !kv
  %1 = sparseattn.balance %0, %routed using none
    plan <mesh = <ulysses = 1, ring = 2>, heads = 2, kv_heads = 2,
                          q_blocks = 2, kv_blocks = 4, extras = [[1, 0, 1], [1, 1, 1]]> : !mask
  %2 = sparseattn.augment %routed, %1 : !mask
  return %2 : !mask
}

// A plan without extra tiles adds none, to whatever mask.
// NOTHING: result0    mask 2 x 2 x 4, 4 of 16 tiles
func.func @nothing(%q: !x, %k: !kv) -> !mask {
  %mask = sparseattn.explicit_mask dense<[[[1, 0, 0, 0], [1, 0, 0, 0]], [[1, 0, 0, 0], [1, 0, 0, 0]]]>
    : tensor<2x2x4xi1> -> !mask
  %0 = sparseattn.place %q, %k on #two : !x, !kv
  %1 = sparseattn.balance %0, %mask using swap : !mask
  %2 = sparseattn.augment %mask, %1 : !mask
  return %2 : !mask
}

// NOSCORES: error: {{.*}}augment.mlir: line [[# @LINE + 8]], column {{[0-9]+}}: 'sparseattn.augment' op mask of augment: got one without scores, expected the result of route: extra tiles follow its scores
func.func @no_scores(%q: !x, %k: !kv) -> !mask {
  %mask = sparseattn.explicit_mask dense<true> : tensor<2x2x4xi1> -> !mask
  %0 = sparseattn.place %q, %k on #two : !x, !kv
  %1 = sparseattn.balance %0, %mask using none
    plan <mesh = <ulysses = 2, ring = 1>, heads = 2, kv_heads = 2,
                          q_blocks = 2, kv_blocks = 4, extras = [[1, 0, 3]]> : !mask
  // The op of the message.
  %2 = sparseattn.augment %mask, %1 : !mask
  return %2 : !mask
}

// WRONG: error: {{.*}}augment.mlir: line {{[0-9]+}}, column {{[0-9]+}}: 'sparseattn.augment' op plan: {{.*}}expected
func.func @wrong_plan(%q: !x, %k: !kv) -> !mask {
  %mask = sparseattn.explicit_mask dense<true> : tensor<2x2x4xi1> -> !mask
  %0 = sparseattn.place %q, %k on #two : !x, !kv
  %1 = sparseattn.balance %0, %mask using swap
    plan <mesh = <ulysses = 2, ring = 1>, heads = 2, kv_heads = 2,
                          q_blocks = 2, kv_blocks = 4, moves = [[0, 1, 0]]> : !mask
  %2 = sparseattn.augment %mask, %1 : !mask
  return %2 : !mask
}
