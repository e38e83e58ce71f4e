//===- CommAttrs.td - Attributes of the sa_comm dialect ----*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_COMM_IR_COMMATTRS
#define SPARSEATTN_DIALECT_COMM_IR_COMMATTRS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "sparseattn/Dialect/Comm/IR/CommDialect.td"

//===----------------------------------------------------------------------===//
// Enumerations: the numbers are those of the program format
//===----------------------------------------------------------------------===//

class Comm_Enum<string name, string text, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::mlir::sa_comm";
  let genSpecializedAttr = 0;
}

def Comm_Group : Comm_Enum<"Group", "members of a collective", [
    I32EnumAttrCase<"All", 0, "all">,
    I32EnumAttrCase<"Ulysses", 1, "ulysses">,
    I32EnumAttrCase<"Ring", 2, "ring">]>;
def Comm_GroupAttr : EnumAttr<Comm_Dialect, Comm_Group, "group"> {
  let description = [{
    Who takes part in a collective: `all` ranks, the `ulysses` group (ranks of one
    ring index) or the `ring` group (ranks of one Ulysses index) of the executing
    rank.
  }];
}

def Comm_Role : Comm_Enum<"Role", "who owns a window's memory", [
    I32EnumAttrCase<"Internal", 0, "internal">,
    I32EnumAttrCase<"Input", 1, "input">,
    I32EnumAttrCase<"Output", 2, "output">]>;
def Comm_RoleAttr : EnumAttr<Comm_Dialect, Comm_Role, "role"> {
  let description = [{
    `internal` windows belong to the executor; `input` and `output` windows alias
    tensors of the caller.
  }];
}

def Comm_Side : Comm_Enum<"Side", "what a pool reads", [
    I32EnumAttrCase<"Queries", 0, "queries">,
    I32EnumAttrCase<"Keys", 1, "keys">]>;
def Comm_SideAttr : EnumAttr<Comm_Dialect, Comm_Side, "side"> {
  let description = [{
    Whether `sa_comm.pool` takes means of q-blocks (`queries`) or of kv-blocks
    (`keys`).
  }];
}

def Comm_SymbolKind : Comm_Enum<"SymbolKind", "when a symbol gets its values", [
    I32EnumAttrCase<"Dynamic", 0, "dynamic">,
    I32EnumAttrCase<"Static", 1, "static">]>;
def Comm_SymbolKindAttr : EnumAttr<Comm_Dialect, Comm_SymbolKind, "symbol_kind"> {
  let description = [{
    `static` symbols follow from the placement and are bound at compile time,
    `dynamic` ones are bound per mask.
  }];
}

def Comm_PolicyKind : Comm_Enum<"PolicyKind", "how tiles are chosen", [
    I32EnumAttrCase<"TopP", 0, "top_p">,
    I32EnumAttrCase<"TopK", 1, "top_k">,
    I32EnumAttrCase<"Dense", 2, "dense">,
    I32EnumAttrCase<"Window", 3, "window">,
    I32EnumAttrCase<"Explicit", 4, "explicit">]>;

def Comm_Balance : Comm_Enum<"Balance", "what the planner may move", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"Swap", 1, "swap">,
    I32EnumAttrCase<"Split", 2, "split">,
    I32EnumAttrCase<"Pre", 3, "pre">]>;

//===----------------------------------------------------------------------===//
// Header of a template or program
//===----------------------------------------------------------------------===//

class Comm_Attr<string name, string attrMnemonic> : AttrDef<Comm_Dialect, name> {
  let mnemonic = attrMnemonic;
  let genVerifyDecl = 1;
  // Keys in any order, with errors that say what was found and expected.
  let hasCustomAssemblyFormat = 1;
}

def Comm_MeshAttr : Comm_Attr<"Mesh", "mesh"> {
  let summary = "Mesh of ranks";
  let description = [{
    `rank = ring index * ulysses + ulysses index`. Ranks of one ring index share
    a sequence segment and split the heads; ranks of one Ulysses index share
    heads and split the sequence. With `block_shards` the parts of the sequence
    that ranks hold at entry and exit end where blocks end.

    **Constraints:**
    - (C1) both sizes are at least 1 and their product is at most 1,024.
  }];
  let parameters = (ins "int64_t":$ulysses, /*C1*/
                        "int64_t":$ring, /*C1*/
                        "bool":$block_shards);
  let builders = [AttrBuilder<(ins "const ::sart::Placement &":$placement), [{
    return $_get($_ctxt, placement.mesh.ulysses, placement.mesh.ring,
                 placement.blockShards);
  }]>];
  let extraClassDeclaration = [{
    int64_t getRanks() const { return getUlysses() * getRing(); }
    ::sart::Mesh toMesh() const { return {getUlysses(), getRing()}; }
  }];
}

