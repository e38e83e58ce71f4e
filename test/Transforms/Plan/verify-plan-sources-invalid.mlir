// RUN: sparseattn-opt %s --sparseattn-verify-plan --split-input-file --verify-diagnostics

// Rule 1: no plan.
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m0 = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  %p1 = sparseattn.balance %p0, %m0 using swap : !mask
  %m1 = sparseattn.augment %m0, %p1 : !mask
  %p2 = sparseattn.demand %m1, %p1 : !mask
  // expected-error @below {{'sparseattn.attend' op plan: got none, expected one (run sparseattn-insert-plan first)}}
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m1 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

// Rule 1: no demand.
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m0 = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  %p1 = sparseattn.balance %p0, %m0 using swap : !mask
  %m1 = sparseattn.augment %m0, %p1 : !mask
  %p2 = sparseattn.demand %m1, %p1 : !mask
  // expected-error @below {{'sparseattn.attend' op source of the plan: got 'sparseattn.balance', expected 'sparseattn.demand'}}
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m1 with %p1 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

// Rule 1: no balance.
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m0 = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  %p1 = sparseattn.balance %p0, %m0 using swap : !mask
  %m1 = sparseattn.augment %m0, %p1 : !mask
  // expected-error @below {{'sparseattn.demand' op source of the plan: got 'sparseattn.place', expected 'sparseattn.balance'}}
  %p2 = sparseattn.demand %m1, %p0 : !mask
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m1 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

// Rule 1: no place.
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
func.func @layer(%q: !q, %k: !q, %v: !q, %px: !sparseattn.plan) -> !q {
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m0 = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  // expected-error @below {{'sparseattn.balance' op source of the plan: got an argument, expected 'sparseattn.place'}}
  %p1 = sparseattn.balance %px, %m0 using swap : !mask
  %m1 = sparseattn.augment %m0, %p1 : !mask
  %p2 = sparseattn.demand %m1, %p1 : !mask
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m1 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}
