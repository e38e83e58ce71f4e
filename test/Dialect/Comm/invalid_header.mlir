// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// (#mesh C1)
// expected-error@+1 {{ulysses is out of range: got 0, expected 1 to 1024}}
sa_comm.template @layer mesh <ulysses = 0, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.spmd {}
}

// -----

// (#mesh C1)
// expected-error@+1 {{ring is out of range: got -1, expected 1 to 1024}}
sa_comm.template @layer mesh <ulysses = 1, ring = -1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.spmd {}
}

// -----

// (#mesh C1)
// expected-error@+1 {{number of ranks is out of range: got 1056, expected 1 to 1024}}
sa_comm.template @layer mesh <ulysses = 33, ring = 32>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.spmd {}
}

// -----

// (#mesh C1)
// expected-error@+1 {{ulysses is out of range: got 99999999999999999999, expected 1 to 1024}}
sa_comm.template @layer mesh <ulysses = 99999999999999999999, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.spmd {}
}

// -----

// (#shape C1)
// expected-error@+2 {{heads is out of range: got 0, expected 1 to 4096}}
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 0, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.spmd {}
}

// -----

// (#shape C1)
// expected-error@+2 {{kv_heads is out of range: got 5000, expected 1 to 4096}}
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 5000, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.spmd {}
}

// -----

// (#shape C1)
// expected-error@+2 {{head_dim is out of range: got -32, expected 1 to 65536}}
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = -32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.spmd {}
}

// -----

// (#shape C1)
// expected-error@+2 {{block_q is out of range: got 0, expected 1 to 65536}}
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 0, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.spmd {}
}

// -----

// (#shape C1)
// expected-error@+2 {{block_k is out of range: got 70000, expected 1 to 65536}}
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 70000, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.spmd {}
}

// -----

// (#shape C1)
// expected-error@+2 {{sq is out of range: got -1, expected 0 to 2147483648}}
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = -1, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.spmd {}
}

// -----

// (#shape C1)
// expected-error@+2 {{skv is out of range: got 2147483649, expected 0 to 2147483648}}
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 2147483649, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.spmd {}
}

// -----

// (#shape C2)
// expected-error@+2 {{kv_heads does not divide heads: got 3 and 4, expected a divisor of 4}}
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 4, kv_heads = 3, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.spmd {}
}

// -----

// (#shape C3)
// expected-error@+2 {{dtype is unknown: got 'i32', expected f32, bf16 or f16}}
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = i32>
    scale 0.5 policy <dense> {
  sa_comm.spmd {}
}

// -----

// (#policy C1)
// expected-error@+3 {{p is not finite: got infinity, expected a finite number}}
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <top_p, p = 1.0e300> {
  sa_comm.spmd {}
}

// -----

// (#policy C2)
// expected-error@+3 {{min_blocks is out of range: got -1, expected 0 to 2147483648}}
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <top_p, p = 0.5, min_blocks = -1> {
  sa_comm.spmd {}
}

// -----

// (#policy C2)
// expected-error@+3 {{k is out of range: got -1, expected 0 to 2147483648}}
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <top_p, p = 0.5, k = -1> {
  sa_comm.spmd {}
}

// -----

// (#policy C2)
// expected-error@+3 {{blocks is out of range: got -1, expected 0 to 2147483648}}
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <top_p, p = 0.5, blocks = -1> {
  sa_comm.spmd {}
}

// -----

// (#policy C3)
// expected-error@+3 {{range is reversed: got 3:2, expected begin <= end}}
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <top_p, p = 0.5, keep = [0, 3:2]> {
  sa_comm.spmd {}
}

// -----

// (#policy C3)
// expected-error@+3 {{range of keep is malformed: got 0:2147483649, expected 0 <= begin <= end <= 2147483648}}
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense, keep = [0:2147483649]> {
  sa_comm.spmd {}
}

// -----

// Keys of a mesh are all there.
// expected-error@+1 {{key of mesh is missing: got no 'ring', expected ulysses, ring}}
sa_comm.template @layer mesh <ulysses = 2>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.spmd {}
}

// -----

// Keys of a policy are known and come once.
// expected-error@+3 {{key of policy is unknown: got 'q', expected one of p, min_blocks, k, blocks, keep}}
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <top_p, q = 0.5> {
  sa_comm.spmd {}
}

// -----

// Keys of a policy are known and come once.
// expected-error@+3 {{key of policy is repeated: got 'k' twice, expected it once}}
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <top_k, k = 3, k = 3> {
  sa_comm.spmd {}
}

// -----

// (#cost C1)
// expected-error@+3 {{byte_ps is out of range: got -1, expected 0 to 1099511627776}}
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> planner <balance = swap, cost = <byte_ps = -1>> {
  sa_comm.spmd {}
}

// -----

// (#cost C1)
// expected-error@+3 {{tile_ps is out of range: got 1099511627777, expected 0 to 1099511627776}}
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> planner <balance = swap, cost = <tile_ps = 1099511627777>> {
  sa_comm.spmd {}
}

// -----

// (#planner C1)
// expected-error@+3 {{k1_milli is out of range: got -1, expected 0 to 2147483648}}
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> planner <balance = swap, k1_milli = -1> {
  sa_comm.spmd {}
}
