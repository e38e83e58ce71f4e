//===- AttendRecipe.cpp - The table of attend recipes ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Conversion/SparseAttnToSm90/AttendRecipe.h"

#include "sparseattn-rt/DeviceRouting.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::sparseattn;

/// Fields: head_dim, block_q, block_k; pairs, part keys, parts, stages; query
/// in registers, in the ring; ping-pong; probabilities in registers; registers
/// of producer and consumers; rescale bits.
///
/// 232,448 bytes of shared memory bound the stages. Tiles of 64 rows share
/// nothing with a partner, so they take no turns. Where a step is short or O
/// large, rescaling O only where it matters gains 3 to 7 % on an H200; else it
/// loses 1 to 2 %.
static constexpr AttendRecipe kRecipes[] = {
    {64, 128, 128, 1, 128, 1, 14, true, true, true, true, 40, 232, 0},
    {64, 128, 64, 1, 64, 2, 28, true, true, true, true, 40, 232, 0},
    {64, 64, 64, 2, 64, 2, 14, true, true, false, true, 40, 232, 0},
    {64, 64, 128, 2, 64, 2, 14, true, true, false, true, 40, 232, 0},
    {128, 128, 128, 1, 128, 1, 7, true, true, true, true, 40, 232, 0},
    {128, 128, 64, 1, 64, 2, 14, true, true, true, true, 40, 232, 0},
    {128, 64, 64, 2, 64, 1, 6, true, false, false, true, 40, 232, 8},
    {128, 64, 128, 2, 64, 1, 6, true, false, false, true, 40, 232, 8},
    // 128 accumulators of O leave room for 64 keys a step and none for Q.
    {256, 128, 128, 1, 64, 1, 5, false, false, true, true, 40, 232, 8},
    {256, 128, 64, 1, 64, 1, 5, false, false, true, true, 40, 232, 8},
    {256, 64, 64, 2, 64, 1, 2, false, false, false, true, 56, 224, 8},
    {256, 64, 128, 2, 64, 1, 2, false, false, false, true, 56, 224, 8},
};

llvm::ArrayRef<AttendRecipe> mlir::sparseattn::attendRecipes() {
  return kRecipes;
}

const AttendRecipe *
mlir::sparseattn::findAttendRecipe(const sart::KernelSpec &spec) {
  const auto *found = llvm::find_if(kRecipes, [&](const AttendRecipe &recipe) {
    return recipe.headDim == spec.headDim && recipe.blockQ == spec.blockQ &&
           recipe.blockK == spec.blockK;
  });
  return found == std::end(kRecipes) ? nullptr : found;
}

sart::Expected<sart::KernelSpec>
mlir::sparseattn::parseAttendName(llvm::StringRef name) {
  sart::KernelSpec spec;
  llvm::StringRef rest = name;
  auto dtype = [&](sart::DType &type) {
    llvm::StringRef word = rest.split('_').first;
    rest = rest.split('_').second;
    auto parsed = sart::parseDType(std::string_view(word.data(), word.size()));
    if (parsed)
      type = *parsed;
    return static_cast<bool>(parsed);
  };
  auto number = [&](llvm::StringRef prefix, int64_t &value) {
    return rest.consume_front(prefix) && !rest.consumeInteger(10, value);
  };
  bool parsed = rest.consume_front("attend_") && dtype(spec.dtype) &&
                dtype(spec.outDtype) && number("d", spec.headDim) &&
                number("_q", spec.blockQ) && number("_k", spec.blockK);
  spec.causal = rest.consume_front("_causal");
  if (!parsed || !rest.empty())
    return sart::makeError("name of an attend kernel: got '", name.str(),
                           "', expected one such as "
                           "attend_bf16_bf16_d128_q128_k64");
  return spec;
}

sart::Status
mlir::sparseattn::overrideRecipe(AttendRecipe &recipe,
                                 llvm::ArrayRef<std::string> fields) {
  for (const std::string &field : fields) {
    auto [name, text] = llvm::StringRef(field).split('=');
    int64_t value = 0;
    if (text.getAsInteger(10, value))
      return sart::makeError("field of a recipe: got '", field,
                             "', expected NAME=NUMBER");
    bool isSwitch = name.contains("_in_") || name == "ping_pong";
    if (isSwitch && value != 0 && value != 1)
      return sart::makeError("field of a recipe: got '", field,
                             "', expected 0 or 1");
    if (name == "stages")
      recipe.stages = value;
    else if (name == "part_keys")
      recipe.partKeys = value;
    else if (name == "parts")
      recipe.parts = value;
    else if (name == "query_in_registers")
      recipe.queryInRegisters = value != 0;
    else if (name == "query_in_ring")
      recipe.queryInRing = value != 0;
    else if (name == "ping_pong")
      recipe.pingPong = value != 0;
    else if (name == "probabilities_in_registers")
      recipe.probabilitiesInRegisters = value != 0;
    else if (name == "rescale_bits")
      recipe.rescaleBits = value;
    else if (name == "producer_registers")
      recipe.producerRegisters = value;
    else if (name == "consumer_registers")
      recipe.consumerRegisters = value;
    else
      return sart::makeError("field of a recipe: got '", name.str(),
                             "', expected stages, part_keys, parts, "
                             "query_in_registers, query_in_ring, ping_pong, "
                             "probabilities_in_registers, rescale_bits, "
                             "producer_registers or consumer_registers");
  }
  return checkRecipe(recipe);
}

