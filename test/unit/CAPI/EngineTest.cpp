//===- EngineTest.cpp - Engines and orders --------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CapiTestSupport.h"

#include <algorithm>
#include <numeric>
#include <thread>

using namespace capi_test;

static sa_engine_options engineOptions() {
  sa_engine_options options = {};
  options.struct_size = sizeof options;
  return options;
}

TEST(Engine, VersionHasThreeParts) {
  std::string version = sa_version();
  EXPECT_EQ(std::count(version.begin(), version.end(), '.'), 2) << version;
}

TEST(Engine, NoOptionsMeanDefaults) {
  sa_engine *engine = nullptr;
  ASSERT_SA_OK(sa_engine_create(nullptr, &engine));
  sa_engine_destroy(engine);
  sa_engine_destroy(nullptr);
}

TEST(Engine, RefusesWhatItCannotUse) {
  sa_engine *engine = nullptr;
  EXPECT_SA_ERROR(
      sa_engine_create(nullptr, nullptr),
      "engine: got a null pointer, expected a place for the handle");
  sa_engine_options options = engineOptions();
  options.device = "abacus";
  EXPECT_SA_ERROR(sa_engine_create(&options, &engine),
                  "device: got 'abacus', expected one of cpu, cuda, reference");
  options = engineOptions();
  options.threads = -1;
  EXPECT_SA_ERROR(sa_engine_create(&options, &engine),
                  "threads: got -1, expected 0 to 1024");
  options.threads = 1025;
  EXPECT_SA_ERROR(sa_engine_create(&options, &engine),
                  "threads: got 1025, expected 0 to 1024");
  options = engineOptions();
  options.timeout_ms = -5;
  EXPECT_SA_ERROR(sa_engine_create(&options, &engine),
                  "time-out: got -5 ms, expected 0 to 1099511627776");
  options.timeout_ms = INT64_MAX;
  EXPECT_SA_ERROR(sa_engine_create(&options, &engine),
                  "time-out: got 9223372036854775807 ms, expected 0 to "
                  "1099511627776");
  options = engineOptions();
  options.struct_size = 0;
  EXPECT_SA_ERROR(
      sa_engine_create(&options, &engine),
      "struct_size of the engine options: got 0, expected at least 8");
  EXPECT_EQ(engine, nullptr);
}

TEST(Engine, FieldsBeyondTheCallersStructAreDefaults) {
  // A caller that only knows the device: what follows in memory is not read.
  sa_engine_options options = engineOptions();
  options.struct_size = offsetof(sa_engine_options, threads);
  options.device = "reference";
  options.threads = -1;
  options.timeout_ms = -1;
  sa_engine *engine = nullptr;
  ASSERT_SA_OK(sa_engine_create(&options, &engine));
  sa_engine_destroy(engine);
}

TEST(Engine, ErrorsAreOfTheThread) {
  EXPECT_EQ(sa_engine_create(nullptr, nullptr), SA_ERROR);
  std::string mine = sa_last_error(), other = "unset";
  std::thread([&] { other = sa_last_error(); }).join();
  EXPECT_EQ(other, "");
  EXPECT_EQ(mine, sa_last_error());
}

TEST(Orders, EachIsAPermutationOfItsOwn) {
  const int64_t grid[3] = {3, 5, 8};
  std::vector<std::vector<int64_t>> seen;
  for (const char *kind :
       {"raster", "cubes", "hilbert", "stripes", "tiles<t=2,h=2>"}) {
    std::vector<int64_t> permutation(120, -1);
    ASSERT_SA_OK(sa_order_permutation(kind, grid, permutation.data(), 120));
    std::vector<int64_t> sorted = permutation, all(120);
    std::sort(sorted.begin(), sorted.end());
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(sorted, all) << kind;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), permutation), 0) << kind;
    seen.push_back(permutation);
    EXPECT_EQ(permutation == all, std::string(kind) == "raster") << kind;
  }
}

TEST(Orders, RefuseWhatTheyCannotUse) {
  const int64_t grid[3] = {2, 2, 2};
  int64_t out[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
  EXPECT_SA_ERROR(sa_order_permutation("zigzag", grid, out, 8),
                  "order: got 'zigzag', expected one of raster, cubes, "
                  "hilbert, stripes, tiles<t=N,h=N>");
  EXPECT_SA_ERROR(sa_order_permutation("raster", grid, out, 7),
                  "size of the permutation must equal the grid's tokens: got "
                  "7, expected 8");
  const char *null = "arguments: got a null pointer, expected none";
  EXPECT_SA_ERROR(sa_order_permutation(nullptr, grid, out, 8), null);
  EXPECT_SA_ERROR(sa_order_permutation("raster", nullptr, out, 8), null);
  EXPECT_SA_ERROR(sa_order_permutation("raster", grid, nullptr, 8), null);
  const int64_t negative[3] = {2, -2, 2};
  EXPECT_EQ(sa_order_permutation("raster", negative, out, -8), SA_ERROR);
  EXPECT_NE(std::string(sa_last_error()).find("got"), std::string::npos);
  const int64_t huge[3] = {int64_t(1) << 40, int64_t(1) << 40, 8};
  EXPECT_EQ(sa_order_permutation("hilbert", huge, out, 0), SA_ERROR);
  EXPECT_NE(std::string(sa_last_error()).find("got"), std::string::npos);
  EXPECT_EQ(std::count(out, out + 8, -1), 8) << "written in spite of an error";
}

TEST(Engine, TransportIsCheckedAndDescribed) {
  sa_engine_options options = {};
  options.struct_size = sizeof options;
  options.device = "reference";
  options.transport = "pigeon";
  sa_engine *engine = nullptr;
  EXPECT_EQ(sa_engine_create(&options, &engine), SA_ERROR);
  EXPECT_STREQ(sa_last_error(),
               "transport: got 'pigeon', expected one of local, mpi");
  options.transport = "local";
  ASSERT_EQ(sa_engine_create(&options, &engine), SA_OK) << sa_last_error();
  sa_engine_info info = {};
  info.struct_size = sizeof info;
  info.rank = info.local_rank = 7;
  ASSERT_EQ(sa_engine_get_info(engine, &info), SA_OK) << sa_last_error();
  EXPECT_EQ(info.rank, 0);
  EXPECT_EQ(info.processes, 1);
  EXPECT_EQ(info.local_rank, 0);
  info.struct_size = 0;
  EXPECT_EQ(sa_engine_get_info(engine, &info), SA_ERROR);
  EXPECT_STREQ(sa_last_error(),
               "struct_size of the engine info: got 0, expected at least 8");
  EXPECT_EQ(sa_engine_get_info(nullptr, &info), SA_ERROR);
  sa_engine_destroy(engine);
}
