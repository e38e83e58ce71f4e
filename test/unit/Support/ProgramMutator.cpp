//===- ProgramMutator.cpp - Random edits of bound programs ----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/ProgramMutator.h"

#include <algorithm>
#include <random>

using namespace sart;
using namespace sart::test;

namespace {

class Mutator {
public:
  Mutator(Program &program, uint64_t seed) : program(program), random(seed) {}

  ProgramEdit run() {
    for (;;) {
      rank = below(program.ranks.size());
      if (program.ranks[rank].empty())
        continue;
      index = below(list().size());
      std::string what = edit();
      if (!what.empty())
        return {kind, std::string(opcode),
                concat("rank ", rank, " instruction ", index, " (", opcode,
                       "): ", what)};
    }
  }

private:
  size_t below(size_t end) { return static_cast<size_t>(random() % end); }
  std::vector<Instruction> &list() { return program.ranks[rank]; }
  Instruction &here() { return list()[index]; }
  std::ptrdiff_t at(size_t i) const { return static_cast<std::ptrdiff_t>(i); }

  /// Wraps: programs from outside hold any integer.
  static int64_t added(int64_t value, int64_t difference) {
    return static_cast<int64_t>(static_cast<uint64_t>(value) +
                                static_cast<uint64_t>(difference));
  }

  /// One edit; empty: this one has nothing to change here.
  std::string edit() {
    opcode = toString(here().opcode);
    switch (below(13)) {
    case 0:
      kind = "drop";
      list().erase(list().begin() + at(index));
      return "dropped";
    case 1:
      kind = "double";
      list().insert(list().begin() + at(index), Instruction(here()));
      return "doubled";
    case 2: {
      kind = "swap";
      size_t other = below(list().size());
      std::swap(here(), list()[other]);
      return other == index ? "" : concat("swapped with ", other);
    }
    case 3: {
      kind = "reorder";
      Instruction moved = here();
      size_t to = below(list().size());
      list().erase(list().begin() + at(index));
      list().insert(list().begin() + at(to), std::move(moved));
      return to == index ? "" : concat("moved to ", to);
    }
    case 4:
      kind = "retarget";
      return changePeer();
    case 5:
      kind = "window";
      return changeWindow();
    case 6:
      kind = "token";
      return changeToken();
    case 7:
      kind = "phase";
      here().phase =
          static_cast<int32_t>(added(here().phase, below(2) ? 1 : -1));
      return concat("phase now ", here().phase);
    case 8:
      kind = "group";
      return changeGroup();
    case 9:
    case 10:
      kind = "resize";
      return changeEntry();
    default:
      kind = "resize";
      return changeInteger();
    }
  }

  std::string changePeer() {
    if (here().peer.values.empty())
      return "";
    int64_t old = here().peer.values[0];
    here().peer.values[0] = static_cast<int64_t>(below(program.ranks.size()));
    return old == here().peer.values[0]
               ? ""
               : concat("peer now ", here().peer.values[0]);
  }

  std::string changeWindow() {
    if (here().windows.empty() || program.windows.empty())
      return "";
    int32_t &window = here().windows[below(here().windows.size())];
    int32_t old = window;
    window = static_cast<int32_t>(below(program.windows.size()));
    return old == window ? "" : concat("window ", old, " now ", window);
  }

  std::string changeToken() {
    if (!here().waits.empty()) {
      size_t i = below(here().waits.size());
      if (below(2)) {
        here().waits.erase(here().waits.begin() + at(i));
        return concat("wait ", i, " dropped");
      }
      here().waits[i] = static_cast<int32_t>(below(24));
      return concat("wait ", i, " now for ", here().waits[i]);
    }
    if (here().token < 0)
      return "";
    here().token = static_cast<int32_t>(below(24));
    return concat("token now ", here().token);
  }

  std::string changeGroup() {
    if (here().opcode != Opcode::AllToAll && here().opcode != Opcode::AllGather)
      return "";
    auto old = here().group;
    here().group = static_cast<Group>(below(3));
    return old == here().group ? "" : "group changed";
  }

  std::vector<int64_t> *someList() {
    if (here().lists.empty())
      return nullptr;
    std::vector<int64_t> &values =
        here().lists[below(here().lists.size())].values;
    return values.empty() ? nullptr : &values;
  }

  /// Drops, doubles or swaps whole entries of a list.
  std::string changeEntry() {
    std::vector<int64_t> *values = someList();
    if (!values)
      return "";
    bool work =
        here().opcode == Opcode::Attend || here().opcode == Opcode::LoadMask;
    size_t ints = work                              ? workInts
                  : values->size() % chunkInts == 0 ? chunkInts
                                                    : 1;
    // Programs from outside hold lists of any length.
    ints = std::min(ints, values->size());
    size_t entries = values->size() / ints;
    size_t a = below(entries), b = below(entries);
    auto begin = values->begin();
    switch (below(3)) {
    case 0:
      values->erase(begin + at(a * ints), begin + at((a + 1) * ints));
      return concat("entry ", a, " dropped");
    case 1: {
      std::vector<int64_t> entry(begin + at(a * ints),
                                 begin + at((a + 1) * ints));
      values->insert(values->end(), entry.begin(), entry.end());
      return concat("entry ", a, " doubled");
    }
    default:
      if (a == b)
        return "";
      std::swap_ranges(begin + at(a * ints), begin + at((a + 1) * ints),
                       begin + at(b * ints));
      return concat("entries ", a, " and ", b, " swapped");
    }
  }

  std::string changeInteger() {
    std::vector<int64_t> *values = someList();
    if (!values)
      return "";
    size_t i = below(values->size());
    int64_t &value = (*values)[i];
    int64_t old = value;
    switch (below(4)) {
    case 0:
      value = added(value, 1);
      break;
    case 1:
      value = added(value, -1);
      break;
    case 2:
      value = static_cast<int64_t>(below(static_cast<size_t>(
          std::max<int64_t>(2, std::clamp<int64_t>(old, 0, 4096) * 2))));
      break;
    default:
      value = (*values)[below(values->size())];
      break;
    }
    return value == old ? "" : concat("integer ", i, " ", old, " now ", value);
  }

  Program &program;
  std::mt19937_64 random;
  size_t rank = 0, index = 0;
  const char *kind = "";
  std::string_view opcode;
};

} // namespace

ProgramEdit test::editProgram(Program &program, uint64_t seed) {
  return Mutator(program, seed).run();
}

std::string test::mutateProgram(Program &program, uint64_t seed) {
  return editProgram(program, seed).text;
}
