// Masks by rule, written out and combined, as rows of half-open ranges.

// RUN: sparseattn-sim %s --function explicit | FileCheck %s --check-prefix=EXPLICIT
// RUN: sparseattn-sim %s --function dense_causal | FileCheck %s --check-prefix=CAUSAL
// RUN: sparseattn-sim %s --function dense | FileCheck %s --check-prefix=DENSE
// RUN: sparseattn-sim %s --function window | FileCheck %s --check-prefix=WINDOW
// RUN: sparseattn-sim %s --function window_stretched | FileCheck %s --check-prefix=STRETCHED
// RUN: sparseattn-sim %s --function unite | FileCheck %s --check-prefix=UNION
// RUN: sparseattn-sim %s --function meet | FileCheck %s --check-prefix=INTERSECT
// RUN: sparseattn-sim %s --function both | FileCheck %s --check-prefix=BOTH
// RUN: sparseattn-sim %s --function no_keys | FileCheck %s --check-prefix=NOKEYS
// RUN: sparseattn-sim %s --function meet --masks | FileCheck %s --check-prefix=MADE

!square = !sparseattn.mask<1x6x6, block = 16x16, tokens = 96x96>
!small = !sparseattn.mask<2x2x5, block = 16x16, tokens = 32x70>
// Skv - Sq = 24: query block i sees keys up to 16 i + 15 + 24.
!causal = !sparseattn.mask<1x3x5, block = 16x16, tokens = 48x72, causal>

// EXPLICIT: result0    mask 2 x 2 x 5, 7 of 20 tiles (density 0.3500) {
// EXPLICIT-NEXT:   head 0 {
// EXPLICIT-NEXT:     row 0 [0, 2:5]
// EXPLICIT-NEXT:     row 1 []
// EXPLICIT-NEXT:   }
// EXPLICIT-NEXT:   head 1 {
// EXPLICIT-NEXT:     row 0 [0:2]
// EXPLICIT-NEXT:     row 1 [4]
// EXPLICIT-NEXT:   }
// EXPLICIT-NEXT: }
func.func @explicit() -> !small {
  %0 = sparseattn.explicit_mask
    dense<[[[1, 0, 1, 1, 1], [0, 0, 0, 0, 0]],
           [[1, 1, 0, 0, 0], [0, 0, 0, 0, 1]]]> : tensor<2x2x5xi1> -> !small
  return %0 : !small
}

// CAUSAL: result0    mask 1 x 3 x 5, 12 of 15 tiles
// CAUSAL: row 0 [0:3]
// CAUSAL-NEXT: row 1 [0:4]
// CAUSAL-NEXT: row 2 [0:5]
func.func @dense_causal() -> !causal {
  %0 = sparseattn.policy_mask #sparseattn.dense -> !causal
  return %0 : !causal
}

// DENSE: result0    mask 2 x 2 x 5, 20 of 20 tiles (density 1.0000) {
// DENSE-NEXT: head 0 {
// DENSE-NEXT: row 0:2 [0:5]
// DENSE-NEXT: }
// DENSE-NEXT: head 1 {
// DENSE-NEXT: row 0:2 [0:5]
func.func @dense() -> !small {
  %0 = sparseattn.policy_mask #sparseattn.dense -> !small
  return %0 : !small
}

// WINDOW: row 0 [0:2]
// WINDOW-NEXT: row 1 [0:3]
// WINDOW-NEXT: row 2 [1:4]
// WINDOW-NEXT: row 3 [2:5]
// WINDOW-NEXT: row 4 [3:6]
// WINDOW-NEXT: row 5 [4:6]
func.func @window() -> !square {
  %0 = sparseattn.policy_mask #sparseattn.window<blocks = 1> -> !square
  return %0 : !square
}

// Centre of row i: floor(5 i / 2).
// STRETCHED: row 0 [0:2]
// STRETCHED-NEXT: row 1 [1:4]
func.func @window_stretched() -> !small {
  %0 = sparseattn.policy_mask #sparseattn.window<blocks = 1> -> !small
  return %0 : !small
}

// UNION: result0    mask 1 x 6 x 6, 18 of 36 tiles
// UNION: row 0 [0:2, 5]
// UNION-NEXT: row 1 [0:3]
// UNION-NEXT: row 2 [1:4]
// UNION-NEXT: row 3 [0, 2:5]
// UNION-NEXT: row 4 [3:6]
// UNION-NEXT: row 5 [4:6]
func.func @unite() -> !square {
  %window = sparseattn.policy_mask #sparseattn.window<blocks = 1> -> !square
  %sinks = sparseattn.explicit_mask
    dense<[[[0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0],
            [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]]>
    : tensor<1x6x6xi1> -> !square
  %0 = sparseattn.union %window, %sinks : !square
  return %0 : !square
}

// INTERSECT: result0    mask 1 x 6 x 6, 3 of 36 tiles
// INTERSECT: row 0 [1]
// INTERSECT-NEXT: row 1:3 []
// INTERSECT-NEXT: row 3 [2, 4]
// INTERSECT-NEXT: row 4:6 []
// MADE: mask       sparseattn.policy_mask at line [[# @LINE + 5]]: 1 x 6 x 6, 16 of 36 tiles
// MADE: mask       sparseattn.explicit_mask at line [[# @LINE + 5]]: 1 x 6 x 6, 5 of 36 tiles
// MADE: mask       sparseattn.intersect at line [[# @LINE + 8]]: 1 x 6 x 6, 3 of 36 tiles
// MADE: result0    mask 1 x 6 x 6, 3 of 36 tiles
func.func @meet() -> !square {
  %window = sparseattn.policy_mask #sparseattn.window<blocks = 1> -> !square
  %other = sparseattn.explicit_mask
    dense<[[[0, 1, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0],
            [0, 0, 1, 0, 1, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]]>
    : tensor<1x6x6xi1> -> !square
  %0 = sparseattn.intersect %window, %other : !square
  return %0 : !square
}

// Several results, and masks that are arguments: random ones of one half.
// BOTH: inputs     normal random, seed 0
// BOTH: result0    mask 1 x 6 x 6, [[#A:]] of 36 tiles
// BOTH: result1    mask 1 x 6 x 6, 36 of 36 tiles
// BOTH: result2    mask 1 x 6 x 6, [[#A]] of 36 tiles
func.func @both(%a: !square) -> (!square, !square, !square) {
  %all = sparseattn.policy_mask #sparseattn.dense -> !square
  %none = sparseattn.explicit_mask dense<false> : tensor<1x6x6xi1> -> !square
  %0 = sparseattn.union %a, %none : !square
  %1 = sparseattn.union %a, %all : !square
  %2 = sparseattn.intersect %a, %all : !square
  return %0, %1, %2 : !square, !square, !square
}

// NOKEYS: result0    mask 1 x 2 x 0, 0 of 0 tiles (density 0.0000) {
// NOKEYS: row 0:2 []
!empty = !sparseattn.mask<1x2x0, block = 16x16, tokens = 20x0>
func.func @no_keys() -> !empty {
  %0 = sparseattn.policy_mask #sparseattn.window<blocks = 2> -> !empty
  return %0 : !empty
}
