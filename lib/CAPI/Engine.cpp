//===- Engine.cpp - Engine, layer and orders of the C API -----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Choice.h"
#include "Objects.h"

#include <chrono>
#include <cstring>
#include <new>
#include <stdexcept>

using namespace capi;

static thread_local std::string lastError;

sa_status capi::fail(std::string message) {
  lastError = std::move(message);
  return SA_ERROR;
}

sa_status capi::failCaught() noexcept {
  try {
    try {
      throw;
    } catch (const std::bad_alloc &) {
      return fail("memory: got an allocation that failed, expected enough for "
                  "the layer and its tensors");
    } catch (const std::length_error &) {
      return fail("memory: got a size beyond the address space, expected "
                  "enough for the layer and its tensors");
    } catch (const std::exception &exception) {
      return fail(sart::concat("internal error: got '", exception.what(),
                               "', expected none"));
    }
  } catch (...) {
    lastError.clear(); // there was no memory for the message
  }
  return SA_ERROR;
}

const char *sa_last_error(void) { return lastError.c_str(); }

const char *sa_version(void) { return SPARSEATTN_VERSION; }

sa_status sa_order_permutation(const char *kind, const int64_t grid[3],
                               int64_t *permutation, int64_t count) try {
  if (!kind || !grid || !permutation)
    return fail("arguments: got a null pointer, expected none");
  sart::Expected<sart::Order> parsed = sart::parseOrder(kind);
  if (!parsed)
    return fail(sart::concat("order: got '", kind,
                             "', expected one of raster, cubes, hilbert, "
                             "stripes, tiles<t=N,h=N>"));
  sart::Order order = *parsed;
  order.grid = {grid[0], grid[1], grid[2]};
  if (sart::Status status = order.verify(); !status.ok())
    return fail(status);
  if (order.tokens() != count)
    return fail(sart::concat("size of the permutation must equal the grid's "
                             "tokens: got ",
                             count, ", expected ", order.tokens()));
  std::vector<int64_t> values = order.permutation();
  std::memcpy(permutation, values.data(), values.size() * sizeof(int64_t));
  return SA_OK;
} catch (...) {
  return failCaught();
}

sa_status sa_engine_create(const sa_engine_options *given,
                           sa_engine **engine) try {
  if (!engine)
    return fail("engine: got a null pointer, expected a place for the handle");
  if (sart::Status status = checkStructSize("engine options", given);
      !status.ok())
    return fail(status);
  sa_engine_options options = withDefaults(given);
  std::string device = options.device ? options.device : "cpu";
  if (device != "cpu" && device != "cuda" && device != "reference")
    return fail(sart::concat("device: got '", device,
                             "', expected one of cpu, cuda, reference"));
  std::string ptxas = options.ptxas ? options.ptxas : "";
  if (!ptxas.empty() && device != "cuda")
    return fail(sart::concat("ptxas: got '", ptxas, "' with device ", device,
                             ", expected device cuda"));
  if (options.threads < 0 || options.threads > 1024)
    return fail(
        sart::concat("threads: got ", options.threads, ", expected 0 to 1024"));
  // More would overflow the clock's nanoseconds.
  constexpr int64_t longestTimeoutMs = int64_t(1) << 40;
  if (options.timeout_ms < 0 || options.timeout_ms > longestTimeoutMs)
    return fail(sart::concat("time-out: got ", options.timeout_ms,
                             " ms, expected 0 to ", longestTimeoutMs));
  if (options.cache_max_bytes < 0)
    return fail(sart::concat("cache_max_bytes: got ", options.cache_max_bytes,
                             ", expected at least 0"));
  auto begin = std::chrono::steady_clock::now();
  auto created = std::make_unique<sa_engine>();
  created->reference = device == "reference";
  created->device = device;
  created->compileOnly = options.compile_only != 0;
  std::string transport = options.transport ? options.transport : "local";
  if (transport != "local" && transport != "mpi")
    return fail(sart::concat("transport: got '", transport,
                             "', expected one of local, mpi"));
  if (options.timeout_ms)
    created->timeoutMs = options.timeout_ms;
  created->pool = std::make_shared<sart::ThreadPool>(options.threads);
  std::string folder = options.cache_dir ? options.cache_dir : "";
  if (folder == "default")
    folder = sart::DiskCache::defaultFolder();
  if (!folder.empty() && !created->reference)
    created->cache = std::make_shared<sart::DiskCache>(
        folder, options.cache_max_bytes ? options.cache_max_bytes
                                        : sart::DiskCache::defaultMaxBytes);
  using mlir::sparseattn::CompilerOptions;
  CompilerOptions compilerOptions;
  compilerOptions.device = created->reference ? CompilerOptions::Device::None
                           : device == "cuda" ? CompilerOptions::Device::Cuda
                                              : CompilerOptions::Device::Cpu;
  compilerOptions.ptxas = std::move(ptxas);
  compilerOptions.cache = created->cache;
  auto compiler =
      mlir::sparseattn::LayerCompiler::create(std::move(compilerOptions));
  if (!compiler)
    return fail(compiler.status());
  created->compiler = std::move(*compiler);
  if (transport == "mpi" && !created->compileOnly) {
    auto hub = sart::openMpiHub("");
    if (!hub)
      return fail(hub.status());
    created->hub = std::move(*hub);
  }
  // What is wrong with the options is said on machines without a GPU too.
  if (device == "cuda" && !created->compileOnly)
    if (sart::Status status = openGpu(*created); !status.ok())
      return fail(status);
  created->createMs = std::chrono::duration<double, std::milli>(
                          std::chrono::steady_clock::now() - begin)
                          .count();
  *engine = created.release();
  return SA_OK;
} catch (...) {
  return failCaught();
}

