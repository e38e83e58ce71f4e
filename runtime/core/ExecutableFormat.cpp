//===- ExecutableFormat.cpp - Executables to bytes and back ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A content header ("SAEXEC"), then
//
//   u32:kernels { text:name i64:scratch i64:scratch per kv-block
//                 u8:launch? { text:entry i32:threads i32:shared bytes
//                              u8:persistent i32:tiles per CTA i32:tile rows
//                              i32:q box rows i32:kv box rows i32:box columns
//                            } }
//   text:binary
//
// where a text is its length in 32 bits and its bytes.
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Executable.h"

#include "ByteReader.h"
#include "ByteWriter.h"
#include "ContentHeader.h"

#include <iterator>
#include <set>

using namespace sart;

static constexpr ContentHeader executableHeader = {"executable", "SAEXEC", 2};

/// The numbers of a launch in the order of their bytes, and what devices of
/// today take. `persistent` stands before the tiles.
namespace {
struct LaunchField {
  const char *what;
  int32_t DeviceLaunch::*member;
  int32_t least, most;
};
} // namespace
static constexpr LaunchField launchFields[] = {
    {"threads", &DeviceLaunch::threads, 1, 1024},
    {"shared bytes", &DeviceLaunch::sharedBytes, 0, 1 << 20},
    {"tiles per CTA", &DeviceLaunch::tilesPerCta, 1, 64},
    {"tile rows", &DeviceLaunch::tileRows, 0, 1024},
    {"q box rows", &DeviceLaunch::qBoxRows, 0, 256},
    {"kv box rows", &DeviceLaunch::kvBoxRows, 0, 256},
    {"box columns", &DeviceLaunch::boxCols, 0, 256},
};
static constexpr size_t fieldsBeforePersistent = 2;

static void writeLaunch(ByteWriter &out, const DeviceLaunch &launch) {
  out.text(launch.entry);
  for (size_t i = 0; i < std::size(launchFields); ++i) {
    if (i == fieldsBeforePersistent)
      out.boolean(launch.persistent);
    out.i32(launch.*launchFields[i].member);
  }
}

static DeviceLaunch readLaunch(ByteReader &in) {
  DeviceLaunch launch;
  size_t at = in.offset();
  launch.entry = in.text("entry characters");
  // A driver takes the name as a C string.
  if (in.ok() &&
      (launch.entry.empty() || launch.entry.find('\0') != std::string::npos))
    in.fail(makeError("entry of a launch at offset ", at, ": got '",
                      launch.entry.c_str(),
                      "', expected a name of a function "
                      "without zero characters"));
  for (size_t i = 0; i < std::size(launchFields); ++i) {
    if (i == fieldsBeforePersistent)
      launch.persistent = in.boolean("persistence of a launch");
    const LaunchField &field = launchFields[i];
    at = in.offset();
    int32_t value = in.i32();
    if (in.ok() && (value < field.least || value > field.most))
      in.fail(makeError(field.what, " of a launch at offset ", at,
                        " out of range: got ", value, ", expected ",
                        field.least, " to ", field.most));
    launch.*field.member = value;
  }
  return launch;
}

std::vector<uint8_t> sart::serialize(const Executable &executable) {
  std::vector<uint8_t> body;
  ByteWriter out(body);
  out.count(executable.kernels.size());
  for (const ExecutableKernel &kernel : executable.kernels) {
    out.text(kernel.name);
    out.i64(kernel.scratchBytes);
    out.i64(kernel.scratchBytesPerKvBlock);
    out.boolean(kernel.launch.has_value());
    if (kernel.launch)
      writeLaunch(out, *kernel.launch);
  }
  out.text(executable.binary);
  return withContentHeader(executableHeader, body);
}

static int64_t readScratch(ByteReader &in) {
  constexpr int64_t most = int64_t(1) << 40;
  size_t at = in.offset();
  int64_t bytes = in.i64();
  if (bytes < 0 || bytes > most)
    in.fail(makeError("scratch bytes at offset ", at, " out of range: got ",
                      bytes, ", expected 0 to ", most));
  return bytes;
}

Expected<Executable> sart::deserializeExecutable(const uint8_t *bytes,
                                                 size_t size) {
  SART_RETURN_IF_ERROR(checkContentHeader(executableHeader, bytes, size));
  ByteReader in("executable", bytes + contentHeaderBytes,
                size - contentHeaderBytes);
  Executable executable;
  std::set<std::string> names;
  executable.kernels.resize(in.count("kernels", 21));
  for (ExecutableKernel &kernel : executable.kernels) {
    size_t at = in.offset();
    kernel.name = in.text("name characters");
    kernel.scratchBytes = readScratch(in);
    kernel.scratchBytesPerKvBlock = readScratch(in);
    if (in.boolean("presence of a launch"))
      kernel.launch = readLaunch(in);
    if (in.ok() && (kernel.name.empty() || !names.insert(kernel.name).second))
      in.fail(makeError("kernel name at offset ", at, ": got '", kernel.name,
                        "', expected one that is not empty and not there yet"));
  }
  executable.binary = in.text("binary bytes");
  if (!in.ok())
    return in.status();
  if (in.left() != 0)
    return makeError("executable has trailing bytes: got ", in.left(),
                     ", expected 0");
  return executable;
}
