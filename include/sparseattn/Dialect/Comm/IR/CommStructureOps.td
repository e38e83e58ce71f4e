//===- CommStructureOps.td - What holds instructions -------*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_COMM_IR_COMMSTRUCTUREOPS
#define SPARSEATTN_DIALECT_COMM_IR_COMMSTRUCTUREOPS

include "sparseattn/Dialect/Comm/IR/CommBase.td"

class Comm_ScheduleOp<string mnemonic> : Comm_Op<mnemonic, [
    Symbol, SymbolTable, IsolatedFromAbove, NoTerminator, SingleBlock]> {
  let arguments = (ins SymbolNameAttr:$sym_name,
                       Comm_MeshAttr:$mesh,
                       Comm_ShapeAttr:$shape,
                       F32Attr:$scale,
                       Comm_PolicyAttr:$policy,
                       OptionalAttr<Comm_PlannerAttr>:$planner);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name custom<Header>($mesh, $shape, $scale, $policy, $planner)
    attr-dict-with-keyword $body
  }];
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
                                 "const ::sart::Placement &":$placement,
                                 "float":$scale,
                                 "const ::sart::RoutingPolicy &":$policy,
                                 "const ::sart::PlannerOptions &":$planner), [{
    ::mlir::sa_comm::detail::buildSchedule($_builder, $_state, name, placement,
                                           scale, policy, planner);
  }]>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Mesh and shape as the planning library knows them.
    ::sart::Placement toPlacement() {
      return {getMesh().toMesh(), getShape().toShape(),
              getMesh().getBlockShards()};
    }
    /// The planner's options; the defaults when none are written.
    ::sart::PlannerOptions toPlannerOptions() {
      return getPlanner() ? getPlanner()->toOptions() : ::sart::PlannerOptions();
    }
    ::mlir::Block *getBodyBlock() { return &getBody().front(); }
  }];
}

def Comm_TemplateOp : Comm_ScheduleOp<"template"> {
  let summary = "A program for every rank and every mask, with symbols";
  let description = [{
    One instruction list (`sa_comm.spmd`) that all ranks execute; what depends
    on the rank or the mask stands behind symbols. Compiled once per layer; a
    new mask costs a new binding, never a compile.

    Life span: made by the lowering of the `sparseattn` dialect; serialised to
    program bytes; never executed by itself but bound, rank by rank, by the run
    time's planner.

    ```mlir
    sa_comm.template @layer mesh <ulysses = 2, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <top_p, p = 0.9> planner <balance = swap> {
      sa_comm.window @q : 2 x 256 x 32 x f32
      sa_comm.symbol @mv_peer_out dynamic
      sa_comm.symbol @mv_q_out dynamic
      sa_comm.spmd {
        sa_comm.phase 4 "move"
        %sent = sa_comm.send @q @mv_q_out to @mv_peer_out
        sa_comm.wait %sent
      }
    }
    ```

    **Constraints:**
    - (C1) `scale` is a finite number.
    - (C2) names of windows and symbols are distinct.
    - (C3) the body holds windows, symbols and exactly one `sa_comm.spmd`, which
      comes last.
  }];
}

def Comm_ProgramOp : Comm_ScheduleOp<"program"> {
  let summary = "A bound program: one instruction list per rank and a mask";
  let description = [{
    What the ranks of the mesh execute for one mask. Every operand is literal,
    so the text says which rows travel and which tiles are computed. Made for a
    constant mask by the compiler and, for a routed mask, by exporting what ran;
    both give the same program for the same mask.

    Life span: made by binding a template; verified by
    `sparseattn-verify-schedule`; serialised to program bytes; executed.

    ```mlir
    sa_comm.program @layer mesh <ulysses = 1, ring = 1>
        shape <heads = 1, kv_heads = 1, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <explicit> {
      sa_comm.window @mask : 1 x 2 x 3 x i32
      sa_comm.mask 1 x 2 x 2 {
        head 0 {
          row 0 [0]
          row 1 [0:2]
        }
      }
      sa_comm.rank 0 {
        sa_comm.phase 0 "mask"
        sa_comm.load_mask @mask work [{head = 0, q = 0, kv = 0, rows = 0:2, cols = 0:2} ]
      }
    }
    ```

    **Constraints:**
    - (C1) `scale` is a finite number.
    - (C2) names of windows are distinct.
    - (C3) the body holds windows, at most one `sa_comm.mask`, and one
      `sa_comm.rank` per rank of the mesh, numbered 0, 1, ... in order, which
      come last.
    - (C4) the mask has the shape's heads, q-blocks and kv-blocks.
  }];
}

