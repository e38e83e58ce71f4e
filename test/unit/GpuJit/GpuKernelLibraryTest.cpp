//===- GpuKernelLibraryTest.cpp - GPU kernels in the cache ----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GpuKernelLibrary.h"
#include "ScaleEmitter.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <future>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mlir::sparseattn;
namespace fs = std::filesystem;

extern char **environ;

namespace {

sart::KernelSpec mergeSpec() {
  sart::KernelSpec spec;
  spec.kind = sart::KernelSpec::Kind::Merge;
  return spec;
}

std::vector<sart::KernelSpec> convertSpecs() {
  return {sart::convertKernel(sart::DType::F32, sart::DType::BF16),
          sart::convertKernel(sart::DType::F32, sart::DType::F16)};
}

/// What an engine has: a library and a context.
struct Engine {
  Engine(const std::string &folder, std::shared_ptr<ScaleEmitter> emitter,
         const std::string &ptxas = "", const std::string &shipped = "")
      : cache(std::make_shared<sart::DiskCache>(folder)),
        context(mlir::MLIRContext::Threading::DISABLED) {
    auto created = GpuKernelLibrary::create(cache, ptxas, {emitter}, shipped);
    if (!created) {
      ADD_FAILURE() << created.message();
      std::exit(1);
    }
    library = std::move(*created);
    mlir::DialectRegistry registry;
    library->registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  sart::Expected<std::shared_ptr<sart::KernelTable>>
  kernels(const std::vector<sart::KernelSpec> &specs) {
    sources.clear();
    return library->kernelsOf(specs, context, sources);
  }
  std::string failure(const std::vector<sart::KernelSpec> &specs) {
    auto table = kernels(specs);
    return table ? "none" : table.message();
  }

  std::shared_ptr<sart::DiskCache> cache;
  mlir::MLIRContext context;
  std::unique_ptr<GpuKernelLibrary> library;
  std::vector<KernelSource> sources;
};

class GpuKernelLibraryTest : public ::testing::Test {
protected:
  void SetUp() override {
    folder = ::testing::TempDir() + "gpu-cache." +
             ::testing::UnitTest::GetInstance()->current_test_info()->name() +
             "." + std::to_string(::getpid());
    fs::remove_all(folder);
    emitter = std::make_shared<ScaleEmitter>();
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string folder;
  std::shared_ptr<ScaleEmitter> emitter;
};

bool isCubin(const sart::LoadedKernel *kernel) {
  return kernel && kernel->binary && kernel->binary->substr(1, 3) == "ELF";
}

} // namespace

TEST_F(GpuKernelLibraryTest, CompilesOnceThenLoads) {
  std::string first;
  {
    Engine engine(folder, emitter);
    auto table = engine.kernels({mergeSpec()});
    ASSERT_TRUE(table) << table.message();
    const sart::LoadedKernel *kernel = (*table)->find(mergeSpec());
    ASSERT_TRUE(isCubin(kernel));
    EXPECT_EQ(kernel, (*table)->findEntry("scale"));
    EXPECT_EQ(kernel->launch->threads, 128);
    EXPECT_EQ(kernel->entry, nullptr);
    first = *kernel->binary;
    EXPECT_EQ(engine.sources[0].name, "merge_f32@sm_90a");
    EXPECT_EQ(engine.sources[0].kind, KernelSource::Kind::Compiled);
    EXPECT_EQ(engine.sources[0].key.size(), 20u);
    ASSERT_TRUE(engine.kernels({mergeSpec()}));
    EXPECT_EQ(engine.sources[0].kind, KernelSource::Kind::Present);
    EXPECT_EQ(engine.cache->counters().stored, 1);
  }
  Engine engine(folder, emitter);
  auto table = engine.kernels({mergeSpec()});
  ASSERT_TRUE(table) << table.message();
  EXPECT_EQ(engine.sources[0].kind, KernelSource::Kind::Cached);
  EXPECT_EQ(*(*table)->find(mergeSpec())->binary, first);
  EXPECT_EQ(engine.cache->counters().hits, 1);
  EXPECT_EQ(engine.cache->counters().misses, 0);
  EXPECT_EQ(emitter->emitted, 1);
}

TEST_F(GpuKernelLibraryTest, TakesKernelsThatCameWithTheLibrary) {
  std::string root = folder + "/kernels", version;
  unsigned isa = 0;
  {
    Engine maker(folder + "/made", emitter);
    ASSERT_TRUE(maker.kernels({mergeSpec()}));
    version = maker.library->getTarget().ptxasVersion();
    isa = maker.library->getTarget().ptxVersion;
  }
  fs::create_directories(root);
  fs::create_directories(root + "/other");
  fs::create_directories(root + "/ptxas--isa-90");
  std::string of = root + "/ptxas-" + version + "-isa-" + std::to_string(isa);
  fs::rename(folder + "/made", of);
  auto kindOf = [&](const std::string &ptxas, const std::string &shipped) {
    Engine engine("", emitter, ptxas, shipped);
    auto table = engine.kernels({mergeSpec()});
    EXPECT_TRUE(table) << table.message();
    EXPECT_EQ(engine.sources[0].key, "");
    return engine.sources[0].kind;
  };
  EXPECT_EQ(kindOf("", root), KernelSource::Kind::Shipped);
  EXPECT_EQ(emitter->emitted, 1);
  // The assembler that was asked for has the last word.
  EXPECT_EQ(kindOf("none", root), KernelSource::Kind::Compiled);
  EXPECT_EQ(kindOf("", ""), KernelSource::Kind::Compiled);
  // Made by another version: another key.
  fs::rename(of, root + "/ptxas-1.2.3-isa-" + std::to_string(isa));
  EXPECT_EQ(kindOf("", root), KernelSource::Kind::Compiled);
  EXPECT_EQ(kindOf("", folder + "/absent"), KernelSource::Kind::Compiled);
}

TEST_F(GpuKernelLibraryTest, KernelsGoWithTheLastEngine) {
  Engine *one = new Engine("", emitter);
  ASSERT_TRUE(one->kernels({mergeSpec()}));
  {
    // Present in the process, though nothing is on disk.
    Engine two("", emitter);
    ASSERT_TRUE(two.kernels({mergeSpec()}));
    EXPECT_EQ(two.sources[0].kind, KernelSource::Kind::Present);
    EXPECT_EQ(two.sources[0].key, "");
  }
  delete one;
  Engine three("", emitter);
  ASSERT_TRUE(three.kernels({mergeSpec()}));
  EXPECT_EQ(three.sources[0].kind, KernelSource::Kind::Compiled);
  EXPECT_EQ(emitter->emitted, 2);
}

TEST_F(GpuKernelLibraryTest, KeysSayWhatDecidesTheCode) {
  Engine engine(folder, emitter);
  auto key = engine.library->keyOf(mergeSpec());
  ASSERT_TRUE(key);
  for (const char *part :
       {"gpu kernel merge_f32@sm_90a\nrecipe plain\ncompiler ", "\nmlir ",
        "\nllvm ", "\nchip sm_90a\nptx ", "\nptxas "})
    EXPECT_NE(key->find(part), std::string::npos) << *key;
  emitter->variant = "other";
  EXPECT_NE(*engine.library->keyOf(mergeSpec()), *key);
  emitter->variant = "plain";
  EXPECT_EQ(*engine.library->keyOf(mergeSpec()), *key);
  EXPECT_NE(*engine.library->keyOf(convertSpecs()[0]), *key);
}

TEST_F(GpuKernelLibraryTest, AnotherPtxasIsAnotherKey) {
  Engine one(folder, emitter);
  ASSERT_TRUE(one.library->getTarget().ptxas) << Ptxas::notFound();
  ASSERT_TRUE(one.kernels({mergeSpec()}));
  // The same assembler under another version.
  fs::create_directories(folder + "/bin");
  std::string other = folder + "/bin/ptxas";
  std::ofstream(other)
      << "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'ptxas'; echo "
         "'release 13.0, V13.0.999'; exit 0; fi\nexec '"
      << one.library->getTarget().ptxas->path() << "' \"$@\"\n";
  fs::permissions(other, fs::perms::owner_all);
  Engine two(folder, emitter, other);
  EXPECT_EQ(two.library->getTarget().ptxasVersion(), "13.0.999");
  EXPECT_NE(*one.library->keyOf(mergeSpec()), *two.library->keyOf(mergeSpec()));
  ASSERT_TRUE(two.kernels({mergeSpec()}));
  EXPECT_EQ(two.sources[0].kind, KernelSource::Kind::Compiled);
  EXPECT_NE(two.sources[0].key, one.sources[0].key);
  EXPECT_EQ(emitter->emitted, 2);
}

TEST_F(GpuKernelLibraryTest, WithoutPtxasKeepsPtxAndSaysSo) {
  Engine engine(folder, emitter, "none");
  auto table = engine.kernels({mergeSpec()});
  ASSERT_TRUE(table) << table.message();
  EXPECT_NE((*table)->find(mergeSpec())->binary->find(".entry scale("),
            std::string::npos);
  EXPECT_EQ(engine.library->notice(),
            "ptxas: got none, so kernels stay PTX: the driver assembles them, "
            "at each start (--ptxas, CUDA_HOME or PATH name one; PyPI has it "
            "as nvidia-cuda-nvcc)");
  Engine with(folder, emitter);
  EXPECT_EQ(with.library->notice(), "");
  ASSERT_TRUE(with.kernels({mergeSpec()}));
  EXPECT_EQ(with.sources[0].kind, KernelSource::Kind::Compiled);
}

TEST_F(GpuKernelLibraryTest, DamagedEntriesAreMadeAnew) {
  std::string file;
  {
    Engine engine(folder, emitter);
    ASSERT_TRUE(engine.kernels({mergeSpec()}));
    file = folder + "/" + engine.sources[0].key;
  }
  fs::resize_file(file, fs::file_size(file) / 2);
  {
    Engine engine(folder, emitter);
    ASSERT_TRUE(engine.kernels({mergeSpec()}));
    EXPECT_EQ(engine.sources[0].kind, KernelSource::Kind::Compiled);
    EXPECT_EQ(engine.cache->counters().ignored, 1);
    // An entry that is whole and no GPU kernel.
    sart::Executable foreign;
    foreign.kernels.push_back({"scale", 0, 0, std::nullopt});
    foreign.binary = "\177ELF";
    std::vector<uint8_t> bytes = sart::serialize(foreign);
    engine.cache->store(*engine.library->keyOf(mergeSpec()),
                        std::string(bytes.begin(), bytes.end()));
  }
  Engine engine(folder, emitter);
  auto table = engine.kernels({mergeSpec()});
  ASSERT_TRUE(table) << table.message();
  EXPECT_EQ(engine.sources[0].kind, KernelSource::Kind::Compiled);
  EXPECT_EQ(engine.cache->counters().ignored, 1);
  EXPECT_TRUE(isCubin((*table)->find(mergeSpec())));
}

TEST_F(GpuKernelLibraryTest, RefusalsNameTheKernelAndLeaveNothing) {
  Engine engine(folder, emitter);
  sart::KernelSpec attend;
  EXPECT_EQ(engine.failure({attend}),
            "kernel of sm_90a: got 'attend_f32_f32_d128_q128_k128', expected "
            "one that is built for GPUs");
  EXPECT_EQ(engine.failure(
                {sart::convertKernel(sart::DType::BF16, sart::DType::F32)}),
            "conversion: got f32, expected a 16-bit type");
  emitter->slow = true;
  std::string message = engine.failure({mergeSpec()});
  EXPECT_EQ(message.find("gpu kernel merge_f32: kernel 'scale' by ptxas "), 0u)
      << message;
  EXPECT_NE(message.find("got '(C7508)"), std::string::npos) << message;
  emitter->slow = false;
  emitter->entry = "other";
  EXPECT_EQ(engine.failure({mergeSpec()}),
            "gpu kernel merge_f32: kernels of the compiled module: got none "
            "called 'other', expected it");
  emitter->entry = "scale";
  emitter->sharedBytes = 240000;
  EXPECT_EQ(engine.failure({mergeSpec()}),
            "gpu kernel merge_f32: shared memory of 'scale': got 240000 bytes, "
            "expected at most 232448");
  EXPECT_EQ(engine.cache->counters().stored, 0);
  // What failed may be asked for again.
  emitter->sharedBytes = 0;
  EXPECT_EQ(engine.failure({mergeSpec()}), "none");
}

TEST_F(GpuKernelLibraryTest, EightEnginesCompileOnceTogether) {
  std::vector<std::unique_ptr<Engine>> engines;
  for (int i = 0; i < 8; ++i)
    engines.push_back(std::make_unique<Engine>("", emitter));
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      // In opposite orders: nobody may wait for whom waits for him.
      std::vector<sart::KernelSpec> specs = convertSpecs();
      specs.push_back(mergeSpec());
      if (i % 2)
        std::reverse(specs.begin(), specs.end());
      auto table = engines[static_cast<size_t>(i)]->kernels(specs);
      good += table && (*table)->size() == 3 &&
              isCubin((*table)->find(mergeSpec()));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(good, 8);
  EXPECT_EQ(emitter->emitted, 3);
}

TEST_F(GpuKernelLibraryTest, ThoseWhoWaitGetTheError) {
  emitter->slow = true;
  std::vector<std::unique_ptr<Engine>> engines;
  for (int i = 0; i < 4; ++i)
    engines.push_back(std::make_unique<Engine>("", emitter));
  std::vector<std::thread> threads;
  std::atomic<int> told{0};
  for (auto &engine : engines)
    threads.emplace_back([&] {
      told +=
          engine->failure({mergeSpec()}).find("(C7508)") != std::string::npos;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(told, 4);
}

TEST_F(GpuKernelLibraryTest, AnErrorIsThatOfItsOwnKernelAlone) {
  // One asks for a good and a bad kernel, another one waits for the good one.
  emitter->slowKind = sart::KernelSpec::Kind::Merge;
  Engine one(folder, emitter), two(folder, emitter);
  std::promise<void> begun;
  std::atomic<bool> told{false};
  emitter->whenEmitting = [&](const sart::KernelSpec &) {
    if (!told.exchange(true))
      begun.set_value();
  };
  std::string failure;
  std::thread first(
      [&] { failure = one.failure({mergeSpec(), convertSpecs()[0]}); });
  begun.get_future().wait();
  auto table = two.kernels({convertSpecs()[0]});
  first.join();
  emitter->whenEmitting = nullptr;
  EXPECT_EQ(failure.find("gpu kernel merge_f32: "), 0u) << failure;
  ASSERT_TRUE(table) << table.message();
  EXPECT_TRUE(isCubin((*table)->find(convertSpecs()[0])));
  EXPECT_EQ(emitter->emitted, 2);
  // What could be compiled is kept.
  EXPECT_EQ(one.cache->counters().stored, 1);
}

TEST_F(GpuKernelLibraryTest, TheMemoKeepsToTheUsersLimit) {
  fs::create_directories(folder);
  std::string other = folder + "/0123456789abcdef.sac";
  std::ofstream(other).close();
  fs::resize_file(other, uint64_t(sart::DiskCache::defaultMaxBytes) + 4096);
  auto cache = std::make_shared<sart::DiskCache>(folder, int64_t(1) << 30);
  auto created = GpuKernelLibrary::create(cache, "", {emitter});
  ASSERT_TRUE(created) << created.message();
  EXPECT_TRUE(fs::exists(other));
  // The memo is beside it.
  EXPECT_EQ(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()),
      2);
}

namespace {

/// Starts this program again as one engine over `folder`.
pid_t startProcess(const std::string &folder) {
  std::string filter =
      "--gtest_filter=GpuKernelLibraryProcess.DISABLED_CompilesInto";
  std::string also = "--gtest_also_run_disabled_tests";
  std::string file = fs::read_symlink("/proc/self/exe").string();
  char *arguments[] = {file.data(), filter.data(), also.data(), nullptr};
  ::setenv("SPARSEATTN_TEST_CACHE", folder.c_str(), 1);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null",
                                     O_WRONLY, 0);
  pid_t process = 0;
  EXPECT_EQ(::posix_spawn(&process, file.c_str(), &actions, nullptr, arguments,
                          environ),
            0);
  ::posix_spawn_file_actions_destroy(&actions);
  return process;
}

} // namespace

TEST(GpuKernelLibrary, RegistersWhatKernelsLowerThrough) {
  auto created = GpuKernelLibrary::create(nullptr, "none", {});
  ASSERT_TRUE(created.ok()) << created.message();
  mlir::DialectRegistry registry;
  (*created)->registerDialects(registry);
  for (const char *name : {"llvm", "nvvm", "sa_sm90", "scf"})
    EXPECT_EQ(llvm::count(registry.getDialectNames(), name), 1) << name;
}

/// Not a test: what the processes of the next test do.
TEST(GpuKernelLibraryProcess, DISABLED_CompilesInto) {
  const char *folder = std::getenv("SPARSEATTN_TEST_CACHE");
  ASSERT_NE(folder, nullptr);
  Engine engine(folder, std::make_shared<ScaleEmitter>());
  std::vector<sart::KernelSpec> specs = convertSpecs();
  specs.push_back(mergeSpec());
  auto table = engine.kernels(specs);
  ASSERT_TRUE(table) << table.message();
  ASSERT_TRUE(isCubin((*table)->find(mergeSpec())));
}

TEST_F(GpuKernelLibraryTest, EightProcessesAtOnceAndAKillInBetween) {
  // What the killed ones leave goes with the folder.
  fs::create_directories(folder + "/tmp");
  ASSERT_EQ(::setenv("TMPDIR", (folder + "/tmp").c_str(), 1), 0);
  std::vector<pid_t> processes;
  for (int i = 0; i < 8; ++i)
    processes.push_back(startProcess(folder));
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  ::kill(processes[0], SIGKILL);
  ::kill(processes[1], SIGKILL);
  ::unsetenv("TMPDIR");
  int good = 0;
  for (pid_t process : processes) {
    int status = 0;
    ASSERT_EQ(::waitpid(process, &status, 0), process);
    good += WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  EXPECT_GE(good, 6);
  // Every entry is whole, and this process needs no compiler.
  Engine engine(folder, emitter);
  std::vector<sart::KernelSpec> specs = convertSpecs();
  specs.push_back(mergeSpec());
  auto table = engine.kernels(specs);
  ASSERT_TRUE(table) << table.message();
  for (const KernelSource &source : engine.sources)
    EXPECT_EQ(source.kind, KernelSource::Kind::Cached) << source.name;
  EXPECT_EQ(engine.cache->counters().ignored, 0);
  EXPECT_EQ(emitter->emitted, 0);
}
