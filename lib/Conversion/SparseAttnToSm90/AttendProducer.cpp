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
//===----------------------------------------------------------------------===//
#include "AttendContext.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sparseattn;
using namespace mlir::sa_sm90;

namespace {

/// A tile that the producer has taken. Flat, so that loops can carry it.
struct TakenTile {
  enum Field : unsigned {
    Entry, ///< negative: there is none
    QBlock,
    First,  ///< index in the mask's row
    Slots,  ///< slots of keys
    Limit,  ///< valid keys of the first slot
    Ticket, ///< of the next tile
    NumFields
  };
  SmallVector<Value> values;
  Value operator[](Field field) const { return values[field]; }
};

/// Where the rows of a tile come from.
struct Source {
  Value list; ///< the tile's first kv-block
  Value maps; ///< q, k, v
  Value qHead, kvHead, qBatch, kvBatch;
};

class Producer {
public:
  Producer(AttendContext &context, Value pair)
      : c(context), b(context.b), pair(pair) {}
  void build();

private:
  Value takeTicket();
  TakenTile take(Value ticket);
  Source sourceOf(const TakenTile &tile);
  /// First rows of the keys of step `step`; null: of the first step.
  SmallVector<Value> keyRows(const TakenTile &tile, const Source &source,
                             Value step);
  void post(const TakenTile &tile, Stream &mailbox);
  void loadTile(Stream &ring, const Source &source, int64_t map, Value row);
  void loadQuery(const TakenTile &tile, const Source &source);
  void loadSlots(const Source &source, int64_t map, ValueRange rows);
  /// Query and first keys; the rows of those.
  SmallVector<Value> loadFirst(const TakenTile &tile, const Source &source);

  /// What the loops carry beside tiles and rows.
  SmallVector<Value> cursors() const;
  void setCursors(ValueRange values);

  AttendContext &c;
  ImplicitLocOpBuilder &b;
  Value pair;
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

Value Producer::takeTicket() {
  return LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::add, c.counter,
                                   c.i32(1), LLVM::AtomicOrdering::monotonic);
}

/// The first tile from `ticket` on that has a kv-block.
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
  Value entry = c.select(some, loop.getResult(0), c.i32(-1));
  // The last block of the list may be partial: it has fewer valid keys, and
  // perhaps fewer slots.
  auto slots = scf::IfOp::create(
      b, some,
      [&](OpBuilder &, Location) {
        TakenTile tile;
        tile.values = {entry, loop.getResult(1), loop.getResult(2)};
        Source source = sourceOf(tile);
        Value last =
            c.load(b.getI32Type(),
                   c.gep(source.list, b.getI32Type(), c.sub(count, 1)), 4);
        Value valid = c.sub(c.intField(entry, entry::kvRows),
                            c.mul(last, c.recipe.blockK));
        int64_t keys = c.recipe.partKeys;
        Value inLast =
            c.min(c.div(c.add(valid, keys - 1), keys), c.i32(c.recipe.split()));
        Value total = c.add(c.mul(c.sub(count, 1), c.recipe.split()), inLast);
        Value limit =
            c.min(c.sub(valid, c.mul(c.sub(inLast, 1), keys)), c.i32(keys));
        scf::YieldOp::create(b, ValueRange{total, limit});
      },
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(b, ValueRange{c.i32(0), c.i32(0)});
      });
  return {{entry, loop.getResult(1), loop.getResult(2), slots.getResult(0),
           slots.getResult(1), loop.getResult(4)}};
}

Source Producer::sourceOf(const TakenTile &tile) {
  Value entry = tile[TakenTile::Entry];
  Source source;
  Value mask = c.loadPointer(c.field(entry, entry::mask));
  Value row = arith::MulIOp::create(b, c.toI64(tile[TakenTile::QBlock]),
                                    c.toI64(c.maskStride));
  Value first =
      arith::AddIOp::create(b, row, c.toI64(c.add(tile[TakenTile::First], 1)));
  source.list = c.gep(mask, b.getI32Type(), first);
  Value set = c.mul(c.intField(entry, entry::source), 3 * kTensorMapBytes);
  source.maps = c.gep(c.maps, b.getI8Type(), set);
  source.qHead = c.intField(entry, entry::qHead);
  source.kvHead = c.intField(entry, entry::kvHead);
  source.qBatch = c.intField(entry, entry::qBatch);
  source.kvBatch = c.intField(entry, entry::kvBatch);
  return source;
}

