//===- Launch.cpp - Starts one process for each rank ----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Launch.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace sart;

bool sart::isLaunched() {
  // Open MPI, and launchers that speak PMI or PMIx.
  for (const char *name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (std::getenv(name))
      return true;
  return false;
}

/// This program's file: a name from PATH need not lead back to it.
static std::string ownFile(const char *name) {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 && length < static_cast<ssize_t>(sizeof path)
             ? std::string(path, static_cast<size_t>(length))
             : std::string(name);
}

Status
sart::launchByMpi(const CommandOptions &options, char **argv,
                  const std::function<Expected<int64_t>()> &ranksOfLayer) {
  int64_t ranks = options.ulysses * options.ring;
  if (ranks == 0) {
    auto found = ranksOfLayer();
    if (!found)
      return found.status();
    ranks = *found;
  }
  // All processes share this machine's cores.
  std::vector<std::string> words = {
      "mpirun", "-q",  "--oversubscribe",    "--bind-to",
      "none",   "-np", std::to_string(ranks)};
  if (geteuid() == 0)
    words.emplace_back("--allow-run-as-root");
  words.push_back(ownFile(argv[0]));
  for (char **argument = argv + 1; *argument; ++argument)
    words.emplace_back(*argument);
  if (options.threads == 0) {
    auto cores = static_cast<int64_t>(std::thread::hardware_concurrency());
    words.push_back("--threads=" +
                    std::to_string(std::max<int64_t>(1, cores / ranks)));
  }
  // Copies from process to process need rights that containers may lack, and
  // complain then.
  setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", /*overwrite=*/0);
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  execvp(arguments[0], arguments.data());
  return makeError("transport mpi: got '", std::strerror(errno),
                   "' for mpirun, expected Open MPI's launcher on PATH");
}
