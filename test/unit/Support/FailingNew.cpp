//===- FailingNew.cpp - Memory that runs out on demand --------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FailingNew.h"

#include <cstdlib>
#include <new>

thread_local int64_t sart::test::allocationsLeft = -1;

#ifndef SPARSEATTN_SANITIZERS_NEW
// Programs that use the counter get this operator new.
void *operator new(std::size_t size) {
  using sart::test::allocationsLeft;
  if (allocationsLeft == 0)
    throw std::bad_alloc();
  if (allocationsLeft > 0)
    --allocationsLeft;
  if (void *memory = std::malloc(size ? size : 1))
    return memory;
  throw std::bad_alloc();
}

void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
#endif
