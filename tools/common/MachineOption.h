//===- MachineOption.h - --machine ------------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_COMMON_MACHINEOPTION_H
#define SPARSEATTN_TOOLS_COMMON_MACHINEOPTION_H

#include "sparseattn-rt/Machine.h"

#include <string>

namespace sart {

/// The file that --machine names: a path, or, where there is no such file, the
/// name of one in share/sparseattn/machines beside the command's folder, with
/// or without `.json`.
std::string machinePath(const std::string &name);

/// Reads it; errors name the option and the file.
Expected<Machine> loadMachine(const std::string &name);

} // namespace sart

#endif // SPARSEATTN_TOOLS_COMMON_MACHINEOPTION_H
