//===- DiagnosticText.h - Diagnostics as one message ------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_SUPPORT_DIAGNOSTICTEXT_H
#define SPARSEATTN_SUPPORT_DIAGNOSTICTEXT_H

#include "sparseattn-rt/Status.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

#include <string>

namespace mlir::sparseattn {

/// Collects a context's errors, while it lives, into one message: the first
/// error with its notes and the number of the others,
/// `line 3, column 5: <error>; note: line 1, column 2: <note>; and 2 more`.
/// Warnings and remarks are dropped.
class DiagnosticText {
public:
  explicit DiagnosticText(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
            return success();
          if (!text.empty()) {
            ++others;
            return success();
          }
          append(diagnostic);
          for (Diagnostic &note : diagnostic.getNotes()) {
            text += "; note: ";
            append(note);
          }
          return success();
        }) {}

  /// What was collected, or that `what` failed without a reason.
  sart::Status failure(StringRef what) const {
    if (text.empty())
      return sart::Status::error(what.str() + ": got no reason");
    return sart::Status::error(
        others ? text + "; and " + std::to_string(others) + " more" : text);
  }

  /// Whether nothing was collected.
  bool empty() const { return text.empty(); }

private:
  void append(Diagnostic &diagnostic) {
    // Line 0 is a module that no text opens: the whole of it is meant.
    auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation());
    if (place && place.getLine() > 0)
      text += "line " + std::to_string(place.getLine()) + ", column " +
              std::to_string(place.getColumn()) + ": ";
    text += diagnostic.str();
  }

  std::string text;
  int64_t others = 0;
  ScopedDiagnosticHandler handler;
};

} // namespace mlir::sparseattn

#endif // SPARSEATTN_SUPPORT_DIAGNOSTICTEXT_H
