// RUN: sparseattn-opt %s --sparseattn-verify-mask --split-input-file --verify-diagnostics

// Rule 1.
!q = tensor<2x100x64xf32>
!lse = tensor<2x100xf32>
!p = tensor<2x2x64xf32>
!mask = !sparseattn.mask<2x2x2, block = 64x64, tokens = 100x100>
func.func @argument(%q: !q, %k: !q, %v: !q, %mask: !mask) -> !q {
  // expected-error @below {{'sparseattn.attend' op source of the mask: got an argument, expected 'sparseattn.route' or 'sparseattn.explicit_mask'}}
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1
    : !q, !q, !q, !mask -> !q, !lse
  return %o : !q
}

// -----

// Rule 1: a routed mask that is combined at run time.
!q = tensor<2x100x64xf32>
!lse = tensor<2x100xf32>
!p = tensor<2x2x64xf32>
!mask = !sparseattn.mask<2x2x2, block = 64x64, tokens = 100x100>
func.func @union(%q: !q, %k: !q, %v: !q) -> !q {
  %pq = sparseattn.pool %q block 64 : !q -> !p
  %pk = sparseattn.pool %k block 64 : !q -> !p
  %r = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  %w = sparseattn.explicit_mask dense<[[[true, false], [false, true]], [[true, false], [false, true]]]>
    : tensor<2x2x2xi1> -> !mask
  // expected-note @below {{sparseattn-fold-masks folds constant masks only}}
  %mask = sparseattn.union %r, %w : !mask
  // expected-error @below {{'sparseattn.attend' op source of the mask: got 'sparseattn.union', expected 'sparseattn.route' or 'sparseattn.explicit_mask'}}
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1
    : !q, !q, !q, !mask -> !q, !lse
  return %o : !q
}

// -----

// Rule 1: fold-masks has not run.
!q = tensor<2x100x64xf32>
!lse = tensor<2x100xf32>
!p = tensor<2x2x64xf32>
!mask = !sparseattn.mask<2x2x2, block = 64x64, tokens = 100x100>
func.func @policy(%q: !q, %k: !q, %v: !q) -> !q {
  // expected-note @below {{sparseattn-fold-masks folds constant masks only}}
  %mask = sparseattn.policy_mask #sparseattn.window<blocks = 1> -> !mask
  // expected-error @below {{'sparseattn.attend' op source of the mask: got 'sparseattn.policy_mask', expected 'sparseattn.route' or 'sparseattn.explicit_mask'}}
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1
    : !q, !q, !q, !mask -> !q, !lse
  return %o : !q
}

// -----

// Rule 2.
!q = tensor<2x100x64xf32>
!lse = tensor<2x100xf32>
!p = tensor<2x2x64xf32>
!mask = !sparseattn.mask<2x2x2, block = 64x64, tokens = 100x100>
func.func @not_pooled(%q: !q, %k: !q, %v: !q, %pq: !p) -> !q {
  %pk = sparseattn.pool %k block 64 : !q -> !p
  // expected-error @below {{'sparseattn.route' op source of pooled q: got an argument, expected 'sparseattn.pool'}}
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1
    : !q, !q, !q, !mask -> !q, !lse
  return %o : !q
}

// -----

// Rule 2: the counts agree, the blocks do not.
!q = tensor<2x100x64xf32>
!lse = tensor<2x100xf32>
!p = tensor<2x2x64xf32>
!mask = !sparseattn.mask<2x2x2, block = 64x64, tokens = 100x100>
func.func @block(%q: !q, %k: !q, %v: !q) -> !q {
  %pq = sparseattn.pool %q block 64 : !q -> !p
  // expected-note @below {{pooled here}}
  %pk = sparseattn.pool %k block 72 : !q -> !p
  // expected-error @below {{'sparseattn.route' op block of pooled k must equal the key block of mask: got 72, expected 64}}
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1
    : !q, !q, !q, !mask -> !q, !lse
  return %o : !q
}

// -----

// Rule 2: routed from k, attended with q.
!q = tensor<2x100x64xf32>
!lse = tensor<2x100xf32>
!p = tensor<2x2x64xf32>
!mask = !sparseattn.mask<2x2x2, block = 64x64, tokens = 100x100>
func.func @swapped(%q: !q, %k: !q, %v: !q) -> !q {
  // expected-note @below {{pooled here}}
  %pq = sparseattn.pool %k block 64 : !q -> !p
  %pk = sparseattn.pool %k block 64 : !q -> !p
  // expected-error @below {{'sparseattn.route' op tensor that is pooled for q must be the q that is attended: got another value}}
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1 : !p, !p -> !mask
  // expected-note @below {{attended here}}
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1
    : !q, !q, !q, !mask -> !q, !lse
  return %o : !q
}

// -----

// Rule 3.
!q = tensor<2x100x64xf32>
!lse = tensor<2x100xf32>
!p = tensor<2x2x64xf32>
!mask = !sparseattn.mask<2x2x2, block = 64x64, tokens = 100x100, causal>
func.func @invisible(%q: !q, %k: !q, %v: !q) -> !q {
  // expected-error @below {{'sparseattn.explicit_mask' op tiles of a causal mask must have a visible key: got head 1, q-block 0, kv-block 1 selected (run sparseattn-fold-masks first)}}
  %mask = sparseattn.explicit_mask
    dense<[[[true, false], [true, true]], [[true, true], [false, false]]]> : tensor<2x2x2xi1> -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1
    : !q, !q, !q, !mask -> !q, !lse
  return %o : !q
}

// -----

// Rule 4.
!q = tensor<2x100x64xf32>
!lse = tensor<2x100xf32>
!p = tensor<2x2x64xf32>
!mask = !sparseattn.mask<2x2x2, block = 64x64, tokens = 100x100, order = <raster, grid = [1, 10, 10]>>
func.func @order(%q: !q, %k: !q, %v: !q) -> !q
    attributes {sparseattn.boundary_order = #sparseattn.order<hilbert, grid = [1, 10, 10]>} {
  %mask = sparseattn.explicit_mask dense<true> : tensor<2x2x2xi1> -> !mask
  // expected-error @below {{'sparseattn.attend' op order of the mask must equal that of the layer's tokens: got #sparseattn.order<raster, grid = [1, 10, 10]>, expected #sparseattn.order<hilbert, grid = [1, 10, 10]>}}
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1
    : !q, !q, !q, !mask -> !q, !lse
  return %o : !q
}

// -----

// Rule 3: a mask too large to look at tile by tile.
!q = tensor<2x1048576x64xf32>
!lse = tensor<2x1048576xf32>
!mask = !sparseattn.mask<2x65536x65536, block = 16x16, tokens = 1048576x1048576, causal>
func.func @invisible_splat(%q: !q, %k: !q, %v: !q) -> !q {
  // expected-error @below {{'sparseattn.explicit_mask' op tiles of a causal mask must have a visible key: got head 0, q-block 0, kv-block 65535 selected (run sparseattn-fold-masks first)}}
  %mask = sparseattn.explicit_mask dense<true> : tensor<2x65536x65536xi1> -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1
    : !q, !q, !q, !mask -> !q, !lse
  return %o : !q
}
