//===- BinderSimulation.h - Runs bound lists on tags ------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program's data flow on tags: every row of q, k, o and mask carries the
// number of its head and token or block instead of values. Running the bound
// lists in the template's order must bring every tag where it belongs, compute
// every tile once with its kv rows present, and move exactly the bytes that
// countTraffic() predicts.
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_PLANNING_BINDERSIMULATION_H
#define SPARSEATTN_TEST_UNIT_PLANNING_BINDERSIMULATION_H

#include "PlanningTestSupport.h"
#include "TagWindow.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace sart::test {

class Simulation {
public:
  Simulation(const Placement &placement, const BlockMask &mask,
             const Plan &plan)
      : p(placement), shape(p.shape), mesh(p.mesh), mask(mask), plan(plan),
        owners(plan.owners(p)),
        tiles(static_cast<size_t>(mask.heads() * mask.qBlocks() *
                                  mask.kvBlocks()),
              0) {
    program.placement = p;
    program.symbols = standardSymbols(p);
    Expected<Binding> bound = bindPlan(program, plan);
    EXPECT_TRUE(bound.ok()) << bound.message();
    if (bound)
      binding = *bound;
    valid = bound.ok();
  }

  void run() {
    if (!valid)
      return;
    createWindows();
    exchange();
    checkStaticWork();
    move();
    attendOwn();
    for (int64_t distance = 1; distance < mesh.ring; ++distance)
      ring(distance);
    checkCoverage();
    release();
    reverse();
    TrafficBytes predicted = countTraffic(plan, p);
    int64_t rowBytes = shape.headDim * byteSize(shape.dtype);
    EXPECT_EQ(exchangedRows * rowBytes, predicted.exchange);
    EXPECT_EQ(movedRows * rowBytes, predicted.moved);
    EXPECT_EQ(routedRows * rowBytes, predicted.routed);
  }

private:
  using Windows = std::vector<TagWindow>;

  const std::vector<int64_t> &list(int64_t rank, const std::string &name) {
    for (size_t i = 0; i < program.symbols.size(); ++i)
      if (program.symbols[i].name == name)
        return binding.values[static_cast<size_t>(rank)][i];
    ADD_FAILURE() << "no symbol " << name;
    return nothing;
  }

  int64_t qTag(int64_t head, int64_t token) const {
    return head * (shape.sq + 1) + token;
  }
  int64_t kvTag(int64_t kvHead, int64_t token) const {
    return kvHead * (shape.skv + 1) + token;
  }

