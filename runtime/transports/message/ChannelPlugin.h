/*===- ChannelPlugin.h - What a plug-in with a channel shows -------*- C -*-===*
 *
 * Part of the sparseattn project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * A table of C functions, so that library and plug-in need not share a C++
 * library. Functions that can fail return 0 on success and otherwise leave a
 * message for `message`. One thread at a time calls them.
 *
 *===----------------------------------------------------------------------===*/
#ifndef SPARSEATTN_RUNTIME_TRANSPORTS_MESSAGE_CHANNELPLUGIN_H
#define SPARSEATTN_RUNTIME_TRANSPORTS_MESSAGE_CHANNELPLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes with every change of the table. */
#define SPARSEATTN_CHANNEL_PLUGIN_VERSION 1
/* The name of the table in the plug-in. */
#define SPARSEATTN_CHANNEL_PLUGIN_SYMBOL "sparseattn_channel_plugin_table"

/* Names as C has them. */
/* NOLINTBEGIN(readability-identifier-naming) */
typedef struct sparseattn_channel_plugin {
  uint32_t version;
  /* What it is built for, such as the version of MPI. */
  const char *description;
  int (*open)(void);
  const char *(*message)(void);
  int64_t (*rank)(void);
  int64_t (*ranks)(void);
  int64_t (*local_rank)(void);
  /* Takes a copy of the bytes. */
  int (*send)(int64_t peer, const uint8_t *bytes, size_t size);
  int64_t (*queued)(int64_t peer);
  /* Moves what is queued. One frame that has arrived: its sender in `peer`, -1
   * where there is none; the bytes are valid until the next call. */
  int (*poll)(int64_t *peer, const uint8_t **bytes, size_t *size);
  void (*close)(int orderly, int64_t milliseconds);
} sparseattn_channel_plugin;
/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif /* SPARSEATTN_RUNTIME_TRANSPORTS_MESSAGE_CHANNELPLUGIN_H */
