//===- Options.cpp - Command line of sparseattn-dit-host ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Options.h"

#include "Support.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <set>
#include <vector>

using namespace dit;

namespace {

constexpr int64_t maxRanks = 64;

int64_t parseInteger(const std::string &what, const std::string &text,
                     int64_t low, int64_t high) {
  errno = 0;
  char *end = nullptr;
  long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || errno == ERANGE || value < low ||
      value > high)
    fail(what, "'" + text + "'",
         "an integer from " + std::to_string(low) + " to " +
             std::to_string(high));
  return value;
}

/// A number above `low` and at most `high`, or below it when `open`.
double parseNumber(const std::string &what, const std::string &text, double low,
                   double high, bool open) {
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value > low) ||
      !(open ? value < high : value <= high)) {
    std::ostringstream range;
    range << "a number above " << low << " and "
          << (open ? "below " : "at most ") << high;
    fail(what, "'" + text + "'", range.str());
  }
  return value;
}

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// "AxB" or "AxBxC".
void parseSizes(const std::string &what, const std::string &text,
                const std::string &form, int64_t low, int64_t high,
                int64_t *sizes, size_t count) {
  std::vector<std::string> parts = split(text, 'x');
  if (parts.size() != count)
    fail(what, "'" + text + "'", form);
  for (size_t i = 0; i < count; ++i)
    sizes[i] = parseInteger(what, parts[i], low, high);
}

struct Mesh {
  int64_t ulysses = 0, ring = 0; ///< 0: not given
};

Mesh parseMesh(const std::string &text) {
  Mesh mesh;
  for (const std::string &part : split(text, ',')) {
    std::vector<std::string> sides = split(part, '=');
    bool known =
        sides.size() == 2 && (sides[0] == "ulysses" || sides[0] == "ring");
    if (!known)
      fail("--mesh", "'" + text + "'", "ulysses=U,ring=R");
    int64_t &axis = sides[0] == "ring" ? mesh.ring : mesh.ulysses;
    if (axis != 0)
      fail("--mesh", "'" + text + "'", "each axis once");
    axis = parseInteger("--mesh " + sides[0], sides[1], 1, maxRanks);
  }
  mesh.ulysses = std::max<int64_t>(mesh.ulysses, 1);
  mesh.ring = std::max<int64_t>(mesh.ring, 1);
  return mesh;
}

std::string parseChoice(const std::string &what, const std::string &text,
                        const std::vector<std::string> &choices) {
  if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
    std::string expected;
    for (const std::string &choice : choices)
      expected += (expected.empty() ? "" : ", ") + choice;
    fail(what, "'" + text + "'", "one of " + expected);
  }
  return text;
}

/// A kind, or "tiles<t=2,h=4>", whose numbers go to `tiles`.
std::string parseOrder(const std::string &what, const std::string &text,
                       std::array<int64_t, 2> &tiles) {
  size_t comma = text.find(",h=");
  if (text.rfind("tiles<t=", 0) != 0 || comma == std::string::npos ||
      text.back() != '>')
    return parseChoice(
        what, text,
        {"raster", "cubes", "hilbert", "stripes", "tiles<t=N,h=N>"});
  tiles[0] = parseInteger(what + " t", text.substr(8, comma - 8), 1, maxRanks);
  tiles[1] =
      parseInteger(what + " h", text.substr(comma + 3, text.size() - comma - 4),
                   1, maxRanks);
  return text;
}

const char *const helpText =
    R"(usage: sparseattn-dit-host [options]

