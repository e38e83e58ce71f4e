// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// (#chunks C1)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.rank 0 {
    // expected-error@+1 {{expected ':'}}
    %t = sa_comm.send @w [[0, 1]] to 1
  }
  sa_comm.rank 1 {}
}

// -----

// (#chunks C1)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.rank 0 {
    // expected-error@+1 {{expected ','}}
    %t = sa_comm.send @w [[0]] to 1
  }
  sa_comm.rank 1 {}
}

// -----

// (#chunks C2)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.rank 0 {
    // expected-error@+1 {{slot is out of range: got -1, expected 0 to 2147483648}}
    %t = sa_comm.send @w [[0, 0:1], [-1, 0:1]] to 1
  }
  sa_comm.rank 1 {}
}

// -----

// (#chunks C2)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.rank 0 {
    // expected-error@+1 {{begin of range is out of range: got -5, expected 0 to 1099511627776}}
    %t = sa_comm.send @w [[0, -5:1]] to 1
  }
  sa_comm.rank 1 {}
}

// -----

// (#chunks C2)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.rank 0 {
    // expected-error@+1 {{range is reversed: got 9:8, expected begin <= end}}
    %t = sa_comm.send @w [[0, 9:8]] to 1
  }
  sa_comm.rank 1 {}
}

// -----

// (#chunks C2)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.rank 0 {
    // expected-error@+1 {{end of range is out of range: got 340282366920938463463374607431768211456, expected 0 to 1099511627776}}
    %t = sa_comm.send @w [[0, 9:340282366920938463463374607431768211456]] to 1
  }
  sa_comm.rank 1 {}
}

// -----

// (#chunks C2)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.rank 0 {
    // expected-error@+1 {{expected end of range, an integer}}
    %t = sa_comm.send @w [[0, 9:x]] to 1
  }
  sa_comm.rank 1 {}
}

// -----

// (#work C1)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.rank 0 {
    // expected-error@+1 {{key of work entry is missing: got no 'cols', expected head, q, kv, rows, cols}}
    sa_comm.load_mask @w work [{head = 0, q = 0, kv = 0, rows = 0:1}]
  }
  sa_comm.rank 1 {}
}

// -----

// (#work C1)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.rank 0 {
    // expected-error@+1 {{key of work entry is repeated: got 'q' twice, expected it once}}
    sa_comm.load_mask @w work [{head = 0, q = 0, q = 0, rows = 0:1, cols = 0:1}]
  }
  sa_comm.rank 1 {}
}

// -----

// (#work C1)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.rank 0 {
    // expected-error@+1 {{key of work entry is unknown: got 'slot', expected one of head, q, kv, rows, cols, budget}}
    sa_comm.load_mask @w work [{head = 0, slot = 0}]
  }
  sa_comm.rank 1 {}
}

// -----

// (#work C2)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.rank 0 {
    // expected-error@+1 {{head is out of range: got -3, expected 0 to 2147483648}}
    sa_comm.load_mask @w work [{head = -3, q = 0, kv = 0, rows = 0:1, cols = 0:1}]
  }
  sa_comm.rank 1 {}
}

// -----

// (#work C2)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.rank 0 {
    // expected-error@+1 {{budget is out of range: got 4294967296, expected 0 to 2147483648}}
    sa_comm.load_mask @w work [{head = 0, q = 0, kv = 0, rows = 0:1, cols = 0:1, budget = 4294967296}]
  }
  sa_comm.rank 1 {}
}

// -----

// (#work C3)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.rank 0 {
    // expected-error@+1 {{range is reversed: got 2:1, expected begin <= end}}
    sa_comm.load_mask @w work [{head = 0, q = 0, kv = 0, rows = 2:1, cols = 0:1}]
  }
  sa_comm.rank 1 {}
}

// -----

// (#work C3)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  sa_comm.window @w : 2 x 64 x 32 x f32
  sa_comm.rank 0 {
    // expected-error@+1 {{cols of work entry 0 are malformed: got 0:2147483649, expected 0 <= begin <= end <= 2147483648}}
    sa_comm.load_mask @w work [{head = 0, q = 0, kv = 0, rows = 0:1, cols = 0:2147483649}]
  }
  sa_comm.rank 1 {}
}

// -----

// (#mask_rows C1)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+1 {{mask sizes are out of range: got 4096 x 4096 x 4096, expected heads x q-blocks x kv-blocks with at most 134217728 tiles}}
  sa_comm.mask 4096 x 4096 x 4096 {}
  sa_comm.rank 0 {}
  sa_comm.rank 1 {}
}

// -----

// (#mask_rows C1)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+1 {{mask sizes are out of range: got 100000 x 100000 x 0, expected heads x q-blocks x kv-blocks with at most 134217728 tiles}}
  sa_comm.mask 100000 x 100000 x 0 {}
  sa_comm.rank 0 {}
  sa_comm.rank 1 {}
}

// -----

// (#mask_rows C1)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+1 {{mask sizes are out of range: got 2 x 4, expected heads x q-blocks x kv-blocks with at most 134217728 tiles}}
  sa_comm.mask 2 x 4 {}
  sa_comm.rank 0 {}
  sa_comm.rank 1 {}
}

// -----

// (#mask_rows C2)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+3 {{heads of the mask do not ascend: got 1, expected heads from 2 to 2}}
  sa_comm.mask 2 x 4 x 4 {
    head 1 {}
    head 1 {}
  }
  sa_comm.rank 0 {}
  sa_comm.rank 1 {}
}

// -----

// (#mask_rows C2)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+2 {{heads of the mask do not ascend: got 2, expected heads from 0 to 2}}
  sa_comm.mask 2 x 4 x 4 {
    head 2 {}
  }
  sa_comm.rank 0 {}
  sa_comm.rank 1 {}
}

// -----

// (#mask_rows C2)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+4 {{rows of head 1 do not ascend: got 2:3, expected rows from 3 to 4}}
  sa_comm.mask 2 x 4 x 4 {
    head 1 {
      row 1:3 [0]
      row 2 [0]
    }
  }
  sa_comm.rank 0 {}
  sa_comm.rank 1 {}
}

// -----

// (#mask_rows C2)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+3 {{rows of head 1 do not ascend: got 3:5, expected rows from 0 to 4}}
  sa_comm.mask 2 x 4 x 4 {
    head 1 {
      row 3:5 [0]
    }
  }
  sa_comm.rank 0 {}
  sa_comm.rank 1 {}
}

// -----

// (#mask_rows C3)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+3 {{kv-blocks of head 0 row 2 do not ascend: got 1:2, expected kv-blocks from 2 to 4}}
  sa_comm.mask 2 x 4 x 4 {
    head 0 {
      row 2 [0:2, 1]
    }
  }
  sa_comm.rank 0 {}
  sa_comm.rank 1 {}
}

// -----

// (#mask_rows C3)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+3 {{kv-blocks of head 0 row 2 do not ascend: got 3:5, expected kv-blocks from 0 to 4}}
  sa_comm.mask 2 x 4 x 4 {
    head 0 {
      row 2 [3:5]
    }
  }
  sa_comm.rank 0 {}
  sa_comm.rank 1 {}
}

// -----

// (#mask_rows C3)
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.5 policy <dense> {
  // expected-error@+3 {{kv-blocks of head 0 row 2 do not ascend: got 4:5, expected kv-blocks from 1 to 4}}
  sa_comm.mask 2 x 4 x 4 {
    head 0 {
      row 2 [0, 4]
    }
  }
  sa_comm.rank 0 {}
  sa_comm.rank 1 {}
}
