// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes bindings of tunables, and the modules that they need. plan_parser.cc reads a plan; resolve_plan.cc turns it
// into numbers.
#include "hone/tuner/candidate.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/core/plan/bindings.h"

namespace hone {

std::string BindingKey(const Binding& binding) {
  std::string key;
  for (const auto& [name, value] : binding) key += fmt::format("{}{}={}", key.empty() ? "" : ",", name, value);
  return key;
}

bool UsesCute(const Candidate& candidate) {
  return candidate.plan.include_set == "cute" && (candidate.source.find("cute::") != std::string::npos ||
                                                  candidate.source.find("namespace cute") != std::string::npos);
}

Binding DefaultBinding(const LaunchPlan& plan) {
  Binding binding;
  for (const auto& [name, choices] : plan.tunables) binding[name] = choices.front();
  return binding;
}

namespace {

// Returns whether a constraint holds for a binding. It does not hold if it has no value (a division by zero).
bool ConstraintHolds(const Expression& constraint, const Binding& binding) {
  const Result<int64_t> value = constraint.Evaluate(binding);
  return value.ok() && *value != 0;
}
bool AllHold(const std::vector<Expression>& constraints, const Binding& binding) {
  return std::all_of(constraints.begin(), constraints.end(),
                     [&](const Expression& c) { return ConstraintHolds(c, binding); });
}

}  // namespace

bool SatisfiesConstraints(const LaunchPlan& plan, const Binding& binding) {
  return std::all_of(plan.constraints.begin(), plan.constraints.end(), [&](const std::string& text) {
    const Result<Expression> constraint = Expression::Parse(text);
    return constraint.ok() && ConstraintHolds(*constraint, binding);
  });
}

std::vector<Binding> AllBindings(const LaunchPlan& plan) {
  // Constraints are parsed once: there may be 65,536 combinations.
  std::vector<Expression> constraints;
  for (const std::string& text : plan.constraints) {
    Result<Expression> constraint = Expression::Parse(text);
    if (!constraint.ok()) return {};
    constraints.push_back(std::move(constraint).value());
  }
  std::vector<Binding> bindings = {{}};
  for (const auto& [name, choices] : plan.tunables) {
    std::vector<Binding> extended;
    extended.reserve(bindings.size() * choices.size());
    for (const Binding& binding : bindings) {
      for (const int64_t choice : choices) {
        extended.push_back(binding);
        extended.back()[name] = choice;
      }
    }
    bindings = std::move(extended);
  }
  std::erase_if(bindings, [&](const Binding& binding) { return !AllHold(constraints, binding); });
  return bindings;
}

Binding EffectiveBinding(const LaunchPlan& plan, const Binding& binding, const PlanEntry& entry) {
  Binding effective = DefaultBinding(plan);
  for (const auto& [name, value] : binding) effective[name] = value;
  for (const auto& [name, value] : entry.with) effective[name] = value;
  return effective;
}

std::string SubstituteTunables(std::string_view text, const Binding& binding) {
  const auto part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  std::string result;
  for (size_t i = 0; i < text.size();) {
    if (!part(text[i])) {
      result += text[i++];
      continue;
    }
    size_t end = i;
    while (end < text.size() && part(text[end])) ++end;
    const std::string word(text.substr(i, end - i));
    const auto found = binding.find(word);
    result += found == binding.end() ? word : fmt::format("{}", found->second);
    i = end;
  }
  return result;
}

std::vector<CompileUnit> CompileUnits(const Candidate& candidate, const Binding& binding) {
  std::vector<CompileUnit> units;
  for (const PlanEntry& entry : candidate.plan.entries) {
    if (!entry.is_launch()) continue;
    const Binding effective = EffectiveBinding(candidate.plan, binding, entry);
    auto unit = std::find_if(units.begin(), units.end(), [&](const CompileUnit& u) { return u.binding == effective; });
    if (unit == units.end()) {
      units.push_back({effective, {}});
      unit = units.end() - 1;
    }
    const std::string kernel = SubstituteTunables(entry.kernel, effective);
    if (std::find(unit->kernels.begin(), unit->kernels.end(), kernel) == unit->kernels.end()) {
      unit->kernels.push_back(kernel);
    }
  }
  return units;
}

int LineOfCall(const LaunchPlan& plan) {
  int line = 0;
  for (const PlanEntry& entry : plan.entries) {
    if (entry.call && (line == 0 || entry.line < line)) line = entry.line;
  }
  return line;
}

double ResolvedCall::flops() const {
  if (!convolution) {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) * static_cast<double>(batch);
  }
  const ResolvedConvolution& c = *convolution;
  double terms = 2.0 * static_cast<double>(c.batch) * static_cast<double>(c.in_channels) * static_cast<double>(c.out_channels) /
                 static_cast<double>(c.groups);
  for (size_t axis = 0; axis < c.size.size(); ++axis) {
    terms *= static_cast<double>(c.kernel[axis]) * static_cast<double>(c.transposed ? c.size[axis] : c.OutSize(axis));
  }
  return terms;
}

std::string ResolvedCall::Describe() const {
  if (convolution) {
    const ResolvedConvolution& c = *convolution;
    return fmt::format("{}convolution {}x{}x{}, {} kernels of {}, {} by cuDNN", c.transposed ? "transposed " : "", c.batch, c.in_channels,
                       fmt::join(c.size, "x"), c.out_channels, fmt::join(c.kernel, "x"), DTypeName(dtype));
  }
  const std::string batches = batch == 1 ? "" : fmt::format("{} times ", batch);
  return fmt::format("matmul {}{}x{}x{} {} by cuBLASLt", batches, m, n, k, DTypeName(dtype));
}

}  // namespace hone
