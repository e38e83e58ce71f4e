//===- CapiTestSupport.cpp - Layers and tensors for C API tests -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CapiTestSupport.h"

#include <cmath>
#include <limits>
#include <random>
#include <sstream>

using namespace capi_test;

Engine capi_test::makeEngine(const char *device) {
  sa_engine_options options = {};
  options.struct_size = sizeof options;
  options.device = device;
  options.threads = 2;
  options.timeout_ms = 30000;
  sa_engine *engine = nullptr;
  EXPECT_EQ(sa_engine_create(&options, &engine), SA_OK) << sa_last_error();
  return Engine(engine);
}

sa_engine *capi_test::sharedEngine(const char *device) {
  static Engine cpu = makeEngine("cpu"), reference = makeEngine("reference");
  return (std::string(device) == "cpu" ? cpu : reference).get();
}

std::string capi_test::routedText(const Shape &s) {
  std::ostringstream text;
  auto tensor = [&](const char *name, int64_t heads, int64_t tokens) {
    text << "!" << name << " = tensor<" << heads << "x" << tokens << "x"
         << s.dim << "xf32>\n";
  };
  tensor("q", s.heads, s.sq);
  tensor("kv", s.kvHeads, s.skv);
  tensor("pq", s.heads, s.qBlocks());
  tensor("pk", s.kvHeads, s.kvBlocks());
  text << "!lse = tensor<" << s.heads << "x" << s.sq << "xf32>\n"
       << "!mask = !sparseattn.mask<" << s.heads << "x" << s.qBlocks() << "x"
       << s.kvBlocks() << ", block = " << s.block << "x" << s.block
       << ", tokens = " << s.sq << "x" << s.skv << (s.causal ? ", causal" : "")
       << (s.order.empty() ? "" : ", order = " + s.order) << ">\n"
       << "func.func @layer(%q0: !q, %k0: !kv, %v0: !kv) -> (!q, !lse) {\n";
  bool permuted = !s.order.empty();
  std::string suffix = permuted ? "" : "0";
  if (permuted)
    for (const char *name : {"q", "k", "v"})
      text << "  %" << name << " = sparseattn.permute %" << name << "0 by "
           << s.order.substr(std::string("#sparseattn.order").size()) << " : !"
           << (name[0] == 'q' ? "q" : "kv") << "\n";
  text << "  %pq = sparseattn.pool %q" << suffix << " block " << s.block
       << " : !q -> !pq\n"
       << "  %pk = sparseattn.pool %k" << suffix << " block " << s.block
       << " : !kv -> !pk\n"
       << "  %m = sparseattn.route %pq, %pk policy " << s.policy
       << " scale 0.25 : !pq, !pk -> !mask\n"
       << "  %o, %lse = sparseattn.attend %q" << suffix << ", %k" << suffix
       << ", %v" << suffix
       << ", %m scale 0.25 : !q, !kv, !kv, !mask -> !q, !lse\n";
  if (permuted) {
    std::string order = s.order.substr(std::string("#sparseattn.order").size());
    text << "  %oo = sparseattn.permute %o by " << order << " inverse : !q\n"
         << "  %lo = sparseattn.permute %lse by " << order
         << " inverse : !lse\n  return %oo, %lo : !q, !lse\n}\n";
  } else {
    text << "  return %o, %lse : !q, !lse\n}\n";
  }
  return text.str();
}

sa_layer_options capi_test::layerOptions(int64_t ulysses, int64_t ring) {
  sa_layer_options options = {};
  options.struct_size = sizeof options;
  options.ulysses = ulysses;
  options.ring = ring;
  options.check = 1;
  return options;
}

Layer capi_test::makeLayer(sa_engine *engine, const std::string &text,
                           const sa_layer_options &options) {
  sa_layer *layer = nullptr;
  EXPECT_EQ(sa_layer_create(engine, text.data(), text.size(), &options, &layer),
            SA_OK)
      << sa_last_error();
  return Layer(layer);
}

std::string capi_test::layerError(sa_engine *engine, const std::string &text,
                                  const sa_layer_options &options) {
  sa_layer *layer = nullptr;
  EXPECT_EQ(sa_layer_create(engine, text.data(), text.size(), &options, &layer),
            SA_ERROR);
  EXPECT_EQ(layer, nullptr);
  sa_layer_destroy(layer);
  return sa_last_error();
}

Tensors::Tensors(const Shape &shape, uint32_t seed) : shape(shape) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  auto fill = [&](std::vector<float> &data, int64_t heads, int64_t tokens,
                  float scale) {
    data.resize(static_cast<size_t>(heads * tokens * shape.dim));
    for (float &value : data)
      value = scale * normal(generator);
  };
  fill(qData, shape.heads, shape.sq, 10.0f);
  fill(kData, shape.kvHeads, shape.skv, 1.0f);
  fill(vData, shape.kvHeads, shape.skv, 1.0f);
  // Head 0: the first element makes every score about -100.
  for (int64_t i = 0; i < shape.sq; ++i)
    qData[static_cast<size_t>(i * shape.dim)] = -100.0f;
  for (int64_t j = 0; j < shape.skv; ++j)
    kData[static_cast<size_t>(j * shape.dim)] = 4.0f;
  outData.resize(qData.size());
  lseData.resize(static_cast<size_t>(shape.heads * shape.sq));
  poison();
}

