//===- GpuTensorsTest.cpp - Tensors in GPU memory through the C API -------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Over the driver's stand-in, whose device memory ends a process that touches
// it.
//
//===----------------------------------------------------------------------===//
#include "CapiTestSupport.h"
#include "CudaMemory.h"

#include <dlfcn.h>

using namespace capi_test;
using namespace sart::cuda;

TEST(GpuTensors, AreRefusedWhereTheHostReadsThem) {
  // Libraries opened later by the name alone are this one.
  ASSERT_NE(::dlopen(SPARSEATTN_STAND_IN, RTLD_NOW), nullptr) << ::dlerror();
  auto driver = CudaDriver::open();
  ASSERT_TRUE(driver.ok()) << driver.message();
  auto device = CudaDevice::open(*driver, 0);
  ASSERT_TRUE(device.ok()) << device.message();
  auto memory = DeviceMemory::allocate(*device, 1 << 20, "tensor");
  ASSERT_TRUE(memory.ok()) << memory.message();

  Shape shape;
  shape.sq = shape.skv = 3 * 8 * 8;
  shape.dim = shape.block = 64;
  shape.order = "#sparseattn.order<hilbert, grid = [3, 8, 8]>";
  std::vector<uint16_t> q(shape.heads * shape.sq * shape.dim), k(q), v(q),
      out(q);
  std::vector<float> lse(shape.heads * shape.sq);
  auto tensor = [&](void *data, sa_dtype dtype, int64_t heads,
                    int64_t elements) {
    return sa_tensor{data,
                     dtype,
                     {heads, shape.sq, elements},
                     {shape.sq * elements, elements, 1}};
  };
  Engine engine = makeEngine("cuda");
  ASSERT_TRUE(engine);
  sa_layer_options options = layerOptions();
  options.dtype = "bf16";
  Layer layer = makeLayer(engine.get(), routedText(shape), options);
  ASSERT_TRUE(layer);
  sa_tensor tensors[5] = {tensor(q.data(), SA_BF16, shape.heads, shape.dim),
                          tensor(k.data(), SA_BF16, shape.kvHeads, shape.dim),
                          tensor(v.data(), SA_BF16, shape.kvHeads, shape.dim),
                          tensor(out.data(), SA_BF16, shape.heads, shape.dim),
                          tensor(lse.data(), SA_F32, shape.heads, 1)};
  auto run = [&] {
    return sa_layer_run_whole(layer.get(), &tensors[0], &tensors[1],
                              &tensors[2], &tensors[3], &tensors[4], nullptr,
                              nullptr);
  };
  ASSERT_SA_OK(run());
  const char *names[5] = {"q", "k", "v", "out", "lse"};
  for (int i = 0; i < 5; ++i) {
    void *host = tensors[i].data;
    tensors[i].data = reinterpret_cast<void *>(memory->address() + 64);
    EXPECT_SA_ERROR(run(), (std::string("data of ") + names[i] +
                            ": got GPU memory in a layer with permute ops, "
                            "expected host memory")
                               .c_str());
    int64_t row = 0;
    double value = 0;
    if (i < 3)
      EXPECT_SA_ERROR(sa_layer_reference(layer.get(), &tensors[0], &tensors[1],
                                         &tensors[2], 0, &row, 1, nullptr,
                                         nullptr, &value),
                      (std::string("data of ") + names[i] +
                       ": got GPU memory for the reference, expected host "
                       "memory")
                          .c_str());
    tensors[i].data = host;
  }
  EXPECT_EQ(run(), SA_OK) << sa_last_error();
}
