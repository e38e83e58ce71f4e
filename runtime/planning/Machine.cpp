//===- Machine.cpp - What a machine costs ---------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sparseattn-rt/Machine.h"
#include "MachineUnits.h"
#include "sparseattn-rt/CheckedMath.h"

#include <algorithm>
#include <tuple>

using namespace sart;

namespace {

__extension__ typedef __int128 Wide;

constexpr int64_t psPerS = 1000000000000;

int64_t saturated(Wide value) {
  return value > INT64_MAX ? INT64_MAX : static_cast<int64_t>(value);
}

/// value * numerator / denominator, rounded to the nearest integer.
int64_t scaled(int64_t value, int64_t numerator, int64_t denominator) {
  return saturated((Wide(value) * numerator + denominator / 2) / denominator);
}

int64_t timeAt(int64_t bytes, int64_t bytesPerS) {
  return saturated((Wide(bytes) * psPerS + bytesPerS - 1) / bytesPerS);
}

/// How far a kernel is from a shape; smaller is nearer.
auto distanceOf(const MachineKernel &kernel, const LayerShape &shape) {
  int64_t tile = kernel.blockQ * kernel.blockK,
          wanted = shape.blockQ * shape.blockK;
  return std::make_tuple(kernel.dtype != shape.dtype,
                         byteSize(kernel.dtype) != byteSize(shape.dtype),
                         std::abs(kernel.headDim - shape.headDim),
                         std::max(tile, wanted) / std::min(tile, wanted),
                         std::abs(kernel.blockQ - shape.blockQ));
}

Status checkNumber(const std::string &what, const MachineNumber &number,
                   const MachineRange &range, size_t sources) {
  if (number.value < range.least || number.value > range.most)
    return makeError(what, " out of range: got ", number.value, ", expected ",
                     range.least, " to ", range.most, range.unit);
  if (number.source < 0 || static_cast<size_t>(number.source) >= sources)
    return makeError("source of ", what, " out of range: got ", number.source,
                     ", expected 0 to ", static_cast<int64_t>(sources) - 1);
  return Status::success();
}

} // namespace

std::string_view sart::toString(Evidence evidence) {
  switch (evidence) {
  case Evidence::Measured:
    return "measured";
  case Evidence::Datasheet:
    return "datasheet";
  case Evidence::Published:
    return "published";
  case Evidence::Assumed:
    return "assumed";
  }
  return "unknown";
}

size_t Machine::levelOf(int64_t a, int64_t b) const {
  size_t level = 0;
  while (level + 1 < links.size() &&
         a / links[level].ranks != b / links[level].ranks)
    ++level;
  return level;
}

KernelCost Machine::kernelOf(const LayerShape &shape) const {
  const MachineKernel &kernel =
      *std::min_element(device.kernels.begin(), device.kernels.end(),
                        [&](const MachineKernel &a, const MachineKernel &b) {
                          return distanceOf(a, shape) < distanceOf(b, shape);
                        });
  KernelCost cost;
  cost.kernel = kernel;
  cost.exact = kernel.dtype == shape.dtype && kernel.blockQ == shape.blockQ &&
               kernel.blockK == shape.blockK && kernel.headDim == shape.headDim;
  int64_t row = shape.blockQ * shape.headDim,
          kernelRow = kernel.blockQ * kernel.headDim;
  cost.tilePs =
      std::max<int64_t>(scaled(kernel.tilePs.value, row * shape.blockK,
                               kernelRow * kernel.blockK),
                        1);
  cost.rowPs = scaled(kernel.rowPs.value, row, kernelRow);
  return cost;
}

CostModel Machine::costModel(const Placement &placement) const {
  KernelCost kernel = kernelOf(placement.shape);
  CostModel model;
  // The planner's own bound of any cost.
  constexpr int64_t most = int64_t(1) << 40;
  model.tilePs = std::min(kernel.tilePs, most);
  model.rowPs = std::min(kernel.rowPs, most);
  if (placement.mesh.ulysses > 1 && !links.empty()) {
    const MachineLink &link =
        links[levelOf(0, std::min(placement.mesh.ulysses, ranks()) - 1)];
    model.transferPs = std::min(
        saturatingAdd(link.latencyPs.value, device.launchPs.value), most);
    model.bytePs = std::clamp<int64_t>(
        (psPerS + link.bytesPerS.value / 2) / link.bytesPerS.value, 1, most);
  }
  model.scheduleNs = std::min(
      saturatingAdd(saturatingAdd(planPs.value, syncPs.value), 999) / 1000,
      most);
  return model;
}

