//===- ProgramMutations.h - Edits of programs as bytes -------- -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_FUZZ_PROGRAMMUTATIONS_H
#define SPARSEATTN_TEST_FUZZ_PROGRAMMUTATIONS_H

#include <cstddef>
#include <cstdint>

namespace sart::fuzz {

/// A mutator for libFuzzer: an edit of the bytes or, where they are a program,
/// of one instruction; then the content hash is made to fit again.
size_t mutateProgramBytes(uint8_t *data, size_t size, size_t maxSize,
                          unsigned int seed);

} // namespace sart::fuzz

#endif // SPARSEATTN_TEST_FUZZ_PROGRAMMUTATIONS_H
