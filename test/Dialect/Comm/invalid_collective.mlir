// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// (all_to_all C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.all_to_all' op window is not declared: got @s, expected one of @w}}
    sa_comm.all_to_all ulysses @w -> @s send @s counts @s recv @s counts @s
  }
}

// -----

// (all_to_all C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.all_to_all' op symbol of recv counts is not declared: got @w, expected one of @s}}
    sa_comm.all_to_all ulysses @w -> @w send @s counts @s recv @s counts @w
  }
}

// -----

// (all_to_all C3)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.all_to_all' op send counts are out of range: got -1, expected 0 to 2147483648}}
    sa_comm.all_to_all ulysses @w -> @w send @s counts [0, -1] recv @s counts @s
  }
}

// -----

// (all_to_all C3)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.all_to_all' op recv counts are out of range: got -1, expected 0 to 2147483648}}
    sa_comm.all_to_all ulysses @w -> @w send @s counts @s recv @s counts [0, -1]
  }
}

// -----

// (all_gather C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.all_gather' op window is not declared: got @s, expected one of @w}}
    sa_comm.all_gather ring @w -> @s send @s recv @s counts @s
  }
}

// -----

// (all_gather C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.all_gather' op symbol of recv counts is not declared: got @w, expected one of @s}}
    sa_comm.all_gather ring @w -> @w send @s recv @s counts @w
  }
}

// -----

// (all_gather C3)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.all_gather' op recv counts are out of range: got -1, expected 0 to 2147483648}}
    sa_comm.all_gather ring @w -> @w send @s recv @s counts [0, -1]
  }
}
