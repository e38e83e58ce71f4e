//===- CommandLine.cpp - Options of the sparseattn tools ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CommandLine.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <new>
#include <stdexcept>

using namespace sart;

CommandLine::CommandLine(std::string program, std::string usage,
                         std::string summary)
    : programName(std::move(program)), usageText(std::move(usage)),
      summaryText(std::move(summary)) {}

void CommandLine::addFlag(std::string name, std::string help, bool &target) {
  options.push_back({std::move(name), "", std::move(help), false, false,
                     [&target](const std::string &) {
                       target = true;
                       return Status::success();
                     }});
}

void CommandLine::addText(std::string name, std::string value, std::string help,
                          std::string &target) {
  addParsed(std::move(name), std::move(value), std::move(help),
            [&target](const std::string &text) {
              target = text;
              return Status::success();
            });
}

void CommandLine::addTextOrEmpty(std::string name, std::string value,
                                 std::string help, std::string &target) {
  addText(std::move(name), std::move(value), std::move(help), target);
  options.back().mayBeEmpty = true;
}

void CommandLine::addInteger(std::string name, std::string value,
                             std::string help, int64_t minimum, int64_t maximum,
                             int64_t &target) {
  std::string what = "--" + name;
  addParsed(std::move(name), std::move(value), std::move(help),
            [&target, what, minimum, maximum](const std::string &text) {
              Expected<int64_t> parsed =
                  parseInteger(what, text, minimum, maximum);
              if (!parsed)
                return parsed.status();
              target = *parsed;
              return Status::success();
            });
}

static std::string join(const std::vector<std::string> &choices,
                        const char *separator) {
  std::string joined;
  for (const std::string &choice : choices)
    joined += (joined.empty() ? "" : separator) + choice;
  return joined;
}

void CommandLine::addChoice(std::string name, std::string help,
                            std::vector<std::string> choices,
                            std::string &target,
                            std::vector<std::string> later) {
  std::string what = "--" + name;
  std::string shown = join(choices, "|");
  addParsed(std::move(name), shown, std::move(help),
            [&target, what, choices, later](const std::string &text) {
              auto among = [&](const std::vector<std::string> &values) {
                return std::find(values.begin(), values.end(), text) !=
                       values.end();
              };
              if (!among(choices))
                return makeError(what, ": got '", text,
                                 among(later) ? "' (not in this version)" : "'",
                                 ", expected one of ", join(choices, ", "));
              target = text;
              return Status::success();
            });
}

void CommandLine::addLater(std::string name) {
  laterOptions.push_back(std::move(name));
}

void CommandLine::addParsed(std::string name, std::string value,
                            std::string help,
                            std::function<Status(const std::string &)> parse) {
  options.push_back({std::move(name), std::move(value), std::move(help), true,
                     true, std::move(parse)});
}

void CommandLine::addOptionalValue(std::string name, std::string help,
                                   std::vector<std::string> choices,
                                   bool &given, std::string &target) {
  std::string what = "--" + name;
  options.push_back(
      {std::move(name), join(choices, "|"), std::move(help), false, true,
       [&given, &target, what, choices](const std::string &text) {
         if (!text.empty() &&
             std::find(choices.begin(), choices.end(), text) == choices.end())
           return makeError(what, ": got '", text, "', expected one of ",
                            join(choices, ", "));
         given = true;
         target = text;
         return Status::success();
       }});
}

Status CommandLine::parse(int argc, char **argv) {
  bool onlyPositionals = false;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (onlyPositionals || argument.size() < 2 || argument[0] != '-') {
      positionalArguments.push_back(argument);
      continue;
    }
    if (argument == "--") {
      onlyPositionals = true;
      continue;
    }
    if (argument == "--help" || argument == "-h") {
      helpGiven = true;
      return Status::success();
    }
    size_t begin = argument[1] == '-' ? 2 : 1;
    size_t equals = argument.find('=');
    bool hasValue = equals != std::string::npos;
    std::string name =
        argument.substr(begin, hasValue ? equals - begin : std::string::npos);
    auto option = std::find_if(options.begin(), options.end(),
                               [&](const Option &o) { return o.name == name; });
    if (option == options.end() &&
        std::find(laterOptions.begin(), laterOptions.end(), name) !=
            laterOptions.end())
      return makeError("option: got '--", name,
                       "' (not in this version), expected one that --help "
                       "lists");
    if (option == options.end())
      return makeError("option: got '", argument,
                       "', expected one that --help lists");
    if (hasValue && !option->mayHaveValue)
      return makeError("--", name, ": got value '", argument.substr(equals + 1),
                       "', expected none");
    if (option->given)
      return makeError("--", name, ": got it twice, expected once");
    option->given = true;
    std::string value = hasValue ? argument.substr(equals + 1) : "";
    if (option->needsValue && !hasValue) {
      if (i + 1 == argc)
        return makeError("--", name, ": got no value, expected ",
                         option->value);
      value = argv[++i];
    }
    if (option->needsValue && value.empty() && !option->mayBeEmpty)
      return makeError("--", name, ": got '', expected ", option->value);
    SART_RETURN_IF_ERROR(option->parse(value));
  }
  return Status::success();
}

