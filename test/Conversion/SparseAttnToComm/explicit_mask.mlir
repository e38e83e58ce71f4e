// RUN: sparseattn-opt %s --sparseattn-plan-constant-masks --sparseattn-convert-to-comm --sparseattn-verify-schedule | FileCheck %s

// A mask that is known now is loaded, not routed: nothing is pooled, summarised
// or planned at run time, and the plan's moves are in the program. Loads 4, 3 |
// 1, 0: head 1 goes to rank 1, which leaves 4 and 4.

!q = tensor<4x64x64xf32>
!k = tensor<4x256x64xf32>
!lse = tensor<4x64xf32>
!mask = !sparseattn.mask<4x1x4, block = 64x64, tokens = 64x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 1, kv_blocks = 4>

// CHECK-NOT: sparseattn.
// CHECK-NOT: sa_comm.template
// CHECK: sa_comm.program @layer mesh <ulysses = 2, ring = 1>
// CHECK: policy <explicit>
// CHECK-NOT: sa_comm.symbol
// CHECK-NOT: @pooled
// CHECK-NOT: @summary
// CHECK: sa_comm.mask 4 x 1 x 4 {
// CHECK-NEXT: head 0 {
// CHECK-NEXT: row 0 [0:4]
// CHECK-NEXT: }
// CHECK-NEXT: head 1 {
// CHECK-NEXT: row 0 [0:3]
// CHECK-NEXT: }
// CHECK-NEXT: head 2 {
// CHECK-NEXT: row 0 [1]
// CHECK-NEXT: }
// CHECK-NEXT: head 3 {
// CHECK-NEXT: row 0 []
// CHECK: sa_comm.rank 0 {
// CHECK: sa_comm.load_mask @mask work [
// CHECK-NEXT: {head = 0, q = 0, kv = 0, rows = 0:1, cols = 0:4},
// CHECK-NEXT: {head = 1, q = 1, kv = 1, rows = 0:1, cols = 0:4}
// CHECK: sa_comm.send @q {{\[\[}}1, 0:64]] to 1
// CHECK: sa_comm.send @mask {{\[\[}}1, 0:1]] to 1
// CHECK-NEXT: sa_comm.attend {{.*}} work [{head = 0, q = 0, kv = 0, rows = 0:1, cols = 0:4}]
// CHECK-NEXT: sa_comm.wait
// CHECK-NOT: sa_comm.attend
// CHECK: sa_comm.rank 1 {
// CHECK: sa_comm.recv @q {{\[\[}}2, 0:64]] from 0
// CHECK: sa_comm.wait
// CHECK: sa_comm.attend {{.*}} work [{head = 1, q = 2, kv = 2, rows = 0:1, cols = 0:4}]
// CHECK-NOT: sa_comm.plan
// CHECK-NOT: sa_comm.route
// CHECK-NOT: sa_comm.rank
func.func @layer(%q: !q, %k: !k, %v: !k) -> (!q, !lse) {
  %p = sparseattn.place %q, %k on #placement : !q, !k
  %qh = sparseattn.reshard %q, %p to heads : !q
  %kh = sparseattn.reshard %k, %p to heads : !k
  %m = sparseattn.explicit_mask dense<[
    [[true, true, true, true]], [[true, true, true, false]],
    [[false, true, false, false]], [[false, false, false, false]]]>
    : tensor<4x1x4xi1> -> !mask
  %b = sparseattn.balance %p, %m using swap : !mask
  %vh = sparseattn.reshard %v, %p to heads : !k
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %b scale 0.125
    : !q, !k, !k, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %b to sequence : !q
  %ls = sparseattn.reshard %lse, %b to sequence : !lse
  return %os, %ls : !q, !lse
}
