// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// (pool C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.pool' op window is not declared: got @s, expected one of @w}}
    sa_comm.pool keys @w -> @s work @s
  }
}

// -----

// (pool C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.pool' op symbol of work is not declared: got @w, expected one of @s}}
    sa_comm.pool keys @w -> @w work @w
  }
}

// -----

// (route C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.route' op window is not declared: got @s, expected one of @w}}
    sa_comm.route @w, @w -> @w, @s work @s
  }
}

// -----

// (route C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.route' op symbol of work is not declared: got @w, expected one of @s}}
    sa_comm.route @w, @w -> @w, @w work @w
  }
}

// -----

// (plan C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.plan' op window is not declared: got @s, expected one of @w}}
    sa_comm.plan @s
  }
}

// -----

// (load_mask C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.load_mask' op window is not declared: got @s, expected one of @w}}
    sa_comm.load_mask @s work @s
  }
}

// -----

// (load_mask C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.load_mask' op symbol of work is not declared: got @w, expected one of @s}}
    sa_comm.load_mask @w work @w
  }
}

// -----

// (augment C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.augment' op window is not declared: got @s, expected one of @w}}
    sa_comm.augment @w, @w -> @s work @s
  }
}

// -----

// (augment C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.augment' op symbol of work is not declared: got @w, expected one of @s}}
    sa_comm.augment @w, @w -> @w work @w
  }
}

// -----

// (attend C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.attend' op window is not declared: got @s, expected one of @w}}
    sa_comm.attend @w, @w, @w, @w -> @w, @s work @s
  }
}

// -----

// (attend C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.attend' op symbol of work is not declared: got @w, expected one of @s}}
    sa_comm.attend @w, @w, @w, @w -> @w, @w work @w
  }
}

// -----

// (merge C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.merge' op window is not declared: got @s, expected one of @w}}
    sa_comm.merge @w, @w -> @w, @s @s
  }
}

// -----

// (merge C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.merge' op symbol of chunks is not declared: got @w, expected one of @s}}
    sa_comm.merge @w, @w -> @w, @w @w
  }
}
