//===- ExecutorTestSupport.cpp - Layers that tests run --------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExecutorTestSupport.h"

#include <cmath>
#include <random>

using namespace sart;
using namespace sart::test;

Placement test::placementOf(int64_t ulysses, int64_t ring, int64_t heads,
                            int64_t kvHeads, int64_t sq, int64_t skv,
                            bool causal) {
  Placement placement;
  placement.mesh = {ulysses, ring};
  LayerShape &shape = placement.shape;
  shape.heads = heads;
  shape.kvHeads = kvHeads;
  shape.sq = sq;
  shape.skv = skv;
  shape.headDim = 32;
  shape.blockQ = 16;
  shape.blockK = 24;
  shape.causal = causal;
  return placement;
}

LayerData::LayerData(const LayerShape &shape, uint32_t seed,
                     std::optional<DType> out)
    : shape(shape), outDtype(out.value_or(shape.dtype)) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  auto fill = [&](std::vector<uint8_t> &bytes, int64_t heads, int64_t tokens,
                  float scale, const std::function<float(int64_t)> &shift) {
    int64_t elements = heads * tokens * shape.headDim;
    bytes.resize(static_cast<size_t>(elements * byteSize(shape.dtype)));
    for (int64_t i = 0; i < elements; ++i) {
      int64_t head = i / (tokens * shape.headDim);
      storeFromFloat(bytes.data(), shape.dtype, i,
                     scale * normal(random) + shift(head));
    }
  };
  // q . k has a mean of 32 * shift_q * shift_k and a spread of about
  // 9 * sqrt(32), before the scale of 1 / sqrt(32).
  fill(q, shape.heads, shape.sq, 3,
       [](int64_t head) { return head % 3 == 2 ? 4.0f : 0.0f; });
  fill(k, shape.kvHeads, shape.skv, 3, [](int64_t) { return -2.0f; });
  fill(v, shape.kvHeads, shape.skv, 1, [](int64_t) { return 0.25f; });
  o.resize(static_cast<size_t>(shape.heads * shape.sq * shape.headDim *
                               byteSize(outDtype)));
  lse.resize(static_cast<size_t>(shape.heads * shape.sq));
  forget();
}

void LayerData::forget() {
  std::fill(o.begin(), o.end(), uint8_t(0xFF));
  std::fill(lse.begin(), lse.end(), std::numeric_limits<float>::quiet_NaN());
}

std::vector<RankTensors> LayerData::shards(const Placement &placement) {
  auto tensor = [&](std::vector<uint8_t> &bytes, DType dtype, int64_t heads,
                    int64_t tokens) {
    return Tensor::contiguous(bytes.data(), dtype, heads, tokens,
                              shape.headDim);
  };
  return shardViews(
      placement, tensor(q, shape.dtype, shape.heads, shape.sq),
      tensor(k, shape.dtype, shape.kvHeads, shape.skv),
      tensor(v, shape.dtype, shape.kvHeads, shape.skv),
      tensor(o, outDtype, shape.heads, shape.sq),
      Tensor::contiguous(lse.data(), DType::F32, shape.heads, shape.sq, 1));
}

float LayerData::oAt(int64_t head, int64_t row, int64_t element) const {
  return loadAsFloat(o.data(), outDtype,
                     (head * shape.sq + row) * shape.headDim + element);
}

