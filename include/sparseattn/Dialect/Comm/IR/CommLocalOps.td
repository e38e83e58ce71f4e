//===- CommLocalOps.td - Rows that stay on their rank -----*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_COMM_IR_COMMLOCALOPS
#define SPARSEATTN_DIALECT_COMM_IR_COMMLOCALOPS

include "sparseattn/Dialect/Comm/IR/CommBase.td"

def Comm_PackOp : Comm_Instruction<"pack", "Pack",
    ["Src", "Dst"],
    [Comm_Chunks<"SrcChunks", "from">,
      Comm_Chunks<"DstChunks", "to">]> {
  let summary = "Local copy of rows between windows";
  let description = [{
    Copies the rows of `from` to the rows of `to`, in list order. Both lists have
    the same number of rows; element types are equal.

    Life span: made with the instruction list, executed in its phase.

    ```mlir
    sa_comm.program @layer mesh <ulysses = 2, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <top_p, p = 0.9> {
      sa_comm.window @q : 2 x 256 x 32 x f32
      sa_comm.window @o : 2 x 256 x 32 x f32
      sa_comm.rank 0 {
        sa_comm.phase 1 "pack"
        sa_comm.pack @q [[0, 0:128], [1, 0:128]] -> @o [[1, 0:256]]
      }
      sa_comm.rank 1 {
      }
    }
    ```

    **Constraints:**
    - (C1) the windows are declared in the enclosing template or program.
    - (C2) every symbol operand is declared in the enclosing template.
  }];
  let arguments = (ins FlatSymbolRefAttr:$src, /*C1*/
                       Comm_ChunkList:$src_chunks, /*C2*/
                       FlatSymbolRefAttr:$dst, /*C1*/
                       Comm_ChunkList:$dst_chunks /*C2*/);
  let assemblyFormat = [{
    $src custom<ChunkList>($src_chunks) `->` $dst custom<ChunkList>($dst_chunks)
    attr-dict
  }];
}

def Comm_ReleaseOp : Comm_Instruction<"release", "Release",
    ["Window"],
    [Comm_Slots<"Slots", "slots">]> {
  let summary = "The rows of slots become unwritten";
  let description = [{
    Their memory may be written again; debug builds poison it. Reading the slots
    before they are written again is an error.

    Life span: made with the instruction list, executed in its phase.

    ```mlir
    sa_comm.program @layer mesh <ulysses = 2, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <top_p, p = 0.9> {
      sa_comm.window @q : 2 x 256 x 32 x f32
      sa_comm.rank 0 {
        sa_comm.phase 9 "end"
        sa_comm.release @q slots [0, 1]
      }
      sa_comm.rank 1 {
      }
    }
    ```

    **Constraints:**
    - (C1) the window is declared in the enclosing template or program.
    - (C2) every symbol operand is declared in the enclosing template.
    - (C3) literal slots lie between 0 and 2^31.
  }];
  let arguments = (ins FlatSymbolRefAttr:$window, /*C1*/
                       Comm_IntList:$slots /*C2, C3*/);
  let assemblyFormat = [{
    $window `slots` custom<IntList>($slots) attr-dict
  }];
}

def Comm_ConvertOp : Comm_Instruction<"convert", "Convert",
    ["Src", "Dst"],
    [Comm_Chunks<"Chunks", "chunks">]> {
  let summary = "Rows converted to another window's element type";
  let description = [{
    The rows of `chunks` of the source, converted to the destination's element
    type, at the same coordinates. Round to nearest, ties to even.

    Life span: made with the instruction list, executed in its phase.

    ```mlir
    sa_comm.program @layer mesh <ulysses = 2, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <top_p, p = 0.9> {
      sa_comm.window @o : 2 x 256 x 32 x f32
      sa_comm.window @out : 2 x 256 x 32 x bf16 output
      sa_comm.rank 0 {
        sa_comm.phase 8 "return"
        sa_comm.convert @o -> @out [[0, 0:256], [1, 0:256]]
      }
      sa_comm.rank 1 {
      }
    }
    ```

    **Constraints:**
    - (C1) the windows are declared in the enclosing template or program.
    - (C2) every symbol operand is declared in the enclosing template.
  }];
  let arguments = (ins FlatSymbolRefAttr:$src, /*C1*/
                       FlatSymbolRefAttr:$dst, /*C1*/
                       Comm_ChunkList:$chunks /*C2*/);
  let assemblyFormat = [{
    $src `->` $dst custom<ChunkList>($chunks) attr-dict
  }];
}

#endif // SPARSEATTN_DIALECT_COMM_IR_COMMLOCALOPS
