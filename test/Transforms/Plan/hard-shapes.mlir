// RUN: sparseattn-opt %s --canonicalize --sparseattn-fold-masks --sparseattn-verify-mask --sparseattn-insert-plan="ulysses=8 ring=1" --sparseattn-plan-constant-masks --sparseattn-verify-plan --split-input-file | FileCheck %s
// RUN: sparseattn-opt %s --canonicalize --sparseattn-fold-masks --sparseattn-verify-mask --sparseattn-insert-plan="ulysses=2 ring=4" --sparseattn-plan-constant-masks --sparseattn-verify-plan --split-input-file | FileCheck %s

// Shapes that other systems got wrong, through both phases.

// 75,600 tokens do not divide by 128: a partial block, nothing padded, nothing
// dropped.
!q = tensor<40x75600x128xbf16>
!lse = tensor<40x75600xf32>
!mask = !sparseattn.mask<40x591x591, block = 128x128, tokens = 75600x75600>

// CHECK-LABEL: func.func @tail
// CHECK: sparseattn.attend
func.func @tail(%q: !q, %k: !q, %v: !q) -> (!q, !lse) {
  %pq = sparseattn.pool %q block 128 : !q -> tensor<40x591x128xf32>
  %pk = sparseattn.pool %k block 128 : !q -> tensor<40x591x128xf32>
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 0.9> scale 0.1
    : tensor<40x591x128xf32>, tensor<40x591x128xf32> -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  return %o, %lse : !q, !lse
}

// -----

// 225,304 tokens of 40 heads: offsets above 2^31 elements.
!q = tensor<40x225304x256xf32>
!lse = tensor<40x225304xf32>
!mask = !sparseattn.mask<40x1761x1761, block = 128x128, tokens = 225304x225304>

// CHECK-LABEL: func.func @large_offsets
// CHECK: sparseattn.attend
func.func @large_offsets(%q: !q, %k: !q, %v: !q) -> (!q, !lse) {
  %mask = sparseattn.explicit_mask dense<false> : tensor<40x1761x1761xi1> -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  return %o, %lse : !q, !lse
}

// -----

// Fewer heads than ranks, one token, top-k of more blocks than there are.
!q = tensor<2x1x64xf16>
!k = tensor<1x100x64xf16>
!lse = tensor<2x1xf32>
!mask = !sparseattn.mask<2x1x2, block = 64x64, tokens = 1x100>

// CHECK-LABEL: func.func @few_heads
// CHECK: sparseattn.route {{.*}} policy #sparseattn.top_k<k = 50>
func.func @few_heads(%q: !q, %k: !k, %v: !k) -> (!q, !lse) {
  %pq = sparseattn.pool %q block 64 : !q -> tensor<2x1x64xf32>
  %pk = sparseattn.pool %k block 64 : !k -> tensor<1x2x64xf32>
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 50> scale 0.1
    : tensor<2x1x64xf32>, tensor<1x2x64xf32> -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1 : !q, !k, !k, !mask -> !q, !lse
  return %o, %lse : !q, !lse
}

// -----

// The list of blocks is authoritative: one kv-block in one row, no other work,
// and rows without any.
!q = tensor<7x512x64xf32>
!lse = tensor<7x512xf32>
!mask = !sparseattn.mask<7x4x8, block = 128x64, tokens = 512x512>

// CHECK: loads_before = [{{[0, ]*}}1{{[0, ]*}}]
// CHECK-LABEL: func.func @one_tile
func.func @one_tile(%q: !q, %k: !q, %v: !q) -> (!q, !lse) {
  %one = sparseattn.explicit_mask
    dense<"0x00000000000000000000000000000000000000400000000000000000"> : tensor<7x4x8xi1> -> !mask
  %all = sparseattn.policy_mask #sparseattn.dense -> !mask
  %mask = sparseattn.intersect %one, %all : !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  return %o, %lse : !q, !lse
}

// -----

// No token at all.
!q = tensor<3x0x32xf32>
!lse = tensor<3x0xf32>
!mask = !sparseattn.mask<3x0x0, block = 16x16, tokens = 0x0, causal>

// CHECK-LABEL: func.func @no_token
// CHECK: sparseattn.attend
func.func @no_token(%q: !q, %k: !q, %v: !q) -> (!q, !lse) {
  %mask = sparseattn.policy_mask #sparseattn.dense -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  return %o, %lse : !q, !lse
}
