//===- CacheTest.cpp - The kernel cache through the C API -----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CapiTestSupport.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace capi_test;

namespace {

class Cache : public testing::Test {
protected:
  Cache() {
    std::string pattern = ::testing::TempDir() + "sparseattn-capi-XXXXXX";
    folder = ::mkdtemp(pattern.data());
  }
  ~Cache() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  Engine engine(const char *cacheDir) {
    sa_engine_options options = {};
    options.struct_size = sizeof options;
    options.threads = 2;
    options.cache_dir = cacheDir;
    sa_engine *created = nullptr;
    EXPECT_EQ(sa_engine_create(&options, &created), SA_OK) << sa_last_error();
    return Engine(created);
  }

  sa_compile_info infoOf(sa_layer *layer) {
    sa_compile_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(sa_layer_get_compile_info(layer, &info), SA_OK)
        << sa_last_error();
    return info;
  }

  void expectSources(const sa_compile_info &info, sa_kernel_source source) {
    EXPECT_EQ(info.kernel_count, 3);
    for (int64_t i = 0; i < info.kernel_count; ++i)
      EXPECT_EQ(info.kernels[i].source, source) << info.kernels[i].name;
  }

  std::string folder;
  Shape shape;
};

} // namespace

TEST_F(Cache, SecondEngineLoadsAndGivesTheSameBits) {
  Tensors cold(shape), warm(shape);
  {
    Engine first = engine(folder.c_str());
    Layer layer = makeLayer(first.get(), routedText(shape), layerOptions());
    sa_compile_info info = infoOf(layer.get());
    expectSources(info, SA_KERNEL_COMPILED);
    EXPECT_EQ(info.cache_misses, 3);
    EXPECT_EQ(info.cache_stored, 3);
    EXPECT_STREQ(info.cache_dir, folder.c_str());
    EXPECT_STREQ(info.cache_problem, "");
    for (int64_t i = 0; i < info.kernel_count; ++i)
      EXPECT_TRUE(std::filesystem::exists(folder + "/" + info.kernels[i].key));
    EXPECT_EQ(runWhole(layer.get(), cold), "");
  }
  // Kernels outlive their engine, and are loaded once for all its layers.
  Engine second = engine(folder.c_str());
  Layer layer = makeLayer(second.get(), routedText(shape), layerOptions());
  sa_compile_info info = infoOf(layer.get());
  expectSources(info, SA_KERNEL_CACHED);
  EXPECT_EQ(info.cache_hits, 3);
  EXPECT_EQ(info.cache_misses, 0);
  EXPECT_GT(info.engine_ms, 0);
  EXPECT_GT(info.compile_ms, info.kernel_ms);
  shape.sq = 170; // another shape needs no other kernels
  Layer other = makeLayer(second.get(), routedText(shape), layerOptions());
  info = infoOf(other.get());
  expectSources(info, SA_KERNEL_PRESENT);
  EXPECT_EQ(info.cache_hits, 3);
  second.reset();
  EXPECT_EQ(runWhole(layer.get(), warm), "");
  EXPECT_EQ(warm.outData, cold.outData);
  EXPECT_EQ(warm.lseData, cold.lseData);
}

TEST_F(Cache, ManyShapesNeedOneCompile) {
  Engine own = engine(folder.c_str());
  for (int64_t i = 0; i < 24; ++i) {
    shape.sq = 40 + 37 * i;
    shape.skv = 300 - 11 * i;
    shape.heads = 2 + 2 * (i % 3);
    Layer layer = makeLayer(own.get(), routedText(shape),
                            layerOptions(i % 2 + 1, i % 4 + 1));
    sa_compile_info info = infoOf(layer.get());
    expectSources(info, i == 0 ? SA_KERNEL_COMPILED : SA_KERNEL_PRESENT);
    EXPECT_EQ(info.cache_misses, 3);
  }
}

TEST_F(Cache, NothingIsKeptUnlessAsked) {
  for (const char *none : {static_cast<const char *>(nullptr), ""}) {
    Engine own = engine(none);
    Layer layer = makeLayer(own.get(), routedText(shape), layerOptions());
    sa_compile_info info = infoOf(layer.get());
    expectSources(info, SA_KERNEL_COMPILED);
    EXPECT_STREQ(info.cache_dir, "");
    EXPECT_STREQ(info.kernels[0].key, "");
    EXPECT_EQ(info.cache_misses, 0);
  }
}

TEST_F(Cache, ValidBytesThatAreNoKernelAreRejected) {
  Engine first = engine(folder.c_str());
  Layer layer = makeLayer(first.get(), routedText(shape), layerOptions());
  sa_compile_info info = infoOf(layer.get());
  // The right key and checksum, and a payload that is no executable: as a later
  // version might write it.
  std::string path = folder + "/" + info.kernels[0].key;
  std::ifstream stream(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  size_t at = bytes.find("SAEXEC");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 6] = 9;
  uint64_t hash = 0xcbf29ce484222325ull;
  for (size_t i = 16; i < bytes.size(); ++i)
    hash = (hash ^ static_cast<uint8_t>(bytes[i])) * 0x100000001b3ull;
  for (size_t i = 0; i < 8; ++i)
    bytes[8 + i] = static_cast<char>(hash >> (8 * i));
  std::ofstream(path, std::ios::binary) << bytes;
  Engine second = engine(folder.c_str());
  layer = makeLayer(second.get(), routedText(shape), layerOptions());
  info = infoOf(layer.get());
  EXPECT_EQ(info.cache_hits, 2);
  EXPECT_EQ(info.cache_misses, 1);
  EXPECT_EQ(info.cache_ignored, 1);
  EXPECT_EQ(info.cache_stored, 1);
  EXPECT_EQ(info.kernels[0].source, SA_KERNEL_COMPILED);
}

TEST_F(Cache, RefusesWrongOptions) {
  sa_engine_options options = {};
  options.struct_size = sizeof options;
  options.cache_max_bytes = -1;
  sa_engine *created = nullptr;
  EXPECT_SA_ERROR(sa_engine_create(&options, &created),
                  "cache_max_bytes: got -1, expected at least 0");
  EXPECT_SA_ERROR(sa_layer_get_compile_info(nullptr, nullptr),
                  "arguments: got a null pointer, expected none");
}
