//===- ScheduleBuilder.cpp - Emits a template -----------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ScheduleBuilder.h"

#include "sparseattn-rt/Binder.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::sparseattn;
using sart::DType;

ScheduleBuilder::ScheduleBuilder(OpBuilder &builder, Location loc,
                                 const ScheduleHeader &header)
    : builder(builder), loc(loc), header(header) {
  templateOp =
      sa_comm::TemplateOp::create(builder, loc, header.name, header.placement,
                                  header.scale, header.policy, header.planner);
  builder.setInsertionPointToEnd(templateOp.getBodyBlock());
  spmd = sa_comm::SpmdOp::create(builder, loc);
  builder.setInsertionPointToEnd(&spmd.getBody().front());
  for (const sart::Symbol &symbol :
       sart::standardSymbols(header.placement, header.planner))
    if (symbol.isStatic)
      staticSymbols.insert(symbol.name);
}

/// Largest size of a rank's part.
template <typename Part>
static int64_t largest(int64_t count, Part part) {
  int64_t size = 0;
  for (int64_t i = 0; i < count; ++i)
    size = std::max(size, part(i).size());
  return size;
}

/// The windows a template may use, by name.
static sart::Window makeWindow(StringRef name, const sart::Placement &placement,
                               const sart::PlannerOptions &planner) {
  using Role = sart::Window::Role;
  const sart::LayerShape &shape = placement.shape;
  const sart::Mesh &mesh = placement.mesh;
  int64_t ranks = mesh.ranks(), dim = shape.headDim;
  int64_t qSlots = qSlotCapacity(placement, planner),
          kvSlots = kvSlotCapacity(placement, planner);
  int64_t qShard =
      largest(ranks, [&](int64_t r) { return placement.qShardOf(r); });
  int64_t kvShard =
      largest(ranks, [&](int64_t r) { return placement.kvShardOf(r); });
  int64_t rows =
      largest(mesh.ring, [&](int64_t r) { return placement.qTokensOf(r); });
  int64_t qBlocks =
      largest(mesh.ring, [&](int64_t r) { return placement.qBlocksOf(r); });
  int64_t kvBlocks = shape.kvBlocks();
  int64_t record = sart::MaskSummary::recordWords(placement);
  // With block shards every rank pools and routes its shard for all heads.
  int64_t routed =
      largest(ranks, [&](int64_t r) { return placement.routedBlocksOf(r); });
  int64_t routedSlots = placement.blockShards ? shape.heads : qSlots;
  int64_t pooledSlots = placement.blockShards ? shape.kvHeads : kvSlots;
  auto window = [&](DType dtype, int64_t slots, int64_t rowCount,
                    int64_t elements, Role role = Role::Internal) {
    return sart::Window{name.str(), dtype, slots, rowCount, elements, role};
  };
  if (name == "q_shard")
    return window(shape.dtype, shape.heads, qShard, dim, Role::Input);
  if (name == "k_shard" || name == "v_shard")
    return window(shape.dtype, shape.kvHeads, kvShard, dim, Role::Input);
  if (name == "o_shard")
    return window(shape.dtype, shape.heads, qShard, dim, Role::Output);
  if (name == "lse_shard")
    return window(DType::F32, shape.heads, qShard, 1, Role::Output);
  if (name == "q" || name == "o")
    return window(shape.dtype, qSlots, rows, dim);
  if (name == "k" || name == "v")
    return window(shape.dtype, kvSlots, shape.skv, dim);
  if (name == "o_acc" || name == "o_part")
    return window(DType::F32, qSlots, rows, dim);
  if (name == "lse" || name == "lse_part")
    return window(DType::F32, qSlots, rows, 1);
  if (name == "mask")
    return window(DType::I32, qSlots, qBlocks, 1 + kvBlocks);
  if (name == "mask_shard")
    return window(DType::I32, routedSlots, routed, 1 + kvBlocks);
  if (name == "pooled_q")
    return window(DType::F32, routedSlots, routed, dim);
  if (name == "pooled_k" && placement.blockShards)
    return window(DType::F32, pooledSlots,
                  (kvShard + shape.blockK - 1) / shape.blockK, dim);
  if (name == "pooled_k" || name == "pooled_k_all")
    return window(DType::F32, pooledSlots, kvBlocks, dim);
  if (name == "summary")
    return window(DType::I32, shape.heads, 1, record);
  assert(name == "summary_all" && "unknown window");
  return window(DType::I32, ranks * shape.heads, 1, record);
}

