//===- AttendProducer.cpp - Tiles, queries, keys and values by TMA --------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread. It takes tiles from the counter, and loads in the order in which
// the consumers release: Q and the keys of a tile's first step, then for each
// further step its keys and the values of the step before. The values of the
// last step come after Q and the first keys of the *next* tile, whose scores
// the consumers compute beside them.
//
// A list is walked from its end: only its last kv-block can be partial, so that
// only the first step of a tile needs a mask. Where the slots of a tile do not
// fill its steps, the first step has one twice, masked.
//
// What must be read to know the next tile (its record, its entry, the end of
// its list) is read after the loads of a tile's second step, when the ring is
// full and the thread would wait anyway.
//
//===----------------------------------------------------------------------===//
#include "AttendContext.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sparseattn;
using namespace mlir::sa_sm90;

namespace {

/// A tile that the producer has taken, as the loops carry it.
struct TakenTile {
  Value entry; ///< negative: there is none
  Value qBlock;
  Value slots;  ///< slots of keys
  Value limit;  ///< valid keys of the first slot
  Value ticket; ///< of the next tile
  Value list;   ///< the tile's first kv-block
  Value maps;   ///< q, k, v
  Value qHead, kvHead, qBatch, kvBatch;
  SmallVector<Value> rows[2]; ///< first rows of the slots of steps 0 and 1

  static constexpr unsigned numScalars = 11;
  SmallVector<Value> flatten() const {
    SmallVector<Value> values = {entry, qBlock, slots,  limit,  ticket, list,
                                 maps,  qHead,  kvHead, qBatch, kvBatch};
    values.append(rows[0]);
    values.append(rows[1]);
    return values;
  }
  static unsigned size(int64_t parts) {
    return numScalars + 2 * static_cast<unsigned>(parts);
  }
  static TakenTile unflatten(ValueRange values, int64_t parts) {
    TakenTile tile;
    Value *scalars[numScalars] = {&tile.entry,  &tile.qBlock, &tile.slots,
                                  &tile.limit,  &tile.ticket, &tile.list,
                                  &tile.maps,   &tile.qHead,  &tile.kvHead,
                                  &tile.qBatch, &tile.kvBatch};
    for (unsigned i = 0; i < numScalars; ++i)
      *scalars[i] = values[i];
    tile.rows[0] = llvm::to_vector(values.slice(numScalars, parts));
    tile.rows[1] = llvm::to_vector(values.slice(numScalars + parts, parts));
    return tile;
  }
};

class Producer {
public:
  Producer(AttendContext &context, Value pair)
      : c(context), b(context.b), pair(pair), parts(context.recipe.parts) {}
  void build();

private:
  Value takeTicket();
  /// The first tile from `ticket` on that has a kv-block.
  TakenTile take(Value ticket);
  /// Fills in what follows from entry, q-block, the list's begin and its length
  /// for a tile that is there.
  void describe(TakenTile &tile, Value first, Value count);
  SmallVector<Value> keyRows(const TakenTile &tile, Value step);
  void post(const TakenTile &tile);
  /// Map 0 is q, 1 is k, 2 is v.
  void loadTile(Stream &ring, const TakenTile &tile, int64_t map, Value row);
  void loadQuery(const TakenTile &tile);
  void loadSlots(const TakenTile &tile, int64_t map, ValueRange rows);
  /// The steps of a tile after its first one; the rows of its last values. In
  /// between, `next` is taken and posted.
  SmallVector<Value> laterSteps(const TakenTile &tile, TakenTile &next);
  Value isThere(const TakenTile &tile);

  /// What the loops carry beside tiles and rows.
  SmallVector<Value> cursors() const;
  void setCursors(ValueRange values);

  AttendContext &c;
  ImplicitLocOpBuilder &b;
  Value pair;
  int64_t parts;
  Stream ring, queryRing, mailbox;
};

} // namespace