int64_t Machine::transferPs(int64_t bytes, size_t level) const {
  return timeAt(bytes, links[level].bytesPerS.value);
}

int64_t Machine::memoryPs(int64_t bytes) const {
  return timeAt(bytes, device.memoryBytesPerS.value);
}

Machine Machine::withLinkRate(int64_t milli) const {
  Machine other = *this;
  for (MachineLink &link : other.links)
    link.bytesPerS.value =
        std::clamp<int64_t>(scaled(link.bytesPerS.value, milli, 1000),
                            rateRange.least, rateRange.most);
  return other;
}

static Status verifyKernels(const MachineDevice &device, size_t sources) {
  if (device.kernels.empty())
    return Status::error("kernels: got none, expected at least one");
  for (size_t i = 0; i < device.kernels.size(); ++i) {
    const MachineKernel &kernel = device.kernels[i];
    std::string place = concat("kernels[", i, "]");
    LayerShape shape;
    shape.blockQ = kernel.blockQ;
    shape.blockK = kernel.blockK;
    shape.headDim = kernel.headDim;
    shape.dtype = kernel.dtype;
    if (Status status = shape.verify(); !status.ok())
      return makeError(place, ": ", status.message());
    SART_RETURN_IF_ERROR(checkNumber(place + ".tile_ns", kernel.tilePs,
                                     positiveTimeRange, sources));
    SART_RETURN_IF_ERROR(
        checkNumber(place + ".row_ns", kernel.rowPs, timeRange, sources));
    auto key = [](const MachineKernel &k) {
      return std::make_tuple(k.dtype, k.blockQ, k.blockK, k.headDim);
    };
    for (size_t j = 0; j < i; ++j)
      if (key(device.kernels[j]) == key(kernel))
        return makeError(place, ": got the combination of kernels[", j,
                         "], expected another one");
  }
  return Status::success();
}

static Status verifyLinks(const Machine &machine) {
  int64_t inner = 1;
  for (size_t i = 0; i < machine.links.size(); ++i) {
    const MachineLink &link = machine.links[i];
    std::string place = concat("links[", i, "]");
    if (link.name.empty())
      return makeError(place, ".name: got none, expected one");
    if (link.ranks <= inner || link.ranks % inner != 0 || link.ranks > maxRanks)
      return makeError(place, ".ranks: got ", link.ranks,
                       ", expected a multiple of ", inner, " from ", 2 * inner,
                       " to ", maxRanks);
    inner = link.ranks;
    SART_RETURN_IF_ERROR(checkNumber(place + ".gb_per_s", link.bytesPerS,
                                     rateRange, machine.sources.size()));
    SART_RETURN_IF_ERROR(checkNumber(place + ".latency_us", link.latencyPs,
                                     timeRange, machine.sources.size()));
  }
  return Status::success();
}

Status Machine::verify() const {
  if (name.empty() || device.name.empty())
    return makeError(name.empty() ? "name" : "device.name",
                     ": got none, expected one");
  if (device.ranks < 1 || device.ranks > maxRanks)
    return makeError("device.ranks out of range: got ", device.ranks,
                     ", expected 1 to ", maxRanks);
  for (auto [what, number, range] :
       {std::tuple<const char *, const MachineNumber &, const MachineRange &>{
            "device.multiprocessors", device.multiprocessors, countRange},
        {"device.memory_gb_per_s", device.memoryBytesPerS, rateRange},
        {"device.launch_us", device.launchPs, timeRange},
        {"device.score_ns", device.scorePs, timeRange},
        {"planning_us", planPs, timeRange},
        {"sync_us", syncPs, timeRange}})
    SART_RETURN_IF_ERROR(checkNumber(what, number, range, sources.size()));
  SART_RETURN_IF_ERROR(verifyKernels(device, sources.size()));
  return verifyLinks(*this);
}
