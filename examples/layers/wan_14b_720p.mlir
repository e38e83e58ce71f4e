// Wan 2.1 / 2.2 14B at 720p, 81 frames: 21 x 45 x 80 tokens, 40 heads, blocks of
// 128 x 64 as FVAttn uses; tokens already in the mask's order.

!q = tensor<40x75600x128xbf16>
!kv = tensor<40x75600x128xbf16>
!lse = tensor<40x75600xf32>
!mask = !sparseattn.mask<40x591x1182, block = 128x64, tokens = 75600x75600, order = <hilbert, grid = [21, 45, 80]>>

func.func @wan_14b_720p(%q: !q, %k: !kv, %v: !kv) -> (!q, !lse) {
  %pq = sparseattn.pool %q block 128 : !q -> tensor<40x591x128xf32>
  %pk = sparseattn.pool %k block 64 : !kv -> tensor<40x1182x128xf32>
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 0.9, min_blocks = 4> scale 0.0883883476
    : tensor<40x591x128xf32>, tensor<40x1182x128xf32> -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.0883883476
    : !q, !kv, !kv, !mask -> !q, !lse
  return %o, %lse : !q, !lse
}
