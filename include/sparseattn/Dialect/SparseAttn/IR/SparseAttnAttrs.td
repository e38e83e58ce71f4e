//===- SparseAttnAttrs.td - Orders, policies, placement, plan --*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNATTRS_TD
#define SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "sparseattn/Dialect/SparseAttn/IR/SparseAttnDialect.td"
include "sparseattn/Dialect/SparseAttn/IR/SparseAttnInterfaces.td"

// Every attribute reads and prints `<field = value, ...>`; fields may come in
// any order and those that have their default are not printed. Inside an op that
// goes on with `:`, MLIR would take the op's type for the attribute's: there an
// attribute is written as an alias or as `<...>` without its name.
class SA_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<SparseAttnDialect, name, traits> {
  let mnemonic = attrMnemonic;
}

// -- Enumerations ----------------------------------------------------------------

// The numbers equal those of sart::OrderKind.
def SA_OrderKind : I32EnumAttr<"OrderKind", "order of the tokens of a grid", [
    I32EnumAttrCase<"Raster", 0, "raster">,
    I32EnumAttrCase<"Cubes", 1, "cubes">,
    I32EnumAttrCase<"Hilbert", 2, "hilbert">,
    I32EnumAttrCase<"Stripes", 3, "stripes">,
    I32EnumAttrCase<"Tiles", 4, "tiles">]> {
  let cppNamespace = "::mlir::sparseattn";
  let genSpecializedAttr = 0;
}

// The numbers equal those of sart::Balance.
def SA_BalanceAlgorithm : I32EnumAttr<"BalanceAlgorithm",
    "how the work of the ranks is evened out", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"Swap", 1, "swap">,
    I32EnumAttrCase<"Split", 2, "split">,
    I32EnumAttrCase<"Pre", 3, "pre">]> {
  let cppNamespace = "::mlir::sparseattn";
}

def SA_Layout : I32EnumAttr<"Layout", "how a tensor is spread over the ranks", [
    I32EnumAttrCase<"Sequence", 0, "sequence">,
    I32EnumAttrCase<"Heads", 1, "heads">]> {
  let cppNamespace = "::mlir::sparseattn";
}

// -- Order -----------------------------------------------------------------------

def SA_OrderAttr : SA_Attr<"Order", "order"> {
  let summary = "Invertible permutation of the tokens of a space-time grid";
  let description = [{
    A grid of `T x H x W` tokens (raster order: t slowest, w fastest) with
    `prefix` and `suffix` text tokens that stay in place before and after it.
    Kinds: `raster`; `cubes` of `cube` tokens per axis, cubes and the tokens in
    a cube in raster order, cut at the border of the grid; `hilbert`, Skilling's
    curve over the smallest power-of-two cube that holds the grid, points
    outside skipped; `stripes`, tokens sorted by `h * W + w`, then by frame;
    `tiles`, for ranks that hold consecutive tokens: `tiles = [t, h]` cuts the
    tokens of stripes into `h` equal runs, each sorted by frame into `t` equal
    runs, and the tokens of each tile are ordered as in `cubes`.

    ```mlir
    func.func private @layer() attributes {
      order = #sparseattn.order<cubes, grid = [9, 30, 52], prefix = 77, cube = [3, 6, 4]>,
      islands = #sparseattn.order<tiles, grid = [9, 30, 52], tiles = [2, 4]>
    }
    ```

    **Constraints:**
    - (C1) the grid has three axes of at least 1 token
    - (C2) prefix and suffix are not negative
    - (C3) the cube has three axes of at least 1 token
    - (C4) a cube other than 4 x 4 x 4 is given to the kinds `cubes` and `tiles`
      only
    - (C5) there are fewer than 2^40 tokens
    - (C6) the tiles have two counts of at least 1
    - (C7) tiles other than 1 x 1 are given to the kind `tiles` only
  }];
  let parameters = (ins
    "::mlir::sparseattn::OrderKind":$kind,
    ArrayRefParameter<"int64_t", "T, H, W">:$grid,
    "int64_t":$prefix,
    "int64_t":$suffix,
    ArrayRefParameter<"int64_t", "tokens per axis of a cube">:$cube,
    ArrayRefParameter<"int64_t", "in time, in space">:$tiles);
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// prefix + T * H * W + suffix.
    int64_t getTokens() const;
    /// Whether it leaves every token in place.
    bool isIdentity() const { return getKind() == OrderKind::Raster; }
  }];
}

// -- Routing policies ------------------------------------------------------------

class SA_Policy<string name, string attrMnemonic>
    : SA_Attr<name, attrMnemonic,
              [DeclareAttrInterfaceMethods<SA_PolicyInterface>]>;

