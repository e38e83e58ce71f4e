// A small layer to play with: 4 heads, 1,000 tokens (the last block is partial).

!q = tensor<4x1000x64xf32>
!kv = tensor<4x1000x64xf32>
!lse = tensor<4x1000xf32>
!mask = !sparseattn.mask<4x16x16, block = 64x64, tokens = 1000x1000>

func.func @small(%q: !q, %k: !kv, %v: !kv) -> (!q, !lse) {
  %pq = sparseattn.pool %q block 64 : !q -> tensor<4x16x64xf32>
  %pk = sparseattn.pool %k block 64 : !kv -> tensor<4x16x64xf32>
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 0.9, min_blocks = 2> scale 0.125
    : tensor<4x16x64xf32>, tensor<4x16x64xf32> -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.125
    : !q, !kv, !kv, !mask -> !q, !lse
  return %o, %lse : !q, !lse
}
