//===- Summary.cpp - The figures of one run as text -----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Summary.h"

#include <cstdio>

using namespace sart;

static std::string listText(const int64_t *values, int64_t count) {
  std::string text = "[";
  for (int64_t i = 0; i < count; ++i)
    text += (i ? " " : "") + std::to_string(values[i]);
  return text + "]";
}

std::string sart::makeSummary(const sa_layer_info &info,
                              const sa_run_stats &stats,
                              const CheckResult *check) {
  char line[512];
  std::string text;
  auto add = [&](const char *format, auto... values) {
    std::snprintf(line, sizeof line, format, values...);
    text += line;
  };
  add("layer      %lld heads (%lld kv), %lld x %lld tokens, dim %lld, blocks "
      "%lldx%lld, %lld ranks (ulysses %lld, ring %lld)\n",
      (long long)info.heads, (long long)info.kv_heads, (long long)info.sq,
      (long long)info.skv, (long long)info.head_dim, (long long)info.block_q,
      (long long)info.block_k, (long long)info.ranks, (long long)info.ulysses,
      (long long)info.ring);
  add("density    %.4f (%lld tiles)\n", stats.density, (long long)stats.tiles);
  // As long as there are ranks.
  text += "loads      " + listText(stats.loads_before, stats.ranks) + " -> " +
          listText(stats.loads_after, stats.ranks) + "\n";
  add("rho        %.3f -> %.3f, %lld moves\n", stats.rho_before,
      stats.rho_after, (long long)stats.moves);
  add("bytes      exchange %lld, moved %lld, routed %lld (dense ring %lld)\n",
      (long long)stats.bytes_ulysses, (long long)stats.bytes_moved,
      (long long)stats.bytes_routed, (long long)stats.bytes_dense_ring);
  add("time       jit %.1f ms, plan %.1f us, run %.2f ms\n", info.jit_ms,
      stats.plan_us, stats.ms);
  if (check)
    add("check      %lld rows (%lld of each head): largest error %.3g (bound "
        "%.3g), lse %.3g, kept mass %.4f\n",
        (long long)check->rows, (long long)check->rowsPerHead, check->maxError,
        check->bound, check->maxLseError, check->keptMass);
  return text;
}
