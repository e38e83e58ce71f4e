/*===- sparseattn.h - C API ----------------------------------------*- C -*-===*
 *
 * Part of the sparseattn project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * Engine, layer, run, begin / finish, explain, plan and program in and out.
 *
 * Every function that can fail returns sa_status; on SA_ERROR the calling
 * thread's sa_last_error() says what was found and what was expected. Structs
 * start with `struct_size`: set it to sizeof the struct, so that later versions
 * can grow; all other fields may be zero for the default. Text in is a pointer
 * and a length; text out is valid until the next call on the same object.
 * One layer must not be used by two threads at once; different layers may, also
 * those of one engine. An engine may be destroyed before its layers.
 *
 *===----------------------------------------------------------------------===*/
#ifndef SPARSEATTN_C_SPARSEATTN_H
#define SPARSEATTN_C_SPARSEATTN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SA_API __attribute__((visibility("default")))

typedef enum sa_status { SA_OK = 0, SA_ERROR = 1 } sa_status;
typedef enum sa_dtype { SA_F32 = 0, SA_BF16 = 1, SA_F16 = 2 } sa_dtype;

/** Message of the calling thread's last error, without a final stop. */
SA_API const char *sa_last_error(void);
/** "0.1.0". */
SA_API const char *sa_version(void);

/** A tensor [heads, tokens, elements]; strides in elements, the last one 1.
 *  lse: elements = 1, dtype SA_F32. In runs with device "cuda" the data may
 * also lie in memory of the GPU, unless the layer has permute ops; work on it
 * that is still under way must be waited for before. */
typedef struct sa_tensor {
  void *data;
  sa_dtype dtype;
  int64_t sizes[3];
  int64_t strides[3];
} sa_tensor;

/*===- Token orders -------------------------------------------------------===*/

/** Token order of a T x H x W grid ("raster", "cubes", "hilbert", "stripes",
 *  or time x space tiles such as "tiles<t=2,h=4>"); writes permutation[i] =
 * raster token at position i, `count` entries, which must be T * H * W. */
SA_API sa_status sa_order_permutation(const char *kind, const int64_t grid[3],
                                      int64_t *permutation, int64_t count);

/*===- Engine -------------------------------------------------------------===*/

typedef struct sa_engine sa_engine;

typedef struct sa_engine_options {
  size_t struct_size;
  /** "cpu" (default): kernels compiled in process. "cuda": the same for a
   *  Hopper GPU. "reference": the interpreter's double precision loops, slow.
   */
  const char *device;
  /** Worker threads; 0: one per core. */
  int64_t threads;
  /** Bound of every wait between ranks, milliseconds; 0: 60,000. */
  int64_t timeout_ms;
  /** Folder that keeps compiled kernels between processes; NULL or "": none;
   *  "default": $XDG_CACHE_HOME/sparseattn, else $HOME/.cache/sparseattn. Safe
   *  for any number of processes at once. A folder that cannot be used is
   *  reported by sa_layer_get_compile_info and is no error. */
  const char *cache_dir;
  /** What its entries take together at most; 0: 256 MiB. */
  int64_t cache_max_bytes;
  /** cuda: file of NVIDIA's assembler; NULL or "": the one of $CUDA_HOME/bin or
   *  PATH; "none" (and what happens where none is found): kernels stay PTX,
   *  which the driver assembles at each start. */
  const char *ptxas;
  /** Non-zero: layers are compiled, which fills the cache, and cannot run. Such
   *  an engine needs no GPU. */
  int compile_only;
  /** "local" (default): ranks are threads of this process. "mpi": each process
   *  of an MPI launcher is a rank; needs Open MPI, and the plug-in
   *  libsparseattn-mpi.so beside the library. All processes then make the same
   *  calls, with the same options, in the same order; one engine at a time. An
   *  error of one ends the run of all. MPI is started where the host has not
   *  done so, and then ended with the engine and its layers. */
  const char *transport;
} sa_engine_options;

