// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans the memory of a spec's values and of their gradients, from the spec and the traits of its operations. The plan
// does not depend on a batch.
#pragma once

#include <cstdint>
#include <vector>

#include "gnn/nn/operations/operation.h"
#include "hone/gnn/model_spec.h"

namespace hone::gnn {

// The properties of an operation (operation.h) on which a plan depends.
struct OperationTraits {
  GradientFlow flow = GradientFlow::kComputed;
  // These are the results of operation.h's functions of the same names; `scales` is true for a Drop.
  bool works_in_place = false, keeps_output = false, scales = false, adds = false, sums = false, overwrites_grad = false;
  bool trains = false;                // has a parameter with a gradient
  std::vector<bool> scaled_operands;  // for kShared: operands whose share has a factor
};

struct SpecPlan {
  struct Use {
    size_t value = 0;    // the value that reads
    size_t operand = 0;  // index among the operands of `value`
  };
  struct Value {
    std::vector<Use> uses;  // in the order of the spec
    // The value whose memory this value uses: the value itself, or one that it overwrites. The caller owns the memory
    // of "x".
    size_t storage = 0;
    size_t added_in = 0;   // index of the Add into whose memory this Linear is computed; 0: none
    size_t scaled_by = 0;  // index of a Drop in this value's memory that scales what backward reads; 0: none
    // Whether the value has a gradient, and whether that is the gradient of its first use, or columns of it.
    bool wants_gradient = false;
    bool shares_gradient = false;
    size_t slot = 0;  // memory of the gradient, if that is not shared
  };
  std::vector<Value> values;
  size_t slots = 0;  // number of memory pieces for gradients
};

// Makes the plan. `traits` has one entry per value; entry 0, for "x", is ignored.
SpecPlan PlanSpec(const SpecShapes& shapes, const std::vector<OperationTraits>& traits);

}  // namespace hone::gnn