def Comm_WindowOp : Comm_Op<"window", [Symbol, ParentOneOf<["TemplateOp", "ProgramOp"]>]> {
  let summary = "A named buffer with the same shape on every rank";
  let description = [{
    `slots x rows x row elements x type`. A slot holds, for example, one head. An
    `input` or `output` window aliases the caller's tensor; the others belong to
    the executor, which poisons them in debug builds. Windows of queries, masks
    and outputs count rows from the start of the rank's ring segment, windows of
    keys and values in global positions.

    Life span: as the template or program that declares it.

    ```mlir
    sa_comm.template @layer mesh <ulysses = 1, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <dense> {
      sa_comm.window @q_shard : 2 x 256 x 32 x f32 input
      sa_comm.window @mask : 2 x 2 x 3 x i32
      sa_comm.spmd {
      }
    }
    ```

    **Constraints:**
    - (C1) there are 1 to 2^22 slots, at least 0 rows and at least 1 row
      element, and at most 2^46 bytes; a slot without rows counts as one row.
    - (C2) the element type is f32, bf16, f16, i32 or i64.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       I64Attr:$slots, /*C1*/
                       I64Attr:$rows, /*C1*/
                       I64Attr:$row_elements, /*C1*/
                       TypeAttr:$element_type, /*C2*/
                       DefaultValuedAttr<Comm_RoleAttr,
                         "::mlir::sa_comm::Role::Internal">:$role);
  let assemblyFormat = [{
    $sym_name `:`
    custom<WindowType>($slots, $rows, $row_elements, $element_type, $role)
    attr-dict
  }];
  let hasVerifier = 1;
}

def Comm_SymbolOp : Comm_Op<"symbol", [Symbol, HasParent<"TemplateOp">]> {
  let summary = "A list whose values the binder fills, rank by rank";
  let description = [{
    A `static` symbol follows from the placement alone and is bound at compile
    time; a `dynamic` one is bound per mask by the planner. The names and what
    their lists mean are the binder's (table in Rationale.md). A static symbol
    may carry its values, one list per rank, in place of the binder's.

    Life span: made with the template; gone when the template is bound.

    ```mlir
    sa_comm.template @layer mesh <ulysses = 2, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <dense> {
      sa_comm.symbol @xq_send static
      sa_comm.symbol @first_rows static values [[0, 0, 128], [0, 128, 256]]
      sa_comm.symbol @attend_local dynamic
      sa_comm.spmd {
      }
    }
    ```

    **Constraints:**
    - (C1) only a static symbol has `values`.
    - (C2) `values` has one list per rank of the mesh.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       Comm_SymbolKindAttr:$kind, /*C1*/
                       OptionalAttr<TypedArrayAttrBase<DenseI64ArrayAttr,
                         "one list per rank">>:$values /*C1, C2*/);
  let assemblyFormat = [{
    $sym_name custom<Keyword>($kind) (`values` custom<RankValues>($values)^)? attr-dict
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "bool":$isStatic), [{
    build($_builder, $_state, name,
          isStatic ? SymbolKind::Static : SymbolKind::Dynamic, nullptr);
  }]>];
  let hasVerifier = 1;
}

def Comm_MaskOp : Comm_Op<"mask", [HasParent<"ProgramOp">]> {
  let summary = "The constant mask of a bound program";
  let description = [{
    `heads x q-blocks x kv-blocks`, then the selected kv-blocks of each
    (head, q-block) as an ascending list of indices and half-open ranges. Equal
    neighbouring rows may share a line; a row or head that is not written has no
    kv-block.

    Life span: as the program. `sa_comm.load_mask` writes its rows into a window;
    the verifier checks that the attend instructions cover each tile once.

    ```mlir
    sa_comm.program @layer mesh <ulysses = 1, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 384, skv = 384, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <explicit> {
      sa_comm.mask 2 x 3 x 3 {
        head 0 {
          row 0 [0]
          row 1:3 [0, 2]
        }
        head 1 {
          row 0:3 [0:3]
        }
      }
      sa_comm.rank 0 {
      }
    }
    ```
  }];
  let arguments = (ins Comm_MaskRowsAttr:$rows);
  let assemblyFormat = "custom<MaskRows>($rows) attr-dict";
}

class Comm_ListOp<string mnemonic, string parent> : Comm_Op<mnemonic, [
    HasParent<parent>, IsolatedFromAbove, NoTerminator, SingleBlock]> {
  let regions = (region SizedRegion<1>:$body);
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    ::mlir::Block *getBodyBlock() { return &getBody().front(); }
  }];
}

