//===- GpuTarget.cpp - GPU that kernels are generated for -----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Jit/GpuTarget.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Triple.h"

#include <algorithm>
#include <mutex>

using namespace mlir::sparseattn;

// One back end alone: llvm/Support/TargetSelect.h would name all that this
// build of LLVM has.
extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

static constexpr llvm::StringLiteral kTriple = "nvptx64-nvidia-cuda";

static const llvm::Target *findBackEnd() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string message;
  return llvm::TargetRegistry::lookupTarget(llvm::Triple(kTriple), message);
}

unsigned GpuTarget::newestPtxOfLlvm() {
  unsigned newest = 0;
  const llvm::Target *target = findBackEnd();
  if (!target)
    return newest;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(llvm::Triple(kTriple), "", ""));
  for (const llvm::SubtargetFeatureKV &feature :
       subtarget->getAllProcessorFeatures()) {
    llvm::StringRef name = feature.Key;
    unsigned version = 0;
    if (name.consume_front("ptx") && !name.getAsInteger(10, version))
      newest = std::max(newest, version);
  }
  return newest;
}

GpuTarget GpuTarget::withoutPtxas(llvm::StringRef chip) {
  GpuTarget target;
  target.chip = chip.str();
  return target;
}

GpuTarget GpuTarget::with(Ptxas ptxas, llvm::StringRef chip) {
  GpuTarget target = withoutPtxas(chip);
  target.ptxVersion = std::min(newestPtxOfLlvm(), ptxas.ptxVersion());
  target.ptxas = std::move(ptxas);
  return target;
}

llvm::Expected<GpuTarget> GpuTarget::get(llvm::StringRef ptxasPath,
                                         llvm::StringRef chip) {
  std::string file = ptxasPath.str();
  if (file.empty())
    file = Ptxas::locate();
  if (file.empty() || file == "none")
    return withoutPtxas(chip);
  llvm::Expected<Ptxas> ptxas = Ptxas::open(file);
  if (!ptxas)
    return ptxas.takeError();
  return with(std::move(*ptxas), chip);
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
GpuTarget::createTargetMachine() const {
  const llvm::Target *target = findBackEnd();
  if (!target)
    return llvm::createStringError(
        "code generator for GPUs: got an LLVM without NVPTX, expected one with "
        "it");
  llvm::Triple triple(kTriple);
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, "", ""));
  if (!subtarget->isCPUStringValid(chip))
    return llvm::createStringError("chip is not known: got '" + chip +
                                   "', expected a name of LLVM such as sm_90a");
  std::string isa = "ptx" + std::to_string(ptxVersion);
  if (llvm::none_of(subtarget->getAllProcessorFeatures(),
                    [&](const auto &feature) { return isa == feature.Key; }))
    return llvm::createStringError("PTX ISA is not known: got '" + isa +
                                   "', expected one that LLVM writes, up to "
                                   "ptx" +
                                   llvm::Twine(newestPtxOfLlvm()));
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, chip, "+" + isa, llvm::TargetOptions(), std::nullopt,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return llvm::createStringError("no code generator for chip: got '" + chip +
                                   "'");
  return machine;
}