def Comm_ShapeAttr : Comm_Attr<"Shape", "shape"> {
  let summary = "Shape of the attention layer";
  let description = [{
    `heads` query heads, `kv_heads` key and value heads, `sq` query and `skv` key
    tokens, blocks of `block_q` x `block_k` tokens, inputs of type `dtype`. With
    `causal`, query i sees key j if and only if j <= i + skv - sq.

    **Constraints:**
    - (C1) `heads` and `kv_heads` lie between 1 and 4,096, `head_dim`, `block_q`
      and `block_k` between 1 and 65,536, `sq` and `skv` between 0 and 2^31.
    - (C2) `kv_heads` divides `heads`.
    - (C3) `dtype` is f32, bf16 or f16.
  }];
  let parameters = (ins "int64_t":$heads, /*C1, C2*/
                        "int64_t":$kv_heads, /*C1, C2*/
                        "int64_t":$sq, /*C1*/
                        "int64_t":$skv, /*C1*/
                        "int64_t":$head_dim, /*C1*/
                        "int64_t":$block_q, /*C1*/
                        "int64_t":$block_k, /*C1*/
                        "::mlir::Type":$dtype, /*C3*/
                        "bool":$causal);
  let builders = [AttrBuilder<(ins "const ::sart::LayerShape &":$shape), [{
    return $_get($_ctxt, shape.heads, shape.kvHeads, shape.sq, shape.skv,
                 shape.headDim, shape.blockQ, shape.blockK,
                 ::mlir::sa_comm::toType($_ctxt, shape.dtype), shape.causal);
  }]>];
  let extraClassDeclaration = [{
    ::sart::LayerShape toShape() const;
    int64_t getQBlocks() const {
      return (getSq() + getBlockQ() - 1) / getBlockQ();
    }
    int64_t getKvBlocks() const {
      return (getSkv() + getBlockK() - 1) / getBlockK();
    }
  }];
}

def Comm_PolicyAttr : Comm_Attr<"Policy", "policy"> {
  let summary = "How the layer routes";
  let description = [{
    One of `top_p` (with `p`, `min_blocks`), `top_k` (with `k`), `dense`,
    `window` (with `blocks`) and `explicit`; `keep` lists half-open ranges of
    kv-blocks that are always kept. Parts that have their default value are not
    printed.

    Example: `<top_p, p = 0.9, min_blocks = 4, keep = [0:2, 9]>`

    **Constraints:**
    - (C1) `p` is a finite number.
    - (C2) `min_blocks`, `k` and `blocks` lie between 0 and 2^31.
    - (C3) every range of `keep` has 0 <= begin <= end <= 2^31.
  }];
  let parameters = (ins "::mlir::sa_comm::PolicyKind":$kind,
                        APFloatParameter<"share of the mass">:$p, /*C1*/
                        "int64_t":$minBlocks, /*C2*/
                        "int64_t":$k, /*C2*/
                        "int64_t":$windowBlocks, /*C2*/
                        ArrayRefParameter<"int64_t", "begin, end, ...">:$keep /*C3*/);
  let builders = [AttrBuilder<(ins "const ::sart::RoutingPolicy &":$policy)>];
  let extraClassDeclaration = [{
    ::sart::RoutingPolicy toPolicy() const;
  }];
}

def Comm_CostAttr : Comm_Attr<"Cost", "cost"> {
  let summary = "Costs that the planner weighs, in integers";
  let description = [{
    Picoseconds per tile, per q-block row, per transfer and per byte over a
    link; nanoseconds of the planning itself.

    **Constraints:**
    - (C1) every cost lies between 0 and 2^40.
  }];
  let parameters = (ins
      "int64_t":$tile_ps, /*C1*/
      "int64_t":$row_ps, /*C1*/
      "int64_t":$transfer_ps, /*C1*/
      "int64_t":$byte_ps, /*C1*/
      "int64_t":$schedule_ns /*C1*/);
}

