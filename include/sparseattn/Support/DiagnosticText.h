//===- DiagnosticText.h - Diagnostics as one message --------------*- C++
//-*-===//
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

/// Collects a context's errors, while it lives, into one message:
/// `line 3, column 5: <error>; note: line 1, column 2: <note>; <next error>`.
/// Warnings and remarks are dropped.
class DiagnosticText {
public:
  explicit DiagnosticText(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
            return success();
          if (!text.empty())
            text += "; ";
          append(diagnostic);
          for (Diagnostic &note : diagnostic.getNotes()) {
            text += "; note: ";
            append(note);
          }
          return success();
        }) {}

  /// What was collected, or that `what` failed without a reason.
  sart::Status failure(StringRef what) const {
    return sart::Status::error(text.empty() ? what.str() + ": got no reason"
                                            : text);
  }

private:
  void append(Diagnostic &diagnostic) {
    if (auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
      text += "line " + std::to_string(place.getLine()) + ", column " +
              std::to_string(place.getColumn()) + ": ";
    text += diagnostic.str();
  }

  std::string text;
  ScopedDiagnosticHandler handler;
};

} // namespace mlir::sparseattn

#endif // SPARSEATTN_SUPPORT_DIAGNOSTICTEXT_H
