//===- DeviceInterpreter.h - Runs GPU kernels on the host -------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_DEVICEKERNELS_DEVICEINTERPRETER_H
#define SPARSEATTN_TEST_UNIT_DEVICEKERNELS_DEVICEINTERPRETER_H

#include "mlir/IR/BuiltinOps.h"

#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace mlir {
namespace sparseattn {

/// Runs kernels of the routing builders, before any lowering, one thread block
/// after the other, its threads in lockstep. Global memory is the host's; every
/// access must lie within a range that was allowed, or within the block's
/// shared memory. Collective operations must meet whole warps, barriers the
/// whole block. Races between warps do not show.
class DeviceInterpreter {
public:
  explicit DeviceInterpreter(ModuleOp module) : module(module) {}

  template <typename T>
  uint64_t allow(std::vector<T> &data) {
    return allow(data.data(), data.size() * sizeof(T));
  }
  uint64_t allow(void *data, size_t bytes);

  /// `arguments` are bit patterns. Returns the first error, or nothing.
  std::string run(StringRef kernel, int64_t grid, int32_t threads,
                  int64_t sharedBytes, ArrayRef<uint64_t> arguments);

  static uint64_t bitsOf(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
  }

private:
  /// Elements of a value, those of thread 0 first.
  using Lanes = std::vector<uint64_t>;
  using Mask = std::vector<char>;

  void runBlock(Block &block, const Mask &mask);
  void runOp(Operation &op, const Mask &mask);
  bool runControl(Operation &op, const Mask &mask);
  bool runMemory(Operation &op, const Mask &mask);
  bool runCollective(Operation &op, const Mask &mask);
  bool runScalar(Operation &op, const Mask &mask);
  void runAsm(Operation &op, const Mask &mask);

  Lanes &of(Value value) { return values[value.getAsOpaquePointer()]; }
  Lanes &make(Value value);
  /// Copies the active threads' elements.
  void assign(Value to, const Lanes &from, const Mask &mask);
  void assignAll(ValueRange to, ValueRange from, const Mask &mask);
  void access(void *data, uint64_t address, size_t bytes, bool write);
  void fail(const std::string &text) {
    if (error.empty())
      error = text;
  }
  bool any(const Mask &mask) const;
  bool wholeWarps(const Mask &mask) const;
  static int64_t elementsOf(Type type);
  static Type elementTypeOf(Type type);

  ModuleOp module;
  std::map<uint64_t, uint64_t> ranges; ///< begin to end
  std::map<const void *, Lanes> values;
  std::vector<char> shared;
  int32_t threads = 0;
  int64_t cta = 0;
  std::string error;
};

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_TEST_UNIT_DEVICEKERNELS_DEVICEINTERPRETER_H
