//===- CublasLibrary.cpp - cuBLAS, opened at run time ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CublasLibrary.h"

#include <cstring>
#include <dlfcn.h>

using namespace sart;

// Values of the enumerations in cublas_api.h and library_types.h, which are
// not needed to build.
static constexpr int kNoTranspose = 0, kHalf = 2, kBFloat16 = 14,
                     kComputeFloat = 68, kDefaultAlgorithm = -1;

Status CublasLibrary::check(int result, const char *call) const {
  if (result == 0)
    return Status::success();
  return makeError(call, "(): got status ", result, ", expected success");
}

Expected<std::unique_ptr<CublasLibrary>>
CublasLibrary::open(const std::string &path,
                    std::shared_ptr<cuda::CudaStream> stream) {
  std::vector<std::string> names{path};
  if (path.empty())
    names = {"libcublas.so.13", "libcublas.so.12"};
  void *opened = nullptr;
  std::string reason;
  for (const std::string &name : names) {
    // Stays open: it has state as long as the context lives.
    opened = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened)
      break;
    if (reason.empty())
      reason = dlerror();
  }
  if (!opened)
    return makeError("cuBLAS: got none (", reason,
                     "), expected the library installed or --cublas PATH");
  std::unique_ptr<CublasLibrary> library(new CublasLibrary(std::move(stream)));
  std::string missing;
  auto find = [&](const char *name, auto &function) {
    void *address = dlsym(opened, name);
    if (!address)
      missing = name;
    static_assert(sizeof(function) == sizeof(address));
    std::memcpy(&function, &address, sizeof(address));
  };
  find("cublasCreate_v2", library->create);
  find("cublasDestroy_v2", library->destroy);
  find("cublasGetVersion_v2", library->getVersion);
  find("cublasSetStream_v2", library->setStream);
  find("cublasGemmEx", library->gemm);
  if (!missing.empty()) {
    library->destroy = nullptr;
    return makeError("cuBLAS: got '", path, "' without ", missing,
                     ", expected cuBLAS");
  }
  SART_RETURN_IF_ERROR(
      library->check(library->create(&library->handle), "cublasCreate"));
  int version = 0;
  SART_RETURN_IF_ERROR(library->check(
      library->getVersion(library->handle, &version), "cublasGetVersion"));
  library->versionText =
      concat(version / 10000, ".", version % 10000 / 100, ".", version % 100);
  SART_RETURN_IF_ERROR(library->check(
      library->setStream(library->handle, library->stream->handle()),
      "cublasSetStream"));
  return library;
}

CublasLibrary::~CublasLibrary() {
  if (handle && destroy)
    destroy(handle);
}

static void *pointer(cuda::DevicePtr address) {
  return reinterpret_cast<void *>(static_cast<uintptr_t>(address));
}

Status CublasLibrary::product(int64_t n, DType dtype, cuda::DevicePtr a,
                              cuda::DevicePtr b, cuda::DevicePtr c) {
  float one = 1, zero = 0;
  auto size = static_cast<int>(n);
  int type = dtype == DType::BF16 ? kBFloat16 : kHalf;
  return check(gemm(handle, kNoTranspose, kNoTranspose, size, size, size, &one,
                    pointer(a), type, size, pointer(b), type, size, &zero,
                    pointer(c), type, size, kComputeFloat, kDefaultAlgorithm),
               "cublasGemmEx");
}
