//===- HtmlText.h - Text and numbers of a page ------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_REPORT_HTMLTEXT_H
#define SPARSEATTN_LIB_REPORT_HTMLTEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mlir::sparseattn::report {

/// Text as it may stand in an element or a quoted attribute. Bytes that are no
/// text of XML become U+FFFD.
std::string escape(llvm::StringRef text);

/// 14,040.
std::string countText(int64_t value);
/// "1 rank", "4 ranks".
std::string countText(int64_t value, llvm::StringRef what);
/// `digits` decimals.
std::string fixedText(double value, int digits);
/// Three significant digits, scientific for very small and large ones.
std::string shortText(double value);
/// 16.2 MB; decimal units.
std::string bytesText(int64_t bytes);
/// In us, ms or s.
std::string millisecondsText(double ms);
/// "&#8211;" for what is not known.
std::string orDash(const std::optional<double> &value, int digits);

/// A picture as a PNG data URI. `pixels`: rows of packed indices of `bits` (1,
/// 2 or 4) bits, highest bits first, each row padded to a byte. `palette`:
/// 0xRRGGBBAA.
std::string pngUri(int64_t width, int64_t height, int bits,
                   llvm::StringRef pixels, llvm::ArrayRef<uint32_t> palette);

} // namespace mlir::sparseattn::report

#endif // SPARSEATTN_LIB_REPORT_HTMLTEXT_H
