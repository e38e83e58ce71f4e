//===- ReportModel.cpp - A report read from JSON --------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ReportModel.h"

#include "sparseattn/Support/TextLimits.h"

#include "sparseattn-rt/Status.h"

#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <cmath>

using namespace mlir::sparseattn::report;
using llvm::StringRef;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;
using mlir::sparseattn::checkTextLimits;

namespace {

/// Numbers beyond this are no counts of anything here, and sums of those that
/// are not do not overflow.
constexpr int64_t largestCount = int64_t(1) << 50;
constexpr int64_t largestAxis = int64_t(1) << 20;
/// Of a mesh, each way and in all; a page has a lane and a column for each
/// rank.
constexpr int64_t mostRanks = 1024;

llvm::Error refuse(const std::string &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 message.c_str());
}

std::optional<int64_t> toCount(const Value *value) {
  std::optional<int64_t> number = value ? value->getAsInteger() : std::nullopt;
  if (number && (*number < 0 || *number > largestCount))
    return std::nullopt;
  return number;
}

std::optional<int64_t> getCount(const Object &object, StringRef key) {
  return toCount(object.get(key));
}

std::optional<double> getNumber(const Object &object, StringRef key) {
  std::optional<double> number = object.getNumber(key);
  if (number && !(std::abs(*number) <= 1e30))
    return std::nullopt;
  return number;
}

std::string getText(const Object &object, StringRef key) {
  return object.getString(key).value_or("").str();
}

/// Empty when one entry is no count.
std::vector<int64_t> getCounts(const Object &object, StringRef key) {
  std::vector<int64_t> counts;
  if (const Array *array = object.getArray(key))
    for (const Value &value : *array) {
      std::optional<int64_t> count = toCount(&value);
      if (!count)
        return {};
      counts.push_back(*count);
    }
  return counts;
}

/// Refuses a run with figures of more ranks than a page can show.
llvm::Error checkRanks(const Object &run) {
  for (const char *key : {"loads", "loads_after", "link_bytes"})
    if (const Array *array = run.getArray(key);
        array && array->size() > static_cast<size_t>(mostRanks))
      return refuse(sart::concat(key, " of the report: got ", array->size(),
                                 " ranks, expected at most ", mostRanks));
  return llvm::Error::success();
}

/// Texts of base64 that decode to `bytes` bytes each, or nothing.
std::vector<std::string> getBytes(const Object &object, StringRef key,
                                  size_t count, int64_t bytes) {
  const Array *array = object.getArray(key);
  std::vector<std::string> texts;
  if (!array || array->size() != count)
    return {};
  for (const Value &value : *array) {
    std::vector<char> decoded;
    std::optional<StringRef> text = value.getAsString();
    if (!text)
      return {};
    if (llvm::Error error = llvm::decodeBase64(*text, decoded)) {
      llvm::consumeError(std::move(error));
      return {};
    }
    if (static_cast<int64_t>(decoded.size()) != bytes)
      return {};
    texts.emplace_back(decoded.begin(), decoded.end());
  }
  return texts;
}

std::optional<MaskModel> readMask(const Object *object) {
  if (!object)
    return std::nullopt;
  MaskModel mask;
  std::optional<int64_t> q = getCount(*object, "q_blocks"),
                         k = getCount(*object, "kv_blocks"),
                         levels = getCount(*object, "levels");
  std::vector<int64_t> cell = getCounts(*object, "cell");
  mask.tiles = getCounts(*object, "tiles");
  mask.heads = getCounts(*object, "heads");
  if (!q || !k || !levels || (*levels != 1 && *levels != 15) ||
      std::max(*q, *k) > largestAxis || cell.size() != 2 ||
      std::min(cell[0], cell[1]) < 1 ||
      std::max(cell[0], cell[1]) > largestAxis)
    return std::nullopt;
  mask.qBlocks = *q;
  mask.kvBlocks = *k;
  mask.levels = *levels;
  mask.cellQ = cell[0];
  mask.cellK = cell[1];
  for (int64_t head : mask.heads)
    if (head >= static_cast<int64_t>(mask.tiles.size()))
      return std::nullopt;
  mask.cells = getBytes(*object, "cells", mask.heads.size(),
                        mask.cellRows() * mask.cellRowBytes());
  if (mask.cells.size() != mask.heads.size())
    return std::nullopt;
  if (const Array *rows = object->getArray("rows"))
    for (const Value &value : *rows) {
      const Object *entry = value.getAsObject();
      std::optional<int64_t> block =
          entry ? getCount(*entry, "q_block") : std::nullopt;
      if (!block || *block >= mask.qBlocks)
        continue;
      MaskModel::Row row;
      row.qBlock = *block;
      row.bits =
          getBytes(*entry, "kv", mask.heads.size(), (mask.kvBlocks + 7) / 8);
      if (row.bits.size() == mask.heads.size())
        mask.rows.push_back(std::move(row));
    }
  return mask;
}

