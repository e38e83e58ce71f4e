// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// (pack C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.pack' op window is not declared: got @s, expected one of @w}}
    sa_comm.pack @w @s -> @s @s
  }
}

// -----

// (pack C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.pack' op symbol of to is not declared: got @w, expected one of @s}}
    sa_comm.pack @w @s -> @w @w
  }
}

// -----

// (release C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.release' op window is not declared: got @s, expected one of @w}}
    sa_comm.release @s slots @s
  }
}

// -----

// (release C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.release' op symbol of slots is not declared: got @w, expected one of @s}}
    sa_comm.release @w slots @w
  }
}

// -----

// (release C3)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.release' op slots are out of range: got -1, expected 0 to 2147483648}}
    sa_comm.release @w slots [0, -1]
  }
}

// -----

// (convert C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.convert' op window is not declared: got @s, expected one of @w}}
    sa_comm.convert @w -> @s @s
  }
}

// -----

// (convert C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.convert' op symbol of chunks is not declared: got @w, expected one of @s}}
    sa_comm.convert @w -> @w @w
  }
}
