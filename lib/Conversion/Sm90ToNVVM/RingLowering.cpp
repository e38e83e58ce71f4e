//===- RingLowering.cpp - Rings, mailboxes, barriers and tiles ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Patterns.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::sparseattn;
using namespace mlir::sa_sm90;

using Results = FailureOr<SmallVector<Registers>>;

static int64_t stagesOf(Type type) {
  if (auto ring = dyn_cast<RingType>(type))
    return ring.getStages();
  return cast<MailboxType>(type).getStages();
}

namespace {
/// Addresses of a slot of a ring or mailbox. Barriers lie in the order full[0],
/// full[1], ..., empty[0], empty[1], ...
struct Slot {
  Value data, full, empty, phase;

  Slot(Emitter &emitter, Type type, ValueRange source, ValueRange cursor) {
    int64_t bytes = 16;
    if (auto ring = dyn_cast<RingType>(type))
      bytes = ring.getTile().getBytes();
    data = emitter.add(source[0], emitter.mul(cursor[0], bytes));
    full = emitter.add(source[1], emitter.mul(cursor[0], 8));
    empty = emitter.add(full, 8 * stagesOf(type));
    phase = cursor[1];
  }
};
} // namespace

/// Waits until the phase of parity `phase` of a barrier is complete.
static void waitBarrier(Emitter &emitter, Value barrier, Value phase,
                        bool guard) {
  Assembly assembly;
  assembly.input(barrier);
  assembly.input(phase);
  assembly.emit(
      emitter,
      guard ? "{ .reg .pred p; .reg .b32 n; mov.b32 n, 0; "
              "TRY: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; "
              "@p bra DONE; add.u32 n, n, 1; setp.gt.u32 p, n, 4000000; "
              "@p trap; bra TRY; DONE: }"
            : "{ .reg .pred p; "
              "TRY: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; "
              "@p bra DONE; bra TRY; DONE: }");
}

static void arrive(Emitter &emitter, Value barrier) {
  Assembly assembly;
  assembly.input(barrier);
  assembly.emit(emitter, "mbarrier.arrive.shared::cta.b64 _, [$0];");
}

/// One arrival a warp.
static void arriveOfWarp(Emitter &emitter, Value barrier, Value lane) {
  Assembly assembly;
  assembly.input(barrier);
  assembly.input(lane);
  assembly.emit(emitter, "{ .reg .pred p; setp.eq.u32 p, $1, 0; "
                         "@p mbarrier.arrive.shared::cta.b64 _, [$0]; }");
}

