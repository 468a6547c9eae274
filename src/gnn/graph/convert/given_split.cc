// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/graph/convert/given_split.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "gnn/graph/changed_graph.h"
#include "gnn/graph/convert/npy_array.h"
#include "gnn/graph/split.h"

namespace hone::gnn {
namespace {

class GraphOfSplit final : public ChangedGraph {
 public:
  GraphOfSplit(std::shared_ptr<const Graph> graph, NodeSplits splits)
      : ChangedGraph(std::move(graph)), splits_(std::move(splits)) {}

  std::span<const NodeId> train_nodes() const override { return splits_.nodes[0]; }
  std::span<const NodeId> valid_nodes() const override { return splits_.nodes[1]; }
  std::span<const NodeId> test_nodes() const override { return splits_.nodes[2]; }

 private:
  const NodeSplits splits_;
};

}  // namespace

Result<std::shared_ptr<const Graph>> WithGivenSplit(std::shared_ptr<const Graph> graph, const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const NpyArray array, NpyArray::InFile(path));
  const int64_t nodes = graph->structure().num_nodes;
  const NpyHeader& header = array.header();
  if (!header.integer() || header.kind == 'b' || header.shape != std::vector<int64_t>{nodes}) {
    return Status::InvalidArgument(fmt::format(
        "'{}' is {}; a split of graph '{}' is whole numbers [{}]: 0 training, 1 validation, 2 test, -1 none", path,
        header.Text(), graph->name(), nodes));
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<int64_t> parts, array.Integers());
  NodeSplits splits;
  for (size_t v = 0; v < parts.size(); ++v) {
    if (parts[v] < -1 || parts[v] > 2) {
      return Status::InvalidArgument(fmt::format(
          "'{}': node {} is in part {}; there are 0 training, 1 validation, 2 test, -1 none", path, v, parts[v]));
    }
    if (parts[v] >= 0) splits.nodes[parts[v]].push_back(static_cast<NodeId>(v));
  }
  if (splits.nodes[0].empty()) return Status::InvalidArgument(fmt::format("'{}' has no training node (0)", path));
  return std::shared_ptr<const Graph>(std::make_shared<GraphOfSplit>(std::move(graph), std::move(splits)));
}

}  // namespace hone::gnn
