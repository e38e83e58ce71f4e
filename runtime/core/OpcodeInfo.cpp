//===- OpcodeInfo.cpp - What operands each opcode takes -------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpcodeInfo.h"

using namespace sart;

namespace {

constexpr ListInfo chunksOf(int8_t window, int8_t second = -1) {
  return {ListKind::Chunks, window, second};
}
constexpr ListInfo counts = {ListKind::Counts, 0, -1};
constexpr ListInfo work = {ListKind::Work, 0, -1};
constexpr ListInfo slots = {ListKind::Slots, 0, -1};
constexpr ListInfo side = {ListKind::Side, 0, -1};

// name, windows, lists, {lists}, collective, peer, token, routing
constexpr OpcodeInfo table[numOpcodes] = {
    {"all_to_all", 2, 4, {chunksOf(0), counts, chunksOf(1), counts}, true},
    {"all_gather", 2, 3, {chunksOf(0), chunksOf(1), counts}, true},
    {"pool", 2, 2, {work, side}, false, false, false, true},
    {"route", 4, 1, {work}, false, false, false, true},
    {"plan", 1, 0, {}, true, false, false, true},
    {"load_mask", 1, 1, {work}},
    {"pack", 2, 2, {chunksOf(0), chunksOf(1)}},
    {"send", 1, 1, {chunksOf(0)}, false, true, true},
    {"recv", 1, 1, {chunksOf(0)}, false, true, true},
    {"put", 2, 2, {chunksOf(0), chunksOf(1)}, false, true},
    {"signal", 0, 0, {}, false, true},
    {"wait", 0, 0, {}},
    {"wait_signal", 0, 0, {}, false, true},
    {"attend", 6, 1, {work}},
    {"merge", 4, 1, {chunksOf(0, 2)}},
    {"release", 1, 1, {slots}},
    {"augment", 3, 1, {work}, false, false, false, true},
    {"convert", 2, 1, {chunksOf(0, 1)}},
};

} // namespace

const OpcodeInfo &sart::infoOf(Opcode opcode) {
  return table[static_cast<size_t>(opcode)];
}

std::vector<int64_t> sart::groupMembers(const Mesh &mesh, Group group,
                                        int64_t rank) {
  std::vector<int64_t> members;
  int64_t size = groupSize(mesh, group);
  members.reserve(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i) {
    if (group == Group::All)
      members.push_back(i);
    else if (group == Group::Ulysses)
      members.push_back(mesh.rankOf(i, mesh.ringIndex(rank)));
    else
      members.push_back(mesh.rankOf(mesh.ulyssesIndex(rank), i));
  }
  return members;
}

std::vector<bool> sart::queryWindows(const Program &program) {
  std::vector<bool> result(program.windows.size(), false);
  for (const std::vector<Instruction> &list : program.ranks)
    for (const Instruction &instruction : list)
      if (instruction.opcode == Opcode::Attend)
        result[static_cast<size_t>(instruction.windows[0])] = true;
  return result;
}

const char *sart::toString(Group group) {
  return group == Group::All       ? "all"
         : group == Group::Ulysses ? "ulysses"
                                   : "ring";
}
