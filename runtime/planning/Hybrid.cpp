//===- Hybrid.cpp - Ulysses x ring meshes with demand routing -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Hybrid.h"

#include "sparseattn-rt/Plan.h"

#include <algorithm>
#include <numeric>

using namespace sart;

namespace {

__extension__ typedef __int128 Wide;

/// Bytes and messages between ranks.
class Traffic {
public:
  explicit Traffic(int64_t ranks)
      : ranks(ranks), bytes(static_cast<size_t>(ranks * ranks), 0),
        messages(static_cast<size_t>(ranks * ranks), 0) {}
  void add(int64_t from, int64_t to, int64_t count) {
    if (from == to || count == 0)
      return;
    size_t pair = static_cast<size_t>(from * ranks + to);
    bytes[pair] += count;
    messages[pair] = 1;
  }
  void add(const Traffic &other) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] += other.bytes[i];
      messages[i] += other.messages[i];
    }
  }
  /// Time of the busiest port of a rank, sending or receiving.
  int64_t busyPs(const Machine &machine) const;

private:
  int64_t ranks;
  std::vector<int64_t> bytes, messages;
};

int64_t Traffic::busyPs(const Machine &machine) const {
  int64_t most = 0;
  for (int64_t rank = 0; rank < ranks; ++rank)
    for (bool sends : {true, false}) {
      std::vector<int64_t> levelBytes(machine.links.size(), 0);
      std::vector<int64_t> latency(machine.links.size(), 0);
      for (int64_t other = 0; other < ranks; ++other) {
        size_t pair = static_cast<size_t>(sends ? rank * ranks + other
                                                : other * ranks + rank);
        if (bytes[pair] == 0)
          continue;
        size_t level = machine.levelOf(rank, other);
        levelBytes[level] += bytes[pair];
        latency[level] += messages[pair] * machine.links[level].latencyPs.value;
      }
      int64_t sum = 0, largest = 0;
      for (size_t level = 0; level < levelBytes.size(); ++level) {
        int64_t time =
            machine.transferPs(levelBytes[level], level) + latency[level];
        sum += time;
        largest = std::max(largest, time);
      }
      most = std::max(most, machine.portPerLink ? largest : sum);
    }
  return most;
}

/// Heads to `bins` bins, longest first, at most ceil(heads / bins) each.
std::vector<int64_t> giveOutHeads(const BlockMask &mask, int64_t bins) {
  std::vector<int64_t> heads(static_cast<size_t>(mask.heads()));
  std::iota(heads.begin(), heads.end(), 0);
  std::sort(heads.begin(), heads.end(), [&](int64_t a, int64_t b) {
    int64_t first = mask.load(a), second = mask.load(b);
    return first != second ? first > second : a < b;
  });
  int64_t most = (mask.heads() + bins - 1) / bins;
  std::vector<int64_t> loads(static_cast<size_t>(bins), 0), counts = loads;
  std::vector<int64_t> owners(heads.size(), 0);
  for (int64_t head : heads) {
    int64_t best = -1;
    for (int64_t bin = 0; bin < bins; ++bin)
      if (counts[static_cast<size_t>(bin)] < most &&
          (best < 0 ||
           loads[static_cast<size_t>(bin)] < loads[static_cast<size_t>(best)]))
        best = bin;
    owners[static_cast<size_t>(head)] = best;
    loads[static_cast<size_t>(best)] += mask.load(head);
    ++counts[static_cast<size_t>(best)];
  }
  return owners;
}

BlockMask headsOf(const BlockMask &mask, const std::vector<int64_t> &owners,
                  int64_t bin) {
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> indices;
  int64_t heads = 0;
  for (int64_t head = 0; head < mask.heads(); ++head) {
    if (owners[static_cast<size_t>(head)] != bin)
      continue;
    ++heads;
    for (int64_t row = 0; row < mask.qBlocks(); ++row) {
      const int32_t *list = mask.row(head, row);
      indices.insert(indices.end(), list, list + mask.count(head, row));
      offsets.push_back(static_cast<int64_t>(indices.size()));
    }
  }
  Expected<BlockMask> part =
      BlockMask::fromRows(heads, mask.qBlocks(), mask.kvBlocks(),
                          std::move(offsets), std::move(indices));
  return part ? std::move(*part) : BlockMask();
}

