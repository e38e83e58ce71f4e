//===- CudaKernelProblem.h - Attention on a GPU, checked --------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_CUDAKERNELPROBLEM_H
#define SPARSEATTN_TOOLS_BENCH_CUDAKERNELPROBLEM_H

#include "BlockLists.h"
#include "DeviceStaging.h"
#include "NormalSource.h"

#include "CudaBackend.h"
#include "sparseattn-rt/Executable.h"

#include <array>
#include <optional>

namespace sart {

/// Differences of a launch's results from the float64 reference.
struct DeviceCheck {
  int64_t rows = 0;       ///< compared
  double relative = 0;    ///< |o - exact| over |exact|, Frobenius norms
  double lseError = 0;    ///< largest |lse - exact|
  int64_t wrongEmpty = 0; ///< of rows without a key: o not 0, lse not -inf
  int64_t notWritten = 0; ///< elements of o and lse that are no numbers
  double relativeBound = 0, lseBound = 0;
  bool passed() const {
    return relative <= relativeBound && lseError <= lseBound &&
           wrongEmpty == 0 && notWritten == 0;
  }
};

/// q, k and v of all heads in several sets, and results, on a device: dense
/// [heads, rows, columns], unit normal.
class CudaKernelProblem {
public:
  /// `shape` has a 16-bit dtype. The device's context must be current, here
  /// and in all calls.
  static Expected<CudaKernelProblem>
  create(std::shared_ptr<cuda::CudaStream> stream, const LayerShape &shape,
         int64_t sets, int64_t seed);

  int64_t sets() const { return static_cast<int64_t>(inputs.size()); }
  const LayerShape &shape() const { return layer; }
  /// Tensor 0, 1, 2 (q, k, v) of input set `set` modulo sets(), and o.
  cuda::DevicePtr input(int64_t set, int64_t tensor) const {
    return inputs[static_cast<size_t>(set % sets())]
        .qkv[static_cast<size_t>(tensor)]
        .address();
  }
  cuda::DevicePtr result() const { return o.address(); }

  /// Uploads lists and the order of tiles for the launches to come. `block`
  /// sizes of the lists may differ between calls.
  Status useLists(const BlockLists &lists);
  /// Queues one launch of `function` on input set `set` modulo sets().
  Status launch(const cuda::CudaFunction &function, const DeviceLaunch &how,
                int64_t set);
  /// Fills o and lse with NaN.
  Status poison();
  /// Compares sampled rows of the last launch, which was on set `set` and used
  /// `lists`, with attention in double precision; and looks for NaN in all of o
  /// and lse where `everywhere`.
  Expected<DeviceCheck> check(const BlockLists &lists, int64_t set,
                              bool everywhere);

private:
  struct Set {
    std::array<cuda::DeviceMemory, 3> qkv;
  };
  CudaKernelProblem(std::shared_ptr<cuda::CudaStream> stream,
                    const LayerShape &shape, int64_t seed)
      : stream(std::move(stream)), layer(shape), source(shape.dtype, seed) {}
  static int64_t streamOf(int64_t set, int64_t tensor) {
    return set * 3 + tensor;
  }
  int64_t elements(int64_t tensor) const {
    return (tensor == 0 ? layer.heads * layer.sq : layer.kvHeads * layer.skv) *
           layer.headDim;
  }
  Expected<cuda::TensorMap> mapOf(int64_t set, int64_t tensor,
                                  const DeviceLaunch &how) const;
  Status countNotWritten(DeviceCheck &result);

  std::shared_ptr<cuda::CudaStream> stream;
  LayerShape layer;
  NormalSource source;
  std::optional<DeviceStaging> staging; ///< set by create
  std::vector<Set> inputs;
  cuda::DeviceMemory o, lse, lists, tiles, entries, counter;
  int64_t tileCount = 0, listStride = 0;
};

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_CUDAKERNELPROBLEM_H
