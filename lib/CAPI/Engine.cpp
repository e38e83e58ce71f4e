//===- Engine.cpp - Engine, layer and orders of the C API -----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Objects.h"

#include <cstring>

using namespace capi;

static thread_local std::string lastError;

sa_status capi::fail(std::string message) {
  lastError = std::move(message);
  return SA_ERROR;
}

const char *sa_last_error(void) { return lastError.c_str(); }

const char *sa_version(void) { return SPARSEATTN_VERSION; }

sa_status sa_order_permutation(const char *kind, const int64_t grid[3],
                               int64_t *permutation, int64_t count) {
  if (!kind || !grid || !permutation)
    return fail("arguments: got a null pointer, expected none");
  sart::Order order;
  if (!std::strcmp(kind, "raster"))
    order.kind = sart::OrderKind::Raster;
  else if (!std::strcmp(kind, "cubes"))
    order.kind = sart::OrderKind::Cubes;
  else if (!std::strcmp(kind, "hilbert"))
    order.kind = sart::OrderKind::Hilbert;
  else if (!std::strcmp(kind, "stripes"))
    order.kind = sart::OrderKind::Stripes;
  else
    return fail(sart::concat("order: got '", kind,
                             "', expected one of raster, cubes, hilbert, "
                             "stripes"));
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
}

sa_status sa_engine_create(const sa_engine_options *given, sa_engine **engine) {
  if (!engine)
    return fail("engine: got a null pointer, expected a place for the handle");
  if (sart::Status status = checkStructSize("engine options", given);
      !status.ok())
    return fail(status);
  sa_engine_options options = withDefaults(given);
  std::string device = options.device ? options.device : "cpu";
  if (device != "cpu" && device != "reference")
    return fail(sart::concat("device: got '", device,
                             "', expected one of cpu, reference"));
  if (options.threads < 0 || options.threads > 1024)
    return fail(
        sart::concat("threads: got ", options.threads, ", expected 0 to 1024"));
  // More would overflow the clock's nanoseconds.
  constexpr int64_t longestTimeoutMs = int64_t(1) << 40;
  if (options.timeout_ms < 0 || options.timeout_ms > longestTimeoutMs)
    return fail(sart::concat("time-out: got ", options.timeout_ms,
                             " ms, expected 0 to ", longestTimeoutMs));
  auto created = std::make_unique<sa_engine>();
  created->reference = device == "reference";
  if (options.timeout_ms)
    created->timeoutMs = options.timeout_ms;
  created->pool = std::make_shared<sart::ThreadPool>(options.threads);
  auto compiler = mlir::sparseattn::LayerCompiler::create(!created->reference);
  if (!compiler)
    return fail(compiler.status());
  created->compiler = std::move(*compiler);
  *engine = created.release();
  return SA_OK;
}

void sa_engine_destroy(sa_engine *engine) { delete engine; }

static sa_status finishLayer(sa_engine *engine,
                             mlir::sparseattn::CompiledLayer compiled,
                             const sa_layer_options &options,
                             sa_layer **layer) {
  auto created = std::make_unique<sa_layer>();
  created->compiler = engine->compiler;
  created->pool = engine->pool;
  created->denseSteps = options.dense_steps;
  std::shared_ptr<sart::Backend> backend =
      engine->reference
          ? sart::createReferenceBackend(engine->pool)
          : sart::createCpuBackend(compiled.kernels, engine->pool);
  sart::ExecutorOptions executorOptions;
#ifdef SPARSEATTN_DEBUG_CHECKS
  bool checked = true;
#else
  bool checked = options.check != 0;
#endif
  executorOptions.poison = checked;
  executorOptions.coverage = checked;
  executorOptions.timeoutMs = engine->timeoutMs;
  if (options.dense_steps < 0)
    return fail(sart::concat("dense steps: got ", options.dense_steps,
                             ", expected at least 0"));
  if (options.dense_steps > 0 && compiled.program.bound)
    return fail(sart::concat("dense steps of a constant mask: got ",
                             options.dense_steps,
                             ", expected 0: only routed layers re-route"));
  auto executor =
      sart::Executor::create(compiled.program, backend, executorOptions);
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
                          const sa_layer_options *given, sa_layer **layer) {
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
  auto compiled = engine->compiler->compileLayer({text, length}, layerOptions);
  if (!compiled)
    return fail(compiled.status());
  return finishLayer(engine, std::move(*compiled), options, layer);
}

sa_status sa_layer_create_from_program(sa_engine *engine, const void *program,
                                       size_t length,
                                       const sa_layer_options *given,
                                       sa_layer **layer) {
  if (!engine || !program || !layer)
    return fail("arguments: got a null pointer, expected none");
  if (sart::Status status = checkStructSize("layer options", given);
      !status.ok())
    return fail(status);
  sa_layer_options options = withDefaults(given);
  if (options.ulysses || options.ring || options.balance || options.augment ||
      options.dtype || options.mask)
    return fail("options of a program: got ulysses, ring, balance, augment, "
                "dtype or mask, expected none of them: the program fixes them");
  auto compiled = engine->compiler->compileProgram(
      {static_cast<const char *>(program), length});
  if (!compiled)
    return fail(compiled.status());
  return finishLayer(engine, std::move(*compiled), options, layer);
}

void sa_layer_destroy(sa_layer *layer) { delete layer; }

sa_status sa_layer_get_info(const sa_layer *layer, sa_layer_info *info) {
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
}

sa_status sa_layer_get_shard(const sa_layer *layer, int64_t rank,
                             sa_shard *shard) {
  if (!layer || !shard)
    return fail("arguments: got a null pointer, expected none");
  const sart::Placement &placement = layer->compiled.program.placement;
  if (rank < 0 || rank >= placement.mesh.ranks())
    return fail(sart::concat("rank: got ", rank, ", expected 0 to ",
                             placement.mesh.ranks() - 1));
  sart::Range q = placement.qShardOf(rank), kv = placement.kvShardOf(rank);
  *shard = {q.begin, q.end, kv.begin, kv.end};
  return SA_OK;
}

sa_status sa_layer_set_plan(sa_layer *layer, const char *text, size_t length) {
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
}
