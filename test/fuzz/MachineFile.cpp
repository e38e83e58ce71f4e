//===- MachineFile.cpp - Fuzz target: machine files -----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FuzzSupport.h"

#include "sparseattn-rt/Machine.h"

#include <algorithm>

using namespace sart;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Expected<Machine> machine = Machine::parse(
      std::string_view(reinterpret_cast<const char *>(data), size));
  if (!machine) {
    fuzz::requireReason(machine.status());
    return 0;
  }
  std::string text = machine->text();
  Expected<Machine> again = Machine::parse(text);
  fuzz::require(again.ok() && again->text() == text,
                "a machine survives the way to text and back");

  // The planner takes what any machine gives.
  Placement placement;
  placement.mesh = {std::min<int64_t>(machine->ranks(), 64), 1};
  placement.shape.heads = placement.shape.kvHeads = 64;
  placement.shape.sq = placement.shape.skv = 4096;
  placement.shape.headDim = 64;
  placement.shape.dtype = DType::BF16;
  PlannerOptions options;
  options.cost = machine->costModel(placement);
  fuzz::require(options.verify().ok(), "costs are the planner's");
  options.cost = machine->withLinkRate(500).costModel(placement);
  fuzz::require(options.verify().ok(), "costs of slower links are, too");
  for (size_t level = 0; level < machine->links.size(); ++level)
    fuzz::require(machine->transferPs(1 << 20, level) > 0, "bytes take time");
  return 0;
}
