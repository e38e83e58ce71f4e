//===- FailingNew.h - Memory that runs out on demand ------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_SUPPORT_FAILINGNEW_H
#define SPARSEATTN_TEST_UNIT_SUPPORT_FAILINGNEW_H

#include <cstdint>

namespace sart::test {

/// How many more times operator new works on this thread; below 0: always.
extern thread_local int64_t allocationsLeft;

} // namespace sart::test

#endif // SPARSEATTN_TEST_UNIT_SUPPORT_FAILINGNEW_H