Denoises the latents of a real clip with a small video DiT: at every step and
layer, attention is routed, planned, balanced and run over several ranks.
Writes report.json, report.html (the same as a page), trace.json (Perfetto),
plan.mlir and program.mlir; the last two are those of the last step and layer.

  --out DIR             folder to write into (default: build/quickstart)
  --save-inputs         also write q.npy, k.npy and v.npy, of the last step and
                        layer, tokens in order
  --latents F.npy       latents from make_latents.py (default: Big Buck Bunny's)
  --grid TxHxW          take the middle of the latents alone (default: all)
  --steps N             steps of the schedule (default: 4)
  --layers N            layers at each step (default: 2)
  --heads N             heads of 128 elements (default: 12)
  --seed N              seed of the noise and the projections (default: 1)
  --sigma X             noise level at the start, below 1 (default: 0.65)
  --shift X             shift of the schedule (default: 8)

  --p X                 softmax mass that routing keeps (default: 0.9)
  --min-blocks N        kv-blocks that it keeps at least (default: 12)
  --order NAME          raster, cubes, hilbert, stripes or tiles<t=N,h=N>
                        (default: hilbert)
  --block QxK           tokens of a block (default: 128x128)
  --device NAME         cpu or cuda (default: cpu)
  --dtype NAME          fp32, bf16 or fp16 (default: fp32, on cuda bf16)
  --dense               attend densely at every step
  --dense-steps N       attend densely at the first N steps (default: 0)

  --ranks N             ranks, as threads (default: 4)
  --mesh ulysses=U,ring=R
                        how the ranks are laid out (default: all Ulysses)
  --balance NAME        none, swap (whole heads after routing), split (rows of
                        heads after routing) or pre (heads, planned before they
                        are exchanged) (default: swap)
  --repair              let rows even out what --balance pre leaves
  --augment             fill the slack of ranks with next-best tiles
  --threads N           threads (default: one for each core)
  --cache-dir DIR       where compiled kernels are kept, none: nowhere (default:
                        $XDG_CACHE_HOME/sparseattn or $HOME/.cache/sparseattn)

  --check[=full]        also prove that every program computes every tile once;
                        full: compare all rows with the reference, not a sample
  --no-check            compare with nothing, dense attention included
  --help                print this
)";

} // namespace