SA_API sa_status sa_engine_create(const sa_engine_options *options,
                                  sa_engine **engine);
SA_API void sa_engine_destroy(sa_engine *engine);

typedef struct sa_engine_info {
  size_t struct_size;
  int64_t rank;       /**< of this process; 0 with transport "local" */
  int64_t processes;  /**< 1 with transport "local" */
  int64_t local_rank; /**< number of the process among those of its machine */
} sa_engine_info;
SA_API sa_status sa_engine_get_info(const sa_engine *engine,
                                    sa_engine_info *info);

/*===- Layer --------------------------------------------------------------===*/

typedef struct sa_layer sa_layer;

typedef struct sa_layer_options {
  size_t struct_size;
  int64_t ulysses; /**< 0: the layer text's mesh, or 1 */
  int64_t ring;    /**< 0: the layer text's mesh, or 1 */
  /** "none", "swap", "split" or "pre"; with a machine also "auto": the one with
   *  the least predicted time; NULL: "swap" when ulysses > 1. */
  const char *balance;
  /** Non-zero: fill slack with next-best tiles (FVAttn's augmentation). */
  int augment;
  /** The first `dense_steps` steps of a schedule attend densely. */
  int64_t dense_steps;
  /** Non-zero: prove coverage of every bound program and poison memory. */
  int check;
  /** "f32", "bf16" or "f16": element type in place of the text's; NULL: the
   *  text's, on cuda bf16 in place of f32 (sa_layer_info says what it is). */
  const char *dtype;
  /** A mask in place of the layer's routing: one byte per (head, q-block,
   *  kv-block), `mask_size` = heads * q_blocks * kv_blocks; NULL: none. */
  const uint8_t *mask;
  size_t mask_size;
  /** Non-zero: row moves even out what balance "pre" leaves. */
  int repair;
  /** Text of a machine file, whose costs the planner decides with; NULL: tiles
   *  cost, transfers do not. */
  const char *machine;
  size_t machine_size;
  /** With a machine and without ulysses and ring: choose the mesh of so many
   *  ranks that has the least predicted time, for `mask` or for a mask of the
   *  density that the layer's policy is expected to select. */
  int64_t auto_ranks;
} sa_layer_options;

/** Compiles a layer (MLIR text, sparseattn dialect). Permute ops at the
 *  layer's entry and exit are the model's own entry and exit:
 * sa_layer_run_whole carries them out, runs on shards refuse such a layer (use
 *  sa_order_permutation once and leave the ops out). */
SA_API sa_status sa_layer_create(sa_engine *engine, const char *text,
                                 size_t length, const sa_layer_options *options,
                                 sa_layer **layer);
/** A layer that runs this program (sa_comm text, or program bytes). Of the
 *  options, dense_steps and check may be set; the program fixes the others. */
SA_API sa_status sa_layer_create_from_program(sa_engine *engine,
                                              const void *program,
                                              size_t length,
                                              const sa_layer_options *options,
                                              sa_layer **layer);
SA_API void sa_layer_destroy(sa_layer *layer);

typedef struct sa_layer_info {
  size_t struct_size;
  int64_t heads, kv_heads, sq, skv, head_dim, block_q, block_k;
  int64_t q_blocks, kv_blocks;
  int64_t ulysses, ring, ranks;
  int causal;
  sa_dtype dtype;
  double scale;
  double jit_ms; /**< from text to callable kernels, compiled or cached */
  int permuted;  /**< the text has permute ops at entry and exit */
} sa_layer_info;
SA_API sa_status sa_layer_get_info(const sa_layer *layer, sa_layer_info *info);

typedef enum sa_kernel_source {
  SA_KERNEL_COMPILED = 0, /**< for this layer */
  SA_KERNEL_CACHED = 1,   /**< loaded from the cache on disk */
  SA_KERNEL_PRESENT = 2,  /**< in the engine already, for an earlier layer */
  SA_KERNEL_SHIPPED = 3   /**< came with the library */
} sa_kernel_source;

