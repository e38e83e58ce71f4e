//===- InputsTest.cpp - The caller's tensors ------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExecutorTestSupport.h"

#include <cmath>
#include <sys/mman.h>

using namespace sart;
using namespace sart::test;

namespace {

const Placement placement = placementOf(2, 2, 4, 2, 63, 100);

/// Copies heads x tokens x 32 floats into memory with other strides, gaps
/// poisoned.
struct Strided {
  Strided(const std::vector<uint8_t> &values, int64_t heads, int64_t tokens,
          std::array<int64_t, 3> strides, size_t elements)
      : memory(elements, std::numeric_limits<float>::quiet_NaN()) {
    tensor = Tensor::contiguous(memory.data(), DType::F32, heads, tokens, 32);
    tensor.strides = strides;
    const auto *source = reinterpret_cast<const float *>(values.data());
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t token = 0; token < tokens; ++token)
        for (int64_t d = 0; d < 32; ++d)
          at(head, token, d) = *source++;
  }
  float &at(int64_t head, int64_t token, int64_t d) {
    return memory[static_cast<size_t>(head * tensor.strides[0] +
                                      token * tensor.strides[1] + d)];
  }
  std::vector<float> memory;
  Tensor tensor;
};

class Inputs : public ::testing::Test {
protected:
  Inputs()
      : data(placement.shape, 71),
        executor(executorOf(templateOf(placement, topP(0.7f)))) {}

  std::string messageOf(const std::function<void(RankTensors &)> &edit) {
    auto tensors = data.shards(placement);
    edit(tensors[1]);
    RunStats stats;
    return executor->run(tensors, {}, stats).message();
  }

  LayerData data;
  std::unique_ptr<Executor> executor;
};

} // namespace

TEST_F(Inputs, StridesAreHonoured) {
  runAll(*executor, data);
  // q as [tokens, heads, d] of a fused projection; k with heads after one
  // another in reverse; v with gaps; outputs as [tokens, heads, d].
  Strided q(data.q, 4, 63, {32, 4 * 32 * 3, 1}, 63 * 4 * 32 * 3);
  Strided k(data.k, 2, 100, {32 * 101, 32, 1}, 2 * 101 * 32);
  Strided v(data.v, 2, 100, {100 * 40, 40, 1}, 2 * 100 * 40);
  LayerData other(placement.shape, 71);
  Strided o(other.o, 4, 63, {33, 4 * 33, 1}, 63 * 4 * 33 + 1);
  std::vector<float> lse(63 * 4 * 2, -5);
  Tensor lseTensor = Tensor::contiguous(lse.data(), DType::F32, 4, 63, 1);
  lseTensor.strides = {2, 8, 1};
  o.memory.back() = 123;
  RunStats stats;
  Status status = executor->run(
      shardViews(placement, q.tensor, k.tensor, v.tensor, o.tensor, lseTensor),
      {}, stats);
  ASSERT_TRUE(status.ok()) << status.message();
  for (int64_t head = 0; head < 4; ++head)
    for (int64_t row = 0; row < 63; ++row) {
      EXPECT_EQ(lse[static_cast<size_t>(head * 2 + row * 8)],
                data.lse[static_cast<size_t>(head * 63 + row)]);
      EXPECT_EQ(lse[static_cast<size_t>(head * 2 + row * 8 + 1)], -5);
      for (int64_t d = 0; d < 32; ++d)
        ASSERT_EQ(o.at(head, row, d), data.oAt(head, row, d));
      EXPECT_TRUE(std::isnan(o.at(head, row, 32)) || head * row == 3 * 62)
          << "gaps stay";
    }
  EXPECT_EQ(o.memory.back(), 123);
}

TEST_F(Inputs, HeadsMayShareMemoryAndStandInReverse) {
  // Stride 0 and negative strides are views like any other, for inputs.
  LayerData flipped = data;
  size_t headBytes = 63 * 32 * 4;
  for (size_t head = 0; head < 4; ++head)
    std::copy_n(data.q.begin() + static_cast<long>(head * headBytes), headBytes,
                flipped.q.begin() + static_cast<long>((3 - head) * headBytes));
  std::copy_n(data.k.begin(), data.k.size() / 2,
              flipped.k.begin() + static_cast<long>(data.k.size() / 2));
  runAll(*executor, flipped);
  std::vector<uint8_t> expected = flipped.o;
  flipped.forget();
  auto *lastHead = data.q.data() + 3 * headBytes;
  Tensor q = Tensor::contiguous(lastHead, DType::F32, 4, 63, 32);
  q.strides[0] = -q.strides[0];
  Tensor k = Tensor::contiguous(data.k.data(), DType::F32, 2, 100, 32);
  k.strides[0] = 0;
  RunStats stats;
  Status status = executor->run(
      shardViews(placement, q, k,
                 Tensor::contiguous(data.v.data(), DType::F32, 2, 100, 32),
                 Tensor::contiguous(flipped.o.data(), DType::F32, 4, 63, 32),
                 Tensor::contiguous(flipped.lse.data(), DType::F32, 4, 63, 1)),
      {}, stats);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(flipped.o, expected);
}

