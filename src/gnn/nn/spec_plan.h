// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the values of a spec and their gradients lie, decided once, from the spec and what its operations say of
// themselves. Nothing here depends on a batch.
#pragma once

#include <cstdint>
#include <vector>

#include "gnn/nn/operations/operation.h"
#include "hone/gnn/model_spec.h"

namespace hone::gnn {

// Of an operation (operation.h), as far as a plan asks.
struct OperationTraits {
  GradientFlow flow = GradientFlow::kComputed;
  bool works_in_place = false, keeps_output = false, scales = false, adds = false, sums = false, scribbles = false;
  bool trains = false;                // has a parameter with a gradient
  std::vector<bool> scaled_operands;  // of kShared: whose share has a factor
};

struct SpecPlan {
  struct Use {
    size_t value = 0;    // that reads
    size_t operand = 0;  // its place among what that one reads
  };
  struct Value {
    std::vector<Use> uses;  // in the order of the spec
    // The value whose memory this one lies in: itself, or one that it is made in the place of. "x" lies in memory of
    // whoever calls.
    size_t storage = 0;
    size_t added_in = 0;   // a Linear that the Add of this index runs, in that one's memory; 0: none
    size_t scaled_by = 0;  // a Drop in this value's memory that multiplies what backward reads; 0: none
    // The gradient: of nobody, the first use's own (or columns of it), or in memory of its own.
    bool wants_gradient = false;
    bool shares_gradient = false;
    size_t slot = 0;  // where not shared
  };
  std::vector<Value> values;
  size_t slots = 0;
};

// `traits` by value; index 0, "x", is not looked at.
SpecPlan PlanSpec(const SpecShapes& shapes, const std::vector<OperationTraits>& traits);

}  // namespace hone::gnn
