//===- Run.cpp - Running a layer through the C API ------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaMemory.h"
#include "Objects.h"

#include "sparseattn-rt/CheckedMath.h"

#include <algorithm>
#include <cstring>

using namespace capi;
using sart::DType;
using sart::Expected;
using sart::RankTensors;
using sart::Status;
using sart::Tensor;

Expected<Tensor> capi::toTensor(const char *name, const sa_tensor *tensor,
                                DType dtype, int64_t heads, int64_t tokens,
                                int64_t elements) {
  if (!tensor)
    return sart::makeError("tensor ", name,
                           ": got a null pointer, expected a tensor");
  if (static_cast<int>(tensor->dtype) != static_cast<int>(dtype))
    return sart::makeError("dtype of ", name, ": got ",
                           static_cast<int>(tensor->dtype), ", expected ",
                           static_cast<int>(dtype), " (", toString(dtype), ")");
  int64_t expected[3] = {heads, tokens, elements};
  for (int i = 0; i < 3; ++i)
    if (tensor->sizes[i] != expected[i])
      return sart::makeError("size ", i, " of ", name,
                             " must equal the layer's: got ", tensor->sizes[i],
                             ", expected ", expected[i]);
  bool empty = heads * tokens * elements == 0;
  if (!tensor->data && !empty)
    return sart::makeError("data of ", name, ": got a null pointer, expected ",
                           heads * tokens * elements, " elements");
  if (tensor->strides[2] != 1 && elements > 1)
    return sart::makeError("last stride of ", name, ": got ",
                           tensor->strides[2], ", expected 1");
  for (int i = 0; i < 2; ++i)
    if (!empty && expected[i] > 1 && tensor->strides[i] <= 0)
      return sart::makeError("stride ", i, " of ", name, ": got ",
                             tensor->strides[i], ", expected more than 0");
  Tensor result;
  result.data = tensor->data;
  result.dtype = dtype;
  std::optional<int64_t> last = elements;
  for (int i = 0; i < 2; ++i) {
    // The stride of an axis that has one place is not used.
    result.strides[i] = !empty && expected[i] > 1 ? tensor->strides[i] : 0;
    std::optional<int64_t> reach =
        sart::checkedMul(result.strides[i], std::max<int64_t>(expected[i], 1));
    last = last && reach ? sart::checkedAdd(*last, *reach) : std::nullopt;
  }
  if (!last || !sart::checkedMul(*last, byteSize(dtype)))
    return sart::makeError("strides of ", name, ": got ", tensor->strides[0],
                           " and ", tensor->strides[1],
                           ", expected a tensor of less than 2^63 bytes");
  std::copy_n(tensor->sizes, 3, result.sizes.begin());
  return result;
}

Status capi::checkOnHost(const sa_layer &layer, const char *name,
                         const Tensor &tensor, const char *where) {
  if (!layer.gpu || !tensor.data)
    return Status::success();
  Expected<bool> onDevice = sart::cuda::isDeviceOnly(*layer.gpu, tensor.data);
  if (!onDevice)
    return sart::makeError("data of ", name, ": ", onDevice.message());
  if (*onDevice)
    return sart::makeError("data of ", name, ": got GPU memory", where,
                           ", expected host memory");
  return Status::success();
}

/// Which of the five tensors a call brings.
enum Part { QK = 1, VOut = 2 };

std::vector<int64_t> capi::ranksHere(const sa_layer &layer) {
  if (layer.overProcesses)
    return layer.executor->localRanks();
  std::vector<int64_t> all;
  int64_t ranks = layer.compiled.program.placement.mesh.ranks();
  for (int64_t rank = 0; rank < ranks; ++rank)
    all.push_back(rank);
  return all;
}

