// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Maps global node ids to local ids within one batch: the two tables of the CPU sampler.
//
// Neither table is ever cleared. Local id i of a batch is stored as base + i, where `base` has grown by the node counts
// of all earlier batches. An entry below `base` is from an earlier batch and therefore empty. When the 32 bits are used
// up, the table is zeroed and `base` starts again at 1.
//
// DirectNodeMap has four bytes for every node of the graph: one access, no keys. HashNodeMap has entries of eight
// bytes, a key and its local id, with open addressing, at most half full; it grows to the largest batch seen.
// fast_sampler.cc chooses between the two. Not thread-safe: one map per sampler.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "gnn/sample/huge_buffer.h"
#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// The value `base`, which both tables have.
class LocalIdBase {
 public:
  // `num_nodes`: the number of the graph's nodes, which is the most that one batch can have.
  LocalIdBase(int64_t num_nodes, uint32_t first) : num_nodes_(static_cast<uint32_t>(num_nodes)), base_(first) {}
  uint32_t value() const { return base_; }
  // Call after a batch with `previous` nodes. Returns true if base is 1 again and the table must be zeroed.
  bool Advance(int32_t previous) {
    base_ += static_cast<uint32_t>(previous);
    if (base_ <= std::numeric_limits<uint32_t>::max() - num_nodes_) return false;
    base_ = 1;
    return true;
  }

 private:
  uint32_t num_nodes_;
  uint32_t base_;
};

// Requests the cache line at `address` for the second-level cache. A prefetch into the first level takes one of its few
// miss buffers until the line has come from memory, and a prefetch for writing goes there, too.
inline void PrefetchRead(const void* address) { __builtin_prefetch(address, /*write=*/0, /*locality=*/2); }

// Returns a mask, so that no branch depends on the condition: whether a neighbor is new cannot be predicted. The empty
// asm keeps the compiler from making a branch of it again.
inline uint32_t AllOnesIf(bool condition) {
  uint32_t mask = 0u - static_cast<uint32_t>(condition);
  asm("" : "+r"(mask));
  return mask;
}

class DirectNodeMap {
 public:
  // `first_base` other than 1 is for testing the wrap.
  static Result<DirectNodeMap> Make(int64_t num_nodes, PageKind pages, uint32_t first_base = 1) {
    HONE_ASSIGN_OR_RETURN(HugeBuffer table,
                          HugeBuffer::Allocate(static_cast<size_t>(num_nodes) * sizeof(uint32_t), pages));
    return DirectNodeMap(LocalIdBase(num_nodes, first_base), std::move(table));
  }

  // Begins a batch; the previous one had `previous` nodes.
  void Begin(int32_t previous) {
    if (base_.Advance(previous)) std::memset(storage_.data(), 0, storage_.bytes());
  }
  // Makes room for `count` nodes, of which nodes[0 … known_nodes) are present; a direct table always has room.
  Status Reserve(int64_t /*count*/, const NodeId* /*nodes*/, int32_t /*known*/) { return Status::Ok(); }
  // Sets neighbors[i] = columns[slot[i]], and prefetches its table entry.
  void Fetch(const NodeId* columns, const int64_t* slot, int64_t count, NodeId* neighbors) const {
    const uint32_t* const entries = table();
    for (int64_t i = 0; i < count; ++i) {
      const NodeId node = columns[slot[i]];
      neighbors[i] = node;
      PrefetchRead(entries + node);
    }
  }
  // Sets local[i] to the local id of neighbors[i]. A new node gets the id `known_nodes`, which then increases. Returns
  // the new count. Writes nodes[known_nodes] for every neighbor, new or not, so `nodes` needs room for one more.
  int32_t Number(const NodeId* neighbors, int64_t count, int32_t known_nodes, NodeId* nodes, int32_t* local) {
    uint32_t* const entries = table();
    const uint32_t base = base_.value();
    for (int64_t i = 0; i < count; ++i) {
      const NodeId node = neighbors[i];
      const uint32_t stored = entries[node];
      const uint32_t is_new = AllOnesIf(stored < base);
      const uint32_t fresh = base + static_cast<uint32_t>(known_nodes);
      const uint32_t value = stored ^ ((stored ^ fresh) & is_new);
      entries[node] = value;
      nodes[known_nodes] = node;
      known_nodes -= static_cast<int32_t>(is_new);
      local[i] = static_cast<int32_t>(value - base);
    }
    return known_nodes;
  }

 private:
  DirectNodeMap(LocalIdBase base, HugeBuffer storage) : base_(base), storage_(std::move(storage)) {}
  uint32_t* table() const { return reinterpret_cast<uint32_t*>(storage_.data()); }

