// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gathers feature rows and labels of a batch: random reads of a few cache lines each, and sequential writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hone/gnn/graph.h"

namespace hone::gnn {

// How gathered rows are written. Streaming stores bypass the cache, and save reading the memory that is overwritten;
// the consumer then finds no row in the cache. kAuto chooses by the number of bytes.
enum class RowStores : uint8_t { kAuto, kPlain, kStreaming };

struct SliceTuning {
  RowStores stores = RowStores::kAuto;
  int64_t ahead_bytes = 16384;  // bytes of rows that are prefetched ahead of the copy
};

// Copies row nodes[i] of `features`, padding included, to out + i * features.stride_bytes.
//   nodes  each in [0, features.num_rows)
//   out    nodes.size() * stride_bytes, aligned to 64
// Any thread may call this. docs/sampling.md has the measurements behind the defaults.
void SliceRows(const FeatureView& features, std::span<const NodeId> nodes, std::byte* out,
               const SliceTuning& tuning = {});

// Sets out[i] = labels[nodes[i]]; kNoLabel everywhere when the graph has no labels.
void SliceLabels(std::span<const int32_t> labels, std::span<const NodeId> nodes, std::span<int32_t> out);

}  // namespace hone::gnn