/// Reads the shards of the ranks here into `tensors`.
static Status readShards(const sa_layer &layer, int parts, const sa_tensor *q,
                         const sa_tensor *k, const sa_tensor *v,
                         const sa_tensor *out, const sa_tensor *lse,
                         std::vector<RankTensors> &tensors) {
  const sart::Placement &placement = layer.compiled.program.placement;
  const sart::LayerShape &shape = placement.shape;
  if (((parts & QK) && (!q || !k)) || ((parts & VOut) && (!v || !out || !lse)))
    return sart::makeError("tensors: got a null pointer, expected one tensor "
                           "per rank");
  if (layer.compiled.boundaryOrder)
    return sart::makeError("shards of a layer with permute ops: got shards, "
                           "expected whole tensors (sa_layer_run_whole)");
  std::vector<int64_t> ranks = ranksHere(layer);
  tensors.resize(ranks.size());
  for (size_t place = 0; place < ranks.size(); ++place) {
    int64_t rank = ranks[place];
    int64_t queries = placement.qShardOf(rank).size();
    int64_t keys = placement.kvShardOf(rank).size();
    RankTensors &own = tensors[place];
    auto read = [&](const char *name, const sa_tensor *from, DType dtype,
                    int64_t heads, int64_t tokens, int64_t elements,
                    Tensor &to) {
      Expected<Tensor> tensor =
          toTensor(name, &from[place], dtype, heads, tokens, elements);
      if (!tensor)
        return sart::makeError("rank ", rank, ": ", tensor.message());
      to = *tensor;
      return Status::success();
    };
    if (parts & QK) {
      SART_RETURN_IF_ERROR(read("q", q, shape.dtype, shape.heads, queries,
                                shape.headDim, own.q));
      SART_RETURN_IF_ERROR(
          read("k", k, shape.dtype, shape.kvHeads, keys, shape.headDim, own.k));
    }
    if (parts & VOut) {
      SART_RETURN_IF_ERROR(
          read("v", v, shape.dtype, shape.kvHeads, keys, shape.headDim, own.v));
      SART_RETURN_IF_ERROR(read("out", out, shape.dtype, shape.heads, queries,
                                shape.headDim, own.o));
      SART_RETURN_IF_ERROR(
          read("lse", lse, DType::F32, shape.heads, queries, 1, own.lse));
    }
  }
  return Status::success();
}

static Expected<sart::RunOptions> runOptions(const sa_layer &layer,
                                             const sa_run_options *given) {
  if (!layer.executor)
    return sart::makeError("layer of an engine with compile_only: got a run, "
                           "expected none");
  SART_RETURN_IF_ERROR(checkStructSize("run options", given));
  sa_run_options options = withDefaults(given);
  if (options.step < 0)
    return sart::makeError("step: got ", options.step, ", expected at least 0");
  sart::RunOptions result;
  result.plan = layer.fixedPlan ? &*layer.fixedPlan : nullptr;
  result.dense = options.step < layer.denseSteps;
  result.gatherMask = options.leave_mask == 0;
  return result;
}

static void writeStats(sa_layer &layer, sa_run_stats *stats) {
  layer.hasRun = true;
  if (!stats)
    return;
  const sart::RunStats &run = layer.stats;
  sa_run_stats result = {};
  result.ranks = static_cast<int64_t>(run.loadsBefore.size());
  result.density = run.density;
  result.loads_before = run.loadsBefore.data();
  result.loads_after = run.loadsAfter.data();
  result.rho_before = run.rhoBefore;
  result.rho_after = run.rhoAfter;
  result.moves =
      static_cast<int64_t>(run.plan.moves.size() + run.plan.rowMoves.size());
  result.bytes_moved = run.bytesMoved;
  result.bytes_ulysses = run.bytesExchange;
  result.bytes_routed = run.bytesRouted;
  result.bytes_dense_ring = run.predicted.denseRing;
  result.tiles = run.tiles;
  result.kept_pooled_mass =
      run.routing.rows
          ? run.routing.keptPooledMass / static_cast<double>(run.routing.rows)
          : 1;
  result.near_threshold = run.routing.nearThreshold;
  result.plan_us = static_cast<double>(run.planNs) * 1e-3;
  result.ms = static_cast<double>(run.totalNs) * 1e-6;
  result.plan_hash = run.planHash;
  assignSized(stats, result);
}

