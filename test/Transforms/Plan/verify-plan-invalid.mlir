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

// -----

// Rule 2: heads x blocks.
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 5>
!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  // expected-error @below {{'sparseattn.place' op kv-blocks of a placement must equal those of the mask: got 5, expected 4}}
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
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m1 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

// Rule 2: another q is placed.
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
func.func @layer(%q: !q, %k: !q, %v: !q, %x: tensor<4x250x64xf32>) -> !q {
  // expected-error @below {{'sparseattn.place' op tokens of q of a placement must equal those of the mask: got 250, expected 256}}
  %p0 = sparseattn.place %x, %k on #placement : tensor<4x250x64xf32>, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m0 = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  %p1 = sparseattn.balance %p0, %m0 using swap : !mask
  %m1 = sparseattn.augment %m0, %p1 : !mask
  %p2 = sparseattn.demand %m1, %p1 : !mask
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m1 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

// Rule 3: demand before augmentation.
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
  // expected-error @below {{'sparseattn.demand' op mask must be the one that is attended: got 'sparseattn.route', expected 'sparseattn.augment'}}
  %p2 = sparseattn.demand %m0, %p1 : !mask
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m1 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

// Rule 3: augmentation by the plan before balance.
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
  // expected-error @below {{'sparseattn.augment' op plan must be the balanced one: got 'sparseattn.place', expected the 'sparseattn.balance' of attend's plan}}
  %m1 = sparseattn.augment %m0, %p0 : !mask
  %p2 = sparseattn.demand %m1, %p1 : !mask
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m1 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

// Rule 3: balanced for another mask.
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
func.func @layer(%q: !q, %k: !q, %v: !q, %mx: !mask) -> !q {
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m0 = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  // expected-error @below {{'sparseattn.balance' op mask must be the one that is attended: got an argument, expected 'sparseattn.route'}}
  %p1 = sparseattn.balance %p0, %mx using swap : !mask
  %m1 = sparseattn.augment %m0, %p1 : !mask
  %p2 = sparseattn.demand %m1, %p1 : !mask
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m1 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

// Rule 4: v is not exchanged.
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
  // expected-error @below {{'sparseattn.attend' op v must be in heads layout: got an argument, expected a 'sparseattn.reshard' to heads}}
  %o, %lse = sparseattn.attend %qh, %kh, %v, %m1 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

// Rule 4: exchanged by the balanced plan, before its moves.
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m0 = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  %p1 = sparseattn.balance %p0, %m0 using swap : !mask
  %m1 = sparseattn.augment %m0, %p1 : !mask
  // expected-error @below {{'sparseattn.reshard' op plan of v must be that of 'sparseattn.place': got 'sparseattn.balance'}}
  %vh = sparseattn.reshard %v, %p1 to heads : !q
  %p2 = sparseattn.demand %m1, %p1 : !mask
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m1 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

// Rule 4: exchanged twice.
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %vx = sparseattn.reshard %v, %p0 to sequence : !q
  // expected-error @below {{'sparseattn.reshard' op input of a reshard to heads: got another reshard, expected a tensor in sequence layout}}
  %vh = sparseattn.reshard %vx, %p0 to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m0 = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  %p1 = sparseattn.balance %p0, %m0 using swap : !mask
  %m1 = sparseattn.augment %m0, %p1 : !mask
  %p2 = sparseattn.demand %m1, %p1 : !mask
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m1 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

// Rule 4: pooled before the exchange.
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
  // expected-error @below {{'sparseattn.pool' op input must be in heads layout: got an argument, expected a 'sparseattn.reshard' to heads}}
  %pq = sparseattn.pool %q block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m0 = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  %p1 = sparseattn.balance %p0, %m0 using swap : !mask
  %m1 = sparseattn.augment %m0, %p1 : !mask
  %p2 = sparseattn.demand %m1, %p1 : !mask
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m1 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

// Rule 4: a result that stays in heads layout.
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
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m1 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  // expected-error @below {{'func.return' op use of a result of attend in heads layout: got 'func.return', expected a 'sparseattn.reshard' to sequence}}
  return %o : !q
}

// -----

// Rule 4: back by a plan without the moves.
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
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m1 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  // expected-error @below {{'sparseattn.reshard' op plan of a result must be that of attend: got 'sparseattn.place'}}
  %os = sparseattn.reshard %o, %p0 to sequence : !q
  return %os : !q
}

// -----

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
