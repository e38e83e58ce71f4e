//===- ExportProgram.cpp - From sa_comm text to programs ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Binder.h"
#include "sparseattn/Dialect/Comm/IR/Comm.h"
#include "sparseattn/Target/Program/Program.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <unordered_map>

using namespace mlir;
using namespace mlir::sa_comm;

namespace {

class Exporter {
public:
  explicit Exporter(Operation *schedule) { result.schedule = schedule; }

  FailureOr<ExportedProgram> run() {
    return TypeSwitch<Operation *, FailureOr<ExportedProgram>>(result.schedule)
        .Case([&](TemplateOp op) { return runOn(op); })
        .Case([&](ProgramOp op) { return runOn(op); })
        .Default([](Operation *op) {
          return op->emitError()
                 << "operation is not a schedule: got '" << op->getName()
                 << "', expected 'sa_comm.template' or 'sa_comm.program'";
        });
  }

private:
  template <typename ScheduleOp>
  FailureOr<ExportedProgram> runOn(ScheduleOp op) {
    sart::Program &program = result.program;
    program.name = op.getSymName().str();
    program.placement = op.toPlacement();
    program.scale = op.getScale().convertToFloat();
    program.policy = op.getPolicy().toPolicy();
    program.planner = op.toPlannerOptions();
    program.bound = std::is_same_v<ScheduleOp, ProgramOp>;
    // Declarations stand before the lists, by the verifiers.
    for (Operation &child : *op.getBodyBlock()) {
      LogicalResult done =
          TypeSwitch<Operation *, LogicalResult>(&child)
              .Case([&](WindowOp window) { return add(window); })
              .Case([&](SymbolOp symbol) { return add(symbol); })
              .Case([&](MaskOp mask) { return add(mask); })
              .Case([&](SpmdOp list) { return addList(list.getBodyBlock()); })
              .Case([&](RankOp list) { return addList(list.getBodyBlock()); })
              .Default(success());
      if (failed(done))
        return failure();
    }
    if constexpr (std::is_same_v<ScheduleOp, TemplateOp>)
      if (failed(bindStaticSymbols(op)))
        return failure();
    return std::move(result);
  }

  LogicalResult add(WindowOp op) {
    windows[op.getSymNameAttr()] =
        static_cast<int32_t>(result.program.windows.size());
    sart::Window &window = result.program.windows.emplace_back();
    window.name = op.getSymName().str();
    window.dtype = toDType(op.getElementType()).value_or(sart::DType::F32);
    window.slots = static_cast<int64_t>(op.getSlots());
    window.rows = static_cast<int64_t>(op.getRows());
    window.rowElements = static_cast<int64_t>(op.getRowElements());
    window.role = static_cast<sart::Window::Role>(op.getRole());
    return success();
  }

  LogicalResult add(SymbolOp op) {
    symbols[op.getSymNameAttr()] =
        static_cast<int32_t>(result.program.symbols.size());
    result.program.symbols.push_back(
        {op.getSymName().str(), op.getKind() == SymbolKind::Static});
    return success();
  }

  LogicalResult add(MaskOp op) {
    MaskRowsAttr rows = op.getRows();
    ArrayRef<int64_t> offsets = rows.getOffsets();
    std::vector<std::vector<int32_t>> lists;
    lists.reserve(offsets.size());
    for (size_t row = 0; row + 1 < offsets.size(); ++row) {
      auto begin = rows.getIndices().begin();
      lists.emplace_back(begin + offsets[row], begin + offsets[row + 1]);
    }
    sart::Expected<sart::BlockMask> mask = sart::BlockMask::fromLists(
        rows.getHeads(), rows.getQBlocks(), rows.getKvBlocks(), lists);
    if (!mask)
      return op.emitOpError(mask.message());
    result.program.mask = std::move(*mask);
    return success();
  }

  LogicalResult addList(Block *list) {
    std::vector<sart::Instruction> &instructions =
        result.program.ranks.emplace_back();
    std::vector<Operation *> &operations = result.operations.emplace_back();
    llvm::DenseMap<Value, int32_t> tokens;
    int32_t phase = 0;
    for (Operation &op : *list) {
      if (auto marker = dyn_cast<PhaseOp>(op)) {
        phase = static_cast<int32_t>(marker.getNumber());
        continue;
      }
      auto source = cast<InstructionOpInterface>(op);
      sart::Instruction &to = instructions.emplace_back();
      operations.push_back(&op);
      to.opcode = source.getOpcode();
      to.phase = phase;
      to.group = source.getCollectiveGroup();
      for (FlatSymbolRefAttr window : source.getWindowRefs())
        to.windows.push_back(windows.lookup(window.getAttr()));
      for (const ListOperand &operand : source.getListOperands())
        to.lists.push_back(toOperand(operand.value));
      if (Attribute peer = source.getPeerOperand())
        to.peer = toOperand(peer);
      if (op.getNumResults() == 1) {
        to.token = static_cast<int32_t>(tokens.size());
        tokens[op.getResult(0)] = to.token;
      }
      for (Value token : op.getOperands())
        to.waits.push_back(tokens.lookup(token));
    }
    return success();
  }

