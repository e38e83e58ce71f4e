//===- CommandLine.h - Options of the sparseattn tools ----------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_COMMON_COMMANDLINE_H
#define SPARSEATTN_TOOLS_COMMON_COMMANDLINE_H

#include "sparseattn-rt/Status.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sart {

/// A command's options: `--name value`, `--name=value`, flags, positional
/// arguments. No option may be given twice. Every error names the option, what
/// it got and what it expects.
class CommandLine {
public:
  /// `usage` follows the program's name, `summary` is one sentence.
  CommandLine(std::string program, std::string usage, std::string summary);

  void addFlag(std::string name, std::string help, bool &target);
  void addText(std::string name, std::string value, std::string help,
               std::string &target);
  /// The same, and '' is a value too.
  void addTextOrEmpty(std::string name, std::string value, std::string help,
                      std::string &target);
  void addInteger(std::string name, std::string value, std::string help,
                  int64_t minimum, int64_t maximum, int64_t &target);
  /// One of `choices`; `later` are values that a later version will take.
  void addChoice(std::string name, std::string help,
                 std::vector<std::string> choices, std::string &target,
                 std::vector<std::string> later = {});
  /// An option that a later version will take: refused by name.
  void addLater(std::string name);
  /// An option with a parser of its own.
  void addParsed(std::string name, std::string value, std::string help,
                 std::function<Status(const std::string &)> parse);
  /// A flag that may carry a value: `--check` or `--check=full`.
  void addOptionalValue(std::string name, std::string help,
                        std::vector<std::string> choices, bool &given,
                        std::string &target);

  Status parse(int argc, char **argv);
  /// --help was given: print help() and exit 0.
  bool helpRequested() const { return helpGiven; }
  std::string help() const;
  const std::vector<std::string> &positionals() const {
    return positionalArguments;
  }

private:
  struct Option {
    std::string name, value, help;
    bool needsValue = false, mayHaveValue = false;
    std::function<Status(const std::string &)> parse;
    bool given = false, mayBeEmpty = false;
  };
  std::string programName, usageText, summaryText;
  std::vector<Option> options;
  std::vector<std::string> laterOptions;
  std::vector<std::string> positionalArguments;
  bool helpGiven = false;
};

/// Reads a whole integer; nullopt-like failure names `what`.
Expected<int64_t> parseInteger(const std::string &what, const std::string &text,
                               int64_t minimum, int64_t maximum);

/// Reads a whole file, of at most 1 GiB.
Expected<std::string> readTextFile(const std::string &what,
                                   const std::string &path);

/// The file that writing to `path` changes: absolute, links followed, also when
/// it does not exist yet.
std::string resolvedPath(const std::string &path);

/// Refuses, before any work, a file that could not be created: the folder does
/// not exist or is not writable, or the path is a folder.
Status checkWritable(const std::string &what, const std::string &path);

/// Flushes stdout; 0, or 1 after an error when it did not take everything.
int finishOutput();

/// Runs the body of a command's main. Memory that cannot be had is an error,
/// and so is a write beyond the limit on file sizes (ulimit -f).
int runTool(const std::function<int()> &body);

/// Prints `error: <message>` to stderr and returns 1.
int reportError(const Status &status);

} // namespace sart

#endif // SPARSEATTN_TOOLS_COMMON_COMMANDLINE_H
