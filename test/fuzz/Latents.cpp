//===- Latents.cpp - Fuzz target: the example's clips ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FuzzSupport.h"

#include "Latents.h"
#include "Support.h"

#include <cmath>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

/// A file of latents, in memory.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const int file = memfd_create("latents", 0);
  sart::fuzz::require(file >= 0 && ftruncate(file, 0) == 0 &&
                          pwrite(file, data, size, 0) ==
                              static_cast<ssize_t>(size),
                      "a file in memory");
  try {
    dit::Latents latents =
        dit::readLatents("/proc/self/fd/" + std::to_string(file));
    sart::fuzz::require(
        latents.values.size() ==
            static_cast<size_t>(latents.tokens() * dit::channels),
        "values have the size of the grid");
    for (float value : latents.values)
      sart::fuzz::require(!std::isnan(value), "values are numbers");
  } catch (const dit::Error &error) {
    sart::fuzz::require(*error.what() != 0, "an error has a message");
  }
  return 0;
}
