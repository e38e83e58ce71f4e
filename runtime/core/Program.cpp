//===- Program.cpp - Names, lists and lookups of programs -----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sparseattn-rt/Program.h"

#include "OpcodeInfo.h"

#include <algorithm>
#include <cmath>

using namespace sart;

std::string_view sart::toString(Opcode opcode) { return infoOf(opcode).name; }

void sart::appendChunk(std::vector<int64_t> &list, const Chunk &chunk) {
  list.insert(list.end(), {chunk.slot, chunk.rowBegin, chunk.rowEnd});
}

std::vector<Chunk> sart::toChunks(const std::vector<int64_t> &list) {
  std::vector<Chunk> chunks;
  chunks.reserve(list.size() / chunkInts);
  for (Chunk chunk : ChunkList(list))
    chunks.push_back(chunk);
  return chunks;
}

void sart::appendWork(std::vector<int64_t> &list, const Work &work) {
  list.insert(list.end(),
              {work.head, work.qSlot, work.kvSlot, work.qBegin, work.qEnd,
               work.kvBegin, work.kvEnd, work.budget, work.origin});
}

std::vector<Work> sart::toWork(const std::vector<int64_t> &list) {
  std::vector<Work> entries;
  entries.reserve(list.size() / workInts);
  for (Work work : WorkList(list))
    entries.push_back(work);
  return entries;
}

Status Window::verify() const {
  bool sane =
      slots >= 1 && slots <= maxWindowSlots && rows >= 0 && rowElements >= 1;
  int64_t slotBytes = saturatingMul(std::max<int64_t>(rows, 1), rowBytes());
  if (!sane || saturatingMul(slots, slotBytes) > maxWindowBytes)
    return makeError("size of window ", name, " out of range: got ", slots, "x",
                     rows, "x", rowElements, ", expected 1 to ", maxWindowSlots,
                     " slots and at most ", maxWindowBytes, " bytes");
  return Status::success();
}

static Status checkBlocks(const char *what, int64_t blocks) {
  if (blocks < 0 || blocks > maxPolicyBlocks)
    return makeError(what, " of the routing policy out of range: got ", blocks,
                     ", expected 0 to ", maxPolicyBlocks);
  return Status::success();
}

Status RoutingPolicy::verify() const {
  if (!std::isfinite(p))
    return makeError("p of the routing policy is not finite: got ", p,
                     ", expected a finite number");
  SART_RETURN_IF_ERROR(checkBlocks("min_blocks", minBlocks));
  SART_RETURN_IF_ERROR(checkBlocks("k", k));
  SART_RETURN_IF_ERROR(checkBlocks("window blocks", windowBlocks));
  for (const Range &range : keep)
    if (range.begin < 0 || range.end < range.begin ||
        range.end > maxPolicyBlocks)
      return makeError("kept range of the routing policy out of range: got ",
                       range.begin, "..", range.end, ", expected within 0..",
                       maxPolicyBlocks);
  return Status::success();
}

int32_t Program::findWindow(std::string_view windowName) const {
  for (size_t i = 0; i < windows.size(); ++i)
    if (windows[i].name == windowName)
      return static_cast<int32_t>(i);
  return -1;
}

int32_t Program::findSymbol(std::string_view symbolName) const {
  for (size_t i = 0; i < symbols.size(); ++i)
    if (symbols[i].name == symbolName)
      return static_cast<int32_t>(i);
  return -1;
}