  LocalIdBase base_;
  HugeBuffer storage_;
};

class HashNodeMap {
 public:
  static Result<HashNodeMap> Make(int64_t num_nodes, PageKind pages, uint32_t first_base = 1) {
    HashNodeMap map(LocalIdBase(num_nodes, first_base), pages);
    HONE_RETURN_IF_ERROR(map.Grow(int64_t{1} << 12, nullptr, 0));
    return map;
  }

  void Begin(int32_t previous) {
    if (base_.Advance(previous)) std::memset(storage_.data(), 0, storage_.bytes());
  }
  Status Reserve(int64_t count, const NodeId* nodes, int32_t known_nodes) {
    return count * 2 <= capacity() ? Status::Ok() : Grow(count * 2, nodes, known_nodes);
  }
  void Fetch(const NodeId* columns, const int64_t* slot, int64_t count, NodeId* neighbors) const {
    const Entry* const entries = table();
    for (int64_t i = 0; i < count; ++i) {
      const NodeId node = columns[slot[i]];
      neighbors[i] = node;
      PrefetchRead(entries + FirstEntryOf(node));
    }
  }
  int32_t Number(const NodeId* neighbors, int64_t count, int32_t known_nodes, NodeId* nodes, int32_t* local) {
    Entry* const entries = table();
    const uint32_t base = base_.value();
    for (int64_t i = 0; i < count; ++i) {
      const NodeId node = neighbors[i];
      uint32_t at = FirstEntryOf(node);
      // The loop has one branch, on "the entry of another node", which is rare. Two branches would first ask "the entry
      // of this node?", which cannot be predicted.
      for (uint32_t tries = 1; (AllOnesIf(entries[at].node != node) & AllOnesIf(entries[at].stored >= base)) != 0;
           ++tries) {
        at = Next(at, tries);
      }
      const uint32_t stored = entries[at].stored;
      const uint32_t is_new = AllOnesIf(stored < base);
      const uint32_t fresh = base + static_cast<uint32_t>(known_nodes);
      const uint32_t value = stored ^ ((stored ^ fresh) & is_new);
      entries[at] = {node, value};
      nodes[known_nodes] = node;
      known_nodes -= static_cast<int32_t>(is_new);
      local[i] = static_cast<int32_t>(value - base);
    }
    return known_nodes;
  }
  int64_t capacity() const { return int64_t{mask_} + 1; }

 private:
  struct Entry {
    NodeId node;
    uint32_t stored;  // base + local id; zeroed memory is empty, because base is at least 1
  };
  HashNodeMap(LocalIdBase base, PageKind pages) : base_(base), pages_(pages) {}
  Entry* table() const { return reinterpret_cast<Entry*>(storage_.data()); }
  // Returns the entry at which the search for `node` begins. Eight consecutive ids share a cache line, because in most
  // graphs nodes with near ids are visited together.
  uint32_t FirstEntryOf(NodeId node) const {
    const auto id = static_cast<uint32_t>(node);
    return ((id >> 3) * 0x9E3779B1u >> shift_) << 3 | (id & 7);
  }
  // Returns the entry to try next: first the others of the cache line, then those of the next line.
  uint32_t Next(uint32_t at, uint32_t tries) const {
    return tries % 8 != 0 ? (at & ~7u) | ((at + 1) & 7u) : (at + 8) & mask_;
  }

  // Makes a table of at least `entries` with nodes[0 … known_nodes) in it.
  Status Grow(int64_t entries, const NodeId* nodes, int32_t known_nodes) {
    const int bits = std::bit_width(static_cast<uint64_t>(entries - 1));
    if (bits > 32)
      return Status::ResourceExhausted("a batch may have at most 2^31 - 1 nodes; use a smaller batch or fanout");
    HONE_ASSIGN_OR_RETURN(HugeBuffer grown, HugeBuffer::Allocate((size_t{1} << bits) * sizeof(Entry), pages_));
    storage_ = std::move(grown);
    shift_ = 32 - (bits - 3);  // the hash shifted by this selects a cache line
    mask_ = static_cast<uint32_t>((uint64_t{1} << bits) - 1);
    for (int32_t local = 0; local < known_nodes; ++local) {
      uint32_t at = FirstEntryOf(nodes[local]);
      for (uint32_t tries = 1; table()[at].stored >= base_.value(); ++tries) at = Next(at, tries);
      table()[at] = {nodes[local], base_.value() + static_cast<uint32_t>(local)};
    }
    return Status::Ok();
  }

  LocalIdBase base_;
  PageKind pages_;
  HugeBuffer storage_;
  int shift_ = 0;
  uint32_t mask_ = 0;
};

}  // namespace hone::gnn