/// One mesh with one rule.
class Candidate {
public:
  Candidate(const BlockMask &mask, const BlockGrid &grid,
            const Machine &machine, const HybridOptions &options, Mesh mesh,
            BlockRule rule)
      : mask(mask), grid(grid), machine(machine), options(options),
        in(options.ranks), out(options.ranks), ring(options.ranks),
        loads(static_cast<size_t>(options.ranks), 0),
        rows(static_cast<size_t>(options.ranks), 0) {
    plan.mesh = mesh;
    plan.rule = rule;
    rowBytes = options.headDim * byteSize(options.dtype);
  }
  Expected<HybridPlan> predict();

private:
  int64_t qBytes(int64_t blocks) const {
    return blocks * grid.blockQ * rowBytes;
  }
  Status addRings();
  void addExchange(const BlockOwners &owners);
  void balanceSegments();
  void setTimes();
  int64_t time() const {
    return options.pipelined ? plan.pipelinedPs : plan.plainPs;
  }
  int64_t computePs() const;

  const BlockMask &mask;
  const BlockGrid &grid;
  const Machine &machine;
  const HybridOptions &options;
  HybridPlan plan;
  int64_t rowBytes = 0;
  Traffic in, out, ring;
  std::vector<int64_t> loads, rows; ///< tiles and rows of each rank
};

/// Demand and balance of every bin's ring.
Status Candidate::addRings() {
  int64_t demanded = 0, bins = plan.mesh.ulysses, segments = plan.mesh.ring;
  Expected<BlockOwners> owners = placeBlocks(plan.rule, grid, segments);
  if (!owners)
    return owners.status();
  addExchange(*owners);
  for (int64_t bin = 0; bin < bins; ++bin) {
    MaskBits bits(headsOf(mask, plan.headOwners, bin));
    RepairOptions repair;
    repair.rhoMilli = options.rhoMilli;
    repair.movedMilli = 0;
    repair.rowTokens = grid.blockQ;
    repair.kvTokens = grid.blockK;
    Expected<RowRepair> repaired = repairRows(bits, *owners, repair);
    if (!repaired)
      return repaired.status();
    plan.movedRows += repaired->movedRows;
    for (const RowShift &shift : repaired->shifts) {
      int64_t from = plan.mesh.rankOf(bin, shift.from);
      int64_t to = plan.mesh.rankOf(bin, shift.to);
      in.add(from, to, qBytes(shift.rows.size()));
      out.add(to, from, qBytes(shift.rows.size()));
      rows[static_cast<size_t>(from)] -= shift.rows.size();
      rows[static_cast<size_t>(to)] += shift.rows.size();
    }
    RingDemand demand = countRingDemand(bits, *owners, repaired->rowOwners);
    demanded += demand.total();
    for (int64_t from = 0; from < segments; ++from) {
      loads[static_cast<size_t>(plan.mesh.rankOf(bin, from))] +=
          demand.loads[static_cast<size_t>(from)];
      for (int64_t to = 0; to < segments; ++to)
        ring.add(plan.mesh.rankOf(bin, from), plan.mesh.rankOf(bin, to),
                 2 * grid.blockK * rowBytes *
                     demand.blocks[static_cast<size_t>(from * segments + to)]);
    }
  }
  int64_t dense = (segments - 1) * mask.kvBlocks() * mask.heads();
  if (dense > 0)
    plan.demandShare =
        static_cast<double>(demanded) / static_cast<double>(dense);
  return Status::success();
}