static sa_status runTensors(sa_layer &layer,
                            const std::vector<RankTensors> &tensors,
                            const sa_run_options *options,
                            sa_run_stats *stats) {
  layer.began = false;
  if (Status status = checkStructSize("run stats", stats); !status.ok())
    return fail(status);
  Expected<sart::RunOptions> runWith = runOptions(layer, options);
  if (!runWith)
    return fail(runWith.status());
  layer.hasRun = false;
  if (Status status = layer.executor->run(tensors, *runWith, layer.stats);
      !status.ok())
    return fail(status);
  writeStats(layer, stats);
  return SA_OK;
}

sa_status sa_layer_run(sa_layer *layer, const sa_tensor *q, const sa_tensor *k,
                       const sa_tensor *v, const sa_tensor *out,
                       const sa_tensor *lse, const sa_run_options *options,
                       sa_run_stats *stats) try {
  if (!layer)
    return fail("layer: got a null pointer, expected a layer");
  std::vector<RankTensors> tensors;
  if (Status status = readShards(*layer, QK | VOut, q, k, v, out, lse, tensors);
      !status.ok())
    return fail(status);
  return runTensors(*layer, tensors, options, stats);
} catch (...) {
  return failCaught();
}

/// Runs on shards of whole tensors, and brings the outputs to rank 0.
static sa_status runViews(sa_layer &layer, const std::vector<RankTensors> &all,
                          const sa_run_options *options, sa_run_stats *stats) {
  if (!layer.overProcesses)
    return runTensors(layer, all, options, stats);
  std::vector<RankTensors> own;
  for (int64_t rank : ranksHere(layer))
    own.push_back(all[static_cast<size_t>(rank)]);
  if (runTensors(layer, own, options, stats) != SA_OK)
    return SA_ERROR;
  Status status = layer.executor->gatherOutputs(own, all);
  return status.ok() ? SA_OK : fail(status);
}

/// A whole tensor with its tokens in another order.
class OrderedCopy {
public:
  explicit OrderedCopy(const Tensor &tensor) : original(tensor) {
    bytes.resize(static_cast<size_t>(tensor.sizes[0] * tensor.sizes[1] *
                                     tensor.sizes[2] * byteSize(tensor.dtype)));
    copy = Tensor::contiguous(bytes.data(), tensor.dtype, tensor.sizes[0],
                              tensor.sizes[1], tensor.sizes[2]);
  }
  const Tensor &tensor() const { return copy; }
  /// copy[i] <- original[permutation[i]].
  void gather(const std::vector<int64_t> &permutation) {
    forRows(permutation, [](char *inner, char *outer, size_t size) {
      std::memcpy(inner, outer, size);
    });
  }
  /// original[permutation[i]] <- copy[i].
  void scatter(const std::vector<int64_t> &permutation) {
    forRows(permutation, [](char *inner, char *outer, size_t size) {
      std::memcpy(outer, inner, size);
    });
  }

private:
  template <typename Copy>
  void forRows(const std::vector<int64_t> &permutation, Copy copyRow) {
    int64_t element = byteSize(original.dtype);
    size_t row = static_cast<size_t>(original.sizes[2] * element);
    char *outer = static_cast<char *>(original.data);
    for (int64_t h = 0; h < original.sizes[0]; ++h)
      for (int64_t i = 0; i < original.sizes[1]; ++i)
        copyRow(
            bytes.data() + static_cast<size_t>(h * original.sizes[1] + i) * row,
            outer +
                (h * original.strides[0] +
                 permutation[static_cast<size_t>(i)] * original.strides[1]) *
                    element,
            row);
  }
  Tensor original, copy;
  std::vector<char> bytes;
};

