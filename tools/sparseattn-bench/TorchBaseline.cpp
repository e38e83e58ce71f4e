//===- TorchBaseline.cpp - What PyTorch takes on the same GPU -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TorchBaseline.h"

#include "ChildProcess.h"
#include "TemporaryFolder.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace sart;
using namespace mlir::sparseattn;

/// For hundreds of cases, each warmed up and repeated; and for one import.
static constexpr std::chrono::hours kRunLimit(1);
static constexpr std::chrono::minutes kPathLimit(5);

static constexpr const char *kScript = "torch_baseline.py";

BaselineTimes sart::baselineTimes(const DeviceTimes &times) {
  BaselineTimes row;
  row.medianMs = times.hot.median();
  row.minMs = times.hot.minimum();
  row.maxMs = times.hot.maximum();
  row.launches = times.launches;
  if (!times.spaced.empty())
    row.spacedMs = times.spaced.median();
  return row;
}

Expected<TorchBaseline> TorchBaseline::open(const std::string &python) {
  TorchBaseline result;
  auto found = llvm::sys::findProgramByName(python);
  if (!found || !llvm::sys::fs::can_execute(*found))
    return makeError("Python of PyTorch: got '", python,
                     "', expected a program (--python PATH)");
  result.python = *found;
  // The command's own file, in bin/; the script is in share/ beside that.
  llvm::SmallString<256> path;
  if (llvm::sys::fs::real_path("/proc/self/exe", path))
    return makeError("file of the command: got none, expected /proc/self/exe");
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, "..", "share", "sparseattn", kScript);
  if (!llvm::sys::fs::exists(path))
    return makeError("script of PyTorch's figures: got none, expected ",
                     path.str().str());
  result.script = path.str().str();
  return result;
}

std::string TorchBaseline::cublas() const {
  auto output = runChild(python, {script, "--cublas"}, "python", kPathLimit);
  if (!output) {
    llvm::consumeError(output.takeError());
    return "";
  }
  llvm::StringRef text = llvm::StringRef(output->text).trim();
  return output->status == 0 && llvm::sys::fs::exists(text) ? text.str() : "";
}

BaselineTimes TorchBaseline::parseRow(const llvm::json::Object &object) {
  BaselineTimes row;
  auto median = object.getNumber("median_ms");
  if (!median) {
    row.error = object.getString("error").value_or("no figure").str();
    return row;
  }
  row.medianMs = *median;
  row.minMs = object.getNumber("min_ms").value_or(*median);
  row.maxMs = object.getNumber("max_ms").value_or(*median);
  row.launches = object.getInteger("launches").value_or(0);
  row.spacedMs = object.getNumber("spaced_ms");
  return row;
}

llvm::json::Object sart::attentionCase(const LayerShape &shape) {
  return llvm::json::Object{{"dtype", std::string(toString(shape.dtype))},
                            {"heads", shape.heads},
                            {"kv_heads", shape.kvHeads},
                            {"tokens", shape.sq},
                            {"kv_tokens", shape.skv},
                            {"head_dim", shape.headDim},
                            {"block_q", shape.blockQ},
                            {"block_k", shape.blockK}};
}

/// The last line that says something.
static std::string lastLine(llvm::StringRef text) {
  return text.rtrim().rsplit('\n').second.empty()
             ? text.trim().str()
             : text.rtrim().rsplit('\n').second.str();
}

Expected<TorchResults> TorchBaseline::run(llvm::json::Object settings,
                                          llvm::json::Array cases) const {
  auto folder = TemporaryFolder::create("bench");
  if (!folder)
    return makeError(llvm::toString(folder.takeError()));
  size_t count = cases.size();
  settings["cases"] = std::move(cases);
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(settings));
  std::string request = folder->file("cases.json");
  std::string answer = folder->file("results.json");
  if (llvm::Error error = writeWhole(request, text))
    return makeError(llvm::toString(std::move(error)));
  auto output =
      runChild(python, {script, request, answer}, "python", kRunLimit);
  if (!output)
    return makeError(llvm::toString(output.takeError()));
  if (output->status != 0)
    return makeError("PyTorch: got '", lastLine(output->text), "' from ",
                     python, ", expected figures");
  auto written = readWhole(answer);
  if (!written)
    return makeError(llvm::toString(written.takeError()));
  auto parsed = llvm::json::parse(*written);
  if (!parsed)
    return makeError("figures of PyTorch: got '",
                     llvm::toString(parsed.takeError()), "', expected JSON");
  TorchResults results;
  const llvm::json::Object *object = parsed->getAsObject();
  const llvm::json::Array *rows = object ? object->getArray("rows") : nullptr;
  if (!rows || rows->size() != count)
    return makeError("figures of PyTorch: got ", rows ? rows->size() : 0,
                     ", expected ", count);
  results.version = object->getString("torch").value_or("").str();
  for (const llvm::json::Value &row : *rows)
    results.rows.push_back(parseRow(row.getAsObject() ? *row.getAsObject()
                                                      : llvm::json::Object()));
  return results;
}
