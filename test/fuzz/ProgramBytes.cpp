//===- ProgramBytes.cpp - Fuzz target: programs as bytes ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FuzzSupport.h"
#include "ProgramMutations.h"

#include "sparseattn-rt/Executable.h"
#include "sparseattn-rt/Executor.h"
#include "sparseattn-rt/Validator.h"

#include <algorithm>

using namespace sart;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned int seed) {
  return fuzz::mutateProgramBytes(data, size, maxSize, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Expected<Program> program = deserialize(data, size);
  if (!program) {
    fuzz::requireReason(program.status());
    return 0;
  }
  std::vector<uint8_t> bytes = serialize(*program);
  fuzz::require(bytes.size() == size &&
                    std::equal(bytes.begin(), bytes.end(), data),
                "a program has one spelling");
  // Asked for before a program is judged.
  (void)requiredKernels(*program);
  fuzz::require(!explainProgram(*program).empty(),
                "every program is explained, or said to be wrong");
  std::vector<Violation> violations =
      program->bound ? validateBound(*program) : validateTemplate(*program);
  for (const Violation &violation : violations)
    fuzz::require(!violation.rule.empty() && !violation.message.empty(),
                  "a violation names its rule");
  return 0;
}
