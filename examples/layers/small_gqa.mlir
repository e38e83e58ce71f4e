// Grouped heads, a causal mask, more keys than queries.

!q = tensor<8x500x64xf32>
!kv = tensor<2x700x64xf32>
!lse = tensor<8x500xf32>
!mask = !sparseattn.mask<8x8x11, block = 64x64, tokens = 500x700, causal>

func.func @small_gqa(%q: !q, %k: !kv, %v: !kv) -> (!q, !lse) {
  %pq = sparseattn.pool %q block 64 : !q -> tensor<8x8x64xf32>
  %pk = sparseattn.pool %k block 64 : !kv -> tensor<2x11x64xf32>
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 0.9, min_blocks = 2> scale 0.125
    : tensor<8x8x64xf32>, tensor<2x11x64xf32> -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.125
    : !q, !kv, !kv, !mask -> !q, !lse
  return %o, %lse : !q, !lse
}
