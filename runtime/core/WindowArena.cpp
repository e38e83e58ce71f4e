//===- WindowArena.cpp - Memory of one rank's windows ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "WindowArena.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

using namespace sart;

/// Kernels load whole cache lines from the start of a slot.
static constexpr int64_t slotAlignment = 64;
/// NaN in every floating-point format, -1 in every integer one.
static constexpr uint8_t poisonByte = 0xFF;

ExternalTensor sart::externalTensorOf(std::string_view windowName) {
  if (windowName == "q_shard")
    return ExternalTensor::Q;
  if (windowName == "k_shard")
    return ExternalTensor::K;
  if (windowName == "v_shard")
    return ExternalTensor::V;
  if (windowName == "o_shard")
    return ExternalTensor::O;
  if (windowName == "lse_shard")
    return ExternalTensor::Lse;
  return ExternalTensor::None;
}

Status WindowArena::allocate(const Window &window, int64_t rank,
                             Storage &memory) {
  SART_RETURN_IF_ERROR(window.verify());
  bool external = window.role != Window::Role::Internal;
  if (external && externalTensorOf(window.name) == ExternalTensor::None)
    return makeError("external window has no tensor: got ", window.name,
                     ", expected q_shard, k_shard, v_shard, o_shard or "
                     "lse_shard");
  if (external && space.onHost())
    return Status::success();
  memory.rowBytes = window.rowBytes();
  memory.slotBytes = (window.rows * memory.rowBytes + slotAlignment - 1) /
                     slotAlignment * slotAlignment;
  memory.rows = window.rows;
  memory.present = !external;
  // Zeros: rows nobody writes still travel inside whole mask rows.
  auto allocated = space.allocate(
      window.slots * memory.slotBytes,
      concat("memory of window ", window.name, " on rank ", rank));
  if (!allocated)
    return allocated.status();
  memory.data = allocated->get();
  owned.push_back(std::move(*allocated));
  return Status::success();
}

Expected<std::unique_ptr<WindowArena>>
WindowArena::create(const Program &program, int64_t rank, MemorySpace &space) {
  std::unique_ptr<WindowArena> arena(new WindowArena(program, space));
  for (const Window &window : program.windows) {
    Storage memory;
    SART_RETURN_IF_ERROR(arena->allocate(window, rank, memory));
    arena->storage.push_back(memory);
  }
  arena->externals.resize(program.windows.size());
  return arena;
}

static const char *nameOf(ExternalTensor which) {
  static constexpr const char *names[] = {"q", "k", "v", "o", "lse", "none"};
  return names[static_cast<int>(which)];
}

/// Whether rows of [slots, rows, elements] may share memory: neither slots lie
/// between the rows of one slot nor rows between those of one row number.
static bool rowsOverlap(const std::array<int64_t, 3> &sizes,
                        const std::array<int64_t, 3> &strides) {
  int64_t slot = std::abs(strides[0]), row = std::abs(strides[1]);
  if (sizes[0] <= 1)
    return sizes[1] > 1 && row < sizes[2];
  if (sizes[1] <= 1)
    return slot < sizes[2];
  int64_t inner = std::min(slot, row), outer = std::max(slot, row);
  int64_t steps = (slot < row ? sizes[0] : sizes[1]) - 1;
  return inner < sizes[2] || (outer - sizes[2]) / inner < steps;
}