void test::expectOracle(const LayerData &data, const BlockMask &mask,
                        float scale) {
  const LayerShape &shape = data.shape;
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < shape.sq; ++row)
    rows.push_back(row);
  std::vector<double> o(static_cast<size_t>(shape.sq * shape.headDim)),
      lse(rows.size());
  float largestV = 0;
  for (int64_t i = 0; i < shape.kvHeads * shape.skv * shape.headDim; ++i)
    largestV = std::max(largestV,
                        std::fabs(loadAsFloat(data.v.data(), shape.dtype, i)));
  double outStep = data.outDtype == DType::BF16  ? 1.0 / 256
                   : data.outDtype == DType::F16 ? 1.0 / 2048
                                                 : 0;
  auto headView = [&](const std::vector<uint8_t> &bytes, int64_t head,
                      int64_t tokens) {
    SlotView view;
    view.dtype = shape.dtype;
    view.data = const_cast<uint8_t *>(bytes.data()) +
                head * tokens * shape.headDim * byteSize(shape.dtype);
    view.rows = tokens;
    view.rowStride = view.rowElements = shape.headDim;
    return view;
  };
  for (int64_t head = 0; head < shape.heads; ++head) {
    int64_t kvHead = shape.kvHeadOf(head);
    referenceAttend(
        shape, headView(data.q, head, shape.sq),
        headView(data.k, kvHead, shape.skv),
        headView(data.v, kvHead, shape.skv), rows, scale,
        [&](int64_t qBlock, int64_t kvBlock) {
          return mask.contains(head, qBlock, kvBlock);
        },
        o.data(), lse.data());
    for (int64_t row : rows) {
      auto index = static_cast<size_t>(row);
      float got = data.lse[static_cast<size_t>(head * shape.sq + row)];
      double bound = 1e-6 * std::max(1.0, std::fabs(lse[index]));
      if (std::isinf(lse[index])) {
        ASSERT_EQ(got, -std::numeric_limits<float>::infinity())
            << "head " << head << " row " << row;
        bound = 0;
      } else {
        ASSERT_NEAR(got, lse[index], bound)
            << "head " << head << " row " << row;
      }
      for (int64_t d = 0; d < shape.headDim; ++d) {
        double expected = o[static_cast<size_t>(row * shape.headDim + d)];
        ASSERT_NEAR(data.oAt(head, row, d), expected,
                    bound * static_cast<double>(largestV) +
                        outStep * std::fabs(expected))
            << "head " << head << " row " << row << " element " << d;
      }
    }
  }
}

std::shared_ptr<Backend> test::referenceBackend() {
  return createReferenceBackend(std::make_shared<ThreadPool>(2));
}

ExecutorOptions test::strictOptions() {
  ExecutorOptions options;
  options.poison = true;
  options.coverage = true;
  options.timeoutMs = 120000;
  return options;
}

std::unique_ptr<Executor> test::executorOf(Program program,
                                           const ExecutorOptions &options,
                                           std::shared_ptr<Backend> backend) {
  auto executor =
      Executor::create(std::move(program), std::move(backend), options);
  EXPECT_TRUE(executor.ok()) << executor.message();
  return executor ? std::move(*executor) : nullptr;
}

Program test::templateOf(const Placement &placement,
                         const TemplateOptions &options) {
  auto program = buildTemplate(placement, options);
  EXPECT_TRUE(program.ok()) << program.message();
  return program ? std::move(*program) : Program();
}

Program test::boundOf(const Placement &placement, const BlockMask &mask,
                      const TemplateOptions &options) {
  auto bound = buildBound(templateOf(placement, options), mask);
  EXPECT_TRUE(bound.ok()) << bound.message();
  return bound ? std::move(*bound) : Program();
}

RunStats test::runAll(Executor &executor, LayerData &data,
                      const RunOptions &options) {
  RunStats stats;
  Status status =
      executor.run(data.shards(executor.program().placement), options, stats);
  EXPECT_TRUE(status.ok()) << status.message();
  return stats;
}

BlockMask test::maskOf(const Executor &executor) {
  auto mask = executor.lastMask();
  EXPECT_TRUE(mask.ok() && *mask) << mask.message();
  const LayerShape &shape = executor.program().placement.shape;
  return mask && *mask
             ? **mask
             : BlockMask(shape.heads, shape.qBlocks(), shape.kvBlocks());
}

TemplateOptions test::topP(float p, int64_t minBlocks) {
  TemplateOptions options;
  options.policy.kind = RoutingPolicy::Kind::TopP;
  options.policy.p = p;
  options.policy.minBlocks = minBlocks;
  return options;
}

Status HookedBackend::attend(const Program &program,
                             const std::vector<AttendTask> &tasks) {
  SART_RETURN_IF_ERROR(before(calls.fetch_add(1)));
  return inner->attend(program, tasks);
}
