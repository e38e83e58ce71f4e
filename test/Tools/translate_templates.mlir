// RUN: sparseattn-opt %s --compile-to=comm --compile-to-options="ulysses=2 ring=3 augment=true" -o %t.mlir
// RUN: sparseattn-translate --sa-comm-to-program %t.mlir -o %t.bin
// RUN: sparseattn-translate --program-to-sa-comm %t.bin -o %t.back.mlir
// RUN: FileCheck %s --input-file=%t.back.mlir
// RUN: sparseattn-opt %t.back.mlir --sparseattn-verify-schedule -o %t.verified.mlir
// RUN: sparseattn-translate --sa-comm-to-program %t.back.mlir | cmp - %t.bin

// A template too: symbols, routing policy and planner options are in the bytes.
// Phases come back under the names of their kinds.

// CHECK: sa_comm.template @layer mesh <ulysses = 2, ring = 3>
// CHECK: policy <top_p, p = 0.9, min_blocks = 2, keep = {{.*}}>
// CHECK: sa_comm.symbol @xq_send static
// CHECK: sa_comm.symbol @augment dynamic
// CHECK: sa_comm.phase 0 "exchange"
// CHECK: sa_comm.attend @q, @k, @v, @mask -> @o_part, @lse_part work @attend_remote_2
!t = tensor<4x256x64xbf16>
!p = tensor<4x4x64xf32>
!lse = tensor<4x256xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
func.func @layer(%q: !t, %k: !t, %v: !t) -> (!t, !lse) {
  %pq = sparseattn.pool %q block 64 : !t -> !p
  %pk = sparseattn.pool %k block 64 : !t -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 0.9, min_blocks = 2, keep = [[0, 1]]> scale 0.1
    : !p, !p -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.1
    : !t, !t, !t, !mask -> !t, !lse
  return %o, %lse : !t, !lse
}