TEST_F(Inputs, OffsetsBeyond32Bits) {
  // Rows 2^26 elements apart: the last stands 2^34 bytes behind the first.
  constexpr int64_t stride = int64_t(1) << 26;
  size_t bytes = static_cast<size_t>(63 * stride * 4);
  void *memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    GTEST_SKIP() << "no address space of " << bytes << " bytes";
  runAll(*executor, data);
  std::vector<uint8_t> expected = data.o;
  Tensor q = Tensor::contiguous(memory, DType::F32, 4, 63, 32);
  q.strides = {32, stride, 1};
  const auto *source = reinterpret_cast<const float *>(data.q.data());
  for (int64_t head = 0; head < 4; ++head)
    for (int64_t row = 0; row < 63; ++row)
      std::copy_n(source + (head * 63 + row) * 32, 32,
                  static_cast<float *>(memory) + row * stride + head * 32);
  data.forget();
  auto tensors = data.shards(placement);
  auto strided = shardViews(placement, q, q, q, q, q);
  for (size_t rank = 0; rank < tensors.size(); ++rank)
    tensors[rank].q = strided[rank].q;
  RunStats stats;
  Status status = executor->run(tensors, {}, stats);
  ::munmap(memory, bytes);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(data.o, expected);
}

TEST_F(Inputs, TensorsThatDoNotFitAreNamed) {
  EXPECT_EQ(messageOf([](RankTensors &own) { own.q.dtype = DType::BF16; }),
            "rank 1: dtype of tensor q does not match: got bf16, expected f32");
  EXPECT_EQ(messageOf([](RankTensors &own) { own.k.sizes[0] = 4; }),
            "rank 1: shape of tensor k does not match: got 4x24x32, expected "
            "2x24x32");
  EXPECT_EQ(messageOf([](RankTensors &own) { own.v.sizes[1] = 25; }),
            "rank 1: shape of tensor v does not match: got 2x25x32, expected "
            "2x24x32");
  EXPECT_EQ(messageOf([](RankTensors &own) {
              own.o.sizes[2] = 64;
            }).rfind("rank 1: shape of tensor o does not match: got 4x", 0),
            0u);
  EXPECT_EQ(messageOf([](RankTensors &own) { own.lse.data = nullptr; })
                .rfind("rank 1: data of tensor lse missing: got a null "
                       "pointer, expected 4x",
                       0),
            0u);
  EXPECT_EQ(messageOf([](RankTensors &own) { own.q.strides[2] = 2; }),
            "rank 1: innermost stride of tensor q not supported: got 2, "
            "expected 1");
  EXPECT_EQ(messageOf([](RankTensors &own) { own.o.strides[0] = INT64_MIN; }),
            "rank 1: strides of tensor o out of range: got "
            "-9223372036854775808, 32, expected below 2^63 bytes");
  EXPECT_EQ(messageOf([](RankTensors &own) { own.k.strides[1] = INT64_MAX; }),
            "rank 1: strides of tensor k out of range: got 3200, "
            "9223372036854775807, expected below 2^63 bytes");
  EXPECT_EQ(messageOf([](RankTensors &own) { own.o.strides[0] = 0; }),
            "rank 1: rows of output tensor o overlap: got strides 0, 32, "
            "expected at least 32");
  EXPECT_EQ(messageOf([](RankTensors &own) { own.o.strides[0] = 64; }),
            "rank 1: rows of output tensor o overlap: got strides 64, 32, "
            "expected at least 32");
  RunStats stats;
  EXPECT_EQ(executor->run({}, {}, stats).message(),
            "number of tensor sets does not match the ranks: got 0, expected "
            "4");
  // None of it harmed the executor.
  runAll(*executor, data);
}

TEST_F(Inputs, RanksWithoutTokensNeedNoMemory) {
  Placement empty = placementOf(4, 1, 7, 7, 2, 2);
  LayerData two(empty.shape, 72);
  auto small = executorOf(templateOf(empty, topP(0.7f)));
  auto tensors = two.shards(empty);
  for (RankTensors &own : tensors)
    for (Tensor *tensor : {&own.q, &own.k, &own.v, &own.o, &own.lse})
      if (tensor->sizes[1] == 0)
        tensor->data = nullptr;
  RunStats stats;
  Status status = small->run(tensors, {}, stats);
  ASSERT_TRUE(status.ok()) << status.message();
  expectOracle(two, maskOf(*small), small->program().scale);
}
