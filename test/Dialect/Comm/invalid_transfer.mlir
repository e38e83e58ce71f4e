// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// (send C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.send' op window is not declared: got @s, expected one of @w}}
    %t = sa_comm.send @s @s to @s
  }
}

// -----

// (send C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.send' op symbol of chunks is not declared: got @w, expected one of @s}}
    %t = sa_comm.send @w @w to @s
  }
}

// -----

// (send C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.send' op symbol of peer is not declared: got @nobody, expected one of @s}}
    %t = sa_comm.send @w @s to @nobody
  }
}

// -----

// (send C3)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.send' op peer is out of range: got -2, expected 0 to 2147483647}}
    %t = sa_comm.send @w @s to -2
  }
}

// -----

// (send C3)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{expected a rank, a symbol or 'none'}}
    %t = sa_comm.send @w @s to [0]
  }
}

// -----

// (recv C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.recv' op window is not declared: got @s, expected one of @w}}
    %t = sa_comm.recv @s @s from @s
  }
}

// -----

// (recv C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.recv' op symbol of chunks is not declared: got @w, expected one of @s}}
    %t = sa_comm.recv @w @w from @s
  }
}

// -----

// (recv C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.recv' op symbol of peer is not declared: got @nobody, expected one of @s}}
    %t = sa_comm.recv @w @s from @nobody
  }
}

// -----

// (recv C3)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.recv' op peer is out of range: got -2, expected 0 to 2147483647}}
    %t = sa_comm.recv @w @s from -2
  }
}

// -----

// (recv C3)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{expected a rank, a symbol or 'none'}}
    %t = sa_comm.recv @w @s from [0]
  }
}

// -----

// (put C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.put' op window is not declared: got @s, expected one of @w}}
    sa_comm.put @w @s -> @s @s to @s
  }
}

// -----

// (put C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.put' op symbol of to is not declared: got @w, expected one of @s}}
    sa_comm.put @w @s -> @w @w to @s
  }
}

// -----

// (put C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.put' op symbol of peer is not declared: got @nobody, expected one of @s}}
    sa_comm.put @w @s -> @w @s to @nobody
  }
}

// -----

// (put C3)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.put' op peer is out of range: got -2, expected 0 to 2147483647}}
    sa_comm.put @w @s -> @w @s to -2
  }
}

// -----

// (put C3)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{expected a rank, a symbol or 'none'}}
    sa_comm.put @w @s -> @w @s to [0]
  }
}

// -----

// (signal C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.signal' op symbol of peer is not declared: got @nobody, expected one of @s}}
    sa_comm.signal to @nobody
  }
}

// -----

// (signal C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.signal' op peer is out of range: got -2, expected 0 to 2147483647}}
    sa_comm.signal to -2
  }
}

// -----

// (signal C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{expected a rank, a symbol or 'none'}}
    sa_comm.signal to [0]
  }
}

// -----

// (wait_signal C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.wait_signal' op symbol of peer is not declared: got @nobody, expected one of @s}}
    sa_comm.wait_signal from @nobody
  }
}

// -----

// (wait_signal C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.wait_signal' op peer is out of range: got -2, expected 0 to 2147483647}}
    sa_comm.wait_signal from -2
  }
}

// -----

// (wait_signal C2)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{expected a rank, a symbol or 'none'}}
    sa_comm.wait_signal from [0]
  }
}

// -----

// (wait C1)
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-note@+1 {{prior use here}}
    %t = builtin.unrealized_conversion_cast to i32
    // expected-error@+1 {{use of value '%t' expects different type than prior uses: '!sa_comm.token' vs 'i32'}}
    sa_comm.wait %t
  }
}

// -----

// A peer is one rank.
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.symbol @s dynamic
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.signal' op peer is not one rank: got 2 ranks, expected one or none}}
    "sa_comm.signal"() {peer = array<i64: 0, 1>} : () -> ()
  }
}

// -----

// An instruction belongs into a list.
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+1 {{'sa_comm.signal' op does not belong into a template: got 'sa_comm.signal', expected 'sa_comm.window', 'sa_comm.symbol' or 'sa_comm.spmd'}}
  sa_comm.signal to 1
  sa_comm.spmd {}
}

// -----

// expected-error@+1 {{'sa_comm.signal' op expects parent op to be one of 'sa_comm.spmd, sa_comm.rank'}}
sa_comm.signal to 1

// -----

// With no declaration at all, the message says so.
sa_comm.template @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.spmd {
    // expected-error@+1 {{'sa_comm.signal' op symbol of peer is not declared: got @s, expected none, as none is declared}}
    sa_comm.signal to @s
  }
}