SmallVector<Value> Producer::cursors() const {
  SmallVector<Value> values = {ring.cursor, mailbox.cursor};
  if (queryRing.ring)
    values.push_back(queryRing.cursor);
  return values;
}

void Producer::setCursors(ValueRange values) {
  ring.cursor = values[0];
  mailbox.cursor = values[1];
  if (queryRing.ring)
    queryRing.cursor = values[2];
}

Value Producer::isThere(const TakenTile &tile) {
  return c.compare(arith::CmpIPredicate::sge, tile.entry, c.i32(0));
}

Value Producer::takeTicket() {
  return LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::add, c.counter,
                                   c.i32(1), LLVM::AtomicOrdering::monotonic);
}

TakenTile Producer::take(Value ticket) {
  SmallVector<Type> types(5, b.getI32Type());
  // entry, q-block, first, count, ticket of the next tile
  SmallVector<Value> none = {c.i32(-1), c.i32(0), c.i32(0), c.i32(0), ticket};
  auto loop = scf::WhileOp::create(b, types, none);
  {
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Location> locations(5, b.getLoc());
    Block *before = b.createBlock(&loop.getBefore(), {}, types, locations);
    Value next = before->getArgument(4);
    Value unseen =
        c.compare(arith::CmpIPredicate::eq, before->getArgument(3), c.i32(0));
    Value more = c.compare(arith::CmpIPredicate::slt, next, c.tileCount);
    Value again = arith::AndIOp::create(b, unseen, more);
    scf::ConditionOp::create(b, again, before->getArguments());
    Block *after = b.createBlock(&loop.getAfter(), {}, types, locations);
    Type record = VectorType::get(4, b.getI32Type());
    SmallVector<Value> tile =
        c.loadInts(c.gep(c.tiles, record, c.toI64(after->getArgument(4))), 4);
    tile.push_back(takeTicket());
    scf::YieldOp::create(b, tile);
  }
  Value count = loop.getResult(3);
  Value some = c.compare(arith::CmpIPredicate::sgt, count, c.i32(0));
  TakenTile tile;
  tile.entry = c.select(some, loop.getResult(0), c.i32(-1));
  tile.qBlock = loop.getResult(1);
  tile.ticket = loop.getResult(4);
  auto described = scf::IfOp::create(
      b, some,
      [&](OpBuilder &, Location) {
        TakenTile found = tile;
        describe(found, loop.getResult(2), count);
        scf::YieldOp::create(b, found.flatten());
      },
      [&](OpBuilder &, Location) {
        TakenTile absent = tile;
        Value zero = c.i32(0);
        absent.slots = absent.limit = absent.qHead = absent.kvHead =
            absent.qBatch = absent.kvBatch = zero;
        absent.list = LLVM::ZeroOp::create(b, c.entries.getType());
        absent.maps = c.maps;
        absent.rows[0].assign(parts, zero);
        absent.rows[1].assign(parts, zero);
        scf::YieldOp::create(b, absent.flatten());
      });
  return TakenTile::unflatten(described.getResults(), parts);
}

void Producer::describe(TakenTile &tile, Value first, Value count) {
  Value mask = c.loadPointer(c.field(tile.entry, entry::mask));
  Value row =
      arith::MulIOp::create(b, c.toI64(tile.qBlock), c.toI64(c.maskStride));
  tile.list = c.gep(mask, b.getI32Type(),
                    arith::AddIOp::create(b, row, c.toI64(c.add(first, 1))));
  Value set = c.mul(c.intField(tile.entry, entry::source), 3 * kTensorMapBytes);
  tile.maps = c.gep(c.maps, b.getI8Type(), set);
  tile.qHead = c.intField(tile.entry, entry::qHead);
  tile.kvHead = c.intField(tile.entry, entry::kvHead);
  tile.qBatch = c.intField(tile.entry, entry::qBatch);
  tile.kvBatch = c.intField(tile.entry, entry::kvBatch);
  // The last block may be partial: it has fewer valid keys, perhaps slots.
  Value last = c.load(b.getI32Type(),
                      c.gep(tile.list, b.getI32Type(), c.sub(count, 1)), 4);
  Value valid = c.sub(c.intField(tile.entry, entry::kvRows),
                      c.mul(last, c.recipe.blockK));
  int64_t keys = c.recipe.partKeys;
  Value inLast =
      c.min(c.div(c.add(valid, keys - 1), keys), c.i32(c.recipe.split()));
  tile.slots = c.add(c.mul(c.sub(count, 1), c.recipe.split()), inLast);
  tile.limit = c.min(c.sub(valid, c.mul(c.sub(inLast, 1), keys)), c.i32(keys));
  tile.rows[0] = keyRows(tile, c.i32(0));
  tile.rows[1] = keyRows(tile, c.i32(1));
}

