//===- CommComputeOps.td - Route, plan, attend, merge -----*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_COMM_IR_COMMCOMPUTEOPS
#define SPARSEATTN_DIALECT_COMM_IR_COMMCOMPUTEOPS

include "sparseattn/Dialect/Comm/IR/CommBase.td"

def Comm_PoolOp : Comm_Instruction<"pool", "Pool",
    ["X", "Y"],
    [Comm_WorkSpec, Comm_SideSpec]> {
  let summary = "Mean of the rows of each block";
  let description = [{
    For `queries`, row b of slot `q` of the result is the fp32 mean of the valid
    rows of q-block b, for the q-blocks of each entry; for `keys` likewise with
    slot `kv` and the kv-blocks.

    Life span: in templates only; binding removes it.

    ```mlir
    sa_comm.template @layer mesh <ulysses = 2, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <top_p, p = 0.9> {
      sa_comm.window @k : 2 x 256 x 32 x f32
      sa_comm.window @pooled_k : 2 x 2 x 32 x f32
      sa_comm.symbol @pool_k static
      sa_comm.spmd {
        sa_comm.phase 1 "route"
        sa_comm.pool keys @k -> @pooled_k work @pool_k
      }
    }
    ```

    **Constraints:**
    - (C1) the windows are declared in the enclosing template or program.
    - (C2) every symbol operand is declared in the enclosing template.
  }];
  let arguments = (ins Comm_SideAttr:$side,
                       FlatSymbolRefAttr:$x, /*C1*/
                       FlatSymbolRefAttr:$y, /*C1*/
                       Comm_WorkItems:$work /*C2*/);
  let assemblyFormat = [{
    custom<Keyword>($side) $x `->` $y `work` custom<WorkItems>($work) attr-dict
  }];
}

def Comm_RouteOp : Comm_Instruction<"route", "Route",
    ["PooledQ", "PooledK", "Mask", "Summary"],
    [Comm_WorkSpec]> {
  let summary = "Chooses the tiles of each q-block";
  let description = [{
    Scores the pooled queries of each entry against all pooled keys and applies
    the program's policy. Writes mask rows `[count, kv-blocks ascending...]` and
    the record `[tiles, demand bits...]` of slot `head` of the summary.

    Life span: in templates only; binding removes it.

    ```mlir
    sa_comm.template @layer mesh <ulysses = 2, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <top_p, p = 0.9> {
      sa_comm.window @pooled_q : 2 x 2 x 32 x f32
      sa_comm.window @pooled_k : 2 x 2 x 32 x f32
      sa_comm.window @mask : 2 x 2 x 3 x i32
      sa_comm.window @summary : 2 x 1 x 2 x i32
      sa_comm.symbol @route static
      sa_comm.spmd {
        sa_comm.phase 2 "route"
        sa_comm.route @pooled_q, @pooled_k -> @mask, @summary work @route
      }
    }
    ```

    **Constraints:**
    - (C1) the windows are declared in the enclosing template or program.
    - (C2) every symbol operand is declared in the enclosing template.
  }];
  let arguments = (ins FlatSymbolRefAttr:$pooled_q, /*C1*/
                       FlatSymbolRefAttr:$pooled_k, /*C1*/
                       FlatSymbolRefAttr:$mask, /*C1*/
                       FlatSymbolRefAttr:$summary, /*C1*/
                       Comm_WorkItems:$work /*C2*/);
  let assemblyFormat = [{
    $pooled_q `,` $pooled_k `->` $mask `,` $summary
    `work` custom<WorkItems>($work) attr-dict
  }];
}

def Comm_PlanOp : Comm_Instruction<"plan", "Plan",
    ["Summary"],
    []> {
  let summary = "Plans on the host and binds the dynamic symbols";
  let description = [{
    Reads the gathered summaries (slot = rank * heads + head), makes the plan,
    compares its hash over all ranks and binds every dynamic symbol. A collective
    of all ranks.

    Life span: in templates only; binding removes it.

    ```mlir
    sa_comm.template @layer mesh <ulysses = 2, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <top_p, p = 0.9> {
      sa_comm.window @summary_all : 4 x 1 x 2 x i32
      sa_comm.spmd {
        sa_comm.phase 3 "plan"
        sa_comm.plan @summary_all
      }
    }
    ```

    **Constraints:**
    - (C1) the window is declared in the enclosing template or program.
  }];
  let arguments = (ins FlatSymbolRefAttr:$summary /*C1*/);
  let assemblyFormat = [{
    $summary attr-dict
  }];
}

def Comm_LoadMaskOp : Comm_Instruction<"load_mask", "LoadMask",
    ["Mask"],
    [Comm_WorkSpec]> {
  let summary = "Writes rows of the program's constant mask";
  let description = [{
    Mask rows `[count, kv-blocks ascending...]` of the q-blocks of each entry, taken
    from the `sa_comm.mask` of the program.

    Life span: in bound programs only, where binding puts it in place of `sa_comm.route`.

    ```mlir
    sa_comm.program @layer mesh <ulysses = 2, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <top_p, p = 0.9> {
      sa_comm.window @mask : 2 x 2 x 3 x i32
      sa_comm.rank 0 {
        sa_comm.phase 2 "route"
        sa_comm.load_mask @mask work [{head = 0, q = 0, kv = 0, rows = 0:2, cols = 0:2} ]
      }
      sa_comm.rank 1 {
      }
    }
    ```

    **Constraints:**
    - (C1) the window is declared in the enclosing template or program.
    - (C2) every symbol operand is declared in the enclosing template.
  }];
  let arguments = (ins FlatSymbolRefAttr:$mask, /*C1*/
                       Comm_WorkItems:$work /*C2*/);
  let assemblyFormat = [{
    $mask `work` custom<WorkItems>($work) attr-dict
  }];
}

