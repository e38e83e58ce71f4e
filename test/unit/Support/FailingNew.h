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

/// Whether the counter has an effect: sanitizers bring an operator new.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SPARSEATTN_SANITIZERS_NEW
#endif
#endif
#ifdef SPARSEATTN_SANITIZERS_NEW
constexpr bool allocationsCanFail = false;
#else
constexpr bool allocationsCanFail = true;
#endif

/// How many more times operator new works on this thread; below 0: always.
extern thread_local int64_t allocationsLeft;

} // namespace sart::test

#endif // SPARSEATTN_TEST_UNIT_SUPPORT_FAILINGNEW_H