namespace {
template <typename Op>
struct DeclarationLowering : Sm90Pattern<Op> {
  using Sm90Pattern<Op>::Sm90Pattern;
  Results lower(Op op, typename Sm90Pattern<Op>::Operands,
                Emitter &emitter) const override {
    return SmallVector<Registers>{{emitter.sharedAddress(op.getOffset()),
                                   emitter.sharedAddress(op.getBarriers())}};
  }
};

struct CopyLowering : Sm90Pattern<CopyOp> {
  using Sm90Pattern::Sm90Pattern;
  Results lower(CopyOp op, Operands operands, Emitter &emitter) const override {
    Operation *declaration = op.getSource().getDefiningOp();
    int64_t stride;
    if (auto ring = dyn_cast_or_null<RingOp>(declaration))
      stride = ring.getCopyStride();
    else if (auto mailbox = dyn_cast_or_null<MailboxOp>(declaration))
      stride = mailbox.getCopyStride();
    else
      return failure();
    Value distance = emitter.mul(operands.getIndex().front(), stride);
    Registers moved;
    for (Value address : operands.getSource())
      moved.push_back(emitter.add(address, distance));
    return SmallVector<Registers>{moved};
  }
};

struct CursorLowering : Sm90Pattern<CursorOp> {
  using Sm90Pattern::Sm90Pattern;
  Results lower(CursorOp op, Operands, Emitter &emitter) const override {
    // A producer's first wait for an empty slot must pass: the parity before
    // the first phase counts as complete.
    return SmallVector<Registers>{
        {emitter.i32(0), emitter.i32(op.getProducer() ? 1 : 0)}};
  }
};

struct AdvanceLowering : Sm90Pattern<AdvanceOp> {
  using Sm90Pattern::Sm90Pattern;
  Results lower(AdvanceOp op, Operands operands,
                Emitter &emitter) const override {
    int64_t stages = op.getCursor().getType().getStages();
    int64_t rounds = op.getBy() / stages, rest = op.getBy() % stages;
    Value slot = operands.getCursor()[0], phase = operands.getCursor()[1];
    if (rounds % 2)
      phase = emitter.bitXor(phase, emitter.i32(1));
    if (rest == 0)
      return SmallVector<Registers>{{slot, phase}};
    if (stages == 2)
      return SmallVector<Registers>{
          {emitter.bitXor(slot, emitter.i32(1)), emitter.bitXor(phase, slot)}};
    Value next = emitter.add(slot, rest);
    Value wraps =
        emitter.compare(arith::CmpIPredicate::uge, next, emitter.i32(stages));
    Value turned = emitter.bitXor(phase, emitter.i32(1));
    return SmallVector<Registers>{
        {emitter.select(wraps, emitter.sub(next, stages), next),
         emitter.select(wraps, turned, phase)}};
  }
};

struct LoadLowering : Sm90Pattern<LoadOp> {
  LoadLowering(const TypeConverter &types, MLIRContext *context, bool guard)
      : Sm90Pattern(types, context), guard(guard) {}
  Results lower(LoadOp op, Operands operands, Emitter &emitter) const override {
    OpBuilder &builder = emitter.builder;
    RingType type = op.getRing().getType();
    Slot slot(emitter, type, operands.getRing(), operands.getCursor());
    waitBarrier(emitter, slot.empty, slot.phase, guard);
    Assembly expect;
    expect.input(slot.full);
    expect.emit(emitter, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], " +
                             std::to_string(type.getTile().getBytes()) + ";");
    auto pointer = [&](Value address, NVVM::NVVMMemorySpace space) -> Value {
      return LLVM::IntToPtrOp::create(
          builder, emitter.loc,
          LLVM::LLVMPointerType::get(builder.getContext(), unsigned(space)),
          address);
    };
    Value barrier = pointer(slot.full, NVVM::NVVMMemorySpace::Shared);
    for (int64_t box = 0; box < type.getTile().getColumns() / 64; ++box) {
      Value to = emitter.add(slot.data, box * type.getTile().getBoxBytes());
      Value coordinates[] = {emitter.i32(64 * box), operands.getRow().front(),
                             operands.getHead().front(),
                             operands.getBatch().front()};
      NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
          builder, emitter.loc,
          pointer(to, NVVM::NVVMMemorySpace::SharedCluster),
          operands.getMap().front(), coordinates, barrier, ValueRange(),
          Value(), Value(), NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
          NVVM::CTAGroupKindAttr(), Value());
    }
    return SmallVector<Registers>{};
  }
  bool guard;
};

struct AwaitLowering : Sm90Pattern<AwaitOp> {
  AwaitLowering(const TypeConverter &types, MLIRContext *context, bool guard)
      : Sm90Pattern(types, context), guard(guard) {}
  Results lower(AwaitOp op, Operands operands,
                Emitter &emitter) const override {
    Slot slot(emitter, op.getRing().getType(), operands.getRing(),
              operands.getCursor());
    waitBarrier(emitter, slot.full, slot.phase, guard);
    return SmallVector<Registers>{{slot.data}};
  }
  bool guard;
};

struct ReleaseLowering : Sm90Pattern<ReleaseOp> {
  using Sm90Pattern::Sm90Pattern;
  Results lower(ReleaseOp op, Operands operands,
                Emitter &emitter) const override {
    Slot slot(emitter, op.getRing().getType(), operands.getRing(),
              operands.getCursor());
    arriveOfWarp(emitter, slot.empty, threadPlace(emitter, op).lane);
    return SmallVector<Registers>{};
  }
};

