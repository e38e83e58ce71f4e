/*===- one_layer.c - A layer through the C header alone ------------*- C -*-===*
 *
 * Part of the sparseattn project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * Strict C99: the header needs nothing of C++. Two heads attend 64 tokens in
 * two blocks; the mask gives each query block one kv-block, so that every
 * output row is the mean of that block's rows of v when all scores are equal.
 *
 *===----------------------------------------------------------------------===*/
#include "sparseattn-c/sparseattn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS = 2, TOKENS = 64, DIM = 32, BLOCK = 32 };

static const char *const text =
    "!t = tensor<2x64x32xf32>\n"
    "!mask = !sparseattn.mask<2x2x2, block = 32x32, tokens = 64x64>\n"
    "func.func @layer(%q: !t, %k: !t, %v: !t) -> (!t, tensor<2x64xf32>) {\n"
    "  %m = sparseattn.explicit_mask dense<[[[true, false], [false, true]],\n"
    "    [[false, true], [true, false]]]> : tensor<2x2x2xi1> -> !mask\n"
    "  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.5\n"
    "    : !t, !t, !t, !mask -> !t, tensor<2x64xf32>\n"
    "  return %o, %lse : !t, tensor<2x64xf32>\n"
    "}\n";

static void require(int condition, const char *what) {
  if (condition)
    return;
  fprintf(stderr, "FAIL: %s: %s\n", what, sa_last_error());
  exit(1);
}

static sa_tensor tensor(float *data, int64_t elements) {
  sa_tensor result;
  result.data = data;
  result.dtype = SA_F32;
  result.sizes[0] = HEADS;
  result.sizes[1] = TOKENS;
  result.sizes[2] = elements;
  result.strides[0] = TOKENS * elements;
  result.strides[1] = elements;
  result.strides[2] = 1;
  return result;
}

static float q[HEADS * TOKENS * DIM], k[HEADS * TOKENS * DIM],
    v[HEADS * TOKENS * DIM], out[HEADS * TOKENS * DIM], lse[HEADS * TOKENS];

static void run(const char *device) {
  sa_engine_options engine_options;
  sa_layer_options layer_options;
  sa_run_stats stats;
  sa_engine *engine = NULL;
  sa_layer *layer = NULL;
  sa_tensor tq = tensor(q, DIM), tk = tensor(k, DIM), tv = tensor(v, DIM),
            tout = tensor(out, DIM), tlse = tensor(lse, 1);
  int h, i;

  /* Fields that a later version adds stay at their defaults. */
  memset(&engine_options, 0, sizeof engine_options);
  engine_options.struct_size = sizeof engine_options;
  engine_options.device = device;
  require(sa_engine_create(&engine_options, &engine) == SA_OK, "engine");
  memset(&layer_options, 0, sizeof layer_options);
  layer_options.struct_size = sizeof layer_options;
  layer_options.ulysses = 2;
  require(sa_layer_create(engine, text, strlen(text), &layer_options, &layer) ==
              SA_OK,
          "layer");
  memset(&stats, 0, sizeof stats);
  stats.struct_size = sizeof stats;
  memset(out, 0xff, sizeof out);
  memset(lse, 0xff, sizeof lse);
  require(sa_layer_run_whole(layer, &tq, &tk, &tv, &tout, &tlse, NULL,
                             &stats) == SA_OK,
          "run");
  require(stats.ranks == 2 && stats.tiles == 4, "stats");
  for (h = 0; h < HEADS; ++h)
    for (i = 0; i < TOKENS; ++i) {
      int block = (i / BLOCK) ^ h;
      /* v of token t is t in every element: the mean of a block. */
      float mean = (float)(block * BLOCK) + (BLOCK - 1) / 2.0f;
      require(fabsf(out[(h * TOKENS + i) * DIM + 7] - mean) < 1e-4f, "out");
      require(fabsf(lse[h * TOKENS + i] - (80.0f + logf(BLOCK))) < 1e-4f,
              "lse");
    }
  sa_layer_destroy(layer);
  sa_engine_destroy(engine);
}

int main(void) {
  int i;
  for (i = 0; i < HEADS * TOKENS * DIM; ++i) {
    q[i] = i % DIM == 0 ? 16.0f : 0.0f;
    k[i] = i % DIM == 0 ? 10.0f : 0.0f;
    v[i] = (float)(i / DIM % TOKENS);
  }
  run("cpu");
  run("reference");
  require(sa_engine_create(NULL, NULL) == SA_ERROR &&
              strlen(sa_last_error()) > 0,
          "error");
  printf("%s: ok\n", sa_version());
  return 0;
}
