//===- RankRun.cpp - A program run over ranks -----------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RankRun.h"

#include "Check.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace sart;
using mlir::sparseattn::TensorValue;

Expected<RankRun> RankRun::create(const SimOptions &options,
                                  const std::string &contents, bool isProgram) {
  RankRun run;
  sa_engine_options engineOptions = {};
  engineOptions.struct_size = sizeof engineOptions;
  engineOptions.device = "reference";
  engineOptions.threads = options.threads;
  engineOptions.timeout_ms = options.timeoutMs;
  sa_engine *engine = nullptr;
  if (sa_engine_create(&engineOptions, &engine) != SA_OK)
    return lastError();
  run.engine.reset(engine);

  sa_layer_options layerOptions = {};
  layerOptions.struct_size = sizeof layerOptions;
  layerOptions.ulysses = options.axes.ulysses;
  layerOptions.ring = options.axes.ring;
  layerOptions.balance =
      options.balance.empty() ? nullptr : options.balance.c_str();
  layerOptions.augment = options.augment;
  // What a simulator is for: coverage proved, memory poisoned.
  layerOptions.check = 1;
  sa_layer *layer = nullptr;
  sa_status status =
      isProgram
          ? sa_layer_create_from_program(engine, contents.data(),
                                         contents.size(), &layerOptions, &layer)
          : sa_layer_create(engine, contents.data(), contents.size(),
                            &layerOptions, &layer);
  if (status != SA_OK)
    return makeError(options.path, ": ", sa_last_error());
  run.layer.reset(layer);
  run.layerInfo.struct_size = sizeof run.layerInfo;
  if (sa_layer_get_info(layer, &run.layerInfo) != SA_OK)
    return lastError();
  return run;
}

Status RankRun::run(RunInputs &inputs) {
  DType dtype = static_cast<DType>(layerInfo.dtype);
  std::array<int64_t, 3> kv = {layerInfo.kv_heads, layerInfo.skv,
                               layerInfo.head_dim};
  out = HostTensor::zeros(dtype,
                          {layerInfo.heads, layerInfo.sq, layerInfo.head_dim});
  lse = HostTensor::zeros(DType::F32, {layerInfo.heads, layerInfo.sq, 1});
  for (auto [name, tensor, expected] :
       {std::tuple<const char *, HostTensor *, std::array<int64_t, 3>>{
            "q", &inputs.q, out.shape},
        {"k", &inputs.k, kv},
        {"v", &inputs.v, kv}}) {
    if (tensor->shape != expected)
      return makeError("shape of '", name, "' must equal the layer's: got [",
                       tensor->shape[0], ", ", tensor->shape[1], ", ",
                       tensor->shape[2], "], expected [", expected[0], ", ",
                       expected[1], ", ", expected[2], "]");
    if (tensor->dtype != dtype)
      *tensor = tensor->converted(dtype);
  }
  // What the run leaves unwritten must be seen.
  for (HostTensor *tensor : {&out, &lse})
    for (int64_t i = 0, e = tensor->elements(); i < e; ++i)
      storeFromFloat(tensor->data.data(), tensor->dtype, i,
                     std::numeric_limits<float>::quiet_NaN());
  sa_tensor q = inputs.q.view(), k = inputs.k.view(), v = inputs.v.view();
  sa_tensor o = out.view(), l = lse.view();
  runStats.struct_size = sizeof runStats;
  if (sa_layer_run_whole(layer.get(), &q, &k, &v, &o, &l, nullptr, &runStats) !=
      SA_OK)
    return lastError();
  return Status::success();
}

Expected<BlockMask> RankRun::mask() const {
  const sa_layer_info &i = layerInfo;
  std::vector<uint8_t> bits(
      static_cast<size_t>(i.heads * i.q_blocks * i.kv_blocks));
  if (sa_layer_get_mask(layer.get(), bits.data(), bits.size()) != SA_OK)
    return lastError();
  return BlockMask::fromBits(bits.data(), i.heads, i.q_blocks, i.kv_blocks);
}

Expected<Program> RankRun::program() const {
  const void *bytes = nullptr;
  size_t length = 0;
  if (sa_layer_get_program_bytes(layer.get(), &bytes, &length) != SA_OK)
    return lastError();
  return deserialize(static_cast<const uint8_t *>(bytes), length);
}

Expected<std::string> RankRun::planText() const {
  const char *text = nullptr;
  size_t length = 0;
  if (sa_layer_get_plan(layer.get(), &text, &length) != SA_OK)
    return lastError();
  return std::string(text, length);
}

Expected<std::string> RankRun::explanation() const {
  const char *text = nullptr;
  size_t length = 0;
  if (sa_layer_explain(layer.get(), &text, &length) != SA_OK)
    return lastError();
  return std::string(text, length);
}

static double largestFinite(const void *data, DType dtype, int64_t elements) {
  double largest = 0;
  for (int64_t i = 0; i < elements; ++i) {
    double value = std::fabs(static_cast<double>(loadAsFloat(data, dtype, i)));
    if (std::isfinite(value))
      largest = std::max(largest, value);
  }
  return largest;
}

/// Largest difference; infinite when one side alone is not finite.
static double largestDifference(const HostTensor &a, const TensorValue &b) {
  double largest = 0;
  for (int64_t i = 0, e = a.elements(); i < e; ++i) {
    double x = static_cast<double>(loadAsFloat(a.data.data(), a.dtype, i));
    double y = static_cast<double>(b.load(i));
    if (x == y)
      continue;
    double difference = std::fabs(x - y);
    largest = std::isfinite(difference)
                  ? std::max(largest, difference)
                  : std::numeric_limits<double>::infinity();
  }
  return largest;
}

/// Tiles without a visible key contribute nothing and may be dropped.
static void compareMasks(const sa_layer_info &info, const BlockMask &a,
                         const BlockMask &b, Comparison &result) {
  LayerShape shape;
  shape.sq = info.sq;
  shape.skv = info.skv;
  shape.blockQ = info.block_q;
  shape.blockK = info.block_k;
  shape.causal = info.causal != 0;
  for (int64_t head = 0; head < info.heads; ++head)
    for (int64_t i = 0; i < info.q_blocks; ++i)
      for (int64_t j = 0, e = shape.visibleKvBlocks(i); j < e; ++j) {
        ++result.tiles;
        result.differing += a.contains(head, i, j) != b.contains(head, i, j);
      }
}

Expected<Comparison> sart::compare(const RankRun &run, const HostTensor &v,
                                   const TensorValue &out,
                                   const TensorValue &lse,
                                   const BlockMask *mask) {
  if (run.out.elements() != out.elements() ||
      run.lse.elements() != lse.elements())
    return makeError("elements of out and lse: got ", out.elements(), " and ",
                     lse.elements(), " of the interpretation, expected ",
                     run.out.elements(), " and ", run.lse.elements());
  Comparison result;
  double largestLse = largestFinite(lse.data.data(), lse.dtype, lse.elements());
  double largestV = largestFinite(v.data.data(), v.dtype, v.elements());
  result.error = largestDifference(run.out, out);
  result.bound = errorBound(run.out.dtype, largestLse, largestV);
  result.lseError = largestDifference(run.lse, lse);
  result.lseBound = std::ldexp(1, -18) + std::ldexp(largestLse, -21);
  if (mask) {
    Expected<BlockMask> ran = run.mask();
    if (!ran)
      return ran.status();
    compareMasks(run.info(), *ran, *mask, result);
  }
  return result;
}
