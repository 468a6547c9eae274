// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes random batches for checks of operations (hone/gnn/op_conformance.h), on the CPU and on a GPU.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/numbers/random.h"
#include "gnn/spec/own_operations.h"
#include "hone/gnn/layer.h"
#include "hone/gnn/op_conformance.h"

namespace hone::gnn {

struct CheckBatch {
  int32_t num_dst = 0, num_src = 0;
  std::vector<int32_t> row_offsets, columns;
  std::vector<NodeId> nodes;  // [num_src]
  std::vector<double> x;      // [num_src, in]
  std::vector<double> grad;   // [num_dst, out], gradient of the operation's output
  std::vector<double> edges;  // [num_edges, edge_columns], features of the edges
  uint32_t step = 0;

  BlockView View() const {
    BlockView block;
    block.num_dst = num_dst;
    block.num_src = num_src;
    if (columns.empty() && row_offsets.empty()) return block;
    block.row_offsets = row_offsets;
    block.columns = columns;
    return block;
  }
};

// Makes a batch. Destinations have 0 to 6 neighbors; there are parallel edges, and edges of a node to itself.
inline CheckBatch MakeCheckBatch(bool aggregates, int32_t num_dst, int32_t num_src, const OpPlace& place, Rng& rng,
                                 uint32_t step) {
  CheckBatch batch;
  batch.num_dst = aggregates ? num_dst : num_src;
  batch.num_src = num_src;
  batch.step = step;
  if (aggregates) {
    batch.row_offsets.push_back(0);
    for (int32_t i = 0; i < num_dst; ++i) {
      const auto degree = static_cast<int32_t>(rng.Below(7));
      for (int32_t e = 0; e < degree; ++e) {
        const bool itself = rng.Below(11) == 0;
        batch.columns.push_back(itself ? i : static_cast<int32_t>(rng.Below(static_cast<uint64_t>(num_src))));
      }
      if (degree == 6) batch.columns.back() = batch.columns[batch.columns.size() - 2];
      batch.row_offsets.push_back(static_cast<int32_t>(batch.columns.size()));
    }
  }
  for (int32_t i = 0; i < num_src; ++i) batch.nodes.push_back(1000 + 3 * i);
  const auto fill = [&](std::vector<double>& to, int64_t count) {
    for (int64_t i = 0; i < count; ++i) to.push_back(static_cast<float>(2 * rng.Uniform() - 1));
  };
  fill(batch.x, num_src * place.in);
  fill(batch.grad, batch.num_dst * place.out);
  fill(batch.edges, static_cast<int64_t>(batch.columns.size()) * place.edge_columns);
  return batch;
}

// Returns the context in which the checks make the operation.
inline Result<OpPlace> CheckedPlace(const OpKind& kind, const OpCheck& check) {
  const EdgeFeatureUse use = kind.edge_features();
  if (check.edge_columns > 0 ? use == EdgeFeatureUse::kNone : use == EdgeFeatureUse::kNeeded) {
    return Status::InvalidArgument("operation '" + std::string(kind.name()) + "' is checked with " +
                                   std::to_string(check.edge_columns) + " edge features (OpCheck::edge_columns), and " +
                                   (check.edge_columns > 0 ? "reads none" : "needs some"));
  }
  OwnSpec own;
  own.kind = kind.name();
  own.options = check.options;
  OpPlace place;
  place.parameters = "op";
  place.seed = check.seed;
  place.in = check.in;
  place.edge_columns = check.edge_columns;
  place.options = AllOptions(kind, own);
  place.layer = 1;
  place.site = 130;
  HONE_ASSIGN_OR_RETURN(place.out, kind.Width(check.in, check.width, place.options));
  return place;
}

}  // namespace hone::gnn
