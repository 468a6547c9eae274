// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/sweep/dispatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "tuner/model/builtin/cuda_lexer.h"
#include "tuner/model/builtin/plan_text.h"

namespace hone {
namespace {

struct Segment {
  double low = 0, high = 0;  // range of the variable's values
  Binding binding;
};

// Divides the shapes, in ascending order of a variable's values, into segments with one winner each. nullopt when two
// shapes with the same value have different winners.
std::optional<std::vector<Segment>> DivideIntoSegments(const std::vector<ShapeChoice>& shapes,
                                                       const std::vector<double>& values) {
  std::vector<size_t> order(shapes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<Segment> segments;
  for (size_t k = 0; k < order.size(); ++k) {
    const ShapeChoice& shape = shapes[order[k]];
    const double value = values[order[k]];
    if (!segments.empty() && segments.back().binding == shape.binding) {
      segments.back().high = value;
      continue;
    }
    if (!segments.empty() && segments.back().high == value) return std::nullopt;
    segments.push_back({value, value, shape.binding});
  }
  return segments;
}

bool NamesTunable(const Expression& expression, const LaunchPlan& plan) {
  for (const std::string& name : expression.Names()) {
    for (const auto& [tunable, choices] : plan.tunables) {
      if (name == tunable) return true;
    }
  }
  return false;
}

std::string WithText(const Binding& binding) {
  std::string text;
  for (const auto& [name, value] : binding) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  return "{ " + text + " }";
}

// Returns whether a launch entry accepts the rule's single shape; nullopt if that depends on the device or on the
// tensors' alignment.
std::optional<bool> EntryAccepts(const PlanEntry& entry, const DispatchRule& rule) {
  if (!entry.when) return true;
  std::map<std::string, int64_t> fixed_sizes(rule.shape->begin(), rule.shape->end());
  for (const auto& [name, value] : rule.binding) fixed_sizes[name] = value;
  for (const auto& [name, value] : entry.with) fixed_sizes[name] = value;
  const Result<int64_t> holds = entry.when->Evaluate(fixed_sizes);
  return holds.ok() ? std::optional<bool>(*holds != 0) : std::nullopt;
}

// Returns the text of a launch section with the rule's condition and binding.
std::string CopyEntry(std::string_view source, const PlanSection& section, const PlanEntry& entry,
                      const DispatchRule& rule) {
  const size_t end = section.keys.empty() ? section.end : section.keys.back().line_end;
  std::vector<TextEdit> edits;
  Binding binding = rule.binding;
  for (const auto& [name, value] : entry.with) binding[name] = value;  // what the author's own `with` binds stays
  const std::string when = entry.when ? fmt::format("({}) && ({})", rule.when, entry.when->text()) : rule.when;
  std::string added;
  const auto set = [&](const char* key, const std::string& value) {
    if (const PlanKey* old = section.Find(key)) {
      edits.push_back({old->value_begin - section.begin, old->value_end - section.begin, value});
    } else {
      added += fmt::format("{} = {}\n", key, value);
    }
  };
  set("when", Quote(when));
  set("with", WithText(binding));
  std::string text = ApplyEdits(source.substr(section.begin, end - section.begin), edits);
  if (!text.ends_with('\n')) text += '\n';
  return text + added + "\n";
}

}  // namespace

std::vector<DispatchRule> MakeDispatchRules(const std::vector<ShapeChoice>& shapes, const Binding& common) {
  if (std::all_of(shapes.begin(), shapes.end(), [&](const ShapeChoice& s) { return s.binding == common; })) return {};
  // The variables that may separate the shapes are each dimension, and the product of all.
  std::vector<std::pair<std::string, std::vector<double>>> variables;
  std::string product;
  for (const auto& [name, first] : shapes.front().dims) {
    std::vector<double> values;
    for (const ShapeChoice& s : shapes) values.push_back(static_cast<double>(s.dims.at(name)));
    variables.emplace_back(name, std::move(values));
    product += (product.empty() ? "" : " * ") + name;
  }
  if (shapes.front().dims.size() > 1) {
    std::vector<double> values;
    for (const ShapeChoice& s : shapes) {
      double shape_product = 1;
      for (const auto& [name, value] : s.dims) shape_product *= static_cast<double>(value);
      values.push_back(shape_product);
    }
    variables.emplace_back(product, std::move(values));
  }
  const std::string* variable = nullptr;
  std::vector<Segment> best;
  for (const auto& [name, values] : variables) {
    std::optional<std::vector<Segment>> segments = DivideIntoSegments(shapes, values);
    // If every value has its own winner, this is no pattern: the shapes are named exactly instead, and all others get
    // the common binding.
    if (segments && segments->size() > 2 && segments->size() == shapes.size()) continue;
    if (segments && (variable == nullptr || segments->size() < best.size())) {
      variable = &name;
      best = std::move(*segments);
    }
  }
  std::vector<DispatchRule> rules;
  if (variable != nullptr) {
    for (size_t i = 0; i < best.size(); ++i) {
      if (best[i].binding == common) continue;
      std::string when;
      const auto between = [&](const Segment& a, const Segment& b) {
        // Sizes may be zero, for which there is no geometric middle.
        const double middle = a.high > 0 ? std::sqrt(a.high * b.low) : b.low / 2;
        return static_cast<int64_t>(middle);
      };
      if (i > 0) when += fmt::format("{} > {}", *variable, between(best[i - 1], best[i]));
      if (i + 1 < best.size()) {
        when += fmt::format("{}{} <= {}", when.empty() ? "" : " && ", *variable, between(best[i], best[i + 1]));
      }
      rules.push_back({std::move(when), best[i].binding});
    }
    return rules;
  }
  for (const ShapeChoice& s : shapes) {
    if (s.binding == common) continue;
    std::string when;
    for (const auto& [name, value] : s.dims) when += fmt::format("{}{} == {}", when.empty() ? "" : " && ", name, value);
    rules.push_back({std::move(when), s.binding, s.dims});
  }
  return rules;
}

Result<std::string> WriteDispatch(const Candidate& candidate, const Task& task, const Binding& common,
                                  const std::vector<DispatchRule>& rules) {
  const std::string_view source = candidate.source;
  const LaunchPlan& plan = candidate.plan;
  HONE_ASSIGN_OR_RETURN(PlanOutline text, FindPlan(source));
  std::vector<TextEdit> edits;
  if (const PlanSection* tune = text.Find("tune")) {
    for (const auto& [name, choices] : plan.tunables) {
      const auto chosen = common.find(name);
      const PlanKey* key = tune->Find(name);
      if (chosen == common.end() || key == nullptr || choices.front() == chosen->second) continue;
      std::vector<int64_t> ordered{chosen->second};
      for (const int64_t choice : choices) {
        if (choice != chosen->second) ordered.push_back(choice);
      }
      edits.push_back({key->value_begin, key->value_end, fmt::format("[{}]", fmt::join(ordered, ", "))});
    }
  }
  if (!rules.empty()) {
    // A workspace's size that was computed for one binding would be wrong for another.
    for (const WorkspaceSpec& w : plan.workspaces) {
      if (NamesTunable(w.bytes, plan)) {
        return Status::InvalidArgument(
            fmt::format("workspace '{}' depends on a tunable: one binding must serve all shapes", w.name));
      }
    }
    for (const TensorMapSpec& map : plan.tensor_maps) {
      for (const auto* list : {&map.dims, &map.strides, &map.box, &map.element_strides}) {
        for (const Expression& e : *list) {
          if (NamesTunable(e, plan)) {
            return Status::InvalidArgument(
                fmt::format("tensor map '{}' depends on a tunable: one binding must serve all shapes", map.name));
          }
        }
      }
    }
    const PlanSection* first = nullptr;
    std::string copies;
    for (const DispatchRule& rule : rules) {
      std::set<int> served;  // steps for which an earlier entry certainly accepts the rule's shape
      for (size_t i = 0; i < plan.entries.size(); ++i) {
        if (rule.shape && !plan.entries[i].is_memset) {
          if (served.contains(plan.entries[i].step)) continue;
          const std::optional<bool> takes = EntryAccepts(plan.entries[i], rule);
          if (takes && !*takes) continue;
          if (takes) served.insert(plan.entries[i].step);
        }
        const PlanSection* section = text.Entry(i);
        if (section == nullptr) return Status::InvalidArgument("the plan's text is not understood");
        if (first == nullptr) first = section;
        if (!plan.entries[i].is_memset)
          copies += CopyEntry(source, *section, plan.entries[i], rule);
        else if (plan.entries[i].memset_bytes && NamesTunable(*plan.entries[i].memset_bytes, plan)) {
          return Status::InvalidArgument("a memset depends on a tunable: one binding must serve all shapes");
        }
      }
    }
    if (first == nullptr) return Status::InvalidArgument("the plan has no entries");
    edits.push_back({first->begin, first->begin, copies});
  }
  std::string out = ApplyEdits(source, std::move(edits));
  Result<Candidate> check = ParseCandidate(out, candidate.name, task);
  if (!check.ok()) return check.status().WithContext("the swept plan does not parse");
  return out;
}

}  // namespace hone