Status WindowArena::bind(ExternalTensor which, const Tensor &tensor,
                         int64_t rows) {
  for (size_t i = 0; i < storage.size(); ++i) {
    const Window &window = program.windows[i];
    if (window.role == Window::Role::Internal ||
        externalTensorOf(window.name) != which)
      continue;
    const char *name = nameOf(which);
    const auto &sizes = tensor.sizes;
    const auto &strides = tensor.strides;
    if (tensor.dtype != window.dtype)
      return makeError("dtype of tensor ", name, " does not match: got ",
                       toString(tensor.dtype), ", expected ",
                       toString(window.dtype));
    if (sizes[0] != window.slots || sizes[1] != rows ||
        sizes[2] != window.rowElements)
      return makeError("shape of tensor ", name, " does not match: got ",
                       sizes[0], "x", sizes[1], "x", sizes[2], ", expected ",
                       window.slots, "x", rows, "x", window.rowElements);
    if (rows > window.rows)
      return makeError("rows of window ", window.name, " do not suffice: got ",
                       window.rows, ", expected at least ", rows);
    bool empty = sizes[0] == 0 || sizes[1] == 0 || sizes[2] == 0;
    if (!empty && !tensor.data)
      return makeError("data of tensor ", name,
                       " missing: got a null pointer, expected ", sizes[0], "x",
                       sizes[1], "x", sizes[2], " elements");
    if (!empty && sizes[2] > 1 && strides[2] != 1)
      return makeError("innermost stride of tensor ", name,
                       " not supported: got ", strides[2], ", expected 1");
    std::optional<int64_t> slotBytes =
        checkedMul(strides[0], byteSize(tensor.dtype));
    std::optional<int64_t> rowBytes =
        checkedMul(strides[1], byteSize(tensor.dtype));
    if (!slotBytes || !rowBytes)
      return makeError("strides of tensor ", name, " out of range: got ",
                       strides[0], ", ", strides[1],
                       ", expected below 2^63 bytes");
    bool output = which == ExternalTensor::O || which == ExternalTensor::Lse;
    if (!empty && output && rowsOverlap(sizes, strides))
      return makeError("rows of output tensor ", name, " overlap: got strides ",
                       strides[0], ", ", strides[1], ", expected at least ",
                       sizes[2]);
    // A tensor without elements may have no address: nothing steps over it.
    if (empty)
      slotBytes = rowBytes = 0;
    Storage &target = storage[i];
    auto *data = static_cast<char *>(tensor.data);
    target.rows = rows;
    target.present = true;
    if (space.onHost()) {
      target.data = data;
      target.slotBytes = *slotBytes;
      target.rowBytes = *rowBytes;
    } else {
      externals[i] = {data, *slotBytes, *rowBytes, false};
    }
  }
  return Status::success();
}

void WindowArena::unbind() {
  for (size_t i = 0; i < storage.size(); ++i) {
    if (program.windows[i].role == Window::Role::Internal)
      continue;
    externals[i] = External();
    if (space.onHost())
      storage[i] = Storage();
    else
      storage[i].present = false;
  }
}

MemoryRows WindowArena::rowsOf(int32_t window, int64_t slot) const {
  const Storage &memory = storage[static_cast<size_t>(window)];
  return {memory.data + slot * memory.slotBytes, memory.rowBytes,
          declared(window).rowBytes(), memory.rows};
}

Status WindowArena::moveExternal(
    size_t window,
    const std::function<Status(const MemoryRows &, const MemoryRows &)> &move)
    const {
  const External &tensor = externals[window];
  int64_t slots = program.windows[window].slots;
  auto number = static_cast<int32_t>(window);
  // Tensors without gaps go at once.
  MemoryRows first = rowsOf(number, 0);
  int64_t dense = first.width * first.rows;
  if (tensor.rowBytes == first.width && tensor.slotBytes == dense &&
      storage[window].slotBytes == dense && slots > 0) {
    first.rows *= slots;
    return move(first, {tensor.data, first.width, first.width, first.rows});
  }
  for (int64_t slot = 0; slot < slots; ++slot) {
    MemoryRows rows = rowsOf(number, slot);
    SART_RETURN_IF_ERROR(move(rows, {tensor.data + slot * tensor.slotBytes,
                                     tensor.rowBytes, rows.width, rows.rows}));
  }
  return Status::success();
}

Status WindowArena::loadInputs() {
  for (size_t i = 0; i < externals.size(); ++i) {
    External &tensor = externals[i];
    if (!tensor.data || tensor.loaded ||
        program.windows[i].role != Window::Role::Input)
      continue;
    tensor.loaded = true;
    SART_RETURN_IF_ERROR(
        moveExternal(i, [&](const MemoryRows &own, const MemoryRows &given) {
          return space.fromHost(own, given);
        }));
  }
  return Status::success();
}

Status WindowArena::storeOutputs() {
  for (size_t i = 0; i < externals.size(); ++i) {
    if (!externals[i].data || program.windows[i].role != Window::Role::Output)
      continue;
    SART_RETURN_IF_ERROR(
        moveExternal(i, [&](const MemoryRows &own, const MemoryRows &given) {
          return space.toHost(given, own);
        }));
  }
  return Status::success();
}

