//===- OptionParsers.h - Options that benchmarks share ----------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_OPTIONPARSERS_H
#define SPARSEATTN_TOOLS_BENCH_OPTIONPARSERS_H

#include "CommandLine.h"

#include "sparseattn-rt/DType.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sart {

struct BlockSize {
  int64_t q = 128, k = 128;
};

/// Calls `parse` for every part of a comma-separated list.
Status forEachPart(const std::string &text,
                   const std::function<Status(const std::string &)> &parse);
/// "128x64".
Expected<BlockSize> parseBlock(const std::string &text);
/// A share above 0 and at most 1.
Expected<double> parseDensity(const std::string &text);
/// fp32, bf16 or fp16.
Expected<DType> parseElementType(const std::string &text);

/// Adds an option that takes a list in place of the default one.
template <typename T>
void addList(CommandLine &line, const std::string &name,
             const std::string &value, const std::string &help,
             std::vector<T> &target,
             std::function<Expected<T>(const std::string &)> parse) {
  line.addParsed(name, value, help, [&target, parse](const std::string &text) {
    target.clear();
    return forEachPart(text, [&](const std::string &part) -> Status {
      Expected<T> parsed = parse(part);
      if (!parsed)
        return parsed.status();
      target.push_back(*parsed);
      return Status::success();
    });
  });
}

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_OPTIONPARSERS_H
