//===- TraceFileWriter.cpp - Writes block-mask traces ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/TraceFile.h"

using namespace sart;

namespace {
/// Appends little-endian integers.
class Writer {
public:
  explicit Writer(std::vector<uint8_t> &bytes) : bytes(bytes) {}
  template <typename Int>
  void put(int64_t value) {
    for (size_t i = 0; i < sizeof(Int); ++i)
      bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }

private:
  std::vector<uint8_t> &bytes;
};
} // namespace

std::vector<uint8_t> TraceFile::serialize() const {
  std::vector<uint8_t> bytes = {'B', 'M', 'T', '1'};
  Writer writer(bytes);
  for (int64_t value :
       {order.grid[0], order.grid[1], order.grid[2],
        static_cast<int64_t>(order.kind), tokens, heads, qTiles, kvTiles, tileQ,
        tileK, static_cast<int64_t>(instances.size()),
        static_cast<int64_t>((hasRows ? 1 : 0) | (hasMasks ? 2 : 0)), topPMilli,
        rowBytes()})
    writer.put<uint32_t>(value);
  for (const Instance &instance : instances) {
    writer.put<uint32_t>(instance.layer);
    writer.put<uint32_t>(instance.step);
    for (int64_t load : instance.loads)
      writer.put<uint32_t>(load);
    if (hasRows)
      for (uint16_t row : instance.rows)
        writer.put<uint16_t>(row);
    if (hasMasks)
      bytes.insert(bytes.end(), instance.maskBits.begin(),
                   instance.maskBits.end());
  }
  return bytes;
}