sa_status sa_layer_run_whole(sa_layer *layer, const sa_tensor *q,
                             const sa_tensor *k, const sa_tensor *v,
                             const sa_tensor *out, const sa_tensor *lse,
                             const sa_run_options *options,
                             sa_run_stats *stats) try {
  if (!layer)
    return fail("layer: got a null pointer, expected a layer");
  const sart::Placement &placement = layer->compiled.program.placement;
  const sart::LayerShape &s = placement.shape;
  Expected<Tensor> tensors[5] = {
      toTensor("q", q, s.dtype, s.heads, s.sq, s.headDim),
      toTensor("k", k, s.dtype, s.kvHeads, s.skv, s.headDim),
      toTensor("v", v, s.dtype, s.kvHeads, s.skv, s.headDim),
      toTensor("out", out, s.dtype, s.heads, s.sq, s.headDim),
      toTensor("lse", lse, DType::F32, s.heads, s.sq, 1)};
  for (const Expected<Tensor> &tensor : tensors)
    if (!tensor)
      return fail(tensor.status());
  const char *names[5] = {"q", "k", "v", "out", "lse"};
  if (layer->compiled.boundaryOrder || layer->overProcesses)
    for (int i = 0; i < 5; ++i)
      if (Status status = checkOnHost(*layer, names[i], *tensors[i],
                                      layer->overProcesses
                                          ? " as whole tensors over processes"
                                          : " in a layer with permute ops");
          !status.ok())
        return fail(status);
  if (!layer->compiled.boundaryOrder)
    return runViews(*layer,
                    shardViews(placement, *tensors[0], *tensors[1], *tensors[2],
                               *tensors[3], *tensors[4]),
                    options, stats);
  std::vector<int64_t> permutation =
      layer->compiled.boundaryOrder->permutation();
  std::vector<OrderedCopy> copies;
  for (const Expected<Tensor> &tensor : tensors)
    copies.emplace_back(*tensor);
  for (int i = 0; i < 3; ++i)
    copies[i].gather(permutation);
  sa_status status = runViews(
      *layer,
      shardViews(placement, copies[0].tensor(), copies[1].tensor(),
                 copies[2].tensor(), copies[3].tensor(), copies[4].tensor()),
      options, stats);
  if (status == SA_OK)
    for (int i = 3; i < 5; ++i)
      copies[i].scatter(permutation);
  return status;
} catch (...) {
  return failCaught();
}

sa_status sa_layer_begin(sa_layer *layer, const sa_tensor *q,
                         const sa_tensor *k,
                         const sa_run_options *options) try {
  if (!layer)
    return fail("layer: got a null pointer, expected a layer");
  layer->began = false;
  if (Status status = readShards(*layer, QK, q, k, nullptr, nullptr, nullptr,
                                 layer->beganTensors);
      !status.ok())
    return fail(status);
  Expected<sart::RunOptions> runWith = runOptions(*layer, options);
  if (!runWith)
    return fail(runWith.status());
  layer->hasRun = false;
  if (Status status = layer->executor->begin(layer->beganTensors, *runWith);
      !status.ok())
    return fail(status);
  layer->began = true;
  return SA_OK;
} catch (...) {
  return failCaught();
}

sa_status sa_layer_finish(sa_layer *layer, const sa_tensor *v,
                          const sa_tensor *out, const sa_tensor *lse,
                          sa_run_stats *stats) try {
  if (!layer)
    return fail("layer: got a null pointer, expected a layer");
  if (!layer->began)
    return fail("sa_layer_finish: got no begun run, expected sa_layer_begin "
                "before");
  if (Status status = checkStructSize("run stats", stats); !status.ok())
    return fail(status);
  std::vector<RankTensors> tensors = layer->beganTensors;
  if (Status status =
          readShards(*layer, VOut, nullptr, nullptr, v, out, lse, tensors);
      !status.ok())
    return fail(status);
  layer->began = false;
  if (Status status = layer->executor->finish(tensors, layer->stats);
      !status.ok())
    return fail(status);
  writeStats(*layer, stats);
  return SA_OK;
} catch (...) {
  return failCaught();
}
