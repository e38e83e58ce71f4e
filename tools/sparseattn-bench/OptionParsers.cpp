//===- OptionParsers.cpp - Options that benchmarks share ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "OptionParsers.h"

#include <cstdlib>

using namespace sart;

Status
sart::forEachPart(const std::string &text,
                  const std::function<Status(const std::string &)> &parse) {
  size_t begin = 0;
  while (true) {
    size_t end = text.find(',', begin);
    SART_RETURN_IF_ERROR(parse(text.substr(begin, end - begin)));
    if (end == std::string::npos)
      return Status::success();
    begin = end + 1;
  }
}

Expected<BlockSize> sart::parseBlock(const std::string &text) {
  size_t cross = text.find('x');
  if (cross == std::string::npos)
    return makeError("--block: got '", text,
                     "', expected QxK, for example 128x128");
  Expected<int64_t> q =
      parseInteger("--block Q", text.substr(0, cross), 16, 128);
  if (!q)
    return q.status();
  Expected<int64_t> k =
      parseInteger("--block K", text.substr(cross + 1), 16, 128);
  if (!k)
    return k.status();
  return BlockSize{*q, *k};
}

Expected<double> sart::parseDensity(const std::string &text) {
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value > 0 && value <= 1))
    return makeError("--density: got '", text,
                     "', expected a number above 0 and at most 1");
  return value;
}

Expected<DType> sart::parseElementType(const std::string &text) {
  if (text == "fp32")
    return DType::F32;
  if (text == "bf16")
    return DType::BF16;
  if (text == "fp16")
    return DType::F16;
  return makeError("--dtype: got '", text, "', expected fp32, bf16 or fp16");
}
