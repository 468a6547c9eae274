// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gnn_sampler/salient_scheme.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace hone::gnn {
namespace {

// An ordinary flat hash map: open addressing, at most 7/8 full; then its size is doubled.
class FlatMap {
 public:
  FlatMap() : entries_(16, {kEmpty, 0}) {}
  // Returns the value of `key`, and whether the key was inserted. A new key gets the value `next`.
  std::pair<int64_t, bool> Insert(int64_t key, int64_t next) {
    if ((size_ + 1) * 8 > static_cast<int64_t>(entries_.size()) * 7) Grow();
    Entry& entry = Find(key);
    if (entry.key == key) return {entry.value, false};
    entry = {key, next};
    ++size_;
    return {next, true};
  }

 private:
  static constexpr int64_t kEmpty = -1;
  struct Entry {
    int64_t key, value;
  };
  Entry& Find(int64_t key) {
    const size_t mask = entries_.size() - 1;
    uint64_t hash = static_cast<uint64_t>(key) * 0x9E3779B97F4A7C15ull;
    hash ^= hash >> 32;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
      if (entries_[at].key == key || entries_[at].key == kEmpty) return entries_[at];
    }
  }
  void Grow() {
    std::vector<Entry> old(entries_.size() * 2, {kEmpty, 0});
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.key != kEmpty) Find(entry.key) = entry;
    }
  }
  std::vector<Entry> entries_;
  int64_t size_ = 0;
};

}  // namespace

void SalientScheme::Sample(std::span<const int64_t> seeds, uint64_t seed) {
  std::mt19937 generator(static_cast<uint32_t>(seed));
  nodes_.assign(seeds.begin(), seeds.end());
  hops_.clear();
  FlatMap local_ids;
  for (size_t i = 0; i < nodes_.size(); ++i) local_ids.Insert(nodes_[i], static_cast<int64_t>(i));
  std::vector<int64_t> chosen;
  std::vector<std::pair<int64_t, int64_t>> row;
  for (const int fanout : fanouts_) {
    Hop& hop = hops_.emplace_back();
    const size_t destinations = nodes_.size();
    hop.row_offsets.push_back(0);
    for (size_t i = 0; i < destinations; ++i) {
      const int64_t first = row_offsets_[static_cast<size_t>(nodes_[i])];
      const int64_t degree = row_offsets_[static_cast<size_t>(nodes_[i]) + 1] - first;
      row.clear();
      const auto add = [&](int64_t slot) {
        const int64_t node = columns_[static_cast<size_t>(first + slot)];
        const auto [local, is_new] = local_ids.Insert(node, static_cast<int64_t>(nodes_.size()));
        if (is_new) nodes_.push_back(node);
        row.emplace_back(local, first + slot);
      };
      if (degree <= fanout) {
        for (int64_t slot = 0; slot < degree; ++slot) add(slot);
      } else {
        chosen.clear();
        for (int64_t last = degree - fanout; last < degree; ++last) {
          int64_t slot = static_cast<int64_t>(generator() % static_cast<uint64_t>(last + 1));
          if (std::find(chosen.begin(), chosen.end(), slot) != chosen.end()) slot = last;
          chosen.push_back(slot);
          add(slot);
        }
      }
      std::sort(row.begin(), row.end());
      for (const auto& [local, edge] : row) {
        hop.columns.push_back(local);
        hop.edge_ids.push_back(edge);
      }
      hop.row_offsets.push_back(static_cast<int64_t>(hop.columns.size()));
    }
  }
}

void SalientScheme::Slice(const FeatureView& features, std::byte* out) const {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    std::memcpy(out + static_cast<int64_t>(i) * features.stride_bytes, features.Row(nodes_[i]),
                static_cast<size_t>(features.stride_bytes));
  }
}

int64_t SalientScheme::edges() const {
  int64_t edges = 0;
  for (const Hop& hop : hops_) edges += static_cast<int64_t>(hop.columns.size());
  return edges;
}

}  // namespace hone::gnn
