//===- WindowArena.h - Memory of one rank's windows -------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_CORE_WINDOWARENA_H
#define SPARSEATTN_RUNTIME_CORE_WINDOWARENA_H

#include "sparseattn-rt/Executor.h"
#include "sparseattn-rt/MemorySpace.h"

namespace sart {

/// The caller's tensors, by the name of the window that aliases them.
enum class ExternalTensor : uint8_t { Q, K, V, O, Lse, None };
ExternalTensor externalTensorOf(std::string_view windowName);

/// Memory behind the windows of one rank. Internal windows are allocated once,
/// each slot on a 64-byte border. In host memory, input and output windows
/// alias the caller's tensors, strides included; in another space they have
/// memory of their own, which loadInputs fills and storeOutputs gives back.
class WindowArena {
public:
  static Expected<std::unique_ptr<WindowArena>>
  create(const Program &program, int64_t rank,
         MemorySpace &space = hostMemorySpace());

  /// Lets the external window of `which` alias `tensor`, which must have
  /// `rows` rows and the window's slots, row elements and dtype. Without
  /// elements it needs no memory, and its strides do not count.
  Status bind(ExternalTensor which, const Tensor &tensor, int64_t rows);
  /// Forgets the caller's tensors.
  void unbind();
  /// Copies the inputs bound since the last call into the space.
  Status loadInputs();
  /// Copies the bound outputs out of it.
  Status storeOutputs();
  MemorySpace &memory() const { return space; }

  /// Memory of `count` chunks in the flat list form of Chunk.
  Expected<SegmentList> segments(int32_t window, const int64_t *chunks,
                                 int64_t count) const;
  Expected<SegmentList> segments(int32_t window,
                                 const std::vector<int64_t> &chunks) const;
  /// The first `rows` rows of a slot; refuses a window of other row elements
  /// or too few rows.
  Expected<SlotView> view(int32_t window, int64_t slot, int64_t rows,
                          int64_t rowElements) const;
  /// Elements from the first row of a slot to that of the next.
  int64_t slotStride(int32_t window) const;
  /// Fills every row, or a slot's rows, with NaN (integers: -1).
  Status poison(int32_t window);
  Status poisonSlot(int32_t window, int64_t slot);
  /// Every internal and every bound output window.
  Status poisonAll(bool internal, bool outputs);

private:
  struct Storage {
    char *data = nullptr;
    int64_t rows = 0;
    int64_t slotBytes = 0; ///< from slot to slot
    int64_t rowBytes = 0;  ///< from row to row
    bool present = false;
  };
  /// A caller's tensor of a window with memory of its own.
  struct External {
    char *data = nullptr; ///< host memory
    int64_t slotBytes = 0, rowBytes = 0;
    bool loaded = false;
  };

  WindowArena(const Program &program, MemorySpace &space)
      : program(program), space(space) {}
  Status allocate(const Window &window, int64_t rank, Storage &memory);
  MemoryRows rowsOf(int32_t window, int64_t slot) const;
  /// Calls move(window's rows, tensor's rows) until all are moved.
  Status moveExternal(
      size_t window,
      const std::function<Status(const MemoryRows &, const MemoryRows &)> &move)
      const;
  Status checkSlot(int32_t window, int64_t slot) const;
  const Window &declared(int32_t window) const {
    return program.windows[static_cast<size_t>(window)];
  }

  const Program &program;
  MemorySpace &space;
  std::vector<Storage> storage;
  std::vector<External> externals; ///< by window, of spaces not on the host
  std::vector<std::shared_ptr<char>> owned;
};

} // namespace sart

#endif // SPARSEATTN_RUNTIME_CORE_WINDOWARENA_H
