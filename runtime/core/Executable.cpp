//===- Executable.cpp - Compiled kernels and their names ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Executable.h"

#include <algorithm>
#include <tuple>

using namespace sart;

std::string KernelSpec::name() const {
  switch (kind) {
  case Kind::Attend:
    return concat("attend_", toString(dtype), "_", toString(outDtype), "_d",
                  headDim, "_q", blockQ, "_k", blockK, causal ? "_causal" : "");
  case Kind::Pool:
    return concat("pool_", toString(dtype), "_d", headDim, "_b", blockQ);
  case Kind::OrderTiles:
    return "order_tiles";
  case Kind::Merge:
    return "merge_f32";
  case Kind::Convert:
    return concat("convert_", toString(dtype), "_", toString(outDtype));
  case Kind::Route:
    break;
  }
  return concat("route_d", headDim);
}

bool KernelSpec::operator==(const KernelSpec &o) const {
  if (kind != o.kind)
    return false;
  switch (kind) {
  case Kind::Attend:
    return headDim == o.headDim && dtype == o.dtype && outDtype == o.outDtype &&
           blockQ == o.blockQ && blockK == o.blockK && causal == o.causal;
  case Kind::Pool:
    return headDim == o.headDim && dtype == o.dtype && blockQ == o.blockQ;
  case Kind::OrderTiles:
  case Kind::Merge:
    return true;
  case Kind::Convert:
    return dtype == o.dtype && outDtype == o.outDtype;
  case Kind::Route:
    break;
  }
  return headDim == o.headDim;
}

bool DeviceLaunch::operator==(const DeviceLaunch &o) const {
  auto fields = [](const DeviceLaunch &launch) {
    return std::tie(launch.entry, launch.threads, launch.sharedBytes,
                    launch.persistent, launch.tilesPerCta, launch.tileRows,
                    launch.qBoxRows, launch.kvBoxRows, launch.boxCols);
  };
  return fields(*this) == fields(o);
}

const LoadedKernel *KernelTable::find(const KernelSpec &spec) const {
  for (const LoadedKernel &kernel : kernels)
    if (kernel.spec == spec)
      return &kernel;
  return nullptr;
}

const LoadedKernel *KernelTable::findEntry(std::string_view entry) const {
  for (const LoadedKernel &kernel : kernels)
    if (kernel.launch && kernel.launch->entry == entry)
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

KernelSpec sart::convertKernel(DType from, DType to) {
  KernelSpec spec;
  spec.kind = KernelSpec::Kind::Convert;
  spec.dtype = from;
  spec.outDtype = to;
  return spec;
}

/// Where the kernels of a program run.
enum class Target { Host, Device };

static std::vector<KernelSpec> kernelsOf(const Program &program,
                                         Target target) {
  std::vector<KernelSpec> specs;
  auto require = [&](const KernelSpec &spec) {
    if (std::find(specs.begin(), specs.end(), spec) == specs.end())
      specs.push_back(spec);
  };
  auto requireOnDevice = [&](KernelSpec::Kind kind) {
    KernelSpec spec;
    spec.kind = kind;
    if (target == Target::Device)
      require(spec);
  };
  DType dtype = program.placement.shape.dtype;
  for (const std::vector<Instruction> &list : program.ranks) {
    for (const Instruction &instruction : list) {
      auto typeOf = [&](size_t operand) {
        return windowDType(program, instruction, operand, dtype);
      };
      switch (instruction.opcode) {
      case Opcode::Attend:
        require(attendKernel(program, typeOf(0), typeOf(4)));
        requireOnDevice(KernelSpec::Kind::OrderTiles);
        break;
      case Opcode::Pool:
        require(poolKernel(program, typeOf(0), isKeySide(instruction)));
        break;
      case Opcode::Route:
        // Other policies are filled by rule, without scores.
        if (program.policy.kind == RoutingPolicy::Kind::TopP ||
            program.policy.kind == RoutingPolicy::Kind::TopK)
          require(routeKernel(program));
        break;
      case Opcode::Merge:
        requireOnDevice(KernelSpec::Kind::Merge);
        break;
      case Opcode::Convert:
        if (target == Target::Device && typeOf(0) != typeOf(1))
          require(convertKernel(typeOf(0), typeOf(1)));
        break;
      default:
        break;
      }
    }
  }
  return specs;
}

std::vector<KernelSpec> sart::requiredKernels(const Program &program) {
  return kernelsOf(program, Target::Host);
}

std::vector<KernelSpec> sart::requiredDeviceKernels(const Program &program) {
  return kernelsOf(program, Target::Device);
}
