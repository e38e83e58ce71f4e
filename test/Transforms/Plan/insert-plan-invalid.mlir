// RUN: sparseattn-opt %s --sparseattn-insert-plan="ulysses=2 balance=swap augment=true" --split-input-file --verify-diagnostics

!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
func.func @constant(%q: !q, %k: !q, %v: !q) -> !q {
  %mask = sparseattn.explicit_mask dense<true> : tensor<4x4x4xi1> -> !mask
  // expected-error @below {{'sparseattn.attend' op mask to augment: got one made by 'sparseattn.explicit_mask', expected 'sparseattn.route': extra tiles follow its scores}}
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  return %o : !q
}

// -----

!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
func.func @argument(%q: !q, %k: !q, %v: !q, %mask: !mask) -> !q {
  // expected-error @below {{'sparseattn.attend' op source of the mask: got an argument, expected 'sparseattn.route' or 'sparseattn.explicit_mask'}}
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  return %o : !q
}

// -----

!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
func.func @computed(%q0: !q, %k: !q, %v: !q) -> !q {
  %q = sparseattn.permute %q0 by <hilbert, grid = [4, 8, 8]> : !q
  %pq = sparseattn.pool %q block 64 : !q -> !p
  %pk = sparseattn.pool %k block 64 : !q -> !p
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  // expected-error @below {{'sparseattn.attend' op q: got a value made by 'sparseattn.permute', expected an argument of the layer}}
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  return %o : !q
}

// -----

!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
func.func @two(%q: !q, %k: !q, %v: !q) -> !q {
  %pq = sparseattn.pool %q block 64 : !q -> !p
  %pk = sparseattn.pool %k block 64 : !q -> !p
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  // expected-note @below {{the first is here}}
  %o1, %lse1 = sparseattn.attend %q, %k, %v, %mask scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  // expected-error @below {{'sparseattn.attend' op attend ops of a layer: got 2, expected 1}}
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  return %o : !q
}

// -----

!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
func.func @blocks(%q: !q, %k: !q, %v: !q) -> !q {
  cf.br ^bb1
^bb1:
  %pq = sparseattn.pool %q block 64 : !q -> !p
  %pk = sparseattn.pool %k block 64 : !q -> !p
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  // expected-error @below {{'sparseattn.attend' op block of attend: got one of several, expected the only block of the layer}}
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  return %o : !q
}

// -----

!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 4, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
func.func @planned(%q: !q, %k: !q, %v: !q) -> !q {
  // expected-error @below {{'sparseattn.place' op mesh of a layer that has a plan: got ulysses = 4, ring = 1, expected ulysses = 2, ring = 1 as the options say}}
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  %p1 = sparseattn.balance %p0, %mask using swap : !mask
  %p2 = sparseattn.demand %mask, %p1 : !mask
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %mask with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
func.func @planned(%q: !q, %k: !q, %v: !q) -> !q {
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  // expected-error @below {{'sparseattn.balance' op algorithm of a layer that has a plan: got none, expected swap as the options say}}
  %p1 = sparseattn.balance %p0, %mask using none : !mask
  %p2 = sparseattn.demand %mask, %p1 : !mask
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %mask with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
func.func @planned(%q: !q, %k: !q, %v: !q) -> !q {
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  %p1 = sparseattn.balance %p0, %mask using swap : !mask
  %p2 = sparseattn.demand %mask, %p1 : !mask
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  // expected-error @below {{'sparseattn.attend' op mask of a layer that has a plan: got 'sparseattn.route', expected 'sparseattn.augment' as the options say}}
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %mask with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}