/// Q, K and V of the heads of a segment's members, and O back.
void Candidate::addExchange(const BlockOwners &owners) {
  int64_t bins = plan.mesh.ulysses;
  std::vector<int64_t> heads(static_cast<size_t>(bins), 0);
  for (int64_t owner : plan.headOwners)
    ++heads[static_cast<size_t>(owner)];
  for (int64_t segment = 0; segment < plan.mesh.ring; ++segment) {
    int64_t blocks = static_cast<int64_t>(
        owners.rowsOf[static_cast<size_t>(segment)].size());
    for (int64_t bin = 0; bin < bins; ++bin) {
      int64_t rank = plan.mesh.rankOf(bin, segment);
      int64_t own = heads[static_cast<size_t>(bin)];
      rows[static_cast<size_t>(rank)] += own * blocks;
      // A member's shard of the segment, of the heads of this one.
      for (int64_t other = 0; other < bins; ++other) {
        int64_t peer = plan.mesh.rankOf(other, segment);
        in.add(peer, rank, 3 * own * qBytes(blocks) / bins);
        out.add(rank, peer, own * qBytes(blocks) / bins);
      }
    }
  }
}

/// Rows from the fullest to the emptiest member of a segment, by tiles: their
/// Q and O, and K and V of the segment, once a transfer.
void Candidate::balanceSegments() {
  int64_t total = std::accumulate(loads.begin(), loads.end(), int64_t(0));
  int64_t mean = total / options.ranks;
  int64_t cap = mean + mean * (options.rhoMilli - 1000) / 1000;
  for (int64_t segment = 0; segment < plan.mesh.ring; ++segment) {
    int64_t blocks = evenPart(mask.qBlocks(), plan.mesh.ring, segment).size();
    for (int64_t step = 0; step < 2 * plan.mesh.ulysses; ++step) {
      int64_t from = plan.mesh.rankOf(0, segment), to = from;
      for (int64_t bin = 0; bin < plan.mesh.ulysses; ++bin) {
        int64_t rank = plan.mesh.rankOf(bin, segment);
        if (loads[static_cast<size_t>(rank)] > loads[static_cast<size_t>(from)])
          from = rank;
        if (loads[static_cast<size_t>(rank)] < loads[static_cast<size_t>(to)])
          to = rank;
      }
      int64_t &full = loads[static_cast<size_t>(from)];
      int64_t &empty = loads[static_cast<size_t>(to)];
      int64_t tiles = std::min(full - cap, cap - empty);
      if (tiles <= 0)
        break;
      int64_t count = rows[static_cast<size_t>(from)] * tiles / full + 1;
      in.add(from, to, qBytes(count) + 2 * qBytes(blocks));
      out.add(to, from, qBytes(count));
      rows[static_cast<size_t>(from)] -= count;
      rows[static_cast<size_t>(to)] += count;
      plan.movedRows += count;
      full -= tiles;
      empty += tiles;
    }
  }
}

/// Slowest rank, without launches: its tiles, its rows once a segment, and a
/// merge of all its rows (a float32 accumulator and part read, one written
/// twice) for every segment but the own.
int64_t Candidate::computePs() const {
  LayerShape shape;
  shape.blockQ = grid.blockQ;
  shape.blockK = grid.blockK;
  shape.headDim = options.headDim;
  shape.dtype = options.dtype;
  KernelCost kernel = machine.kernelOf(shape);
  int64_t most = 0;
  for (size_t rank = 0; rank < loads.size(); ++rank) {
    int64_t merged =
        (plan.mesh.ring - 1) * rows[rank] * grid.blockQ * options.headDim * 16;
    most = std::max(most, loads[rank] * kernel.tilePs +
                              plan.mesh.ring * rows[rank] * kernel.rowPs +
                              machine.memoryPs(merged));
  }
  return most;
}

