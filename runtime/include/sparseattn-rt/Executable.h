//===- Executable.h - Compiled kernels and how to call them -----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_EXECUTABLE_H
#define SPARSEATTN_RT_EXECUTABLE_H

#include "sparseattn-rt/Program.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sart {

/// Strided view in the layout that MLIR's C interface expects.
template <typename T, int Rank>
struct MemRef {
  T *allocated = nullptr;
  T *aligned = nullptr;
  int64_t offset = 0;
  int64_t sizes[Rank] = {};
  int64_t strides[Rank] = {};
};

/// What a kernel is specialised on. Mask content never is.
struct KernelSpec {
  /// OrderTiles, Merge and Convert are kernels of devices alone; a host does
  /// that work itself.
  enum class Kind : uint8_t {
    Attend = 0,
    Pool = 1,
    Route = 2,
    OrderTiles = 3,
    Merge = 4,
    Convert = 5
  };
  Kind kind = Kind::Attend;
  DType dtype = DType::F32;    ///< q, k, v (attend), x (pool), source (convert)
  DType outDtype = DType::F32; ///< o (attend), target (convert)
  int64_t headDim = 128;
  int64_t blockQ = 128; ///< block of q (attend), of x (pool)
  int64_t blockK = 128; ///< attend
  bool causal = false;  ///< attend
  /// attend_f32_f32_d128_q128_k128[_causal], pool_f32_d128_b128, route_d128,
  /// order_tiles, merge_f32, convert_f32_bf16
  std::string name() const;
  /// Compares what the kind is specialised on, that is, what name() says.
  bool operator==(const KernelSpec &o) const;
};

/// The kernel for windows of these dtypes in `program`.
KernelSpec attendKernel(const Program &program, DType inputs, DType output);
KernelSpec poolKernel(const Program &program, DType input, bool keySide);
KernelSpec routeKernel(const Program &program);
KernelSpec convertKernel(DType from, DType to);

/// Kernels a program's instructions need, without duplicates.
std::vector<KernelSpec> requiredKernels(const Program &program);
/// The same on a device, which also orders tiles, merges and converts by
/// kernels.
std::vector<KernelSpec> requiredDeviceKernels(const Program &program);

/// How a kernel of a device is launched. Host kernels have none.
struct DeviceLaunch {
  std::string entry;       ///< the function's name in the binary
  int32_t threads = 0;     ///< per CTA
  int32_t sharedBytes = 0; ///< dynamic shared memory, allowed before launch
  bool persistent = false; ///< grid = min(SMs, ceil(tiles / tilesPerCta));
                           ///< else the task's own grid
  int32_t tilesPerCta = 1; ///< persistent: tiles a CTA works on at once
  int32_t tileRows = 0;    ///< attend: rows of q per tile
  int32_t qBoxRows = 0;    ///< attend: rows of a tensor map box of q
  int32_t kvBoxRows = 0;   ///< attend: of k and v
  int32_t boxCols = 0;     ///< attend: columns of every box
  bool operator==(const DeviceLaunch &o) const;
};

/// One kernel of an executable, by the name of its spec.
struct ExecutableKernel {
  std::string name;
  int64_t scratchBytes = 0;           ///< attend: fixed
  int64_t scratchBytesPerKvBlock = 0; ///< route: plus this per kv-block
  std::optional<DeviceLaunch> launch = std::nullopt; ///< kernels of a device
};

/// A compiled binary and the kernels in it, before a loader of its kind makes
/// them callable: what crosses from the compiler to a cache or a saved bundle.
struct Executable {
  std::vector<ExecutableKernel> kernels;
  std::string binary; ///< relocatable object of a host CPU, or a cubin
};

/// Versioned bytes of an executable, with a hash of their content.
std::vector<uint8_t> serialize(const Executable &executable);
/// Total on any input. Refuses names that are empty or given twice and scratch
/// sizes outside of 0 to 2^40 bytes, and launches no device can do.
Expected<Executable> deserializeExecutable(const uint8_t *bytes, size_t size);

/// One loaded kernel. `entry` is the C interface function; its arguments are
/// memref descriptors by pointer (MemRef) and scalars by value, one call for
/// one q-block row (attend, route) or one head (pool):
///
/// attend(MemRef<T,2> *q, *k, *v, MemRef<To,2> *o, MemRef<float,1> *lse,
///        MemRef<int32_t,1> *idx, MemRef<int8_t,1> *scratch,
///        intptr_t qRow, intptr_t diag, float scale)
/// pool(MemRef<T,2> *x, MemRef<float,2> *y, intptr_t blockBegin,
///      intptr_t blockEnd)
/// route(MemRef<float,2> *pooledQ, *pooledK, MemRef<int32_t,1> *out,
///       MemRef<int8_t,1> *scratch, intptr_t row, intptr_t visible,
///       float scale, float p, intptr_t minBlocks, MemRef<int32_t,1> *keep,
///       MemRef<float,1> *stats)
struct LoadedKernel {
  KernelSpec spec;
  void *entry = nullptr;
  int64_t scratchBytes = 0;           ///< attend: fixed
  int64_t scratchBytesPerKvBlock = 0; ///< route: plus this per kv-block
  std::shared_ptr<void> owner;        ///< keeps the code alive
  /// A kernel of a device has these in place of an entry: the backend loads
  /// `binary` (a cubin, or PTX text) on the device that runs it.
  std::optional<DeviceLaunch> launch = std::nullopt;
  std::shared_ptr<const std::string> binary = nullptr;
};

/// Set of kernels, looked up by spec.
class KernelTable {
public:
  void add(LoadedKernel kernel) { kernels.push_back(std::move(kernel)); }
  const LoadedKernel *find(const KernelSpec &spec) const;
  /// The kernel of a device whose function is called `entry`. Kernels that
  /// route (DeviceRouting.h) are found so: some specs need several functions.
  const LoadedKernel *findEntry(std::string_view entry) const;
  size_t size() const { return kernels.size(); }

private:
  std::vector<LoadedKernel> kernels;
};

} // namespace sart

#endif // SPARSEATTN_RT_EXECUTABLE_H
