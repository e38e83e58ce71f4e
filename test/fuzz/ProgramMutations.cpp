//===- ProgramMutations.cpp - Edits of programs as bytes ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ProgramMutations.h"

#include "ContentMutations.h"
#include "Support/ProgramMutator.h"
#include "sparseattn-rt/Program.h"

#include <algorithm>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

using namespace sart;

size_t fuzz::mutateProgramBytes(uint8_t *data, size_t size, size_t maxSize,
                                unsigned int seed) {
  if (seed % 2 == 0) {
    Expected<Program> program = deserialize(data, size);
    bool instructions =
        program && std::any_of(program->ranks.begin(), program->ranks.end(),
                               [](const auto &list) { return !list.empty(); });
    if (instructions) {
      (void)test::mutateProgram(*program, seed / 2);
      std::vector<uint8_t> bytes = serialize(*program);
      if (bytes.size() <= maxSize) {
        std::copy(bytes.begin(), bytes.end(), data);
        return bytes.size();
      }
    }
  }
  size = LLVMFuzzerMutate(data, size, maxSize);
  // Some inputs keep a hash that does not fit.
  if (seed % 64 != 1)
    repairContentHash(data, size);
  return size;
}
