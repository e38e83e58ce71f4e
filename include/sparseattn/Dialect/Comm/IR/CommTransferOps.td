//===- CommTransferOps.td - Rows that travel --------------*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_COMM_IR_COMMTRANSFEROPS
#define SPARSEATTN_DIALECT_COMM_IR_COMMTRANSFEROPS

include "sparseattn/Dialect/Comm/IR/CommBase.td"

def Comm_AllToAllOp : Comm_Instruction<"all_to_all", "AllToAll",
    ["Src", "Dst"],
    [Comm_Chunks<"SendChunks", "send">,
      Comm_Counts<"SendCounts", "send counts">,
      Comm_Chunks<"RecvChunks", "recv">,
      Comm_Counts<"RecvCounts", "recv counts">], [], /*hasPeer=*/0, /*hasGroup=*/1> {
  let summary = "Exchange of chunks between all members of a group";
  let description = [{
    Every member of the group sends its own chunks to each member: the first
    `send counts[0]` chunks of `send` go to member 0, the next to member 1, and so
    on; `recv` likewise. The own part is copied. A collective: all members enter
    it, also those with empty lists.

    Life span: made with the instruction list, executed in its phase.

    ```mlir
    sa_comm.template @layer mesh <ulysses = 2, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <top_p, p = 0.9> {
      sa_comm.window @q_shard : 2 x 128 x 32 x f32 input
      sa_comm.window @q : 2 x 256 x 32 x f32
      sa_comm.symbol @xq_send static
      sa_comm.symbol @xq_send_n static
      sa_comm.symbol @xq_recv static
      sa_comm.symbol @xq_recv_n static
      sa_comm.spmd {
        sa_comm.phase 0 "exchange"
        sa_comm.all_to_all ulysses @q_shard -> @q
          send @xq_send counts @xq_send_n recv @xq_recv counts @xq_recv_n
      }
    }
    ```

    **Constraints:**
    - (C1) the windows are declared in the enclosing template or program.
    - (C2) every symbol operand is declared in the enclosing template.
    - (C3) literal counts lie between 0 and 2^31.
  }];
  let arguments = (ins Comm_GroupAttr:$group,
                       FlatSymbolRefAttr:$src, /*C1*/
                       FlatSymbolRefAttr:$dst, /*C1*/
                       Comm_ChunkList:$send_chunks, /*C2*/
                       Comm_IntList:$send_counts, /*C2, C3*/
                       Comm_ChunkList:$recv_chunks, /*C2*/
                       Comm_IntList:$recv_counts /*C2, C3*/);
  let assemblyFormat = [{
    custom<Keyword>($group)
    custom<Exchange>($src, $dst, $send_chunks, $send_counts, $recv_chunks,
                     $recv_counts) attr-dict
  }];
  let builders = [OpBuilder<(ins "::mlir::sa_comm::Group":$group,
                                 "::mlir::FlatSymbolRefAttr":$src,
                                 "::mlir::FlatSymbolRefAttr":$dst,
                                 "::mlir::Attribute":$send,
                                 "::mlir::Attribute":$sendCounts,
                                 "::mlir::Attribute":$recv,
                                 "::mlir::Attribute":$recvCounts), [{
    build($_builder, $_state, group, src.getValue(), dst.getValue(),
          send, sendCounts, recv, recvCounts);
  }]>];
}

