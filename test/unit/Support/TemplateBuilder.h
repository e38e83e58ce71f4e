//===- TemplateBuilder.h - Templates without the compiler -------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_SUPPORT_TEMPLATEBUILDER_H
#define SPARSEATTN_TEST_SUPPORT_TEMPLATEBUILDER_H

#include "sparseattn-rt/Program.h"

#include <vector>

namespace sart::test {

struct TemplateOptions {
  RoutingPolicy policy;
  PlannerOptions planner;
  float scale = 0;               ///< 0: 1 / sqrt(headDim)
  std::optional<DType> outDtype; ///< of o_shard; the input's when not given
};

/// The standard template of a layer, with its static symbols bound: what the
/// compiler makes of a layer, built by hand. Phases in order (those that do
/// not apply are left out, the numbers stay dense):
///
///   exchange_qk  all_to_all q_shard -> q, k_shard -> k
///   pool         q -> pooled_q, k -> pooled_k
///   gather_k     all_gather pooled_k -> pooled_k_all          (ring > 1)
///   route        mask lists and summaries
///   gather       all_gather summary -> summary_all
///   plan
///   augment                                                   (augment)
///   exchange_v   all_to_all v_shard -> v
///   move         heads that move; meanwhile attend of those that stayed;
///                wait, release of what left    (ulysses > 1, balance != none)
///   attend       of heads that came (without moves: of all); transfers of
///                ring distance 1 posted before
///   ring d       wait for distance d, post d + 1, attend, merge, release of
///                the partial result                 (d = 1 .. ring - 1)
///   convert      o_acc -> o                                   (ring > 1)
///   return       all_to_all o -> o_shard, lse -> lse_shard
///   release      what is live
Expected<Program> buildTemplate(const Placement &placement,
                                const TemplateOptions &options = {});

/// Plans `mask` with the template's planner and binds it.
Expected<Program> buildBound(const Program &program, const BlockMask &mask);
/// The same with a given plan.
Expected<Program> buildBound(const Program &program, const BlockMask &mask,
                             const Plan &plan);

/// A mask with uneven heads: head h selects about density * (0.4 + 1.2 h /
/// (heads - 1)) of its tiles, at random, rows may be empty. Same seed, same
/// mask.
BlockMask randomMask(int64_t heads, int64_t qBlocks, int64_t kvBlocks,
                     double density, uint64_t seed);

} // namespace sart::test

#endif // SPARSEATTN_TEST_SUPPORT_TEMPLATEBUILDER_H
