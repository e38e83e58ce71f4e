//===- ArenaTest.cpp - Windows in memory ----------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExecutorTestSupport.h"
#include "WindowArena.h"

#include <cmath>

using namespace sart;
using namespace sart::test;

namespace {

/// Host memory that windows do not share with the caller's tensors.
class HostElsewhere final : public MemorySpace {
public:
  bool onHost() const override { return false; }
  Expected<std::shared_ptr<char>> allocate(int64_t bytes,
                                           const std::string &what) override {
    return host.allocate(bytes, what);
  }
  Status fill(const MemoryRows &to, uint8_t value) override {
    return host.fill(to, value);
  }
  Status copy(const SegmentList &from, const SegmentList &to) override {
    return host.copy(from, to);
  }
  Status fromHost(const MemoryRows &to, const MemoryRows &from) override {
    return host.fromHost(to, from);
  }
  Status toHost(const MemoryRows &to, const MemoryRows &from) override {
    return host.toHost(to, from);
  }
  Expected<std::shared_ptr<Fence>> order() override { return host.order(); }
  Status after(const Fence &fence) override { return host.after(fence); }
  Expected<std::shared_ptr<Fence>> mark() override { return host.mark(); }
  Expected<int64_t> nanoseconds(const Fence &begin, const Fence &end) override {
    return host.nanoseconds(begin, end);
  }
  Status finish() override { return host.finish(); }

private:
  MemorySpace &host = hostMemorySpace();
};

/// Windows q_shard (2 x 4 x 8 floats), o_shard, x (3 x 5 x 3 bfloat16),
/// mask (2 x 2 x 3 i32) and none (2 x 0 x 8).
struct Arena {
  explicit Arena(MemorySpace &space = hostMemorySpace()) {
    program.windows = {
        {"q_shard", DType::F32, 2, 4, 8, Window::Role::Input},
        {"o_shard", DType::F32, 2, 4, 8, Window::Role::Output},
        {"x", DType::BF16, 3, 5, 3},
        {"mask", DType::I32, 2, 2, 3},
        {"none", DType::F32, 2, 0, 8},
    };
    auto made = WindowArena::create(program, 0, space);
    EXPECT_TRUE(made.ok()) << made.message();
    arena = std::move(*made);
  }
  SlotView view(int32_t window, int64_t slot, int64_t rows, int64_t elements) {
    auto result = arena->view(window, slot, rows, elements);
    EXPECT_TRUE(result.ok()) << result.message();
    return result ? *result : SlotView();
  }
  Program program;
  std::unique_ptr<WindowArena> arena;
};

} // namespace

TEST(Arena, SlotsStandOn64ByteBorders) {
  Arena test;
  for (int64_t slot = 0; slot < 3; ++slot) {
    SlotView view = test.view(2, slot, 5, 3);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(view.data) % 64, 0u);
    EXPECT_EQ(view.rowStride, 3);
    EXPECT_EQ(view.dtype, DType::BF16);
  }
  EXPECT_EQ(test.arena->slotStride(2), 32);
  EXPECT_EQ(test.view(4, 1, 0, 8).rows, 0);
}

TEST(Arena, ChunksBecomeSegments) {
  Arena test;
  auto list = test.arena->segments(2, {0, 1, 3, 2, 0, 5, 1, 4, 4});
  ASSERT_TRUE(list.ok());
  ASSERT_EQ(list->size(), 2u) << "chunks without rows leave no segment";
  auto *first = static_cast<char *>(test.view(2, 0, 5, 3).data);
  auto *last = static_cast<char *>(test.view(2, 2, 5, 3).data);
  EXPECT_EQ((*list)[0].data, first + 6);
  EXPECT_EQ((*list)[0].bytes, 12);
  EXPECT_EQ((*list)[1].data, last);
  EXPECT_EQ((*list)[1].bytes, 30);
  // Neighbours join.
  list = test.arena->segments(2, {0, 0, 2, 0, 2, 5});
  ASSERT_TRUE(list.ok());
  ASSERT_EQ(list->size(), 1u);
  EXPECT_EQ((*list)[0].bytes, 30);
}