SmallVector<Value> Producer::keyRows(const TakenTile &tile,
                                     const Source &source, Value step) {
  int64_t parts = c.recipe.parts, split = c.recipe.split();
  Value slots = tile[TakenTile::Slots];
  // Slots are counted from the list's end, where the first step begins.
  Value last = c.sub(slots, 1);
  // The first step has this many slots fewer than the others.
  Value missing = c.mod(c.sub(c.i32(parts), c.mod(slots, parts)), parts);
  SmallVector<Value> rows;
  for (int64_t part = 0; part < parts; ++part) {
    Value slot;
    if (!step) {
      slot =
          part == 0
              ? last
              : c.select(c.compare(arith::CmpIPredicate::eq, missing, c.i32(0)),
                         c.sub(last, part), last);
    } else {
      Value before = c.add(c.sub(c.mul(step, parts), missing), part);
      slot = c.sub(last, before);
    }
    Value index = c.div(slot, split);
    Value block =
        c.load(b.getI32Type(), c.gep(source.list, b.getI32Type(), index), 4);
    rows.push_back(c.add(c.mul(block, c.recipe.blockK),
                         c.mul(c.mod(slot, split), c.recipe.partKeys)));
  }
  return rows;
}

void Producer::post(const TakenTile &tile, Stream &mailbox) {
  PostOp::create(b, mailbox.ring, mailbox.cursor, tile[TakenTile::Entry],
                 tile[TakenTile::QBlock], tile[TakenTile::Slots],
                 tile[TakenTile::Limit]);
  c.advance(mailbox, 1);
}

/// Map 0 is q, 1 is k, 2 is v.
void Producer::loadTile(Stream &ring, const Source &source, int64_t map,
                        Value row) {
  bool query = map == 0;
  LoadOp::create(b, ring.ring, ring.cursor,
                 c.byteOffset(source.maps, map * kTensorMapBytes), row,
                 query ? source.qHead : source.kvHead,
                 query ? source.qBatch : source.kvBatch);
  c.advance(ring, 1);
}

void Producer::loadQuery(const TakenTile &tile, const Source &source) {
  Value row = c.mul(tile[TakenTile::QBlock], c.recipe.tileRows());
  if (queryRing.ring)
    return loadTile(queryRing, source, 0, row);
  for (int64_t slot = 0; slot < c.recipe.querySlots(); ++slot)
    loadTile(ring, source, 0, c.add(row, slot * c.recipe.partKeys));
}

void Producer::loadSlots(const Source &source, int64_t map, ValueRange rows) {
  for (Value row : rows)
    loadTile(ring, source, map, row);
}

SmallVector<Value> Producer::loadFirst(const TakenTile &tile,
                                       const Source &source) {
  SmallVector<Value> rows = keyRows(tile, source, nullptr);
  loadQuery(tile, source);
  loadSlots(source, 1, rows);
  return rows;
}

