//===- CapiTestSupport.h - Layers and tensors for C API tests ---*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_CAPI_CAPITESTSUPPORT_H
#define SPARSEATTN_TEST_UNIT_CAPI_CAPITESTSUPPORT_H

#include "sparseattn-c/sparseattn.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace capi_test {

struct EngineDeleter {
  void operator()(sa_engine *engine) const { sa_engine_destroy(engine); }
};
struct LayerDeleter {
  void operator()(sa_layer *layer) const { sa_layer_destroy(layer); }
};
using Engine = std::unique_ptr<sa_engine, EngineDeleter>;
using Layer = std::unique_ptr<sa_layer, LayerDeleter>;

/// An engine of its own, two threads.
Engine makeEngine(const char *device = "cpu");
/// One engine per device for all tests, so that kernels are compiled once.
sa_engine *sharedEngine(const char *device = "cpu");

/// Sizes of the tests' layer; the defaults have grouped heads, tails in both
/// directions and keys that are no multiple of anything.
struct Shape {
  int64_t heads = 4, kvHeads = 2, sq = 200, skv = 150, dim = 32, block = 32;
  std::string policy = "#sparseattn.top_p<p = 0.7>";
  /// Non-empty: permute ops by this order at entry and exit.
  std::string order;
  bool causal = false;

  int64_t qBlocks() const { return (sq + block - 1) / block; }
  int64_t kvBlocks() const { return (skv + block - 1) / block; }
  int64_t tiles() const { return heads * qBlocks() * kvBlocks(); }
};

/// Text of a routed layer.
std::string routedText(const Shape &shape);

/// Fails the test when the layer cannot be made.
Layer makeLayer(sa_engine *engine, const std::string &text,
                const sa_layer_options &options);
sa_layer_options layerOptions(int64_t ulysses = 0, int64_t ring = 0);
/// The message of a layer that must not be made.
std::string layerError(sa_engine *engine, const std::string &text,
                       const sa_layer_options &options);

/// Whole tensors of one layer. Scores reach about 100, those of head 0 are all
/// far below zero; outputs are NaN until something is written.
class Tensors {
public:
  explicit Tensors(const Shape &shape, uint32_t seed = 1);

  sa_tensor q(), k(), v(), out(), lse();
  /// Outputs back to NaN.
  void poison();

  /// Largest error of out and lse against this file's own double precision
  /// loops over `mask` (bits [head][q-block][kv-block]); rows without keys must
  /// be zero and -infinity. `permutation`: token order that the mask is in.
  double error(const std::vector<uint8_t> &mask,
               const std::vector<int64_t> &permutation = {}) const;

  Shape shape;
  std::vector<float> qData, kData, vData, outData, lseData;
};

/// The mask of the layer's last run.
std::vector<uint8_t> lastMask(sa_layer *layer, const Shape &shape);

/// Runs on whole tensors; the message, or "" when all went well.
std::string runWhole(sa_layer *layer, Tensors &tensors,
                     sa_run_stats *stats = nullptr, int64_t step = 0);

/// Text that one of the sa_layer_get_* functions hands out.
template <typename Function>
std::string textOf(Function function, sa_layer *layer) {
  const char *text = nullptr;
  size_t length = 0;
  EXPECT_EQ(function(layer, &text, &length), SA_OK) << sa_last_error();
  return text ? std::string(text, length) : std::string();
}

inline sa_run_stats emptyStats() {
  sa_run_stats stats = {};
  stats.struct_size = sizeof stats;
  return stats;
}

/// EXPECT that a call fails with exactly this message.
#define EXPECT_SA_ERROR(call, message)                                         \
  do {                                                                         \
    EXPECT_EQ(call, SA_ERROR);                                                 \
    EXPECT_STREQ(sa_last_error(), message);                                    \
  } while (false)

#define ASSERT_SA_OK(call) ASSERT_EQ(call, SA_OK) << sa_last_error()

} // namespace capi_test

#endif // SPARSEATTN_TEST_UNIT_CAPI_CAPITESTSUPPORT_H
