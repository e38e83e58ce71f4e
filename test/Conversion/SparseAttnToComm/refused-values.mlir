// RUN: sparseattn-opt %s --sparseattn-convert-to-comm --split-input-file --verify-diagnostics

// Values that are not what a layer hands on.

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
  // expected-error @below {{'sparseattn.attend' op v must be argument 2 of the layer: got argument 1, expected argument 2}}
  %o, %lse = sparseattn.attend %qh, %kh, %kh, %m with %b scale 0.1 : !q, !q, !q, !mask -> !q, !lse
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
  %qx = sparseattn.permute %qh by <hilbert, grid = [4, 8, 8]> : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  %b = sparseattn.balance %p0, %m using swap : !mask
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  // expected-error @below {{'sparseattn.attend' op q must be argument 0 of the layer: got a computed value, expected argument 0}}
  %o, %lse = sparseattn.attend %qx, %kh, %vh, %m with %b scale 0.1 : !q, !q, !q, !mask -> !q, !lse
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
  // expected-error @below {{'sparseattn.route' op scale must equal that of attend: got 2.000000e-01, expected 1.000000e-01}}
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.2 : !p, !p -> !mask
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
  %b = sparseattn.balance %p0, %m using swap : !mask
  // expected-error @below {{'sparseattn.augment' op mask of augment: got a constant, expected a routed mask: extra tiles follow its scores}}
  %a = sparseattn.augment %m, %b : !mask
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %a with %b scale 0.1 : !q, !q, !q, !mask -> !q, !lse
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
  %vh0 = sparseattn.reshard %v, %p0 to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  // expected-error @below {{'sparseattn.pool' op input of pool: got another value, expected q or k of the layer}}
  %pk = sparseattn.pool %vh0 block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
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
func.func @layer(%q: !q, %k: !q, %v: !q, %w: !q) -> !q {
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  // expected-error @below {{'sparseattn.reshard' op input of a reshard to heads: got a computed value, expected argument 0, 1 or 2 of the layer}}
  %wh = sparseattn.reshard %w, %p0 to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
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
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  %b = sparseattn.balance %p0, %m using swap : !mask
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %b scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  // expected-error @below {{'sparseattn.reshard' op input of a reshard to sequence: got another value, expected a result of attend}}
  %os = sparseattn.reshard %qh, %b to sequence : !q
  return %os : !q
}

// -----

!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  // expected-error @below {{'sparseattn.permute' op op in a layer: got 'sparseattn.permute', expected the ops that sparseattn-convert-to-comm lowers}}
  %qo = sparseattn.permute %q by <hilbert, grid = [4, 8, 8]> : !q
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
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
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  // expected-error @below {{'sparseattn.balance' op picoseconds per tile out of range: got 9223372036854775807, expected 0 to 1099511627776}}
  %b = sparseattn.balance %p0, %m using swap cost <tile_ps = 9223372036854775807> : !mask
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
  // expected-error @below {{'sparseattn.balance' op k2 out of range: got 9223372036854775807, expected 1000 to 1000000 thousandths}}
  %b = sparseattn.balance %p0, %m using swap thresholds 1000, 9223372036854775807 : !mask
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %b scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %b to sequence : !q
  return %os : !q
}
