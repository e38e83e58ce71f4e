//===- JsonDocument.h - JSON read strictly ----------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_PLANNING_JSONDOCUMENT_H
#define SPARSEATTN_RT_PLANNING_JSONDOCUMENT_H

#include "sparseattn-rt/Status.h"

#include <nlohmann/json.hpp>

#include <string_view>

namespace sart {

/// Reads one JSON value that ends with the text. Refuses a member that occurs
/// twice, more than 64 levels or 1,024 members of one object, and what JSON
/// does; errors name the line.
Expected<nlohmann::ordered_json> parseJson(std::string_view text);

} // namespace sart

#endif // SPARSEATTN_RT_PLANNING_JSONDOCUMENT_H
