//===- TransportHub.h - Where the processes of a run meet -------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_TRANSPORTHUB_H
#define SPARSEATTN_RT_TRANSPORTHUB_H

#include "sparseattn-rt/Transport.h"

namespace sart {

/// One process's connection to the others. Each process is one rank. Transports
/// keep their hub alive.
class TransportHub {
public:
  virtual ~TransportHub() = default;
  virtual const char *name() const = 0;
  virtual int64_t rank() const = 0;
  virtual int64_t ranks() const = 0;
  /// Number of the process among those of its machine.
  virtual int64_t localRank() const = 0;
  /// A transport of its own among all ranks: what one does never disturbs
  /// another. All processes create as many, in the same order.
  virtual Expected<std::unique_ptr<Transport>>
  createTransport(int64_t timeoutMs) = 0;
};

/// The processes that an MPI launcher started, by the plug-in
/// libsparseattn-mpi.so: `plugin` is its file, "" the one beside this library,
/// else the one that the system finds. Once in a process at a time; the last
/// owner of the hub ends MPI, unless the host started it.
Expected<std::shared_ptr<TransportHub>> openMpiHub(const std::string &plugin);

} // namespace sart

#endif // SPARSEATTN_RT_TRANSPORTHUB_H