void Tensors::poison() {
  std::fill(outData.begin(), outData.end(), std::nanf(""));
  std::fill(lseData.begin(), lseData.end(), std::nanf(""));
}

static sa_tensor contiguous(std::vector<float> &data, int64_t heads,
                            int64_t tokens, int64_t elements) {
  return {data.data(),
          SA_F32,
          {heads, tokens, elements},
          {tokens * elements, elements, 1}};
}

sa_tensor Tensors::q() {
  return contiguous(qData, shape.heads, shape.sq, shape.dim);
}
sa_tensor Tensors::k() {
  return contiguous(kData, shape.kvHeads, shape.skv, shape.dim);
}
sa_tensor Tensors::v() {
  return contiguous(vData, shape.kvHeads, shape.skv, shape.dim);
}
sa_tensor Tensors::out() {
  return contiguous(outData, shape.heads, shape.sq, shape.dim);
}
sa_tensor Tensors::lse() {
  return contiguous(lseData, shape.heads, shape.sq, 1);
}

double Tensors::error(const std::vector<uint8_t> &mask,
                      const std::vector<int64_t> &permutation) const {
  const Shape &s = shape;
  double worst = 0;
  // A NaN must not compare as small.
  auto note = [&](double difference) {
    worst = std::fabs(difference) <= worst
                ? worst
                : (std::isnan(difference) ? INFINITY : std::fabs(difference));
  };
  auto token = [&](int64_t position) {
    return permutation.empty() ? position
                               : permutation[static_cast<size_t>(position)];
  };
  std::vector<double> scores(static_cast<size_t>(s.skv));
  for (int64_t h = 0; h < s.heads; ++h)
    for (int64_t i = 0; i < s.sq; ++i) {
      const float *query =
          &qData[static_cast<size_t>((h * s.sq + token(i)) * s.dim)];
      int64_t kvHead = h / (s.heads / s.kvHeads);
      double most = -INFINITY, sum = 0;
      for (int64_t j = 0; j < s.skv; ++j) {
        bool selected = mask[static_cast<size_t>(
                            (h * s.qBlocks() + i / s.block) * s.kvBlocks() +
                            j / s.block)] &&
                        (!s.causal || j <= i + s.skv - s.sq);
        double score = -INFINITY;
        if (selected) {
          const float *key =
              &kData[static_cast<size_t>((kvHead * s.skv + token(j)) * s.dim)];
          score = 0;
          for (int64_t d = 0; d < s.dim; ++d)
            score += static_cast<double>(query[d]) * key[d];
          score *= 0.25;
        }
        scores[static_cast<size_t>(j)] = score;
        most = std::max(most, score);
      }
      std::vector<double> row(static_cast<size_t>(s.dim));
      for (int64_t j = 0; j < s.skv; ++j) {
        double score = scores[static_cast<size_t>(j)];
        if (std::isinf(score))
          continue;
        double weight = std::exp(score - most);
        sum += weight;
        const float *value =
            &vData[static_cast<size_t>((kvHead * s.skv + token(j)) * s.dim)];
        for (int64_t d = 0; d < s.dim; ++d)
          row[static_cast<size_t>(d)] += weight * value[d];
      }
      size_t at = static_cast<size_t>(h * s.sq + token(i));
      for (int64_t d = 0; d < s.dim; ++d)
        note(outData[at * static_cast<size_t>(s.dim) + static_cast<size_t>(d)] -
             (sum > 0 ? row[static_cast<size_t>(d)] / sum : 0));
      if (sum > 0)
        note(lseData[at] - (most + std::log(sum)));
      else if (lseData[at] != -INFINITY)
        note(INFINITY);
    }
  return worst;
}

std::vector<uint8_t> capi_test::lastMask(sa_layer *layer, const Shape &shape) {
  std::vector<uint8_t> bits(static_cast<size_t>(shape.tiles()), 7);
  EXPECT_EQ(sa_layer_get_mask(layer, bits.data(), bits.size()), SA_OK)
      << sa_last_error();
  return bits;
}

std::string capi_test::runWhole(sa_layer *layer, Tensors &tensors,
                                sa_run_stats *stats, int64_t step) {
  sa_tensor q = tensors.q(), k = tensors.k(), v = tensors.v(),
            out = tensors.out(), lse = tensors.lse();
  sa_run_options options = {sizeof options, step, 0};
  tensors.poison();
  if (sa_layer_run_whole(layer, &q, &k, &v, &out, &lse, &options, stats) ==
      SA_OK)
    return "";
  return sa_last_error();
}