bool dit::parseOptions(int argc, char **argv, Options &options,
                       std::string &help) {
  bool ranksGiven = false, dtypeGiven = false;
  bool sampled = false, unchecked = false; ///< --check, --no-check
  std::set<std::string> seen;
  bool dense = false;
  std::string meshText;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      help = helpText;
      return false;
    }
    std::string given = argument.substr(0, argument.find('='));
    if (!seen.insert(given).second)
      fail(given, "it twice", "once");
    if (argument == "--dense") {
      dense = true;
      continue;
    }
    if (argument == "--repair" || argument == "--augment") {
      (argument == "--repair" ? options.repair : options.augment) = true;
      continue;
    }
    if (argument == "--save-inputs") {
      options.saveInputs = true;
      continue;
    }
    if (argument == "--no-check") {
      unchecked = true;
      options.check = Check::None;
      continue;
    }
    if (argument == "--check" || argument == "--check=full") {
      sampled = true;
      options.verify = true;
      options.check = argument == "--check" ? Check::Sample : Check::Full;
      continue;
    }
    size_t equals = argument.find('=');
    std::string name = argument.substr(0, equals);
    static const std::vector<std::string> known = {
        "--out",       "--latents", "--grid",       "--steps",
        "--layers",    "--heads",   "--seed",       "--sigma",
        "--shift",     "--p",       "--order",      "--block",
        "--dtype",     "--ranks",   "--mesh",       "--check",
        "--balance",   "--threads", "--min-blocks", "--dense-steps",
        "--cache-dir", "--device"};
    if (std::find(known.begin(), known.end(), name) == known.end())
      fail("option", "'" + argument + "'", "one that --help lists");
    std::string value;
    if (equals != std::string::npos)
      value = argument.substr(equals + 1);
    else if (++i < argc)
      value = argv[i];
    else
      fail(name, "no value", "one after it");

    if (name == "--out") {
      if (value.empty())
        fail(name, "''", "a folder");
      options.out = value;
    } else if (name == "--latents") {
      if (value.empty())
        fail(name, "''", "a file");
      options.latents = value;
    } else if (name == "--grid") {
      parseSizes(name, value, "TxHxW, for example 3x10x16", 1, 1 << 20,
                 options.grid.data(), 3);
    } else if (name == "--steps") {
      options.steps = parseInteger(name, value, 1, 1000);
    } else if (name == "--layers") {
      options.layers = parseInteger(name, value, 1, 64);
    } else if (name == "--heads") {
      options.heads = parseInteger(name, value, 1, 64);
    } else if (name == "--seed") {
      options.seed = parseInteger(name, value, 0, INT64_MAX);
    } else if (name == "--sigma") {
      options.sigma = parseNumber(name, value, 0, 1, true);
    } else if (name == "--shift") {
      options.shift = parseNumber(name, value, 0, 1000, false);
    } else if (name == "--p") {
      options.p = parseNumber(name, value, 0, 1, false);
    } else if (name == "--min-blocks") {
      options.minBlocks = parseInteger(name, value, 1, 1 << 20);
    } else if (name == "--order") {
      options.order = parseOrder(name, value, options.tiles);
    } else if (name == "--block") {
      int64_t sizes[2];
      parseSizes(name, value, "QxK, for example 128x128", 16, 128, sizes, 2);
      options.blockQ = sizes[0];
      options.blockK = sizes[1];
    } else if (name == "--dtype") {
      options.dtype = parseChoice(name, value, {"fp32", "bf16", "fp16"});
      dtypeGiven = true;
    } else if (name == "--device") {
      options.device = parseChoice(name, value, {"cpu", "cuda"});
    } else if (name == "--dense-steps") {
      options.denseSteps = parseInteger(name, value, 0, 1000);
    } else if (name == "--ranks") {
      options.ranks = parseInteger(name, value, 1, maxRanks);
      ranksGiven = true;
    } else if (name == "--mesh") {
      meshText = value;
    } else if (name == "--balance") {
      options.balance =
          parseChoice(name, value, {"none", "swap", "split", "pre"});
    } else if (name == "--threads") {
      options.threads = parseInteger(name, value, 1, 1024);
    } else if (name == "--cache-dir") {
      options.cacheDir = value == "none" ? "" : value;
    } else {
      fail(name, "'" + value + "'", "full, or no value");
    }
  }
  if (options.device == "cuda" && !dtypeGiven)
    options.dtype = "bf16";
  // Said here too: a machine without a GPU would hide it.
  if (options.device == "cuda" && options.dtype == "fp32")
    fail("--dtype", "'fp32' with --device cuda", "bf16 or fp16");
  auto isServed = [](int64_t block) { return block == 64 || block == 128; };
  if (options.device == "cuda" &&
      !(isServed(options.blockQ) && isServed(options.blockK)))
    fail("--block",
         std::to_string(options.blockQ) + "x" + std::to_string(options.blockK) +
             " with --device cuda",
         "128x128, 128x64, 64x128 or 64x64");
  if (options.repair && options.balance != "pre")
    fail("--repair", "it with --balance " + options.balance, "--balance pre");
  if (options.augment && options.balance == "pre")
    fail("--augment", "it with --balance pre", "another balance");
  if (sampled && unchecked)
    fail("--check", "it with --no-check", "one of them");
  options.ulysses = options.ranks;
  options.ring = 1;
  if (!meshText.empty()) {
    Mesh mesh = parseMesh(meshText);
    options.ulysses = mesh.ulysses;
    options.ring = mesh.ring;
    int64_t product = mesh.ulysses * mesh.ring;
    if (ranksGiven && product != options.ranks)
      fail("--mesh " + meshText + " must multiply to --ranks", product,
           options.ranks);
    if (product > maxRanks)
      fail("ranks of --mesh " + meshText, product,
           "at most " + std::to_string(maxRanks));
    options.ranks = product;
  }
  if (dense)
    options.denseSteps = options.steps;
  return true;
}
