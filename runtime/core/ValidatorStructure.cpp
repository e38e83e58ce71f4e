//===- ValidatorStructure.cpp - Headers, operands and ranges --------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ValidatorContext.h"

#include <algorithm>

using namespace sart;

void sart::checkDistinct(ValidatorContext &context, const char *what,
                         std::vector<std::string_view> names) {
  std::sort(names.begin(), names.end());
  auto twin = std::adjacent_find(names.begin(), names.end());
  if (twin != names.end())
    context.addGlobal("header", "name of a ", what, " is not unique: got ",
                      *twin, " at least twice, expected once");
}

std::string sart::rangeText(Range range) {
  return concat(range.begin, "..", range.end);
}

std::string sart::rowsText(const Window &window, int64_t slot, Range rows) {
  return concat(window.name, "[", slot, "] rows ", rangeText(rows));
}

//===----------------------------------------------------------------------===//
// Header
//===----------------------------------------------------------------------===//

namespace {

/// A window that aliases a tensor of the caller.
struct ExternalWindow {
  const char *name;
  Window::Role role;
  bool keySide;
  bool lse;
};
constexpr ExternalWindow externalWindows[] = {
    {"q_shard", Window::Role::Input, false, false},
    {"k_shard", Window::Role::Input, true, false},
    {"v_shard", Window::Role::Input, true, false},
    {"o_shard", Window::Role::Output, false, false},
    {"lse_shard", Window::Role::Output, false, true},
};

const char *toString(Window::Role role) {
  return role == Window::Role::Input    ? "input"
         : role == Window::Role::Output ? "output"
                                        : "internal";
}

bool isFloat(DType type) {
  return type == DType::F32 || type == DType::BF16 || type == DType::F16;
}

void checkWindow(ValidatorContext &context, size_t index) {
  const Window &window = context.program.windows[index];
  if (window.name.empty())
    context.addGlobal("header", "name of window ", index,
                      " is empty: got \"\", expected a name");
  if (Status status = window.verify(); !status.ok())
    context.addGlobal("header", status.message());
  bool external =
      std::any_of(std::begin(externalWindows), std::end(externalWindows),
                  [&](const ExternalWindow &e) {
                    return e.name == window.name && e.role == window.role;
                  });
  if (!external && window.role != Window::Role::Internal)
    context.addGlobal("header", toString(window.role), " window ", window.name,
                      " aliases no tensor: got ", toString(window.role), " ",
                      window.name,
                      ", expected inputs q_shard, k_shard, v_shard and outputs "
                      "o_shard, lse_shard");
}

void checkExternal(ValidatorContext &context, const ExternalWindow &external) {
  const LayerShape &shape = context.shape();
  int32_t index = context.program.findWindow(external.name);
  if (index < 0 || context.window(index).role != external.role) {
    context.addGlobal("header", toString(external.role), " window ",
                      external.name, " is missing: got none, expected one");
    return;
  }
  const Window &window = context.window(index);
  int64_t rows = 0;
  for (const RankGeometry &rank : context.geometry)
    rows =
        std::max(rows, (external.keySide ? rank.kvShard : rank.qShard).size());
  int64_t slots = external.keySide ? shape.kvHeads : shape.heads;
  int64_t elements = external.lse ? 1 : shape.headDim;
  if (window.slots != slots || window.rows < rows ||
      window.rowElements != elements)
    context.addGlobal("header", "shape of window ", window.name,
                      " does not fit the layer: got ", window.slots, "x",
                      window.rows, "x", window.rowElements, ", expected ",
                      slots, "x", rows, "x", elements);
  bool input = external.role == Window::Role::Input;
  bool fits = external.lse ? window.dtype == DType::F32
              : input      ? window.dtype == shape.dtype
                           : isFloat(window.dtype);
  if (!fits)
    context.addGlobal("header", "dtype of window ", window.name,
                      " does not fit the layer: got ", toString(window.dtype),
                      ", expected ",
                      external.lse ? "f32"
                      : input      ? toString(shape.dtype)
                                   : "f32, bf16 or f16");
}

} // namespace

