//===- ProgramRun.cpp - Fuzz target: programs that are accepted run -------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FuzzSupport.h"
#include "ProgramMutations.h"

#include "Support/ProgramRun.h"
#include "sparseattn-rt/Validator.h"

using namespace sart;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned int seed) {
  return fuzz::mutateProgramBytes(data, size, maxSize, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Expected<Program> program = deserialize(data, size);
  if (!program || !test::isSmall(*program))
    return 0;
  // An executor that trusts its program still refuses what it cannot hold.
  ExecutorOptions trusting;
  trusting.validate = false;
  static const std::shared_ptr<Backend> backend =
      createReferenceBackend(nullptr);
  auto executor = Executor::create(*program, backend, trusting);
  if (!executor)
    fuzz::requireReason(executor.status());
  if (Status valid = validate(*program); !valid.ok()) {
    fuzz::requireReason(valid);
    return 0;
  }
  Status status = test::ProgramRun(program->placement.shape).run(*program);
  // What routing makes of a template is judged when it is there.
  fuzz::require(status.ok() || !program->bound, "a valid program runs",
                status.message());
  return 0;
}