typedef struct sa_kernel_info {
  const char *name;
  const char *key; /**< its file in the cache; "" without a cache */
  sa_kernel_source source;
} sa_kernel_info;

/** How a layer was compiled. Pointers are valid until the next call of
 *  sa_layer_get_compile_info on the layer. */
typedef struct sa_compile_info {
  size_t struct_size;
  double engine_ms;  /**< creation of the engine */
  double compile_ms; /**< of the layer: from text to callable kernels */
  double kernel_ms;  /**< of it, compiling or loading the kernels */
  int64_t kernel_count;
  const sa_kernel_info *kernels;
  const char *cache_dir;     /**< "" without a cache */
  const char *cache_problem; /**< why nothing could be stored; "" if all was */
  /** Of the engine so far; cache_ignored: files found damaged or foreign. */
  int64_t cache_hits, cache_misses, cache_ignored, cache_stored, cache_removed;
  const char *notice; /**< what the user should be told; "" if nothing */
} sa_compile_info;
SA_API sa_status sa_layer_get_compile_info(sa_layer *layer,
                                           sa_compile_info *info);

/** Tokens that `rank` holds at entry and exit. */
typedef struct sa_shard {
  int64_t q_begin, q_end, kv_begin, kv_end;
} sa_shard;
SA_API sa_status sa_layer_get_shard(const sa_layer *layer, int64_t rank,
                                    sa_shard *shard);

/** Later runs carry out the plan in this text (a module with a #sparseattn.plan
 *  on its balance op) instead of planning; NULL: plan again. */
SA_API sa_status sa_layer_set_plan(sa_layer *layer, const char *text,
                                   size_t length);

/*===- Run ----------------------------------------------------------------===*/

typedef struct sa_run_options {
  size_t struct_size;
  int64_t step; /**< step of the schedule, for dense_steps */
  /** Non-zero: over processes, the mask stays where it was routed, which saves
   *  time; what needs it after the run is then refused. */
  int leave_mask;
} sa_run_options;

/** Over processes these are complete where rank 0 is; the others have the
 *  numbers of their own rank alone. Valid until the layer's next run; arrays
 * have one entry per rank. */
typedef struct sa_run_stats {
  size_t struct_size;
  int64_t ranks;
  double density;
  const int64_t *loads_before, *loads_after; /**< tiles */
  double rho_before, rho_after;
  int64_t moves;            /**< of whole heads and of rows of heads */
  int64_t bytes_moved;      /**< remote Q, K, V of what moved */
  int64_t bytes_ulysses;    /**< remote Q, K, V, O of both all-to-alls */
  int64_t bytes_routed;     /**< remote K, V over the ring */
  int64_t bytes_dense_ring; /**< what a dense ring over all ranks would carry */
  int64_t tiles;
  double kept_pooled_mass; /**< mean over rows, as routing saw it */
  int64_t near_threshold;  /**< blocks within 1e-5 of p */
  double plan_us;
  double ms;
  uint64_t plan_hash;
} sa_run_stats;

/** Runs the layer over all ranks. q, k, v, out, lse: one tensor per rank, the
 *  rank's shard; over processes one tensor, the shard of the process's rank. q,
 * k, v have the layer's dtype; out too; lse is SA_F32, natural logarithm. stats
 * may be NULL. */
SA_API sa_status sa_layer_run(sa_layer *layer, const sa_tensor *q,
                              const sa_tensor *k, const sa_tensor *v,
                              const sa_tensor *out, const sa_tensor *lse,
                              const sa_run_options *options,
                              sa_run_stats *stats);
/** The same with one whole tensor each; shards are views of it. Over processes
 *  each reads its own shards, and the whole `out` and `lse` are written where
 *  rank 0 is; host memory. */
