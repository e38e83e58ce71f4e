//===- Projections.cpp - The stand-in for a trained model -----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Projections.h"

#include "Random.h"
#include "Support.h"

#include <algorithm>
#include <cmath>

using namespace dit;

namespace {

constexpr int64_t pairs = headDim / 2;
constexpr int64_t featureSize = channels + 1;

/// Pairs that rotate with t, h and w, and the base of their frequencies: Wan's.
constexpr int64_t axisPairs[3] = {22, 21, 21};
constexpr double rotaryBase = 10000;

/// The constant beside the 16 channels. Rotated, it makes a token prefer its
/// neighbourhood; the larger it is, the more place counts against content.
constexpr float placeWeight = 3;

/// Temperatures of the heads at the first step, spread evenly in the logarithm:
/// from heads that average widely to heads that match closely.
constexpr double temperatureFrom = 7.5, temperatureTo = 90;
/// Less noise allows closer matches: temperature ~ (1 / sigma)^noisePower.
constexpr double noisePower = 0.45;
/// Later layers see a cleaner guide.
constexpr double layerFactor = 1.2;

constexpr uint64_t rankStream = 100, shareStream = 200, queryStream = 1000,
                   liftStream = 100000;

uint64_t headStream(uint64_t base, int64_t layer, int64_t head) {
  return base + static_cast<uint64_t>(100 * layer + head);
}

/// A place in a row of evenly spread temperatures for each head, in an order
/// from the seed.
std::vector<double> makeTemperatures(uint64_t seed, int64_t layer,
                                     int64_t heads) {
  Random order(seed, rankStream + static_cast<uint64_t>(layer));
  Random share(seed, shareStream + static_cast<uint64_t>(layer));
  std::vector<double> temperatures;
  temperatures.reserve(static_cast<size_t>(heads));
  for (int64_t i = 0; i < heads; ++i) {
    uint64_t own = order.bits(static_cast<uint64_t>(i));
    int64_t rank = 0;
    for (int64_t j = 0; j < heads; ++j) {
      uint64_t other = order.bits(static_cast<uint64_t>(j));
      rank += other < own || (other == own && j < i) ? 1 : 0;
    }
    double place =
        (static_cast<double>(rank) + share.uniform(static_cast<uint64_t>(i))) /
        static_cast<double>(heads);
    temperatures.push_back(temperatureFrom *
                           std::pow(temperatureTo / temperatureFrom, place) *
                           std::pow(layerFactor, static_cast<double>(layer)));
  }
  return temperatures;
}

/// Normal random weights of variance 1 / headDim, so that lengths are kept on
/// average. Pair k is elements k and k + pairs.
std::vector<float> makeQueryWeights(uint64_t seed, uint64_t stream) {
  Random random(seed, stream);
  const float scale = static_cast<float>(1 / std::sqrt(double(headDim)));
  std::vector<float> weights(featureSize * headDim);
  for (int64_t c = 0; c < featureSize; ++c)
    for (int64_t d = 0; d < headDim; ++d) {
      int64_t row = d < pairs ? 2 * d : 2 * (d - pairs) + 1;
      weights[c * headDim + d] =
          scale * random.normal(static_cast<uint64_t>(row * featureSize + c));
    }
  return weights;
}

/// Random orthonormal rows, by Gram and Schmidt's method.
std::vector<float> makeLift(uint64_t seed, uint64_t stream) {
  Random random(seed, stream);
  std::vector<double> rows(channels * headDim);
  for (int64_t i = 0; i < channels * headDim; ++i)
    rows[i] = random.normal(static_cast<uint64_t>(i));
  auto dot = [&](int64_t a, int64_t b) {
    double sum = 0;
    for (int64_t d = 0; d < headDim; ++d)
      sum += rows[a * headDim + d] * rows[b * headDim + d];
    return sum;
  };
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t before = 0; before < c; ++before) {
      double along = dot(c, before);
      for (int64_t d = 0; d < headDim; ++d)
        rows[c * headDim + d] -= along * rows[before * headDim + d];
    }
    double length = std::sqrt(dot(c, c));
    for (int64_t d = 0; d < headDim; ++d)
      rows[c * headDim + d] /= length;
  }
  return {rows.begin(), rows.end()};
}

