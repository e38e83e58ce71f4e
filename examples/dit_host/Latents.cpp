//===- Latents.cpp - Latents of a clip ------------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Latents.h"

#include "Support.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>

using namespace dit;

namespace {

/// Tokens that the host takes: attention's arrays grow with them.
constexpr int64_t maxTokens = int64_t(1) << 20;

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

std::string gridText(const std::array<int64_t, 3> &grid) {
  return std::to_string(grid[0]) + "x" + std::to_string(grid[1]) + "x" +
         std::to_string(grid[2]);
}

/// The text between the quotes or brackets that follow `key` in a header.
std::string headerField(const std::string &header, const std::string &key,
                        char open, char close) {
  size_t at = header.find("'" + key + "'");
  if (at != std::string::npos)
    at = header.find(':', at);
  if (at != std::string::npos)
    at = header.find(open, at);
  size_t end = at == std::string::npos ? at : header.find(close, at + 1);
  if (end == std::string::npos)
    return "";
  return header.substr(at + 1, end - at - 1);
}

std::vector<int64_t> parseShape(const std::string &text) {
  std::vector<int64_t> shape;
  const char *at = text.c_str();
  while (true) {
    char *end = nullptr;
    errno = 0;
    int64_t size = std::strtoll(at, &end, 10);
    if (end == at || errno != 0)
      return shape;
    shape.push_back(size);
    at = end;
    while (*at == ',' || *at == ' ')
      ++at;
  }
}

/// An .npy file's array, rows first, as fp32.
struct NpyArray {
  std::vector<int64_t> shape;
  std::vector<float> values;
};

std::string readFile(const std::string &path) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  std::streamoff size =
      stream ? static_cast<std::streamoff>(stream.tellg()) : -1;
  if (size < 0)
    fail("latents '" + path + "'", "a file that cannot be read",
         "a readable file");
  if (size > (int64_t(1) << 30))
    fail("bytes of '" + path + "'", size, "at most 1073741824");
  std::string bytes(static_cast<size_t>(size), '\0');
  stream.seekg(0);
  if (!stream.read(bytes.data(), size))
    fail("latents '" + path + "'", "a file that cannot be read",
         "a readable file");
  return bytes;
}

/// Format versions 1.0 to 3.0 of NumPy's .npy files.
NpyArray readNpy(const std::string &path) {
  std::string bytes = readFile(path);
  auto byteAt = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  if (bytes.size() < 12 || bytes.compare(0, 6, "\x93NUMPY") != 0)
    fail("start of '" + path + "'", "other bytes", "those of an .npy file");
  size_t lengthBytes = byteAt(6) == 1 ? 2 : 4;
  if (byteAt(6) < 1 || byteAt(6) > 3)
    fail("version of '" + path + "'", int(byteAt(6)), "1 to 3");
  size_t length = 0;
  for (size_t i = 0; i < lengthBytes; ++i)
    length |= static_cast<size_t>(byteAt(8 + i)) << (8 * i);
  size_t begin = 8 + lengthBytes;
  if (length > bytes.size() - begin)
    fail("header of '" + path + "'", bytes.size() - begin, length);
  std::string header = bytes.substr(begin, length);
  begin += length;

  std::string type = headerField(header, "descr", '\'', '\'');
  if (type != "<f2" && type != "<f4")
    fail("element type of '" + path + "'", "'" + type + "'", "<f2 or <f4");
  if (header.find("'fortran_order': False") == std::string::npos)
    fail("order of '" + path + "'", "columns first", "rows first");
  NpyArray array;
  array.shape = parseShape(headerField(header, "shape", '(', ')'));
  if (array.shape.size() != 4 || array.shape[0] != channels ||
      *std::min_element(array.shape.begin(), array.shape.end()) < 1 ||
      *std::max_element(array.shape.begin(), array.shape.end()) > maxTokens)
    fail("shape of '" + path + "'", shapeText(array.shape), "[16, T, H, W]");
  // Each factor is at most 2^20, so neither product overflows.
  int64_t frames = array.shape[1] * array.shape[2];
  if (frames > maxTokens || frames * array.shape[3] > maxTokens)
    fail("tokens of '" + path + "'", shapeText(array.shape), "at most 1048576");
  size_t count = static_cast<size_t>(channels * frames * array.shape[3]);
  size_t width = type == "<f2" ? 2 : 4;
  if (bytes.size() - begin != count * width)
    fail("bytes of the array in '" + path + "'", bytes.size() - begin,
         count * width);
  array.values.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const char *at = bytes.data() + begin + i * width;
    if (width == 2) {
      uint16_t half;
      std::memcpy(&half, at, 2);
      array.values[i] = floatFromFp16(half);
    } else {
      std::memcpy(&array.values[i], at, 4);
    }
    if (!std::isfinite(array.values[i]))
      fail("element " + std::to_string(i) + " of '" + path + "'",
           array.values[i], "a finite number");
  }
  return array;
}

} // namespace

Latents dit::readLatents(const std::string &path) {
  NpyArray array = readNpy(path);
  Latents latents;
  latents.grid = {array.shape[1], array.shape[2], array.shape[3]};
  int64_t tokens = latents.tokens();
  latents.values.resize(array.values.size());
  for (int64_t c = 0; c < channels; ++c) {
    const float *from = array.values.data() + c * tokens;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < tokens; ++i)
      sum += from[i];
    double mean = sum / static_cast<double>(tokens);
    for (int64_t i = 0; i < tokens; ++i)
      squares += (from[i] - mean) * (from[i] - mean);
    // A channel without content stays without.
    double deviation =
        std::max(std::sqrt(squares / static_cast<double>(tokens)), 1e-3);
    latents.mean[c] = static_cast<float>(mean);
    latents.deviation[c] = static_cast<float>(deviation);
    for (int64_t i = 0; i < tokens; ++i)
      latents.values[i * channels + c] =
          static_cast<float>((from[i] - mean) / deviation);
  }
  return latents;
}

Latents dit::cropLatents(const Latents &latents,
                         const std::array<int64_t, 3> &grid) {
  std::array<int64_t, 3> first;
  for (int axis = 0; axis < 3; ++axis) {
    if (grid[axis] > latents.grid[axis])
      fail("--grid", gridText(grid),
           "at most the latents' " + gridText(latents.grid));
    first[axis] = (latents.grid[axis] - grid[axis]) / 2;
  }
  Latents part = latents;
  part.grid = grid;
  part.values.clear();
  for (int64_t t = 0; t < grid[0]; ++t)
    for (int64_t h = 0; h < grid[1]; ++h) {
      int64_t token =
          ((first[0] + t) * latents.grid[1] + first[1] + h) * latents.grid[2] +
          first[2];
      const float *from = latents.values.data() + token * channels;
      part.values.insert(part.values.end(), from, from + grid[2] * channels);
    }
  return part;
}
