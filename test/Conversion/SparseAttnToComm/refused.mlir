// RUN: sparseattn-opt %s --sparseattn-convert-to-comm --split-input-file --verify-diagnostics

// What a layer must have, once.

!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
// expected-error @below {{'func.func' op place op of the layer: got none, expected one (run sparseattn-insert-plan first)}}
func.func @unplanned(%q: !q, %k: !q, %v: !q) -> !q {
  %m = sparseattn.explicit_mask dense<true> : tensor<4x4x4xi1> -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  return %o : !q
}

// -----

!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
func.func @no_mask(%q: !q, %k: !q, %v: !q, %m: !mask) -> !q {
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %b = sparseattn.balance %p0, %m using swap : !mask
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  // expected-error @below {{'sparseattn.attend' op mask source: got neither, expected one of route, explicit_mask (run sparseattn-fold-masks first)}}
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %b scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %b to sequence : !q
  return %os : !q
}

// -----

!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  %c = sparseattn.explicit_mask dense<true> : tensor<4x4x4xi1> -> !mask
  %b = sparseattn.balance %p0, %m using swap : !mask
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  // expected-error @below {{'sparseattn.attend' op mask source: got route and explicit_mask, expected one of route, explicit_mask (run sparseattn-fold-masks first)}}
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %b scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %b to sequence : !q
  return %os : !q
}

// -----

!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  // expected-error @below {{'sparseattn.route' op balance op of a routed layer: got none, expected one (run sparseattn-insert-plan first)}}
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %p0 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p0 to sequence : !q
  return %os : !q
}

// -----

!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  // expected-note @below {{the first is here}}
  %b = sparseattn.balance %p0, %m using swap : !mask
  // expected-error @below {{'sparseattn.balance' op count in a layer must be at most one: got a second, expected none}}
  %b2 = sparseattn.balance %p0, %m using none : !mask
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %b scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %b to sequence : !q
  return %os : !q
}

// -----

!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  %b = sparseattn.balance %p0, %m using swap : !mask
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  // expected-note @below {{the first is here}}
  %o1, %lse1 = sparseattn.attend %qh, %kh, %vh, %m with %b scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  // expected-error @below {{'sparseattn.attend' op count in a layer must be at most one: got a second, expected none}}
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %b scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %b to sequence : !q
  return %os : !q
}

// -----

!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  // expected-error @below {{'sparseattn.explicit_mask' op plan of a constant mask: got none, expected one on the layer's balance op (run sparseattn-plan-constant-masks first)}}
  %m = sparseattn.explicit_mask dense<true> : tensor<4x4x4xi1> -> !mask
  %b = sparseattn.balance %p0, %m using swap : !mask
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %b scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %b to sequence : !q
  return %os : !q
}

// -----

!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %m = sparseattn.explicit_mask dense<true> : tensor<4x4x4xi1> -> !mask
  // expected-error @below {{'sparseattn.balance' op plan: source of the move of head 0 is not its owner: got ulysses 1, expected 0}}
  %b = sparseattn.balance %p0, %m using swap plan <mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4, moves = [[0, 1, 0]]> : !mask
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %b scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %b to sequence : !q
  return %os : !q
}
