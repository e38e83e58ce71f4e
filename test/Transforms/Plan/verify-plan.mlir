// RUN: sparseattn-opt %s --split-input-file -o %t.before
// RUN: sparseattn-opt %s --sparseattn-verify-plan --split-input-file -o %t.after

// The pass accepts these and changes nothing.
// RUN: diff %t.before %t.after

// A layer with everything, and a routed one with the plan of a run.
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
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
#plan = #sparseattn.plan<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4, moves = [[1, 0, 1], [2, 1, 0]], extras = [[0, 0, 2]], loads_before = [9, 7], loads_after = [8, 8]>
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
  %p1 = sparseattn.balance %p0, %m0 using swap plan #plan : !mask
  %m1 = sparseattn.augment %m0, %p1 : !mask
  %p2 = sparseattn.demand %m1, %p1 : !mask
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m1 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

// A constant mask over two ring segments.
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
#plan = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4, transfers = [[0, 0, 1, 0, [2, 4]], [1, 0, 1, 0, [2, 4]], [2, 1, 1, 0, [2, 4]], [3, 1, 1, 0, [2, 4]], [0, 0, 0, 1, [0, 2]], [1, 0, 0, 1, [0, 2]], [2, 1, 0, 1, [0, 2]], [3, 1, 0, 1, [0, 2]]]>
!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p0 = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p0 to heads : !q
  %kh = sparseattn.reshard %k, %p0 to heads : !q
  %vh = sparseattn.reshard %v, %p0 to heads : !q
  %m0 = sparseattn.explicit_mask dense<true> : tensor<4x4x4xi1> -> !mask
  %p1 = sparseattn.balance %p0, %m0 using swap plan #plan : !mask
  %p2 = sparseattn.demand %m0, %p1 : !mask
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m0 with %p2 scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %p2 to sequence : !q
  return %os : !q
}

// -----

// Nothing to verify.
func.func @no_attend(%x: tensor<2x100x64xf32>) -> tensor<2x100x64xf32> {
  return %x : tensor<2x100x64xf32>
}
