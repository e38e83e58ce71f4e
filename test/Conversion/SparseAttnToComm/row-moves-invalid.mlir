// RUN: sparseattn-opt %s -split-input-file -sparseattn-convert-to-comm -verify-diagnostics

!q = tensor<4x256x64xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>

func.func @pre_without_block_shards(%q: !q, %k: !q, %v: !q) -> !q {
  // expected-error @below {{'sparseattn.place' op shards of the placement: got even parts, expected block_shards under the algorithm pre}}
  %p = sparseattn.place %q, %k on #placement : !q, !q
  %pq = sparseattn.pool %q block 64 : !q -> !p
  %pk = sparseattn.pool %k block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.125
    : !p, !p -> !mask
  %b = sparseattn.balance %p, %m using pre : !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %m with %b scale 0.125
    : !q, !q, !q, !mask -> !q, tensor<4x256xf32>
  return %o : !q
}

// -----

!q = tensor<4x256x64xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4, block_shards>

func.func @swap_with_block_shards(%q: !q, %k: !q, %v: !q) -> !q {
  // expected-error @below {{'sparseattn.place' op shards of the placement: got block_shards, expected even parts under the algorithm swap}}
  %p = sparseattn.place %q, %k on #placement : !q, !q
  %pq = sparseattn.pool %q block 64 : !q -> !p
  %pk = sparseattn.pool %k block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.125
    : !p, !p -> !mask
  %b = sparseattn.balance %p, %m using swap : !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %m with %b scale 0.125
    : !q, !q, !q, !mask -> !q, tensor<4x256xf32>
  return %o : !q
}

// -----

!q = tensor<4x256x64xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4, block_shards>

func.func @pools_after_the_exchange(%q: !q, %k: !q, %v: !q) -> !q {
  %p = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p to heads : !q
  // expected-error @below {{'sparseattn.pool' op input of pool: got a tensor in heads layout, expected q or k as it comes: balance pre plans before the exchange}}
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %k block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.125
    : !p, !p -> !mask
  %b = sparseattn.balance %p, %m using pre : !mask
  %o, %lse = sparseattn.attend %qh, %k, %v, %m with %b scale 0.125
    : !q, !q, !q, !mask -> !q, tensor<4x256xf32>
  return %o : !q
}

// -----

!q = tensor<4x256x64xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4, block_shards>

func.func @augments(%q: !q, %k: !q, %v: !q) -> !q {
  %p = sparseattn.place %q, %k on #placement : !q, !q
  %pq = sparseattn.pool %q block 64 : !q -> !p
  %pk = sparseattn.pool %k block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.125
    : !p, !p -> !mask
  %b = sparseattn.balance %p, %m using pre : !mask
  // expected-error @below {{'sparseattn.augment' op algorithm of balance: got pre, expected one that plans after the exchange: extra tiles follow scores that stay with the shards}}
  %a = sparseattn.augment %m, %b : !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %a with %b scale 0.125
    : !q, !q, !q, !mask -> !q, tensor<4x256xf32>
  return %o : !q
}
