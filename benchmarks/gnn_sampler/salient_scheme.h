// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reimplements the batch preparation that SALIENT (Kaler et al., MLSys 2022) describes, as the baseline for "sample and
// slice": 64-bit ids, one flat hash map per batch, Floyd's method with a linear scan, each row sorted, edge ids kept,
// rows copied one after the other. Its draws are unbiased here, unlike those of the published code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "hone/gnn/graph.h"

namespace hone::gnn {

class SalientScheme {
 public:
  struct Hop {
    std::vector<int64_t> row_offsets, columns, edge_ids;
  };
  // Borrows the structure: row offsets and columns in 64 bits, as in SALIENT.
  SalientScheme(std::span<const int64_t> row_offsets, std::span<const int64_t> columns, std::vector<int> fanouts)
      : row_offsets_(row_offsets), columns_(columns), fanouts_(std::move(fanouts)) {}

  // Samples a batch. Every hop draws for all nodes known so far. Seeds are distinct.
  void Sample(std::span<const int64_t> seeds, uint64_t seed);
  // Copies the rows of the last sample to `out`.
  void Slice(const FeatureView& features, std::byte* out) const;

  const std::vector<int64_t>& nodes() const { return nodes_; }
  int64_t edges() const;

 private:
  std::span<const int64_t> row_offsets_, columns_;
  std::vector<int> fanouts_;
  std::vector<int64_t> nodes_;
  std::vector<Hop> hops_;
};

}  // namespace hone::gnn