def Comm_AugmentOp : Comm_Instruction<"augment", "Augment",
    ["PooledQ", "PooledK", "Mask"],
    [Comm_WorkSpec]> {
  let summary = "Adds the next-best tiles to mask rows";
  let description = [{
    Spends each entry's `budget` on its rows: next-best kv-blocks of `cols` first,
    by (score descending, index ascending).

    Life span: in templates only; binding removes it.

    ```mlir
    sa_comm.template @layer mesh <ulysses = 2, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <top_p, p = 0.9> {
      sa_comm.window @pooled_q : 2 x 2 x 32 x f32
      sa_comm.window @pooled_k : 2 x 2 x 32 x f32
      sa_comm.window @mask : 2 x 2 x 3 x i32
      sa_comm.symbol @augment dynamic
      sa_comm.spmd {
        sa_comm.phase 3 "plan"
        sa_comm.augment @pooled_q, @pooled_k -> @mask work @augment
      }
    }
    ```

    **Constraints:**
    - (C1) the windows are declared in the enclosing template or program.
    - (C2) every symbol operand is declared in the enclosing template.
  }];
  let arguments = (ins FlatSymbolRefAttr:$pooled_q, /*C1*/
                       FlatSymbolRefAttr:$pooled_k, /*C1*/
                       FlatSymbolRefAttr:$mask, /*C1*/
                       Comm_WorkItems:$work /*C2*/);
  let assemblyFormat = [{
    $pooled_q `,` $pooled_k `->` $mask `work` custom<WorkItems>($work) attr-dict
  }];
}

def Comm_AttendOp : Comm_Instruction<"attend", "Attend",
    ["Q", "K", "V", "Mask", "O", "Lse"],
    [Comm_WorkSpec]> {
  let summary = "Attention over the tiles of a work list";
  let description = [{
    For each entry, the tiles that the mask rows select inside `rows` x `cols`.
    Writes the normalised partial result and its natural-log LSE into rows of the
    last two windows; a row without a tile gives 0 and -inf.

    Life span: made with the instruction list, executed in its phase.

    ```mlir
    sa_comm.program @layer mesh <ulysses = 2, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <top_p, p = 0.9> {
      sa_comm.window @q : 2 x 256 x 32 x f32
      sa_comm.window @k : 2 x 256 x 32 x f32
      sa_comm.window @v : 2 x 256 x 32 x f32
      sa_comm.window @mask : 2 x 2 x 3 x i32
      sa_comm.window @o : 2 x 256 x 32 x f32
      sa_comm.window @lse : 2 x 256 x 1 x f32
      sa_comm.rank 0 {
        sa_comm.phase 5 "attend"
        sa_comm.attend @q, @k, @v, @mask -> @o, @lse
          work [{head = 0, q = 0, kv = 0, rows = 0:2, cols = 0:2} ]
      }
      sa_comm.rank 1 {
      }
    }
    ```

    **Constraints:**
    - (C1) the windows are declared in the enclosing template or program.
    - (C2) every symbol operand is declared in the enclosing template.
  }];
  let arguments = (ins FlatSymbolRefAttr:$q, /*C1*/
                       FlatSymbolRefAttr:$k, /*C1*/
                       FlatSymbolRefAttr:$v, /*C1*/
                       FlatSymbolRefAttr:$mask, /*C1*/
                       FlatSymbolRefAttr:$o, /*C1*/
                       FlatSymbolRefAttr:$lse, /*C1*/
                       Comm_WorkItems:$work /*C2*/);
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $mask `->` $o `,` $lse
    `work` custom<WorkItems>($work) attr-dict
  }];
}

def Comm_MergeOp : Comm_Instruction<"merge", "Merge",
    ["OPart", "LsePart", "O", "Lse"],
    [Comm_Chunks<"Chunks", "chunks">]> {
  let summary = "Merges a partial result into another, in place";
  let description = [{
    Rows of `chunks` of the first pair are merged into the same rows of the second
    pair, weighted by their LSE. Two empty rows give an empty row.

    Life span: made with the instruction list, executed in its phase.

    ```mlir
    sa_comm.program @layer mesh <ulysses = 2, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <top_p, p = 0.9> {
      sa_comm.window @o_part : 2 x 256 x 32 x f32
      sa_comm.window @lse_part : 2 x 256 x 1 x f32
      sa_comm.window @o : 2 x 256 x 32 x f32
      sa_comm.window @lse : 2 x 256 x 1 x f32
      sa_comm.rank 0 {
        sa_comm.phase 7 "ring"
        sa_comm.merge @o_part, @lse_part -> @o, @lse [[0, 0:256]]
      }
      sa_comm.rank 1 {
      }
    }
    ```

    **Constraints:**
    - (C1) the windows are declared in the enclosing template or program.
    - (C2) every symbol operand is declared in the enclosing template.
  }];
  let arguments = (ins FlatSymbolRefAttr:$o_part, /*C1*/
                       FlatSymbolRefAttr:$lse_part, /*C1*/
                       FlatSymbolRefAttr:$o, /*C1*/
                       FlatSymbolRefAttr:$lse, /*C1*/
                       Comm_ChunkList:$chunks /*C2*/);
  let assemblyFormat = [{
    $o_part `,` $lse_part `->` $o `,` $lse custom<ChunkList>($chunks) attr-dict
  }];
}

#endif // SPARSEATTN_DIALECT_COMM_IR_COMMCOMPUTEOPS