std::string CommandLine::help() const {
  std::string text =
      summaryText + "\n\nusage: " + programName + " " + usageText + "\n";
  if (!options.empty())
    text += "\noptions:\n";
  auto line = [&](const Option &option) {
    std::string left = "  --" + option.name;
    if (option.needsValue)
      left += " " + option.value;
    else if (option.mayHaveValue)
      left += "[=" + option.value + "]";
    if (left.size() < 34)
      left.resize(34, ' ');
    else
      left += "\n" + std::string(34, ' ');
    return left + option.help + "\n";
  };
  for (const Option &option : options)
    text += line(option);
  text += line({"help", "", "print this text", false, false, nullptr});
  return text;
}

Expected<int64_t> sart::parseInteger(const std::string &what,
                                     const std::string &text, int64_t minimum,
                                     int64_t maximum) {
  errno = 0;
  char *end = nullptr;
  long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || errno == ERANGE || value < minimum ||
      value > maximum)
    return makeError(what, ": got '", text, "', expected an integer from ",
                     minimum, " to ", maximum);
  return static_cast<int64_t>(value);
}

Expected<std::string> sart::readTextFile(const std::string &what,
                                         const std::string &path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0)
    return makeError(what, ": got '", path, "' (", std::strerror(errno),
                     "), expected a readable file");
  if (!S_ISREG(info.st_mode))
    return makeError(what, ": got '", path,
                     "' (not a regular file), expected a readable file");
  constexpr int64_t limit = int64_t(1) << 30;
  if (info.st_size > limit)
    return makeError(what, " size of '", path, "': got ", info.st_size,
                     " bytes, expected at most ", limit);
  std::ifstream stream(path, std::ios::binary);
  std::string text(static_cast<size_t>(info.st_size), '\0');
  if (!stream || !stream.read(text.data(), info.st_size))
    return makeError(what, ": got '", path,
                     "' (cannot be read), expected a readable file");
  return text;
}

std::string sart::resolvedPath(const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path place = fs::absolute(path, ignored);
  // A link to a file that does not exist is followed by who creates it.
  for (int links = 0; links < 40 && fs::is_symlink(place, ignored); ++links)
    place = place.parent_path() / fs::read_symlink(place, ignored);
  std::string resolved = fs::weakly_canonical(place, ignored).string();
  return resolved.empty() ? path : resolved;
}

Status sart::checkWritable(const std::string &what, const std::string &path) {
  struct stat info;
  bool exists = stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return makeError(what, ": got '", path,
                     "' (a folder), expected a file name");
  // A pipe or a device is written as it is; a file is replaced.
  if (exists && !S_ISREG(info.st_mode)) {
    if (access(path.c_str(), W_OK) != 0)
      return makeError(what, ": got '", path, "' (", std::strerror(errno),
                       "), expected a writable path");
    return Status::success();
  }
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "."
                       : slash == 0               ? "/"
                                                  : path.substr(0, slash);
  if (stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return makeError(what, ": got '", path, "' (no folder '", folder,
                     "'), expected a path in an existing folder");
  if (access(folder.c_str(), W_OK) != 0)
    return makeError(what, ": got '", path, "' (folder '", folder,
                     "' is not writable), expected a writable folder");
  return Status::success();
}

int sart::finishOutput() {
  errno = 0;
  std::cout.flush();
  if (std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout.good())
    return 0;
  return reportError(makeError("stdout: got '",
                               errno ? std::strerror(errno) : "write error",
                               "', expected room for the output"));
}

int sart::runTool(const std::function<int()> &body) {
  // A write beyond the limit on file sizes is an error like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return reportError(makeError("memory: got an allocation that failed, "
                                 "expected enough for the tensors"));
  } catch (const std::length_error &) {
    return reportError(makeError("memory: got a size beyond the address space, "
                                 "expected enough for the tensors"));
  } catch (const std::exception &exception) {
    return reportError(makeError("internal error: got '", exception.what(),
                                 "', expected none"));
  }
}

int sart::reportError(const Status &status) {
  std::cout.flush();
  // At once: several processes may have one stderr.
  std::cerr << "error: " + status.message() + "\n";
  return 1;
}