def SA_TopPAttr : SA_Policy<"TopP", "top_p"> {
  let summary = "Shortest prefix of the sorted softmax whose sum reaches p";
  let description = [{
    Per (head, q-block): softmax over the kv-block scores, sorted by (score
    descending, index ascending); the shortest prefix whose cumulative sum
    reaches `p` is kept, at least `min_blocks` (clamped to the number of
    kv-blocks). `p` of 1 or more keeps all. The half-open kv-block ranges of
    `keep` are always kept.

    ```mlir
    func.func private @layer() attributes {
      policy = #sparseattn.top_p<p = 0.9, min_blocks = 4, keep = [[0, 2]]>
    }
    ```

    **Constraints:**
    - (C1) p is finite and not negative
    - (C2) min_blocks is at least 1
    - (C3) the keep ranges are not empty, ascending and disjoint, from 0 on
  }];
  let parameters = (ins
    APFloatParameter<"share of the softmax mass">:$share,
    "int64_t":$minBlocks,
    ArrayRefParameter<"int64_t", "begin, end of each range">:$keep);
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    double getP() const { return getShare().convertToDouble(); }
    static TopPAttr get(::mlir::MLIRContext *context, double p,
                        int64_t minBlocks, ::llvm::ArrayRef<int64_t> keep);
  }];
}

def SA_TopKAttr : SA_Policy<"TopK", "top_k"> {
  let summary = "The k best kv-blocks of every q-block";
  let description = [{
    Per (head, q-block) the first `k` kv-blocks by (score descending, index
    ascending), `k` clamped to the number of kv-blocks. The half-open kv-block
    ranges of `keep` are always kept, beside these.

    ```mlir
    func.func private @layer() attributes {
      policy = #sparseattn.top_k<k = 16, keep = [[0, 1]]>
    }
    ```

    **Constraints:**
    - (C1) k is at least 1
    - (C2) the keep ranges are not empty, ascending and disjoint, from 0 on
  }];
  let parameters = (ins
    "int64_t":$k,
    ArrayRefParameter<"int64_t", "begin, end of each range">:$keep);
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
}

def SA_DenseAttr : SA_Policy<"Dense", "dense"> {
  let summary = "Every kv-block";
  let description = [{
    Keeps every kv-block of every q-block. In a causal mask, tiles without a
    visible key are left out.

    ```mlir
    func.func private @layer() attributes {policy = #sparseattn.dense}
    ```
  }];
}

def SA_WindowAttr : SA_Policy<"Window", "window"> {
  let summary = "kv-blocks near the diagonal";
  let description = [{
    q-block `i` keeps kv-block `j` if and only if
    `|floor(i * nK / nQ) - j| <= blocks`. In a causal mask, tiles without a
    visible key are left out.

    ```mlir
    func.func private @layer() attributes {policy = #sparseattn.window<blocks = 3>}
    ```

    **Constraints:**
    - (C1) blocks is not negative
  }];
  let parameters = (ins "int64_t":$blocks);
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
}

// -- Mesh, placement, cost -------------------------------------------------------

def SA_MeshAttr : SA_Attr<"Mesh", "mesh"> {
  let summary = "Ranks as a grid of Ulysses groups and ring groups";
  let description = [{
    `ulysses * ring` ranks; rank `r * ulysses + u` stands at Ulysses index `u`
    and ring index `r`. The ranks of one ring index share a segment of the
    sequence and split its heads.

    ```mlir
    func.func private @layer() attributes {mesh = #sparseattn.mesh<ulysses = 4, ring = 2>}
    ```

    **Constraints:**
    - (C1) both axes have at least 1 rank
    - (C2) there are at most 65,536 ranks
  }];
  let parameters = (ins "int64_t":$ulysses, "int64_t":$ring);
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    int64_t getRanks() const { return getUlysses() * getRing(); }
  }];
}

def SA_PlacementAttr : SA_Attr<"Placement", "placement"> {
  let summary = "Who owns each head, q-block and kv-block at first";
  let description = [{
    Heads in contiguous even parts over the Ulysses axis, q-blocks and kv-blocks
    in contiguous even parts over the ring axis; part `i` of `n` things over `P`
    owners is `[n * i / P, n * (i + 1) / P)` and may be empty. Before the
    exchange, each rank of a ring index holds an even part of its segment's
    tokens, with all heads; with `block_shards` parts end where blocks end, so
    that a rank can pool its part alone.

    ```mlir
    func.func private @layer() attributes {
      placement = #sparseattn.placement<mesh = <ulysses = 4, ring = 1>, heads = 12,
                                        kv_heads = 12, q_blocks = 110, kv_blocks = 110>,
      pooled_first = #sparseattn.placement<mesh = <ulysses = 4, ring = 1>, heads = 12,
                                           kv_heads = 12, q_blocks = 110, kv_blocks = 110,
                                           block_shards>
    }
    ```

    **Constraints:**
    - (C1) there is at least 1 head and 1 kv head
    - (C2) kv_heads divides heads
    - (C3) block counts are not negative
  }];
  let parameters = (ins
    "::mlir::sparseattn::MeshAttr":$mesh,
    "int64_t":$heads,
    "int64_t":$kvHeads,
    "int64_t":$qBlocks,
    "int64_t":$kvBlocks,
    DefaultValuedParameter<"bool", "false">:$blockShards);
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
}

