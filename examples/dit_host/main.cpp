//===- main.cpp - sparseattn-dit-host -------------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Denoiser.h"
#include "OutputFolder.h"
#include "Report.h"
#include "Support.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

using namespace dit;

namespace {

/// A line on the terminal that the next one replaces.
class StatusLine {
public:
  void show(const std::string &text) const {
    if (terminal)
      std::fprintf(stderr, "\r\033[K%s", text.c_str());
  }
  void clear() const { show(""); }

private:
  bool terminal = ::isatty(STDERR_FILENO) != 0;
};

void say(const std::string &text) {
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
    throw Error("stdout: got '" + std::string(std::strerror(errno)) +
                "', expected room for the output");
}

std::string number(int64_t value) { return std::to_string(value); }

std::string describe(const Options &options, const Latents &latents,
                     const std::string &path) {
  std::string grid = number(latents.grid[0]) + " x " + number(latents.grid[1]) +
                     " x " + number(latents.grid[2]);
  char p[32];
  std::snprintf(p, sizeof p, "%g", options.p);
  return "clip     " + path.substr(path.rfind('/') + 1) + ", " + grid + " = " +
         number(latents.tokens()) + " tokens in " + options.order +
         " order\nmodel    " + number(options.steps) + " steps x " +
         number(options.layers) + " layers, " + number(options.heads) +
         " heads x " + number(headDim) + ", " + options.dtype +
         (options.device == "cuda" ? " on a GPU" : "") + ", seed " +
         number(options.seed) +
         "; the projections stand in for a trained model's\nrouting  top-p " +
         p + ", at least " + number(options.minBlocks) + " blocks of " +
         number(options.blockQ) + "x" + number(options.blockK) +
         (options.denseSteps > 0
              ? "; dense at the first " + number(options.denseSteps) + " steps"
              : "") +
         "\nmesh     " + number(options.ranks) + " ranks (ulysses " +
         number(options.ulysses) + ", ring " + number(options.ring) +
         "), balance " + options.balance + "\n";
}

/// The clip that comes with the program.
std::string defaultLatents() {
  std::filesystem::path data = SPARSEATTN_DIT_DATA;
  std::error_code error;
  if (data.is_relative())
    data =
        (std::filesystem::read_symlink("/proc/self/exe", error).parent_path() /
         data)
            .lexically_normal();
  return (data / "big_buck_bunny.npy").string();
}

int runHost(int argc, char **argv) {
  Options options;
  std::string help;
  if (!parseOptions(argc, argv, options, help)) {
    say(help);
    return 0;
  }
  std::vector<std::string> names = {"report.json", "report.html", "trace.json",
                                    "plan.mlir", "program.mlir"};
  if (options.saveInputs)
    names.insert(names.end(), {"q.npy", "k.npy", "v.npy"});
  OutputFolder folder(options.out, names);
  std::string path =
      options.latents.empty() ? defaultLatents() : options.latents;
  Latents latents = readLatents(path);
  if (options.grid[0] > 0)
    latents = cropLatents(latents, options.grid);
  say(describe(options, latents, path));

  StatusLine status;
  status.show("compiling");
  Denoiser denoiser(options, latents);
  Progress progress;
  progress.compiled = [&](const Denoised &denoised) {
    status.clear();
    char text[128];
    std::snprintf(text, sizeof text, "compiled in %.0f ms",
                  denoised.info.jit_ms);
    say(text);
    if (denoised.rowsPerHead > 0)
      say("; comparing " +
          (denoised.rowsPerHead == denoised.info.sq
               ? std::string("all")
               : number(denoised.rowsPerHead) + " evenly spread") +
          " rows of every head with the reference");
    say("\n");
    if (!denoised.cacheProblem.empty())
      std::fprintf(stderr, "%s\n", denoised.cacheProblem.c_str());
  };
  progress.phase = [&](const char *phase, int64_t step, int64_t layer) {
    status.show("[" + number(step * options.layers + layer + 1) + "/" +
                number(options.steps * options.layers) + "] " + phase);
  };
  progress.layer = [&](const LayerRecord &record) {
    status.clear();
    say(layerText(record, options));
  };
  Denoised denoised = denoiser.run(progress);
  say(summaryText(denoised));

  std::string report =
      reportJson(denoised, options, latents.grid,
                 "denoising " + path.substr(path.rfind('/') + 1));
  folder.write("report.json", report);
  folder.write("report.html", reportPage(report));
  folder.write("trace.json", traceJson(denoised));
  folder.write("plan.mlir", denoised.plan);
  folder.write("program.mlir", denoised.program);
  std::string written = "report.json, report.html, trace.json, plan.mlir and "
                        "program.mlir";
  if (options.saveInputs) {
    std::string queries = denoiser.queriesFile();
    folder.write("q.npy", queries);
    folder.write("k.npy", queries);
    folder.write("v.npy", denoiser.valuesFile());
    written = "report.json, report.html, trace.json, plan.mlir, program.mlir, "
              "q.npy, k.npy and v.npy";
  }
  say("wrote " + written + " to " + folder.path() + "\n");
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  // A write beyond the limit on file sizes is an error like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return runHost(argc, argv);
  } catch (const Error &error) {
    std::fflush(stdout);
    std::fprintf(stderr, "error: %s\n", error.what());
  } catch (const std::bad_alloc &) {
    std::fflush(stdout);
    std::fprintf(stderr, "error: memory: got an allocation that failed, "
                         "expected enough for the arrays\n");
  } catch (const std::exception &error) {
    std::fflush(stdout);
    std::fprintf(stderr, "error: internal error: got '%s', expected none\n",
                 error.what());
  }
  return 1;
}
