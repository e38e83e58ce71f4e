// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// (#plan C1)
// expected-error @below {{kv_heads of a plan must divide heads: got 2, expected a divisor of 5}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 5, kv_heads = 2, q_blocks = 8, kv_blocks = 8>}

// -----

// (#plan C1)
// expected-error @below {{heads and kv_heads of a plan: got 0 and 2, expected at least 1}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 0, kv_heads = 2, q_blocks = 8, kv_blocks = 8>}

// -----

// (#plan C2)
// expected-error @below {{q_blocks and kv_blocks of a plan: got -1 and 8, expected at least 0}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = -1, kv_blocks = 8>}

// -----

// (#plan C3)
// expected-error @below {{head of a move: got 4, expected from 0 to 3}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, moves = [[4, 0, 1]]>}

// -----

// (#plan C3)
// expected-error @below {{origin of a move: got -1, expected from 0 to 1}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, moves = [[0, -1, 1]]>}

// -----

// (#plan C3)
// expected-error @below {{destination of a move: got 2, expected from 0 to 1}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, moves = [[0, 0, 2]]>}

// -----

// (#plan C3)
// expected-error @below {{destination of the move of head 0 must differ from its origin: got 1}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, moves = [[0, 1, 1]]>}

// -----

// (#plan C3)
// expected-error @below {{moves must ascend by head: got head 1 after head 2}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, moves = [[2, 1, 0], [1, 0, 1]]>}

// -----

// (#plan C4)
// expected-error @below {{kv head of a transfer: got 2, expected from 0 to 1}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, transfers = [[2, 0, 0, 1, [0, 1]]]>}

// -----

// (#plan C4)
// expected-error @below {{ulysses index of a transfer: got 2, expected from 0 to 1}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, transfers = [[0, 2, 0, 1, [0, 1]]]>}

// -----

// (#plan C4)
// expected-error @below {{destination of a transfer: got 2, expected from 0 to 1}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, transfers = [[0, 0, 0, 2, [0, 1]]]>}

// -----

// (#plan C4)
// expected-error @below {{destination of a transfer of kv head 0 must differ from its origin: got 1}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, transfers = [[0, 0, 1, 1, [0, 1]]]>}

// -----

// (#plan C5)
// expected-error @below {{kv-blocks of a transfer: got [4, 4], expected 0 <= begin < end <= 8}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, transfers = [[0, 0, 0, 1, [4, 4]]]>}

// -----

// (#plan C5)
// expected-error @below {{kv-blocks of a transfer: got [1, 3], expected 2 <= begin < end <= 8}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, transfers = [[0, 0, 0, 1, [0, 2, 1, 3]]]>}

// -----

// (#plan C5)
// expected-error @below {{kv-blocks of a transfer: got [4, 9], expected 0 <= begin < end <= 8}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, transfers = [[0, 0, 0, 1, [4, 9]]]>}

// -----

// (#plan C6)
// expected-error @below {{head of extra tiles: got 9, expected from 0 to 3}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, extras = [[9, 0, 1]]>}

// -----

// (#plan C6)
// expected-error @below {{ring index of extra tiles: got 2, expected from 0 to 1}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, extras = [[0, 2, 1]]>}

// -----

// (#plan C6)
// expected-error @below {{extra tiles of head 0: got 0, expected at least 1}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, extras = [[0, 0, 0]]>}

// -----

// (#plan C6)
// expected-error @below {{extras must ascend by head and ring index: got [1, 0] after [1, 1]}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, extras = [[1, 1, 3], [1, 0, 3]]>}

// -----

// (#plan C7)
// expected-error @below {{entries of loads_before: got 3, expected 0 or one per rank, 4}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, loads_before = [1, 2, 3]>}

// -----

// (#plan C7)
// expected-error @below {{entry of loads_after: got -4, expected at least 0}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, loads_after = [1, 2, 3, -4]>}

// -----

// (#plan C8)
// expected-error @below {{head of a row move: got 9, expected from 0 to 3}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, row_moves = [[9, 0, 1, 0, 2]]>}

// -----

// (#plan C8)
// expected-error @below {{origin of a row move: got 4, expected from 0 to 3}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, row_moves = [[0, 0, 1, 4, 2]]>}

// -----

// (#plan C8)
// expected-error @below {{destination of a row move: got 4, expected from 0 to 3}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, row_moves = [[0, 0, 1, 0, 4]]>}

// -----

// (#plan C8)
// expected-error @below {{q-blocks of a row move: got [2, 2], expected 0 <= begin < end <= 8}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, row_moves = [[0, 2, 2, 0, 2]]>}

// -----

// (#plan C8)
// expected-error @below {{q-blocks of a row move: got [2, 9], expected 0 <= begin < end <= 8}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, row_moves = [[0, 2, 9, 0, 2]]>}

// -----

// (#plan C8)
// expected-error @below {{destination of the row move of head 0 must differ from its origin: got 2}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, row_moves = [[0, 2, 3, 2, 2]]>}

// -----

// (#plan C8)
// expected-error @below {{row moves must ascend and be disjoint: got [0, 2] after [0, 3)}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, row_moves = [[0, 0, 3, 0, 2], [0, 2, 4, 0, 2]]>}

// -----

// (#plan C8)
// expected-error @below {{row moves must ascend and be disjoint: got [0, 4] after [1, 3)}}
func.func private @f() attributes {a = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8, row_moves = [[1, 0, 3, 0, 2], [0, 4, 5, 0, 2]]>}
