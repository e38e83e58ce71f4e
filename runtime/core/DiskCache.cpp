//===- DiskCache.cpp - Compiled code kept between processes ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/DiskCache.h"

#include "AtomicFile.h"
#include "ContentHeader.h"
#include "sparseattn-rt/CacheFile.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

using namespace sart;

static constexpr std::string_view suffix = ".sac";

DiskCache::DiskCache(std::string folder, int64_t maxBytes)
    : path(std::move(folder)), maxBytes(maxBytes) {}

CacheCounters DiskCache::counters() const {
  std::lock_guard<std::mutex> lock(mutex);
  return count;
}

void DiskCache::disable(std::string problem) {
  off = true;
  std::lock_guard<std::mutex> lock(mutex);
  count.problem = std::move(problem);
}

void DiskCache::reject() {
  std::lock_guard<std::mutex> lock(mutex);
  --count.hits;
  ++count.misses;
  ++count.ignored;
}

std::string DiskCache::fileName(const std::string &key) {
  uint64_t hash =
      hashBytes(reinterpret_cast<const uint8_t *>(key.data()), key.size());
  std::string name(16, '0');
  for (size_t i = 16; i-- > 0; hash >>= 4)
    name[i] = "0123456789abcdef"[hash & 15];
  return name.append(suffix);
}

std::string DiskCache::defaultFolder() {
  const char *xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg && xdg[0] == '/')
    return std::string(xdg) + "/sparseattn";
  const char *home = std::getenv("HOME");
  if (home && home[0] == '/')
    return std::string(home) + "/.cache/sparseattn";
  return "";
}

namespace {
/// A file descriptor that closes itself.
class Descriptor {
public:
  explicit Descriptor(int number) : number(number) {}
  ~Descriptor() {
    if (number >= 0)
      ::close(number);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  const int number;
};
} // namespace

/// Payloads are code that will run: only files that this user or the system's
/// owner wrote, and nobody else can change, are read.
static bool isTrusted(const struct stat &info) {
  return S_ISREG(info.st_mode) &&
         (info.st_uid == ::geteuid() || info.st_uid == 0) &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// Reads the whole file, `size` bytes; false if there are fewer.
static bool readAll(int descriptor, std::vector<uint8_t> &bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t got = ::read(descriptor, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    done += static_cast<size_t>(got);
  }
  return true;
}

std::optional<std::string> DiskCache::load(const std::string &key) {
  if (!enabled())
    return std::nullopt;
  // A pipe in the place of an entry must not be waited for.
  Descriptor file(::open((path + "/" + fileName(key)).c_str(),
                         O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::optional<std::string> payload;
  struct stat info;
  if (file.number >= 0 && ::fstat(file.number, &info) == 0 && isTrusted(info) &&
      info.st_size <= maxBytes) {
    std::vector<uint8_t> bytes(static_cast<size_t>(info.st_size));
    if (readAll(file.number, bytes))
      if (auto entry = readCacheFile(bytes.data(), bytes.size());
          entry && entry->key == key)
        payload = std::move(entry->payload);
  }
  // The time of the last use, which removal goes by; a folder that may only be
  // read keeps the old one.
  if (payload)
    ::futimens(file.number, nullptr);
  std::lock_guard<std::mutex> lock(mutex);
  ++(payload ? count.hits : count.misses);
  if (!payload && file.number >= 0)
    ++count.ignored;
  return payload;
}

/// Makes `path` and the folders above it, for this user alone.
static Status makeFolders(const std::string &path) {
  for (size_t end = path.find('/', 1); end != std::string::npos;
       end = path.find('/', end + 1))
    ::mkdir(path.substr(0, end).c_str(), 0700);
  if (::mkdir(path.c_str(), 0700) == 0)
    return Status::success();
  int code = errno;
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    return Status::success();
  return makeError("folder '", path, "' cannot be created: got '",
                   std::strerror(code), "', expected a writable path");
}

Status DiskCache::write(const std::string &key, const std::string &payload) {
  std::vector<uint8_t> bytes = writeCacheFile({key, payload});
  if (static_cast<int64_t>(bytes.size()) > maxBytes)
    return makeError("size of an entry: got ", bytes.size(),
                     " bytes, expected at most ", maxBytes);
  SART_RETURN_IF_ERROR(makeFolders(path));
  std::string name = path + "/" + fileName(key);
  // What stands in the way and is not an entry would be written through, or
  // keep its permissions.
  struct stat info;
  if (::lstat(name.c_str(), &info) == 0 && !isTrusted(info))
    ::unlink(name.c_str());
  AtomicFile file;
  SART_RETURN_IF_ERROR(file.open(name, 0600));
  SART_RETURN_IF_ERROR(file.write(bytes.data(), bytes.size()));
  // Readers check what they read: after a crash of the machine a damaged entry
  // is only a miss, and not worth waiting for the disk here.
  return file.commit(/*durable=*/false);
}

void DiskCache::store(const std::string &key, const std::string &payload) {
  if (!enabled())
    return;
  Status written = write(key, payload);
  if (written.ok())
    removeOld(fileName(key));
  std::lock_guard<std::mutex> lock(mutex);
  if (written.ok())
    ++count.stored;
  else if (count.problem.empty())
    count.problem = "cache: " + written.message();
}

namespace {
struct StoredFile {
  timespec used;
  int64_t bytes;
  std::string name;
};
} // namespace

/// The process of NAME.tmp.PID.N, or 0 for other names.
static pid_t writerOf(const std::string &name) {
  static constexpr std::string_view mark = ".sac.tmp.";
  size_t at = name.find(mark);
  pid_t writer = 0;
  if (at != std::string::npos)
    std::from_chars(name.data() + at + mark.size(), name.data() + name.size(),
                    writer);
  return writer;
}

/// Whether a temporary file is what a killed process left. One of another
/// machine or container that shares the folder is not seen here: no entry takes
/// an hour to write.
static bool isLeft(pid_t writer, const struct stat &info) {
  constexpr time_t longestWrite = 3600;
  return ::kill(writer, 0) != 0 && errno == ESRCH &&
         ::time(nullptr) - info.st_mtim.tv_sec > longestWrite;
}

void DiskCache::removeOld(const std::string &justStored) {
  DIR *listing = ::opendir(path.c_str());
  if (!listing)
    return;
  int folder = ::dirfd(listing);
  std::vector<StoredFile> files;
  int64_t total = 0;
  while (dirent *entry = ::readdir(listing)) {
    std::string name = entry->d_name;
    struct stat info;
    pid_t writer = writerOf(name);
    bool isEntry = name.size() == 16 + suffix.size() &&
                   name.compare(16, suffix.size(), suffix) == 0;
    if ((!isEntry && writer == 0) ||
        ::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (!isEntry) {
      if (isLeft(writer, info))
        ::unlinkat(folder, name.c_str(), 0);
      continue;
    }
    total += info.st_size;
    if (name != justStored)
      files.push_back({info.st_mtim, info.st_size, std::move(name)});
  }
  std::sort(
      files.begin(), files.end(), [](const StoredFile &a, const StoredFile &b) {
        return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec
                                              : a.used.tv_nsec < b.used.tv_nsec;
      });
  int64_t removed = 0;
  for (const StoredFile &file : files) {
    if (total <= maxBytes)
      break;
    total -= file.bytes;
    removed += ::unlinkat(folder, file.name.c_str(), 0) == 0;
  }
  ::closedir(listing);
  std::lock_guard<std::mutex> lock(mutex);
  count.removed += removed;
}
