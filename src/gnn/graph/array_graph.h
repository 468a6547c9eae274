// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements Graph with views into memory that the object owns. Readers of container files, generators and tests fill
// it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gnn/graph/container/memory_region.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

struct GraphParts {
  std::string name;
  std::vector<MemoryRegion> memory;  // pages that the views below point into; empty if they point into vectors only
  CsrView structure;
  FeatureView features;
  FeatureView edge_features;
  std::span<const int32_t> labels;
  int32_t num_classes = 0;
  TargetView targets;
  std::vector<std::string> class_names;
  std::span<const NodeId> split[3];  // train, valid, test
  GraphFlags flags;
  // Vectors that the views may point into. Moving the object moves the vectors, whose buffers keep their addresses.
  std::vector<int64_t> owned_offsets;
  std::vector<std::vector<int32_t>> owned_ids;
};

class ArrayGraph final : public Graph {
 public:
  explicit ArrayGraph(GraphParts parts) : parts_(std::move(parts)) {}

  const std::string& name() const override { return parts_.name; }
  CsrView structure() const override { return parts_.structure; }
  FeatureView features() const override { return parts_.features; }
  FeatureView edge_features() const override { return parts_.edge_features; }
  std::span<const int32_t> labels() const override { return parts_.labels; }
  int32_t num_classes() const override { return parts_.num_classes; }
  TargetView targets() const override { return parts_.targets; }
  std::span<const std::string> class_names() const override { return parts_.class_names; }
  std::span<const NodeId> train_nodes() const override { return parts_.split[0]; }
  std::span<const NodeId> valid_nodes() const override { return parts_.split[1]; }
  std::span<const NodeId> test_nodes() const override { return parts_.split[2]; }
  GraphFlags flags() const override { return parts_.flags; }
  int64_t resident_bytes() const override {
    const auto& p = parts_;
    return static_cast<int64_t>(p.structure.row_offsets.size_bytes() + p.structure.columns.size_bytes() +
                                p.labels.size_bytes() + p.split[0].size_bytes() + p.split[1].size_bytes() +
                                p.split[2].size_bytes()) +
           p.features.num_rows * p.features.stride_bytes + p.edge_features.num_rows * p.edge_features.stride_bytes +
           p.targets.num_rows * p.targets.width * 4;
  }

 private:
  GraphParts parts_;
};

}  // namespace hone::gnn
