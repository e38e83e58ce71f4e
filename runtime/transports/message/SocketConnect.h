//===- SocketConnect.h - Connects processes with each other -----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_TRANSPORTS_MESSAGE_SOCKETCONNECT_H
#define SPARSEATTN_RUNTIME_TRANSPORTS_MESSAGE_SOCKETCONNECT_H

#include "SocketChannel.h"

namespace sart {

/// One connection to each other rank; none to itself. Everyone goes to rank 0,
/// learns there where the others listen, and goes to those of lower ranks.
/// `rootMs` bounds the first step alone.
Expected<std::vector<OwnedSocket>>
connectAll(const std::string &id, int64_t rank, int64_t ranks,
           int64_t timeoutMs, const std::shared_ptr<SocketListener> &root,
           int64_t rootMs);

} // namespace sart

#endif // SPARSEATTN_RUNTIME_TRANSPORTS_MESSAGE_SOCKETCONNECT_H
