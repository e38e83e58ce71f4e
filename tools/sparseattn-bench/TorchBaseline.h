//===- TorchBaseline.h - What PyTorch takes on the same GPU -----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_TORCHBASELINE_H
#define SPARSEATTN_TOOLS_BENCH_TORCHBASELINE_H

#include "DeviceTimer.h"

#include "sparseattn-rt/Placement.h"

#include "llvm/Support/JSON.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sart {

/// Milliseconds of a baseline; see torch_baseline.py for those of PyTorch.
struct BaselineTimes {
  double medianMs = 0, minMs = 0, maxMs = 0;
  std::optional<double> spacedMs;
  int64_t launches = 0;
  std::string error; ///< why there is no figure; empty: there is
};

/// The same of launches that were timed here.
BaselineTimes baselineTimes(const DeviceTimes &times);

/// The fields that cases of attention have in common.
llvm::json::Object attentionCase(const LayerShape &shape);

struct TorchResults {
  std::string version; ///< of PyTorch
  std::vector<BaselineTimes> rows;
};

/// Runs torch_baseline.py, which lies beside the command, in a child process.
class TorchBaseline {
public:
  /// `python`: a path, or a name that PATH has.
  static Expected<TorchBaseline> open(const std::string &python);

  /// The rows of `cases`, in their order. `settings`: preheat_ms, launches and
  /// sets. Fails, saying why, where there is no PyTorch with a device.
  Expected<TorchResults> run(llvm::json::Object settings,
                             llvm::json::Array cases) const;
  /// The cuBLAS that PyTorch brings; empty if there is none.
  std::string cublas() const;

  /// What the script printed of one row.
  static BaselineTimes parseRow(const llvm::json::Object &object);

private:
  std::string python, script;
};

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_TORCHBASELINE_H