def Comm_AllGatherOp : Comm_Instruction<"all_gather", "AllGather",
    ["Src", "Dst"],
    [Comm_Chunks<"SendChunks", "send">,
      Comm_Chunks<"RecvChunks", "recv">,
      Comm_Counts<"RecvCounts", "recv counts">], [], /*hasPeer=*/0, /*hasGroup=*/1> {
  let summary = "Every member of a group sends the same chunks to all members";
  let description = [{
    Every member sends `send` to all members, itself included, and receives
    `recv counts[i]` chunks of `recv` from member i. A collective, like
    `sa_comm.all_to_all`.

    Life span: made with the instruction list, executed in its phase.

    ```mlir
    sa_comm.template @layer mesh <ulysses = 2, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <top_p, p = 0.9> {
      sa_comm.window @summary : 2 x 1 x 2 x i32
      sa_comm.window @summary_all : 4 x 1 x 2 x i32
      sa_comm.symbol @gs_send static
      sa_comm.symbol @gs_recv static
      sa_comm.symbol @gs_recv_n static
      sa_comm.spmd {
        sa_comm.phase 3 "plan"
        sa_comm.all_gather all @summary -> @summary_all
          send @gs_send recv @gs_recv counts @gs_recv_n
      }
    }
    ```

    **Constraints:**
    - (C1) the windows are declared in the enclosing template or program.
    - (C2) every symbol operand is declared in the enclosing template.
    - (C3) literal counts lie between 0 and 2^31.
  }];
  let arguments = (ins Comm_GroupAttr:$group,
                       FlatSymbolRefAttr:$src, /*C1*/
                       FlatSymbolRefAttr:$dst, /*C1*/
                       Comm_ChunkList:$send_chunks, /*C2*/
                       Comm_ChunkList:$recv_chunks, /*C2*/
                       Comm_IntList:$recv_counts /*C2, C3*/);
  let assemblyFormat = [{
    custom<Keyword>($group)
    custom<Gather>($src, $dst, $send_chunks, $recv_chunks, $recv_counts) attr-dict
  }];
  let builders = [OpBuilder<(ins "::mlir::sa_comm::Group":$group,
                                 "::mlir::FlatSymbolRefAttr":$src,
                                 "::mlir::FlatSymbolRefAttr":$dst,
                                 "::mlir::Attribute":$send,
                                 "::mlir::Attribute":$recv,
                                 "::mlir::Attribute":$recvCounts), [{
    build($_builder, $_state, group, src.getValue(), dst.getValue(),
          send, recv, recvCounts);
  }]>];
}

def Comm_SendOp : Comm_Instruction<"send", "Send",
    ["Src"],
    [Comm_Chunks<"Chunks", "chunks">], [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>], /*hasPeer=*/1> {
  let summary = "Starts sending rows to a peer";
  let description = [{
    Starts the transfer and goes on; the rows must not be written or released
    before the token has been waited for. Between two ranks the k-th send of a
    phase meets the k-th receive. Skipped when the peer is `none`.

    Life span: made with the instruction list, executed in its phase.

    ```mlir
    sa_comm.program @layer mesh <ulysses = 2, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <top_p, p = 0.9> {
      sa_comm.window @q : 2 x 256 x 32 x f32
      sa_comm.rank 0 {
        sa_comm.phase 4 "move"
        %sent = sa_comm.send @q [[1, 0:256]] to 1
        sa_comm.wait %sent
      }
      sa_comm.rank 1 {
        sa_comm.phase 4 "move"
        %received = sa_comm.recv @q [[0, 0:256]] from 0
        sa_comm.wait %received
      }
    }
    ```

    **Constraints:**
    - (C1) the window is declared in the enclosing template or program.
    - (C2) every symbol operand is declared in the enclosing template.
    - (C3) a literal peer is `none` or one rank between 0 and 2^31 - 1.
  }];
  let arguments = (ins FlatSymbolRefAttr:$src, /*C1*/
                       Comm_ChunkList:$chunks, /*C2*/
                       Comm_Peer:$peer /*C2, C3*/);
  let results = (outs Comm_Token:$token);
  let assemblyFormat = [{
    $src custom<ChunkList>($chunks) `to` custom<Peer>($peer) attr-dict
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$window,
                                 "::mlir::Attribute":$chunks,
                                 "::mlir::Attribute":$peer), [{
    build($_builder, $_state, TokenType::get($_builder.getContext()), window,
          chunks, peer);
  }]>, OpBuilder<(ins "::mlir::FlatSymbolRefAttr":$window,
                      "::mlir::Attribute":$chunks,
                      "::mlir::Attribute":$peer), [{
    build($_builder, $_state, window.getValue(), chunks, peer);
  }]>];
}

