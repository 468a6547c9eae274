// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This class is the base of graphs that change a part of another graph, such as its splits, and share everything else with it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "hone/gnn/graph.h"

namespace hone::gnn {

// Answers each question as the other graph does. Derived classes override what they change.
class ChangedGraph : public Graph {
 public:
  explicit ChangedGraph(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {}

  const std::string& name() const override { return graph_->name(); }
  CsrView structure() const override { return graph_->structure(); }
  FeatureView features() const override { return graph_->features(); }
  FeatureView edge_features() const override { return graph_->edge_features(); }
  std::span<const int32_t> labels() const override { return graph_->labels(); }
  int32_t num_classes() const override { return graph_->num_classes(); }
  TargetView targets() const override { return graph_->targets(); }
  std::span<const std::string> class_names() const override { return graph_->class_names(); }
  std::span<const NodeId> train_nodes() const override { return graph_->train_nodes(); }
  std::span<const NodeId> valid_nodes() const override { return graph_->valid_nodes(); }
  std::span<const NodeId> test_nodes() const override { return graph_->test_nodes(); }
  GraphFlags flags() const override { return graph_->flags(); }
  int64_t resident_bytes() const override { return graph_->resident_bytes(); }

 protected:
  const Graph& unchanged() const { return *graph_; }

 private:
  const std::shared_ptr<const Graph> graph_;
};

}  // namespace hone::gnn