std::optional<TimelineModel> readTimeline(const Object *object, int64_t ranks) {
  const Array *events = object ? object->getArray("events") : nullptr;
  const Array *names = object ? object->getArray("names") : nullptr;
  if (!events || !names)
    return std::nullopt;
  TimelineModel timeline;
  for (const Value &name : *names)
    timeline.names.push_back(name.getAsString().value_or("").str());
  for (const Value &value : *events) {
    const Array *fields = value.getAsArray();
    if (!fields || fields->size() != 7)
      return std::nullopt;
    int64_t numbers[7];
    for (size_t i = 0; i < 7; ++i) {
      std::optional<int64_t> number = toCount(&(*fields)[i]);
      if (!number)
        return std::nullopt;
      numbers[i] = *number;
    }
    if (numbers[0] >= ranks ||
        numbers[2] >= static_cast<int64_t>(timeline.names.size()))
      return std::nullopt;
    timeline.events.push_back({numbers[0], numbers[1], numbers[2], numbers[3],
                               numbers[4], numbers[5], numbers[6]});
  }
  timeline.leftOut = getCount(*object, "left_out").value_or(0);
  return timeline;
}

RunModel readRun(const Object &object, int64_t ranks) {
  RunModel run;
  run.density = getNumber(object, "density");
  run.rhoBefore = getNumber(object, "rho_before");
  run.rhoAfter = getNumber(object, "rho_after");
  run.keptMass = getNumber(object, "kept_mass");
  run.psnr = getNumber(object, "psnr");
  run.maxError = getNumber(object, "max_abs_error");
  run.errorBound = getNumber(object, "max_abs_error_bound");
  run.planUs = getNumber(object, "plan_us");
  run.ms = getNumber(object, "ms");
  run.moves = getCount(object, "moves");
  run.tiles = getCount(object, "tiles");
  run.rowsChecked = getCount(object, "rows_checked");
  run.nearThreshold = getCount(object, "near_threshold");
  run.passed = object.getBoolean("check_passed");
  if (!run.passed && run.maxError && run.errorBound)
    run.passed = *run.maxError <= *run.errorBound;
  run.bytesMoved = getCount(object, "bytes_moved");
  run.bytesUlysses = getCount(object, "bytes_ulysses");
  run.bytesRouted = getCount(object, "bytes_routed");
  run.bytesDenseRing = getCount(object, "bytes_dense_ring");
  run.loadsBefore = getCounts(object, "loads");
  run.loadsAfter = getCounts(object, "loads_after");
  if (const Array *rows = object.getArray("link_bytes"))
    for (const Value &row : *rows) {
      Object wrapped{{"row", row}};
      run.links.push_back(getCounts(wrapped, "row"));
    }
  for (const std::vector<int64_t> &row : run.links)
    if (row.size() != run.links.size()) {
      run.links.clear();
      break;
    }
  if (const Array *moves = object.getArray("head_moves"))
    for (const Value &value : *moves) {
      const Object *move = value.getAsObject();
      std::optional<int64_t> fields[3];
      for (int i = 0; move && i < 3; ++i)
        fields[i] = getCount(*move, std::array{"head", "from", "to"}[i]);
      if (fields[0] && fields[1] && fields[2])
        run.headMoves.push_back({*fields[0], *fields[1], *fields[2]});
    }
  run.mask = readMask(object.getObject("mask"));
  run.timeline = readTimeline(object.getObject("timeline"), ranks);
  return run;
}

void readOrder(const Object *object, ReportModel &model) {
  if (!object)
    return;
  auto kind = sart::parseOrderKind(getText(*object, "kind"));
  std::vector<int64_t> grid = getCounts(*object, "grid");
  std::vector<int64_t> cube = getCounts(*object, "cube");
  std::vector<int64_t> tiles = getCounts(*object, "tiles");
  sart::Order order;
  if (!kind || grid.size() != 3 || (!cube.empty() && cube.size() != 3) ||
      (!tiles.empty() && tiles.size() != 2)) {
    model.orderProblem = "its order is not one of raster, cubes, hilbert, "
                         "stripes and tiles over a grid of three axes";
    return;
  }
  order.kind = *kind;
  std::copy_n(grid.begin(), 3, order.grid.begin());
  if (cube.size() == 3)
    std::copy_n(cube.begin(), 3, order.cube.begin());
  if (tiles.size() == 2)
    std::copy_n(tiles.begin(), 2, order.tiles.begin());
  order.prefix = getCount(*object, "prefix").value_or(0);
  order.suffix = getCount(*object, "suffix").value_or(0);
  if (sart::Status status = order.verify(); !status.ok())
    model.orderProblem = status.message();
  else if (order.tokens() != model.skv)
    model.orderProblem =
        sart::concat("its order has ", order.tokens(), " tokens, the layer ",
                     model.skv, " keys");
  else
    model.order = order;
}

