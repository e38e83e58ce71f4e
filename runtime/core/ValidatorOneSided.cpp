//===- ValidatorOneSided.cpp - Puts, signals and what they order ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A put touches the peer's memory without the peer's doing, so one walk of the
// ranks does not show every order. Vector clocks (per rank, how far it knows
// the others to be) tell whether the peer's last release of the slot, or its
// clearing of the flag, must have happened before.
//
//===----------------------------------------------------------------------===//

#include "SymbolicRun.h"

#include <algorithm>

using namespace sart;

void SymbolicRun::put() {
  int64_t peer = here().peer.values[0];
  std::vector<Run> &runs = inFlight[static_cast<size_t>(id)];
  read(rank, here().windows[0], ChunkList(here().lists[0].values), runs);
  openReads[static_cast<size_t>(rank)].push_back({id, peer});
  flags[{rank, peer}].puts.push_back(id);
  for (Chunk chunk : ChunkList(here().lists[1].values)) {
    Range rows{chunk.rowBegin, chunk.rowEnd};
    if (rows.empty())
      continue;
    int64_t released =
        memory.rows(peer, here().windows[1], chunk.slot).releasedAt;
    // Without a signal in between the peer might still be reading.
    if (oneSided &&
        released >=
            clocks[static_cast<size_t>(rank)][static_cast<size_t>(peer)])
      fail("lifetime", "into ",
           rowsText(windowOf(here().windows[1]), chunk.slot, rows), " of rank ",
           peer, " that may not be free: got a release at instruction ",
           released, " of rank ", peer,
           " unordered with the put, expected a signal after it");
    write(peer, here().windows[1], chunk.slot, rows, {}, RowState::Putting, id);
  }
}

void SymbolicRun::raiseSignal() {
  int64_t peer = here().peer.values[0];
  postedClocks[static_cast<size_t>(id)] = clocks[static_cast<size_t>(rank)];
  Flag &flag = flags[{rank, peer}];
  if (flag.lastSignal >= 0) {
    int32_t cleared = schedule.partner[static_cast<size_t>(flag.lastSignal)];
    if (static_cast<int32_t>(schedule.indexOf(cleared)) >=
        clocks[static_cast<size_t>(rank)][static_cast<size_t>(peer)])
      fail("signal",
           "raises a flag that may be raised: got the signal of "
           "instruction ",
           schedule.indexOf(flag.lastSignal),
           " not known to be cleared, expected news from rank ", peer,
           " after its instruction ", schedule.indexOf(cleared));
  }
  flag.lastSignal = id;
  std::vector<OpenRead> &open = openReads[static_cast<size_t>(rank)];
  open.erase(std::remove_if(
                 open.begin(), open.end(),
                 [peer](const OpenRead &read) { return read.putTo == peer; }),
             open.end());
}

void SymbolicRun::awaitSignal() {
  int64_t peer = here().peer.values[0];
  int32_t signal = schedule.partner[static_cast<size_t>(id)];
  join(postedClocks[static_cast<size_t>(signal)]);
  std::vector<int32_t> &puts = flags[{peer, rank}].puts;
  size_t done = 0;
  for (; done < puts.size() && puts[done] < signal; ++done) {
    const Instruction &posted =
        context.list(peer)[schedule.indexOf(puts[done])];
    arrive(posted.windows[1], ChunkList(posted.lists[1].values),
           inFlight[static_cast<size_t>(puts[done])], peer, puts[done]);
  }
  puts.erase(puts.begin(), puts.begin() + static_cast<std::ptrdiff_t>(done));
}