void sart::checkHeader(ValidatorContext &context) {
  const Program &program = context.program;
  if (Status status = program.placement.verify(); !status.ok()) {
    context.addGlobal("header", status.message());
    return;
  }
  if (Status status = program.policy.verify(); !status.ok())
    context.addGlobal("header", status.message());
  size_t lists =
      program.bound ? static_cast<size_t>(context.mesh().ranks()) : 1;
  if (program.ranks.size() != lists) {
    context.addGlobal("header", "number of instruction lists differs: got ",
                      program.ranks.size(), ", expected ", lists);
    return;
  }
  for (int64_t rank = 0; rank < context.mesh().ranks(); ++rank) {
    const Placement &placement = program.placement;
    int64_t r = placement.mesh.ringIndex(rank);
    context.geometry.push_back({placement.qBlocksOf(r), placement.kvBlocksOf(r),
                                placement.qTokensOf(r), placement.kvTokensOf(r),
                                placement.qShardOf(rank),
                                placement.kvShardOf(rank)});
  }
  for (size_t i = 0; i < program.windows.size() && !context.full(); ++i)
    checkWindow(context, i);
  std::vector<std::string_view> names;
  names.reserve(program.windows.size());
  for (const Window &window : program.windows)
    names.push_back(window.name);
  checkDistinct(context, "window", std::move(names));
  for (const ExternalWindow &external : externalWindows)
    checkExternal(context, external);
  const LayerShape &shape = context.shape();
  if (!program.bound)
    return;
  if (!program.mask) {
    context.addGlobal("header", "mask of a bound program is missing: got none, "
                                "expected one");
    return;
  }
  const BlockMask &mask = *program.mask;
  if (mask.heads() != shape.heads || mask.qBlocks() != shape.qBlocks() ||
      mask.kvBlocks() != shape.kvBlocks())
    context.addGlobal("header", "mask shape differs: got ", mask.heads(), "x",
                      mask.qBlocks(), "x", mask.kvBlocks(), ", expected ",
                      shape.heads, "x", shape.qBlocks(), "x", shape.kvBlocks());
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

namespace {

/// What windows of the layer hold, for dtype rules.
enum class Holds { Any, Input, Float, F32Rows, Scalar, Mask, Summary };

bool fits(const Placement &placement, const Window &window, Holds holds) {
  const LayerShape &shape = placement.shape;
  auto rowsOf = [&](DType type, int64_t elements) {
    return window.dtype == type && window.rowElements == elements;
  };
  switch (holds) {
  case Holds::Any:
    return true;
  case Holds::Input:
    return rowsOf(shape.dtype, shape.headDim);
  case Holds::Float:
    return isFloat(window.dtype) && window.rowElements == shape.headDim;
  case Holds::F32Rows:
    return rowsOf(DType::F32, shape.headDim);
  case Holds::Scalar:
    return rowsOf(DType::F32, 1);
  case Holds::Mask:
    return rowsOf(DType::I32, 1 + shape.kvBlocks());
  case Holds::Summary:
    return rowsOf(DType::I32, MaskSummary::recordWords(placement));
  }
  return false;
}

std::string describe(const Placement &placement, Holds holds) {
  const LayerShape &shape = placement.shape;
  switch (holds) {
  case Holds::Any:
    return "any rows";
  case Holds::Input:
    return concat(toString(shape.dtype), " rows of ", shape.headDim);
  case Holds::Float:
    return concat("f32, bf16 or f16 rows of ", shape.headDim);
  case Holds::F32Rows:
    return concat("f32 rows of ", shape.headDim);
  case Holds::Scalar:
    return "f32 rows of 1";
  case Holds::Mask:
    return concat("i32 rows of ", 1 + shape.kvBlocks());
  case Holds::Summary:
    return concat("i32 rows of ", MaskSummary::recordWords(placement));
  }
  return "";
}

/// Per opcode: what each window holds, and which are written.
struct WindowRules {
  Holds holds[6] = {};
  uint8_t written = 0;   ///< bit per window
  bool sameRows = false; ///< all windows: same dtype and row size
  bool sameSize = false; ///< all windows: same slots and rows
};

WindowRules rulesOf(Opcode opcode) {
  using H = Holds;
  switch (opcode) {
  case Opcode::AllToAll:
  case Opcode::AllGather:
  case Opcode::Pack:
  case Opcode::Put:
    return {{}, 0b10, true, false};
  case Opcode::Pool:
    return {{H::Input, H::F32Rows}, 0b10};
  case Opcode::Route:
    return {{H::F32Rows, H::F32Rows, H::Mask, H::Summary}, 0b1100};
  case Opcode::Plan:
    return {{H::Summary}, 0};
  case Opcode::LoadMask:
    return {{H::Mask}, 0b1};
  case Opcode::Recv:
    return {{}, 0b1};
  case Opcode::Attend:
    return {{H::Input, H::Input, H::Input, H::Mask, H::Float, H::Scalar},
            0b110000};
  case Opcode::Merge:
    return {
        {H::F32Rows, H::Scalar, H::F32Rows, H::Scalar}, 0b1100, false, true};
  case Opcode::Augment:
    return {{H::F32Rows, H::F32Rows, H::Mask}, 0b100};
  case Opcode::Convert:
    return {{H::Float, H::Float}, 0b10, false, true};
  case Opcode::Send:
  case Opcode::Signal:
  case Opcode::Wait:
  case Opcode::WaitSignal:
  case Opcode::Release:
    return {};
  }
  return {};
}

bool checkWindowRules(ValidatorContext &context, int64_t rank, size_t index,
                      const Instruction &instruction) {
  WindowRules rules = rulesOf(instruction.opcode);
  const Window *first = nullptr;
  for (size_t i = 0; i < instruction.windows.size(); ++i) {
    const Window &window = context.window(instruction.windows[i]);
    if (!fits(context.program.placement, window, rules.holds[i])) {
      context.add("structure", rank, index, "rows of window ", window.name,
                  " do not fit operand ", i, ": got ", toString(window.dtype),
                  " rows of ", window.rowElements, ", expected ",
                  describe(context.program.placement, rules.holds[i]));
      return false;
    }
    bool written = (rules.written >> i) & 1;
    if (written && window.role == Window::Role::Input) {
      context.add("structure", rank, index, "window ", window.name,
                  " is written: got an input, expected an internal or output "
                  "window");
      return false;
    }
    // Copies may stay inside a window, and a put writes that of the peer.
    bool copies =
        instruction.opcode == Opcode::Pack || instruction.opcode == Opcode::Put;
    for (size_t j = 0; j < i && !copies; ++j)
      if (written && instruction.windows[j] == instruction.windows[i]) {
        context.add("structure", rank, index, "window ", window.name,
                    " is used twice: got operands ", j, " and ", i,
                    ", expected different windows");
        return false;
      }
    if (!first) {
      first = &window;
      continue;
    }
    if (rules.sameRows && (window.dtype != first->dtype ||
                           window.rowElements != first->rowElements)) {
      context.add("structure", rank, index, "rows of window ", window.name,
                  " differ from those of ", first->name, ": got ",
                  toString(window.dtype), " rows of ", window.rowElements,
                  ", expected ", toString(first->dtype), " rows of ",
                  first->rowElements);
      return false;
    }
    if (rules.sameSize &&
        (window.slots != first->slots || window.rows != first->rows)) {
      context.add("structure", rank, index, "size of window ", window.name,
                  " differs from that of ", first->name, ": got ", window.slots,
                  "x", window.rows, ", expected ", first->slots, "x",
                  first->rows);
      return false;
    }
  }
  if (!first)
    return true;
  if (instruction.opcode == Opcode::Release &&
      first->role != Window::Role::Internal) {
    context.add("structure", rank, index, "window ", first->name,
                " is released: got an ", toString(first->role),
                ", expected an internal window");
    return false;
  }
  if (instruction.opcode == Opcode::Plan &&
      first->slots != context.mesh().ranks() * context.shape().heads) {
    context.add("structure", rank, index, "slots of window ", first->name,
                " do not fit the layer: got ", first->slots, ", expected ",
                context.mesh().ranks() * context.shape().heads);
    return false;
  }
  return true;
}

} // namespace

bool sart::checkOperands(ValidatorContext &context, int64_t rank,
                         size_t index) {
  const Instruction &instruction =
      context.program.ranks[rank < 0 ? 0 : static_cast<size_t>(rank)][index];
  const OpcodeInfo &info = infoOf(instruction.opcode);
  auto count = [](const auto &list) { return static_cast<int>(list.size()); };
  if (count(instruction.windows) != info.numWindows ||
      count(instruction.lists) != info.numLists) {
    context.add("structure", rank, index, "number of operands differs: got ",
                instruction.windows.size(), " windows and ",
                instruction.lists.size(), " lists, expected ", info.numWindows,
                " and ", info.numLists);
    return false;
  }
  for (int32_t window : instruction.windows) {
    if (window < 0 || window >= count(context.program.windows)) {
      context.add("structure", rank, index, "window out of range: got ", window,
                  ", expected 0 to ", count(context.program.windows) - 1);
      return false;
    }
  }
  bool hasPeer =
      instruction.peer.isSymbol() || !instruction.peer.values.empty();
  if (!info.peer && hasPeer) {
    context.add("structure", rank, index,
                info.collective ? "collective depends on a peer: got a peer"
                                : "peer is not allowed: got one",
                ", expected none");
    return false;
  }
  if (info.token != (instruction.token >= 0) || instruction.token < -1 ||
      instruction.token >= maxTransferTokens) {
    context.add("token", rank, index, "token out of range: got ",
                instruction.token, ", expected ",
                info.token ? concat("0 to ", maxTransferTokens - 1) : "-1");
    return false;
  }
  if (!instruction.waits.empty() && instruction.opcode != Opcode::Wait) {
    context.add("structure", rank, index,
                "awaited tokens are not allowed: got ",
                instruction.waits.size(), ", expected 0");
    return false;
  }
  return checkWindowRules(context, rank, index, instruction);
}