/// A scalar as text; empty for the others.
std::string scalarText(const Value &value) {
  if (std::optional<StringRef> text = value.getAsString())
    return text->str();
  if (std::optional<int64_t> integer = value.getAsInteger())
    return std::to_string(*integer);
  if (std::optional<double> number = value.getAsNumber())
    return std::isfinite(*number) ? sart::concat(*number) : "";
  if (std::optional<bool> flag = value.getAsBoolean())
    return *flag ? "yes" : "no";
  return "";
}

} // namespace

llvm::Expected<ReportModel>
mlir::sparseattn::report::readReport(llvm::StringRef json) {
  // The parser calls itself for whatever nests.
  if (sart::Status limits = checkTextLimits({json.data(), json.size()});
      !limits.ok())
    return refuse("report: " + limits.message());
  llvm::Expected<Value> parsed = llvm::json::parse(json);
  if (!parsed)
    return refuse("report: got text that is not JSON (" +
                  llvm::toString(parsed.takeError()) +
                  "), expected a JSON object");
  const Object *root = parsed->getAsObject();
  if (!root)
    return refuse("report: got JSON of another kind, expected an object");
  const Value *schema = root->get("schema");
  if (!schema || schema->getAsInteger() != 1)
    return refuse("schema of the report: got " +
                  (schema ? "'" + scalarText(*schema) + "'" : "none") +
                  ", expected 1");
  ReportModel model;
  model.version = getText(*root, "version");
  model.name = getText(*root, "name");
  model.title = getText(*root, "title");
  model.device = getText(*root, "device");
  model.dtype = getText(*root, "dtype");
  model.policy = getText(*root, "policy");
  model.threads = getCount(*root, "threads");
  model.rowsPerHead = getCount(*root, "sampled_rows_per_head");
  model.scale = getNumber(*root, "scale");
  model.compileMs = getNumber(*root, "compile_ms");
  model.planUs = getNumber(*root, "plan_us");
  model.ms = getNumber(*root, "ms");
  model.denseMs = getNumber(*root, "dense_layer_ms");
  model.psnrNoised = getNumber(*root, "psnr_noised");
  if (const Object *shape = root->getObject("shape")) {
    model.heads = getCount(*shape, "heads").value_or(0);
    model.kvHeads = getCount(*shape, "kv_heads").value_or(0);
    model.sq = getCount(*shape, "sq").value_or(0);
    model.skv = getCount(*shape, "skv").value_or(0);
    model.headDim = getCount(*shape, "head_dim").value_or(0);
    model.causal = shape->getBoolean("causal").value_or(false);
    std::vector<int64_t> block = getCounts(*shape, "block");
    if (block.size() == 2) {
      model.blockQ = block[0];
      model.blockK = block[1];
    }
  }
  if (const Object *mesh = root->getObject("mesh")) {
    model.ulysses = getCount(*mesh, "ulysses").value_or(1);
    model.ring = getCount(*mesh, "ring").value_or(1);
  }
  if (std::max(model.ulysses, model.ring) > mostRanks ||
      model.ulysses * model.ring > mostRanks)
    return refuse(sart::concat("mesh of the report: got ulysses ",
                               model.ulysses, " and ring ", model.ring,
                               ", expected at most ", mostRanks, " ranks"));
  int64_t ranks = model.ulysses * model.ring;
  readOrder(root->getObject("order"), model);
  if (const Object *options = root->getObject("options"))
    for (const auto &[name, value] : *options)
      if (std::string text = scalarText(value); !text.empty())
        model.options.emplace_back(StringRef(name).str(), text);
  std::sort(model.options.begin(), model.options.end());
  if (const Array *steps = root->getArray("steps"))
    for (const Value &step : *steps) {
      const Object *entry = step.getAsObject();
      const Array *layers = entry ? entry->getArray("layers") : nullptr;
      for (size_t i = 0; layers && i < layers->size(); ++i)
        if (const Object *layer = (*layers)[i].getAsObject()) {
          if (llvm::Error error = checkRanks(*layer))
            return std::move(error);
          RunModel run = readRun(*layer, ranks);
          run.step = model.steps;
          run.layer = static_cast<int64_t>(i);
          run.sigma = getNumber(*entry, "sigma");
          model.layers = std::max(model.layers, run.layer + 1);
          model.runs.push_back(std::move(run));
        }
      ++model.steps;
    }
  if (model.runs.empty())
    return refuse("runs of the report: got none, expected "
                  "steps[].layers[] with at least one");
  return model;
}
