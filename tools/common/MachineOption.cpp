//===- MachineOption.cpp - --machine --------------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MachineOption.h"

#include "CommandLine.h"

#include <filesystem>

using namespace sart;
namespace fs = std::filesystem;

std::string sart::machinePath(const std::string &name) {
  std::error_code error;
  if (name.empty() || fs::exists(name, error) ||
      name.find('/') != std::string::npos)
    return name;
  fs::path command = fs::read_symlink("/proc/self/exe", error);
  if (error)
    return name;
  fs::path folder =
      command.parent_path().parent_path() / "share" / "sparseattn" / "machines";
  for (const std::string &file : {name, name + ".json"})
    if (fs::is_regular_file(folder / file, error))
      return (folder / file).string();
  return name;
}

Expected<Machine> sart::loadMachine(const std::string &name) {
  Expected<std::string> text = readTextFile("--machine", machinePath(name));
  if (!text)
    return text.status();
  Expected<Machine> machine = Machine::parse(*text);
  if (!machine)
    return makeError("--machine ", name, ": ", machine.message());
  return machine;
}
