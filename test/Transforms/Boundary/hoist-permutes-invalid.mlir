// RUN: sparseattn-opt %s --sparseattn-hoist-permutes --split-input-file --verify-diagnostics

!q = tensor<2x256x64xf32>
!lse = tensor<2x256xf32>
!mask = !sparseattn.mask<2x4x4, block = 64x64, tokens = 256x256>
func.func @orders_differ(%q: !q, %k: !q, %v: !q) -> !q {
  %qo = sparseattn.permute %q by <hilbert, grid = [4, 8, 8]> : !q
  %ko = sparseattn.permute %k by <hilbert, grid = [4, 8, 8]> : !q
  // expected-error @below {{'sparseattn.permute' op order must equal that of the layer's other permutes: got #sparseattn.order<stripes, grid = [4, 8, 8]>, expected #sparseattn.order<hilbert, grid = [4, 8, 8]>}}
  %vo = sparseattn.permute %v by <stripes, grid = [4, 8, 8]> : !q
  %m = sparseattn.explicit_mask dense<true> : tensor<2x4x4xi1> -> !mask
  %o, %lse = sparseattn.attend %qo, %ko, %vo, %m scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.permute %o by <hilbert, grid = [4, 8, 8]> inverse : !q
  return %os : !q
}

// -----

!q = tensor<2x256x64xf32>
!lse = tensor<2x256xf32>
!mask = !sparseattn.mask<2x4x4, block = 64x64, tokens = 256x256>
func.func @only_some(%q: !q, %k: !q, %v: !q) -> !q {
  %qo = sparseattn.permute %q by <hilbert, grid = [4, 8, 8]> : !q
  %ko = sparseattn.permute %k by <hilbert, grid = [4, 8, 8]> : !q
  %m = sparseattn.explicit_mask dense<true> : tensor<2x4x4xi1> -> !mask
  // expected-error @below {{'sparseattn.attend' op use of argument 2 of a layer with permutes: got 'sparseattn.attend', expected a permute by #sparseattn.order<hilbert, grid = [4, 8, 8]>}}
  %o, %lse = sparseattn.attend %qo, %ko, %v, %m scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.permute %o by <hilbert, grid = [4, 8, 8]> inverse : !q
  return %os : !q
}

// -----

!q = tensor<2x256x64xf32>
!lse = tensor<2x256xf32>
!mask = !sparseattn.mask<2x4x4, block = 64x64, tokens = 256x256>
func.func @inverse_at_entry(%q: !q) -> !q {
  // expected-error @below {{'sparseattn.permute' op use of argument 0 of a layer with permutes: got 'sparseattn.permute' inverse, expected a permute by #sparseattn.order<hilbert, grid = [4, 8, 8]>}}
  %qo = sparseattn.permute %q by <hilbert, grid = [4, 8, 8]> inverse : !q
  %m = sparseattn.explicit_mask dense<true> : tensor<2x4x4xi1> -> !mask
  %o, %lse = sparseattn.attend %qo, %qo, %qo, %m scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  return %o : !q
}

// -----

!q = tensor<2x256x64xf32>
!lse = tensor<2x256xf32>
!mask = !sparseattn.mask<2x4x4, block = 64x64, tokens = 256x256>
func.func @not_undone(%q: !q) -> (!q, !lse) {
  %qo = sparseattn.permute %q by <hilbert, grid = [4, 8, 8]> : !q
  %m = sparseattn.explicit_mask dense<true> : tensor<2x4x4xi1> -> !mask
  %o, %lse = sparseattn.attend %qo, %qo, %qo, %m scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.permute %o by <hilbert, grid = [4, 8, 8]> inverse : !q
  // expected-error @below {{'func.return' op result 1 of a layer with permutes: got a value in the mask's order, expected an inverse permute by #sparseattn.order<hilbert, grid = [4, 8, 8]>}}
  return %os, %lse : !q, !lse
}

// -----

!q = tensor<2x256x64xf32>
!lse = tensor<2x256xf32>
!mask = !sparseattn.mask<2x4x4, block = 64x64, tokens = 256x256>
func.func @permuted_again(%q: !q) -> !q {
  %qo = sparseattn.permute %q by <hilbert, grid = [4, 8, 8]> : !q
  // expected-error @below {{'sparseattn.permute' op place of a permute: got one between other ops, expected the layer's entry or exit}}
  %qp = sparseattn.permute %qo by <hilbert, grid = [4, 8, 8]> : !q
  %m = sparseattn.explicit_mask dense<true> : tensor<2x4x4xi1> -> !mask
  %o, %lse = sparseattn.attend %qp, %qo, %qo, %m scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.permute %o by <hilbert, grid = [4, 8, 8]> inverse : !q
  return %os : !q
}

// -----

// An inverse permute whose result is also used inside.

!q = tensor<2x256x64xf32>
!lse = tensor<2x256xf32>
!mask = !sparseattn.mask<2x4x4, block = 64x64, tokens = 256x256>
func.func @used_inside(%q: !q) -> !q {
  %qo = sparseattn.permute %q by <hilbert, grid = [4, 8, 8]> : !q
  %m = sparseattn.explicit_mask dense<true> : tensor<2x4x4xi1> -> !mask
  %o, %lse = sparseattn.attend %qo, %qo, %qo, %m scale 0.1 : !q, !q, !q, !mask -> !q, !lse
  // expected-error @below {{'sparseattn.permute' op place of a permute: got one between other ops, expected the layer's entry or exit}}
  %os = sparseattn.permute %o by <hilbert, grid = [4, 8, 8]> inverse : !q
  %p = sparseattn.pool %os block 64 : !q -> tensor<2x4x64xf32>
  return %os : !q
}
