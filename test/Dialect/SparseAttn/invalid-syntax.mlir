// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{kind of an order: got 'spiral', expected raster, cubes, hilbert, stripes or tiles}}
func.func private @f() attributes {a = #sparseattn.order<spiral, grid = [1, 1, 1]>}

// -----

// expected-error @below {{expected the kind of an order: raster, cubes, hilbert, stripes or tiles}}
func.func private @f() attributes {a = #sparseattn.order<[1, 1, 1]>}

// -----

// expected-error @below {{missing field 'grid'}}
func.func private @f() attributes {a = #sparseattn.order<hilbert>}

// -----

// expected-error @below {{unknown field: got 'gird', expected one of: grid, prefix, suffix, cube, tiles}}
func.func private @f() attributes {a = #sparseattn.order<hilbert, gird = [1, 1, 1]>}

// -----

// expected-error @below {{field 'grid': got it twice, expected it once}}
func.func private @f() attributes {a = #sparseattn.order<hilbert, grid = [1, 1, 1], grid = [1, 1, 1]>}

// -----

// expected-error @below {{integer value too large}}
func.func private @f() attributes {a = #sparseattn.order<hilbert, grid = [99999999999999999999, 1, 1]>}

// -----

// expected-error @below {{expected integer value}}
func.func private @f() attributes {a = #sparseattn.order<hilbert, grid = [1.5, 1, 1]>}

// -----

// expected-error @below {{expected ','}}
func.func private @f() attributes {a = #sparseattn.order<hilbert grid = [1, 1, 1]>}

// -----

// expected-error @below {{expected '<'}}
func.func private @f() attributes {a = #sparseattn.order}

// -----

// expected-error @below {{missing field 'p'}}
func.func private @f() attributes {a = #sparseattn.top_p<>}

// -----

// expected-error @below {{expected '='}}
func.func private @f() attributes {a = #sparseattn.top_p<p 0.9>}

// -----

// expected-error @below {{expected a field, one of: p, min_blocks, keep}}
func.func private @f() attributes {a = #sparseattn.top_p<0.9>}

// -----

// expected-error @below {{number: got 'true', expected a decimal number}}
func.func private @f() attributes {a = #sparseattn.top_p<p = true>}

// -----

// expected-error @below {{numbers in an entry of 'keep': got 3, expected 2}}
func.func private @f() attributes {a = #sparseattn.top_p<p = 0.9, keep = [[0, 1, 2]]>}

// -----

// expected-error @below {{expected '['}}
func.func private @f() attributes {a = #sparseattn.top_p<p = 0.9, keep = [0, 1]>}

// -----

// expected-error @below {{missing field 'k'}}
func.func private @f() attributes {a = #sparseattn.top_k<keep = [[0, 1]]>}

// -----

// expected-error @below {{missing field 'blocks'}}
func.func private @f() attributes {a = #sparseattn.window<>}

// -----

// expected-error @below {{missing field 'ring'}}
func.func private @f() attributes {a = #sparseattn.mesh<ulysses = 4>}

// -----

// expected-error @below {{missing field 'mesh'}}
func.func private @f() attributes {a = #sparseattn.placement<heads = 1, kv_heads = 1, q_blocks = 1, kv_blocks = 1>}

// -----

// expected-error @below {{numbers in an entry of 'moves': got 2, expected 3}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 1>, heads = 2, kv_heads = 2, q_blocks = 1, kv_blocks = 1, moves = [[0, 1]]>}

// -----

// expected-error @below {{numbers in the ranges of a transfer: got 3, expected an even count (begin, end, ...)}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 1, ring = 2>, heads = 2, kv_heads = 2, q_blocks = 2, kv_blocks = 2, transfers = [[0, 0, 0, 1, [0, 1, 2]]]>}

// -----

// expected-error @below {{unknown attribute `topp` in dialect `sparseattn`}}
func.func private @f() attributes {a = #sparseattn.topp<p = 0.9>}

// -----

func.func @long_form(%x: tensor<2x128x64xf32>) {
  // expected-error @below {{attribute before ':': got '#sparseattn.order<...>', expected '<...>' without its name, or an alias}}
  %0 = sparseattn.permute %x by #sparseattn.order<hilbert, grid = [2, 8, 8]> : tensor<2x128x64xf32>
  return
}

// -----

func.func @policy(%pq: tensor<2x2x64xf32>) {
  // expected-error @below {{invalid kind of attribute specified}}
  %0 = sparseattn.policy_mask 3 : i64 -> !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>
  return
}

// -----

// expected-error @below {{expected '<'}}
func.func private @f(!sparseattn.mask)

// -----

// expected-error @below {{heads x q-blocks x kv-blocks of a mask: got 2 sizes, expected 3}}
func.func private @f(!sparseattn.mask<2x2, block = 64x64, tokens = 128x128>)

// -----

// expected-error @below {{block of a mask: got 1 sizes, expected 2}}
func.func private @f(!sparseattn.mask<2x2x2, block = 64, tokens = 128x128>)

// -----

// expected-error @below {{tokens of a mask: got 3 sizes, expected 2}}
func.func private @f(!sparseattn.mask<2x2x2, block = 64x64, tokens = 1x2x3>)

// -----

// expected-error @below {{missing field 'tokens'}}
func.func private @f(!sparseattn.mask<2x2x2, block = 64x64>)

// -----

// expected-error @below {{missing field 'block'}}
func.func private @f(!sparseattn.mask<2x2x2, tokens = 128x128>)

// -----

// expected-error @below {{unknown field: got 'casual', expected one of: block, tokens, order, causal}}
func.func private @f(!sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128, casual>)

// -----

// expected-error @below {{expected static shape}}
func.func private @f(!sparseattn.mask<?x2x2, block = 64x64, tokens = 128x128>)

// -----

// expected-error @below {{expected '<'}}
func.func private @f(!sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128, order = 3>)