void Producer::build() {
  ring = c.stream(c.copyOf(c.ring, pair), /*producer=*/true);
  queryRing = c.stream(c.copyOf(c.queryRing, pair), /*producer=*/true);
  mailbox = c.stream(c.copyOf(c.mailbox, pair), /*producer=*/true);
  int64_t parts = c.recipe.parts;

  TakenTile first = take(takeTicket());
  post(first, mailbox);
  Value none = c.isNegative(first[TakenTile::Entry]);
  Value some =
      arith::XOrIOp::create(b, none, arith::ConstantIntOp::create(b, 1, 1));
  auto guarded = scf::IfOp::create(b, some, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(guarded.thenBlock());
  SmallVector<Value> rows = loadFirst(first, sourceOf(first));

  // One turn a tile: this tile, the rows of its first step, the cursors.
  SmallVector<Value> state = first.values;
  state.append(rows);
  state.append(cursors());
  SmallVector<Type> types(ValueRange(state).getTypes());
  // Before the condition: the further steps of the tile. Out of it come the
  // tile, the rows of its last values, the next tile, and the cursors.
  SmallVector<Type> outTypes = types;
  outTypes.insert(outTypes.begin() + TakenTile::NumFields + parts,
                  TakenTile::NumFields, b.getI32Type());
  SmallVector<Location> locations(types.size(), b.getLoc());
  SmallVector<Location> outLocations(outTypes.size(), b.getLoc());
  auto loop = scf::WhileOp::create(b, outTypes, state);
  auto split = [&](ValueRange values, TakenTile &tile, SmallVector<Value> &rows,
                   TakenTile *next) {
    tile.values = llvm::to_vector(values.take_front(TakenTile::NumFields));
    values = values.drop_front(TakenTile::NumFields);
    rows = llvm::to_vector(values.take_front(parts));
    values = values.drop_front(parts);
    if (next) {
      next->values = llvm::to_vector(values.take_front(TakenTile::NumFields));
      values = values.drop_front(TakenTile::NumFields);
    }
    setCursors(values);
  };
  TakenTile tile, next;
  {
    OpBuilder::InsertionGuard guard(b);
    Block *before = b.createBlock(&loop.getBefore(), {}, types, locations);
    split(before->getArguments(), tile, rows, nullptr);
    Source source = sourceOf(tile);
    Value steps = c.div(c.add(tile[TakenTile::Slots], parts - 1), parts);
    // The rows of a step are read one step ahead.
    Value one = c.i32(1);
    Value last = c.max(c.sub(steps, 1), c.i32(0));
    SmallVector<Value> carried = rows;
    auto further = [&](Value step) {
      // Past the end: the last step's again, which nothing loads.
      return keyRows(tile, source, c.min(step, last));
    };
    Value several = c.compare(arith::CmpIPredicate::sgt, steps, one);
    auto second = scf::IfOp::create(
        b, several,
        [&](OpBuilder &, Location) {
          scf::YieldOp::create(b, keyRows(tile, source, one));
        },
        [&](OpBuilder &, Location) { scf::YieldOp::create(b, rows); });
    next = take(tile[TakenTile::Ticket]);
    post(next, mailbox);
    carried.append(second.getResults().begin(), second.getResults().end());
    carried.append(cursors());
    auto stepLoop = scf::ForOp::create(
        b, one, steps, one, carried,
        [&](OpBuilder &, Location, Value step, ValueRange arguments) {
          ValueRange values = arguments.take_front(parts);
          ValueRange keys = arguments.slice(parts, parts);
          setCursors(arguments.drop_front(2 * parts));
          SmallVector<Value> ahead = further(c.add(step, 1));
          loadSlots(source, 1, keys);
          loadSlots(source, 2, values);
          SmallVector<Value> yielded = llvm::to_vector(keys);
          yielded.append(ahead);
          yielded.append(cursors());
          scf::YieldOp::create(b, yielded);
        });
    setCursors(stepLoop.getResults().drop_front(2 * parts));
    SmallVector<Value> out = tile.values;
    ValueRange values = stepLoop.getResults().take_front(parts);
    out.append(values.begin(), values.end());
    out.append(next.values);
    out.append(cursors());
    Value more = arith::XOrIOp::create(b, c.isNegative(next[TakenTile::Entry]),
                                       arith::ConstantIntOp::create(b, 1, 1));
    scf::ConditionOp::create(b, more, out);

    Block *after = b.createBlock(&loop.getAfter(), {}, outTypes, outLocations);
    split(after->getArguments(), tile, rows, &next);
    SmallVector<Value> nextRows = loadFirst(next, sourceOf(next));
    loadSlots(sourceOf(tile), 2, rows);
    SmallVector<Value> yielded = next.values;
    yielded.append(nextRows);
    yielded.append(cursors());
    scf::YieldOp::create(b, yielded);
  }
  split(loop.getResults(), tile, rows, &next);
  loadSlots(sourceOf(tile), 2, rows);
}

void mlir::sparseattn::buildProducer(AttendContext &context, Value pair) {
  Producer(context, pair).build();
}