sart::Status mlir::sparseattn::checkRecipe(const AttendRecipe &recipe) {
  auto refuse = [](const char *field, int64_t got, const auto &...expected) {
    return sart::makeError("recipe: got ", field, "=", got, ", expected ",
                           expected...);
  };
  if (recipe.partKeys < 64 || recipe.partKeys % 64 != 0 ||
      recipe.blockK % recipe.partKeys != 0)
    return refuse("part_keys", recipe.partKeys,
                  "a multiple of 64 that divides blocks of ", recipe.blockK);
  // One slot can be missing in a step; of two it would have to be told which.
  if (recipe.parts < 1 || recipe.parts > 2)
    return refuse("parts", recipe.parts, "1 or 2");
  if (recipe.pairs == 2 && !recipe.probabilitiesInRegisters)
    return refuse("probabilities_in_registers", 0,
                  "1 with tiles of 64 query rows");
  if (recipe.pairs == 2 && recipe.pingPong)
    return refuse("ping_pong", 1,
                  "0 with tiles of 64 query rows, which have no partner");
  if (recipe.queryInRing && !recipe.queryInRegisters)
    return refuse("query_in_ring", 1, "0 with query_in_registers=0");
  if (recipe.queryInRing && recipe.tileRows() % recipe.partKeys != 0)
    return refuse("query_in_ring", 1, "0 where slots of ", recipe.partKeys,
                  " rows do not divide tiles of ", recipe.tileRows());
  if (recipe.rescaleBits < 0 || recipe.rescaleBits > 15)
    return refuse("rescale_bits", recipe.rescaleBits,
                  "0 to 15, so that P is below the largest fp16");
  int64_t query = recipe.queryInRing ? recipe.querySlots() : 0;
  int64_t least = 2 * recipe.parts + query;
  if (recipe.stages < least)
    return refuse("stages", recipe.stages, least,
                  " or more: the keys and values of a step, and ", query,
                  " for the query");
  // What RingType has.
  if (recipe.stages > 64)
    return refuse("stages", recipe.stages, "at most 64");
  auto movable = [](int64_t registers) {
    return registers >= 24 && registers <= 256 && registers % 8 == 0;
  };
  if (!movable(recipe.producerRegisters))
    return refuse("producer_registers", recipe.producerRegisters,
                  "a multiple of 8 from 24 to 256");
  if (!movable(recipe.consumerRegisters))
    return refuse("consumer_registers", recipe.consumerRegisters,
                  "a multiple of 8 from 24 to 256");
  int64_t bytes = AttendLayout(recipe).bytes;
  if (bytes > sart::maxDeviceSharedBytes)
    return sart::makeError("shared memory of a recipe: got ", bytes,
                           " bytes with stages=", recipe.stages,
                           ", expected at most ", sart::maxDeviceSharedBytes);
  return sart::Status::success();
}

AttendLayout::AttendLayout(const AttendRecipe &recipe) {
  int64_t offset = recipe.stages * recipe.slotBytes();
  if (!recipe.queryInRing) {
    query = offset;
    offset += recipe.queryBytes();
  }
  if (!recipe.probabilitiesInRegisters) {
    probabilities = offset;
    offset += (recipe.pairs == 2 ? 1 : 2) * 64 * recipe.stepKeys() * 2;
  }
  ringBarriers = offset;
  offset += recipe.stages * 16;
  if (!recipe.queryInRing) {
    queryBarriers = offset;
    offset += 16;
  }
  mailboxBarriers = offset;
  offset += 2 * 16;
  mailbox = llvm::alignTo(offset, 16);
  offset = mailbox + 2 * 16;
  copyStride = recipe.pairs == 1 ? 0 : llvm::alignTo(offset, 1024);
  bytes = (recipe.pairs - 1) * copyStride + offset;
}

sart::DeviceLaunch mlir::sparseattn::attendLaunch(const sart::KernelSpec &spec,
                                                  const AttendRecipe &recipe) {
  sart::DeviceLaunch launch;
  launch.entry = spec.name();
  launch.threads = kAttendThreads;
  launch.sharedBytes = static_cast<int32_t>(AttendLayout(recipe).bytes);
  launch.persistent = true;
  launch.tilesPerCta = static_cast<int32_t>(recipe.pairs);
  launch.tileRows = static_cast<int32_t>(recipe.tileRows());
  launch.qBoxRows = static_cast<int32_t>(
      recipe.queryInRing ? recipe.partKeys : recipe.tileRows());
  launch.kvBoxRows = static_cast<int32_t>(recipe.partKeys);
  launch.boxCols = 64;
  return launch;
}
