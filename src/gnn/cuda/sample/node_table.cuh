// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device code of the hash table that recognizes nodes which the batch contains already (NodeTable,
// base/batch_layout.h).
#pragma once

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"

namespace hone::gnn::cuda {

inline constexpr uint32_t kNoEntry = 0xffffffffu;  // the slot has no node

// Inserts `node`, lowers its rank to at most `rank`, and returns its entry's index. A stale key read from a cache is
// harmless, because the exchange then fails.
__device__ inline uint32_t Insert(const NodeTable& table, uint32_t tag, uint32_t node, uint32_t rank) {
  const unsigned long long key = static_cast<unsigned long long>(tag) << 32 | node;
  uint32_t at = (node * 0x9E3779B1u ^ node >> 15) * 0x85EBCA77u >> 3 & table.mask;
  for (;;) {
    unsigned long long current = __ldcg(&table.entries[at].key);
    if (current != key && static_cast<uint32_t>(current >> 32) != tag) {
      const unsigned long long before = atomicCAS(&table.entries[at].key, current, key);
      if (before == current) break;
      current = before;
      if (static_cast<uint32_t>(current >> 32) != tag) continue;
    }
    if (current == key) break;
    at = (at + 1) & table.mask;
  }
  atomicMin(&table.entries[at].value, static_cast<unsigned long long>(~tag) << 32 | rank);
  return at;
}

}  // namespace hone::gnn::cuda
