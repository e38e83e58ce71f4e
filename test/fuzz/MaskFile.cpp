//===- MaskFile.cpp - Fuzz target: mask files to text and back ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TextFuzzing.h"

#include "sparseattn/Target/MaskFile/MaskFile.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace sart;

/// Bytes of a mask file (which begin with BMT), or text with a mask in it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MLIRContext &context = fuzz::textContext();
  if (fuzz::textOf(data, size).substr(0, 3) != "BMT") {
    OwningOpRef<ModuleOp> module =
        fuzz::parseText(fuzz::textOf(data, size), context);
    if (!module || !fuzz::isSmall(*module))
      return 0;
    FailureOr<TraceFile> file = sparseattn::exportMaskFile(*module);
    if (failed(file))
      return 0;
    std::vector<uint8_t> bytes = file->serialize();
    Expected<TraceFile> read = TraceFile::parse(bytes.data(), bytes.size());
    fuzz::require(read.ok(), "an exported mask is read", read.message());
    return 0;
  }
  Expected<TraceFile> file = TraceFile::parse(data, size);
  if (!file)
    return 0;
  for (int64_t i : {int64_t(0), int64_t(1)}) {
    auto module = sparseattn::importMaskFile(*file, i, &context);
    if (!module) {
      fuzz::requireReason(module.status());
      continue;
    }
    // A file may hold what the type refuses, such as tiles of odd sizes.
    if (failed(verify(**module)))
      continue;
    fuzz::requireRoundTrip(**module);
    FailureOr<TraceFile> again = sparseattn::exportMaskFile(**module);
    fuzz::require(succeeded(again), "an imported mask is exported");
    const TraceFile::Instance &instance =
        file->instances[static_cast<size_t>(i)];
    fuzz::require(again->instances[0].maskBits == instance.maskBits &&
                      again->instances[0].loads == instance.loads,
                  "a mask survives the way to text and back");
  }
  return 0;
}
