//===- ProgramFormat.h - Layout of serialised programs ----------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All numbers little-endian, floats by their bits, counts unsigned 32 bits,
// strings and lists preceded by their count:
//
//   "SAPROG" u16:version u64:FNV-1a of body
//   body = name mesh shape scale policy planner u8:bound windows symbols
//          ranks statics mask
//
// The order of the fields is that of the structs in Program.h, Planner.h and
// Placement.h. Any change of it, of an enum's values or of an operand's meaning
// raises the version.
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_CORE_PROGRAMFORMAT_H
#define SPARSEATTN_RT_CORE_PROGRAMFORMAT_H

#include <cstddef>
#include <cstdint>

namespace sart {

constexpr char programMagic[6] = {'S', 'A', 'P', 'R', 'O', 'G'};
constexpr uint16_t programVersion = 1;
constexpr size_t programHeaderBytes = sizeof(programMagic) + 2 + 8;

/// FNV-1a, 64 bits.
inline uint64_t hashBytes(const uint8_t *bytes, size_t size) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < size; ++i)
    hash = (hash ^ bytes[i]) * 0x100000001b3ull;
  return hash;
}

} // namespace sart

#endif // SPARSEATTN_RT_CORE_PROGRAMFORMAT_H
