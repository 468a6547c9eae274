// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This function is separate from all_neighbors.cc, which is also linked into libraries that open no graphs.
#include "gnn/cuda/sample/all_neighbors.h"
#include "gnn/graph/synthetic/synthetic_shape.h"

namespace hone::gnn::cuda {

Result<int32_t> LargestDegreeOf(const std::string& name) {
  if (IsSyntheticName(name)) {
    HONE_ASSIGN_OR_RETURN(const SyntheticRequest request, ParseSyntheticName(name));
    return static_cast<int32_t>(request.degrees.upper.back());
  }
  OpenGraphOptions options;
  options.load = OpenGraphOptions::Load::kMap;  // only the offsets are read
  options.check = OpenGraphOptions::Check::kHeader;
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<const Graph> graph, OpenGraph(name, options));
  return LargestDegree(graph->structure());
}

}  // namespace hone::gnn::cuda