Expected<HybridPlan> Candidate::predict() {
  plan.headOwners = giveOutHeads(mask, plan.mesh.ulysses);
  std::vector<int64_t> bins(static_cast<size_t>(plan.mesh.ulysses), 0);
  for (int64_t head = 0; head < mask.heads(); ++head)
    bins[static_cast<size_t>(plan.headOwners[static_cast<size_t>(head)])] +=
        mask.load(head);
  plan.rhoHeads = imbalance(bins);
  SART_RETURN_IF_ERROR(addRings());
  setTimes();
  // Rows between the members of a segment cost exchanges: only if they pay.
  Candidate balanced = *this;
  balanced.balanceSegments();
  balanced.setTimes();
  return balanced.time() < time() ? balanced.plan : plan;
}

void Candidate::setTimes() {
  int64_t chunks = (mask.heads() + plan.mesh.ulysses - 1) / plan.mesh.ulysses;
  int64_t launches = 2 * plan.mesh.ring - 1;
  int64_t compute = computePs();
  plan.rho = imbalance(loads);
  plan.exchangeInPs = in.busyPs(machine);
  plan.exchangeOutPs = out.busyPs(machine);
  plan.ringPs = ring.busyPs(machine);
  plan.computePs = compute + launches * machine.device.launchPs.value;
  plan.plainPs = plan.exchangeInPs + std::max(plan.computePs, plan.ringPs) +
                 plan.exchangeOutPs;
  Traffic all = in;
  all.add(out);
  all.add(ring);
  plan.busyPs = all.busyPs(machine);
  plan.pipelinedPs =
      plan.exchangeInPs / chunks + plan.exchangeOutPs / chunks +
      std::max(compute + chunks * launches * machine.device.launchPs.value,
               plan.busyPs);
}

} // namespace

Expected<std::vector<HybridPlan>>
sart::planHybrids(const BlockMask &mask, const BlockGrid &grid,
                  const Machine &machine, const HybridOptions &options) {
  SART_RETURN_IF_ERROR(grid.verify());
  SART_RETURN_IF_ERROR(machine.verify());
  if (mask.qBlocks() != grid.qBlocks() || mask.kvBlocks() != grid.kvBlocks())
    return makeError("blocks of the mask do not fit the grid: got ",
                     mask.qBlocks(), " x ", mask.kvBlocks(), ", expected ",
                     grid.qBlocks(), " x ", grid.kvBlocks());
  if (options.ranks < 1 || options.ranks > machine.ranks())
    return makeError("number of ranks out of range: got ", options.ranks,
                     ", expected 1 to ", machine.ranks());
  std::vector<HybridPlan> plans;
  for (int64_t ulysses = std::min(options.ranks, mask.heads()); ulysses >= 1;
       --ulysses) {
    if (options.ranks % ulysses != 0)
      continue;
    Mesh mesh = {ulysses, options.ranks / ulysses};
    std::vector<BlockRule> rules = blockRules(mesh.ring);
    if (mesh.ring == 1)
      rules.resize(1);
    for (const BlockRule &rule : rules) {
      Candidate candidate(mask, grid, machine, options, mesh, rule);
      Expected<HybridPlan> plan = candidate.predict();
      if (!plan)
        return plan.status();
      plans.push_back(std::move(*plan));
    }
  }
  return plans;
}

size_t sart::bestHybrid(const std::vector<HybridPlan> &plans,
                        const Machine &machine, const HybridOptions &options) {
  auto time = [&](size_t index) {
    const HybridPlan &plan = plans[index];
    return options.pipelined ? plan.pipelinedPs : plan.plainPs;
  };
  size_t best = 0, plain = plans.size();
  for (size_t i = 0; i < plans.size(); ++i) {
    if (time(i) < time(best))
      best = i;
    if (plans[i].mesh.ring == 1)
      plain = i;
  }
  if (plain == plans.size())
    return best;
  bool flat = options.ranks < 2 || machine.levelOf(0, options.ranks - 1) == 0;
  bool gains = Wide(time(best)) * (1000 + options.marginMilli) <
               Wide(time(plain)) * 1000;
  return gains && !flat ? best : plain;
}
