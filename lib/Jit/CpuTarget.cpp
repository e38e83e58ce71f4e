//===- CpuTarget.cpp - CPU that kernels are generated for -----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Jit/CpuTarget.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include <mutex>

using namespace mlir::sparseattn;

static void initializeNativeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
CpuTarget::createTargetMachine() const {
  initializeNativeTarget();
  std::string message;
  llvm::Triple parsed(triple);
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(parsed, message);
  if (!target)
    return llvm::createStringError("target triple is not available: got '" +
                                   triple + "': " + message);
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(parsed, "", ""));
  if (!cpu.empty() && !subtarget->isCPUStringValid(cpu))
    return llvm::createStringError("cpu is not known for " + triple +
                                   ": got '" + cpu + "'");
  // MLIR puts neither prefer-vector-width nor min-legal-vector-width on
  // functions, so full-width vectors survive on every AVX-512 CPU.
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      parsed, cpu, features, llvm::TargetOptions(), llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Default, /*JIT=*/true));
  if (!machine)
    return llvm::createStringError("no code generator for target: got '" +
                                   triple + "'");
  return machine;
}

/// Picks the vector width and register tiles. A tile holds
/// scoreRows * tileVectors accumulators plus tileVectors operands and one
/// broadcast value, which must fit the register file (32 with AVX-512, else
/// 16), and needs at least latency * ports independent chains (8 to 10) to
/// keep two FMA units busy. Among tiles with 16 accumulators 4 x 4 is the
/// fastest with two 512-bit units: least loads for each FMA, and the wide panel
/// halves how often a kv-block is read (5 % over 8 x 2).
static void chooseTiles(CpuTarget &target, const llvm::Triple &triple,
                        const llvm::MCSubtargetInfo &subtarget) {
  if (!triple.isX86()) {
    target.lanes = 4;
    target.hasFma = true;
    target.hasHalf = false;
    target.tileVectors = 2;
    target.scoreRows = 8;
    target.outputRows = 4;
    return;
  }
  auto has = [&](llvm::StringRef feature) {
    return subtarget.checkFeatures(("+" + feature).str());
  };
  target.tileVectors = 2;
  target.hasFma = has("fma");
  target.hasHalf = has("f16c");
  if (has("avx512f") && has("avx512bw") && has("avx512vl")) {
    target.lanes = 16;
    target.hasFma = true;
    target.hasHalf = true;
    target.tileVectors = 4;
    target.scoreRows = 4;
    target.outputRows = 4;
    return;
  }
  target.lanes = has("avx2") ? 8 : 4;
  target.scoreRows = 6;
  target.outputRows = 6;
}

llvm::Expected<CpuTarget> CpuTarget::get(llvm::StringRef triple,
                                         llvm::StringRef cpu,
                                         llvm::StringRef features) {
  initializeNativeTarget();
  CpuTarget target;
  target.triple = triple.empty() ? llvm::sys::getProcessTriple() : triple.str();
  target.cpu = cpu.str();
  target.features = features.str();
  // LLVM ends the process when it makes code for a CPU of another word size.
  if (llvm::Triple(target.triple).getArch() == llvm::Triple::x86_64) {
    llvm::SmallVector<llvm::StringRef> known;
    llvm::X86::fillValidCPUArchList(known, /*Only64Bit=*/true);
    if (!cpu.empty() && !llvm::is_contained(known, cpu))
      return llvm::createStringError(
          "cpu is not known for " + target.triple + ": got '" + cpu +
          "', expected a name of LLVM for a 64-bit CPU, such as haswell");
  }
  auto machine = target.createTargetMachine();
  if (!machine)
    return machine.takeError();
  chooseTiles(target, (*machine)->getTargetTriple(),
              *(*machine)->getMCSubtargetInfo());
  return target;
}

bool CpuTarget::runsHere() const {
  auto machine = createTargetMachine();
  if (!machine) {
    llvm::consumeError(machine.takeError());
    return false;
  }
  const llvm::MCSubtargetInfo &subtarget = *(*machine)->getMCSubtargetInfo();
  auto here = llvm::sys::getHostCPUFeatures();
  for (const auto &feature : subtarget.getEnabledProcessorFeatures())
    // Only names that the host reports on are instruction sets.
    if (auto found = here.find(feature.Key);
        found != here.end() && !found->second)
      return false;
  return true;
}

llvm::Expected<CpuTarget> CpuTarget::host() {
  llvm::SubtargetFeatures features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features.AddFeature(feature.getKey(), feature.getValue());
  return get("", llvm::sys::getHostCPUName(), features.getString());
}
