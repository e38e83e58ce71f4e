//===- ImportProgram.cpp - From programs to sa_comm text ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Total on any program: everything that the dialect cannot express is refused
// with its place, and nothing is dropped silently.
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Target/Program/Program.h"

#include "InstructionImporter.h"

#include "sparseattn-rt/Binder.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace mlir::sa_comm;
using sart::Opcode;

namespace {

bool isTransfer(Opcode opcode) {
  return opcode == Opcode::Send || opcode == Opcode::Recv;
}

/// A label for readers of the text: what the phase that starts at
/// `list[begin]` is about. `queries`: the window of queries; `attended`: an
/// attend instruction came before.
StringRef labelOf(ArrayRef<sart::Instruction> list, size_t begin,
                  int32_t queries, bool attended) {
  size_t i = begin;
  while (i < list.size() && list[i].opcode == Opcode::Wait &&
         list[i].phase == list[begin].phase)
    ++i;
  if (i == list.size() || list[i].phase != list[begin].phase)
    return "wait";
  switch (list[i].opcode) {
  case Opcode::AllToAll:
    return attended ? "return" : "exchange";
  case Opcode::Pool:
    return "pool";
  case Opcode::AllGather:
    return "gather";
  case Opcode::Route:
  case Opcode::LoadMask:
    return "route";
  case Opcode::Plan:
    return "plan";
  case Opcode::Augment:
    return "augment";
  case Opcode::Send:
  case Opcode::Recv:
  case Opcode::Pack:
    // Only heads that move take their queries with them.
    for (; i < list.size() && list[i].phase == list[begin].phase; ++i)
      for (int32_t window : list[i].windows)
        if (isTransfer(list[i].opcode) && window == queries)
          return "move";
    return "ring";
  case Opcode::Put:
  case Opcode::Signal:
  case Opcode::WaitSignal:
    return "ring";
  case Opcode::Attend:
    return i > begin ? "ring" : "attend";
  case Opcode::Merge:
    return "merge";
  case Opcode::Convert:
    return "convert";
  case Opcode::Release:
    return "release";
  case Opcode::Wait:
    break;
  }
  return "";
}

class Importer {
public:
  Importer(const sart::Program &program, OpBuilder &builder, Location loc)
      : program(program), builder(builder), loc(loc) {}

  Operation *run() {
    OpBuilder::InsertionGuard guard(builder);
    if (failed(checkForm()))
      return nullptr;
    Operation *schedule =
        program.bound ? create<ProgramOp>() : create<TemplateOp>();
    if (!schedule)
      return nullptr;
    builder.setInsertionPointToStart(&schedule->getRegion(0).front());
    if (failed(addContent()) || failed(verify(schedule))) {
      schedule->erase();
      return nullptr;
    }
    return schedule;
  }

private:
  InFlightDiagnostic error() { return emitError(loc); }

  /// Operand counts and kinds that do not depend on a single instruction.
  LogicalResult checkForm() {
    if (sart::Status mesh = program.placement.mesh.verify(); !mesh.ok())
      return error() << mesh.message();
    size_t lists =
        program.bound ? static_cast<size_t>(program.placement.mesh.ranks()) : 1;
    if (program.ranks.size() != lists)
      return error() << "number of instruction lists differs: got "
                     << program.ranks.size() << ", expected " << lists;
    if (program.name.empty())
      return error() << "name of the program is empty: got '', expected a name";
    if (program.bound &&
        (!program.symbols.empty() || !program.statics.values.empty()))
      return error() << "bound program has symbols: got "
                     << program.symbols.size() << " symbols and values of "
                     << program.statics.values.size()
                     << " ranks, expected none";
    if (!program.bound && program.mask)
      return error() << "template has a mask: got one, expected none";
    for (const sart::Window &window : program.windows)
      if (window.name.empty())
        return error() << "name of a window is empty: got '', expected a name";
    for (const sart::Symbol &symbol : program.symbols)
      if (symbol.name.empty())
        return error() << "name of a symbol is empty: got '', expected a name";
    return checkStatics();
  }

  LogicalResult checkStatics() {
    const auto &values = program.statics.values;
    if (values.empty())
      return success();
    auto ranks = static_cast<size_t>(program.placement.mesh.ranks());
    if (values.size() != ranks)
      return error() << "number of ranks of the static values differs: got "
                     << values.size() << ", expected " << ranks;
    for (size_t rank = 0; rank < ranks; ++rank) {
      if (values[rank].size() != program.symbols.size())
        return error() << "number of static values of rank " << rank
                       << " differs: got " << values[rank].size()
                       << ", expected " << program.symbols.size();
      for (size_t i = 0; i < program.symbols.size(); ++i)
        if (!program.symbols[i].isStatic && !values[rank][i].empty())
          return error() << "dynamic symbol '" << program.symbols[i].name
                         << "' has values in a template: got "
                         << values[rank][i].size() << " integers for rank "
                         << rank << ", expected none";
    }
    return success();
  }

