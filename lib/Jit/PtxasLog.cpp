//===- PtxasLog.cpp - What ptxas says about a kernel ----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Jit/PtxasLog.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace mlir::sparseattn;
using llvm::StringRef;

/// The number right before `unit`, as in "64 bytes stack frame"; 0 without one.
static int64_t numberBefore(StringRef line, StringRef unit) {
  size_t at = line.find(unit);
  if (at == StringRef::npos)
    return 0;
  StringRef before = line.take_front(at).rtrim();
  size_t begin = before.find_last_not_of("0123456789");
  int64_t number = 0;
  if (before.substr(begin + 1).getAsInteger(10, number))
    return 0;
  return number;
}

/// The number of "(C7508)" in front of a message; 0 if there is none.
static int64_t codeOf(StringRef message) {
  int64_t code = 0;
  if (!message.consume_front("(C") || message.consumeInteger(10, code) ||
      !message.starts_with(")"))
    return 0;
  return code;
}

PtxasReport mlir::sparseattn::parsePtxasLog(StringRef log) {
  PtxasReport report;
  auto raise = [](int64_t &number, int64_t to) {
    number = std::max(number, to);
  };
  llvm::SmallVector<StringRef> lines;
  log.split(lines, '\n');
  for (StringRef line : lines) {
    line = line.trim();
    if (line.contains("bytes stack frame")) {
      ++report.functions;
      raise(report.stack, numberBefore(line, "bytes stack frame"));
      raise(report.spillStores, numberBefore(line, "bytes spill stores"));
      raise(report.spillLoads, numberBefore(line, "bytes spill loads"));
      continue;
    }
    // "ptxas info    : ...", "ptxas FILE, line 3; warning : ..."
    auto [head, message] = line.split(": ");
    head = head.rtrim();
    message = message.trim();
    if (!head.starts_with("ptxas") || message.empty())
      continue;
    if (head.ends_with("warning"))
      report.warnings.push_back(message.str());
    if (codeOf(message))
      report.advisories.push_back(message.str());
    if (message.starts_with("Used ")) {
      raise(report.registers, numberBefore(message, "registers"));
      raise(report.barriers, numberBefore(message, "barriers"));
      raise(report.staticShared, numberBefore(message, "bytes smem"));
    }
  }
  return report;
}

llvm::Error mlir::sparseattn::checkPtxasReport(const PtxasReport &report) {
  llvm::SmallVector<std::string> findings;
  auto expectNone = [&](StringRef what, int64_t bytes) {
    if (bytes)
      findings.push_back(
          (what + ": got " + llvm::Twine(bytes) + " bytes, expected 0").str());
  };
  if (report.functions == 0)
    findings.push_back("functions that ptxas tells of: got 0, expected 1 or "
                       "more");
  expectNone("stack frame", report.stack);
  expectNone("spill stores", report.spillStores);
  expectNone("spill loads", report.spillLoads);
  for (const std::string &line : report.advisories) {
    int64_t code = codeOf(line);
    if (code == 7508)
      findings.push_back("register reallocation: got '" + line +
                         "', expected it to be kept (nvvm.maxntid and "
                         "nvvm.minctasm on the kernel)");
    else if (code / 100 == 75)
      findings.push_back("wgmma: got '" + line +
                         "', expected no serialisation and no added waits");
    else if (StringRef(line).contains("Performance Loss"))
      findings.push_back("ptxas: got '" + line + "', expected no loss");
  }
  if (findings.empty())
    return llvm::Error::success();
  return llvm::createStringError(llvm::join(findings, "; "));
}
