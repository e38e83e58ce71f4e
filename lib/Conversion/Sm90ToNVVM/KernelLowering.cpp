//===- KernelLowering.cpp - Kernels and roles of sa_sm90 ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Patterns.h"

#include "sparseattn/Conversion/Sm90ToNVVM/Passes.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace mlir::sparseattn;
using namespace mlir::sa_sm90;

template <typename Op>
static void listBarriersOf(KernelOp kernel,
                           SmallVectorImpl<BarrierPlace> &barriers) {
  for (Op op : kernel.getBody().getOps<Op>()) {
    Type type = op->getResult(0).getType();
    int64_t stages, consumers;
    if (auto ring = dyn_cast<RingType>(type)) {
      stages = ring.getStages();
      consumers = ring.getConsumers();
    } else {
      auto mailbox = cast<MailboxType>(type);
      stages = mailbox.getStages();
      consumers = mailbox.getConsumers();
    }
    for (uint64_t copy = 0; copy < op.getCopies(); ++copy)
      for (int64_t i = 0; i < 2 * stages; ++i)
        barriers.push_back(
            {int64_t(op.getBarriers() + copy * op.getCopyStride() + 8 * i),
             i < stages ? 1 : consumers});
  }
}

SmallVector<BarrierPlace> sparseattn::listBarriers(KernelOp kernel) {
  SmallVector<BarrierPlace> barriers;
  listBarriersOf<RingOp>(kernel, barriers);
  listBarriersOf<MailboxOp>(kernel, barriers);
  return barriers;
}

/// Declares the symbol of dynamic shared memory beside `kernel`, once.
static void declareSharedMemory(OpBuilder &builder, KernelOp kernel) {
  if (SymbolTable::lookupSymbolIn(kernel->getParentOp(), kSharedMemoryName))
    return;
  constexpr unsigned alignment = 1024;
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  LLVM::GlobalOp::create(builder, kernel.getLoc(), bytes, /*isConstant=*/false,
                         LLVM::Linkage::External, kSharedMemoryName,
                         Attribute(), alignment,
                         unsigned(NVVM::NVVMMemorySpace::Shared));
}

static LLVM::LLVMFuncOp createFunction(OpBuilder &builder, KernelOp kernel) {
  MLIRContext *context = builder.getContext();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                          kernel.getArgumentTypes());
  NamedAttribute attributes[] = {
      {NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr()},
      {NVVM::NVVMDialect::getMaxntidAttrName(),
       builder.getDenseI32ArrayAttr({int32_t(kernel.getThreads())})},
      // Without it the assembler may ignore register reallocation.
      {NVVM::NVVMDialect::getMinctasmAttrName(), builder.getI32IntegerAttr(1)}};
  auto function = LLVM::LLVMFuncOp::create(
      builder, kernel.getLoc(), kernel.getSymName(), type,
      LLVM::Linkage::External, /*dsoLocal=*/false, LLVM::CConv::C,
      SymbolRefAttr(), attributes);
  if (ArrayAttr all = kernel.getArgAttrsAttr())
    for (auto [i, attribute] : llvm::enumerate(all)) {
      auto ofArgument = cast<DictionaryAttr>(attribute);
      function.setArgAttrs(i, ofArgument);
      if (ofArgument.contains(LLVM::LLVMDialect::getByValAttrName()))
        function.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(),
                            builder.getUnitAttr());
    }
  return function;
}

namespace {
/// Warpgroups that one branch sends to the same place, and their roles.
struct Section {
  int64_t firstWarp, endWarp;
  SmallVector<RoleOp> roles;
};

/// Builds the function's control flow: entry, barriers, roles, one exit.
class KernelBuilder {
public:
  KernelBuilder(OpBuilder &builder, LLVM::LLVMFuncOp function, KernelOp kernel)
      : builder(builder), emitter(builder, kernel.getLoc()), function(function),
        kernel(kernel) {}

  void build(ArrayRef<BarrierPlace> barriers);

private:
  Block *addBlock() {
    Block *block = new Block();
    function.getBody().push_back(block);
    return block;
  }
  void branch(Block *to) {
    LLVM::BrOp::create(builder, emitter.loc, ValueRange(), to);
  }
  /// Goes to `yes` where `warp` < `end`, else to `no`.
  void branchBelow(Value warp, int64_t end, Block *yes, Block *no) {
    Value below =
        emitter.compare(arith::CmpIPredicate::ult, warp, emitter.i32(end));
    LLVM::CondBrOp::create(builder, emitter.loc, below, yes, no);
  }
  void initialize(ArrayRef<BarrierPlace> barriers, Value thread);
  SmallVector<Section> listSections();
  void buildSection(const Section &section);
  void buildRole(RoleOp role);

  OpBuilder &builder;
  Emitter emitter;
  LLVM::LLVMFuncOp function;
  KernelOp kernel;
  Value lane, warp;
  Block *exit = nullptr;
};
} // namespace

