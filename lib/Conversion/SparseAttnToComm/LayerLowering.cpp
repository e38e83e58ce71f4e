//===- LayerLowering.cpp - One layer function to one schedule -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every op emits the instructions that do its work, where it stands in the
// body. Windows are those of the value's role: q, k, v after the exchange are
// @q, @k, @v, and so on; what the lists hold is the binder's business.
//
// Complexity: linear in the ops, times the ring's size for attend.
//
//===----------------------------------------------------------------------===//
#include "LayerLowering.h"

#include "sparseattn-rt/Binder.h"
#include "sparseattn/Target/Plan/Plan.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace mlir::sparseattn;

/// The argument of the layer that `value` is a resharded form of, or -1.
static int64_t argumentOf(Value value) {
  while (auto reshard = value.getDefiningOp<ReshardOp>())
    value = reshard.getInput();
  auto argument = dyn_cast<BlockArgument>(value);
  return argument ? static_cast<int64_t>(argument.getArgNumber()) : -1;
}

/// Finds the op of kind `OpTy`, refusing a second one.
template <typename OpTy>
static LogicalResult findOnly(func::FuncOp layer, OpTy &found) {
  for (auto op : layer.getBody().front().getOps<OpTy>()) {
    if (found) {
      InFlightDiagnostic diagnostic = op.emitOpError()
                                      << "count in a layer must be at most "
                                         "one: got a second, expected none";
      diagnostic.attachNote(found.getLoc()) << "the first is here";
      return diagnostic;
    }
    found = op;
  }
  return success();
}

/// Every op of the layer's chain must be what attend uses, so that none is
/// carried out beside it.
LogicalResult LayerLowering::checkChain() {
  Value plan = attend.getPlan();
  auto demand = plan ? plan.getDefiningOp<DemandOp>() : DemandOp();
  if (demand)
    plan = demand.getPlan();
  if (balance && plan == balance.getResult())
    plan = balance.getPlan();
  else if (balance)
    return balance.emitOpError("result of balance: got one that attend does "
                               "not use, expected the plan of attend");
  if (plan != place.getPlan())
    return attend.emitOpError("plan of attend: got one that does not begin "
                              "with the layer's place op, expected place, "
                              "balance, demand");
  Value mask = attend.getMask();
  if (augment && mask == augment.getResult())
    mask = augment.getMask();
  else if (augment)
    return augment.emitOpError("result of augment: got one that attend does "
                               "not use, expected the mask of attend");
  Operation *source = mask.getDefiningOp();
  if (source != (route ? route.getOperation() : explicitMask.getOperation()))
    return attend.emitOpError("mask of attend: got one made by another op, "
                              "expected the layer's route or explicit_mask");
  return success();
}

LogicalResult LayerLowering::collect() {
  if (failed(findOnly(layer, place)) || failed(findOnly(layer, route)) ||
      failed(findOnly(layer, explicitMask)) ||
      failed(findOnly(layer, balance)) || failed(findOnly(layer, augment)) ||
      failed(findOnly(layer, attend)))
    return failure();
  if (!attend)
    return layer.emitOpError("attend op of the layer: got none, expected one");
  if (!place)
    return layer.emitOpError("place op of the layer: got none, expected one "
                             "(run sparseattn-insert-plan first)");
  if (!route == !explicitMask)
    return attend.emitOpError("mask source: got ")
           << (route ? "route and explicit_mask" : "neither")
           << ", expected one of route, explicit_mask (run "
              "sparseattn-fold-masks first)";
  if (route && !balance)
    return route.emitOpError("balance op of a routed layer: got none, expected "
                             "one (run sparseattn-insert-plan first)");
  if (failed(checkChain()))
    return failure();
  const char *names[] = {"q", "k", "v"};
  Value operands[] = {attend.getQ(), attend.getK(), attend.getV()};
  for (int64_t i = 0; i < 3; ++i)
    if (int64_t argument = argumentOf(operands[i]); argument != i)
      return attend.emitOpError(names[i])
             << " must be argument " << i << " of the layer: got "
             << (argument < 0 ? "a computed value"
                              : "argument " + std::to_string(argument))
             << ", expected argument " << i;
  return success();
}

static std::vector<sart::Range> toRanges(ArrayRef<int64_t> flat) {
  std::vector<sart::Range> ranges;
  for (size_t i = 0; i + 1 < flat.size(); i += 2)
    ranges.push_back({flat[i], flat[i + 1]});
  return ranges;
}

