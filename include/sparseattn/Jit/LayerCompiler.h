//===- LayerCompiler.h - From a layer's text to what runs -------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_JIT_LAYERCOMPILER_H
#define SPARSEATTN_JIT_LAYERCOMPILER_H

#include "sparseattn-rt/DiskCache.h"
#include "sparseattn-rt/Executable.h"
#include "sparseattn-rt/Machine.h"
#include "sparseattn-rt/Order.h"
#include "sparseattn-rt/Program.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mlir {
namespace sparseattn {

/// What layers are compiled for.
struct CompilerOptions {
  enum class Device : uint8_t {
    None, ///< programs only (for the reference backend)
    Cpu,  ///< kernels for this machine
    Cuda  ///< kernels for a GPU, which need not be there
  };
  Device device = Device::Cpu;
  /// Cuda: file of ptxas; empty: the one that is found; "none": no assembler.
  std::string ptxas;
  /// Keeps kernels between processes; null: nothing does.
  std::shared_ptr<sart::DiskCache> cache;
};

/// What a caller may set over the layer's text. Zero and empty mean: as the
/// text says.
struct LayerOptions {
  int64_t ulysses = 0;
  int64_t ring = 0;
  std::string balance; ///< none, swap, split or pre
  bool augment = false;
  bool repair = false; ///< row moves after balance pre
  /// Without one, a layer of f32 is one of bf16 on a GPU.
  std::optional<sart::DType> dtype;
  const uint8_t *mask = nullptr; ///< bytes [heads][q-blocks][kv-blocks]
  size_t maskSize = 0;
  /// Its costs are what the planner decides with, where the text has none.
  std::shared_ptr<const sart::Machine> machine;
};

/// Where a kernel of a layer came from.
struct KernelSource {
  enum class Kind : uint8_t {
    Compiled, ///< for this layer
    Cached,   ///< loaded from the cache on disk
    Present,  ///< in the process already, for an earlier layer
    Shipped   ///< came with the library
  };
  std::string name;
  std::string key; ///< file in the cache; empty without one
  Kind kind = Kind::Compiled;
};

/// A compiled layer: the program (a template, or bound for constant masks), its
/// kernels, and the module as it stood after the plan phase.
class CompiledLayer {
public:
  CompiledLayer();
  CompiledLayer(CompiledLayer &&);
  CompiledLayer &operator=(CompiledLayer &&);
  ~CompiledLayer();

  sart::Program program;
  std::shared_ptr<sart::KernelTable> kernels;
  /// Order of permute ops at the layer's entry and exit.
  std::optional<sart::Order> boundaryOrder;
  /// Order of the tokens that the mask is over, where the text has one.
  std::optional<sart::Order> maskOrder;
  /// Plan that the text's balance op carries: what runs.
  std::optional<sart::Plan> fixedPlan;
  std::vector<KernelSource> kernelSources; ///< one for each kernel
  /// What the caller should tell the user: a choice that was made for him.
  std::vector<std::string> notices;
  double compileMs = 0; ///< from text to callable kernels
  double kernelMs = 0;  ///< of it, what loading or compiling kernels took

  /// The plan phase's module with `plan` on its balance op.
  sart::Expected<std::string> planText(const sart::Plan &plan) const;

private:
  friend class LayerCompiler;
  struct Modules;
  std::unique_ptr<Modules> modules;
};

/// Compiles layers in process. Errors carry the diagnostics with line and
/// column. Safe for use by several threads: they work one after the other.
class LayerCompiler {
public:
  static sart::Expected<std::unique_ptr<LayerCompiler>>
  create(CompilerOptions options);
  ~LayerCompiler();

  /// sparseattn text (one function with one attend op) to program and kernels.
  sart::Expected<CompiledLayer> compileLayer(std::string_view text,
                                             const LayerOptions &options);
  /// sa_comm text or program bytes; verified, then kernels are compiled.
  sart::Expected<CompiledLayer> compileProgram(std::string_view program);

  /// The #sparseattn.plan of a module's balance op. The rest of the module must
  /// say what `layer` does: a text whose policy, shape or mesh was changed is
  /// another layer, and refused with the first line that differs.
  sart::Expected<sart::Plan> parsePlan(std::string_view text,
                                       const CompiledLayer &layer);
  /// sa_comm text of a program.
  sart::Expected<std::string> printProgram(const sart::Program &program);

private:
  LayerCompiler();
  struct State;
  std::unique_ptr<State> state;
};

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_JIT_LAYERCOMPILER_H