SA_API sa_status sa_layer_run_whole(sa_layer *layer, const sa_tensor *q,
                                    const sa_tensor *k, const sa_tensor *v,
                                    const sa_tensor *out, const sa_tensor *lse,
                                    const sa_run_options *options,
                                    sa_run_stats *stats);
/** The same in two parts: begin exchanges q and k, routes and plans; finish
 *  takes v and does the rest. q and k are in use until finish returns. */
SA_API sa_status sa_layer_begin(sa_layer *layer, const sa_tensor *q,
                                const sa_tensor *k,
                                const sa_run_options *options);
SA_API sa_status sa_layer_finish(sa_layer *layer, const sa_tensor *v,
                                 const sa_tensor *out, const sa_tensor *lse,
                                 sa_run_stats *stats);

/*===- After a run --------------------------------------------------------===*/
/* Over processes: where rank 0 is. */

/** The last run's plan, as the layer's module with its #sparseattn.plan. */
SA_API sa_status sa_layer_get_plan(sa_layer *layer, const char **text,
                                   size_t *length);
/** The last run's bound program as sa_comm text. */
SA_API sa_status sa_layer_get_program(sa_layer *layer, const char **text,
                                      size_t *length);
/** The same as bytes. */
SA_API sa_status sa_layer_get_program_bytes(sa_layer *layer, const void **bytes,
                                            size_t *length);
/** Work per rank, bytes per link, imbalance, critical path, in plain words. */
SA_API sa_status sa_layer_explain(sa_layer *layer, const char **text,
                                  size_t *length);
/** What was predicted when auto_ranks or balance "auto" chose: a line for every
 *  candidate; empty where nothing was chosen. Needs no run. */
SA_API sa_status sa_layer_get_choice(sa_layer *layer, const char **text,
                                     size_t *length);
/** Predicted times of the last run's program on a machine (text of a machine
 *  file), in plain words. */
SA_API sa_status sa_layer_predict(sa_layer *layer, const char *machine,
                                  size_t machine_size, const char **text,
                                  size_t *length);
/** Chrome trace events of the last run, joined by commas, shifted by
 *  offset_us; put `[` and `]` around all of them. `label` names the run. */
SA_API sa_status sa_layer_get_trace(sa_layer *layer, const char *label,
                                    double offset_us, const char **events,
                                    size_t *length);
/** Report of the last run as JSON: what ran, loads, bytes per link, mask and
 *  timeline of one step and one layer. include/sparseattn/Report/Report.md has
 *  the schema; a host adds what it knows and joins the steps of many runs. */
SA_API sa_status sa_layer_get_report(sa_layer *layer, const char **json,
                                     size_t *length);
/** A report, of one run or of many, as one HTML page that needs nothing beside
 *  itself. The page is valid until the thread's next call. */
SA_API sa_status sa_report_html(const char *json, size_t length,
                                const char **html, size_t *html_length);
/** Selected kv-blocks of the last run's mask: bits[head][q_block][kv_block],
 *  one byte each. `size` must be heads * q_blocks * kv_blocks. */
SA_API sa_status sa_layer_get_mask(sa_layer *layer, uint8_t *bits, size_t size);

/** Double precision reference of query rows `rows` (tokens) of one head over
 *  whole tensors: `out` [count][head_dim] and `lse` [count] over the last run's
 *  mask, `lse_dense` [count] over all keys; any of the three may be NULL.
 *  exp(lse - lse_dense) is the kept softmax mass. */
SA_API sa_status sa_layer_reference(sa_layer *layer, const sa_tensor *q,
                                    const sa_tensor *k, const sa_tensor *v,
                                    int64_t head, const int64_t *rows,
                                    int64_t count, double *out, double *lse,
                                    double *lse_dense);

#ifdef __cplusplus
}
#endif

#endif /* SPARSEATTN_C_SPARSEATTN_H */
