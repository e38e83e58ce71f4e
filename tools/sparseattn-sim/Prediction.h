//===- Prediction.h - What --machine asks for -------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_SIM_PREDICTION_H
#define SPARSEATTN_TOOLS_SIM_PREDICTION_H

#include "SimOptions.h"

#include "sparseattn-rt/Machine.h"
#include "sparseattn-rt/Program.h"

#include <optional>
#include <string>

namespace sart {

/// Predicts programs and layers on one machine.
class Prediction {
public:
  /// Loads the machine of the options.
  static Expected<Prediction> create(const SimOptions &options);

  /// The bound program of the file without running it: of a program in it, of
  /// a layer with a constant mask, or of one with the mask of the options.
  /// None: a layer routes and no mask was given, so that it has to run. Prints
  /// the candidates where the options leave something open.
  Expected<std::optional<Program>> bindFile(const std::string &contents,
                                            bool isProgram) const;
  /// Prints the timeline of a bound program and writes the trace.
  Status report(const Program &bound) const;

private:
  explicit Prediction(const SimOptions &options) : options(options) {}
  Expected<BlockMask> maskFor(const Program &layer) const;

  const SimOptions &options;
  Machine machine;
};

} // namespace sart

#endif // SPARSEATTN_TOOLS_SIM_PREDICTION_H
