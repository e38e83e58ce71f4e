// RUN: sparseattn-opt %s --sparseattn-fold-masks=max-tiles=1000 --split-input-file --verify-diagnostics

!mask = !sparseattn.mask<10x11x11, block = 16x16, tokens = 176x176>
func.func @policy() -> !mask {
  // expected-error @below {{'sparseattn.policy_mask' op tiles of a constant mask: got 1210, expected at most 1000}}
  %0 = sparseattn.policy_mask #sparseattn.window<blocks = 1> -> !mask
  return %0 : !mask
}

// -----

!mask = !sparseattn.mask<10x11x11, block = 16x16, tokens = 176x176>
func.func @explicit() -> !mask {
  // expected-error @below {{'sparseattn.explicit_mask' op tiles of a constant mask: got 1210, expected at most 1000}}
  %0 = sparseattn.explicit_mask dense<true> : tensor<10x11x11xi1> -> !mask
  return %0 : !mask
}

// -----

// One that fits.
!mask = !sparseattn.mask<10x10x10, block = 16x16, tokens = 160x160>
func.func @fits() -> !mask {
  %0 = sparseattn.policy_mask #sparseattn.window<blocks = 1> -> !mask
  return %0 : !mask
}
