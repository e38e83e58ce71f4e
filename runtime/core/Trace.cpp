//===- Trace.cpp - Runs as Perfetto trace events --------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Stats.h"

#include <algorithm>
#include <cstdio>
#include <map>

using namespace sart;

static std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20) {
      char code[8];
      std::snprintf(code, sizeof(code), "\\u%04x", byte);
      result += code;
    } else {
      result += c;
    }
  }
  return result + "\"";
}

/// Trace events count microseconds; three decimals keep the nanoseconds. Not
/// through a double, which would round after a few hours.
static std::string microseconds(int64_t ns) {
  char text[40];
  bool negative = ns < 0;
  auto magnitude =
      negative ? -static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  std::snprintf(text, sizeof(text), "%s%llu.%03llu", negative ? "-" : "",
                static_cast<unsigned long long>(magnitude / 1000),
                static_cast<unsigned long long>(magnitude % 1000));
  return text;
}

static std::string slice(const std::string &name, const std::string &category,
                         int64_t rank, int64_t beginNs, int64_t endNs,
                         const std::string &arguments) {
  return concat("{\"name\":", quoted(name), ",\"cat\":", quoted(category),
                ",\"ph\":\"X\",\"pid\":0,\"tid\":", rank,
                ",\"ts\":", microseconds(beginNs),
                ",\"dur\":", microseconds(endNs - beginNs), ",\"args\":{",
                arguments, "}}");
}

std::string sart::toTraceEvents(const RunStats &stats, const std::string &label,
                                int64_t offsetNs) {
  struct Span {
    int64_t begin, end;
  };
  std::map<int64_t, Span> spans;
  for (const TraceEvent &event : stats.events) {
    auto [span, isNew] =
        spans.insert({event.rank, {event.beginNs, event.endNs}});
    span->second.begin = std::min(span->second.begin, event.beginNs);
    span->second.end = std::max(span->second.end, event.endNs);
    (void)isNew;
  }
  std::string result;
  auto add = [&](const std::string &event) {
    if (!result.empty())
      result += ",\n";
    result += event;
  };
  for (const auto &[rank, span] : spans) {
    add(concat("{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":0,\"tid\":",
               rank, ",\"args\":{\"name\":\"rank ", rank, "\"}}"));
    // Encloses the rank's instructions.
    add(slice(label, "run", rank, span.begin + offsetNs, span.end + offsetNs,
              concat("\"density\":", stats.density, ",\"rho_before\":",
                     stats.rhoBefore, ",\"rho_after\":", stats.rhoAfter)));
  }
  for (const TraceEvent &event : stats.events) {
    std::string arguments = concat("\"phase\":", event.phase,
                                   ",\"instruction\":", event.instruction);
    if (event.bytes > 0)
      arguments += concat(",\"bytes\":", event.bytes);
    if (event.tiles > 0)
      arguments += concat(",\"tiles\":", event.tiles);
    add(slice(event.name, concat("phase ", event.phase), event.rank,
              event.beginNs + offsetNs, event.endNs + offsetNs, arguments));
  }
  return result;
}
