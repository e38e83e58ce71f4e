// Wan 2.1 1.3B heads on 9 x 30 x 52 latent tokens (480p, 33 frames); tokens already in the mask's order.

!q = tensor<12x14040x128xf32>
!kv = tensor<12x14040x128xf32>
!lse = tensor<12x14040xf32>
!mask = !sparseattn.mask<12x110x110, block = 128x128, tokens = 14040x14040, order = <hilbert, grid = [9, 30, 52]>>

func.func @wan_1_3b_480p_short(%q: !q, %k: !kv, %v: !kv) -> (!q, !lse) {
  %pq = sparseattn.pool %q block 128 : !q -> tensor<12x110x128xf32>
  %pk = sparseattn.pool %k block 128 : !kv -> tensor<12x110x128xf32>
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 0.9, min_blocks = 4> scale 0.0883883476
    : tensor<12x110x128xf32>, tensor<12x110x128xf32> -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.0883883476
    : !q, !kv, !kv, !mask -> !q, !lse
  return %o, %lse : !q, !lse
}
