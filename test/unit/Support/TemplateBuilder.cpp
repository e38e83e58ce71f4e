//===- TemplateBuilder.cpp - Templates without the compiler ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/TemplateBuilder.h"

#include "sparseattn-rt/Binder.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace sart;
using namespace sart::test;

namespace {

class Builder {
public:
  Builder(const Placement &placement, const TemplateOptions &options)
      : placement(placement), options(options), shape(placement.shape),
        mesh(placement.mesh), ring(mesh.ring > 1),
        moves(mesh.ulysses > 1 && options.planner.balance == Balance::Swap),
        pre(placement.blockShards) {}

  Expected<Program> build() {
    SART_RETURN_IF_ERROR(placement.verify());
    program.placement = placement;
    program.policy = options.policy;
    program.planner = options.planner;
    program.scale = options.scale != 0
                        ? options.scale
                        : 1 / std::sqrt(static_cast<float>(shape.headDim));
    program.symbols = standardSymbols(placement, options.planner);
    declareWindows();
    program.ranks.resize(1);
    exchangeAndRoute();
    attendAll();
    finish();
    Expected<Binding> statics = bindStatics(program);
    if (!statics)
      return statics.status();
    program.statics = std::move(*statics);
    return std::move(program);
  }

private:
  //===--------------------------------------------------------------------===//
  // Windows
  //===--------------------------------------------------------------------===//

  void window(const char *name, DType dtype, int64_t slots, int64_t rows,
              int64_t elements, Window::Role role = Window::Role::Internal) {
    program.windows.push_back({name, dtype, slots, rows, elements, role});
  }

  void declareWindows() {
    int64_t qShard = 0, kvShard = 0, rows = 0, blocks = 0;
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      qShard = std::max(qShard, placement.qShardOf(rank).size());
      kvShard = std::max(kvShard, placement.kvShardOf(rank).size());
    }
    for (int64_t r = 0; r < mesh.ring; ++r) {
      rows = std::max(rows, placement.qTokensOf(r).size());
      blocks = std::max(blocks, placement.qBlocksOf(r).size());
    }
    DType type = shape.dtype, out = options.outDtype.value_or(type);
    int64_t q = qSlotCapacity(placement, options.planner);
    int64_t kv = kvSlotCapacity(placement, options.planner);
    int64_t dim = shape.headDim, nK = shape.kvBlocks();
    int64_t words = MaskSummary::recordWords(placement);
    auto input = Window::Role::Input, output = Window::Role::Output;
    window("q_shard", type, shape.heads, qShard, dim, input);
    window("k_shard", type, shape.kvHeads, kvShard, dim, input);
    window("v_shard", type, shape.kvHeads, kvShard, dim, input);
    window("o_shard", out, shape.heads, qShard, dim, output);
    window("lse_shard", DType::F32, shape.heads, qShard, 1, output);
    window("q", type, q, rows, dim);
    window("k", type, kv, shape.skv, dim);
    window("v", type, kv, shape.skv, dim);
    window("mask", DType::I32, q, blocks, 1 + nK);
    window("o", out, q, rows, dim);
    window("lse", DType::F32, q, rows, 1);
    if (pre) {
      window("mask_shard", DType::I32, shape.heads, blocks, 1 + nK);
      q = shape.heads;
      kv = shape.kvHeads;
    }
    window("pooled_q", DType::F32, q, blocks, dim);
    window("pooled_k", DType::F32, kv, nK, dim);
    window("summary", DType::I32, shape.heads, 1, words);
    window("summary_all", DType::I32, mesh.ranks() * shape.heads, 1, words);
    if (ring || pre)
      window("pooled_k_all", DType::F32, kv, nK, dim);
    if (!ring)
      return;
    q = qSlotCapacity(placement, options.planner);
    window("o_acc", DType::F32, q, rows, dim);
    window("o_part", DType::F32, q, rows, dim);
    window("lse_part", DType::F32, q, rows, 1);
  }

  //===--------------------------------------------------------------------===//
  // Instructions
  //===--------------------------------------------------------------------===//

  Operand symbol(const std::string &name) const {
    return Operand::ofSymbol(program.findSymbol(name));
  }

