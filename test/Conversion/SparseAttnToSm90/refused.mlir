// RUN: not sparseattn-opt %s --sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d96_q128_k128 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not sparseattn-opt %s --sparseattn-emit-sm90-kernels=kernels=attend_f32_f32_d128_q128_k128 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not sparseattn-opt %s --sparseattn-emit-sm90-kernels=kernels=attend_bf16_f16_d128_q128_k128 2>&1 | FileCheck %s --check-prefix=OUT
// RUN: not sparseattn-opt %s --sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d128_q128_k128_causal 2>&1 | FileCheck %s --check-prefix=CAUSAL
// RUN: not sparseattn-opt %s --sparseattn-emit-sm90-kernels=kernels=attend 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not sparseattn-opt %s "--sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d128_q128_k128,attend_bf16_bf16_d128_q128_k128" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not sparseattn-opt %s "--sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d128_q128_k128 recipe=warps=3" 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: not sparseattn-opt %s "--sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d128_q128_k64 recipe=part_keys=0" 2>&1 | FileCheck %s --check-prefix=PART
// RUN: not sparseattn-opt %s "--sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d64_q128_k64 recipe=parts=3" 2>&1 | FileCheck %s --check-prefix=PARTS
// RUN: not sparseattn-opt %s "--sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d128_q64_k64 recipe=probabilities_in_registers=0" 2>&1 | FileCheck %s --check-prefix=SHAREDP
// RUN: not sparseattn-opt %s "--sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d128_q64_k64 recipe=ping_pong=1" 2>&1 | FileCheck %s --check-prefix=PINGPONG
// RUN: not sparseattn-opt %s "--sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d128_q128_k128 recipe=query_in_registers=0" 2>&1 | FileCheck %s --check-prefix=RING
// RUN: not sparseattn-opt %s "--sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d64_q64_k128 recipe=part_keys=128,stages=6" 2>&1 | FileCheck %s --check-prefix=SLOTS
// RUN: not sparseattn-opt %s "--sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d128_q128_k128 recipe=rescale_bits=16" 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not sparseattn-opt %s "--sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d128_q128_k128 recipe=stages=2" 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not sparseattn-opt %s "--sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d128_q128_k128 recipe=stages=8" 2>&1 | FileCheck %s --check-prefix=BYTES

module {}

// SHAPE: error: shape is not supported by sm_90a kernels: got head_dim 96 with blocks of 128 x 128, expected head_dim 64, 128 or 256 with blocks of 64 or 128
// TYPE: error: element type is not supported by sm_90a kernels: got f32, expected bf16 or f16
// OUT: error: output type is not supported by sm_90a kernels: got f16, expected f32 or the input type bf16
// CAUSAL: error: causal masks are not supported by sm_90a kernels: got _causal, expected a kernel without
// NAME: error: name of an attend kernel: got 'attend', expected one such as attend_bf16_bf16_d128_q128_k64
// TWICE: error: 'sa_sm90.kernel' op name of a kernel to write: got it twice, expected once
// FIELD: error: field of a recipe: got 'warps', expected stages
// PART: error: recipe: got part_keys=0, expected a multiple of 64 that divides blocks of 64
// PARTS: error: recipe: got parts=3, expected 1 or 2
// SHAREDP: error: recipe: got probabilities_in_registers=0, expected 1 with tiles of 64 query rows
// PINGPONG: error: recipe: got ping_pong=1, expected 0 with tiles of 64 query rows, which have no partner
// RING: error: recipe: got query_in_ring=1, expected 0 with query_in_registers=0
// SLOTS: error: recipe: got query_in_ring=1, expected 0 where slots of 128 rows do not divide tiles of 64
// BITS: error: recipe: got rescale_bits=16, expected 0 to 15, so that P is below the largest fp16
// STAGES: error: recipe: got stages=2, expected 3 or more: the keys and values of a step, and 1 for the query
// BYTES: error: shared memory of a recipe: got 262336 bytes with stages=8, expected at most 232448