def Comm_RecvOp : Comm_Instruction<"recv", "Recv",
    ["Dst"],
    [Comm_Chunks<"Chunks", "chunks">], [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>], /*hasPeer=*/1> {
  let summary = "Starts receiving rows from a peer";
  let description = [{
    Starts the transfer and goes on; the rows may be read once the token has been
    waited for. The ends agree on sizes because both follow from the plan: no
    size travels. Skipped when the peer is `none`.

    Life span: made with the instruction list, executed in its phase.

    ```mlir
    sa_comm.program @layer mesh <ulysses = 2, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <top_p, p = 0.9> {
      sa_comm.window @q : 2 x 256 x 32 x f32
      sa_comm.rank 0 {
        sa_comm.phase 4 "move"
        %sent = sa_comm.send @q [[1, 0:256]] to 1
        sa_comm.wait %sent
      }
      sa_comm.rank 1 {
        sa_comm.phase 4 "move"
        %received = sa_comm.recv @q [[0, 0:256]] from 0
        sa_comm.wait %received
      }
    }
    ```

    **Constraints:**
    - (C1) the window is declared in the enclosing template or program.
    - (C2) every symbol operand is declared in the enclosing template.
    - (C3) a literal peer is `none` or one rank between 0 and 2^31 - 1.
  }];
  let arguments = (ins FlatSymbolRefAttr:$dst, /*C1*/
                       Comm_ChunkList:$chunks, /*C2*/
                       Comm_Peer:$peer /*C2, C3*/);
  let results = (outs Comm_Token:$token);
  let assemblyFormat = [{
    $dst custom<ChunkList>($chunks) `from` custom<Peer>($peer) attr-dict
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$window,
                                 "::mlir::Attribute":$chunks,
                                 "::mlir::Attribute":$peer), [{
    build($_builder, $_state, TokenType::get($_builder.getContext()), window,
          chunks, peer);
  }]>, OpBuilder<(ins "::mlir::FlatSymbolRefAttr":$window,
                      "::mlir::Attribute":$chunks,
                      "::mlir::Attribute":$peer), [{
    build($_builder, $_state, window.getValue(), chunks, peer);
  }]>];
}

def Comm_PutOp : Comm_Instruction<"put", "Put",
    ["Src", "Dst"],
    [Comm_Chunks<"SrcChunks", "from">,
      Comm_Chunks<"DstChunks", "to">], [], /*hasPeer=*/1> {
  let summary = "One-sided write into the peer's window";
  let description = [{
    Writes the rows of `from` into the rows of `to` of the peer's window. The peer
    may read them after it has waited for a later `sa_comm.signal` of this rank.
    Skipped when the peer is `none`.

    Life span: made with the instruction list, executed in its phase.

    ```mlir
    sa_comm.program @layer mesh <ulysses = 2, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <top_p, p = 0.9> {
      sa_comm.window @k : 2 x 256 x 32 x f32
      sa_comm.rank 0 {
        sa_comm.phase 6 "ring"
        sa_comm.put @k [[0, 0:128]] -> @k [[0, 0:128]] to 1
        sa_comm.signal to 1
      }
      sa_comm.rank 1 {
        sa_comm.phase 6 "ring"
        sa_comm.wait_signal from 0
      }
    }
    ```

    **Constraints:**
    - (C1) the windows are declared in the enclosing template or program.
    - (C2) every symbol operand is declared in the enclosing template.
    - (C3) a literal peer is `none` or one rank between 0 and 2^31 - 1.
  }];
  let arguments = (ins FlatSymbolRefAttr:$src, /*C1*/
                       Comm_ChunkList:$src_chunks, /*C2*/
                       FlatSymbolRefAttr:$dst, /*C1*/
                       Comm_ChunkList:$dst_chunks, /*C2*/
                       Comm_Peer:$peer /*C2, C3*/);
  let assemblyFormat = [{
    $src custom<ChunkList>($src_chunks) `->` $dst custom<ChunkList>($dst_chunks)
    `to` custom<Peer>($peer) attr-dict
  }];
}