void sa_engine_destroy(sa_engine *engine) { delete engine; }

sa_status sa_engine_get_info(const sa_engine *engine,
                             sa_engine_info *info) try {
  if (!engine || !info)
    return fail("arguments: got a null pointer, expected none");
  if (sart::Status status = checkStructSize("engine info", info); !status.ok())
    return fail(status);
  sa_engine_info result = {};
  result.processes = 1;
  if (engine->hub) {
    result.rank = engine->hub->rank();
    result.processes = engine->hub->ranks();
    result.local_rank = engine->hub->localRank();
  }
  assignSized(info, result);
  return SA_OK;
} catch (...) {
  return failCaught();
}

/// Null where ranks are threads.
static sart::Expected<std::unique_ptr<sart::Transport>>
createTransport(const sa_engine &engine, int64_t ranks) {
  if (!engine.hub)
    return std::unique_ptr<sart::Transport>();
  if (engine.hub->ranks() != ranks)
    return sart::makeError("transport ", engine.hub->name(), ": got ",
                           engine.hub->ranks(), " processes, expected ", ranks,
                           ", one for each rank of the layer");
  return engine.hub->createTransport(engine.timeoutMs);
}

static sa_status finishLayer(sa_engine *engine,
                             mlir::sparseattn::CompiledLayer compiled,
                             const sa_layer_options &options,
                             sa_layer **layer) {
  auto created = std::make_unique<sa_layer>();
  created->compiler = engine->compiler;
  created->pool = engine->pool;
  created->cache = engine->cache;
  created->engineMs = engine->createMs;
  created->denseSteps = options.dense_steps;
  created->device = engine->device;
  created->gpu = engine->gpu;
  created->threads = engine->pool->threads();
  if (options.dense_steps < 0)
    return fail(sart::concat("dense steps: got ", options.dense_steps,
                             ", expected at least 0"));
  if (options.dense_steps > 0 && compiled.program.bound)
    return fail(sart::concat("dense steps of a constant mask: got ",
                             options.dense_steps,
                             ", expected 0: only routed layers re-route"));
  if (engine->compileOnly) {
    created->compiled = std::move(compiled);
    *layer = created.release();
    return SA_OK;
  }
  auto backend = createBackend(*engine, compiled.kernels);
  if (!backend)
    return fail(backend.status());
  sart::ExecutorOptions executorOptions;
#ifdef SPARSEATTN_DEBUG_CHECKS
  bool checked = true;
#else
  bool checked = options.check != 0;
#endif
  executorOptions.poison = checked;
  executorOptions.coverage = checked;
  executorOptions.timeoutMs = engine->timeoutMs;
  auto transport =
      createTransport(*engine, compiled.program.placement.mesh.ranks());
  if (!transport)
    return fail(transport.status());
  created->overProcesses = *transport != nullptr;
  auto executor = sart::Executor::create(
      compiled.program, *backend, executorOptions, std::move(*transport));
  if (!executor)
    return fail(executor.status());
  created->executor = std::move(*executor);
  created->fixedPlan = compiled.fixedPlan;
  if (compiled.program.bound)
    created->fixedPlan.reset();
  created->compiled = std::move(compiled);
  *layer = created.release();
  return SA_OK;
}

