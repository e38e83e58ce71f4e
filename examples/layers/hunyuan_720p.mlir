// HunyuanVideo at 720p, 129 frames: 33 x 45 x 80 tokens and 256 text tokens behind
// them (their kv-blocks are always kept), 24 heads; tokens already in the mask's order.

!q = tensor<24x119056x128xbf16>
!kv = tensor<24x119056x128xbf16>
!lse = tensor<24x119056xf32>
!mask = !sparseattn.mask<24x931x931, block = 128x128, tokens = 119056x119056, order = <hilbert, grid = [33, 45, 80], suffix = 256>>

func.func @hunyuan_720p(%q: !q, %k: !kv, %v: !kv) -> (!q, !lse) {
  %pq = sparseattn.pool %q block 128 : !q -> tensor<24x931x128xf32>
  %pk = sparseattn.pool %k block 128 : !kv -> tensor<24x931x128xf32>
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 0.85, min_blocks = 4, keep = [[928, 931]]> scale 0.0883883476
    : tensor<24x931x128xf32>, tensor<24x931x128xf32> -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.0883883476
    : !q, !kv, !kv, !mask -> !q, !lse
  return %o, %lse : !q, !lse
}
