//===- MpiChannel.cpp - Frames over MPI -----------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plug-in libsparseattn-mpi.so, which alone is linked with MPI. No call
// blocks: time-outs and aborts are the business of whoever polls. Frames of a
// pair have one tag, so that MPI keeps their order. An MPI that a host has
// started itself is used, with a communicator of its own, and left running.
//
//===----------------------------------------------------------------------===//
#include "ChannelPlugin.h"

// The C++ interface is gone from the standard.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <chrono>
#include <climits>
#include <deque>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Sending {
  MPI_Request request = MPI_REQUEST_NULL;
  std::vector<uint8_t> bytes;
};

struct Channel {
  MPI_Comm communicator = MPI_COMM_NULL;
  int rank = 0, ranks = 0, localRank = 0;
  bool startedHere = false;
  std::vector<std::deque<Sending>> sending; ///< by peer
  std::vector<int64_t> queued;              ///< bytes
  std::vector<uint8_t> received;
};

Channel channel;
std::string failure;

constexpr int frameTag = 1;

int check(int result, const char *call) {
  if (result == MPI_SUCCESS)
    return 0;
  char text[MPI_MAX_ERROR_STRING] = "unknown error";
  int length = 0;
  MPI_Error_string(result, text, &length);
  failure = std::string(call) + ": got '" + text + "', expected success";
  return 1;
}

/// Frees what has been sent. Only the oldest of a peer are looked at: they
/// leave in order, or almost so.
int finishSends() {
  for (size_t peer = 0; peer < channel.sending.size(); ++peer) {
    std::deque<Sending> &list = channel.sending[peer];
    while (!list.empty()) {
      int done = 0;
      if (check(MPI_Test(&list.front().request, &done, MPI_STATUS_IGNORE),
                "MPI_Test"))
        return 1;
      if (!done)
        break;
      channel.queued[peer] -= static_cast<int64_t>(list.front().bytes.size());
      list.pop_front();
    }
  }
  return 0;
}

int openChannel() {
  if (channel.communicator != MPI_COMM_NULL) {
    failure = "MPI channel: got a second one, expected one in a process";
    return 1;
  }
  int initialized = 0, finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) {
    failure = "MPI: got one that was ended, expected one to use or to start";
    return 1;
  }
  MPI_Initialized(&initialized);
  int level = MPI_THREAD_SINGLE;
  if (!initialized) {
    if (check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level),
              "MPI_Init_thread"))
      return 1;
    channel.startedHere = true;
  } else {
    MPI_Query_thread(&level);
  }
  if (level < MPI_THREAD_SERIALIZED) {
    failure = "thread level of MPI: got " + std::to_string(level) +
              ", expected at least MPI_THREAD_SERIALIZED";
    return 1;
  }
  MPI_Comm machine = MPI_COMM_NULL;
  if (check(MPI_Comm_dup(MPI_COMM_WORLD, &channel.communicator),
            "MPI_Comm_dup") ||
      check(MPI_Comm_set_errhandler(channel.communicator, MPI_ERRORS_RETURN),
            "MPI_Comm_set_errhandler") ||
      check(MPI_Comm_rank(channel.communicator, &channel.rank),
            "MPI_Comm_rank") ||
      check(MPI_Comm_size(channel.communicator, &channel.ranks),
            "MPI_Comm_size") ||
      check(MPI_Comm_split_type(channel.communicator, MPI_COMM_TYPE_SHARED, 0,
                                MPI_INFO_NULL, &machine),
            "MPI_Comm_split_type"))
    return 1;
  MPI_Comm_rank(machine, &channel.localRank);
  MPI_Comm_free(&machine);
  channel.sending.resize(static_cast<size_t>(channel.ranks));
  channel.queued.assign(static_cast<size_t>(channel.ranks), 0);
  return 0;
}

int sendFrame(int64_t peer, const uint8_t *bytes, size_t size) {
  if (size > static_cast<size_t>(INT_MAX)) {
    failure = "frame: got " + std::to_string(size) +
              " bytes, expected at most " + std::to_string(INT_MAX);
    return 1;
  }
  auto index = static_cast<size_t>(peer);
  channel.sending[index].emplace_back();
  Sending &sending = channel.sending[index].back();
  sending.bytes.assign(bytes, bytes + size);
  channel.queued[index] += static_cast<int64_t>(size);
  // finishSends tests for its end.
  // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker)
  return check(MPI_Isend(sending.bytes.data(), static_cast<int>(size), MPI_BYTE,
                         static_cast<int>(peer), frameTag, channel.communicator,
                         &sending.request),
               "MPI_Isend");
}

int pollFrames(int64_t *peer, const uint8_t **bytes, size_t *size) {
  *peer = -1;
  if (finishSends())
    return 1;
  int arrived = 0, count = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  if (check(MPI_Improbe(MPI_ANY_SOURCE, frameTag, channel.communicator,
                        &arrived, &message, &status),
            "MPI_Improbe"))
    return 1;
  if (!arrived)
    return 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  channel.received.resize(static_cast<size_t>(count));
  // A frame that matched is on its way; its receive ends.
  if (check(MPI_Mrecv(channel.received.data(), count, MPI_BYTE, &message,
                      MPI_STATUS_IGNORE),
            "MPI_Mrecv"))
    return 1;
  *peer = status.MPI_SOURCE;
  *bytes = channel.received.data();
  *size = static_cast<size_t>(count);
  return 0;
}

void closeChannel(int orderly, int64_t milliseconds) {
  auto end = std::chrono::steady_clock::now() +
             std::chrono::milliseconds(milliseconds);
  auto before = [&] { return std::chrono::steady_clock::now() < end; };
  auto left = [] {
    for (const std::deque<Sending> &list : channel.sending)
      if (!list.empty())
        return true;
    return false;
  };
  while (finishSends() == 0 && left() && before())
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  if (!channel.startedHere)
    return; // the host's MPI goes on
  // MPI_Finalize waits for all processes; one that hangs must not hold up the
  // others for ever.
  MPI_Request request = MPI_REQUEST_NULL;
  int done = 0;
  if (orderly && !left() &&
      MPI_Ibarrier(channel.communicator, &request) == MPI_SUCCESS)
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
           !done && before())
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  if (done)
    MPI_Finalize();
  else
    MPI_Abort(MPI_COMM_WORLD, 1);
}

} // namespace

// NOLINTBEGIN(readability-identifier-naming)
extern "C" __attribute__((visibility("default")))
const sparseattn_channel_plugin sparseattn_channel_plugin_table = {
    SPARSEATTN_CHANNEL_PLUGIN_VERSION,
    "MPI",
    openChannel,
    [] { return failure.c_str(); },
    [] { return static_cast<int64_t>(channel.rank); },
    [] { return static_cast<int64_t>(channel.ranks); },
    [] { return static_cast<int64_t>(channel.localRank); },
    sendFrame,
    [](int64_t peer) { return channel.queued[static_cast<size_t>(peer)]; },
    pollFrames,
    closeChannel};
// NOLINTEND(readability-identifier-naming)
