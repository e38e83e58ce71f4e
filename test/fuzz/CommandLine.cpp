//===- CommandLine.cpp - Fuzz target: command lines -----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FuzzSupport.h"

#include "CommandLine.h"
#include "MeshOption.h"

#include <vector>

using namespace sart;

/// Arguments, one a line, for a command with options of every kind.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<std::string> words = {"command"};
  std::string_view text = fuzz::textOf(data, size);
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    // The system ends arguments with a zero.
    words.push_back(std::string(text.substr(0, end)).c_str());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);

  CommandLine line("command", "[options]", "A command.");
  bool flag = false, given = false;
  std::string file, choice, mode, mesh;
  int64_t number = 0;
  line.addFlag("flag", "a flag", flag);
  line.addText("file", "F", "a file", file);
  line.addText("mesh", "M", "a mesh", mesh);
  line.addInteger("number", "N", "a number", -5, INT64_MAX, number);
  line.addChoice("choice", "a choice", {"one", "two"}, choice, {"three"});
  line.addOptionalValue("check", "a flag with a value", {"full"}, given, mode);
  line.addLater("later");
  Status status = line.parse(static_cast<int>(words.size()), arguments.data());
  if (!status.ok()) {
    fuzz::requireReason(status);
    return 0;
  }
  fuzz::require(number >= -5, "integers are in their range");
  fuzz::require(choice.empty() || choice == "one" || choice == "two",
                "choices are among those offered", choice);
  Expected<MeshOption> axes = parseMesh(mesh, flag ? 4 : 0);
  if (!axes)
    fuzz::requireReason(axes.status());
  else
    fuzz::require(axes->ulysses * axes->ring <= maxLocalRanks,
                  "a mesh has few ranks", mesh);
  return 0;
}