/// Slots are walked from the list's end. The first step has `missing` slots
/// fewer than the others: it visits the last one again instead. Past the last
/// step come rows that nothing loads.
SmallVector<Value> Producer::keyRows(const TakenTile &tile, Value step) {
  int64_t split = c.recipe.split();
  Value last = c.sub(tile.slots, 1);
  Value missing = c.mod(c.sub(c.i32(parts), c.mod(tile.slots, parts)), parts);
  Value before = c.sub(c.mul(step, parts), missing);
  SmallVector<Value> rows;
  for (int64_t part = 0; part < parts; ++part) {
    Value slot = c.sub(last, c.add(before, part));
    slot = c.max(c.min(slot, last), c.i32(0));
    Value block =
        c.load(b.getI32Type(),
               c.gep(tile.list, b.getI32Type(), c.div(slot, split)), 4);
    rows.push_back(c.add(c.mul(block, c.recipe.blockK),
                         c.mul(c.mod(slot, split), c.recipe.partKeys)));
  }
  return rows;
}

void Producer::post(const TakenTile &tile) {
  PostOp::create(b, mailbox.ring, mailbox.cursor, tile.entry, tile.qBlock,
                 tile.slots, tile.limit);
  c.advance(mailbox, 1);
}

void Producer::loadTile(Stream &ring, const TakenTile &tile, int64_t map,
                        Value row) {
  bool query = map == 0;
  LoadOp::create(b, ring.ring, ring.cursor,
                 c.byteOffset(tile.maps, map * kTensorMapBytes), row,
                 query ? tile.qHead : tile.kvHead,
                 query ? tile.qBatch : tile.kvBatch);
  c.advance(ring, 1);
}

void Producer::loadQuery(const TakenTile &tile) {
  Value row = c.mul(tile.qBlock, c.recipe.tileRows());
  if (queryRing.ring)
    return loadTile(queryRing, tile, 0, row);
  for (int64_t slot = 0; slot < c.recipe.querySlots(); ++slot)
    loadTile(ring, tile, 0, c.add(row, slot * c.recipe.partKeys));
}

void Producer::loadSlots(const TakenTile &tile, int64_t map, ValueRange rows) {
  for (Value row : rows)
    loadTile(ring, tile, map, row);
}

