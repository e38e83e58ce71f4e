//===- MaskSection.cpp - Masks in block order and on the frames -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FrameGrid.h"
#include "Sections.h"

#include <algorithm>

using namespace mlir::sparseattn::report;
using llvm::raw_ostream;

namespace {

/// What all masks of a page may take.
constexpr size_t mostBytes = 3 << 20;
/// Larger clips take too much memory to be worth a picture.
constexpr int64_t mostTokens = int64_t(1) << 23;

// Visible on light and on dark.
constexpr uint32_t blue = 0x2f86cc, orange = 0xe07b00, grey = 0x808080;

std::vector<uint32_t> shades(int64_t levels) {
  std::vector<uint32_t> palette;
  for (int64_t level = 0; level <= levels; ++level)
    palette.push_back(
        blue << 8 |
        static_cast<uint32_t>(level == 0 ? 0 : 40 + 215 * level / levels));
  return palette;
}

class MaskWriter {
public:
  MaskWriter(const ReportModel &model, const FrameGrid *frames)
      : model(model), frames(frames) {}

  /// `index` tells the runs' radio buttons apart.
  std::string run(const RunModel &run, size_t index, bool open) const;

private:
  void writeHead(raw_ostream &os, const RunModel &run, size_t shown) const;
  void writeFrames(raw_ostream &os, const MaskModel &mask, size_t shown,
                   size_t row) const;

  const ReportModel &model;
  const FrameGrid *frames;
};

std::string MaskWriter::run(const RunModel &run, size_t index,
                            bool open) const {
  const MaskModel &mask = *run.mask;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "<details" << (open ? " open=\"open\"" : "") << "><summary>"
     << runLabel(model, run) << " <span class=\"soft\">density "
     << orDash(run.density, 3) << "</span></summary><div class=\"inside\">\n";
  size_t choices = frames ? std::min<size_t>(mask.rows.size(), 3) : 0;
  // Radio buttons come before what they choose, so that no script is needed.
  os << "<div class=\"pick\">";
  for (size_t row = 0; row < choices; ++row)
    os << "<input type=\"radio\" class=\"r r" << row << "\" name=\"q" << index
       << "\" id=\"q" << index << "-" << row << "\""
       << (row == choices / 2 ? " checked=\"checked\"" : "")
       << "/><label class=\"choice\" for=\"q" << index << "-" << row
       << "\">q-block " << mask.rows[row].qBlock << "</label>";
  os << "<div class=\"heads\">\n";
  for (size_t shown = 0; shown < mask.heads.size(); ++shown)
    writeHead(os, run, shown);
  os << "</div></div></div></details>\n";
  return text;
}

void MaskWriter::writeHead(raw_ostream &os, const RunModel &run,
                           size_t shown) const {
  const MaskModel &mask = *run.mask;
  int64_t head = mask.heads[shown];
  double all =
      static_cast<double>(mask.qBlocks) * static_cast<double>(mask.kvBlocks);
  double density =
      all > 0 ? static_cast<double>(mask.tiles[static_cast<size_t>(head)]) / all
              : 0;
  os << "<figure><figcaption><b>head " << head
     << "</b> <span class=\"soft\">density " << fixedText(density, 3);
  for (const MoveModel &move : run.headMoves)
    if (move.head == head)
      os << ", moved " << move.from << " \u2192 " << move.to;
  os << "</span></figcaption>";
  std::string shape = std::to_string(mask.qBlocks) + " q-blocks by " +
                      std::to_string(mask.kvBlocks) + " kv-blocks";
  os << "<div class=\"matrix\"><span class=\"y\">q-block</span><img alt=\"Mask "
        "of head "
     << head << ", " << shape << ", density " << fixedText(density, 3)
     << "\" src=\""
     << pngUri(mask.cellColumns(), mask.cellRows(), mask.levels == 1 ? 1 : 4,
               mask.cells[shown], shades(mask.levels))
     << "\"/><span class=\"x\">kv-block, 0 to " << mask.kvBlocks - 1
     << "</span></div>";
  for (size_t row = 0; frames && row < std::min<size_t>(mask.rows.size(), 3);
       ++row)
    writeFrames(os, mask, shown, row);
  os << "</figure>\n";
}

void MaskWriter::writeFrames(raw_ostream &os, const MaskModel &mask,
                             size_t shown, size_t row) const {
  const MaskModel::Row &selection = mask.rows[row];
  const std::string &bits = selection.bits[shown];
  int64_t blockQ = model.blockQ, blockK = model.blockK;
  bool own = model.sq == model.skv;
  std::string pixels = frames->pixels([&](int64_t position) {
    if (own && position / blockQ == selection.qBlock)
      return 3;
    int64_t block = position / blockK;
    auto byte =
        static_cast<unsigned char>(bits[static_cast<size_t>(block / 8)]);
    return (byte >> (7 - block % 8) & 1) ? 2 : 1;
  });
  int64_t chosen = 0;
  for (char c : bits)
    chosen += __builtin_popcount(static_cast<unsigned char>(c));
  os << "<div class=\"k k" << row << "\"><img alt=\"Frames of the clip: what "
     << "q-block " << selection.qBlock << " of head " << mask.heads[shown]
     << " attends to, " << chosen << " of " << mask.kvBlocks
     << " kv-blocks\" src=\""
     << pngUri(frames->width(), frames->height(), 2, pixels,
               {0, grey << 8 | 0x38, blue << 8 | 0xff, orange << 8 | 0xff})
     << "\"/>" << chosen << " of " << mask.kvBlocks << " kv-blocks</div>";
}

/// Why there are no pictures of frames; empty when there are.
std::string frameProblem(const ReportModel &model) {
  if (!model.orderProblem.empty())
    return model.orderProblem;
  if (!model.order)
    return "the layer's text gives its mask no order over a grid";
  if (model.order->tokens() > mostTokens)
    return "the clip has more than " + countText(mostTokens) + " tokens";
  if (model.blockQ < 1 || model.blockK < 1)
    return "the report has no block sizes";
  return "";
}

} // namespace