FlatSymbolRefAttr ScheduleBuilder::window(StringRef name) {
  if (declared.insert(name).second) {
    OpBuilder::InsertionGuard guard(builder);
    // Windows stand before symbols.
    Operation *before = spmd;
    for (auto symbolOp :
         templateOp.getBodyBlock()->getOps<sa_comm::SymbolOp>()) {
      before = symbolOp;
      break;
    }
    builder.setInsertionPoint(before);
    sart::Window shape = makeWindow(name, header.placement, header.planner);
    sa_comm::WindowOp::create(
        builder, loc, name, shape.slots, shape.rows, shape.rowElements,
        sa_comm::toType(builder.getContext(), shape.dtype),
        static_cast<sa_comm::Role>(shape.role));
  }
  return FlatSymbolRefAttr::get(builder.getContext(), name);
}

FlatSymbolRefAttr ScheduleBuilder::symbol(StringRef name) {
  if (declared.insert(name).second) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(spmd);
    sa_comm::SymbolOp::create(builder, loc, name, staticSymbols.contains(name));
  }
  return FlatSymbolRefAttr::get(builder.getContext(), name);
}

FlatSymbolRefAttr ScheduleBuilder::symbol(const Twine &name) {
  return symbol(StringRef(name.str()));
}

void ScheduleBuilder::phase(StringRef name) {
  sa_comm::PhaseOp::create(builder, loc, nextPhase++, name);
}

void ScheduleBuilder::allToAll(sa_comm::Group group, StringRef source,
                               StringRef target, StringRef stem) {
  sa_comm::AllToAllOp::create(builder, loc, group, window(source),
                              window(target), symbol(stem + "_send"),
                              symbol(stem + "_send_n"), symbol(stem + "_recv"),
                              symbol(stem + "_recv_n"));
}

void ScheduleBuilder::allGather(sa_comm::Group group, StringRef source,
                                StringRef target, StringRef stem) {
  sa_comm::AllGatherOp::create(
      builder, loc, group, window(source), window(target),
      symbol(stem + "_send"), symbol(stem + "_recv"), symbol(stem + "_recv_n"));
}

void ScheduleBuilder::pool(sa_comm::Side side, StringRef source,
                           StringRef target, StringRef work) {
  sa_comm::PoolOp::create(builder, loc,
                          sa_comm::SideAttr::get(builder.getContext(), side),
                          window(source), window(target), symbol(work));
}

/// Pooled keys of all ring segments.
static StringRef pooledKeys(const ScheduleBuilder &builder) {
  return builder.blockShards() || builder.ring() > 1 ? "pooled_k_all"
                                                     : "pooled_k";
}

/// Where routing writes mask rows.
static StringRef routedMask(const ScheduleBuilder &builder) {
  return builder.blockShards() ? "mask_shard" : "mask";
}

void ScheduleBuilder::route(StringRef work) {
  sa_comm::RouteOp::create(builder, loc, window("pooled_q"),
                           window(pooledKeys(*this)), window(routedMask(*this)),
                           window("summary"), symbol(work));
}

void ScheduleBuilder::plan() {
  sa_comm::PlanOp::create(builder, loc, window("summary_all"));
}

void ScheduleBuilder::loadMask(StringRef work) {
  sa_comm::LoadMaskOp::create(builder, loc, window(routedMask(*this)),
                              symbol(work));
}

void ScheduleBuilder::augment(StringRef work) {
  sa_comm::AugmentOp::create(builder, loc, window("pooled_q"),
                             window(pooledKeys(*this)), window("mask"),
                             symbol(work));
}

Value ScheduleBuilder::send(StringRef from, StringRef chunks, StringRef peer) {
  return sa_comm::SendOp::create(builder, loc, window(from), symbol(chunks),
                                 symbol(peer));
}

Value ScheduleBuilder::recv(StringRef to, StringRef chunks, StringRef peer) {
  return sa_comm::RecvOp::create(builder, loc, window(to), symbol(chunks),
                                 symbol(peer));
}

void ScheduleBuilder::wait(ArrayRef<Value> tokens) {
  sa_comm::WaitOp::create(builder, loc, tokens);
}

void ScheduleBuilder::attend(StringRef output, StringRef lse, StringRef work) {
  sa_comm::AttendOp::create(builder, loc, window("q"), window("k"), window("v"),
                            window("mask"), window(output), window(lse),
                            symbol(work));
}

void ScheduleBuilder::merge(StringRef chunks) {
  sa_comm::MergeOp::create(builder, loc, window("o_part"), window("lse_part"),
                           window("o_acc"), window("lse"), symbol(chunks));
}

void ScheduleBuilder::convert(StringRef chunks) {
  sa_comm::ConvertOp::create(builder, loc, window("o_acc"), window("o"),
                             symbol(chunks));
}

void ScheduleBuilder::release(StringRef from, StringRef slots) {
  sa_comm::ReleaseOp::create(builder, loc, window(from), symbol(slots));
}
