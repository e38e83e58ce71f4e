// RUN: sparseattn-opt %s --sparseattn-verify-plan --split-input-file --verify-diagnostics

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
