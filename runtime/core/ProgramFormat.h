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

#include "ContentHeader.h"

namespace sart {

constexpr ContentHeader programHeader = {"program", "SAPROG", 2};

} // namespace sart

#endif // SPARSEATTN_RT_CORE_PROGRAMFORMAT_H