TEST(Arena, ExternalWindowsHonourStrides) {
  Arena test;
  // [rows, heads, elements] with 3 unused elements between the heads.
  std::vector<float> memory(4 * 2 * 11);
  Tensor tensor = Tensor::contiguous(memory.data(), DType::F32, 2, 4, 8);
  tensor.strides = {11, 22, 1};
  ASSERT_TRUE(test.arena->bind(ExternalTensor::Q, tensor, 4).ok());
  SlotView view = test.view(0, 1, 4, 8);
  EXPECT_EQ(view.data, memory.data() + 11);
  EXPECT_EQ(view.rowStride, 22);
  auto list = test.arena->segments(0, {1, 1, 3});
  ASSERT_TRUE(list.ok());
  ASSERT_EQ(list->size(), 2u);
  EXPECT_EQ((*list)[0].data, memory.data() + 11 + 22);
  EXPECT_EQ((*list)[0].bytes, 32);
  EXPECT_EQ((*list)[1].data, memory.data() + 11 + 44);
}

TEST(Arena, ShorterShardsEndWhereTheyEnd) {
  Arena test;
  std::vector<float> memory(2 * 3 * 8);
  Tensor tensor = Tensor::contiguous(memory.data(), DType::F32, 2, 3, 8);
  ASSERT_TRUE(test.arena->bind(ExternalTensor::Q, tensor, 3).ok());
  EXPECT_TRUE(test.arena->segments(0, {0, 0, 3}).ok());
  EXPECT_EQ(test.arena->segments(0, {0, 0, 4}).message(),
            "rows of window q_shard out of range: got 0 to 4, expected within "
            "0 to 3");
}

TEST(Arena, TensorsWithoutRowsNeedNoMemory) {
  // Not the host's memory, so that the tensors are copied.
  HostElsewhere elsewhere;
  for (MemorySpace *space :
       {&hostMemorySpace(), static_cast<MemorySpace *>(&elsewhere)}) {
    Arena test(*space);
    for (ExternalTensor which : {ExternalTensor::Q, ExternalTensor::O}) {
      Tensor tensor = Tensor::contiguous(nullptr, DType::F32, 2, 0, 8);
      tensor.strides = {64, 8, 1};
      Status status = test.arena->bind(which, tensor, 0);
      ASSERT_TRUE(status.ok()) << status.message();
    }
    for (int32_t window : {0, 1}) {
      SlotView last = test.view(window, 1, 0, 8);
      EXPECT_EQ(last.rows, 0);
      if (space->onHost()) {
        EXPECT_EQ(last.data, nullptr);
        EXPECT_EQ(last.rowStride, 0);
      }
      auto list = test.arena->segments(window, {0, 0, 0, 1, 0, 0});
      ASSERT_TRUE(list.ok()) << list.message();
      EXPECT_TRUE(list->empty());
      EXPECT_TRUE(test.arena->poisonSlot(window, 1).ok());
    }
    EXPECT_TRUE(
        test.arena->poisonAll(/*internal=*/true, /*outputs=*/true).ok());
    EXPECT_TRUE(test.arena->loadInputs().ok());
    EXPECT_TRUE(test.arena->storeOutputs().ok());
  }
}

TEST(Arena, ShardsOfTensorsWithoutMemory) {
  Placement placement = placementOf(2, 2, 4, 4, 0, 9);
  Tensor none = Tensor::contiguous(nullptr, DType::F32, 4, 0, 32);
  none.strides = {1 << 20, 32, 1};
  std::vector<float> keys(4 * 9 * 32);
  Tensor k = Tensor::contiguous(keys.data(), DType::F32, 4, 9, 32);
  for (const RankTensors &own : shardViews(placement, none, k, k, none, none)) {
    EXPECT_EQ(own.q.data, nullptr);
    EXPECT_EQ(own.q.sizes[1], 0);
    EXPECT_NE(own.k.data, nullptr);
  }
}