sa_status sa_layer_create(sa_engine *engine, const char *text, size_t length,
                          const sa_layer_options *given, sa_layer **layer) try {
  if (!engine || !text || !layer)
    return fail("arguments: got a null pointer, expected none");
  if (sart::Status status = checkStructSize("layer options", given);
      !status.ok())
    return fail(status);
  sa_layer_options options = withDefaults(given);
  mlir::sparseattn::LayerOptions layerOptions;
  layerOptions.ulysses = options.ulysses;
  layerOptions.ring = options.ring;
  layerOptions.balance = options.balance ? options.balance : "";
  layerOptions.augment = options.augment != 0;
  layerOptions.repair = options.repair != 0;
  layerOptions.mask = options.mask;
  layerOptions.maskSize = options.mask_size;
  if (options.dtype) {
    auto dtype = sart::parseDType(options.dtype);
    if (!dtype)
      return fail(dtype.status());
    if (*dtype != sart::DType::F32 && *dtype != sart::DType::BF16 &&
        *dtype != sart::DType::F16)
      return fail(sart::concat("dtype of a layer: got ", options.dtype,
                               ", expected f32, bf16 or f16"));
    layerOptions.dtype = *dtype;
  }
  std::string choice;
  if (sart::Status status =
          applyMachine(*engine, {text, length}, options, layerOptions, choice);
      !status.ok())
    return fail(status);
  auto compiled = engine->compiler->compileLayer({text, length}, layerOptions);
  if (!compiled)
    return fail(compiled.status());
  sa_status made = finishLayer(engine, std::move(*compiled), options, layer);
  if (made == SA_OK)
    (*layer)->choice = std::move(choice);
  return made;
} catch (...) {
  return failCaught();
}

sa_status sa_layer_create_from_program(sa_engine *engine, const void *program,
                                       size_t length,
                                       const sa_layer_options *given,
                                       sa_layer **layer) try {
  if (!engine || !program || !layer)
    return fail("arguments: got a null pointer, expected none");
  if (sart::Status status = checkStructSize("layer options", given);
      !status.ok())
    return fail(status);
  sa_layer_options options = withDefaults(given);
  if (options.ulysses || options.ring || options.balance || options.augment ||
      options.repair || options.dtype || options.mask || options.machine ||
      options.auto_ranks)
    return fail("options of a program: got ulysses, ring, balance, augment, "
                "repair, dtype, mask or machine, expected none of them: the "
                "program fixes them");
  auto compiled = engine->compiler->compileProgram(
      {static_cast<const char *>(program), length});
  if (!compiled)
    return fail(compiled.status());
  return finishLayer(engine, std::move(*compiled), options, layer);
} catch (...) {
  return failCaught();
}

void sa_layer_destroy(sa_layer *layer) { delete layer; }

