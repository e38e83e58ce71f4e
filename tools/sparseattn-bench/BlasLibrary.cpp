//===- BlasLibrary.cpp - OpenBLAS, opened at run time ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BlasLibrary.h"

#include "Sample.h"

#include <cstring>
#include <dlfcn.h>

using namespace sart;

// Values of the enumerations in cblas.h, which is not needed to build.
static constexpr int kRowMajor = 101, kNoTrans = 111, kTrans = 112;

namespace {
/// Looks functions up; remembers the first one that is missing.
struct Symbols {
  void *handle;
  std::string missing;

  template <typename Function>
  void find(const char *name, Function &function) {
    void *address = dlsym(handle, name);
    if (!address && missing.empty())
      missing = name;
    static_assert(sizeof(function) == sizeof(address));
    std::memcpy(&function, &address, sizeof(address));
  }
};
} // namespace

Expected<BlasLibrary> BlasLibrary::open(const std::string &path) {
  std::string name = path.empty() ? "libopenblas.so.0" : path;
  // Stays open: its threads live as long as the process.
  void *handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return makeError("OpenBLAS: got none (", dlerror(),
                     "), expected the library installed or --blas PATH");
  BlasLibrary library;
  Symbols symbols{handle, {}};
  symbols.find("cblas_sgemm", library.sgemm);
  symbols.find("openblas_set_num_threads", library.setThreads);
  symbols.find("openblas_get_config", library.getConfig);
  symbols.find("openblas_get_corename", library.getCoreName);
  if (!symbols.missing.empty())
    return makeError("OpenBLAS: got '", name, "' without ", symbols.missing,
                     ", expected OpenBLAS");
  return library;
}

static float *floats(const HostMemory &matrix) {
  return reinterpret_cast<float *>(matrix.get());
}

Expected<double> BlasLibrary::timeProduct(int64_t n, int64_t threads) {
  if (edge != n) {
    for (HostMemory *matrix : {&a, &b, &c}) {
      *matrix = allocateHostMemory(n * n * 4);
      if (!*matrix)
        return makeError("memory of a matrix: got none for ", n * n * 4,
                         " bytes");
    }
    for (int64_t i = 0; i < n * n; ++i) {
      floats(a)[i] = static_cast<float>(i % 13) - 6;
      floats(b)[i] = static_cast<float>(i % 7) - 3;
    }
    edge = n;
  }
  auto size = static_cast<int>(n);
  setThreads(static_cast<int>(threads));
  return secondsOf([&] {
    sgemm(kRowMajor, kNoTrans, kTrans, size, size, size, 1, floats(a), size,
          floats(b), size, 0, floats(c), size);
  });
}
