// RUN: sparseattn-opt %s --compile-to=comm --compile-to-options="ulysses=2 ring=2" -o %t.mlir
// RUN: sparseattn-translate --sa-comm-to-program %t.mlir -o %t.bin
// RUN: sparseattn-translate --program-to-sa-comm %t.bin -o %t.back.mlir
// RUN: diff %t.mlir %t.back.mlir
// RUN: sparseattn-translate --sa-comm-to-program %t.back.mlir | cmp - %t.bin
// RUN: cat %t.bin | sparseattn-translate --program-to-sa-comm - | diff - %t.mlir
// RUN: head -c 6 %t.bin | FileCheck %s

// A layer's schedule to bytes and back is the same text.
// CHECK: SAPROG
!t = tensor<4x256x64xf32>
!lse = tensor<4x256xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256, causal>
func.func @layer(%q: !t, %k: !t, %v: !t) -> (!t, !lse) {
  %m = sparseattn.policy_mask #sparseattn.dense -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.1
    : !t, !t, !t, !mask -> !t, !lse
  return %o, %lse : !t, !lse
}
