//===- MutationSurvivors.cpp - Why accepted edits are right ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules that a valid program keeps leave some freedom. The interpreter has
// given the base's output for every survivor; this says why it must.
//
//===----------------------------------------------------------------------===//
#include "MutationCampaign.h"

using namespace sart;

namespace {

struct Reason {
  const char *kind, *opcode, *why;
};

constexpr const char *order =
    "instructions in between do not depend on each other";
constexpr const char *phase =
    "a phase is a label of time: order, peers and content are unchanged, and "
    "phases still ascend";

/// Exactly the edits that were seen to survive (test/benchmarks/mutator.json);
/// a new one needs a reason of its own.
constexpr Reason reasons[] = {
    {"drop", "release",
     "a slot that is not written again need not be released"},
    {"double", "release", "rows without content stay without content"},
    {"resize", "release",
     "slots that are not written again may be released or not, twice, and in "
     "any order"},
    {"window", "release",
     "the other window's slot is not read later, this one's is not written "
     "later"},
    {"drop", "put", "the rows that it writes are never read"},
    {"resize", "put", "the rows are never read, or both lists changed alike"},
    {"window", "put",
     "the rows are never read, or both windows hold the same rows"},
    {"swap", "all_to_all", order},
    {"swap", "attend", order},
    {"swap", "put", order},
    {"swap", "recv", order},
    {"swap", "release", order},
    {"swap", "send", order},
    {"swap", "signal", order},
    {"swap", "wait", order},
    {"reorder", "all_to_all", order},
    {"reorder", "attend", order},
    {"reorder", "put", order},
    {"reorder", "recv", order},
    {"reorder", "release", order},
    {"reorder", "send", order},
    {"reorder", "signal", order},
    {"reorder", "wait", order},
    {"phase", "all_to_all", phase},
    {"phase", "attend", phase},
    {"phase", "convert", phase},
    {"phase", "load_mask", phase},
    {"phase", "put", phase},
    {"phase", "release", phase},
    {"phase", "signal", phase},
    {"phase", "wait", phase},
    {"phase", "wait_signal", phase},
    {"group", "all_to_all",
     "on a mesh with one axis the group has the same members"},
    {"resize", "all_to_all",
     "chunks without rows may name any slot, and equal chunks may change "
     "places"},
    {"resize", "attend",
     "the budget is not read, tiles outside of the mask add nothing, and tasks "
     "may change places"},
    {"resize", "load_mask",
     "a row of the mask is loaded whole whatever its kv-blocks, and loading it "
     "twice or in another order is the same"},
    {"resize", "convert", "chunks may change places or be converted twice"},
    {"resize", "merge",
     "a row without visible keys merges to itself, and chunks may change "
     "places"},
    {"window", "attend", "both windows hold the same rows"},
    {"window", "all_to_all", "both windows hold the same rows"},
    {"window", "send", "both windows hold the same rows"},
};

} // namespace

std::string test::survivorReason(const std::string &kind,
                                 const std::string &opcode) {
  for (const Reason &reason : reasons)
    if (kind == reason.kind && opcode == reason.opcode)
      return reason.why;
  return "";
}
