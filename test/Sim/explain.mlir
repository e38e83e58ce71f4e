// What --explain says of a layer over four ranks: work, links, imbalance and
// the critical path. All keys of head 0, the diagonal of the others.

// RUN: sparseattn-sim %s --mesh ulysses=2,ring=2 --explain | FileCheck %s
// RUN: sparseattn-sim %s --ranks 1 --explain | FileCheck %s --check-prefix=ONE

// CHECK: layer      4 heads (4 kv), 64 x 64 tokens, dim 32, blocks 16x16, 4 ranks (ulysses 2, ring 2)
// CHECK: density    0.4375 (28 tiles)
// CHECK-DAG: rank 0
// CHECK-DAG: rank 3
// ONE: 1 ranks (ulysses 1, ring 1)
// ONE: rank 0
// ONE-NOT: rank 1

!x = tensor<4x64x32xf32>
!lse = tensor<4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 16x16, tokens = 64x64>
func.func @layer(%q: !x, %k: !x, %v: !x) -> (!x, !lse) {
  %mask = sparseattn.explicit_mask dense<[
    [[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]],
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]]> : tensor<4x4x4xi1> -> !mask
  %o, %l = sparseattn.attend %q, %k, %v, %mask scale 0.25 : !x, !x, !x, !mask -> !x, !lse
  return %o, %l : !x, !lse
}
