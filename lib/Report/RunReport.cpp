//===- RunReport.cpp - One run of a layer as JSON -------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Report/RunReport.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace mlir::sparseattn;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;
using sart::TraceEvent;

namespace {

/// Instructions of a run that a report holds; the longest ones of more.
constexpr size_t maxEvents = 20000;

/// JSON has no NaN and no infinity.
Value number(double value) {
  return std::isfinite(value) ? Value(value) : Value(nullptr);
}

Array list(const std::vector<int64_t> &values) {
  Array array;
  for (int64_t value : values)
    array.push_back(value);
  return array;
}

std::string policyText(const sart::RoutingPolicy &policy) {
  using Kind = sart::RoutingPolicy::Kind;
  std::string text;
  switch (policy.kind) {
  case Kind::TopP:
    text = sart::concat("top-p ", policy.p, ", at least ", policy.minBlocks,
                        policy.minBlocks == 1 ? " block" : " blocks");
    break;
  case Kind::TopK:
    text = sart::concat("top-k ", policy.k);
    break;
  case Kind::Dense:
    text = "dense";
    break;
  case Kind::Window:
    text =
        sart::concat("window of ", policy.windowBlocks, " blocks to each side");
    break;
  case Kind::Explicit:
    text = "given mask";
    break;
  }
  if (!policy.keep.empty())
    text += sart::concat(", ", policy.keep.size(), " ranges always kept");
  return text;
}

Object timeline(const std::vector<TraceEvent> &events) {
  std::vector<const TraceEvent *> kept;
  for (const TraceEvent &event : events)
    kept.push_back(&event);
  if (kept.size() > maxEvents) {
    std::nth_element(kept.begin(), kept.begin() + maxEvents, kept.end(),
                     [](const TraceEvent *a, const TraceEvent *b) {
                       return a->endNs - a->beginNs > b->endNs - b->beginNs;
                     });
    kept.resize(maxEvents);
    std::sort(kept.begin(), kept.end());
  }
  std::map<std::string, int64_t> numbers;
  Array names, rows;
  for (const TraceEvent *event : kept) {
    auto [place, isNew] =
        numbers.insert({event->name, static_cast<int64_t>(numbers.size())});
    if (isNew)
      names.push_back(llvm::json::fixUTF8(event->name));
    rows.push_back(Array{event->rank, event->phase, place->second,
                         event->beginNs, event->endNs - event->beginNs,
                         event->bytes, event->tiles});
  }
  return Object{
      {"columns", Array{"rank", "phase", "name", "begin_ns", "duration_ns",
                        "bytes", "tiles"}},
      {"names", std::move(names)},
      {"events", std::move(rows)},
      {"left_out", static_cast<int64_t>(events.size() - kept.size())}};
}

/// bytes[from][to].
Array links(const std::vector<int64_t> &bytes, size_t ranks) {
  Array rows;
  for (size_t from = 0; bytes.size() == ranks * ranks && from < ranks; ++from) {
    auto begin = bytes.begin() + static_cast<int64_t>(from * ranks);
    rows.push_back(list({begin, begin + static_cast<int64_t>(ranks)}));
  }
  return rows;
}

Object layerObject(const RunFacts &facts) {
  const sart::RunStats &stats = facts.stats;
  Array moves;
  for (const sart::HeadMove &move : stats.plan.moves)
    moves.push_back(
        Object{{"head", move.head}, {"from", move.from}, {"to", move.to}});
  Array rowMoves;
  for (const sart::RowMove &move : stats.plan.rowMoves)
    rowMoves.push_back(Object{{"head", move.head},
                              {"q_begin", move.qBlocks.begin},
                              {"q_end", move.qBlocks.end},
                              {"from", move.from},
                              {"to", move.to}});
  double mass = stats.routing.rows ? stats.routing.keptPooledMass /
                                         static_cast<double>(stats.routing.rows)
                                   : 1;
  char hash[20];
  std::snprintf(hash, sizeof hash, "%016llx",
                static_cast<unsigned long long>(stats.planHash));
  Object layer{{"density", number(stats.density)},
               {"loads", list(stats.loadsBefore)},
               {"loads_after", list(stats.loadsAfter)},
               {"rho_before", number(stats.rhoBefore)},
               {"rho_after", number(stats.rhoAfter)},
               {"moves", static_cast<int64_t>(moves.size() + rowMoves.size())},
               {"head_moves", std::move(moves)},
               {"row_moves", std::move(rowMoves)},
               {"bytes_moved", stats.bytesMoved},
               {"bytes_ulysses", stats.bytesExchange},
               {"bytes_routed", stats.bytesRouted},
               {"bytes_dense_ring", stats.predicted.denseRing},
               {"link_bytes", links(stats.bytesSent, stats.loadsAfter.size())},
               {"kept_mass", nullptr},
               {"max_abs_error", nullptr},
               {"psnr", nullptr},
               {"tiles", stats.tiles},
               {"kept_pooled_mass", number(mass)},
               {"near_threshold", stats.routing.nearThreshold},
               {"plan_us", number(static_cast<double>(stats.planNs) * 1e-3)},
               {"plan_hash", std::string(hash)},
               {"ms", number(static_cast<double>(stats.totalNs) * 1e-6)},
               {"timeline", timeline(stats.events)}};
  if (facts.mask)
    layer["mask"] = makeMaskReport(*facts.mask);
  return layer;
}

} // namespace

Object mlir::sparseattn::makeRunReport(const RunFacts &facts) {
  const sart::Placement &placement = facts.program.placement;
  const sart::LayerShape &shape = placement.shape;
  Value order = nullptr;
  if (facts.order)
    order = Object{{"kind", std::string(sart::toString(facts.order->kind))},
                   {"grid", Array(facts.order->grid)},
                   {"cube", Array(facts.order->cube)},
                   {"tiles", Array(facts.order->tiles)},
                   {"prefix", facts.order->prefix},
                   {"suffix", facts.order->suffix}};
  return Object{
      {"schema", 1},
      {"version", facts.version},
      {"name", llvm::json::fixUTF8(facts.program.name)},
      {"device", facts.device},
      {"threads", facts.threads},
      {"dtype", std::string(sart::toString(shape.dtype))},
      {"scale", number(facts.program.scale)},
      {"policy", policyText(facts.program.policy)},
      {"shape", Object{{"heads", shape.heads},
                       {"kv_heads", shape.kvHeads},
                       {"sq", shape.sq},
                       {"skv", shape.skv},
                       {"head_dim", shape.headDim},
                       {"block", Array{shape.blockQ, shape.blockK}},
                       {"causal", shape.causal}}},
      {"order", std::move(order)},
      {"mesh", Object{{"ulysses", placement.mesh.ulysses},
                      {"ring", placement.mesh.ring}}},
      {"compile_ms", number(facts.compileMs)},
      {"plan_us", number(static_cast<double>(facts.stats.planNs) * 1e-3)},
      {"steps", Array{Object{{"layers", Array{layerObject(facts)}}}}}};
}