struct PostLowering : Sm90Pattern<PostOp> {
  PostLowering(const TypeConverter &types, MLIRContext *context, bool guard)
      : Sm90Pattern(types, context), guard(guard) {}
  Results lower(PostOp op, Operands operands, Emitter &emitter) const override {
    Slot slot(emitter, op.getMailbox().getType(), operands.getMailbox(),
              operands.getCursor());
    waitBarrier(emitter, slot.empty, slot.phase, guard);
    Assembly store;
    store.input(slot.data);
    for (ValueRange word :
         {operands.getA(), operands.getB(), operands.getC(), operands.getD()})
      store.input(word.front());
    store.emit(emitter, "st.shared.v4.b32 [$0], {$1, $2, $3, $4};");
    arrive(emitter, slot.full);
    return SmallVector<Registers>{};
  }
  bool guard;
};

struct FetchLowering : Sm90Pattern<FetchOp> {
  FetchLowering(const TypeConverter &types, MLIRContext *context, bool guard)
      : Sm90Pattern(types, context), guard(guard) {}
  Results lower(FetchOp op, Operands operands,
                Emitter &emitter) const override {
    Slot slot(emitter, op.getMailbox().getType(), operands.getMailbox(),
              operands.getCursor());
    waitBarrier(emitter, slot.full, slot.phase, guard);
    Assembly load;
    for (int i = 0; i < 4; ++i)
      load.output(emitter.builder.getI32Type());
    load.input(slot.data);
    SmallVector<Registers> results;
    for (Value word :
         load.emit(emitter, "ld.shared.v4.b32 {$0, $1, $2, $3}, [$4];"))
      results.push_back({emitter.firstLane(word)});
    // After the shuffles: every lane has read the slot.
    arriveOfWarp(emitter, slot.empty, threadPlace(emitter, op).lane);
    return results;
  }
  bool guard;
};

struct RowsLowering : Sm90Pattern<RowsOp> {
  using Sm90Pattern::Sm90Pattern;
  Results lower(RowsOp, Operands operands, Emitter &emitter) const override {
    constexpr int64_t bytes = 64 * 128;
    return SmallVector<Registers>{
        {emitter.add(operands.getTile().front(),
                     emitter.mul(operands.getWarpgroup().front(), bytes))}};
  }
};

/// bar.sync or bar.arrive. A constant id is an immediate: with an id in a
/// register the assembler reserves all sixteen barriers.
template <typename Op>
struct NamedBarrierLowering : Sm90Pattern<Op> {
  using Sm90Pattern<Op>::Sm90Pattern;
  Results lower(Op op, typename Sm90Pattern<Op>::Operands operands,
                Emitter &emitter) const override {
    std::string text =
        std::is_same_v<Op, BarrierSyncOp> ? "bar.sync " : "bar.arrive ";
    Assembly assembly;
    APInt constant;
    if (matchPattern(op.getId(), m_ConstantInt(&constant)))
      text += std::to_string(constant.getZExtValue());
    else
      text += Assembly::name(assembly.input(operands.getId().front()));
    assembly.emit(emitter, text + ", " + std::to_string(op.getThreads()) + ";");
    return SmallVector<Registers>{};
  }
};
} // namespace

void sparseattn::populateRingLowerings(const TypeConverter &types,
                                       RewritePatternSet &patterns,
                                       bool guard) {
  MLIRContext *context = patterns.getContext();
  patterns.add<DeclarationLowering<RingOp>, DeclarationLowering<MailboxOp>,
               CopyLowering, CursorLowering, AdvanceLowering, ReleaseLowering,
               RowsLowering, NamedBarrierLowering<BarrierSyncOp>,
               NamedBarrierLowering<BarrierArriveOp>>(types, context);
  patterns.add<LoadLowering, AwaitLowering, PostLowering, FetchLowering>(
      types, context, guard);
}