  /// The schedule operation with its header; null after an error.
  template <typename ScheduleOp>
  Operation *create() {
    MLIRContext *context = builder.getContext();
    auto emit = [&] { return error(); };
    const sart::Mesh &mesh = program.placement.mesh;
    const sart::LayerShape &s = program.placement.shape;
    const sart::PlannerOptions &o = program.planner;
    const sart::RoutingPolicy &p = program.policy;
    SmallVector<int64_t> keep;
    for (const sart::Range &range : p.keep)
      keep.append({range.begin, range.end});
    // Checked first: the builders take only what the attributes allow.
    CostAttr cost = CostAttr::getChecked(emit, context, o.cost.tilePs,
                                         o.cost.rowPs, o.cost.transferPs,
                                         o.cost.bytePs, o.cost.scheduleNs);
    if (!cost ||
        !MeshAttr::getChecked(emit, context, mesh.ulysses, mesh.ring,
                              program.placement.blockShards) ||
        !ShapeAttr::getChecked(emit, context, s.heads, s.kvHeads, s.sq, s.skv,
                               s.headDim, s.blockQ, s.blockK,
                               toType(context, s.dtype), s.causal) ||
        !PolicyAttr::getChecked(emit, context, static_cast<PolicyKind>(p.kind),
                                APFloat(p.p), p.minBlocks, p.k, p.windowBlocks,
                                ArrayRef<int64_t>(keep)) ||
        !PlannerAttr::getChecked(emit, context, static_cast<Balance>(o.balance),
                                 o.augment, o.k1Milli, o.k2Milli, o.n1Milli,
                                 o.n2Milli, o.maxPieces, o.repair, cost))
      return nullptr;
    return ScheduleOp::create(builder, loc, program.name, program.placement,
                              program.scale, p, o);
  }

  LogicalResult addContent() {
    for (const sart::Window &window : program.windows)
      WindowOp::create(builder, loc, window.name, window.slots, window.rows,
                       window.rowElements,
                       toType(builder.getContext(), window.dtype),
                       static_cast<Role>(window.role));
    addSymbols();
    if (program.mask) {
      MaskRowsAttr rows = MaskRowsAttr::getChecked(
          [&] { return error(); }, builder.getContext(), program.mask->heads(),
          program.mask->qBlocks(), program.mask->kvBlocks(),
          ArrayRef<int64_t>(program.mask->rowOffsets()),
          ArrayRef<int32_t>(program.mask->rowIndices()));
      if (!rows)
        return failure();
      MaskOp::create(builder, loc, rows);
    }
    for (size_t rank = 0; rank < program.ranks.size(); ++rank) {
      OpBuilder::InsertionGuard guard(builder);
      Block *body = nullptr;
      if (program.bound)
        body = RankOp::create(builder, loc, static_cast<int64_t>(rank))
                   .getBodyBlock();
      else
        body = SpmdOp::create(builder, loc).getBodyBlock();
      builder.setInsertionPointToStart(body);
      if (failed(addList(rank)))
        return failure();
    }
    return success();
  }

  void addSymbols() {
    // Values that the binder would give too stay out of the text, so that an
    // edited placement takes effect.
    sart::Program standard;
    standard.placement = program.placement;
    standard.windows = program.windows;
    for (size_t i = 0; i < program.symbols.size(); ++i) {
      const sart::Symbol &symbol = program.symbols[i];
      ArrayAttr values;
      if (symbol.isStatic && !program.statics.values.empty()) {
        standard.symbols = {symbol};
        sart::Expected<sart::Binding> bound = sart::bindStatics(standard);
        bool same = bound.ok();
        SmallVector<Attribute> lists;
        for (size_t rank = 0; rank < program.statics.values.size(); ++rank) {
          const std::vector<int64_t> &list = program.statics.values[rank][i];
          same = same && bound->values[rank][0] == list;
          lists.push_back(intList(builder.getContext(), list));
        }
        if (!same)
          values = builder.getArrayAttr(lists);
      }
      SymbolOp::create(
          builder, loc, symbol.name,
          symbol.isStatic ? SymbolKind::Static : SymbolKind::Dynamic, values);
    }
  }

  LogicalResult addList(size_t rank) {
    InstructionImporter importer(program, builder, loc);
    std::optional<int32_t> phase;
    bool attended = false;
    const std::vector<sart::Instruction> &list = program.ranks[rank];
    for (size_t i = 0; i < list.size(); ++i) {
      const sart::Instruction &instruction = list[i];
      if (phase != instruction.phase)
        PhaseOp::create(builder, loc, instruction.phase,
                        labelOf(list, i, program.findWindow("q"), attended));
      phase = instruction.phase;
      attended |= instruction.opcode == Opcode::Attend;
      std::string place = "instruction " + std::to_string(i);
      if (program.bound)
        place += " of rank " + std::to_string(rank);
      if (failed(importer.add(instruction, place + ": ")))
        return failure();
    }
    return success();
  }

  const sart::Program &program;
  OpBuilder &builder;
  Location loc;
};

} // namespace

FailureOr<Operation *>
mlir::sa_comm::importProgram(const sart::Program &program, OpBuilder &builder,
                             Location loc) {
  Operation *schedule = Importer(program, builder, loc).run();
  if (!schedule)
    return failure();
  return schedule;
}

OwningOpRef<ModuleOp> mlir::sa_comm::importProgram(const sart::Program &program,
                                                   MLIRContext *context) {
  context->loadDialect<CommDialect>();
  Location loc = UnknownLoc::get(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  if (failed(importProgram(program, builder, loc)))
    return nullptr;
  return module;
}
