/*===- RandomNumber.c - arc4random on older systems ----------------*- C -*-===*
 *
 * Part of the sparseattn project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * The one function that would ask for glibc 2.36, in place of which the linker
 * puts this one (--wrap). LLVM names temporary files with it.
 *
 *===----------------------------------------------------------------------===*/
#include <sys/random.h>

#include <stdint.h>
#include <time.h>

uint32_t __wrap_arc4random(void);

uint32_t __wrap_arc4random(void) {
  uint32_t value;
  struct timespec now;
  if (getrandom(&value, sizeof value, 0) == (ssize_t)sizeof value)
    return value;
  /* A kernel that refuses: names need to differ, not to be secret. */
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint32_t)now.tv_nsec * 2654435761u ^ (uint32_t)(uintptr_t)&value;
}
