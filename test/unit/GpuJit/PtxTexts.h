//===- PtxTexts.h - PTX that ptxas has something to say about - -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_GPUJIT_PTXTEXTS_H
#define SPARSEATTN_TEST_UNIT_GPUJIT_PTXTEXTS_H

#include <string>

namespace mlir {
namespace sparseattn {

/// A kernel `k` of 128 threads (p: output, d: a wgmma descriptor) with `body`,
/// which may use the registers declared here.
inline std::string ptxKernel(const std::string &body,
                             const std::string &bounds = ".maxntid 128,1,1",
                             const std::string &functions = "") {
  return ".version 8.0\n.target sm_90a\n.address_size 64\n" + functions +
         "\n.visible .entry k(.param .u64 p, .param .u64 d)\n" + bounds +
         "\n{ .reg .b64 %rd<8>; .reg .f32 %f<256>; .reg .b32 %r<8>; .reg "
         ".pred %p;\n ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [d];\n"
         " mov.u32 %r1, %tid.x; mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0;\n"
         " mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n" +
         body +
         "\n st.global.f32 [%rd1], %f0; st.global.f32 [%rd1+4], %f1; ret; }\n";
}

inline const char *ptxFence() { return "wgmma.fence.sync.aligned;\n"; }
inline const char *ptxCommit() { return "wgmma.commit_group.sync.aligned;\n"; }
inline const char *ptxWait() { return "wgmma.wait_group.sync.aligned 0;\n"; }

/// A product with both operands in shared memory, or with A in registers.
inline const char *ptxProduct(bool registerA = false) {
  return registerA
             ? "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, "
               "%f2, %f3}, {%r1, %r2, %r3, %r4}, %rd2, 1, 1, 1, 0;\n"
             : "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, "
               "%f2, %f3}, %rd2, %rd2, 1, 1, 1, 0, 0;\n";
}

/// A kernel that ptxas takes as it is.
inline std::string cleanPtx() {
  return ptxKernel(std::string(ptxFence()) + ptxProduct() + ptxCommit() +
                   ptxWait());
}

/// 80 values that are alive at once in a kernel of 32 registers.
inline std::string spillingPtx() {
  std::string body;
  for (int i = 0; i < 80; ++i)
    body += "ld.volatile.global.f32 %f" + std::to_string(100 + i) + ", [%rd1+" +
            std::to_string(4 * i) + "];\n";
  for (int i = 0; i < 80; ++i)
    body += "st.volatile.global.f32 [%rd1+" + std::to_string(4 * i) + "], %f" +
            std::to_string(179 - i) + ";\n";
  return ptxKernel(body, ".maxntid 1024,1,1\n.minnctapersm 2");
}

/// A local array at a run-time index.
inline std::string stackPtx() {
  return ptxKernel(".local .align 4 .b8 buffer[64];\n"
                   "mov.u64 %rd3, buffer; cvta.local.u64 %rd4, %rd3;\n"
                   "mul.wide.u32 %rd5, %r1, 4; add.s64 %rd4, %rd4, %rd5;\n"
                   "st.f32 [%rd4], %f1; ld.f32 %f0, [%rd4+4];");
}

/// setmaxnreg where the registers at entry are not known (C7508).
inline std::string reallocatingPtx() {
  return ptxKernel("setmaxnreg.inc.sync.aligned.u32 240;", "");
}

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_TEST_UNIT_GPUJIT_PTXTEXTS_H
