//===- TensorMapTest.cpp - Tensor maps and what is refused ----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaTensorMap.h"
#include "CudaTestSupport.h"

using namespace sart;
using namespace sart::cuda;

namespace {

TensorMapView sample() {
  TensorMapView view;
  view.address = 0x1000;
  view.columns = 128;
  view.rows = 8423;
  view.heads = 28;
  view.rowBytes = 256;
  view.headBytes = 8423 * 256;
  return view;
}

} // namespace

TEST_F(CudaTest, TensorMapOfContiguousHeads) {
  auto table = driver.driver();
  auto map = encodeTensorMap(*table, sample(), "window q");
  ASSERT_TRUE(map.ok()) << map.message();
  const DoubleMap &record = driver.mapOf(map->bytes);
  EXPECT_EQ(record.type, tensorMapBFloat16);
  EXPECT_EQ(record.address, reinterpret_cast<void *>(0x1000));
  EXPECT_EQ(record.sizes, (std::vector<uint64_t>{128, 8423, 28, 1}));
  EXPECT_EQ(record.strides[0], 256u);
  EXPECT_EQ(record.strides[1], 8423u * 256);
  EXPECT_EQ(record.strides[2], 256u) << "one batch: its stride is not used";
  EXPECT_EQ(record.box, (std::vector<uint32_t>{64, 128, 1, 1}));
  EXPECT_EQ(record.elementStrides, (std::vector<uint32_t>{1, 1, 1, 1}));
  EXPECT_EQ(record.interleave, tensorMapInterleaveNone);
  EXPECT_EQ(record.swizzle, tensorMapSwizzle128);
  EXPECT_EQ(record.promotion, tensorMapPromotion256);
  EXPECT_EQ(record.fill, tensorMapFillZero);
}

TEST_F(CudaTest, TensorMapStridesOfEveryLayout) {
  auto table = driver.driver();
  // [batch, tokens, heads, dim]: heads stand inside a row.
  TensorMapView inside = sample();
  inside.dtype = DType::F16;
  inside.rowBytes = 28 * 256;
  inside.headBytes = 256;
  inside.batch = 2;
  inside.batchBytes = int64_t(8423) * 28 * 256;
  auto map = encodeTensorMap(*table, inside, "q");
  ASSERT_TRUE(map.ok()) << map.message();
  const DoubleMap &record = driver.mapOf(map->bytes);
  EXPECT_EQ(record.type, tensorMapFloat16);
  EXPECT_EQ(record.strides,
            (std::vector<uint64_t>{28 * 256, 256, uint64_t(8423) * 28 * 256}));
  // q, k and v packed in one row; more bytes than 32 bits count.
  TensorMapView packed = sample();
  packed.rows = 299521;
  packed.rowBytes = 3 * 28 * 256;
  packed.headBytes = (int64_t(1) << 33) + 48;
  map = encodeTensorMap(*table, packed, "q");
  ASSERT_TRUE(map.ok()) << map.message();
  EXPECT_EQ(driver.mapOf(map->bytes).strides[1], (uint64_t(1) << 33) + 48);
  // A single row of a single head needs no strides.
  TensorMapView one = sample();
  one.rows = one.heads = 1;
  one.rowBytes = one.headBytes = 0;
  EXPECT_TRUE(encodeTensorMap(*table, one, "q").ok());
}

TEST_F(CudaTest, TensorMapRefusals) {
  auto table = driver.driver();
  auto errorOf = [&](auto change) {
    TensorMapView view = sample();
    change(view);
    return encodeTensorMap(*table, view, "window k_all").message();
  };
  EXPECT_EQ(errorOf([](TensorMapView &v) { v.dtype = DType::F32; }),
            "dtype of window k_all for a tensor map: got f32, expected bf16 or "
            "f16");
  EXPECT_EQ(errorOf([](TensorMapView &v) { v.address = 0x1008; }),
            "address of window k_all for a tensor map: got 4104, expected a "
            "multiple of 16");
  EXPECT_EQ(errorOf([](TensorMapView &v) { v.address = 0; }),
            "address of window k_all for a tensor map: got 0, expected a "
            "multiple of 16");
  EXPECT_EQ(errorOf([](TensorMapView &v) { v.rows = 0; }),
            "rows of window k_all for a tensor map: got 0, expected 1 to "
            "4294967296");
  EXPECT_EQ(errorOf([](TensorMapView &v) { v.batch = (int64_t(1) << 32) + 1; }),
            "batch of window k_all for a tensor map: got 4294967297, expected "
            "1 to 4294967296");
  EXPECT_EQ(errorOf([](TensorMapView &v) { v.rowBytes = 264; }),
            "row stride of window k_all for a tensor map: got 264 bytes, "
            "expected a multiple of 16 from 16 to 1099511627760");
  EXPECT_EQ(errorOf([](TensorMapView &v) { v.headBytes = 0; }),
            "head stride of window k_all for a tensor map: got 0 bytes, "
            "expected a multiple of 16 from 16 to 1099511627760");
  EXPECT_EQ(errorOf([](TensorMapView &v) { v.headBytes = -256; }),
            "head stride of window k_all for a tensor map: got -256 bytes, "
            "expected a multiple of 16 from 16 to 1099511627760");
  EXPECT_EQ(errorOf([](TensorMapView &v) { v.headBytes = int64_t(1) << 40; }),
            "head stride of window k_all for a tensor map: got 1099511627776 "
            "bytes, expected a multiple of 16 from 16 to 1099511627760");
  EXPECT_EQ(errorOf([](TensorMapView &v) { v.boxRows = 257; }),
            "box rows of window k_all for a tensor map: got 257, expected 1 to "
            "256");
  EXPECT_EQ(errorOf([](TensorMapView &v) { v.boxColumns = 32; }),
            "box columns of window k_all for a tensor map: got 32, expected "
            "64");
  EXPECT_EQ(driver.count("cuTensorMapEncodeTiled"), 0u)
      << "the driver was not asked";
  driver.fail("cuTensorMapEncodeTiled", errorInvalidValue);
  EXPECT_EQ(errorOf([](TensorMapView &) {}),
            "cuTensorMapEncodeTiled(window k_all, bf16, sizes 128x8423x28x1, "
            "strides 256, 2156288, 256 bytes, box 64x128): got "
            "CUDA_ERROR_INVALID_VALUE (text of it), expected success");
}

TEST(CudaTensorMap, EveryElementTypeHasItsOwnNumber) {
  std::set<int> numbers;
  for (DType dtype :
       {DType::F32, DType::BF16, DType::F16, DType::I32, DType::I64})
    numbers.insert(tensorMapType(dtype));
  EXPECT_EQ(numbers,
            (std::set<int>{tensorMapFloat32, tensorMapBFloat16,
                           tensorMapFloat16, tensorMapInt32, tensorMapInt64}));
  EXPECT_EQ(tensorMapType(DType::BF16), tensorMapBFloat16);
  EXPECT_EQ(tensorMapType(DType::F16), tensorMapFloat16);
  EXPECT_EQ(tensorMapType(DType::F32), tensorMapFloat32);
  EXPECT_EQ(tensorMapType(DType::I32), tensorMapInt32);
}