static FailureOr<sart::RoutingPolicy> toPolicy(RouteOp route) {
  sart::RoutingPolicy policy;
  // Everything above is everything.
  auto within = [](int64_t blocks) {
    return std::min(blocks, sart::maxPolicyBlocks);
  };
  Attribute attribute = route.getPolicy();
  if (auto topP = dyn_cast<TopPAttr>(attribute)) {
    policy.kind = sart::RoutingPolicy::Kind::TopP;
    constexpr double most = std::numeric_limits<float>::max();
    policy.p = static_cast<float>(std::min(topP.getP(), most));
    policy.minBlocks = within(topP.getMinBlocks());
    policy.keep = toRanges(topP.getKeep());
    return policy;
  }
  if (auto topK = dyn_cast<TopKAttr>(attribute)) {
    policy.kind = sart::RoutingPolicy::Kind::TopK;
    policy.k = within(topK.getK());
    policy.keep = toRanges(topK.getKeep());
    return policy;
  }
  if (isa<DenseAttr>(attribute)) {
    policy.kind = sart::RoutingPolicy::Kind::Dense;
    return policy;
  }
  route.emitOpError("policy of a routed mask: got ")
      << attribute
      << ", expected top_p, top_k or dense (a policy that needs no scores is a "
         "policy_mask)";
  return failure();
}

LogicalResult LayerLowering::collectHeader() {
  header.name = layer.getName().str();
  FailureOr<sart::Placement> placement =
      toPlacement(place, attend.getMask().getType());
  if (failed(placement))
    return failure();
  header.placement = *placement;
  header.scale = attend.getScale().convertToFloat();
  if (route && route.getScale() != attend.getScale())
    return route.emitOpError("scale must equal that of attend: got ")
           << route.getScale().convertToFloat() << ", expected "
           << header.scale;

  header.policy.kind = sart::RoutingPolicy::Kind::Explicit;
  if (route) {
    FailureOr<sart::RoutingPolicy> policy = toPolicy(route);
    if (failed(policy))
      return failure();
    header.policy = *policy;
  }
  header.planner.balance = sart::Balance::None;
  if (balance) {
    header.planner = toPlannerOptions(balance, augment);
    if (sart::Status status = header.planner.verify(); !status.ok())
      return balance.emitOpError() << status.message();
  }
  bool pre = header.planner.balance == sart::Balance::Pre;
  if (pre != header.placement.blockShards)
    return place.emitOpError("shards of the placement: got ")
           << (pre ? "even parts" : "block_shards") << ", expected "
           << (pre ? "block_shards" : "even parts") << " under the algorithm "
           << sart::toString(header.planner.balance).data();
  if (pre && augment)
    return augment.emitOpError("algorithm of balance: got pre, expected one "
                               "that plans after the exchange: extra tiles "
                               "follow scores that stay with the shards");
  if (augment && !route)
    return augment.emitOpError("mask of augment: got a constant, expected a "
                               "routed mask: extra tiles follow its scores");
  return success();
}

FailureOr<sa_comm::TemplateOp> LayerLowering::run() {
  if (failed(collect()) || failed(collectHeader()))
    return failure();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(layer);
  schedule =
      std::make_unique<ScheduleBuilder>(builder, attend.getLoc(), header);
  for (Operation &op : layer.getBody().front())
    if (failed(lower(op))) {
      schedule->getTemplate().erase();
      return failure();
    }
  finish();
  return schedule->getTemplate();
}

void LayerLowering::enterPhase(StringRef name) {
  if (openPhase == name)
    return;
  openPhase = name.str();
  schedule->phase(name);
}

LogicalResult LayerLowering::lower(Operation &op) {
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case<ReshardOp>([&](auto op) { return lowerReshard(op); })
      .Case<PoolOp>([&](auto op) { return lowerPool(op); })
      .Case<RouteOp>([&](auto op) { return lowerRoute(op); })
      .Case<ExplicitMaskOp>([&](auto op) { return lowerExplicitMask(op); })
      .Case<BalanceOp>([&](auto op) { return lowerBalance(op); })
      .Case<AugmentOp>([&](auto op) { return lowerAugment(op); })
      .Case<AttendOp>([&](auto op) { return lowerAttend(op); })
      // The placement is in the header; the demand is what attend exchanges.
      .Case<PlaceOp, DemandOp, func::ReturnOp>([](auto) { return success(); })
      .Default([](Operation *op) {
        return op->emitOpError("op in a layer: got '")
               << op->getName()
               << "', expected the ops that sparseattn-convert-to-comm lowers";
      });
}