/// Thread 0 initialises the barriers; everybody waits for that.
void KernelBuilder::initialize(ArrayRef<BarrierPlace> barriers, Value thread) {
  Block *initial = addBlock(), *ready = addBlock();
  Value first =
      emitter.compare(arith::CmpIPredicate::eq, thread, emitter.i32(0));
  LLVM::CondBrOp::create(builder, emitter.loc, first, initial, ready);
  builder.setInsertionPointToEnd(initial);
  auto pointer = LLVM::LLVMPointerType::get(
      builder.getContext(), unsigned(NVVM::NVVMMemorySpace::Shared));
  for (const BarrierPlace &barrier : barriers) {
    Value address = LLVM::IntToPtrOp::create(
        builder, emitter.loc, pointer, emitter.sharedAddress(barrier.offset));
    NVVM::MBarrierInitOp::create(builder, emitter.loc, address,
                                 emitter.i32(barrier.count), Value());
  }
  NVVM::FenceMbarrierInitOp::create(builder, emitter.loc);
  branch(ready);
  builder.setInsertionPointToEnd(ready);
  NVVM::Barrier0Op::create(builder, emitter.loc);
}

/// Warps [0, threads / 32) in sections of whole warpgroups, in order.
SmallVector<Section> KernelBuilder::listSections() {
  SmallVector<RoleOp> roles(function.getBody().front().getOps<RoleOp>());
  llvm::sort(roles, [](RoleOp a, RoleOp b) {
    return a.getFirstWarp() < b.getFirstWarp();
  });
  SmallVector<Section> sections;
  int64_t warps = kernel.getThreads() / 32;
  for (int64_t first = 0; first < warps;) {
    Section section{first, first + 4, {}};
    for (RoleOp role : roles)
      if (int64_t(role.getFirstWarp()) >= section.firstWarp &&
          int64_t(role.getFirstWarp()) < section.endWarp) {
        section.roles.push_back(role);
        section.endWarp = std::max<int64_t>(
            section.endWarp,
            llvm::alignTo(role.getFirstWarp() + role.getWarps(), 4));
      }
    first = section.endWarp;
    sections.push_back(std::move(section));
  }
  return sections;
}

void KernelBuilder::buildRole(RoleOp role) {
  if (role.getSingleThread()) {
    Block *elected = addBlock();
    Value leader = NVVM::ElectSyncOp::create(builder, emitter.loc,
                                             builder.getI1Type(), Value());
    LLVM::CondBrOp::create(builder, emitter.loc, leader, elected, exit);
    builder.setInsertionPointToEnd(elected);
  }
  Block &body = role.getBody().front();
  body.getArgument(0).replaceAllUsesWith(
      emitter.sub(warp, role.getFirstWarp()));
  body.getArgument(1).replaceAllUsesWith(lane);
  Block *block = builder.getInsertionBlock();
  block->getOperations().splice(block->end(), body.getOperations());
  builder.setInsertionPointToEnd(block);
  branch(exit);
}

void KernelBuilder::buildSection(const Section &section) {
  if (section.roles.empty())
    return branch(exit);
  uint64_t registers =
      section.roles.front()->getAttrOfType<IntegerAttr>("registers").getInt();
  if (registers != kernel.getEntryRegisters())
    NVVM::SetMaxRegisterOp::create(builder, emitter.loc, registers,
                                   registers < kernel.getEntryRegisters()
                                       ? NVVM::SetMaxRegisterAction::decrease
                                       : NVVM::SetMaxRegisterAction::increase);
  int64_t next = section.firstWarp;
  for (RoleOp role : section.roles) {
    int64_t end = role.getFirstWarp() + role.getWarps();
    if (int64_t(role.getFirstWarp()) > next) {
      Block *rest = addBlock();
      branchBelow(warp, role.getFirstWarp(), exit, rest);
      builder.setInsertionPointToEnd(rest);
    }
    Block *rest = nullptr;
    if (end < section.endWarp) {
      Block *mine = addBlock();
      rest = role == section.roles.back() ? exit : addBlock();
      branchBelow(warp, end, mine, rest);
      builder.setInsertionPointToEnd(mine);
    }
    buildRole(role);
    if (rest && rest != exit)
      builder.setInsertionPointToEnd(rest);
    next = end;
  }
}

void KernelBuilder::build(ArrayRef<BarrierPlace> barriers) {
  Block *entry = &function.getBody().front();
  builder.setInsertionPointToStart(entry);
  Value thread =
      NVVM::ThreadIdXOp::create(builder, emitter.loc, builder.getI32Type());
  lane = emitter.bitAnd(thread, 31);
  // The shuffle tells the assembler that the warp's number is uniform.
  warp = emitter.firstLane(emitter.shiftRight(thread, 5));
  builder.setInsertionPointToEnd(entry);
  initialize(barriers, thread);
  exit = addBlock();
  SmallVector<Section> sections = listSections();
  for (const Section &section : sections) {
    Block *rest = nullptr;
    if (&section != &sections.back()) {
      Block *mine = addBlock();
      rest = addBlock();
      branchBelow(warp, section.endWarp, mine, rest);
      builder.setInsertionPointToEnd(mine);
    }
    buildSection(section);
    if (rest)
      builder.setInsertionPointToEnd(rest);
  }
  for (RoleOp role : llvm::make_early_inc_range(entry->getOps<RoleOp>()))
    role.erase();
  // The exit is the last block, as the text is read.
  exit->moveBefore(&function.getBody(), function.getBody().end());
  builder.setInsertionPointToEnd(exit);
  LLVM::ReturnOp::create(builder, emitter.loc, ValueRange());
}

void sparseattn::lowerKernel(KernelOp kernel, ArrayRef<BarrierPlace> barriers) {
  OpBuilder builder(kernel);
  declareSharedMemory(builder, kernel);
  LLVM::LLVMFuncOp function = createFunction(builder, kernel);
  function.getBody().takeBody(kernel.getBody());
  KernelBuilder(builder, function, kernel).build(barriers);
  kernel.erase();
}