void mlir::sparseattn::report::writeMasks(raw_ostream &os,
                                          const ReportModel &model,
                                          Notes &notes) {
  std::vector<const RunModel *> runs;
  int64_t tiles = 0;
  std::string problem = frameProblem(model);
  for (const RunModel &run : model.runs) {
    if (!run.mask)
      continue;
    const MaskModel &mask = *run.mask;
    if (mask.qBlocks * mask.kvBlocks == 0 || mask.heads.empty())
      continue;
    runs.push_back(&run);
    for (int64_t head : mask.tiles)
      tiles += head > 0;
    if (problem.empty() &&
        (model.skv + model.blockK - 1) / model.blockK != mask.kvBlocks)
      problem = "its masks have another number of kv-blocks than its tokens";
  }
  if (runs.empty()) {
    notes.push_back("Masks: the report has none that could be drawn.");
    return;
  }
  std::optional<FrameGrid> frames;
  if (problem.empty())
    frames.emplace(*model.order);
  const MaskModel &last = *runs.back()->mask;
  std::string text =
      "Block order: a row for each q-block, a column for each kv-block, blue "
      "where the tile is attended. ";
  if (frames)
    text += "On the token grid: the frames of the clip" +
            std::string(model.order->prefix || model.order->suffix
                            ? " with the text tokens as strips"
                            : "") +
            "; orange are the tokens of the chosen q-block, blue what they "
            "attend to" +
            (model.sq == model.skv ? "." : " (keys alone).");
  else
    text += "There are no pictures on the token grid: " + problem + ".";
  if (tiles == 0)
    text += " The masks have no tile at all.";
  openSection(os, "masks", "Masks", text);

  // The last run, the first, then those between until the room is used up.
  std::vector<size_t> wish = {runs.size() - 1};
  for (size_t most = 2; most < 2 * runs.size() + 2 && most <= 64; most *= 2)
    for (size_t i : spreadOver(runs.size(), most))
      if (std::find(wish.begin(), wish.end(), i) == wish.end())
        wish.push_back(i);
  MaskWriter writer(model, frames ? &*frames : nullptr);
  std::vector<std::string> written(runs.size());
  size_t used = 0, shown = 0;
  for (size_t i : wish) {
    std::string part = writer.run(*runs[i], i, i + 1 == runs.size());
    if (shown > 0 && used + part.size() > mostBytes)
      break;
    used += part.size();
    ++shown;
    written[i] = std::move(part);
  }
  for (const std::string &part : written)
    os << part;
  os << "</section>\n";

  if (shown < model.runs.size())
    notes.push_back("Masks: " + std::to_string(shown) + " of " +
                    countText(int64_t(model.runs.size()), "run") +
                    " are drawn, to keep the file small.");
  if (last.heads.size() < last.tiles.size())
    notes.push_back("Masks: " + std::to_string(last.heads.size()) + " of " +
                    countText(int64_t(last.tiles.size()), "head") +
                    " are drawn, evenly spread.");
  if (last.cellQ * last.cellK > 1)
    notes.push_back("Masks in block order: a point is " +
                    std::to_string(last.cellQ) + " x " +
                    std::to_string(last.cellK) +
                    " blocks, the stronger the more of them are attended.");
  if (frames &&
      static_cast<int64_t>(frames->frames().size()) < model.order->grid[0])
    notes.push_back("Token grid: " + std::to_string(frames->frames().size()) +
                    " of " + countText(model.order->grid[0], "frame") +
                    ", evenly spread.");
  if (frames && frames->every() > 1)
    notes.push_back("Token grid: one token in " +
                    std::to_string(frames->every()) + " along h and w.");
}
