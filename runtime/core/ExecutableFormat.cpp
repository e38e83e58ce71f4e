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
//   u32:kernels { text:name i64:scratch i64:scratch per kv-block }
//   text:binary
//
// where a text is its length in 32 bits and its bytes.
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Executable.h"

#include "ByteReader.h"
#include "ByteWriter.h"
#include "ContentHeader.h"

#include <set>

using namespace sart;

static constexpr ContentHeader executableHeader = {"executable", "SAEXEC", 1};

std::vector<uint8_t> sart::serialize(const Executable &executable) {
  std::vector<uint8_t> body;
  ByteWriter out(body);
  out.count(executable.kernels.size());
  for (const ExecutableKernel &kernel : executable.kernels) {
    out.text(kernel.name);
    out.i64(kernel.scratchBytes);
    out.i64(kernel.scratchBytesPerKvBlock);
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
  executable.kernels.resize(in.count("kernels", 20));
  for (ExecutableKernel &kernel : executable.kernels) {
    size_t at = in.offset();
    kernel.name = in.text("name characters");
    kernel.scratchBytes = readScratch(in);
    kernel.scratchBytesPerKvBlock = readScratch(in);
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