  Instruction &add(Opcode opcode, const std::vector<const char *> &windows,
                   const std::vector<std::string> &lists = {}) {
    Instruction instruction;
    instruction.opcode = opcode;
    instruction.phase = phase;
    for (const char *name : windows)
      instruction.windows.push_back(program.findWindow(name));
    for (const std::string &name : lists)
      instruction.lists.push_back(symbol(name));
    program.ranks[0].push_back(std::move(instruction));
    return program.ranks[0].back();
  }

  void allToAll(const char *from, const char *to, const std::string &symbols,
                Group group = Group::Ulysses) {
    add(Opcode::AllToAll, {from, to},
        {symbols + "_send", symbols + "_send_n", symbols + "_recv",
         symbols + "_recv_n"})
        .group = group;
  }

  void allGather(const char *from, const char *to, const std::string &symbols,
                 Group group) {
    add(Opcode::AllGather, {from, to},
        {symbols + "_send", symbols + "_recv", symbols + "_recv_n"})
        .group = group;
  }

  void transfer(Opcode opcode, const char *window, const std::string &chunks,
                const std::string &peer) {
    Instruction &instruction = add(opcode, {window}, {chunks});
    instruction.peer = symbol(peer);
    instruction.token = nextToken++;
    open.push_back(instruction.token);
  }

  void waitForAll() {
    add(Opcode::Wait, {}).waits = open;
    open.clear();
  }

  void pool(const char *from, const char *to, const std::string &work,
            int64_t side) {
    add(Opcode::Pool, {from, to}, {work})
        .lists.push_back(Operand::immediate({side}));
  }

  void release(const std::vector<const char *> &windows,
               const std::string &slots) {
    for (const char *window : windows)
      add(Opcode::Release, {window}, {slots});
  }

  void attend(const std::string &work, const char *o, const char *lse) {
    add(Opcode::Attend, {"q", "k", "v", "mask", o, lse}, {work});
  }

  //===--------------------------------------------------------------------===//
  // Phases
  //===--------------------------------------------------------------------===//

  void routeAndExchange() {
    pool("q_shard", "pooled_q", "pool_q", 0);
    pool("k_shard", "pooled_k", "pool_k", 1);
    ++phase;
    allGather("pooled_k", "pooled_k_all", "gk", Group::All);
    ++phase;
    add(Opcode::Route, {"pooled_q", "pooled_k_all", "mask_shard", "summary"},
        {"route"});
    ++phase;
    allGather("summary", "summary_all", "gs", Group::All);
    ++phase;
    add(Opcode::Plan, {"summary_all"});
    ++phase;
    Group group = exchangeGroup(placement, options.planner);
    allToAll("q_shard", "q", "xq", group);
    allToAll("mask_shard", "mask", "xm", group);
    allToAll("k_shard", "k", "xkv");
    ++phase;
    allToAll("v_shard", "v", "xkv");
    ++phase;
  }

  void exchangeAndRoute() {
    if (pre)
      return routeAndExchange();
    const char *pooledK = ring ? "pooled_k_all" : "pooled_k";
    allToAll("q_shard", "q", "xq");
    allToAll("k_shard", "k", "xkv");
    ++phase;
    pool("q", "pooled_q", "pool_q", 0);
    pool("k", "pooled_k", "pool_k", 1);
    ++phase;
    if (ring) {
      allGather("pooled_k", "pooled_k_all", "gk", Group::Ring);
      ++phase;
    }
    add(Opcode::Route, {"pooled_q", pooledK, "mask", "summary"}, {"route"});
    ++phase;
    allGather("summary", "summary_all", "gs", Group::All);
    ++phase;
    add(Opcode::Plan, {"summary_all"});
    ++phase;
    if (options.planner.augment) {
      add(Opcode::Augment, {"pooled_q", pooledK, "mask"}, {"augment"});
      ++phase;
    }
    allToAll("v_shard", "v", "xkv");
    ++phase;
  }

  void moveHeads() {
    for (Opcode opcode : {Opcode::Send, Opcode::Recv}) {
      std::string side = opcode == Opcode::Send ? "out" : "in";
      std::string peer = "mv_peer_" + side;
      transfer(opcode, "q", "mv_q_" + side, peer);
      transfer(opcode, "k", "mv_kv_" + side, peer);
      transfer(opcode, "v", "mv_kv_" + side, peer);
      transfer(opcode, "mask", "mv_mask_" + side, peer);
    }
    attend("attend_local", ring ? "o_acc" : "o", "lse");
    waitForAll();
    release({"q", "mask"}, "free_q");
    release({"k", "v"}, "free_kv");
    ++phase;
  }