std::array<int64_t, 3> placeOf(int64_t raster,
                               const std::array<int64_t, 3> &grid) {
  return {raster / (grid[1] * grid[2]), raster / grid[2] % grid[1],
          raster % grid[2]};
}

/// Writes `row` as headDim elements at element `index` of an array.
void storeRow(const float *row, sa_dtype dtype, void *array, int64_t index) {
  if (dtype == SA_F32) {
    std::copy(row, row + headDim, static_cast<float *>(array) + index);
    return;
  }
  uint16_t *to = static_cast<uint16_t *>(array) + index;
  for (int64_t d = 0; d < headDim; ++d)
    to[d] = dtype == SA_BF16 ? bf16FromFloat(row[d]) : fp16FromFloat(row[d]);
}

void loadRow(const void *array, int64_t index, sa_dtype dtype, float *row) {
  if (dtype == SA_F32) {
    const float *from = static_cast<const float *>(array) + index;
    std::copy(from, from + headDim, row);
    return;
  }
  const uint16_t *from = static_cast<const uint16_t *>(array) + index;
  for (int64_t d = 0; d < headDim; ++d)
    row[d] = dtype == SA_BF16 ? floatFromBf16(from[d]) : floatFromFp16(from[d]);
}

} // namespace

int64_t dit::elementBytes(sa_dtype dtype) { return dtype == SA_F32 ? 4 : 2; }

double Projections::attentionScale() { return 1 / std::sqrt(double(headDim)); }

Projections::Projections(uint64_t seed, int64_t layers, int64_t heads,
                         const std::array<int64_t, 3> &grid,
                         const std::vector<int64_t> &permutation,
                         int64_t threads)
    : tokens(grid[0] * grid[1] * grid[2]), heads(heads), threads(threads) {
  for (int64_t layer = 0; layer < layers; ++layer) {
    std::vector<double> temperatures = makeTemperatures(seed, layer, heads);
    for (int64_t i = 0; i < heads; ++i)
      weights.push_back(
          {makeQueryWeights(seed, headStream(queryStream, layer, i)),
           makeLift(seed, headStream(liftStream, layer, i)),
           temperatures[static_cast<size_t>(i)]});
  }
  makeNeighbours(grid, permutation);
  makeRotations(grid, permutation);
}

void Projections::makeNeighbours(const std::array<int64_t, 3> &grid,
                                 const std::vector<int64_t> &permutation) {
  std::vector<int32_t> position(permutation.size());
  for (int64_t i = 0; i < tokens; ++i)
    position[permutation[i]] = static_cast<int32_t>(i);
  const int64_t stride[3] = {grid[1] * grid[2], grid[2], 1};
  neighbours.resize(static_cast<size_t>(3 * tokens * 2));
  for (int axis = 0; axis < 3; ++axis)
    for (int64_t i = 0; i < tokens; ++i) {
      int64_t raster = permutation[i];
      int64_t place = placeOf(raster, grid)[axis];
      int64_t before = place > 0 ? raster - stride[axis] : raster;
      int64_t after = place + 1 < grid[axis] ? raster + stride[axis] : raster;
      neighbours[(axis * tokens + i) * 2] = position[before];
      neighbours[(axis * tokens + i) * 2 + 1] = position[after];
    }
}

void Projections::makeRotations(const std::array<int64_t, 3> &grid,
                                const std::vector<int64_t> &permutation) {
  cosines.resize(static_cast<size_t>(tokens * pairs));
  sines.resize(cosines.size());
  for (int64_t i = 0; i < tokens; ++i) {
    std::array<int64_t, 3> place = placeOf(permutation[i], grid);
    int64_t pair = 0;
    for (int axis = 0; axis < 3; ++axis)
      for (int64_t k = 0; k < axisPairs[axis]; ++k, ++pair) {
        double frequency = std::pow(rotaryBase, -static_cast<double>(k) /
                                                    double(axisPairs[axis]));
        double angle = frequency * static_cast<double>(place[axis]);
        cosines[i * pairs + pair] = static_cast<float>(std::cos(angle));
        sines[i * pairs + pair] = static_cast<float>(std::sin(angle));
      }
  }
}