Status WindowArena::checkSlot(int32_t window, int64_t slot) const {
  const Window &shape = declared(window);
  if (!storage[static_cast<size_t>(window)].present)
    return makeError("window ", shape.name,
                     " has no tensor in this part of the run");
  if (slot < 0 || slot >= shape.slots)
    return makeError("slot of window ", shape.name, " out of range: got ", slot,
                     ", expected 0 to ", shape.slots - 1);
  return Status::success();
}

static void append(SegmentList &list, char *data, int64_t bytes) {
  if (bytes == 0)
    return;
  if (!list.empty() &&
      static_cast<char *>(list.back().data) + list.back().bytes == data)
    list.back().bytes += bytes;
  else
    list.push_back({data, bytes});
}

Expected<SegmentList> WindowArena::segments(int32_t window,
                                            const int64_t *chunks,
                                            int64_t count) const {
  const Window &shape = declared(window);
  const Storage &memory = storage[static_cast<size_t>(window)];
  int64_t bytes = shape.rowBytes();
  SegmentList list;
  for (int64_t i = 0; i < count; ++i) {
    int64_t slot = chunks[i * chunkInts], begin = chunks[i * chunkInts + 1],
            end = chunks[i * chunkInts + 2];
    SART_RETURN_IF_ERROR(checkSlot(window, slot));
    if (begin < 0 || end < begin || end > memory.rows)
      return makeError("rows of window ", shape.name, " out of range: got ",
                       begin, " to ", end, ", expected within 0 to ",
                       memory.rows);
    char *base = memory.data + slot * memory.slotBytes;
    if (memory.rowBytes == bytes) {
      append(list, base + begin * bytes, (end - begin) * bytes);
      continue;
    }
    for (int64_t row = begin; row < end; ++row)
      append(list, base + row * memory.rowBytes, bytes);
  }
  return list;
}

Expected<SegmentList>
WindowArena::segments(int32_t window,
                      const std::vector<int64_t> &chunks) const {
  auto ints = static_cast<int64_t>(chunks.size());
  if (ints % chunkInts != 0)
    return makeError("length of a chunk list does not match: got ", ints,
                     ", expected a multiple of ", chunkInts);
  return segments(window, chunks.data(), ints / chunkInts);
}

Expected<SlotView> WindowArena::view(int32_t window, int64_t slot, int64_t rows,
                                     int64_t rowElements) const {
  SART_RETURN_IF_ERROR(checkSlot(window, slot));
  const Window &shape = declared(window);
  const Storage &memory = storage[static_cast<size_t>(window)];
  if (shape.rowElements != rowElements)
    return makeError("row elements of window ", shape.name,
                     " do not match: got ", shape.rowElements, ", expected ",
                     rowElements);
  if (rows < 0 || memory.rows < rows)
    return makeError("rows of window ", shape.name, " do not suffice: got ",
                     memory.rows, ", expected at least ", rows);
  SlotView view;
  view.data = memory.data + slot * memory.slotBytes;
  view.dtype = shape.dtype;
  view.rows = rows;
  view.rowStride = memory.rowBytes / byteSize(shape.dtype);
  view.rowElements = rowElements;
  view.slot = slot;
  view.slots = shape.slots;
  view.slotStride = slotStride(window);
  return view;
}

int64_t WindowArena::slotStride(int32_t window) const {
  return storage[static_cast<size_t>(window)].slotBytes /
         byteSize(declared(window).dtype);
}

Status WindowArena::poison(int32_t window) {
  if (!storage[static_cast<size_t>(window)].present)
    return Status::success();
  for (int64_t slot = 0; slot < declared(window).slots; ++slot)
    SART_RETURN_IF_ERROR(space.fill(rowsOf(window, slot), poisonByte));
  return Status::success();
}

Status WindowArena::poisonSlot(int32_t window, int64_t slot) {
  SART_RETURN_IF_ERROR(checkSlot(window, slot));
  return space.fill(rowsOf(window, slot), poisonByte);
}

Status WindowArena::poisonAll(bool internal, bool outputs) {
  for (size_t i = 0; i < storage.size(); ++i) {
    Window::Role role = program.windows[i].role;
    if ((role == Window::Role::Internal && internal) ||
        (role == Window::Role::Output && outputs))
      SART_RETURN_IF_ERROR(poison(static_cast<int32_t>(i)));
  }
  return Status::success();
}
