//===- NpzFormat.h - Numbers of the zip and npy formats ---------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_CORE_NPZFORMAT_H
#define SPARSEATTN_RUNTIME_CORE_NPZFORMAT_H

#include "sparseattn-rt/Npz.h"

#include <string_view>

namespace sart::npz {

// APPNOTE.TXT 6.3, the parts that NumPy writes.
constexpr uint32_t localSignature = 0x04034b50;
constexpr uint32_t centralSignature = 0x02014b50;
constexpr uint32_t endSignature = 0x06054b50;
constexpr uint32_t end64Signature = 0x06064b50;
constexpr uint32_t locator64Signature = 0x07064b50;
constexpr size_t localBytes = 30;
constexpr size_t centralBytes = 46;
constexpr size_t endBytes = 22;
constexpr size_t end64Bytes = 56;
constexpr size_t locator64Bytes = 20;
constexpr uint16_t extra64 = 0x0001;
constexpr uint16_t methodStored = 0;
constexpr uint16_t methodDeflated = 8;
constexpr uint32_t limit32 = 0xFFFFFFFF;
constexpr uint16_t limit16 = 0xFFFF;

/// CRC-32 of `size` bytes, any size.
uint32_t checksum(const uint8_t *data, size_t size);

/// Size of one element of a NumPy spelling without byte order; 0: not known.
int64_t elementBytes(std::string_view dtype);

/// Reads one .npy file. Messages do not name the member.
Expected<NpzArray> parseNpy(const uint8_t *data, size_t size);
/// Header of the .npy file of `array`, magic to newline.
std::string npyHeader(const NpzArray &array);

} // namespace sart::npz

#endif // SPARSEATTN_RUNTIME_CORE_NPZFORMAT_H
