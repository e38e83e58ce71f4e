//===- CudaTestSupport.h - A device of the driver's double ------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_CUDA_CUDATESTSUPPORT_H
#define SPARSEATTN_TEST_UNIT_CUDA_CUDATESTSUPPORT_H

#include "CudaMemory.h"
#include "CudaStream.h"
#include "DriverDouble.h"

#include <gtest/gtest.h>

namespace sart::cuda {

class CudaTest : public ::testing::Test {
protected:
  void TearDown() override {
    device.reset();
    EXPECT_EQ(driver.live, std::set<std::string>()) << "left behind";
  }

  std::shared_ptr<CudaDevice> open() {
    auto opened = CudaDevice::open(driver.driver(), 0);
    EXPECT_TRUE(opened.ok()) << opened.message();
    return *opened;
  }
  static std::shared_ptr<const std::string> image(const char *text) {
    return std::make_shared<const std::string>(text);
  }
  static std::shared_ptr<const std::string> cubin() {
    return image("\x7f"
                 "ELF sm_90a");
  }

  DriverDouble driver;
  std::shared_ptr<CudaDevice> device;
};

} // namespace sart::cuda

#endif // SPARSEATTN_TEST_UNIT_CUDA_CUDATESTSUPPORT_H