def SA_CostModelAttr : SA_Attr<"CostModel", "cost_model"> {
  let summary = "Affine costs of work and traffic, in integers";
  let description = [{
    `tile_ps`: one tile of one head; `row_ps`: fixed work of one q-block of one
    head; `transfer_ps`: latency of one transfer; `byte_ps`: one byte over a
    link (all picoseconds); `schedule_ns`: planning itself (nanoseconds).
    Integers, so that every rank decides alike. The default counts tiles.

    ```mlir
    func.func private @layer() attributes {
      cost = #sparseattn.cost_model<tile_ps = 14000, transfer_ps = 10000000, byte_ps = 3>
    }
    ```

    **Constraints:**
    - (C1) no cost is negative
  }];
  let parameters = (ins "int64_t":$tilePs, "int64_t":$rowPs,
                        "int64_t":$transferPs, "int64_t":$bytePs,
                        "int64_t":$scheduleNs);
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
}

// -- Plan ------------------------------------------------------------------------

def SA_PlanAttr : SA_Attr<"Plan", "plan"> {
  let summary = "Everything that was decided for one mask";
  let description = [{
    The content of the struct `sart::Plan`, which the planning library makes and
    the lowering consumes; the conversion is total in both directions.

    - `moves`: `[head, from, to]`, whole heads that change their Ulysses index;
    - `row_moves`: `[head, begin, end, from, to]`, q-blocks of a head that go
      from one rank to another;
    - `transfers`: `[kv_head, ulysses, from, to, [begin, end, ...]]`, kv-blocks
      of a kv head that travel between two ring indices;
    - `extras`: `[head, ring, tiles]`, extra tiles that augmentation adds;
    - `loads_before`, `loads_after`: tiles per rank. They inform; nothing is
      computed from them, so a person who edits a move may leave them alone.

    ```mlir
    func.func private @layer() attributes {
      plan = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 4,
                              q_blocks = 8, kv_blocks = 8, moves = [[1, 0, 1], [2, 1, 0]],
                              row_moves = [[3, 0, 2, 1, 0]],
                              transfers = [[0, 0, 1, 0, [4, 6, 7, 8]]],
                              extras = [[0, 0, 3]],
                              loads_before = [40, 20, 20, 20],
                              loads_after = [28, 25, 25, 25]>
    }
    ```

    **Constraints:**
    - (C1) there is at least 1 head and 1 kv head, and kv_heads divides heads
    - (C2) block counts are not negative
    - (C3) moves name a head below heads and two different Ulysses indices of
      the mesh, ascending by head
    - (C4) transfers name a kv head below kv_heads, a Ulysses index and two
      different ring indices of the mesh
    - (C5) the ranges of a transfer are not empty, ascending and disjoint,
      within kv_blocks
    - (C6) extras name a head below heads and a ring index of the mesh, with at
      least 1 tile, ascending by (head, ring)
    - (C7) each list of loads is empty or has one entry per rank, not negative
    - (C8) row moves name a head below heads, q-blocks below q_blocks and two
      different ranks of the mesh, ascending and disjoint by (head, q-block)
  }];
  let parameters = (ins
    "::mlir::sparseattn::MeshAttr":$mesh,
    "int64_t":$heads,
    "int64_t":$kvHeads,
    "int64_t":$qBlocks,
    "int64_t":$kvBlocks,
    ArrayRefParameter<"::mlir::sparseattn::PlannedMove">:$moves,
    ArrayRefParameter<"::mlir::sparseattn::PlannedRowMove">:$rowMoves,
    ArrayRefParameter<"::mlir::sparseattn::PlannedTransfer">:$transfers,
    ArrayRefParameter<"int64_t", "begin, end of the ranges of all transfers">
        :$transferRanges,
    ArrayRefParameter<"::mlir::sparseattn::PlannedExtra">:$extras,
    ArrayRefParameter<"int64_t">:$loadsBefore,
    ArrayRefParameter<"int64_t">:$loadsAfter);
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Calls `visit` with each transfer and its ranges (begin, end, ...).
    void forEachTransfer(
        ::llvm::function_ref<void(const PlannedTransfer &,
                                  ::llvm::ArrayRef<int64_t>)> visit) const;
  }];
}

#endif // SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNATTRS_TD