  void createWindows() {
    int64_t segment = 0, shard = 0, kvShard = 0, rows = 0;
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      segment = std::max(segment, p.qTokensOf(mesh.ringIndex(rank)).size());
      rows = std::max(rows, p.qBlocksOf(mesh.ringIndex(rank)).size());
      shard = std::max(shard, p.qShardOf(rank).size());
      kvShard = std::max(kvShard, p.kvShardOf(rank).size());
    }
    int64_t qSlots = qSlotCapacity(p), kvSlots = kvSlotCapacity(p);
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      qShard.emplace_back(shape.heads, shard);
      oShard.emplace_back(shape.heads, shard);
      kShard.emplace_back(shape.kvHeads, kvShard);
      q.emplace_back(qSlots, segment);
      o.emplace_back(qSlots, segment);
      maskRows.emplace_back(qSlots, rows);
      k.emplace_back(kvSlots, shape.skv);
      Range mine = p.qShardOf(rank), kvMine = p.kvShardOf(rank);
      for (int64_t h = 0; h < shape.heads; ++h)
        for (int64_t i = 0; i < mine.size(); ++i)
          qShard.back().at(h, i) = qTag(h, mine.begin + i);
      for (int64_t h = 0; h < shape.kvHeads; ++h)
        for (int64_t i = 0; i < kvMine.size(); ++i)
          kShard.back().at(h, i) = kvTag(h, kvMine.begin + i);
      // Routing writes the mask rows of the initial heads.
      Range heads = p.headsOf(mesh.ulyssesIndex(rank));
      Range blocks = p.qBlocksOf(mesh.ringIndex(rank));
      for (int64_t h = heads.begin; h < heads.end; ++h)
        for (int64_t i = 0; i < blocks.size(); ++i)
          maskRows.back().at(h - heads.begin, i) =
              h * (shape.qBlocks() + 1) + blocks.begin + i;
    }
  }

  /// Copies matching chunks; counts the rows that leave a rank.
  void copy(const std::vector<Rows> &sent, Windows &src, int64_t from,
            const std::vector<Rows> &received, Windows &dst, int64_t to,
            int64_t &remoteRows) {
    ASSERT_EQ(sent.size(), received.size()) << from << " to " << to;
    for (size_t i = 0; i < sent.size(); ++i) {
      int64_t rows = sent[i].end - sent[i].begin;
      ASSERT_GT(rows, 0);
      ASSERT_EQ(rows, received[i].end - received[i].begin);
      for (int64_t row = 0; row < rows; ++row) {
        int64_t tag = src[from].at(sent[i].slot, sent[i].begin + row);
        ASSERT_GE(tag, 0) << "an unwritten row is sent";
        dst[to].at(received[i].slot, received[i].begin + row) = tag;
      }
      if (from != to)
        remoteRows += rows;
    }
  }

  static std::vector<std::vector<Rows>> split(const std::vector<Rows> &chunks,
                                              const std::vector<int64_t> &n) {
    std::vector<std::vector<Rows>> parts;
    size_t next = 0;
    for (int64_t count : n) {
      EXPECT_LE(next + count, chunks.size());
      parts.emplace_back(chunks.begin() + next, chunks.begin() + next + count);
      next += count;
    }
    EXPECT_EQ(next, chunks.size());
    return parts;
  }

  void allToAll(const std::string &name, Windows &src, Windows &dst,
                int64_t &remoteRows) {
    for (int64_t r = 0; r < mesh.ring; ++r)
      for (int64_t a = 0; a < mesh.ulysses; ++a)
        for (int64_t b = 0; b < mesh.ulysses; ++b) {
          int64_t from = mesh.rankOf(a, r), to = mesh.rankOf(b, r);
          auto sent = split(chunksOf(list(from, name + "_send")),
                            list(from, name + "_send_n"));
          auto received = split(chunksOf(list(to, name + "_recv")),
                                list(to, name + "_recv_n"));
          ASSERT_EQ(static_cast<int64_t>(sent.size()), mesh.ulysses);
          ASSERT_EQ(static_cast<int64_t>(received.size()), mesh.ulysses);
          copy(sent[b], src, from, received[a], dst, to, remoteRows);
        }
  }

  void exchange() {
    allToAll("xq", qShard, q, exchangedRows);
    int64_t kRows = 0;
    allToAll("xkv", kShard, k, kRows);
    exchangedRows += 2 * kRows; // k and v
  }

  void checkStaticWork() {
    std::set<std::pair<int64_t, int64_t>> pooledQ, pooledK;
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      int64_t r = mesh.ringIndex(rank);
      Range blocks = p.qBlocksOf(r);
      SlotTable slots = slotsOf(p, rank, Plan());
      for (const Work &work : workOf(list(rank, "pool_q"))) {
        EXPECT_EQ(slots.qHeads[work.qSlot], work.head);
        for (int64_t i = work.qBegin; i < work.qEnd; ++i)
          EXPECT_TRUE(pooledQ.insert({work.head, blocks.begin + i}).second);
      }
      for (const Work &work : workOf(list(rank, "pool_k"))) {
        EXPECT_EQ(slots.kvHeads[work.kvSlot], shape.kvHeadOf(work.head));
        EXPECT_EQ((Range{work.kvBegin, work.kvEnd}), p.kvBlocksOf(r));
        for (int64_t j = work.kvBegin; j < work.kvEnd; ++j)
          pooledK.insert({shape.kvHeadOf(work.head), j});
      }
      std::vector<Work> route = workOf(list(rank, "route"));
      ASSERT_EQ(route.size(), slots.qHeads.size());
      for (size_t i = 0; i < route.size(); ++i) {
        EXPECT_EQ(route[i].head, slots.qHeads[i]);
        EXPECT_EQ(route[i].qSlot, static_cast<int64_t>(i));
        EXPECT_EQ(slots.kvHeads[route[i].kvSlot],
                  shape.kvHeadOf(route[i].head));
        EXPECT_EQ(route[i].qEnd, blocks.size());
        EXPECT_EQ(route[i].kvEnd, shape.kvBlocks());
      }
      // Gathers: pooled k to all blocks, summaries of every head and segment.
      std::vector<Rows> sent = chunksOf(list(rank, "gk_send"));
      auto received =
          split(chunksOf(list(rank, "gk_recv")), list(rank, "gk_recv_n"));
      ASSERT_EQ(static_cast<int64_t>(received.size()), mesh.ring);
      for (int64_t member = 0; member < mesh.ring; ++member) {
        int64_t peer = mesh.rankOf(mesh.ulyssesIndex(rank), member);
        std::vector<Rows> theirs = chunksOf(list(peer, "gk_send"));
        ASSERT_EQ(received[member].size(), theirs.size());
        for (size_t i = 0; i < theirs.size(); ++i) {
          EXPECT_EQ(theirs[i].slot, received[member][i].slot);
          EXPECT_EQ(theirs[i].begin, received[member][i].begin);
          EXPECT_EQ(theirs[i].end, received[member][i].end);
        }
      }
      auto summaries =
          split(chunksOf(list(rank, "gs_recv")), list(rank, "gs_recv_n"));
      ASSERT_EQ(static_cast<int64_t>(summaries.size()), mesh.ranks());
      for (int64_t member = 0; member < mesh.ranks(); ++member) {
        std::vector<Rows> theirs = chunksOf(list(member, "gs_send"));
        ASSERT_EQ(summaries[member].size(), theirs.size());
        for (size_t i = 0; i < theirs.size(); ++i)
          EXPECT_EQ(summaries[member][i].slot,
                    member * shape.heads + theirs[i].slot);
      }
    }
    EXPECT_EQ(static_cast<int64_t>(pooledQ.size()),
              shape.heads * shape.qBlocks());
    EXPECT_EQ(static_cast<int64_t>(pooledK.size()),
              shape.kvHeads * shape.kvBlocks());
  }

  void move() {
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      const std::vector<int64_t> &out = list(rank, "mv_peer_out");
      bool nothingSent = list(rank, "mv_q_out").empty() &&
                         list(rank, "mv_kv_out").empty() &&
                         list(rank, "mv_mask_out").empty();
      EXPECT_EQ(out.empty(), nothingSent);
      if (out.empty())
        continue;
      int64_t to = out[0];
      EXPECT_EQ(mesh.ringIndex(to), mesh.ringIndex(rank));
      ASSERT_EQ(list(to, "mv_peer_in"), (std::vector<int64_t>{rank}));
      int64_t kvRows = 0, ignored = 0;
      copy(chunksOf(list(rank, "mv_q_out")), q, rank,
           chunksOf(list(to, "mv_q_in")), q, to, movedRows);
      copy(chunksOf(list(rank, "mv_kv_out")), k, rank,
           chunksOf(list(to, "mv_kv_in")), k, to, kvRows);
      copy(chunksOf(list(rank, "mv_mask_out")), maskRows, rank,
           chunksOf(list(to, "mv_mask_in")), maskRows, to, ignored);
      movedRows += 2 * kvRows;
    }
    // Nobody waits for a head that is not sent.
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
      for (int64_t from : list(rank, "mv_peer_in"))
        EXPECT_EQ(list(from, "mv_peer_out"), (std::vector<int64_t>{rank}));
  }

  /// One entry of attend: rows and needed kv rows are there; counts tiles.
  void attend(int64_t rank, const Work &work) {
    int64_t r = mesh.ringIndex(rank);
    Range blocks = p.qBlocksOf(r), tokens = p.qTokensOf(r);
    EXPECT_EQ(owners[work.head], mesh.ulyssesIndex(rank));
    EXPECT_EQ(work.qBegin, 0);
    EXPECT_EQ(work.qEnd, blocks.size());
    for (int64_t row = 0; row < tokens.size(); ++row)
      ASSERT_EQ(q[rank].at(work.qSlot, row),
                qTag(work.head, tokens.begin + row));
    int64_t kvHead = shape.kvHeadOf(work.head);
    for (int64_t i = work.qBegin; i < work.qEnd; ++i) {
      int64_t block = blocks.begin + i;
      ASSERT_EQ(maskRows[rank].at(work.qSlot, i),
                work.head * (shape.qBlocks() + 1) + block);
      for (int64_t at = 0; at < mask.count(work.head, block); ++at) {
        int64_t j = mask.row(work.head, block)[at];
        if (j < work.kvBegin || j >= work.kvEnd)
          continue;
        ++tiles[static_cast<size_t>(
            (work.head * mask.qBlocks() + block) * mask.kvBlocks() + j)];
        int64_t end = std::min((j + 1) * shape.blockK, shape.skv);
        for (int64_t token = j * shape.blockK; token < end; ++token)
          ASSERT_EQ(k[rank].at(work.kvSlot, token), kvTag(kvHead, token));
      }
    }
  }

  void attendOwn() {
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      Range tokens = p.qTokensOf(mesh.ringIndex(rank));
      for (const char *name : {"attend_local", "attend_moved"})
        for (const Work &work : workOf(list(rank, name))) {
          bool stayed = p.ownerOfHead(work.head) == owners[work.head];
          EXPECT_EQ(stayed, std::string(name) == "attend_local");
          EXPECT_EQ((Range{work.kvBegin, work.kvEnd}),
                    p.kvBlocksOf(mesh.ringIndex(rank)));
          attend(rank, work);
          for (int64_t row = 0; row < tokens.size(); ++row) {
            EXPECT_EQ(o[rank].at(work.qSlot, row), -1) << "written twice";
            o[rank].at(work.qSlot, row) = qTag(work.head, tokens.begin + row);
          }
        }
    }
  }

  void ring(int64_t distance) {
    std::string suffix = "_" + std::to_string(distance);
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      int64_t u = mesh.ulyssesIndex(rank), r = mesh.ringIndex(rank);
      int64_t to = mesh.rankOf(u, (r + distance) % mesh.ring);
      const std::vector<int64_t> &peer = list(rank, "kv_peer_out" + suffix);
      EXPECT_EQ(peer.empty(), list(rank, "kv_out" + suffix).empty());
      EXPECT_EQ(list(to, "kv_peer_in" + suffix).empty(), peer.empty());
      if (peer.empty())
        continue;
      ASSERT_EQ(peer, (std::vector<int64_t>{to}));
      ASSERT_EQ(list(to, "kv_peer_in" + suffix), (std::vector<int64_t>{rank}));
      int64_t kvRows = 0;
      copy(chunksOf(list(rank, "kv_out" + suffix)), k, rank,
           chunksOf(list(to, "kv_in" + suffix)), k, to, kvRows);
      routedRows += 2 * kvRows;
    }
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      int64_t r = mesh.ringIndex(rank);
      std::vector<Work> work = workOf(list(rank, "attend_remote" + suffix));
      std::vector<Rows> merge = chunksOf(list(rank, "merge" + suffix));
      ASSERT_EQ(work.size(), merge.size());
      for (size_t i = 0; i < work.size(); ++i) {
        EXPECT_EQ((Range{work[i].kvBegin, work[i].kvEnd}),
                  p.kvBlocksOf((r - distance + mesh.ring) % mesh.ring));
        attend(rank, work[i]);
        EXPECT_EQ(merge[i].slot, work[i].qSlot);
        EXPECT_EQ(merge[i].begin, 0);
        EXPECT_EQ(merge[i].end, p.qTokensOf(r).size());
        EXPECT_GE(o[rank].at(merge[i].slot, 0), 0) << "merged before written";
      }
    }
  }

  void checkCoverage() {
    // Once where the mask selects, never elsewhere.
    EXPECT_EQ(tiles, mask.toBits());
  }

  /// Every slot that holds rows is released once, others never.
  void release() {
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      checkReleased(q[rank], list(rank, "free_q"), list(rank, "live_q"));
      checkReleased(k[rank], list(rank, "free_kv"), list(rank, "live_kv"));
      for (int64_t slot : list(rank, "free_q"))
        EXPECT_NE(owners[slotsOf(p, rank, plan).qHeads[slot]],
                  mesh.ulyssesIndex(rank));
      // What is read later is still there: o of live slots.
      std::vector<int64_t> live;
      for (const Rows &rows : chunksOf(list(rank, "final_o")))
        live.push_back(rows.slot);
      std::sort(live.begin(), live.end());
      EXPECT_EQ(live, list(rank, "live_q"));
    }
  }
  void checkReleased(TagWindow &window, const std::vector<int64_t> &freed,
                     const std::vector<int64_t> &live) {
    std::map<int64_t, int> released;
    for (const auto *slots : {&freed, &live})
      for (int64_t slot : *slots)
        ++released[slot];
    for (int64_t slot = 0;
         window.rows > 0 &&
         slot * window.rows < static_cast<int64_t>(window.tags.size());
         ++slot) {
      bool written = false;
      for (int64_t row = 0; row < window.rows; ++row)
        written |= window.at(slot, row) >= 0;
      EXPECT_EQ(released[slot], written) << "slot " << slot;
    }
  }

  void reverse() {
    allToAll("ro", o, oShard, exchangedRows);
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      Range mine = p.qShardOf(rank);
      for (int64_t h = 0; h < shape.heads; ++h)
        for (int64_t i = 0; i < mine.size(); ++i)
          ASSERT_EQ(oShard[rank].at(h, i), qTag(h, mine.begin + i));
    }
  }

  const Placement &p;
  const LayerShape &shape;
  const Mesh &mesh;
  const BlockMask &mask;
  const Plan &plan;
  std::vector<int64_t> owners;
  Program program;
  Binding binding;
  bool valid = false;
  std::vector<int64_t> nothing;
  Windows qShard, kShard, oShard, q, k, o, maskRows;
  std::vector<uint8_t> tiles;
  int64_t exchangedRows = 0, movedRows = 0, routedRows = 0;
};

} // namespace sart::test

#endif // SPARSEATTN_TEST_UNIT_PLANNING_BINDERSIMULATION_H
