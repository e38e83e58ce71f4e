//===- MachineFile.cpp - Machines as JSON ---------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonDocument.h"
#include "MachineUnits.h"
#include "sparseattn-rt/Machine.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

using namespace sart;
using Json = nlohmann::ordered_json;

namespace {

constexpr const char *formatName = "sparseattn machine";
constexpr int64_t formatVersion = 1;
constexpr Evidence evidences[] = {Evidence::Measured, Evidence::Datasheet,
                                  Evidence::Published, Evidence::Assumed};

/// A value of any kind in few words.
std::string shown(const Json &value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= 40 ? text : text.substr(0, 37) + "...";
}

std::string listed(std::initializer_list<const char *> names) {
  std::string text;
  for (const char *name : names)
    text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

/// Reads members and remembers the first thing that is wrong; what is read
/// after that means nothing.
class Reader {
public:
  Expected<Machine> read(const Json &root);

private:
  using Names = std::initializer_list<const char *>;
  void fail(Status status) {
    if (failure.ok())
      failure = std::move(status);
  }
  /// Whether `value` is an object with exactly these members.
  bool object(const Json &value, const std::string &place, Names names);
  std::string text(const Json &value, const std::string &place);
  int64_t integer(const Json &value, const std::string &place, int64_t least,
                  int64_t most);
  bool array(const Json &value, const std::string &place);
  MachineNumber number(const Json &outer, const std::string &place,
                       const char *member, double unit,
                       const MachineRange &range);
  void sources(const Json &value);
  void device(const Json &value);
  void kernel(const Json &value, const std::string &place);
  void link(const Json &value, const std::string &place);

  Machine machine;
  Status failure = Status::success();
};

bool Reader::object(const Json &value, const std::string &place, Names names) {
  std::string what = place.empty() ? "file" : place;
  std::string prefix = place.empty() ? "" : place + ".";
  if (!value.is_object()) {
    fail(makeError(what, ": got ", shown(value), ", expected an object"));
    return false;
  }
  for (const auto &[name, unused] : value.items())
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      fail(makeError("member of ", what, ": got '", name, "', expected ",
                     listed(names)));
      return false;
    }
  for (const char *name : names)
    if (!value.contains(name)) {
      fail(makeError(prefix, name, ": got none, expected one"));
      return false;
    }
  return true;
}

std::string Reader::text(const Json &value, const std::string &place) {
  if (value.is_string() && !value.get_ref<const std::string &>().empty())
    return value.get<std::string>();
  fail(makeError(place, ": got ", shown(value), ", expected a text"));
  return "";
}

int64_t Reader::integer(const Json &value, const std::string &place,
                        int64_t least, int64_t most) {
  if (value.is_number_integer() &&
      !(value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX))
    if (auto read = value.get<int64_t>(); read >= least && read <= most)
      return read;
  fail(makeError(place, ": got ", shown(value), ", expected an integer from ",
                 least, " to ", most));
  return least;
}

bool Reader::array(const Json &value, const std::string &place) {
  if (value.is_array())
    return true;
  fail(makeError(place, ": got ", shown(value), ", expected a list"));
  return false;
}

MachineNumber Reader::number(const Json &outer, const std::string &place,
                             const char *member, double unit,
                             const MachineRange &range) {
  MachineNumber result{range.least, 0};
  std::string here = place.empty() ? member : place + "." + member;
  const Json &value = outer.at(member);
  if (!object(value, here, {"value", "source"}))
    return result;
  double least = static_cast<double>(range.least) / unit,
         most = static_cast<double>(range.most) / unit;
  const Json &amount = value.at("value");
  double read = amount.is_number() ? amount.get<double>() : NAN;
  if (!(read >= least && read <= most)) {
    fail(makeError(here, ".value: got ", shown(amount),
                   ", expected a number from ", least, " to ", most));
    return result;
  }
  result.value =
      std::clamp<int64_t>(std::llround(read * unit), range.least, range.most);
  std::string name = text(value.at("source"), here + ".source");
  auto found =
      std::find_if(machine.sources.begin(), machine.sources.end(),
                   [&](const MachineSource &s) { return s.name == name; });
  if (found == machine.sources.end())
    fail(makeError(here, ".source: got '", name,
                   "', expected a member of sources"));
  else
    result.source = static_cast<int32_t>(found - machine.sources.begin());
  return result;
}

void Reader::sources(const Json &value) {
  if (!value.is_object())
    return fail(
        makeError("sources: got ", shown(value), ", expected an object"));
  for (const auto &[name, entry] : value.items()) {
    std::string place = "sources." + name;
    if (!object(entry, place, {"mark", "text"}))
      return;
    std::string mark = text(entry.at("mark"), place + ".mark");
    auto known = std::find_if(std::begin(evidences), std::end(evidences),
                              [&](Evidence e) { return toString(e) == mark; });
    if (known == std::end(evidences))
      return fail(makeError(place, ".mark: got '", mark,
                            "', expected measured, datasheet, published or "
                            "assumed"));
    machine.sources.push_back(
        {name, *known, text(entry.at("text"), place + ".text")});
  }
}

void Reader::kernel(const Json &value, const std::string &place) {
  if (!object(value, place,
              {"dtype", "block", "head_dim", "tile_ns", "row_ns"}))
    return;
  MachineKernel kernel;
  Expected<DType> dtype = parseDType(text(value.at("dtype"), place + ".dtype"));
  if (!dtype)
    return fail(makeError(place, ".dtype: ", dtype.message()));
  kernel.dtype = *dtype;
  const Json &block = value.at("block");
  if (!block.is_array() || block.size() != 2)
    return fail(
        makeError(place, ".block: got ", shown(block), ", expected [q, k]"));
  kernel.blockQ = integer(block[0], place + ".block[0]", 16, 128);
  kernel.blockK = integer(block[1], place + ".block[1]", 16, 128);
  kernel.headDim = integer(value.at("head_dim"), place + ".head_dim", 32, 256);
  kernel.tilePs = number(value, place, "tile_ns", perNs, positiveTimeRange);
  kernel.rowPs = number(value, place, "row_ns", perNs, timeRange);
  machine.device.kernels.push_back(kernel);
}

void Reader::device(const Json &value) {
  if (!object(value, "device",
              {"name", "ranks", "multiprocessors", "memory_gb_per_s",
               "launch_us", "score_ns", "kernels"}))
    return;
  MachineDevice &device = machine.device;
  device.name = text(value.at("name"), "device.name");
  device.ranks = integer(value.at("ranks"), "device.ranks", 1, maxRanks);
  device.multiprocessors =
      number(value, "device", "multiprocessors", perCount, countRange);
  device.memoryBytesPerS =
      number(value, "device", "memory_gb_per_s", perGbPerS, rateRange);
  device.launchPs = number(value, "device", "launch_us", perUs, timeRange);
  device.scorePs = number(value, "device", "score_ns", perNs, timeRange);
  const Json &kernels = value.at("kernels");
  if (!array(kernels, "device.kernels"))
    return;
  for (size_t i = 0; i < kernels.size() && failure.ok(); ++i)
    kernel(kernels[i], concat("device.kernels[", i, "]"));
}

void Reader::link(const Json &value, const std::string &place) {
  if (!object(value, place, {"name", "ranks", "gb_per_s", "latency_us"}))
    return;
  MachineLink link;
  link.name = text(value.at("name"), place + ".name");
  link.ranks = integer(value.at("ranks"), place + ".ranks", 2, maxRanks);
  link.bytesPerS = number(value, place, "gb_per_s", perGbPerS, rateRange);
  link.latencyPs = number(value, place, "latency_us", perUs, timeRange);
  machine.links.push_back(link);
}

Expected<Machine> Reader::read(const Json &root) {
  if (!object(root, "",
              {"format", "version", "name", "sources", "device", "planning_us",
               "sync_us", "ports", "links"}))
    return failure;
  if (root.at("format") != formatName)
    return makeError("format: got ", shown(root.at("format")), ", expected \"",
                     formatName, "\"");
  if (root.at("version") != formatVersion)
    return makeError("version: got ", shown(root.at("version")), ", expected ",
                     formatVersion);
  machine.name = text(root.at("name"), "name");
  sources(root.at("sources"));
  SART_RETURN_IF_ERROR(failure);
  device(root.at("device"));
  SART_RETURN_IF_ERROR(failure);
  machine.planPs = number(root, "", "planning_us", perUs, timeRange);
  machine.syncPs = number(root, "", "sync_us", perUs, timeRange);
  const Json &ports = root.at("ports");
  if (ports != "one" && ports != "one per link")
    fail(makeError("ports: got ", shown(ports),
                   ", expected \"one\" or \"one per link\""));
  machine.portPerLink = ports == "one per link";
  const Json &links = root.at("links");
  if (array(links, "links"))
    for (size_t i = 0; i < links.size() && failure.ok(); ++i)
      link(links[i], concat("links[", i, "]"));
  SART_RETURN_IF_ERROR(failure);
  SART_RETURN_IF_ERROR(machine.verify());
  return std::move(machine);
}

/// Writes numbers with their sources.
class Writer {
public:
  explicit Writer(const Machine &machine) : machine(machine) {}

