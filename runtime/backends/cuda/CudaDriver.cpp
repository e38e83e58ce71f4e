//===- CudaDriver.cpp - CUDA driver API opened at run time ----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaDriver.h"

#include <dlfcn.h>

using namespace sart;
using namespace sart::cuda;

Expected<CudaDriver>
CudaDriver::fromSymbols(const char *library,
                        void *(*find)(void *, const char *), void *context) {
  CudaDriver driver;
  std::string missing;
// A type that is written in parts cannot stand in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define SART_CUDA_FIND(member, symbol, parameters)                             \
  driver.member =                                                              \
      reinterpret_cast<Result(*) parameters>(find(context, #symbol));          \
  if (!driver.member)                                                          \
    missing += missing.empty() ? #symbol : ", " #symbol;
  // NOLINTEND(bugprone-macro-parentheses)
  SART_CUDA_FUNCTIONS(SART_CUDA_FIND)
#undef SART_CUDA_FIND
  if (!missing.empty())
    return makeError("functions of the cuda driver: got ", library, " without ",
                     missing, ", expected a driver of CUDA 12.0 or newer");
  return driver;
}

Expected<std::shared_ptr<const CudaDriver>> CudaDriver::open(const char *path) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    return makeError("cuda driver: got '", reason ? reason : "no reason",
                     "', expected the library ", path, " of an NVIDIA driver");
  }
  std::shared_ptr<void> library(handle, [](void *open) { dlclose(open); });
  auto driver = fromSymbols(
      path, [](void *open, const char *symbol) { return dlsym(open, symbol); },
      handle);
  if (!driver)
    return driver.status();
  driver->library = std::move(library);
  // The first call that needs a device: it fails where there is none.
  SART_RETURN_IF_ERROR(driver->check(driver->init(0), "cuInit(flags 0)"));
  return std::shared_ptr<const CudaDriver>(
      std::make_shared<CudaDriver>(std::move(*driver)));
}

std::string CudaDriver::describe(Result result) const {
  const char *name = nullptr, *text = nullptr;
  if (!getErrorName || getErrorName(result, &name) != success || !name)
    return concat("error ", result, ", which the driver does not know");
  if (!getErrorString || getErrorString(result, &text) != success || !text)
    return name;
  return concat(name, " (", text, ")");
}

Status CudaDriver::failed(Result result, const std::string &call) const {
  return makeError(call, ": got ", describe(result), ", expected success");
}
