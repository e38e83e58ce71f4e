//===- SparseAttnDialect.td - The sparseattn dialect -------*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNDIALECT_TD
#define SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNDIALECT_TD

include "mlir/IR/OpBase.td"

def SparseAttnDialect : Dialect {
  let name = "sparseattn";
  let cppNamespace = "::mlir::sparseattn";
  let summary = "Block-sparse attention: what is computed, and who computes it";
  let description = [{
    The public, target-independent dialect. Its values are whole tensors of one
    attention layer, block masks and plans; who holds which part of a tensor is
    said by placements and plans, never by tensor types. Rationale.md beside
    the definitions has the reasons.

    Words: `H` query heads, `Hkv` key/value heads (`Hkv` divides `H`; query head
    `h` reads key/value head `h / (H / Hkv)`), `Sq` query tokens, `Skv` key
    tokens, `D` head dimension, `nQ = ceil(Sq / bq)` q-blocks and
    `nK = ceil(Skv / bk)` kv-blocks. A *tile* is one (head, q-block, kv-block).
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  // sparseattn.boundary_order on functions.
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Sizes that the op verifiers accept. Kept in the dialect so that the
    /// support matrix can be tested against a changed rule.
    const SupportLimits &getLimits() const { return limits; }
    void setLimits(const SupportLimits &newLimits) { limits = newLimits; }

  private:
    void registerAttributes();
    void registerTypes();

    SupportLimits limits;

  public:
  }];
}

class SA_Op<string mnemonic, list<Trait> traits = []>
    : Op<SparseAttnDialect, mnemonic, traits>;

// -- Tensors -------------------------------------------------------------------

def SA_Element : AnyTypeOf<[F32, BF16, F16], "f32, bf16 or f16">;

class SA_StaticTensor<list<Type> elements, list<int> ranks, string what>
    : Type<And<[RankedTensorOf<elements>.predicate, HasStaticShapePred,
                HasAnyRankOfPred<ranks>]>,
           what, "::mlir::RankedTensorType">;

// Heads x tokens x head dimension.
def SA_Tensor : SA_StaticTensor<[F32, BF16, F16], [3],
    "static tensor<heads x tokens x head_dim> of f32, bf16 or f16">;
// Heads x blocks x head dimension.
def SA_Pooled : SA_StaticTensor<[F32], [3],
    "static tensor<heads x blocks x head_dim> of f32">;
// Heads x tokens.
def SA_Lse : SA_StaticTensor<[F32], [2],
    "static tensor<heads x tokens> of f32">;
// Anything whose dimension 1 counts tokens.
def SA_Tokens : SA_StaticTensor<[F32, BF16, F16], [2, 3],
    "static tensor<heads x tokens (x head_dim)> of f32, bf16 or f16">;

#endif // SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNDIALECT_TD
