//===- StandInDriver.cpp - libcuda.so.1 without a GPU, for tests ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library in place of the vendor's, over the double: what a command does with
// --device cuda is then tested without a GPU, kernels being loops of the host.
//
//===----------------------------------------------------------------------===//
#include "DoubleKernels.h"

using namespace sart::cuda;

// The driver's symbols jump through a table: their parameters stay where the
// caller put them.
#define TABLE(member, symbol, parameters)                                      \
  extern "C" Result(*standIn_##member) parameters;                             \
  extern "C" Result(*standIn_##member) parameters = nullptr;                   \
  __asm__(".text\n.globl " #symbol "\n.type " #symbol ",@function\n" #symbol   \
          ":\n  movq standIn_" #member "@GOTPCREL(%rip), %rax\n"               \
          "  jmpq *(%rax)\n");
SART_CUDA_FUNCTIONS(TABLE)
#undef TABLE

namespace {

struct StandIn {
  StandIn() {
    CudaDriver table = DriverDouble::table();
#define SET(member, symbol, parameters) standIn_##member = table.member;
    SART_CUDA_FUNCTIONS(SET)
#undef SET
    driver.checkCubins = false;
    driver.makeKernel = [this](const std::string &name) {
      addKernelByName(driver, name);
    };
  }
  DriverDouble driver;
};

StandIn standIn;

} // namespace
