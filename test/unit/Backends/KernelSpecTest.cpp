//===- KernelSpecTest.cpp - Names and sets of kernels ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BackendTestSupport.h"

using namespace sart;
using namespace sart::test;

namespace {

Instruction instructionOf(Opcode opcode, std::vector<int32_t> windows,
                          int64_t side = -1) {
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.windows = std::move(windows);
  instruction.lists.emplace_back();
  if (side >= 0)
    instruction.lists.push_back(Operand::immediate({side}));
  return instruction;
}

std::vector<std::string> namesOf(const Program &program) {
  std::vector<std::string> names;
  for (const KernelSpec &spec : requiredKernels(program))
    names.push_back(spec.name());
  return names;
}

Program layer() {
  LayerShape shape = shapeOf(100, 200, true);
  shape.headDim = 64;
  shape.dtype = DType::BF16;
  Program program = programOf(shape);
  auto window = [&](const char *name, DType dtype) {
    program.windows.push_back({name, dtype, 1, 100, 64});
  };
  window("x", DType::BF16);   // 0
  window("o", DType::BF16);   // 1
  window("part", DType::F32); // 2
  program.ranks.push_back({instructionOf(Opcode::Pool, {0, 2}, 0),
                           instructionOf(Opcode::Pool, {0, 2}, 1),
                           instructionOf(Opcode::Route, {2, 2, 2, 2}),
                           instructionOf(Opcode::Attend, {0, 0, 0, 0, 1, 2}),
                           instructionOf(Opcode::Attend, {0, 0, 0, 0, 2, 2}),
                           instructionOf(Opcode::Attend, {0, 0, 0, 0, 2, 2})});
  return program;
}

} // namespace

TEST(KernelSpec, Names) {
  KernelSpec spec;
  EXPECT_EQ(spec.name(), "attend_f32_f32_d128_q128_k128");
  spec.causal = true;
  spec.dtype = DType::F16;
  EXPECT_EQ(spec.name(), "attend_f16_f32_d128_q128_k128_causal");
  spec.kind = KernelSpec::Kind::Pool;
  spec.blockQ = 48;
  EXPECT_EQ(spec.name(), "pool_f16_d128_b48");
  spec.kind = KernelSpec::Kind::Route;
  EXPECT_EQ(spec.name(), "route_d128");
  spec.kind = KernelSpec::Kind::OrderTiles;
  EXPECT_EQ(spec.name(), "order_tiles");
  spec.kind = KernelSpec::Kind::Merge;
  EXPECT_EQ(spec.name(), "merge_f32");
  EXPECT_EQ(convertKernel(DType::F32, DType::BF16).name(), "convert_f32_bf16");
}

TEST(KernelSpec, RequiredOnADevice) {
  Program program = layer();
  auto add = [&](Opcode opcode, std::vector<int32_t> windows) {
    program.ranks[0].push_back(instructionOf(opcode, std::move(windows)));
  };
  add(Opcode::Merge, {2, 2, 2, 2});
  add(Opcode::Convert, {2, 1});
  add(Opcode::Convert, {0, 1}); // a copy
  std::vector<std::string> names;
  for (const KernelSpec &spec : requiredDeviceKernels(program))
    names.push_back(spec.name());
  EXPECT_EQ(names, (std::vector<std::string>{
                       "pool_bf16_d64_b16", "pool_bf16_d64_b24", "route_d64",
                       "attend_bf16_bf16_d64_q16_k24_causal", "order_tiles",
                       "attend_bf16_f32_d64_q16_k24_causal", "merge_f32",
                       "convert_f32_bf16"}));
}

TEST(KernelSpec, RequiredByAProgram) {
  EXPECT_EQ(namesOf(layer()),
            (std::vector<std::string>{"pool_bf16_d64_b16", "pool_bf16_d64_b24",
                                      "route_d64",
                                      "attend_bf16_bf16_d64_q16_k24_causal",
                                      "attend_bf16_f32_d64_q16_k24_causal"}));
  Program dense = layer();
  dense.policy.kind = RoutingPolicy::Kind::Dense;
  for (const std::string &name : namesOf(dense))
    EXPECT_NE(name, "route_d64") << "a rule needs no scores";
}

TEST(KernelSpec, EqualWhereTheNameIs) {
  std::vector<KernelSpec> specs;
  for (auto kind : {KernelSpec::Kind::Attend, KernelSpec::Kind::Pool,
                    KernelSpec::Kind::Route, KernelSpec::Kind::OrderTiles,
                    KernelSpec::Kind::Merge, KernelSpec::Kind::Convert})
    for (DType dtype : {DType::F32, DType::BF16})
      for (DType out : {DType::F32, DType::BF16})
        for (int64_t size : {64, 128})
          for (int variant = 0; variant < 4; ++variant) {
            KernelSpec spec;
            spec.kind = kind;
            spec.dtype = dtype;
            spec.outDtype = out;
            spec.headDim = variant == 0 ? size : 96;
            spec.blockQ = variant == 1 ? size : 32;
            spec.blockK = variant == 2 ? size : 32;
            spec.causal = variant == 3 && size == 64;
            specs.push_back(spec);
          }
  for (const KernelSpec &a : specs)
    for (const KernelSpec &b : specs)
      EXPECT_EQ(a == b, a.name() == b.name()) << a.name() << " " << b.name();
}

TEST(KernelSpec, TableFindsBySpec) {
  KernelTable table;
  for (int64_t dim : {32, 64}) {
    LoadedKernel kernel;
    kernel.spec.headDim = dim;
    kernel.scratchBytes = dim;
    table.add(kernel);
  }
  KernelSpec spec;
  spec.headDim = 64;
  ASSERT_NE(table.find(spec), nullptr);
  EXPECT_EQ(table.find(spec)->scratchBytes, 64);
  spec.headDim = 96;
  EXPECT_EQ(table.find(spec), nullptr);
  for (const char *entry : {"route_d64_r16", "route_d64_r8"}) {
    LoadedKernel kernel;
    kernel.spec.kind = KernelSpec::Kind::Route;
    kernel.launch.emplace();
    kernel.launch->entry = entry;
    table.add(kernel);
  }
  ASSERT_NE(table.findEntry("route_d64_r8"), nullptr);
  EXPECT_EQ(table.findEntry("route_d64_r8")->launch->entry, "route_d64_r8");
  EXPECT_EQ(table.findEntry("route_d64"), nullptr);
  EXPECT_EQ(table.findEntry(""), nullptr) << "host kernels have no launch";
}
