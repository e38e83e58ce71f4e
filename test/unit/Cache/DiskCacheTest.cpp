//===- DiskCacheTest.cpp - The cache folder and what may happen to it -----===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/DiskCache.h"

#include "CacheTestSupport.h"
#include "sparseattn-rt/CacheFile.h"

#include <atomic>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>

using namespace sart;
using namespace sart::test;

namespace {

using Payload = std::optional<std::string>;

/// Sets when a file was last used, in seconds since 1970.
void setUsed(const std::string &path, long seconds) {
  timeval times[2] = {{seconds, 0}, {seconds, 0}};
  ASSERT_EQ(::utimes(path.c_str(), times), 0);
}

} // namespace

TEST(DiskCache, KeepsPayloadsBetweenCaches) {
  CacheFolder folder;
  DiskCache first(folder.path + "/made/on/demand");
  EXPECT_EQ(first.load("key"), std::nullopt);
  first.store("key", std::string("\0bytes", 6));
  EXPECT_EQ(first.load("key"), Payload(std::string("\0bytes", 6)));
  DiskCache second(folder.path + "/made/on/demand");
  EXPECT_EQ(second.load("key"), Payload(std::string("\0bytes", 6)));
  EXPECT_EQ(second.load("other"), std::nullopt);
  CacheCounters counters = second.counters();
  EXPECT_EQ(counters.hits, 1);
  EXPECT_EQ(counters.misses, 1);
  EXPECT_EQ(counters.ignored, 0);
  EXPECT_EQ(first.counters().stored, 1);
  EXPECT_EQ(first.counters().problem, "");
  EXPECT_EQ(folder.names("/made/on/demand"),
            std::vector<std::string>{DiskCache::fileName("key")});
}

TEST(DiskCache, NamesFilesByTheHashOfTheirKeys) {
  EXPECT_EQ(DiskCache::fileName(""), "cbf29ce484222325.sac");
  EXPECT_EQ(DiskCache::fileName("a"), "af63dc4c8601ec8c.sac");
}

TEST(DiskCache, DamagedFilesAreIgnoredCountedAndReplaced) {
  CacheFolder folder;
  std::string path = folder.path + "/" + DiskCache::fileName("key");
  DiskCache(folder.path).store("key", "payload");
  std::string whole = readText(path);
  std::string changed = whole;
  changed.back() ^= 1;
  std::string older = whole;
  older[6] = 0;
  for (const std::string &content :
       {std::string(), whole.substr(0, 10), whole.substr(0, whole.size() - 1),
        whole + "x", changed, older,
        std::string("\x7f"
                    "ELF")}) {
    writeText(path, content);
    DiskCache cache(folder.path);
    EXPECT_EQ(cache.load("key"), std::nullopt);
    EXPECT_EQ(cache.counters().ignored, 1);
    EXPECT_EQ(cache.counters().misses, 1);
    cache.store("key", "payload");
    EXPECT_EQ(cache.load("key"), Payload("payload"));
  }
}

TEST(DiskCache, TheWholeKeyIsCompared) {
  CacheFolder folder;
  DiskCache cache(folder.path);
  cache.store("other", "payload of another kernel");
  // As if both keys had the same hash.
  ASSERT_EQ(::rename((folder.path + "/" + DiskCache::fileName("other")).c_str(),
                     (folder.path + "/" + DiskCache::fileName("key")).c_str()),
            0);
  EXPECT_EQ(cache.load("key"), std::nullopt);
  EXPECT_EQ(cache.counters().ignored, 1);
}

TEST(DiskCache, FilesThatOthersCanWriteAreNotTrusted) {
  CacheFolder folder;
  std::string path = folder.path + "/" + DiskCache::fileName("key");
  DiskCache cache(folder.path);
  cache.store("key", "payload");
  struct stat info;
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  for (mode_t mode : {0620, 0602, 0666}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_EQ(cache.load("key"), std::nullopt) << mode;
    cache.store("key", "payload");
    EXPECT_EQ(cache.load("key"), Payload("payload")) << mode;
  }
  // Neither waited for, nor followed, nor written through.
  ASSERT_EQ(::unlink(path.c_str()), 0);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(cache.load("key"), std::nullopt);
  cache.store("key", "payload");
  EXPECT_EQ(cache.load("key"), Payload("payload"));
  std::string elsewhere = folder.path + "/elsewhere";
  writeText(elsewhere, "mine");
  ASSERT_EQ(::unlink(path.c_str()), 0);
  ASSERT_EQ(::symlink(elsewhere.c_str(), path.c_str()), 0);
  cache.store("key", "payload");
  EXPECT_EQ(readText(elsewhere), "mine");
}

