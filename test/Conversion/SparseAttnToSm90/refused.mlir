// RUN: not sparseattn-opt %s --sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d96_q128_k128 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not sparseattn-opt %s --sparseattn-emit-sm90-kernels=kernels=attend_f32_f32_d128_q128_k128 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not sparseattn-opt %s --sparseattn-emit-sm90-kernels=kernels=attend_bf16_f16_d128_q128_k128 2>&1 | FileCheck %s --check-prefix=OUT
// RUN: not sparseattn-opt %s --sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d128_q128_k128_causal 2>&1 | FileCheck %s --check-prefix=CAUSAL
// RUN: not sparseattn-opt %s --sparseattn-emit-sm90-kernels=kernels=attend 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not sparseattn-opt %s "--sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d128_q128_k128,attend_bf16_bf16_d128_q128_k128" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not sparseattn-opt %s "--sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d128_q128_k128 recipe=warps=3" 2>&1 | FileCheck %s --check-prefix=FIELD

module {}

// SHAPE: error: shape is not supported by sm_90a kernels: got head_dim 96 with blocks of 128 x 128, expected head_dim 64, 128 or 256 with blocks of 64 or 128
// TYPE: error: element type is not supported by sm_90a kernels: got f32, expected bf16 or f16
// OUT: error: output type is not supported by sm_90a kernels: got f16, expected f32 or the input type bf16
// CAUSAL: error: causal masks are not supported by sm_90a kernels: got _causal, expected a kernel without
// NAME: error: name of an attend kernel: got 'attend', expected one such as attend_bf16_bf16_d128_q128_k64
// TWICE: error: 'sa_sm90.kernel' op name of a kernel to write: got it twice, expected once
// FIELD: error: field of a recipe: got 'warps', expected stages
