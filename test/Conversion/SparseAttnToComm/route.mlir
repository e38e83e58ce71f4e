// RUN: sparseattn-opt %s --sparseattn-convert-to-comm --split-input-file | FileCheck %s

// Ranks of a ring exchange pooled keys before they route; a rank's mask lists
// have a count and room for every kv-block, its summaries a bit for each.

!q = tensor<4x256x64xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>

// CHECK-LABEL: sa_comm.template @layer
// CHECK: scale 0.125 policy <top_p, p = 0.9, min_blocks = 2, keep = {{.*}}>
// CHECK: sa_comm.window @pooled_k_all : 3 x 4 x 64 x f32{{$}}
// CHECK: sa_comm.window @mask : 3 x 2 x 5 x i32{{$}}
// CHECK: sa_comm.window @summary : 4 x 1 x 4 x i32{{$}}
// CHECK-DAG: sa_comm.symbol @gk_send static
// CHECK-DAG: sa_comm.symbol @route static
// CHECK: sa_comm.phase 2 "gather_k"
// CHECK-NEXT: sa_comm.all_gather ring @pooled_k -> @pooled_k_all send @gk_send recv @gk_recv counts @gk_recv_n
// CHECK-NEXT: sa_comm.phase 3 "route"
// CHECK-NEXT: sa_comm.route @pooled_q, @pooled_k_all -> @mask, @summary work @route
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p to heads : !q
  %kh = sparseattn.reshard %k, %p to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 0.9, min_blocks = 2, keep = [[0, 1]]> scale 0.125
    : !p, !p -> !mask
  %b = sparseattn.balance %p, %m using swap : !mask
  %vh = sparseattn.reshard %v, %p to heads : !q
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %b scale 0.125
    : !q, !q, !q, !mask -> !q, tensor<4x256xf32>
  %os = sparseattn.reshard %o, %b to sequence : !q
  return %os : !q
}

// -----

// One segment has all keys.

!q = tensor<4x256x64xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 4, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>

// CHECK-LABEL: sa_comm.template @layer
// CHECK: scale 0.125 policy <top_k, k = 3, keep = {{.*0.*3.*}}>
// CHECK-NOT: pooled_k_all
// CHECK: sa_comm.phase 2 "route"
// CHECK-NEXT: sa_comm.route @pooled_q, @pooled_k -> @mask, @summary work @route
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p to heads : !q
  %kh = sparseattn.reshard %k, %p to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 3, keep = [[0, 1], [3, 4]]> scale 0.125
    : !p, !p -> !mask
  %b = sparseattn.balance %p, %m using swap : !mask
  %vh = sparseattn.reshard %v, %p to heads : !q
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %b scale 0.125
    : !q, !q, !q, !mask -> !q, tensor<4x256xf32>
  %os = sparseattn.reshard %o, %b to sequence : !q
  return %os : !q
}

// -----

!q = tensor<4x256x64xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256, causal>
#placement = #sparseattn.placement<mesh = <ulysses = 1, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>

// CHECK-LABEL: sa_comm.template @layer
// CHECK: causal
// CHECK: scale 0.125 policy <dense>
// CHECK: sa_comm.route @pooled_q, @pooled_k -> @mask, @summary work @route
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p to heads : !q
  %kh = sparseattn.reshard %k, %p to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.dense scale 0.125
    : !p, !p -> !mask
  %b = sparseattn.balance %p, %m using none : !mask
  %vh = sparseattn.reshard %v, %p to heads : !q
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %b scale 0.125
    : !q, !q, !q, !mask -> !q, tensor<4x256xf32>
  %os = sparseattn.reshard %o, %b to sequence : !q
  return %os : !q
}

// -----

// Numbers beyond those of a schedule mean the same as its largest.

!q = tensor<4x256x64xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 1, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>

// CHECK-LABEL: sa_comm.template @huge_p
// CHECK: policy <top_p, p = 3.4028235e+38, min_blocks = 2147483648>
func.func @huge_p(%q: !q, %k: !q, %v: !q) -> !q {
  %p = sparseattn.place %q, %k on #placement : !q, !q
  %pq = sparseattn.pool %q block 64 : !q -> !p
  %pk = sparseattn.pool %k block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 1.0e300, min_blocks = 9223372036854775807> scale 0.125
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
#placement = #sparseattn.placement<mesh = <ulysses = 1, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>

// CHECK-LABEL: sa_comm.template @huge_k
// CHECK: policy <top_k, k = 2147483648>
func.func @huge_k(%q: !q, %k: !q, %v: !q) -> !q {
  %p = sparseattn.place %q, %k on #placement : !q, !q
  %pq = sparseattn.pool %q block 64 : !q -> !p
  %pk = sparseattn.pool %k block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 9223372036854775807> scale 0.125
    : !p, !p -> !mask
  %b = sparseattn.balance %p, %m using swap : !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %m with %b scale 0.125
    : !q, !q, !q, !mask -> !q, tensor<4x256xf32>
  return %o : !q
}
