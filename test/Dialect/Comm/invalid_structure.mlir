// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// (template C1)
// expected-error@+1 {{'sa_comm.template' op scale is not finite: got nan, expected a finite number}}
"sa_comm.template"() ({
  sa_comm.spmd {}
}) {sym_name = "layer", mesh = #sa_comm.mesh<ulysses = 1, ring = 1>,
    shape = #sa_comm.shape<heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>,
    scale = 0x7FC00000 : f32, policy = #sa_comm.policy<dense>} : () -> ()

// -----

// (template C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-note@+1 {{first declared here}}
  sa_comm.window @q : 2 x 64 x 32 x f32
  // expected-error@+1 {{'sa_comm.symbol' op name is not unique: got @q twice, expected distinct names of windows and symbols}}
  sa_comm.symbol @q dynamic
  sa_comm.spmd {}
}

// -----

// (template C3)
// expected-error@+1 {{'sa_comm.template' op has no instruction list: got 0 'sa_comm.spmd', expected 1}}
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
}

// -----

// (template C3)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.spmd {}
  // expected-error@+1 {{'sa_comm.spmd' op stands after the instruction list: got 'sa_comm.spmd', expected one 'sa_comm.spmd' at the end}}
  sa_comm.spmd {}
}

// -----

// (template C3)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.spmd {}
  // expected-error@+1 {{'sa_comm.window' op stands after the instruction list: got 'sa_comm.window', expected one 'sa_comm.spmd' at the end}}
  sa_comm.window @q : 2 x 64 x 32 x f32
}

// -----

// (template C3)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+1 {{'sa_comm.mask' op does not belong into a template: got 'sa_comm.mask', expected 'sa_comm.window', 'sa_comm.symbol' or 'sa_comm.spmd'}}
  sa_comm.mask 2 x 4 x 4 {}
  sa_comm.spmd {}
}

// -----

// (program C1)
// expected-error@+1 {{'sa_comm.program' op scale is not finite: got nan, expected a finite number}}
"sa_comm.program"() ({
  sa_comm.rank 0 {}
}) {sym_name = "layer", mesh = #sa_comm.mesh<ulysses = 1, ring = 1>,
    shape = #sa_comm.shape<heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>,
    scale = 0x7FC00000 : f32, policy = #sa_comm.policy<dense>} : () -> ()

// -----

// (program C2)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-note@+1 {{first declared here}}
  sa_comm.window @q : 2 x 64 x 32 x f32
  // expected-error@+1 {{'sa_comm.window' op name is not unique: got @q twice, expected distinct names of windows and symbols}}
  sa_comm.window @q : 3 x 64 x 32 x f32
  sa_comm.rank 0 {}
  sa_comm.rank 1 {}
}

// -----

// (program C3)
// expected-error@+1 {{'sa_comm.program' op number of ranks does not fit the mesh: got 2, expected 4}}
sa_comm.program @layer mesh <ulysses = 2, ring = 2>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.rank 0 {}
  sa_comm.rank 1 {}
}

// -----

// (program C3)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.rank 0 {}
  // expected-error@+1 {{'sa_comm.rank' op is out of order: got rank 0, expected rank 1}}
  sa_comm.rank 0 {}
}

// -----

// (program C3)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.mask 2 x 4 x 4 {}
  // expected-error@+1 {{'sa_comm.mask' op is not the only mask: got 2 masks, expected at most 1}}
  sa_comm.mask 2 x 4 x 4 {}
  sa_comm.rank 0 {}
  sa_comm.rank 1 {}
}

// -----

// (program C3)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.rank 0 {}
  // expected-error@+1 {{'sa_comm.window' op stands after an instruction list: got 'sa_comm.window', expected the ranks at the end}}
  sa_comm.window @q : 2 x 64 x 32 x f32
  sa_comm.rank 1 {}
}

// -----

// (program C3)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+1 {{'sa_comm.symbol' op does not belong into a program: got 'sa_comm.symbol', expected 'sa_comm.window', 'sa_comm.mask' or 'sa_comm.rank'}}
  sa_comm.symbol @s static
  sa_comm.rank 0 {}
  sa_comm.rank 1 {}
}

// -----

// (program C4)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+1 {{'sa_comm.mask' op does not fit the shape: got 2 x 4 x 5, expected 2 x 4 x 4}}
  sa_comm.mask 2 x 4 x 5 {}
  sa_comm.rank 0 {}
  sa_comm.rank 1 {}
}

// -----

// (window C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+1 {{'sa_comm.window' op size of window q out of range: got 2x1099511627777x32, expected 1 to 4194304 slots and at most 70368744177664 bytes}}
  sa_comm.window @q : 2 x 1099511627777 x 32 x f32
  sa_comm.spmd {}
}

// -----

// (window C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+1 {{'sa_comm.window' op size of window q out of range: got 1048576x1048576x4096, expected 1 to 4194304 slots and at most 70368744177664 bytes}}
  sa_comm.window @q : 1048576 x 1048576 x 4096 x f32
  sa_comm.spmd {}
}

// -----

// (window C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+1 {{number of window sizes is wrong: got 2, expected slots x rows x row elements}}
  sa_comm.window @q : 2 x 64 x f32
  sa_comm.spmd {}
}

// -----

// (window C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+1 {{'sa_comm.window' op element type is unknown: got 'f64', expected f32, bf16, f16, i32 or i64}}
  sa_comm.window @q : 2 x 64 x 32 x f64
  sa_comm.spmd {}
}

// -----

// (symbol C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+1 {{'sa_comm.symbol' op has values before it is bound: got a dynamic symbol with values, expected a static one}}
  sa_comm.symbol @s dynamic values [[], []]
  sa_comm.spmd {}
}

// -----

// (symbol C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+1 {{'sa_comm.symbol' op number of value lists does not fit the mesh: got 1, expected 2}}
  sa_comm.symbol @s static values [[1]]
  sa_comm.spmd {}
}

// -----

// A symbol is static or dynamic.
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+1 {{expected one of [dynamic, static] for when a symbol gets its values, got: sometimes}}
  sa_comm.symbol @s sometimes
  sa_comm.spmd {}
}

// -----

// (spmd C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.spmd {
    // expected-error@+1 {{'builtin.unrealized_conversion_cast' op does not belong into an instruction list: got 'builtin.unrealized_conversion_cast', expected a phase or an instruction}}
    builtin.unrealized_conversion_cast to i32
  }
}

// -----

// (rank C1)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+1 {{'sa_comm.rank' op is out of order: got rank -1, expected rank 0}}
  sa_comm.rank -1 {}
  sa_comm.rank 0 {}
}

// -----

// (rank C2)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.rank 0 {
    // expected-error@+1 {{'builtin.module' op does not belong into an instruction list: got 'builtin.module', expected a phase or an instruction}}
    builtin.module {}
  }
  sa_comm.rank 1 {}
}

// -----

// (phase C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.phase' op number is out of range: got -1, expected 0 to 2147483647}}
    sa_comm.phase -1
  }
}

// -----

// (phase C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.phase' op number is out of range: got 2147483648, expected 0 to 2147483647}}
    sa_comm.phase 2147483648
  }
}