TEST(DiskCache, RemovesWhatWasUsedLongestAgo) {
  CacheFolder folder;
  std::string payload(1000, 'p');
  auto pathOf = [&](const char *key) {
    return folder.path + "/" + DiskCache::fileName(key);
  };
  // Room for three entries of a little more than 1,000 bytes.
  DiskCache cache(folder.path, 3500);
  long now = 1000000;
  for (const char *key : {"a", "b", "c"}) {
    cache.store(key, payload);
    setUsed(pathOf(key), now++);
  }
  EXPECT_EQ(cache.load("a"), Payload(payload)); // now the newest
  cache.store("d", payload);
  EXPECT_EQ(cache.load("b"), std::nullopt);
  for (const char *key : {"a", "c", "d"})
    EXPECT_EQ(cache.load(key), Payload(payload)) << key;
  EXPECT_EQ(cache.counters().removed, 1);
  // What is no entry stays, whatever the bound.
  writeText(folder.path + "/notes.txt", std::string(5000, 'n'));
  cache.store("e", payload);
  EXPECT_EQ(readText(folder.path + "/notes.txt").size(), 5000u);
}

TEST(DiskCache, AnEntryBeyondTheBoundIsNotStored) {
  CacheFolder folder;
  DiskCache cache(folder.path, 100);
  cache.store("k", std::string(100, 'p'));
  EXPECT_EQ(cache.counters().stored, 0);
  EXPECT_EQ(cache.counters().problem, "cache: size of an entry: got 125 bytes, "
                                      "expected at most 100");
  EXPECT_TRUE(folder.names().empty());
}

TEST(DiskCache, FoldersThatCannotBeWrittenAreAProblemNotAnError) {
  CacheFolder folder;
  writeText(folder.path + "/file", "x");
  DiskCache cache(folder.path + "/file");
  cache.store("key", "payload");
  EXPECT_EQ(cache.load("key"), std::nullopt);
  EXPECT_EQ(cache.counters().stored, 0);
  EXPECT_EQ(cache.counters().problem,
            "cache: folder '" + folder.path +
                "/file' cannot be created: got 'File exists', expected a "
                "writable path");
  // The reason is that of making it, not of looking at it.
  ASSERT_EQ(::symlink("nowhere", (folder.path + "/link").c_str()), 0);
  DiskCache dangling(folder.path + "/link");
  dangling.store("key", "payload");
  EXPECT_EQ(dangling.counters().problem,
            "cache: folder '" + folder.path +
                "/link' cannot be created: got 'File exists', expected a "
                "writable path");
  DiskCache none("");
  none.store("key", "payload");
  EXPECT_EQ(none.load("key"), std::nullopt);
  EXPECT_EQ(none.counters().problem, "");
}

TEST(DiskCache, DisabledCachesKeepNothingAndSayWhy) {
  CacheFolder folder;
  DiskCache cache(folder.path);
  cache.store("key", "payload");
  cache.disable("a reason");
  EXPECT_EQ(cache.load("key"), std::nullopt);
  EXPECT_FALSE(cache.enabled());
  EXPECT_EQ(cache.counters().problem, "a reason");
}

TEST(DiskCache, RemovesTemporaryFilesOfDeadProcesses) {
  CacheFolder folder;
  pid_t dead = ::fork();
  if (dead == 0)
    ::_exit(0);
  ASSERT_EQ(::waitpid(dead, nullptr, 0), dead);
  std::string name = DiskCache::fileName("x") + ".tmp.";
  std::string left = name + std::to_string(dead) + ".0";
  std::string fresh = name + std::to_string(dead) + ".1";
  std::string live = name + std::to_string(::getpid()) + ".7";
  for (const std::string &file : {left, fresh, live}) {
    writeText(folder.path + "/" + file, "half");
    setUsed(folder.path + "/" + file, std::time(nullptr) - 3700);
  }
  // It may be of a process that lives on another machine.
  setUsed(folder.path + "/" + fresh, std::time(nullptr) - 3000);
  DiskCache(folder.path).store("key", "payload");
  std::vector<std::string> names = folder.names();
  EXPECT_EQ(std::count(names.begin(), names.end(), left), 0);
  EXPECT_EQ(std::count(names.begin(), names.end(), fresh), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), live), 1);
}