/// Outputs, and queries that travel once, may go to another segment.
sa_comm::Group LayerLowering::exchangeGroup() {
  return static_cast<sa_comm::Group>(
      sart::exchangeGroup(header.placement, header.planner));
}

LogicalResult LayerLowering::lowerReshard(ReshardOp op) {
  sa_comm::Group ulysses = sa_comm::Group::Ulysses;
  if (op.getLayout() == Layout::Heads) {
    switch (argumentOf(op.getInput())) {
    case 0:
      enterPhase("exchange_qk");
      schedule->allToAll(schedule->blockShards() ? exchangeGroup() : ulysses,
                         "q_shard", "q", "xq");
      // Rows of the mask go with their queries.
      if (schedule->blockShards())
        schedule->allToAll(exchangeGroup(), "mask_shard", "mask", "xm");
      return success();
    case 1:
      enterPhase("exchange_qk");
      schedule->allToAll(ulysses, "k_shard", "k", "xkv");
      return success();
    case 2:
      enterPhase("exchange_v");
      schedule->allToAll(ulysses, "v_shard", "v", "xkv");
      return success();
    default:
      return op.emitOpError("input of a reshard to heads: got a computed "
                            "value, expected argument 0, 1 or 2 of the layer");
    }
  }
  enterPhase("return");
  if (op.getInput() == attend.getO())
    schedule->allToAll(exchangeGroup(), "o", "o_shard", "ro");
  else if (op.getInput() == attend.getLse())
    schedule->allToAll(exchangeGroup(), "lse", "lse_shard", "ro");
  else
    return op.emitOpError("input of a reshard to sequence: got another value, "
                          "expected a result of attend");
  return success();
}

LogicalResult LayerLowering::lowerPool(PoolOp op) {
  enterPhase("pool");
  bool shard = schedule->blockShards();
  if (shard && !isa<BlockArgument>(op.getInput()))
    return op.emitOpError("input of pool: got a tensor in heads layout, "
                          "expected q or k as it comes: balance pre plans "
                          "before the exchange");
  switch (argumentOf(op.getInput())) {
  case 0:
    schedule->pool(sa_comm::Side::Queries, shard ? "q_shard" : "q", "pooled_q",
                   "pool_q");
    return success();
  case 1:
    schedule->pool(sa_comm::Side::Keys, shard ? "k_shard" : "k", "pooled_k",
                   "pool_k");
    return success();
  default:
    return op.emitOpError("input of pool: got another value, expected q or k "
                          "of the layer");
  }
}

LogicalResult LayerLowering::lowerRoute(RouteOp) {
  if (schedule->ring() > 1 || schedule->blockShards()) {
    enterPhase("gather_k");
    schedule->allGather(schedule->blockShards() ? sa_comm::Group::All
                                                : sa_comm::Group::Ring,
                        "pooled_k", "pooled_k_all", "gk");
  }
  enterPhase("route");
  schedule->route("route");
  return success();
}

LogicalResult LayerLowering::lowerExplicitMask(ExplicitMaskOp) {
  enterPhase("mask");
  schedule->loadMask("route");
  return success();
}

LogicalResult LayerLowering::lowerBalance(BalanceOp) {
  if (explicitMask)
    return success();
  enterPhase("gather_summary");
  schedule->allGather(sa_comm::Group::All, "summary", "summary_all", "gs");
  enterPhase("plan");
  schedule->plan();
  return success();
}

LogicalResult LayerLowering::lowerAugment(AugmentOp) {
  enterPhase("augment");
  schedule->augment("augment");
  return success();
}

bool LayerLowering::moves() {
  return schedule->ulysses() > 1 && balance &&
         (balance.getAlgorithm() == BalanceAlgorithm::Swap ||
          (balance.getAlgorithm() == BalanceAlgorithm::None &&
           balance.getFixedPlanAttr()));
}

