// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// CRC-32C (Castagnoli, reflected polynomial 0x82f63b78, as in iSCSI, RFC 3720): the container's checksum.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hone::gnn {

// Continues checksum `crc` over `size` bytes; start with 0. Uses the processor's instruction if available (several
// GB/s), else a table.
uint32_t Crc32c(uint32_t crc, const void* bytes, size_t size);

}  // namespace hone::gnn