def Comm_SpmdOp : Comm_ListOp<"spmd", "TemplateOp"> {
  let summary = "The instruction list of a template";
  let description = [{
    Executed by every rank with its own values of the symbols, from top to
    bottom. An instruction whose peer or lists are empty on a rank is skipped
    there, collectives excepted.

    Life span: as the template.

    ```mlir
    sa_comm.template @layer mesh <ulysses = 1, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <dense> {
      sa_comm.window @q : 2 x 256 x 32 x f32
      sa_comm.symbol @free_q dynamic
      sa_comm.spmd {
        sa_comm.phase 5 "move"
        sa_comm.release @q slots @free_q
      }
    }
    ```

    **Constraints:**
    - (C1) the body holds phases and instructions.
  }];
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins), [{
    $_state.addRegion()->emplaceBlock();
  }]>];
}

def Comm_RankOp : Comm_ListOp<"rank", "ProgramOp"> {
  let summary = "The instruction list of one rank of a bound program";
  let description = [{
    Executed from top to bottom by rank `number`. Every rank of the mesh has a
    list, also one without work, because it takes part in the collectives.

    Life span: as the program.

    ```mlir
    sa_comm.program @layer mesh <ulysses = 2, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <dense> {
      sa_comm.window @q : 2 x 256 x 32 x f32
      sa_comm.rank 0 {
        sa_comm.phase 4 "move"
        %sent = sa_comm.send @q [[0, 0:256]] to 1
        sa_comm.wait %sent
      }
      sa_comm.rank 1 {
        sa_comm.phase 4 "move"
        %received = sa_comm.recv @q [[1, 0:256]] from 0
        sa_comm.wait %received
      }
    }
    ```

    **Constraints:**
    - (C1) `number` is at least 0.
    - (C2) the body holds phases and instructions.
  }];
  let arguments = (ins I64Attr:$number /*C1*/);
  let assemblyFormat = "$number attr-dict-with-keyword $body";
  let builders = [OpBuilder<(ins "int64_t":$number), [{
    $_state.addAttribute(getNumberAttrName($_state.name),
                         $_builder.getI64IntegerAttr(number));
    $_state.addRegion()->emplaceBlock();
  }]>];
  let hasVerifier = 1;
}

def Comm_PhaseOp : Comm_Op<"phase", [
    ParentOneOf<["SpmdOp", "RankOp"]>, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The instructions that follow belong to this phase";
  let description = [{
    A marker. Phases are numbered alike on all ranks; the transfers of a phase
    are one group. The label is for readers. Instructions before the first
    marker belong to phase 0.

    Life span: as the instruction list.

    ```mlir
    sa_comm.program @layer mesh <ulysses = 1, ring = 1>
        shape <heads = 2, kv_heads = 2, sq = 256, skv = 256, head_dim = 32, block_q = 128, block_k = 128, dtype = f32>
        scale 0.125 policy <dense> {
      sa_comm.window @q : 2 x 256 x 32 x f32
      sa_comm.rank 0 {
        sa_comm.phase 9 "end"
        sa_comm.release @q slots [0, 1]
      }
    }
    ```

    **Constraints:**
    - (C1) `number` lies between 0 and 2^31 - 1.
  }];
  let arguments = (ins I64Attr:$number, /*C1*/
                       OptionalAttr<StrAttr>:$label);
  let assemblyFormat = "$number ($label^)? attr-dict";
  let builders = [OpBuilder<(ins "int64_t":$number, "::llvm::StringRef":$label), [{
    build($_builder, $_state, $_builder.getI64IntegerAttr(number),
          label.empty() ? ::mlir::StringAttr() : $_builder.getStringAttr(label));
  }]>];
  let hasVerifier = 1;
}

#endif // SPARSEATTN_DIALECT_COMM_IR_COMMSTRUCTUREOPS