/// Heads that move travel while the heads that stay are attended.
void LayerLowering::emitMoves() {
  enterPhase("move");
  SmallVector<Value> tokens;
  for (auto [window, list] : {std::pair<StringRef, StringRef>{"q", "q"},
                              {"k", "kv"},
                              {"v", "kv"},
                              {"mask", "mask"}})
    tokens.push_back(
        schedule->send(window, ("mv_" + list + "_out").str(), "mv_peer_out"));
  for (auto [window, list] : {std::pair<StringRef, StringRef>{"q", "q"},
                              {"k", "kv"},
                              {"v", "kv"},
                              {"mask", "mask"}})
    tokens.push_back(
        schedule->recv(window, ("mv_" + list + "_in").str(), "mv_peer_in"));
  schedule->attend(schedule->ring() > 1 ? "o_acc" : "o", "lse", "attend_local");
  schedule->wait(tokens);
  schedule->release("q", "free_q");
  schedule->release("mask", "free_q");
  schedule->release("k", "free_kv");
  schedule->release("v", "free_kv");
}

/// Rows that move travel while those that stay are attended, and are attended
/// in the order of the plan, one piece while the next still travels. Inside a
/// ring group their K and V come with the ring's exchange.
void LayerLowering::emitRowMoves() {
  int64_t pieces = sart::pieceCapacity(header.placement, header.planner);
  SmallVector<std::pair<StringRef, StringRef>> parts = {{"q", "q"},
                                                        {"mask", "mask"}};
  if (schedule->ring() == 1)
    parts.append({{"k", "kv"}, {"v", "kv"}});
  enterPhase("move_rows");
  SmallVector<Value> sent;
  SmallVector<SmallVector<Value>> received(pieces);
  for (int64_t i = 0; i < pieces; ++i)
    for (auto [window, list] : parts)
      sent.push_back(schedule->send(window,
                                    ("rm_" + list + "_out_" + Twine(i)).str(),
                                    ("rm_peer_out_" + Twine(i)).str()));
  for (int64_t i = 0; i < pieces; ++i)
    for (auto [window, list] : parts)
      received[i].push_back(
          schedule->recv(window, ("rm_" + list + "_in_" + Twine(i)).str(),
                         ("rm_peer_in_" + Twine(i)).str()));
  enterPhase("attend_local");
  firstRing = postRing(1);
  StringRef output = schedule->ring() > 1 ? "o_acc" : "o";
  schedule->attend(output, "lse", "attend_local");
  for (int64_t i = 0; i < pieces; ++i) {
    schedule->wait(received[i]);
    schedule->attend(output, "lse", ("attend_rows_" + Twine(i)).str());
  }
  if (!sent.empty())
    schedule->wait(sent);
  schedule->release("q", "free_q");
  schedule->release("mask", "free_q");
}

/// Posts the transfers of the kv-blocks that come from \p distance segments
/// before this one.
SmallVector<Value> LayerLowering::postRing(int64_t distance) {
  SmallVector<Value> tokens;
  if (distance >= schedule->ring())
    return tokens;
  std::string suffix = "_" + std::to_string(distance);
  for (StringRef window : {"k", "v"})
    tokens.push_back(
        schedule->send(window, "kv_out" + suffix, "kv_peer_out" + suffix));
  for (StringRef window : {"k", "v"})
    tokens.push_back(
        schedule->recv(window, "kv_in" + suffix, "kv_peer_in" + suffix));
  return tokens;
}

/// Own kv-blocks first; received ones are attended while the next ones travel.
LogicalResult LayerLowering::lowerAttend(AttendOp) {
  bool ring = schedule->ring() > 1;
  StringRef output = ring ? "o_acc" : "o";
  StringRef last = "attend_local";
  if (moves()) {
    emitMoves();
    last = "attend_moved";
  }
  SmallVector<Value> tokens;
  if (header.planner.balance == sart::Balance::Split) {
    emitRowMoves();
    tokens = firstRing;
  } else {
    enterPhase(last);
    tokens = postRing(1);
    schedule->attend(output, "lse", last);
  }
  for (int64_t distance = 1; distance < schedule->ring(); ++distance) {
    std::string suffix = "_" + std::to_string(distance);
    enterPhase("ring" + suffix);
    schedule->wait(tokens);
    tokens = postRing(distance + 1);
    schedule->attend("o_part", "lse_part", "attend_remote" + suffix);
    schedule->merge("merge" + suffix);
    schedule->release("o_part", "live_q");
    schedule->release("lse_part", "live_q");
  }
  if (ring) {
    enterPhase("convert");
    schedule->convert("final_o");
  }
  return success();
}

void LayerLowering::finish() {
  enterPhase("release");
  for (StringRef window : {"q", "mask", "o", "lse"})
    schedule->release(window, "live_q");
  if (schedule->ring() > 1)
    schedule->release("o_acc", "live_q");
  for (StringRef window : {"k", "v"})
    schedule->release(window, "live_kv");
}
