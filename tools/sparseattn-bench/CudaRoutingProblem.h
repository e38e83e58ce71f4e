//===- CudaRoutingProblem.h - Routing on a GPU, checked ---------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_CUDAROUTINGPROBLEM_H
#define SPARSEATTN_TOOLS_BENCH_CUDAROUTINGPROBLEM_H

#include "DeviceStaging.h"
#include "NormalSource.h"

#include "sparseattn-rt/DeviceRouting.h"
#include "sparseattn-rt/Placement.h"

#include <array>
#include <functional>
#include <optional>

namespace sart {

/// The policy top-p, and how far blocks lie apart.
struct RoutingSettings {
  double p = 0.9;
  int64_t minBlocks = 1;
  double spread = 1.3; ///< of blocks' means; inside a block it is 1
};

/// What the kernels left, against double precision.
struct RoutingCheck {
  int64_t rows = 0;          ///< whose sets were compared
  double density = 0;        ///< kept share of all blocks
  double meanError = 0;      ///< largest |mean - exact|
  int64_t nearThreshold = 0; ///< of these blocks cumulative is 1e-5 from p
  int64_t wrongBlocks = 0;   ///< kept or left out against the policy
  int64_t wrongRows = 0;     ///< not ascending, out of range, or miscounted
  int64_t wrongLoads = 0;    ///< heads with another load, demand or total
  int64_t wrongTiles = 0;    ///< heads whose tiles are not in order
  bool passed() const {
    return meanError <= 2e-5 && wrongBlocks == 0 && wrongRows == 0 &&
           wrongLoads == 0 && wrongTiles == 0;
  }
};

/// q and k of all heads in several sets, and everything that routing writes,
/// on a device. The device's context must be current in all calls.
class CudaRoutingProblem {
public:
  static Expected<CudaRoutingProblem>
  create(std::shared_ptr<cuda::CudaStream> stream, const LayerShape &shape,
         const RoutingSettings &settings, int64_t sets, int64_t seed);

  /// Function of a kernel by its name.
  using Finder =
      std::function<Expected<const cuda::CudaFunction *>(const std::string &)>;
  /// Finds the kernels and uploads the records of launches with this policy.
  Status prepare(const Finder &find, const RoutingSettings &settings);

  // Each queues one stage.
  Status pool(int64_t set);
  Status route(); ///< scores, selection, lists; clears the summaries before
  Status loads();
  Status order();
  Status all(int64_t set);

  /// Bytes that pooling reads.
  double pooledBytes() const;
  /// Runs all stages on set 0 over poisoned results and compares them: means
  /// and sets of sampled rows, everything that follows from the lists of all.
  Expected<RoutingCheck> check();

private:
  struct Stage {
    const cuda::CudaFunction *function = nullptr;
    DeviceRoutingLaunch launch;
  };
  /// What is on the host again.
  struct Results {
    std::vector<float> pooled[2];
    std::vector<int32_t> mask;
    std::vector<uint32_t> summary;
    std::vector<DeviceRouteTotals> totals;
    std::vector<DeviceTileRecord> tiles;
  };
  CudaRoutingProblem(std::shared_ptr<cuda::CudaStream> stream,
                     const LayerShape &shape, const RoutingSettings &settings,
                     int64_t seed)
      : stream(std::move(stream)), shape(shape), settings(settings),
        source(shape.dtype, seed), means(DType::F16, seed + 1) {}

  int64_t headsOf(int64_t side) const {
    return side == 0 ? shape.heads : shape.kvHeads;
  }
  int64_t rowsOf(int64_t side) const {
    return side == 0 ? shape.sq : shape.skv;
  }
  int64_t blockOf(int64_t side) const {
    return side == 0 ? shape.blockQ : shape.blockK;
  }
  int64_t blocksOf(int64_t side) const {
    return side == 0 ? shape.qBlocks() : shape.kvBlocks();
  }
  int64_t listStride() const { return 1 + shape.kvBlocks(); }
  int64_t summaryWords() const;
  /// Rows [begin, end) of all heads' rows of a side, as elements.
  void generate(uint16_t *to, int64_t set, int64_t side, int64_t begin,
                int64_t end) const;
  Status launch(const Stage &stage, const cuda::KernelArguments &arguments);
  Status download(Results &results);
  void checkMeans(const Results &results, RoutingCheck &check) const;
  void checkSets(const Results &results, RoutingCheck &check) const;
  void checkLoads(const Results &results, RoutingCheck &check) const;
  void checkTiles(const Results &results, RoutingCheck &check) const;

  std::shared_ptr<cuda::CudaStream> stream;
  LayerShape shape;
  RoutingSettings settings;
  NormalSource source, means;
  std::optional<DeviceStaging> staging; ///< set by create
  std::vector<std::array<cuda::DeviceMemory, 2>> inputs;
  std::array<cuda::DeviceMemory, 2> pooled;
  std::vector<std::array<cuda::DeviceMemory, 2>> poolRecords;
  cuda::DeviceMemory mask, summary, figures, totals, tiles, routeRecords,
      orderRecords;
  std::array<Stage, 2> poolStage;
  Stage routeStage, totalsStage, orderStage;
};

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_CUDAROUTINGPROBLEM_H