std::vector<float>
Projections::features(const std::vector<float> &hidden) const {
  std::vector<float> from = hidden, to(hidden.size());
  for (int axis = 0; axis < 3; ++axis) {
    const int32_t *near = neighbours.data() + axis * tokens * 2;
    parallelFor(tokens, threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        for (int64_t c = 0; c < channels; ++c)
          to[i * channels + c] = 0.25f * (from[near[2 * i] * channels + c] +
                                          2 * from[i * channels + c] +
                                          from[near[2 * i + 1] * channels + c]);
    });
    std::swap(from, to);
  }
  std::vector<float> result(static_cast<size_t>(tokens * featureSize));
  parallelFor(tokens, threads, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float squares = placeWeight * placeWeight;
      for (int64_t c = 0; c < channels; ++c)
        squares += from[i * channels + c] * from[i * channels + c];
      float inverse = 1 / std::sqrt(squares);
      float *row = result.data() + i * featureSize;
      for (int64_t c = 0; c < channels; ++c)
        row[c] = from[i * channels + c] * inverse;
      row[channels] = placeWeight * inverse;
    }
  });
  return result;
}

void Projections::queries(int64_t layer, double sharpening,
                          const std::vector<float> &hidden, sa_dtype dtype,
                          void *out) const {
  std::vector<float> inputs = features(hidden);
  parallelFor(tokens, threads, [&](int64_t begin, int64_t end) {
    float row[headDim];
    for (int64_t h = 0; h < heads; ++h) {
      const Head &own = head(layer, h);
      // The query is the key too, so each takes the root of the factor that
      // the attention scale leaves to the temperature.
      float gain = static_cast<float>(
          std::sqrt(own.temperature * std::pow(sharpening, noisePower) /
                    attentionScale()));
      for (int64_t i = begin; i < end; ++i) {
        std::fill(row, row + headDim, 0.0f);
        for (int64_t c = 0; c < featureSize; ++c) {
          float x = gain * inputs[i * featureSize + c];
          const float *weight = own.query.data() + c * headDim;
          for (int64_t d = 0; d < headDim; ++d)
            row[d] += x * weight[d];
        }
        const float *cosine = cosines.data() + i * pairs;
        const float *sine = sines.data() + i * pairs;
        for (int64_t k = 0; k < pairs; ++k) {
          float a = row[k], b = row[k + pairs];
          row[k] = a * cosine[k] - b * sine[k];
          row[k + pairs] = a * sine[k] + b * cosine[k];
        }
        storeRow(row, dtype, out, (h * tokens + i) * headDim);
      }
    }
  });
}

void Projections::values(int64_t layer, const std::vector<float> &noisy,
                         float gain, sa_dtype dtype, void *out) const {
  parallelFor(tokens, threads, [&](int64_t begin, int64_t end) {
    float row[headDim];
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = begin; i < end; ++i) {
        std::fill(row, row + headDim, 0.0f);
        for (int64_t c = 0; c < channels; ++c) {
          float x = gain * noisy[i * channels + c];
          const float *lift = head(layer, h).lift.data() + c * headDim;
          for (int64_t d = 0; d < headDim; ++d)
            row[d] += x * lift[d];
        }
        storeRow(row, dtype, out, (h * tokens + i) * headDim);
      }
  });
}

std::vector<float> Projections::estimate(int64_t layer, const void *attended,
                                         sa_dtype dtype) const {
  std::vector<float> result(static_cast<size_t>(tokens * channels), 0.0f);
  const float share = 1 / static_cast<float>(heads);
  parallelFor(tokens, threads, [&](int64_t begin, int64_t end) {
    float row[headDim];
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = begin; i < end; ++i) {
        loadRow(attended, (h * tokens + i) * headDim, dtype, row);
        for (int64_t c = 0; c < channels; ++c) {
          const float *lift = head(layer, h).lift.data() + c * headDim;
          // Eight sums at a time: the compiler may not reorder a single one.
          float sums[8] = {};
          for (int64_t d = 0; d < headDim; d += 8)
            for (int64_t lane = 0; lane < 8; ++lane)
              sums[lane] += row[d + lane] * lift[d + lane];
          result[i * channels + c] +=
              share * (((sums[0] + sums[1]) + (sums[2] + sums[3])) +
                       ((sums[4] + sums[5]) + (sums[6] + sums[7])));
        }
      }
  });
  return result;
}
