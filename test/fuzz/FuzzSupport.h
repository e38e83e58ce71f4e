//===- FuzzSupport.h - What fuzz targets share ---------------- -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fuzz target is one function that a libFuzzer binary calls with many inputs:
// LLVMFuzzerTestOneInput in a file of this folder. It hands the input to a
// reader and must neither crash nor hang; what the reader accepts, it checks
// further. test/fuzz/run_fuzzers.py runs them.
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_FUZZ_FUZZSUPPORT_H
#define SPARSEATTN_TEST_FUZZ_FUZZSUPPORT_H

#include "sparseattn-rt/Status.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace sart::fuzz {

/// Ends the process, which makes the input a finding, unless `condition`.
inline void require(bool condition, const char *what,
                    std::string_view detail = "") {
  if (condition)
    return;
  std::fprintf(stderr, "requirement not met: %s: %.*s\n", what,
               static_cast<int>(detail.size()), detail.data());
  std::abort();
}

/// A refusal must give a reason.
inline void requireReason(const Status &status) {
  require(!status.ok() && !status.message().empty(), "an error has a message");
}

inline std::string_view textOf(const uint8_t *data, size_t size) {
  return {reinterpret_cast<const char *>(data), size};
}

} // namespace sart::fuzz

#endif // SPARSEATTN_TEST_FUZZ_FUZZSUPPORT_H
