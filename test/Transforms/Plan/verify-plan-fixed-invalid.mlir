// RUN: sparseattn-opt %s --sparseattn-verify-plan --split-input-file --verify-diagnostics

// Rule 5: a plan for another mesh.
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
#plan = #sparseattn.plan<mesh = <ulysses = 4, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
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
  // expected-error @below {{'sparseattn.balance' op plan: plan's mesh axis ulysses does not match the placement: got 4, expected 2}}
  %p1 = sparseattn.balance %p0, %m0 using swap plan #plan : !mask
  %m1 = sparseattn.augment %m0, %p1 : !mask
  %p2 = sparseattn.demand %m1, %p1 : !mask
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m1 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

// Rule 5: a plan for grouped heads.
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
#plan = #sparseattn.plan<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 2, q_blocks = 4, kv_blocks = 4>
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
  // expected-error @below {{'sparseattn.balance' op plan: plan's number of kv heads does not match the placement: got 2, expected 4}}
  %p1 = sparseattn.balance %p0, %m0 using swap plan #plan : !mask
  %m1 = sparseattn.augment %m0, %p1 : !mask
  %p2 = sparseattn.demand %m1, %p1 : !mask
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m1 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

// Rule 5: a head that its origin does not own.
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
#plan = #sparseattn.plan<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4, moves = [[0, 1, 0]]>
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
  // expected-error @below {{'sparseattn.balance' op plan: source of the move of head 0 is not its owner: got ulysses 1, expected 0}}
  %p1 = sparseattn.balance %p0, %m0 using swap plan #plan : !mask
  %m1 = sparseattn.augment %m0, %p1 : !mask
  %p2 = sparseattn.demand %m1, %p1 : !mask
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m1 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

// Rule 5: two heads from one index.
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
#plan = #sparseattn.plan<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4, moves = [[0, 0, 1], [1, 0, 1]]>
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
  // expected-error @below {{'sparseattn.balance' op plan: more than one head leaves ulysses 0: got heads 0 and 1, expected at most one}}
  %p1 = sparseattn.balance %p0, %m0 using swap plan #plan : !mask
  %m1 = sparseattn.augment %m0, %p1 : !mask
  %p2 = sparseattn.demand %m1, %p1 : !mask
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m1 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

// Rule 6: a constant mask without a plan.
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  %m0 = sparseattn.explicit_mask dense<true> : tensor<4x4x4xi1> -> !mask
  // expected-error @below {{'sparseattn.balance' op plan of a constant mask: got none, expected one (run sparseattn-plan-constant-masks first)}}
  %p1 = sparseattn.balance %p0, %m0 using swap : !mask
  %p2 = sparseattn.demand %m0, %p1 : !mask
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m0 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

// Rule 6: extra tiles.
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
#plan = #sparseattn.plan<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4, extras = [[0, 0, 1]]>
!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  %m0 = sparseattn.explicit_mask dense<true> : tensor<4x4x4xi1> -> !mask
  // expected-error @below {{'sparseattn.balance' op extras in the plan of a constant mask: got 1, expected 0: extra tiles follow routing scores}}
  %p1 = sparseattn.balance %p0, %m0 using swap plan #plan : !mask
  %p2 = sparseattn.demand %m0, %p1 : !mask
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m0 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

// Rule 6: kv-block 3 of kv head 2 does not travel.
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
#plan = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4, transfers = [[0, 0, 1, 0, [2, 4]], [1, 0, 1, 0, [2, 4]], [2, 1, 1, 0, [2, 3]], [3, 1, 1, 0, [2, 4]], [0, 0, 0, 1, [0, 2]], [1, 0, 0, 1, [0, 2]], [2, 1, 0, 1, [0, 2]], [3, 1, 0, 1, [0, 2]]]>
!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  %m0 = sparseattn.explicit_mask dense<true> : tensor<4x4x4xi1> -> !mask
  // expected-error @below {{'sparseattn.balance' op transfers of the plan must hold what the mask needs: got none of kv-block 3, expected [2, 1, 1, 0, [3, 4]]}}
  %p1 = sparseattn.balance %p0, %m0 using swap plan #plan : !mask
  %p2 = sparseattn.demand %m0, %p1 : !mask
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m0 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}
