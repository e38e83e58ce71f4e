//===- LayerText.cpp - The attention layer as MLIR ------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LayerText.h"

#include "Projections.h"

#include <cstdio>

using namespace dit;

namespace {

std::string tensorType(std::initializer_list<int64_t> sizes) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += std::to_string(size) + "x";
  return text + "f32>";
}

std::string decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12f", value);
  return text;
}

/// "tiles<t=2,h=4>" as the attribute's fields; other kinds are a word.
std::string orderText(const Options &options) {
  if (options.order.rfind("tiles", 0) != 0)
    return options.order;
  return "tiles, tiles = [" + std::to_string(options.tiles[0]) + ", " +
         std::to_string(options.tiles[1]) + "]";
}

} // namespace

std::string dit::makeLayerText(const Options &options,
                               const std::array<int64_t, 3> &grid) {
  int64_t heads = options.heads;
  int64_t tokens = grid[0] * grid[1] * grid[2];
  int64_t qBlocks = (tokens + options.blockQ - 1) / options.blockQ;
  int64_t kBlocks = (tokens + options.blockK - 1) / options.blockK;
  std::string n = std::to_string(tokens);
  std::string x = tensorType({heads, tokens, headDim});
  std::string lse = tensorType({heads, tokens});
  std::string pq = tensorType({heads, qBlocks, headDim});
  std::string pk = tensorType({heads, kBlocks, headDim});
  std::string scale = decimal(Projections::attentionScale());
  std::string mask = "!sparseattn.mask<" + std::to_string(heads) + "x" +
                     std::to_string(qBlocks) + "x" + std::to_string(kBlocks) +
                     ", block = " + std::to_string(options.blockQ) + "x" +
                     std::to_string(options.blockK) + ", tokens = " + n + "x" +
                     n + ", order = <" + orderText(options) + ", grid = [" +
                     std::to_string(grid[0]) + ", " + std::to_string(grid[1]) +
                     ", " + std::to_string(grid[2]) + "]>>";

  return "!x = " + x + "\n!lse = " + lse + "\n!pq = " + pq + "\n!pk = " + pk +
         "\n!mask = " + mask +
         "\n\nfunc.func @dit_layer(%q: !x, %k: !x, %v: !x) -> (!x, !lse) {\n"
         "  %pq = sparseattn.pool %q block " +
         std::to_string(options.blockQ) +
         " : !x -> !pq\n"
         "  %pk = sparseattn.pool %k block " +
         std::to_string(options.blockK) +
         " : !x -> !pk\n"
         "  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = " +
         decimal(options.p) +
         ", min_blocks = " + std::to_string(options.minBlocks) + "> scale " +
         scale +
         "\n    : !pq, !pk -> !mask\n"
         "  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale " +
         scale +
         "\n    : !x, !x, !x, !mask -> !x, !lse\n"
         "  return %o, %lse : !x, !lse\n}\n";
}
