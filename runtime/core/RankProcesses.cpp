//===- RankProcesses.cpp - What ranks of several processes agree on -------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RankExecutor.h"

using namespace sart;

RankOutcome RankExecutor::meet() {
  auto hashes = endpoint.allGather(shared.programHash);
  if (!hashes)
    return fail("start", hashes.status());
  for (size_t peer = 0; peer < hashes->size(); ++peer)
    if ((*hashes)[peer] != shared.programHash)
      return fail("start",
                  makeError("programs of the ranks differ: got hash ",
                            (*hashes)[peer], " on rank ", peer, ", expected ",
                            shared.programHash, " as on rank ", rank));
  return {};
}

Status RankExecutor::gatherRows() {
  if (shared.allLocal())
    return Status::success();
  SART_RETURN_IF_ERROR(fetchRows());
  auto rows = endpoint.gather(0, record().rows.toBytes());
  if (!rows)
    return rows.status();
  for (size_t peer = 0; peer < rows->size(); ++peer) {
    if (shared.isLocal(static_cast<int64_t>(peer)))
      continue;
    RankRecord &other = shared.records[peer];
    other.reset(placement());
    SART_RETURN_IF_ERROR(
        other.rows.fromBytes((*rows)[peer], shape().kvBlocks()));
  }
  return Status::success();
}

RankOutcome RankExecutor::report() {
  // A bound program brings its mask.
  bool withRows = shared.gatherMask && !shared.program.bound;
  Status status = withRows ? fetchRows() : Status::success();
  if (!status.ok())
    return fail("report", status);
  auto records = endpoint.gather(0, record().toBytes(withRows));
  if (!records)
    return fail("report", records.status());
  for (size_t peer = 0; peer < records->size(); ++peer) {
    if (shared.isLocal(static_cast<int64_t>(peer)))
      continue;
    RankRecord &other = shared.records[peer];
    other.reset(placement());
    status = other.fromBytes((*records)[peer], shape().kvBlocks());
    if (!status.ok())
      return fail("report", makeError("rank ", peer, ": ", status.message()));
  }
  // Nobody ends a run that another one cannot report.
  status = endpoint.barrier();
  return status.ok() ? RankOutcome() : fail("report", status);
}
