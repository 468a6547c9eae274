// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Parses the names of synthetic graphs, "synthetic:SHAPE?scale=…&seed=…".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gnn/graph/synthetic/degree_table.h"
#include "gnn/graph/synthetic/synthetic_core.h"
#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// The published sizes of a dataset (directed slots of the symmetric graph, so mean_degree = slots / nodes).
struct SyntheticShape {
  std::string_view name;
  int64_t nodes;
  double mean_degree;
  double sigma;         // standard deviation of the logarithm of the degree
  uint32_t max_degree;
  int32_t width;
  int32_t classes;
  int64_t train, valid, test;  // the labelled nodes are their sum
  int32_t centroid_weight;
};
const std::vector<SyntheticShape>& SyntheticShapes();

// Everything that a name determines.
struct SyntheticRequest {
  std::string name;  // as given
  std::string shape;
  SyntheticSpec spec;
  DegreeTable degrees;
  FeatureDtype dtype = FeatureDtype::kFloat16;
};

bool IsSyntheticName(std::string_view name);  // begins with "synthetic:"

// Parses a name. Parameters, all optional: scale (of the nodes; default 1) or nodes, seed (default 1), degree, sigma,
// features, classes, dtype (float16, float32, bfloat16). kInvalidArgument names the parameter, its range or the known
// shapes.
Result<SyntheticRequest> ParseSyntheticName(const std::string& name);

}  // namespace hone::gnn
