//===- PluginChannel.cpp - Frames by a plug-in ----------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ChannelPlugin.h"
#include "MessageHub.h"

#include <dlfcn.h>
#include <unistd.h>

using namespace sart;

namespace {

class PluginChannel final : public FrameChannel {
public:
  PluginChannel(const char *name, const sparseattn_channel_plugin &table)
      : transport(name), table(table) {}

  const char *name() const override { return transport; }
  int64_t rank() const override { return table.rank(); }
  int64_t ranks() const override { return table.ranks(); }
  int64_t localRank() const override { return table.local_rank(); }
  Status send(int64_t peer, Frame frame) override {
    return check(table.send(peer, frame.data(), frame.size()));
  }
  int64_t queued(int64_t peer) const override { return table.queued(peer); }
  Status poll(const Take &take) override {
    // So many at once that the transports' own work is not put off for long.
    constexpr int most = 64;
    for (int i = 0; i < most; ++i) {
      int64_t peer = -1;
      const uint8_t *bytes = nullptr;
      size_t size = 0;
      SART_RETURN_IF_ERROR(check(table.poll(&peer, &bytes, &size)));
      if (peer < 0)
        break;
      Frame frame(bytes, bytes + size);
      take(peer, &frame);
    }
    return Status::success();
  }
  void close(bool orderly, int64_t milliseconds) override {
    table.close(orderly, milliseconds);
  }

private:
  Status check(int failed) const {
    return failed ? makeError("transport ", transport, ": ", table.message())
                  : Status::success();
  }
  const char *transport;
  const sparseattn_channel_plugin &table;
};

} // namespace

/// The plug-in in the folder of the library or program that this is in; else
/// the bare name, for the system to find.
static std::string placeOf(const std::string &file) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&placeOf), &info) && info.dli_fname) {
    std::string own = info.dli_fname;
    size_t slash = own.rfind('/');
    std::string beside =
        (slash == std::string::npos ? "" : own.substr(0, slash + 1)) + file;
    if (access(beside.c_str(), R_OK) == 0)
      return slash == std::string::npos ? "./" + beside : beside;
  }
  return file;
}

Expected<std::shared_ptr<TransportHub>>
sart::openMpiHub(const std::string &plugin) {
  const char *file = "libsparseattn-mpi.so";
  std::string path = plugin.empty() ? placeOf(file) : plugin;
  // Stays open: MPI cannot be unloaded.
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    return makeError("transport mpi: got '", reason ? reason : "no reason",
                     "', expected the plug-in ", file,
                     " and Open MPI's libmpi");
  }
  const auto *table = static_cast<const sparseattn_channel_plugin *>(
      dlsym(library, SPARSEATTN_CHANNEL_PLUGIN_SYMBOL));
  if (!table)
    return makeError("transport mpi: got ", path, " without ",
                     SPARSEATTN_CHANNEL_PLUGIN_SYMBOL,
                     ", expected a plug-in of sparseattn");
  if (table->version != SPARSEATTN_CHANNEL_PLUGIN_VERSION)
    return makeError("transport mpi: got a plug-in of version ", table->version,
                     ", expected ", SPARSEATTN_CHANNEL_PLUGIN_VERSION);
  if (table->open())
    return makeError("transport mpi: ", table->message());
  return std::shared_ptr<TransportHub>(
      MessageHub::create(std::make_unique<PluginChannel>("mpi", *table)));
}
