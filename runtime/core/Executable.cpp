//===- Executable.cpp - Compiled kernels and their names ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Executable.h"

#include <algorithm>

using namespace sart;

std::string KernelSpec::name() const {
  switch (kind) {
  case Kind::Attend:
    return concat("attend_", toString(dtype), "_", toString(outDtype), "_d",
                  headDim, "_q", blockQ, "_k", blockK, causal ? "_causal" : "");
  case Kind::Pool:
    return concat("pool_", toString(dtype), "_d", headDim, "_b", blockQ);
  case Kind::Route:
    break;
  }
  return concat("route_d", headDim);
}

bool KernelSpec::operator==(const KernelSpec &o) const {
  if (kind != o.kind || headDim != o.headDim)
    return false;
  switch (kind) {
  case Kind::Attend:
    return dtype == o.dtype && outDtype == o.outDtype && blockQ == o.blockQ &&
           blockK == o.blockK && causal == o.causal;
  case Kind::Pool:
    return dtype == o.dtype && blockQ == o.blockQ;
  case Kind::Route:
    break;
  }
  return true;
}

const LoadedKernel *KernelTable::find(const KernelSpec &spec) const {
  for (const LoadedKernel &kernel : kernels)
    if (kernel.spec == spec)
      return &kernel;
  return nullptr;
}

/// The window's dtype, or `fallback` where the instruction names no such
/// window.
static DType windowDType(const Program &program, const Instruction &instruction,
                         size_t operand, DType fallback) {
  if (operand >= instruction.windows.size())
    return fallback;
  int32_t window = instruction.windows[operand];
  if (window < 0 || static_cast<size_t>(window) >= program.windows.size())
    return fallback;
  return program.windows[static_cast<size_t>(window)].dtype;
}

static bool isKeySide(const Instruction &pool) {
  return pool.lists.size() > 1 && pool.lists[1].values.size() == 1 &&
         pool.lists[1].values[0] == 1;
}

KernelSpec sart::attendKernel(const Program &program, DType inputs,
                              DType output) {
  const LayerShape &shape = program.placement.shape;
  KernelSpec spec;
  spec.kind = KernelSpec::Kind::Attend;
  spec.dtype = inputs;
  spec.outDtype = output;
  spec.headDim = shape.headDim;
  spec.blockQ = shape.blockQ;
  spec.blockK = shape.blockK;
  spec.causal = shape.causal;
  return spec;
}

KernelSpec sart::poolKernel(const Program &program, DType input, bool keySide) {
  const LayerShape &shape = program.placement.shape;
  KernelSpec spec;
  spec.kind = KernelSpec::Kind::Pool;
  spec.dtype = input;
  spec.headDim = shape.headDim;
  spec.blockQ = keySide ? shape.blockK : shape.blockQ;
  return spec;
}

KernelSpec sart::routeKernel(const Program &program) {
  KernelSpec spec;
  spec.kind = KernelSpec::Kind::Route;
  spec.headDim = program.placement.shape.headDim;
  return spec;
}

std::vector<KernelSpec> sart::requiredKernels(const Program &program) {
  std::vector<KernelSpec> specs;
  auto require = [&](const KernelSpec &spec) {
    if (std::find(specs.begin(), specs.end(), spec) == specs.end())
      specs.push_back(spec);
  };
  DType dtype = program.placement.shape.dtype;
  for (const std::vector<Instruction> &list : program.ranks) {
    for (const Instruction &instruction : list) {
      switch (instruction.opcode) {
      case Opcode::Attend:
        require(attendKernel(program,
                             windowDType(program, instruction, 0, dtype),
                             windowDType(program, instruction, 4, dtype)));
        break;
      case Opcode::Pool:
        require(poolKernel(program, windowDType(program, instruction, 0, dtype),
                           isKeySide(instruction)));
        break;
      case Opcode::Route:
        // Other policies are filled by rule, without scores.
        if (program.policy.kind == RoutingPolicy::Kind::TopP ||
            program.policy.kind == RoutingPolicy::Kind::TopK)
          require(routeKernel(program));
        break;
      default:
        break;
      }
    }
  }
  return specs;
}