TEST(Arena, RefusesWhatIsOutside) {
  Arena test;
  EXPECT_EQ(test.arena->segments(2, {3, 0, 1}).message(),
            "slot of window x out of range: got 3, expected 0 to 2");
  EXPECT_EQ(test.arena->segments(2, {-1, 0, 1}).message(),
            "slot of window x out of range: got -1, expected 0 to 2");
  for (const std::vector<int64_t> &chunk :
       {std::vector<int64_t>{0, -1, 1}, {0, 0, 6}, {0, 3, 2}})
    EXPECT_NE(test.arena->segments(2, chunk).message(), "");
  EXPECT_EQ(test.arena->segments(2, {0, 1}).message(),
            "length of a chunk list does not match: got 2, expected a multiple "
            "of 3");
  EXPECT_EQ(test.arena->view(2, 0, 6, 3).message(),
            "rows of window x do not suffice: got 5, expected at least 6");
  EXPECT_EQ(test.arena->view(2, 0, 5, 4).message(),
            "row elements of window x do not match: got 3, expected 4");
  EXPECT_EQ(test.arena->segments(0, {0, 0, 1}).message(),
            "window q_shard has no tensor in this part of the run");
  EXPECT_EQ(test.arena->poisonSlot(2, 3).message(),
            "slot of window x out of range: got 3, expected 0 to 2");
}

TEST(Arena, PoisonIsNanAndMinusOne) {
  Arena test;
  std::vector<float> output(2 * 4 * 8 + 1, 7);
  ASSERT_TRUE(test.arena
                  ->bind(ExternalTensor::O,
                         Tensor::contiguous(output.data(), DType::F32, 2, 4, 8),
                         4)
                  .ok());
  ASSERT_TRUE(test.arena->poisonAll(/*internal=*/true, /*outputs=*/false).ok());
  EXPECT_EQ(output[0], 7);
  SlotView x = test.view(2, 2, 5, 3);
  for (int64_t i = 0; i < 15; ++i)
    EXPECT_TRUE(std::isnan(loadAsFloat(x.data, DType::BF16, i)));
  EXPECT_EQ(static_cast<int32_t *>(test.view(3, 1, 2, 3).data)[5], -1);
  ASSERT_TRUE(test.arena->poisonAll(/*internal=*/false, /*outputs=*/true).ok());
  for (size_t i = 0; i < 64; ++i)
    EXPECT_TRUE(std::isnan(output[i]));
  EXPECT_EQ(output[64], 7);

  // One slot at a time.
  auto *mask = static_cast<int32_t *>(test.view(3, 0, 2, 3).data);
  auto *other = static_cast<int32_t *>(test.view(3, 1, 2, 3).data);
  mask[0] = other[0] = 5;
  ASSERT_TRUE(test.arena->poisonSlot(3, 1).ok());
  EXPECT_EQ(mask[0], 5);
  EXPECT_EQ(other[0], -1);
  for (DType type : {DType::F16, DType::BF16, DType::F32}) {
    uint32_t ones = 0xFFFFFFFF;
    EXPECT_TRUE(std::isnan(loadAsFloat(&ones, type, 0)));
  }
}

TEST(Arena, RefusesSizesThatOverflow) {
  Program program;
  program.windows = {{"x", DType::F32, int64_t(1) << 40, int64_t(1) << 40, 8}};
  EXPECT_EQ(WindowArena::create(program, 0).message(),
            "size of window x out of range: got "
            "1099511627776x1099511627776x8, expected 1 to 4194304 slots and at "
            "most 70368744177664 bytes");
  program.windows = {{"x", DType::F32, -1, 4, 8}};
  EXPECT_FALSE(WindowArena::create(program, 0).ok());
}