  Json write() const {
    Json root = {{"format", formatName},
                 {"version", formatVersion},
                 {"name", machine.name}};
    root["sources"] = Json::object();
    for (const MachineSource &source : machine.sources)
      root["sources"][source.name] = {{"mark", toString(source.evidence)},
                                      {"text", source.text}};
    root["device"] = device();
    root["planning_us"] = number(machine.planPs, perUs);
    root["sync_us"] = number(machine.syncPs, perUs);
    root["ports"] = machine.portPerLink ? "one per link" : "one";
    root["links"] = Json::array();
    for (const MachineLink &link : machine.links)
      root["links"].push_back({{"name", link.name},
                               {"ranks", link.ranks},
                               {"gb_per_s", number(link.bytesPerS, perGbPerS)},
                               {"latency_us", number(link.latencyPs, perUs)}});
    return root;
  }

private:
  Json number(const MachineNumber &number, double unit) const {
    const std::string &source =
        machine.sources[static_cast<size_t>(number.source)].name;
    Json value = static_cast<double>(number.value) / unit;
    if (number.value % static_cast<int64_t>(unit) == 0)
      value = number.value / static_cast<int64_t>(unit);
    return {{"value", value}, {"source", source}};
  }
  Json device() const {
    const MachineDevice &device = machine.device;
    Json result = {
        {"name", device.name},
        {"ranks", device.ranks},
        {"multiprocessors", number(device.multiprocessors, perCount)},
        {"memory_gb_per_s", number(device.memoryBytesPerS, perGbPerS)},
        {"launch_us", number(device.launchPs, perUs)},
        {"score_ns", number(device.scorePs, perNs)}};
    result["kernels"] = Json::array();
    for (const MachineKernel &kernel : device.kernels)
      result["kernels"].push_back({{"dtype", toString(kernel.dtype)},
                                   {"block", {kernel.blockQ, kernel.blockK}},
                                   {"head_dim", kernel.headDim},
                                   {"tile_ns", number(kernel.tilePs, perNs)},
                                   {"row_ns", number(kernel.rowPs, perNs)}});
    return result;
  }

  const Machine &machine;
};

} // namespace

Expected<Machine> Machine::parse(std::string_view text) {
  constexpr size_t most = 1 << 20;
  if (text.size() > most)
    return makeError("bytes of the file: got ", text.size(),
                     ", expected at most ", most);
  Expected<Json> root = parseJson(text);
  if (!root)
    return root.status();
  return Reader().read(*root);
}

std::string Machine::text() const {
  return Writer(*this).write().dump(1, ' ', false,
                                    Json::error_handler_t::replace) +
         "\n";
}
