//===- RankTransfer.cpp - Instructions that move data ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "OpcodeInfo.h"
#include "RankExecutor.h"

using namespace sart;

void RankExecutor::countSent(int32_t window, int64_t peer, int64_t bytes,
                             bool collective) {
  if (peer == rank)
    return;
  eventBytes += bytes;
  if (!payload[static_cast<size_t>(window)])
    return;
  RankRecord &counts = record();
  counts.sent[static_cast<size_t>(peer)] += bytes;
  // Heads and rows of queries move, kv-blocks are routed along the ring.
  if (collective)
    counts.exchange += bytes;
  else if (queries[static_cast<size_t>(window)] ||
           placement().mesh.ringIndex(peer) == ringIndex)
    counts.moved += bytes;
  else
    counts.routed += bytes;
}

/// Cuts a chunk list into one segment list per member of a group.
static Expected<std::vector<SegmentList>>
splitByMember(const WindowArena &arena, int32_t window,
              const std::vector<int64_t> &chunks,
              const std::vector<int64_t> &counts, size_t members) {
  if (counts.size() != members)
    return makeError("chunk counts of a collective do not match: got ",
                     counts.size(), " counts, expected one for each of ",
                     members, " members");
  auto available = static_cast<int64_t>(chunks.size()) / chunkInts;
  int64_t position = 0;
  std::vector<SegmentList> lists;
  for (int64_t count : counts) {
    if (count < 0 || count > available - position)
      return makeError("chunk count of a collective out of range: got ", count,
                       ", expected at most ", available - position);
    Expected<SegmentList> list =
        arena.segments(window, chunks.data() + position * chunkInts, count);
    if (!list)
      return list.status();
    lists.push_back(std::move(*list));
    position += count;
  }
  if (position * chunkInts != static_cast<int64_t>(chunks.size()))
    return makeError("chunk counts of a collective do not match its chunks: "
                     "got ",
                     position, ", expected ", available);
  return lists;
}

/// All sends and receives are in flight before the first wait, so that the
/// order of the members cannot block. Empty pieces are skipped by both ends.
Status RankExecutor::exchange(const Instruction &instruction,
                              const std::vector<SegmentList> &from,
                              const std::vector<SegmentList> &to) {
  Ints members = groupMembers(placement().mesh, instruction.group, rank);
  std::vector<std::shared_ptr<TransferHandle>> handles;
  Status failure;
  auto keep = [&](Expected<std::shared_ptr<TransferHandle>> handle) {
    if (handle)
      handles.push_back(std::move(*handle));
    else if (failure.ok())
      failure = handle.status();
  };
  size_t self = 0;
  while (members[self] != rank)
    ++self;
  for (size_t i = 1; i < members.size() && failure.ok(); ++i) {
    // Ranks start with different peers.
    size_t member = (self + i) % members.size();
    if (int64_t bytes = totalBytes(from[member])) {
      countSent(instruction.windows[0], members[member], bytes,
                /*collective=*/true);
      keep(endpoint.send(members[member], from[member]));
    }
    if (totalBytes(to[member]) && failure.ok())
      keep(endpoint.recv(members[member], to[member]));
  }
  if (failure.ok()) {
    failure = arena.memory().copy(from[self], to[self]);
    if (!failure.ok())
      failure = makeError("own part of a collective: ", failure.message());
  }
  // After a failure the others only end the use of memory.
  if (!failure.ok())
    endpoint.abort(failure.message());
  for (std::shared_ptr<TransferHandle> &handle : handles) {
    Status status = endpoint.wait(*handle);
    if (!status.ok() && failure.ok()) {
      failure = status;
      endpoint.abort(failure.message());
    }
  }
  return failure;
}

Status RankExecutor::allToAll(const Instruction &instruction) {
  size_t members =
      static_cast<size_t>(groupSize(placement().mesh, instruction.group));
  auto from = splitByMember(arena, instruction.windows[0], list(instruction, 0),
                            list(instruction, 1), members);
  if (!from)
    return from.status();
  auto to = splitByMember(arena, instruction.windows[1], list(instruction, 2),
                          list(instruction, 3), members);
  if (!to)
    return to.status();
  return exchange(instruction, *from, *to);
}