TEST(DiskCache, ThreadsShareOne) {
  CacheFolder folder;
  DiskCache cache(folder.path, 100000); // not all fit
  constexpr int loads = 100, threads = 4;
  std::atomic<int> wrong{0}, found{0};
  std::vector<std::thread> workers;
  for (int seed = 0; seed < threads; ++seed)
    workers.emplace_back([&, seed] {
      for (int i = 0; i < loads; ++i) {
        int key = (i * 7 + seed) % 8;
        std::string name = "key " + std::to_string(key);
        std::string payload(20000 + static_cast<size_t>(key), char('a' + key));
        if (Payload got = cache.load(name)) {
          wrong += *got != payload;
          ++found;
        } else {
          cache.store(name, payload);
        }
        (void)cache.counters();
      }
    });
  for (std::thread &worker : workers)
    worker.join();
  EXPECT_EQ(wrong, 0);
  CacheCounters counters = cache.counters();
  EXPECT_EQ(counters.hits, found);
  EXPECT_EQ(counters.hits + counters.misses, loads * threads);
  EXPECT_EQ(counters.stored, counters.misses);
  EXPECT_EQ(counters.ignored, 0);
  EXPECT_EQ(counters.problem, "");
  EXPECT_LE(folder.names().size(), 4u);
}

TEST(DiskCache, ProcessesAndThreadsAtOnce) {
  CacheFolder folder;
  auto payloadOf = [](int key) {
    return std::string(20000 + static_cast<size_t>(key), char('a' + key));
  };
  auto work = [&](int seed) {
    DiskCache cache(folder.path + "/c", 100000); // not all fit
    bool good = true;
    for (int i = 0; i < 200; ++i) {
      int key = (i * 7 + seed) % 8;
      std::string name = "key " + std::to_string(key);
      if (Payload found = cache.load(name))
        good = good && *found == payloadOf(key);
      else
        cache.store(name, payloadOf(key));
    }
    return good && cache.counters().ignored == 0 &&
           cache.counters().problem.empty();
  };
  std::vector<pid_t> children;
  for (int seed = 0; seed < 4; ++seed) {
    children.push_back(::fork());
    if (children.back() == 0)
      ::_exit(work(seed) ? 0 : 1);
  }
  bool good[2] = {};
  std::thread other([&] { good[0] = work(5); });
  good[1] = work(6);
  other.join();
  EXPECT_TRUE(good[0] && good[1]);
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  for (const std::string &name : folder.names("/c"))
    EXPECT_EQ(name.find(".tmp."), std::string::npos) << name;
}

TEST(DiskCache, KilledWritersLeaveWholeEntriesOnly) {
  CacheFolder folder;
  std::string payload(200000, 'p');
  for (int i = 0; i < 40; ++i) {
    pid_t child = ::fork();
    if (child == 0) {
      DiskCache cache(folder.path);
      for (int key = 0;; ++key)
        cache.store("key " + std::to_string(key % 5), payload);
    }
    ::usleep(static_cast<useconds_t>(500 + i * 137));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    DiskCache cache(folder.path);
    for (int key = 0; key < 5; ++key)
      if (Payload found = cache.load("key " + std::to_string(key)))
        EXPECT_EQ(*found, payload);
    EXPECT_EQ(cache.counters().ignored, 0) << i;
  }
  // Only whole files ever have a name, if for a moment that of a temporary.
  for (const std::string &name : folder.names()) {
    if (hasNamelessFiles(folder)) {
      std::string bytes = readText(folder.path + "/" + name);
      EXPECT_TRUE(readCacheFile(reinterpret_cast<const uint8_t *>(bytes.data()),
                                bytes.size())
                      .ok())
          << name;
    }
    setUsed(folder.path + "/" + name, 1000000);
  }
  DiskCache(folder.path).store("last", "payload"); // sweeps
  for (const std::string &name : folder.names())
    EXPECT_EQ(name.find(".tmp."), std::string::npos) << name;
}

TEST(DiskCache, DefaultFolderFollowsTheEnvironment) {
  auto set = [](const char *name, const char *value) {
    value ? ::setenv(name, value, 1) : ::unsetenv(name);
  };
  std::string xdg =
      std::getenv("XDG_CACHE_HOME") ? std::getenv("XDG_CACHE_HOME") : "";
  std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
  set("XDG_CACHE_HOME", "/x/cache");
  EXPECT_EQ(DiskCache::defaultFolder(), "/x/cache/sparseattn");
  set("XDG_CACHE_HOME", "relative");
  set("HOME", "/h/me");
  EXPECT_EQ(DiskCache::defaultFolder(), "/h/me/.cache/sparseattn");
  set("XDG_CACHE_HOME", nullptr);
  set("HOME", nullptr);
  EXPECT_EQ(DiskCache::defaultFolder(), "");
  set("XDG_CACHE_HOME", xdg.empty() ? nullptr : xdg.c_str());
  set("HOME", home.empty() ? nullptr : home.c_str());
}