sa_status sa_layer_get_info(const sa_layer *layer, sa_layer_info *info) try {
  if (!layer || !info)
    return fail("arguments: got a null pointer, expected none");
  if (sart::Status status = checkStructSize("layer info", info); !status.ok())
    return fail(status);
  const sart::Placement &placement = layer->compiled.program.placement;
  const sart::LayerShape &shape = placement.shape;
  sa_layer_info result = {};
  result.heads = shape.heads;
  result.kv_heads = shape.kvHeads;
  result.sq = shape.sq;
  result.skv = shape.skv;
  result.head_dim = shape.headDim;
  result.block_q = shape.blockQ;
  result.block_k = shape.blockK;
  result.q_blocks = shape.qBlocks();
  result.kv_blocks = shape.kvBlocks();
  result.ulysses = placement.mesh.ulysses;
  result.ring = placement.mesh.ring;
  result.ranks = placement.mesh.ranks();
  result.causal = shape.causal;
  result.dtype = static_cast<sa_dtype>(shape.dtype);
  result.scale = layer->compiled.program.scale;
  result.jit_ms = layer->compiled.compileMs;
  result.permuted = layer->compiled.boundaryOrder.has_value();
  assignSized(info, result);
  return SA_OK;
} catch (...) {
  return failCaught();
}

sa_status sa_layer_get_compile_info(sa_layer *layer,
                                    sa_compile_info *info) try {
  if (!layer || !info)
    return fail("arguments: got a null pointer, expected none");
  if (sart::Status status = checkStructSize("compile info", info); !status.ok())
    return fail(status);
  layer->kernelInfos.clear();
  for (const mlir::sparseattn::KernelSource &source :
       layer->compiled.kernelSources)
    layer->kernelInfos.push_back({source.name.c_str(), source.key.c_str(),
                                  static_cast<sa_kernel_source>(source.kind)});
  layer->cacheCounters =
      layer->cache ? layer->cache->counters() : sart::CacheCounters();
  sa_compile_info result = {};
  result.engine_ms = layer->engineMs;
  result.compile_ms = layer->compiled.compileMs;
  result.kernel_ms = layer->compiled.kernelMs;
  result.kernel_count = static_cast<int64_t>(layer->kernelInfos.size());
  result.kernels = layer->kernelInfos.data();
  result.cache_dir = layer->cache ? layer->cache->folder().c_str() : "";
  result.cache_problem = layer->cacheCounters.problem.c_str();
  result.cache_hits = layer->cacheCounters.hits;
  result.cache_misses = layer->cacheCounters.misses;
  result.cache_ignored = layer->cacheCounters.ignored;
  result.cache_stored = layer->cacheCounters.stored;
  result.cache_removed = layer->cacheCounters.removed;
  layer->notice.clear();
  for (const std::string &notice : layer->compiled.notices)
    layer->notice += (layer->notice.empty() ? "" : "; ") + notice;
  result.notice = layer->notice.c_str();
  assignSized(info, result);
  return SA_OK;
} catch (...) {
  return failCaught();
}

sa_status sa_layer_get_shard(const sa_layer *layer, int64_t rank,
                             sa_shard *shard) try {
  if (!layer || !shard)
    return fail("arguments: got a null pointer, expected none");
  const sart::Placement &placement = layer->compiled.program.placement;
  if (rank < 0 || rank >= placement.mesh.ranks())
    return fail(sart::concat("rank: got ", rank, ", expected 0 to ",
                             placement.mesh.ranks() - 1));
  sart::Range q = placement.qShardOf(rank), kv = placement.kvShardOf(rank);
  *shard = {q.begin, q.end, kv.begin, kv.end};
  return SA_OK;
} catch (...) {
  return failCaught();
}

sa_status sa_layer_set_plan(sa_layer *layer, const char *text,
                            size_t length) try {
  if (!layer)
    return fail("layer: got a null pointer, expected a layer");
  if (!text) {
    layer->fixedPlan.reset();
    return SA_OK;
  }
  const sart::Program &program = layer->compiled.program;
  if (program.bound)
    return fail("plan of a bound program: got one, expected none: its plan is "
                "folded in");
  auto plan = layer->compiler->parsePlan({text, length}, layer->compiled);
  if (!plan)
    return fail(plan.status());
  layer->fixedPlan = std::move(*plan);
  return SA_OK;
} catch (...) {
  return failCaught();
}