  sart::Operand toOperand(Attribute list) {
    if (auto symbol = dyn_cast<FlatSymbolRefAttr>(list))
      return sart::Operand::ofSymbol(symbols.lookup(symbol.getAttr()));
    SmallVector<int64_t> values = flattenList(list);
    return sart::Operand::immediate({values.begin(), values.end()});
  }

  /// Static symbols follow from the placement, unless the text gives values.
  LogicalResult bindStaticSymbols(TemplateOp op) {
    sart::Program &program = result.program;
    sart::Program unbound; // the symbols that the binder knows
    unbound.placement = program.placement;
    unbound.windows = program.windows;
    for (SymbolOp symbol : op.getBody().getOps<SymbolOp>())
      if (symbol.getKind() == SymbolKind::Static && !symbol.getValues())
        unbound.symbols.push_back({symbol.getSymName().str(), true});
    auto ranks = static_cast<size_t>(op.getMesh().getRanks());
    sart::Binding bound;
    if (!unbound.symbols.empty()) {
      sart::Expected<sart::Binding> binding = sart::bindStatics(unbound);
      if (!binding)
        return op.emitOpError()
               << "static symbols cannot be bound: " << binding.message();
      bound = std::move(*binding);
    }
    program.statics.values.assign(
        ranks, std::vector<std::vector<int64_t>>(program.symbols.size()));
    size_t index = 0, next = 0;
    for (SymbolOp symbol : op.getBody().getOps<SymbolOp>()) {
      ArrayAttr values = symbol.getValuesAttr();
      bool fromBinder = symbol.getKind() == SymbolKind::Static && !values;
      for (size_t rank = 0; rank < ranks; ++rank) {
        std::vector<int64_t> &to = program.statics.values[rank][index];
        if (fromBinder) {
          to = std::move(bound.values[rank][next]);
        } else if (values) {
          SmallVector<int64_t> list = flattenList(values[rank]);
          to.assign(list.begin(), list.end());
        }
      }
      next += fromBinder;
      ++index;
    }
    return success();
  }

  ExportedProgram result;
  llvm::DenseMap<StringAttr, int32_t> windows, symbols;
};

} // namespace

FailureOr<ExportedProgram>
mlir::sa_comm::exportWithOperations(Operation *schedule) {
  return Exporter(schedule).run();
}

FailureOr<sart::Program> mlir::sa_comm::exportProgram(Operation *schedule) {
  FailureOr<ExportedProgram> exported = exportWithOperations(schedule);
  if (failed(exported))
    return failure();
  return std::move(exported->program);
}

Operation *ExportedProgram::find(int64_t rank, int64_t instruction) const {
  // Rank -1 is the template, whose only list is number 0.
  size_t list = program.bound ? static_cast<size_t>(rank) : 0;
  if ((rank < 0 && program.bound) || list >= operations.size())
    return schedule;
  const std::vector<Operation *> &ops = operations[list];
  if (instruction >= 0 && static_cast<size_t>(instruction) < ops.size())
    return ops[static_cast<size_t>(instruction)];
  if (!program.bound)
    return schedule;
  for (RankOp op : schedule->getRegion(0).getOps<RankOp>())
    if (static_cast<int64_t>(op.getNumber()) == rank)
      return op;
  return schedule;
}

Operation *mlir::sa_comm::findSchedule(ModuleOp module, StringRef name) {
  SmallVector<Operation *> found;
  for (Operation &op : *module.getBody())
    if (isa<TemplateOp, ProgramOp>(op) &&
        (name.empty() || SymbolTable::getSymbolName(&op).getValue() == name))
      found.push_back(&op);
  if (found.size() == 1)
    return found.front();
  InFlightDiagnostic error = module.emitError();
  error << "number of schedules in the module ";
  if (!name.empty())
    error << "with the name @" << name << " ";
  error << "differs: got " << found.size()
        << ", expected one 'sa_comm.template' or 'sa_comm.program'";
  return nullptr;
}

void mlir::sa_comm::renumberTokens(sart::Program &program) {
  for (std::vector<sart::Instruction> &list : program.ranks) {
    std::unordered_map<int32_t, int32_t> numbers;
    bool wellFormed = true;
    for (const sart::Instruction &instruction : list) {
      for (int32_t token : instruction.waits)
        wellFormed &= numbers.count(token) != 0;
      if (instruction.token >= 0)
        wellFormed &= numbers
                          .try_emplace(instruction.token,
                                       static_cast<int32_t>(numbers.size()))
                          .second;
    }
    if (!wellFormed)
      continue;
    for (sart::Instruction &instruction : list) {
      if (instruction.token >= 0)
        instruction.token = numbers[instruction.token];
      for (int32_t &token : instruction.waits)
        token = numbers[token];
    }
  }
}
