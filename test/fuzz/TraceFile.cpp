//===- TraceFile.cpp - Fuzz target: recorded masks and head loads ---------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FuzzSupport.h"

#include "sparseattn-rt/Planner.h"
#include "sparseattn-rt/TraceFile.h"

#include <algorithm>
#include <vector>

using namespace sart;

/// Plans the loads of one instance over some ranks.
static void planLoads(const TraceFile &trace,
                      const TraceFile::Instance &instance) {
  HeadLoads loads;
  loads.heads = trace.heads;
  loads.tiles = instance.loads;
  Placement placement;
  placement.mesh = {4, 1};
  placement.shape.heads = placement.shape.kvHeads = trace.heads;
  placement.shape.sq = placement.shape.skv = trace.tokens;
  placement.shape.headDim = 32;
  if (!placement.verify().ok())
    return;
  for (const HeadMove &move : planSwaps(loads, placement))
    fuzz::require(move.head >= 0 && move.head < trace.heads &&
                      move.from != move.to,
                  "heads that move exist");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Expected<TraceFile> trace = TraceFile::parse(data, size);
  if (!trace) {
    fuzz::requireReason(trace.status());
    return 0;
  }
  std::vector<uint8_t> bytes = trace->serialize();
  fuzz::require(bytes.size() == size &&
                    std::equal(bytes.begin(), bytes.end(), data),
                "a trace has one spelling");
  for (size_t i = 0; i < trace->instances.size(); ++i) {
    const TraceFile::Instance &instance = trace->instances[i];
    planLoads(*trace, instance);
    for (int64_t merge : {1, 3}) {
      Expected<BlockMask> mask = trace->mask(static_cast<int64_t>(i), merge);
      fuzz::require(mask.ok() == trace->hasMasks, "masks that are there");
      if (!mask || merge != 1)
        continue;
      for (int64_t head = 0; head < trace->heads; ++head)
        fuzz::require(mask->load(head) ==
                          instance.loads[static_cast<size_t>(head)],
                      "loads count the mask's tiles");
    }
  }
  return 0;
}
