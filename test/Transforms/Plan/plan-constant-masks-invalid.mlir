// RUN: sparseattn-opt %s --sparseattn-plan-constant-masks --split-input-file --verify-diagnostics

!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
func.func @unplaced(%p: !sparseattn.plan) {
  %mask = sparseattn.explicit_mask dense<true> : tensor<4x4x4xi1> -> !mask
  // expected-error @below {{'sparseattn.balance' op placement of a constant mask: got a plan made by an argument, expected one that goes back to 'sparseattn.place'}}
  %1 = sparseattn.balance %p, %mask using swap : !mask
  return
}

// -----

#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
!q = tensor<4x256x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x250>
func.func @shape(%q: !q) {
  %mask = sparseattn.explicit_mask dense<true> : tensor<4x4x4xi1> -> !mask
  %0 = sparseattn.place %q, %q on #placement : !q, !q
  // expected-error @below {{'sparseattn.balance' op heads x tokens of mask must equal those of the placed q and k: got 4x256x250, expected 4x256x256}}
  %1 = sparseattn.balance %0, %mask using swap : !mask
  return
}

// -----

// No kernel has this head dimension.
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>
!q = tensor<4x256x20xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
func.func @head_dim(%q: !q) {
  %mask = sparseattn.explicit_mask dense<true> : tensor<4x4x4xi1> -> !mask
  // expected-error @below {{'sparseattn.place' op placement: head dimension not supported: got 20, expected a multiple of 8 from 32 to 256}}
  %0 = sparseattn.place %q, %q on #placement : !q, !q
  %1 = sparseattn.balance %0, %mask using swap : !mask
  return
}

// -----

#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 2, kv_heads = 2, q_blocks = 65536, kv_blocks = 65536>
!q = tensor<2x1048576x64xf32>
!mask = !sparseattn.mask<2x65536x65536, block = 16x16, tokens = 1048576x1048576>
func.func @large(%q: !q) {
  // expected-error @below {{'sparseattn.explicit_mask' op tiles of a constant mask: got 8589934592, expected at most 134217728}}
  %mask = sparseattn.explicit_mask dense<true> : tensor<2x65536x65536xi1> -> !mask
  %0 = sparseattn.place %q, %q on #placement : !q, !q
  %1 = sparseattn.balance %0, %mask using swap : !mask
  return
}