def Comm_SignalOp : Comm_Instruction<"signal", "Signal",
    [],
    [], [], /*hasPeer=*/1> {
  let summary = "Raises the peer's flag of this rank";
  let description = [{
    After all earlier puts to the peer are visible there. Skipped when the peer is
    `none`.

    Life span: made with the instruction list, executed in its phase.

    ```mlir
    sa_comm.program @layer mesh <ulysses = 2, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <top_p, p = 0.9> {
      sa_comm.window @k : 2 x 256 x 32 x f32
      sa_comm.rank 0 {
        sa_comm.phase 6 "ring"
        sa_comm.put @k [[0, 0:128]] -> @k [[0, 0:128]] to 1
        sa_comm.signal to 1
      }
      sa_comm.rank 1 {
        sa_comm.phase 6 "ring"
        sa_comm.wait_signal from 0
      }
    }
    ```

    **Constraints:**
    - (C1) every symbol operand is declared in the enclosing template.
    - (C2) a literal peer is `none` or one rank between 0 and 2^31 - 1.
  }];
  let arguments = (ins Comm_Peer:$peer /*C1, C2*/);
  let assemblyFormat = [{
    `to` custom<Peer>($peer) attr-dict
  }];
}

def Comm_WaitSignalOp : Comm_Instruction<"wait_signal", "WaitSignal",
    [],
    [], [], /*hasPeer=*/1> {
  let summary = "Blocks until the peer's signal has arrived, then clears it";
  let description = [{
    Rows that the peer put before its signal may be read afterwards. Skipped when
    the peer is `none`.

    Life span: made with the instruction list, executed in its phase.

    ```mlir
    sa_comm.program @layer mesh <ulysses = 2, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <top_p, p = 0.9> {
      sa_comm.window @k : 2 x 256 x 32 x f32
      sa_comm.rank 0 {
        sa_comm.phase 6 "ring"
        sa_comm.put @k [[0, 0:128]] -> @k [[0, 0:128]] to 1
        sa_comm.signal to 1
      }
      sa_comm.rank 1 {
        sa_comm.phase 6 "ring"
        sa_comm.wait_signal from 0
      }
    }
    ```

    **Constraints:**
    - (C1) every symbol operand is declared in the enclosing template.
    - (C2) a literal peer is `none` or one rank between 0 and 2^31 - 1.
  }];
  let arguments = (ins Comm_Peer:$peer /*C1, C2*/);
  let assemblyFormat = [{
    `from` custom<Peer>($peer) attr-dict
  }];
}

def Comm_WaitOp : Comm_Instruction<"wait", "Wait",
    [],
    []> {
  let summary = "Blocks until sends and receives are complete";
  let description = [{
    Every token is waited for exactly once. A token is defined above its wait in
    the same list: the order rule holds by construction of the text.

    Life span: made with the instruction list, executed in its phase.

    ```mlir
    sa_comm.program @layer mesh <ulysses = 2, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <top_p, p = 0.9> {
      sa_comm.window @q : 2 x 256 x 32 x f32
      sa_comm.rank 0 {
        sa_comm.phase 4 "move"
        %sent = sa_comm.send @q [[1, 0:256]] to 1
        sa_comm.wait %sent
      }
      sa_comm.rank 1 {
        sa_comm.phase 4 "move"
        %received = sa_comm.recv @q [[0, 0:256]] from 0
        sa_comm.wait %received
      }
    }
    ```

    **Constraints:**
    - (C1) every operand is the token of a `sa_comm.send` or `sa_comm.recv`.
  }];
  let arguments = (ins Variadic<Comm_Token>:$tokens /*C1*/);
  let assemblyFormat = [{
    ($tokens^)? attr-dict
  }];
}

#endif // SPARSEATTN_DIALECT_COMM_IR_COMMTRANSFEROPS