Status RankExecutor::allGather(const Instruction &instruction) {
  size_t members =
      static_cast<size_t>(groupSize(placement().mesh, instruction.group));
  Expected<SegmentList> own =
      arena.segments(instruction.windows[0], list(instruction, 0));
  if (!own)
    return own.status();
  auto to = splitByMember(arena, instruction.windows[1], list(instruction, 1),
                          list(instruction, 2), members);
  if (!to)
    return to.status();
  return exchange(instruction, std::vector<SegmentList>(members, *own), *to);
}

Expected<std::optional<int64_t>>
RankExecutor::peerOf(const Instruction &instruction) const {
  const Ints &peer = values(instruction.peer);
  if (peer.empty())
    return std::optional<int64_t>();
  if (peer.size() != 1 || peer[0] < 0 || peer[0] >= endpoint.ranks())
    return makeError("peer out of range: got ", peer[0], " (", peer.size(),
                     " values), expected one of 0 to ", endpoint.ranks() - 1);
  return std::optional<int64_t>(peer[0]);
}

Status RankExecutor::sendOrRecv(const Instruction &instruction, bool isSend) {
  auto peer = peerOf(instruction);
  if (!peer)
    return peer.status();
  if (!peer->has_value()) {
    skipped = true;
    return Status::success();
  }
  auto memory = arena.segments(instruction.windows[0], list(instruction, 0));
  if (!memory)
    return memory.status();
  if (isSend)
    countSent(instruction.windows[0], **peer, totalBytes(*memory),
              /*collective=*/false);
  auto handle = isSend ? endpoint.send(**peer, std::move(*memory))
                       : endpoint.recv(**peer, std::move(*memory));
  if (!handle)
    return handle.status();
  if (instruction.token < 0)
    return endpoint.wait(**handle);
  std::shared_ptr<TransferHandle> &token =
      tokens[static_cast<size_t>(instruction.token)];
  if (token)
    SART_RETURN_IF_ERROR(endpoint.wait(*token));
  token = std::move(*handle);
  return Status::success();
}

Status RankExecutor::waitTokens(const Instruction &instruction) {
  skipped = true;
  for (int32_t id : instruction.waits) {
    std::shared_ptr<TransferHandle> &token = tokens[static_cast<size_t>(id)];
    if (!token) // the transfer had no peer
      continue;
    skipped = false;
    // The handle stays until the wait succeeded, for drain.
    SART_RETURN_IF_ERROR(endpoint.wait(*token));
    token = nullptr;
  }
  return Status::success();
}

Status RankExecutor::put(const Instruction &instruction) {
  auto peer = peerOf(instruction);
  if (!peer)
    return peer.status();
  if (!peer->has_value()) {
    skipped = true;
    return Status::success();
  }
  auto from = arena.segments(instruction.windows[0], list(instruction, 0));
  if (!from)
    return from.status();
  countSent(instruction.windows[0], **peer, totalBytes(*from),
            /*collective=*/false);
  return endpoint.put(**peer, *from,
                      {instruction.windows[1], list(instruction, 1)});
}

Status RankExecutor::signalOrWait(const Instruction &instruction,
                                  bool isSignal) {
  auto peer = peerOf(instruction);
  if (!peer)
    return peer.status();
  if (!peer->has_value()) {
    skipped = true;
    return Status::success();
  }
  return isSignal ? endpoint.signal(**peer) : endpoint.waitSignal(**peer);
}

Status RankExecutor::copyLocal(const Instruction &instruction) {
  const Ints &chunks = list(instruction, 0);
  skipped = chunks.empty();
  auto from = arena.segments(instruction.windows[0], chunks);
  if (!from)
    return from.status();
  auto to = arena.segments(instruction.windows[1], list(instruction, 1));
  if (!to)
    return to.status();
  return arena.memory().copy(*from, *to);
}
