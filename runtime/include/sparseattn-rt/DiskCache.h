//===- DiskCache.h - Compiled code kept between processes -------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A folder with one file an entry. No locks: a file appears under its name
// whole or not at all, readers trust nothing that they have not checked, and
// whoever finds a file missing, damaged or of another version makes it anew.
// Processes that start at once may do the same work twice, never wait.
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_DISKCACHE_H
#define SPARSEATTN_RT_DISKCACHE_H

#include "sparseattn-rt/Status.h"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace sart {

/// What a cache did since it was made.
struct CacheCounters {
  int64_t hits = 0;
  int64_t misses = 0;  ///< every load that was no hit
  int64_t ignored = 0; ///< of these, files that were there and not usable
  int64_t stored = 0;
  int64_t removed = 0; ///< entries that made room for others
  /// The first reason why nothing could be stored; empty if there was none.
  std::string problem;
};

/// May be used by several threads, and its folder by several processes.
class DiskCache {
public:
  static constexpr int64_t defaultMaxBytes = int64_t(256) << 20;

  /// Entries of `folder` are `maxBytes` together at most. The folder is made
  /// by the first store; an empty name is a cache that keeps nothing.
  explicit DiskCache(std::string folder, int64_t maxBytes = defaultMaxBytes);

  const std::string &folder() const { return path; }
  /// What all entries may be together, in bytes.
  int64_t sizeLimit() const { return maxBytes; }
  bool enabled() const { return !path.empty() && !off; }
  /// Keeps nothing from here on, for this reason. To be called before threads
  /// share the cache.
  void disable(std::string problem);

  /// The payload stored under exactly `key`.
  std::optional<std::string> load(const std::string &key);
  /// Stores or replaces an entry, then removes what was used longest ago while
  /// all are too large together, and what killed processes left an hour ago.
  /// Never fails: a folder that cannot be written is a problem in the counters.
  void store(const std::string &key, const std::string &payload);
  /// For the caller that found a loaded payload unusable: the hit was none.
  void reject();

  CacheCounters counters() const;

  /// "0123456789abcdef.sac": the file of `key`, by its hash.
  static std::string fileName(const std::string &key);
  /// $XDG_CACHE_HOME/sparseattn, else $HOME/.cache/sparseattn, else empty. Only
  /// absolute paths count, as the XDG specification says.
  static std::string defaultFolder();

private:
  Status write(const std::string &key, const std::string &payload);
  void removeOld(const std::string &justStored);

  const std::string path;
  const int64_t maxBytes;
  bool off = false;
  mutable std::mutex mutex; ///< guards the counters
  CacheCounters count;
};

} // namespace sart

#endif // SPARSEATTN_RT_DISKCACHE_H
