//===- ReportModel.h - A report read from JSON ------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_REPORT_REPORTMODEL_H
#define SPARSEATTN_LIB_REPORT_REPORTMODEL_H

#include "sparseattn-rt/Order.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace mlir::sparseattn::report {

/// A mask of bounded size; every list has the size that its fields imply.
struct MaskModel {
  struct Row {
    int64_t qBlock = 0;
    std::vector<std::string> bits; ///< [shown head], one bit per kv-block
  };
  int64_t qBlocks = 0, kvBlocks = 0;
  std::vector<int64_t> tiles; ///< per head
  std::vector<int64_t> heads; ///< shown ones
  int64_t cellQ = 1, cellK = 1, levels = 1;
  std::vector<std::string> cells; ///< [shown head], packed rows of pixels
  std::vector<Row> rows;
  int64_t cellRows() const { return (qBlocks + cellQ - 1) / cellQ; }
  int64_t cellColumns() const { return (kvBlocks + cellK - 1) / cellK; }
  /// Bytes of a packed row of cells.
  int64_t cellRowBytes() const {
    return (cellColumns() * (levels == 1 ? 1 : 4) + 7) / 8;
  }
};

struct TimelineModel {
  struct Event {
    int64_t rank = 0, phase = 0, name = 0;
    int64_t beginNs = 0, durationNs = 0, bytes = 0, tiles = 0;
  };
  std::vector<std::string> names;
  std::vector<Event> events;
  int64_t leftOut = 0;
};

/// A head that changes its owner along the Ulysses axis.
struct MoveModel {
  int64_t head = 0, from = 0, to = 0;
};

/// One run of one layer. What is not known is empty.
struct RunModel {
  int64_t step = 0, layer = 0; ///< from 0
  std::optional<double> sigma, density, rhoBefore, rhoAfter, keptMass, psnr;
  std::optional<double> maxError, errorBound, planUs, ms;
  std::optional<int64_t> moves, tiles, rowsChecked, nearThreshold;
  std::optional<bool> passed; ///< of the comparison with the reference
  std::optional<int64_t> bytesMoved, bytesUlysses, bytesRouted, bytesDenseRing;
  std::vector<int64_t> loadsBefore, loadsAfter;
  std::vector<std::vector<int64_t>> links; ///< [from][to] bytes
  std::vector<MoveModel> headMoves;
  std::optional<MaskModel> mask;
  std::optional<TimelineModel> timeline;
};

struct ReportModel {
  std::string version, name, title, device, dtype, policy;
  int64_t heads = 0, kvHeads = 0, sq = 0, skv = 0, headDim = 0;
  int64_t blockQ = 0, blockK = 0, ulysses = 1, ring = 1;
  bool causal = false;
  std::optional<int64_t> threads, rowsPerHead;
  std::optional<double> scale, compileMs, planUs, ms, psnrNoised, denseMs;
  std::optional<sart::Order> order;
  std::string
      orderProblem; ///< why `order` is empty although the report has one
  /// What a host says about itself: name and value.
  std::vector<std::pair<std::string, std::string>> options;
  std::vector<RunModel> runs;    ///< by step, then layer
  int64_t steps = 0, layers = 0; ///< largest number of layers of a step
};

/// Fields of a wrong type or size count as missing. Refuses text that is no
/// report, that nests too deeply, and runs over more than 1024 ranks.
llvm::Expected<ReportModel> readReport(llvm::StringRef json);

} // namespace mlir::sparseattn::report

#endif // SPARSEATTN_LIB_REPORT_REPORTMODEL_H
