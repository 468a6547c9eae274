// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/nn/spec_plan.h"

#include <algorithm>
#include <set>

namespace hone::gnn {
namespace {

class Planner {
 public:
  Planner(const SpecShapes& shapes, const std::vector<OperationTraits>& traits) : shapes_(shapes), traits_(traits) {
    plan_.values.resize(shapes.hop.size());
  }

  SpecPlan Plan() {
    for (size_t v = 1; v < count(); ++v) {
      for (size_t i = 0; i < shapes_.operands[v].size(); ++i) Of(v, i).uses.push_back({v, i});
    }
    for (size_t v = 1; v < count(); ++v) PlaceValue(v);
    for (size_t v = 1; v < count(); ++v) {
      bool wants = traits_[v].trains;
      for (size_t i = 0; i < shapes_.operands[v].size(); ++i) wants = wants || Of(v, i).wants_gradient;
      plan_.values[v].wants_gradient = wants;
    }
    PlaceGradients();
    return std::move(plan_);
  }

 private:
  size_t count() const { return plan_.values.size(); }
  size_t OperandOf(size_t v, size_t i) const { return static_cast<size_t>(shapes_.operands[v][i]); }
  SpecPlan::Value& Of(size_t v, size_t i) { return plan_.values[OperandOf(v, i)]; }

  // Decides whether a value overwrites its operand, and which operands an Add computes in its own memory.
  void PlaceValue(size_t v) {
    const OperationTraits& traits = traits_[v];
    plan_.values[v].storage = v;
    if (traits.sums) {
      for (size_t i = 1; i < shapes_.operands[v].size(); ++i) {
        const size_t o = OperandOf(v, i);
        if (o != 0 && traits_[o].adds && plan_.values[o].uses.size() == 1 && !traits.scaled_operands[i]) {
          plan_.values[o].added_in = v;
        }
      }
    }
    if (!traits.works_in_place) return;
    const size_t o = OperandOf(v, 0);
    if (o == 0 || plan_.values[o].uses.size() != 1 || traits.scaled_operands[0]) return;
    // If a Drop is inactive, its value is its operand's memory, which another use may read again.
    if (traits_[o].scales && plan_.values[o].storage == o) return;
    const size_t root = plan_.values[o].storage;
    // Backward reads the output of an Activate again. A Drop in the same memory leaves it readable, except for a
    // factor.
    bool output_is_kept = false;
    for (size_t w = 1; w < v; ++w)
      output_is_kept = output_is_kept || (plan_.values[w].storage == root && traits_[w].keeps_output);
    if (output_is_kept && !(traits.scales && traits_[o].keeps_output)) return;
    plan_.values[v].storage = root;
    if (output_is_kept) plan_.values[o].scaled_by = v;
  }

  // Returns whether the gradient of `v` is the first use's gradient or a part of it, so that it needs no memory of its
  // own.
  bool FirstUseShows(size_t v) const {
    const SpecPlan::Use use = plan_.values[v].uses[0];
    const OperationTraits& user = traits_[use.value];
    if (user.flow == GradientFlow::kComputed || shapes_.hop[use.value] != shapes_.hop[v]) return false;
    return user.flow == GradientFlow::kInPlace || !user.scaled_operands[use.operand];
  }
  // Returns whether these columns of the use's gradient are read after `v` has been visited: by another operand of a
  // sum, for example.
  bool ReadLater(size_t v) const {
    const SpecPlan::Use use = plan_.values[v].uses[0];
    if (traits_[use.value].flow != GradientFlow::kShared) return false;
    for (size_t i = 0; i < shapes_.operands[use.value].size(); ++i) {
      if (i == use.operand) continue;
      const size_t other = OperandOf(use.value, i);
      const bool other_columns = !traits_[use.value].sums && other != v;
      if (!other_columns && other <= v && plan_.values[other].wants_gradient) return true;
    }
    return false;
  }

  // Assigns memory to the gradients, visiting values in reverse order as backward does.
  void PlaceGradients() {
    std::vector<size_t> root(count(), 0);     // the value whose memory holds the gradient
    std::vector<bool> owned(count(), false);  // no value visited later reads the gradient
    std::vector<size_t> last(count(), 0);     // by root: the last value, in the order of visits, at which it is read
    for (size_t v = count() - 1; v > 0; --v) {
      SpecPlan::Value& value = plan_.values[v];
      if (!value.wants_gradient) continue;
      root[v] = v;
      owned[v] = true;
      if (v + 1 < count() && FirstUseShows(v)) {
        const size_t user = value.uses[0].value;
        const bool user_owns_gradient = owned[user] && !ReadLater(v);
        if (user_owns_gradient || (value.uses.size() == 1 && !traits_[v].overwrites_grad)) {
          value.shares_gradient = true;
          root[v] = root[user];
          owned[v] = user_owns_gradient;
        }
      }
      // The gradient is read when its value is visited, and when the value's operands are.
      size_t until = v;
      for (size_t i = 0; i < shapes_.operands[v].size(); ++i) {
        if (Of(v, i).wants_gradient) until = std::min(until, OperandOf(v, i));
      }
      last[root[v]] = last[root[v]] == 0 ? until : std::min(last[root[v]], until);
    }
    // Memory is reused after its last reader was visited. The caller owns the logits' gradient.
    std::vector<size_t> value_of_slot;  // indexed by slot: the value that uses it, 0: none
    for (size_t v = count() - 2; v > 0 && count() > 2; --v) {
      SpecPlan::Value& value = plan_.values[v];
      if (!value.wants_gradient || value.shares_gradient) continue;
      size_t slot = 0;
      while (slot < value_of_slot.size() && last[value_of_slot[slot]] <= v) ++slot;
      if (slot == value_of_slot.size()) value_of_slot.push_back(v);
      value_of_slot[slot] = v;
      value.slot = slot;
    }
    plan_.slots = value_of_slot.size();
  }

  const SpecShapes& shapes_;
  const std::vector<OperationTraits>& traits_;
  SpecPlan plan_;
};

}  // namespace

SpecPlan PlanSpec(const SpecShapes& shapes, const std::vector<OperationTraits>& traits) {
  return Planner(shapes, traits).Plan();
}

}  // namespace hone::gnn