def Comm_PlannerAttr : Comm_Attr<"Planner", "planner"> {
  let summary = "Options of the planner";
  let description = [{
    What the host planner does between routing and attention: moves of heads
    (`balance`), extra tiles (`augment`), thresholds in thousandths and costs.
    Parts but the first that have their default value are not printed.

    **Constraints:**
    - (C1) every threshold and max_pieces lie between 0 and 2^31.
  }];
  let parameters = (ins
      "::mlir::sa_comm::Balance":$balance,
      "bool":$augment,
      "int64_t":$k1_milli, /*C1*/
      "int64_t":$k2_milli, /*C1*/
      "int64_t":$n1_milli, /*C1*/
      "int64_t":$n2_milli, /*C1*/
      "int64_t":$max_pieces, /*C1*/
      "bool":$repair,
      "::mlir::sa_comm::CostAttr":$cost /*null: defaults*/);
  let builders = [AttrBuilder<(ins "const ::sart::PlannerOptions &":$options)>];
  let extraClassDeclaration = [{
    ::sart::PlannerOptions toOptions() const;
  }];
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

def Comm_ChunksAttr : Comm_Attr<"Chunks", "chunks"> {
  let summary = "Rows of slots of a window";
  let description = [{
    A list of chunks `[slot, begin:end]`, rows half-open. Stored flat, three
    integers each, as in the program format.

    Example: `[[0, 0:128], [3, 256:384]]`

    **Constraints:**
    - (C1) every chunk has three integers.
    - (C2) 0 <= slot <= 2^31 and 0 <= begin <= end <= 2^40.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t", "flat chunks">:$values /*C1, C2*/);
  let extraClassDeclaration = [{
    size_t size() const { return getValues().size() / 3; }
    ::sart::Chunk getChunk(size_t index) const;
  }];
}

def Comm_WorkListAttr : Comm_Attr<"WorkList", "work"> {
  let summary = "Tiles to pool, route, load, augment or attend";
  let description = [{
    A list of rectangles of tiles. `head` is the global query head, `q` its slot
    in the windows of queries, masks and outputs, `kv` the slot of its keys and
    values; `rows` are q-blocks of the rank's segment, counted from 0, `cols`
    global kv-blocks, both half-open; `budget` (augment only) is the number of
    extra tiles; `origin` the global block from which the slot's rows count,
    where that is not the segment's first (pooling keys: not 0), -1 otherwise.
    Stored flat, nine integers each, as in the program format.

    Example: `[{head = 3, q = 1, kv = 1, rows = 0:4, cols = 0:8} ]`

    **Constraints:**
    - (C1) every entry has nine integers.
    - (C2) `head`, `q`, `kv` and `budget` lie between 0 and 2^31, `origin`
      between -1 and 2^31.
    - (C3) `rows` and `cols` have 0 <= begin <= end <= 2^31.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t", "flat work">:$values /*C1, C2, C3*/);
  let extraClassDeclaration = [{
    size_t size() const { return getValues().size() / 9; }
    ::sart::Work getWork(size_t index) const;
  }];
}

def Comm_MaskRowsAttr : Comm_Attr<"MaskRows", "mask_rows"> {
  let summary = "A block mask as ascending kv-blocks per (head, q-block)";
  let description = [{
    Compressed rows: row `head * q_blocks + q_block` spans
    `indices[offsets[row]]` up to `indices[offsets[row + 1]]`.

    Example: `<2 x 2 x 4 {head 0 {row 0 [0:3] row 1 [2]} head 1 {row 0:2 [1, 3]}}>`

    **Constraints:**
    - (C1) sizes are at least 0 and their product is at most 2^27 tiles.
    - (C2) offsets have one entry per row and one more, start with 0, ascend and
      end with the number of indices.
    - (C3) the indices of a row ascend and lie below the number of kv-blocks.
  }];
  let parameters = (ins "int64_t":$heads, /*C1*/
                        "int64_t":$qBlocks, /*C1*/
                        "int64_t":$kvBlocks, /*C1*/
                        ArrayRefParameter<"int64_t">:$offsets, /*C2*/
                        ArrayRefParameter<"int32_t">:$indices /*C3*/);
  let builders = [AttrBuilder<(ins "const ::sart::BlockMask &":$mask)>];
}

#endif // SPARSEATTN_DIALECT_COMM_IR_COMMATTRS
