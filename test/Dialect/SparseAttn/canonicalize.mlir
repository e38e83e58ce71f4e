// RUN: sparseattn-opt %s --canonicalize --split-input-file | FileCheck %s

#order = #sparseattn.order<hilbert, grid = [2, 8, 8]>
#other = #sparseattn.order<stripes, grid = [2, 8, 8]>
!x = tensor<2x128x64xf32>

// CHECK-LABEL: func.func @permute_and_back
// CHECK-SAME: (%[[X:.*]]: tensor<2x128x64xf32>)
// CHECK-NEXT: return %[[X]], %[[X]]
func.func @permute_and_back(%x: !x) -> (!x, !x) {
  %0 = sparseattn.permute %x by #order : !x
  %1 = sparseattn.permute %0 by #order inverse : !x
  %2 = sparseattn.permute %x by #other inverse : !x
  %3 = sparseattn.permute %2 by #other : !x
  return %1, %3 : !x, !x
}

// Twice the same direction, and another order, are not the identity.
// CHECK-LABEL: func.func @permute_twice
// CHECK-COUNT-4: sparseattn.permute
func.func @permute_twice(%x: !x) -> (!x, !x) {
  %0 = sparseattn.permute %x by #order : !x
  %1 = sparseattn.permute %0 by #order : !x
  %2 = sparseattn.permute %x by #order : !x
  %3 = sparseattn.permute %2 by #other inverse : !x
  return %1, %3 : !x, !x
}

// CHECK-LABEL: func.func @permute_raster
// CHECK-SAME: (%[[X:.*]]: tensor<2x128x64xf32>)
// CHECK-NEXT: return %[[X]]
func.func @permute_raster(%x: !x) -> !x {
  %0 = sparseattn.permute %x by <raster, grid = [2, 8, 8]> : !x
  return %0 : !x
}

// CHECK-LABEL: func.func @reshard_and_back
// CHECK-SAME: (%[[X:[a-z0-9]*]]:
// CHECK-NEXT: return %[[X]]
func.func @reshard_and_back(%x: !x, %p: !sparseattn.plan) -> !x {
  %0 = sparseattn.reshard %x, %p to heads : !x
  %1 = sparseattn.reshard %0, %p to sequence : !x
  return %1 : !x
}

// By another plan, heads have moved in between.
// CHECK-LABEL: func.func @reshard_by_another_plan
// CHECK-COUNT-2: sparseattn.reshard
func.func @reshard_by_another_plan(%x: !x, %p: !sparseattn.plan,
                                   %other: !sparseattn.plan) -> !x {
  %0 = sparseattn.reshard %x, %p to heads : !x
  %1 = sparseattn.reshard %0, %other to sequence : !x
  return %1 : !x
}

// CHECK-LABEL: func.func @reshard_twice
// CHECK: %[[H:.*]] = sparseattn.reshard
// CHECK-NEXT: return %[[H]]
func.func @reshard_twice(%x: !x, %p: !sparseattn.plan) -> !x {
  %0 = sparseattn.reshard %x, %p to heads : !x
  %1 = sparseattn.reshard %0, %p to heads : !x
  return %1 : !x
}

// -----

!o = tensor<2x100x64xbf16>
!lse = tensor<2x100xf32>

// CHECK-LABEL: func.func @merge_with_empty
// CHECK-SAME: (%[[O:.*]]: tensor<2x100x64xbf16>, %[[L:.*]]: tensor<2x100xf32>)
// CHECK-NEXT: return %[[O]], %[[L]], %[[O]], %[[L]]
func.func @merge_with_empty(%o: !o, %lse: !lse) -> (!o, !lse, !o, !lse) {
  %zero = arith.constant dense<0.0> : !o
  %none = arith.constant dense<0xFF800000> : !lse
  %o0, %l0 = sparseattn.merge (%o, %lse), (%zero, %none) : !o, !lse
  %o1, %l1 = sparseattn.merge (%zero, %none), (%o, %lse) : !o, !lse
  return %o0, %l0, %o1, %l1 : !o, !lse, !o, !lse
}

// lse 0, lse +inf or an output that is not 0: not an empty partial.
// CHECK-LABEL: func.func @merge_with_something
// CHECK-COUNT-3: sparseattn.merge
func.func @merge_with_something(%o: !o, %lse: !lse) -> (!o, !o, !o) {
  %zero = arith.constant dense<0.0> : !o
  %one = arith.constant dense<1.0> : !o
  %weight = arith.constant dense<0.0> : !lse
  %all = arith.constant dense<0x7F800000> : !lse
  %none = arith.constant dense<0xFF800000> : !lse
  %o0, %l0 = sparseattn.merge (%o, %lse), (%zero, %weight) : !o, !lse
  %o1, %l1 = sparseattn.merge (%o, %lse), (%zero, %all) : !o, !lse
  %o2, %l2 = sparseattn.merge (%o, %lse), (%one, %none) : !o, !lse
  return %o0, %o1, %o2 : !o, !o, !o
}
