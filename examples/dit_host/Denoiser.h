//===- Denoiser.h - The host: a clip through steps and layers ---*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_EXAMPLES_DITHOST_DENOISER_H
#define SPARSEATTN_EXAMPLES_DITHOST_DENOISER_H

#include "Latents.h"
#include "Metrics.h"
#include "Options.h"
#include "Projections.h"
#include "Scheduler.h"

#include "sparseattn-c/sparseattn.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dit {

/// One run of one layer.
struct LayerRecord {
  int64_t step = 0, layer = 0;
  double sigma = 0;
  sa_run_stats stats = {}; ///< its pointers are null; see the next two
  std::vector<int64_t> loadsBefore, loadsAfter;
  std::string report; ///< the library's, JSON of this run
  RowCheck check;
  double psnr = 0;    ///< of the layer's estimate, dB
  double ms = 0;      ///< projections, attention and estimate
  double checkMs = 0; ///< what the comparison took
};

struct Denoised {
  sa_layer_info info = {};
  std::string cacheProblem; ///< why kernels could not be kept, or empty
  int64_t rowsPerHead = 0;
  double psnrNoised = 0;            ///< of the input over 1 - sigma, dB
  std::vector<LayerRecord> records; ///< steps x layers
  std::string trace;                ///< events, joined by commas
  std::string plan, program;        ///< of the last run
  double ms = 0;                    ///< the whole schedule
  double denseMs = 0; ///< attention of one layer over all blocks; 0: not run
};

/// What the host tells while it works.
struct Progress {
  std::function<void(const Denoised &)> compiled;
  std::function<void(const char *phase, int64_t step, int64_t layer)> phase;
  std::function<void(const LayerRecord &)> layer;
};

/// Compiles one attention layer (the layers of a step have one shape, so one
/// serves all) and runs it for every step and layer. Throws Error.
class Denoiser {
public:
  Denoiser(const Options &options, const Latents &clean);

  Denoised run(const Progress &progress);

  /// The last run's q (the keys are the same) or v as an .npy file:
  /// [heads, tokens, 128] of the options' dtype, bf16 as its bits.
  std::string queriesFile() const;
  std::string valuesFile() const;

private:
  struct EngineDeleter {
    void operator()(sa_engine *engine) const { sa_engine_destroy(engine); }
  };
  struct LayerDeleter {
    void operator()(sa_layer *layer) const { sa_layer_destroy(layer); }
  };

  /// [heads][tokens][width] of `dtype` over `bytes`, resized to fit.
  sa_tensor tensor(std::vector<char> &bytes, sa_dtype dtype,
                   int64_t width) const;
  std::unique_ptr<sa_layer, LayerDeleter> createLayer(int64_t denseSteps,
                                                      bool verify);
  LayerRecord runLayer(int64_t step, int64_t layer, const std::vector<float> &x,
                       std::vector<float> &hidden, const Progress &progress);
  std::string inputFile(const std::vector<char> &bytes) const;
  /// Attention of the last layer once more, over all blocks.
  double timeDense();
  double elapsedMs() const;

  const Options &options;
  Latents clean; ///< its tokens in the options' order
  int64_t tokens, threads;
  sa_dtype dtype;
  std::vector<int64_t> permutation;
  Scheduler scheduler;
  std::unique_ptr<Projections> projections;
  std::unique_ptr<sa_engine, EngineDeleter> engine;
  std::unique_ptr<sa_layer, LayerDeleter> layer;
  std::vector<char> queryBytes, valueBytes, outBytes, lseBytes;
  sa_tensor query, value, out, lse;
  std::vector<int64_t> sample;
  Denoised result;
  int64_t startNs = 0;
};

} // namespace dit

#endif // SPARSEATTN_EXAMPLES_DITHOST_DENOISER_H
