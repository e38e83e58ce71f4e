//===- MaskFile.cpp - Mask files and explicit masks -----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Target/MaskFile/MaskFile.h"

#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"
#include "sparseattn/Target/Plan/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sparseattn;

sart::Expected<OwningOpRef<ModuleOp>>
sparseattn::importMaskFile(const sart::TraceFile &file, int64_t instance,
                           MLIRContext *context) {
  sart::Expected<sart::BlockMask> mask = file.mask(instance);
  if (!mask)
    return mask.status();
  const sart::TraceFile::Instance &source =
      file.instances[static_cast<size_t>(instance)];
  OpBuilder builder(context);
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto order = OrderAttr::get(
      context, static_cast<OrderKind>(file.order.kind), file.order.grid,
      file.order.prefix, file.order.suffix, file.order.cube, file.order.tiles);
  auto type = MaskType::get(context, file.heads, file.tokens, file.tokens,
                            file.tileQ, file.tileK, order);
  auto function = func::FuncOp::create(
      builder, loc,
      sart::concat("mask_layer", source.layer, "_step", source.step),
      builder.getFunctionType({}, {type}));
  builder.setInsertionPointToEnd(function.addEntryBlock());
  Value result =
      ExplicitMaskOp::create(builder, loc, type, fromBlockMask(context, *mask));
  func::ReturnOp::create(builder, loc, result);
  return module;
}

FailureOr<sart::TraceFile> sparseattn::exportMaskFile(ModuleOp module) {
  SmallVector<ExplicitMaskOp> masks;
  module.walk([&](ExplicitMaskOp op) { masks.push_back(op); });
  if (masks.size() != 1)
    return module.emitError("explicit masks of the module: got ")
           << masks.size() << ", expected 1";
  ExplicitMaskOp op = masks.front();
  MaskType type = op.getMask().getType();
  if (type.getSq() != type.getSkv())
    return op.emitOpError("key tokens of a mask file must equal query tokens: "
                          "got ")
           << type.getSkv() << ", expected " << type.getSq();
  sart::TraceFile file;
  file.order.grid = {1, 1, type.getSq()};
  if (OrderAttr order = type.getOrder())
    file.order = toOrder(order);
  if (file.order.kind == sart::OrderKind::Stripes ||
      file.order.kind == sart::OrderKind::Tiles ||
      (file.order.kind == sart::OrderKind::Cubes &&
       file.order.cube != std::array<int64_t, 3>{4, 4, 4}))
    return op.emitOpError("order of a mask file: got ")
           << type.getOrder()
           << ", expected raster, cubes of 4 x 4 x 4 or hilbert";
  if (file.order.prefix != 0 || file.order.suffix != 0)
    return op.emitOpError("text tokens of a mask file's order: got ")
           << file.order.prefix + file.order.suffix << ", expected 0";
  file.tokens = type.getSq();
  file.heads = type.getHeads();
  file.qTiles = type.getQBlocks();
  file.kvTiles = type.getKvBlocks();
  file.tileQ = type.getBlockQ();
  file.tileK = type.getBlockK();
  file.hasRows = file.hasMasks = true;
  sart::BlockMask mask = toBlockMask(op);
  sart::TraceFile::Instance instance;
  instance.maskBits.resize(
      static_cast<size_t>(file.heads * file.qTiles * file.rowBytes()));
  for (int64_t h = 0; h < file.heads; ++h) {
    instance.loads.push_back(mask.load(h));
    for (int64_t i = 0; i < file.qTiles; ++i) {
      int64_t count = mask.count(h, i);
      instance.rows.push_back(static_cast<uint16_t>(count));
      uint8_t *row =
          instance.maskBits.data() + (h * file.qTiles + i) * file.rowBytes();
      for (int64_t n = 0; n < count; ++n) {
        int32_t block = mask.row(h, i)[n];
        row[block >> 3] |= static_cast<uint8_t>(1u << (block & 7));
      }
    }
  }
  file.instances.push_back(std::move(instance));
  // A file has fewer bits for its numbers than a mask type.
  std::vector<uint8_t> bytes = file.serialize();
  if (auto read = sart::TraceFile::parse(bytes.data(), bytes.size()); !read)
    return op.emitOpError("mask does not fit a mask file: ") << read.message();
  return file;
}
