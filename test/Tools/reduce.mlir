// What fails is left, what has no part in it goes.
// RUN: cd %S && sparseattn-reduce %s -reduction-tree='traversal-mode=0 test=Inputs/fails_without_route.sh' -o %t
// RUN: not sparseattn-opt %t --sparseattn-insert-plan 2>&1 | FileCheck %s --check-prefix=FAILS
// RUN: FileCheck %s < %t

// A module that does not fail is refused.
// RUN: cd %S && not sparseattn-reduce %S/../../examples/layers/small.mlir -reduction-tree='traversal-mode=0 test=Inputs/fails_without_route.sh' 2>&1 | FileCheck %s --check-prefix=FINE

// RUN: %python -c "print('module {' * 20000)" > %t.deep && not sparseattn-reduce %t.deep -reduction-tree='traversal-mode=0 test=none' 2>&1 | FileCheck %s --check-prefix=DEEP
// DEEP: error: {{.*}}.deep: line 1: nesting of the text: got more than 256

// An output survives a run that fails, and may be the input.
// RUN: echo old > %t.old && cd %S && not sparseattn-reduce %S/../../examples/layers/small.mlir -reduction-tree='traversal-mode=0 test=Inputs/fails_without_route.sh' -o %t.old
// RUN: grep old %t.old
// RUN: cp %s %t.same && cd %S && sparseattn-reduce %t.same -reduction-tree='traversal-mode=0 test=Inputs/fails_without_route.sh' -o %t.same
// RUN: diff %t %t.same
// RUN: not sparseattn-reduce %s -reduction-tree='traversal-mode=0 test=none' -o %t.none/x 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: error: -o: got '{{.*}}' (no folder '{{.*}}'), expected a path in an existing folder

// FAILS: error: 'sparseattn.attend' op source of the mask: got an argument, expected 'sparseattn.route' or 'sparseattn.explicit_mask'
// FINE: error: reduction: got no result, expected a module that can be read and for which the script of -reduction-tree ends with a status other than 0

!q = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>

// CHECK-NOT: func.func @pooled
func.func @pooled(%q: !q) -> !p {
  %0 = sparseattn.pool %q block 64 : !q -> !p
  return %0 : !p
}

// CHECK: func.func @argument
// CHECK-NOT: sparseattn.pool
// CHECK: sparseattn.attend
func.func @argument(%q: !q, %k: !q, %v: !q, %mask: !mask) -> !q {
  %unused = sparseattn.pool %q block 64 : !q -> !p
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  return %o : !q
}

// CHECK-NOT: func.func @routed
func.func @routed(%q: !q, %k: !q) -> !mask {
  %pq = sparseattn.pool %q block 64 : !q -> !p
  %pk = sparseattn.pool %k block 64 : !q -> !p
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 0.9, min_blocks = 2> scale 0.125 : !p, !p -> !mask
  return %mask : !mask
}
