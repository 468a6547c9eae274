// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the operations of a model that take an epoch's time: gathers, aggregations and products, forward and backward.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gnn/nn/spec_units.h"
#include "hone/gnn/model_spec.h"

namespace hone::gnn {

struct HotOperation {
  enum class Kind : uint8_t {
    kGather,                 // feature rows of a batch's nodes
    kAggregate,              // rows of neighbors
    kAggregateBackward,      // the gradient by source
    kAttention,              // a softmax over neighbors and the weighted sum of their rows, before the projection
    kAttentionBackward,      // the gradient of the softmax's logits
    kAttentionRowsBackward,  // the gradient of the rows, by source
    kLinear,
    kLinearBackwardInput,
    kLinearBackwardWeight,
  } kind = Kind::kAggregate;
  // For the two kinds of aggregation.
  AggregateSpec::How how = AggregateSpec::How::kMean;
  bool symmetric = false;
  // For attention.
  int heads = 1;
  double negative_slope = 0.2;
  bool of_features = false;  // true: rows are read from the graph's feature table, in its dtype
  int hop = 0;               // the row set of the destinations or of the product's rows
  int64_t in_width = 0;      // columns of what is read
  int64_t out_width = 0;     // for products: columns of the forward pass's result
  std::string value;         // the spec's value
  std::string where;         // a sentence: which rows, and what stands before and behind
};

// An operation that takes time and for which no task is written.
struct LeftOut {
  std::string value;
  std::string why;  // a sentence
};

struct HotOperations {
  std::vector<HotOperation> operations;  // in the order of the spec; a forward pass stands before its backward pass
  std::vector<LeftOut> left_out;
};

// Returns the operations of a spec. `shapes` are the spec's (CheckModelSpec), and `lowered` is LowerToUnits of both.
HotOperations FindHotOperations(const ModelSpec& spec, const SpecShapes& shapes, const SpecUnits& lowered);

// Returns the name of the task for an operation. Operations of one name differ in sizes alone.
std::string TaskName(const HotOperation& operation);

}  // namespace hone::gnn
