// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// (#order C1)
// expected-error @below {{grid of an order: got [9, 30], expected three sizes of at least 1}}
func.func private @f() attributes {a = #sparseattn.order<hilbert, grid = [9, 30]>}

// -----

// (#order C1)
// expected-error @below {{grid of an order: got [9, 0, 52], expected three sizes of at least 1}}
func.func private @f() attributes {a = #sparseattn.order<hilbert, grid = [9, 0, 52]>}

// -----

// (#order C1)
// expected-error @below {{grid of an order: got [], expected three sizes of at least 1}}
func.func private @f() attributes {a = #sparseattn.order<hilbert, grid = []>}

// -----

// (#order C2)
// expected-error @below {{prefix and suffix of an order: got -1 and 0, expected at least 0}}
func.func private @f() attributes {a = #sparseattn.order<hilbert, grid = [9, 30, 52], prefix = -1>}

// -----

// (#order C3)
// expected-error @below {{cube of an order: got [4, 4], expected three sizes of at least 1}}
func.func private @f() attributes {a = #sparseattn.order<cubes, grid = [9, 30, 52], cube = [4, 4]>}

// -----

// (#order C3)
// expected-error @below {{cube of an order: got [], expected three sizes of at least 1}}
func.func private @f() attributes {a = #sparseattn.order<cubes, grid = [9, 30, 52], cube = []>}

// -----

// (#order C4)
// expected-error @below {{order with a cube: got hilbert, expected cubes or tiles}}
func.func private @f() attributes {a = #sparseattn.order<hilbert, grid = [9, 30, 52], cube = [2, 2, 2]>}

// -----

// (#order C6)
// expected-error @below {{tiles of an order: got [2], expected two counts of at least 1}}
func.func private @f() attributes {a = #sparseattn.order<tiles, grid = [9, 30, 52], tiles = [2]>}

// -----

// (#order C6)
// expected-error @below {{tiles of an order: got [2, 0], expected two counts of at least 1}}
func.func private @f() attributes {a = #sparseattn.order<tiles, grid = [9, 30, 52], tiles = [2, 0]>}

// -----

// (#order C6)
// expected-error @below {{tiles of an order: got [], expected two counts of at least 1}}
func.func private @f() attributes {a = #sparseattn.order<tiles, grid = [9, 30, 52], tiles = []>}

// -----

// (#order C7)
// expected-error @below {{order with tiles: got stripes, expected tiles}}
func.func private @f() attributes {a = #sparseattn.order<stripes, grid = [9, 30, 52], tiles = [1, 4]>}

// -----

// (#order C5)
// expected-error @below {{tokens of an order: got grid [4294967296, 4294967296, 4], prefix 0 and suffix 0, expected fewer than 1099511627776 tokens}}
func.func private @f() attributes {a = #sparseattn.order<hilbert, grid = [4294967296, 4294967296, 4]>}

// -----

// (#top_p C1)
// expected-error @below {{p of top_p: got -0.5, expected a finite number of at least 0}}
func.func private @f() attributes {a = #sparseattn.top_p<p = -0.5>}

// -----

// (#top_p C1)
// expected-error @below {{p of top_p: got inf, expected a finite number of at least 0}}
func.func private @f() attributes {a = #sparseattn.top_p<p = 1.0e999>}

// -----

// (#top_p C2)
// expected-error @below {{min_blocks of top_p: got 0, expected at least 1}}
func.func private @f() attributes {a = #sparseattn.top_p<p = 0.9, min_blocks = 0>}

// -----

// (#top_p C3)
// expected-error @below {{range of keep: got [2, 2], expected 0 <= begin < end}}
func.func private @f() attributes {a = #sparseattn.top_p<p = 0.9, keep = [[2, 2]]>}

// -----

// (#top_p C3)
// expected-error @below {{range of keep: got [1, 4], expected 3 <= begin < end}}
func.func private @f() attributes {a = #sparseattn.top_p<p = 0.9, keep = [[0, 3], [1, 4]]>}

// -----

// (#top_k C1)
// expected-error @below {{k of top_k: got 0, expected at least 1}}
func.func private @f() attributes {a = #sparseattn.top_k<k = 0>}

// -----

// (#top_k C2)
// expected-error @below {{range of keep: got [-1, 4], expected 0 <= begin < end}}
func.func private @f() attributes {a = #sparseattn.top_k<k = 2, keep = [[-1, 4]]>}

// -----

// (#window C1)
// expected-error @below {{blocks of window: got -1, expected at least 0}}
func.func private @f() attributes {a = #sparseattn.window<blocks = -1>}

// -----

// (#mesh C1)
// expected-error @below {{ulysses and ring of a mesh: got 0 and 1, expected at least 1}}
func.func private @f() attributes {a = #sparseattn.mesh<ulysses = 0, ring = 1>}

// -----

// (#mesh C2)
// expected-error @below {{ranks of a mesh: got 65536x2, expected at most 65536}}
func.func private @f() attributes {a = #sparseattn.mesh<ulysses = 65536, ring = 2>}

// -----

// (#placement C1)
// expected-error @below {{heads and kv_heads of a placement: got 0 and 1, expected at least 1}}
func.func private @f() attributes {a = #sparseattn.placement<mesh = <ulysses = 1, ring = 1>, heads = 0, kv_heads = 1, q_blocks = 1, kv_blocks = 1>}

// -----

// (#placement C2)
// expected-error @below {{kv_heads of a placement must divide heads: got 5, expected a divisor of 12}}
func.func private @f() attributes {a = #sparseattn.placement<mesh = <ulysses = 1, ring = 1>, heads = 12, kv_heads = 5, q_blocks = 1, kv_blocks = 1>}

// -----

// (#placement C3)
// expected-error @below {{q_blocks and kv_blocks of a placement: got 1 and -1, expected at least 0}}
func.func private @f() attributes {a = #sparseattn.placement<mesh = <ulysses = 1, ring = 1>, heads = 12, kv_heads = 12, q_blocks = 1, kv_blocks = -1>}

// -----

// (#cost_model C1)
// expected-error @below {{byte_ps of a cost model: got -1, expected at least 0}}
func.func private @f() attributes {a = #sparseattn.cost_model<byte_ps = -1>}

// -----

// expected-error @below {{'func.func' op attribute 'sparseattn.boundary_order': got 3 : i64, expected #sparseattn.order<...>}}
func.func private @f() attributes {sparseattn.boundary_order = 3}

// -----

// expected-error @below {{'func.func' op attribute 'sparseattn.boundary_order': got an order of 4 tokens, expected those of 'tensor<2x64x32xf32>'}}
func.func private @f(tensor<2x64x32xf32>) attributes {sparseattn.boundary_order = #sparseattn.order<hilbert, grid = [1, 2, 2]>}

// -----

// expected-error @below {{'func.func' op attribute 'sparseattn.boundary_order': got an order of 4 tokens, expected those of 'tensor<4xf32>'}}
func.func private @f(tensor<2x4x32xf32>) -> tensor<4xf32> attributes {sparseattn.boundary_order = #sparseattn.order<hilbert, grid = [1, 2, 2]>}

// -----

// expected-error @below {{'builtin.module' op attribute 'sparseattn.boundary_order': got another operation, expected a function}}
module attributes {sparseattn.boundary_order = #sparseattn.order<hilbert, grid = [1, 2, 2]>} {}
