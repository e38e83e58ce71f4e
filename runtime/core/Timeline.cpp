//===- Timeline.cpp - A bound program in virtual time ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sparseattn-rt/Timeline.h"
#include "TimelineRun.h"

#include <algorithm>

using namespace sart;

std::string_view sart::toString(Cause cause) {
  switch (cause) {
  case Cause::Start:
    return "start";
  case Cause::Order:
    return "order";
  case Cause::Meet:
    return "meet";
  case Cause::Port:
    return "port";
  case Cause::Device:
    return "device";
  }
  return "unknown";
}

int64_t Timeline::rankOf(int32_t step) const {
  return std::upper_bound(first.begin(), first.end(), step) - first.begin() - 1;
}

Expected<Timeline> sart::simulate(const Program &bound,
                                  const Machine &machine) {
  if (Status status = machine.verify(); !status.ok())
    return makeError("machine: ", status.message());
  ValidatorOptions options;
  options.coverage = false;
  std::vector<Violation> violations = validateBound(bound, options);
  if (!violations.empty())
    return makeError("program: ", violations.front().toString());
  auto ranks = static_cast<int64_t>(bound.ranks.size());
  if (ranks > machine.ranks())
    return makeError("ranks of the program: got ", ranks, ", expected at most ",
                     machine.ranks(), " of the machine '", machine.name, "'");
  ValidatorContext context(bound, options);
  checkHeader(context);
  Schedule schedule;
  matchSchedule(context, schedule);
  TimelineRun run(context, schedule, machine);
  SART_RETURN_IF_ERROR(run.run());
  return std::move(run.timeline);
}