  void moveRows() {
    int64_t pieces = pieceCapacity(placement, options.planner);
    for (Opcode opcode : {Opcode::Send, Opcode::Recv})
      for (int64_t i = 0; i < pieces; ++i) {
        std::string side = opcode == Opcode::Send ? "_out_" : "_in_";
        side += std::to_string(i);
        for (auto [window, list] :
             {std::pair<const char *, const char *>{"q", "q"},
              {"mask", "mask"},
              {"k", "kv"},
              {"v", "kv"}})
          transfer(opcode, window, std::string("rm_") + list + side,
                   "rm_peer" + side);
      }
    attend("attend_local", ring ? "o_acc" : "o", "lse");
    waitForAll();
    for (int64_t i = 0; i < pieces; ++i)
      attend("attend_rows_" + std::to_string(i), ring ? "o_acc" : "o", "lse");
    release({"q", "mask"}, "free_q");
    ++phase;
  }

  void postRing(int64_t distance) {
    if (distance >= mesh.ring)
      return;
    std::string d = std::to_string(distance);
    for (const char *window : {"k", "v"})
      transfer(Opcode::Send, window, "kv_out_" + d, "kv_peer_out_" + d);
    for (const char *window : {"k", "v"})
      transfer(Opcode::Recv, window, "kv_in_" + d, "kv_peer_in_" + d);
  }

  void attendAll() {
    bool split = options.planner.balance == Balance::Split;
    if (moves)
      moveHeads();
    if (split)
      moveRows();
    postRing(1);
    if (!split)
      attend(moves ? "attend_moved" : "attend_local", ring ? "o_acc" : "o",
             "lse");
    ++phase;
    for (int64_t distance = 1; distance < mesh.ring; ++distance) {
      std::string d = std::to_string(distance);
      waitForAll();
      postRing(distance + 1);
      attend("attend_remote_" + d, "o_part", "lse_part");
      add(Opcode::Merge, {"o_part", "lse_part", "o_acc", "lse"},
          {"merge_" + d});
      release({"o_part", "lse_part"}, "live_q");
      ++phase;
    }
  }

  void finish() {
    if (ring) {
      add(Opcode::Convert, {"o_acc", "o"}, {"final_o"});
      ++phase;
    }
    Group group = exchangeGroup(placement, options.planner);
    allToAll("o", "o_shard", "ro", group);
    allToAll("lse", "lse_shard", "ro", group);
    ++phase;
    release({"q", "mask", "o", "lse"}, "live_q");
    if (ring)
      release({"o_acc"}, "live_q");
    release({"k", "v"}, "live_kv");
  }

  const Placement &placement;
  const TemplateOptions &options;
  const LayerShape &shape;
  const Mesh &mesh;
  bool ring, moves, pre;
  Program program;
  int32_t phase = 0;
  int32_t nextToken = 0;
  std::vector<int32_t> open;
};

} // namespace

Expected<Program> test::buildTemplate(const Placement &placement,
                                      const TemplateOptions &options) {
  return Builder(placement, options).build();
}

Expected<Program> test::buildBound(const Program &program,
                                   const BlockMask &mask, const Plan &plan) {
  Expected<Binding> binding = bindPlan(program, plan);
  if (!binding)
    return binding.status();
  return bindProgram(program, *binding, mask);
}

Expected<Program> test::buildBound(const Program &program,
                                   const BlockMask &mask) {
  Expected<Plan> plan = makePlan(summarize(mask, program.placement),
                                 program.placement, program.planner);
  if (!plan)
    return plan.status();
  return buildBound(program, mask, *plan);
}

BlockMask test::randomMask(int64_t heads, int64_t qBlocks, int64_t kvBlocks,
                           double density, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> bits;
  for (int64_t head = 0; head < heads; ++head) {
    double share = heads > 1 ? 0.4 + 1.2 * static_cast<double>(head) /
                                         static_cast<double>(heads - 1)
                             : 1;
    auto limit =
        static_cast<uint64_t>(std::min(density * share, 1.0) * 4294967296.0);
    for (int64_t i = 0; i < qBlocks * kvBlocks; ++i)
      bits.push_back((random() >> 32) < limit);
  }
  return BlockMask::fromBits(bits.data(), heads, qBlocks, kvBlocks);
}