SmallVector<Value> Producer::laterSteps(const TakenTile &tile,
                                        TakenTile &next) {
  Value steps = c.div(c.add(tile.slots, parts - 1), parts);
  Value one = c.i32(1), two = c.i32(2);
  // Loads the keys of a step and the values of the one before. The rows of the
  // step after are read ahead.
  auto step = [&](Value number, ValueRange values, ValueRange keys) {
    SmallVector<Value> ahead = keyRows(tile, c.add(number, 1));
    loadSlots(tile, 1, keys);
    loadSlots(tile, 2, values);
    SmallVector<Value> carried = llvm::to_vector(keys);
    carried.append(ahead);
    carried.append(cursors());
    scf::YieldOp::create(b, carried);
  };
  SmallVector<Value> untouched = tile.rows[0];
  untouched.append(tile.rows[1]);
  untouched.append(cursors());
  auto second = scf::IfOp::create(
      b, c.compare(arith::CmpIPredicate::sgt, steps, one),
      [&](OpBuilder &, Location) { step(one, tile.rows[0], tile.rows[1]); },
      [&](OpBuilder &, Location) { scf::YieldOp::create(b, untouched); });
  setCursors(second.getResults().drop_front(2 * parts));
  next = take(tile.ticket);
  post(next);
  SmallVector<Value> carried(second.getResults().take_front(2 * parts));
  carried.append(cursors());
  auto loop = scf::ForOp::create(
      b, two, steps, one, carried,
      [&](OpBuilder &, Location, Value number, ValueRange arguments) {
        setCursors(arguments.drop_front(2 * parts));
        step(number, arguments.take_front(parts),
             arguments.slice(parts, parts));
      });
  setCursors(loop.getResults().drop_front(2 * parts));
  return SmallVector<Value>(loop.getResults().take_front(parts));
}

void Producer::build() {
  ring = c.stream(c.copyOf(c.ring, pair), /*producer=*/true);
  queryRing = c.stream(c.copyOf(c.queryRing, pair), /*producer=*/true);
  mailbox = c.stream(c.copyOf(c.mailbox, pair), /*producer=*/true);

  TakenTile first = take(takeTicket());
  post(first);
  auto guarded = scf::IfOp::create(b, isThere(first), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(guarded.thenBlock());
  loadQuery(first);
  loadSlots(first, 1, first.rows[0]);

  // One turn a tile. Into the condition go the tile and the cursors; out of it
  // come the tile, the rows of its last values, the next tile and the cursors.
  SmallVector<Value> state = first.flatten();
  unsigned tileSize = TakenTile::size(parts);
  state.append(cursors());
  SmallVector<Type> types(ValueRange(state).getTypes());
  SmallVector<Type> outTypes = types;
  outTypes.insert(outTypes.begin() + tileSize, types.begin(),
                  types.begin() + tileSize);
  outTypes.insert(outTypes.begin() + tileSize, parts, b.getI32Type());
  SmallVector<Location> locations(types.size(), b.getLoc());
  SmallVector<Location> outLocations(outTypes.size(), b.getLoc());
  auto loop = scf::WhileOp::create(b, outTypes, state);
  {
    OpBuilder::InsertionGuard inner(b);
    Block *before = b.createBlock(&loop.getBefore(), {}, types, locations);
    ValueRange arguments = before->getArguments();
    TakenTile tile = TakenTile::unflatten(arguments, parts);
    setCursors(arguments.drop_front(tileSize));
    TakenTile next;
    SmallVector<Value> values = laterSteps(tile, next);
    SmallVector<Value> out = tile.flatten();
    out.append(values);
    out.append(next.flatten());
    out.append(cursors());
    scf::ConditionOp::create(b, isThere(next), out);

    Block *after = b.createBlock(&loop.getAfter(), {}, outTypes, outLocations);
    arguments = after->getArguments();
    tile = TakenTile::unflatten(arguments, parts);
    next = TakenTile::unflatten(arguments.drop_front(tileSize + parts), parts);
    setCursors(arguments.drop_front(2 * tileSize + parts));
    loadQuery(next);
    loadSlots(next, 1, next.rows[0]);
    loadSlots(tile, 2, arguments.slice(tileSize, parts));
    SmallVector<Value> yielded = next.flatten();
    yielded.append(cursors());
    scf::YieldOp::create(b, yielded);
  }
  ValueRange results = loop.getResults();
  setCursors(results.drop_front(2 * tileSize + parts));
  loadSlots(TakenTile::unflatten(results, parts), 2,
            results.slice(tileSize, parts));
}

void mlir::sparseattn::buildProducer(AttendContext &context, Value pair) {
  Producer(context, pair).build();
}
