// A layer small enough to read everything that is made of it: 4 heads, 120
// tokens in 8 blocks of 16 (the last has 8 tokens).

!x = tensor<4x120x32xf32>
!lse = tensor<4x120xf32>
!pooled = tensor<4x8x32xf32>
!mask = !sparseattn.mask<4x8x8, block = 16x16, tokens = 120x120>

func.func @layer(%q: !x, %k: !x, %v: !x) -> (!x, !lse) {
  %pq = sparseattn.pool %q block 16 : !x -> !pooled
  %pk = sparseattn.pool %k block 16 : !x -> !pooled
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 0.8, min_blocks = 1> scale 4.0
    : !pooled, !pooled -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 4.0 : !x, !x, !x, !mask -> !x, !lse
  return %o, %lse : !x, !lse
}
