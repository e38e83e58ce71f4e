// RUN: sparseattn-opt %s --sparseattn-insert-plan="ulysses=2 ring=2" --sparseattn-plan-constant-masks --sparseattn-verify-plan | FileCheck %s

// One tensor for q, k and v is exchanged once. The plan of a constant mask is
// made at once: Ulysses index 0 has all the work, so it gives one of its two heads.

!x = tensor<4x256x64xbf16>
!lse = tensor<4x256xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>

// CHECK: #plan = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4,
// CHECK-SAME: moves = {{\[\[}}0, 0, 1]]
// CHECK-SAME: transfers = {{\[\[}}1, 0, 1, 0, [2, 4]], [0, 1, 1, 0, [2, 4]], [1, 0, 0, 1, [0, 2]], [0, 1, 0, 1, [0, 2]]]
// CHECK-SAME: loads_before = [16, 0, 16, 0]
// CHECK-SAME: loads_after = [8, 8, 8, 8]
// CHECK-LABEL: func.func @constant
// CHECK-SAME: (%[[X:.*]]: tensor<4x256x64xbf16>)
// CHECK: %[[M:.*]] = sparseattn.explicit_mask
// CHECK: sparseattn.balance %{{.*}}, %[[M]] using swap plan #plan : !mask
// CHECK: sparseattn.attend %[[H:.*]], %[[H]], %[[H]], %[[M]] with
func.func @constant(%x: !x) -> (!x, !lse) {
  %mask = sparseattn.explicit_mask dense<[
    [[true, true, true, true], [true, true, true, true], [true, true, true, true], [true, true, true, true]],
    [[true, true, true, true], [true, true, true, true], [true, true, true, true], [true, true, true, true]],
    [[false, false, false, false], [false, false, false, false], [false, false, false, false], [false, false, false, false]],
    [[false, false, false, false], [false, false, false, false], [false, false, false, false], [false, false, false, false]]
  ]> : tensor<4x4x4xi1> -> !mask
  %o, %lse = sparseattn.attend %x, %x, %x, %mask scale 0.125
    : !x, !x, !x, !mask -> !x, !lse
  return %o, %lse : !x, !lse
}
