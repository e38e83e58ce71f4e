//===- Png.cpp - Pictures as data of a page -------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HtmlText.h"

#include "llvm/Support/Base64.h"

#include <zlib.h>

using namespace mlir::sparseattn::report;

static void appendWord(std::string &bytes, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes += static_cast<char>(value >> shift);
}

static void appendChunk(std::string &png, const char *type,
                        const std::string &data) {
  std::string body = type + data;
  appendWord(png, static_cast<uint32_t>(data.size()));
  png += body;
  appendWord(png, static_cast<uint32_t>(
                      crc32(0, reinterpret_cast<const Bytef *>(body.data()),
                            static_cast<uInt>(body.size()))));
}

std::string mlir::sparseattn::report::pngUri(int64_t width, int64_t height,
                                             int bits, llvm::StringRef pixels,
                                             llvm::ArrayRef<uint32_t> palette) {
  // Each row says how it is filtered: not at all.
  auto rowBytes = static_cast<size_t>((width * bits + 7) / 8);
  std::string rows;
  for (int64_t row = 0; row < height; ++row) {
    rows += '\0';
    rows += pixels.substr(static_cast<size_t>(row) * rowBytes, rowBytes);
  }
  std::string deflated(compressBound(rows.size()), '\0');
  uLongf size = deflated.size();
  // Fails for lack of memory alone: the room suffices.
  if (compress2(reinterpret_cast<Bytef *>(deflated.data()), &size,
                reinterpret_cast<const Bytef *>(rows.data()), rows.size(),
                Z_BEST_COMPRESSION) != Z_OK)
    return "data:,";
  deflated.resize(size);

  std::string header, colours, alphas;
  appendWord(header, static_cast<uint32_t>(width));
  appendWord(header, static_cast<uint32_t>(height));
  header += static_cast<char>(bits);
  header += '\3'; // indexed colours
  header += std::string(3, '\0');
  for (uint32_t colour : palette) {
    for (int shift = 24; shift > 0; shift -= 8)
      colours += static_cast<char>(colour >> shift);
    alphas += static_cast<char>(colour);
  }
  std::string png = "\x89PNG\r\n\x1a\n";
  appendChunk(png, "IHDR", header);
  appendChunk(png, "PLTE", colours);
  appendChunk(png, "tRNS", alphas);
  appendChunk(png, "IDAT", deflated);
  appendChunk(png, "IEND", "");
  return "data:image/png;base64," + llvm::encodeBase64(png);
}
