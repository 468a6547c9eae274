// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks a spec before anything is allocated for it: names, operands, rows, widths, and keys of dropout.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text/nearest_word.h"
#include "gnn/spec/own_operations.h"
#include "gnn/spec/spec_words.h"
#include "hone/gnn/model_spec.h"
#include "hone/gnn/op.h"

namespace hone::gnn {
namespace {

constexpr size_t kMostValues = 1024;
constexpr int kMostLayers = 64;
constexpr int64_t kMostColumns = 65536;

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;  // deduction guide, which clang 14 needs for an aggregate

// Returns whether `name` may be the name of a value.
bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}
// Returns whether `name` may be the prefix of parameters; such names have dots: "convs.0.lin_l".
bool IsParameterName(std::string_view name) {
  return !name.empty() && name.size() <= 128 && name.front() != '.' && name.back() != '.' &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return c == '.' || c == '_' || c == '-' || std::isalnum(c) != 0; });
}

// Returns whether the operation may have several operands.
bool TakesSeveral(const OperationSpec& operation) {
  return std::holds_alternative<AddSpec>(operation) || std::holds_alternative<ConcatSpec>(operation) ||
         std::holds_alternative<CollectSpec>(operation);
}

class Checker {
 public:
  explicit Checker(const ModelSpec& spec) : spec_(spec) {}

  // Checks everything that does not depend on the graph's widths, and fills in all shapes except widths.
  Status CheckStructure() {
    if (spec_.values.empty()) {
      return Refuse("has no values: list at least one that aggregates neighbors and one that gives the classes");
    }
    if (spec_.values.size() > kMostValues) {
      return Refuse(fmt::format("has {} values: {} are the most", spec_.values.size(), kMostValues));
    }
    index_[std::string(kSpecInput)] = 0;
    shapes_.operands.emplace_back();
    for (size_t i = 0; i < spec_.values.size(); ++i) HONE_RETURN_IF_ERROR(AddValue(i));
    HONE_RETURN_IF_ERROR(CheckUses());
    HONE_RETURN_IF_ERROR(PlaceRows());
    HONE_RETURN_IF_ERROR(CheckParameters());
    return KeyDrops();
  }

  // Checks and fills in the widths.
  Status CheckWidths(int64_t in_width, int64_t num_classes) {
    shapes_.width.assign(1, in_width);
    for (size_t v = 1; v <= spec_.values.size(); ++v) {
      const ValueSpec& value = Value(v);
      const std::vector<int>& operands = shapes_.operands[v];
      const auto width_of = [&](int operand) { return shapes_.width[static_cast<size_t>(operand)]; };
      const auto width_or_classes = [&](int64_t width) { return width == kClassWidth ? num_classes : width; };
      int64_t width = width_of(operands[0]);
      if (const auto* linear = std::get_if<LinearSpec>(&value.operation)) width = width_or_classes(linear->width);
      if (std::holds_alternative<HeadSpec>(value.operation)) width = num_classes;
      if (const auto* attention = std::get_if<AttentionSpec>(&value.operation)) {
        width = width_or_classes(attention->width) * (attention->concatenate ? attention->heads : 1);
      }
      if (const auto* own = std::get_if<OwnSpec>(&value.operation)) {
        const Result<int64_t> own_width =
            FindOp(own->kind)->Width(width, width_or_classes(own->width), AllOptions(*FindOp(own->kind), *own));
        if (!own_width.ok()) return RefuseValue(v, own_width.status().message());
        width = *own_width;
      }
      if (std::holds_alternative<AddSpec>(value.operation)) {
        for (const int operand : operands) {
          if (width_of(operand) == width) continue;
          return RefuseValue(
              v, fmt::format("adds {} of {} columns and {} of {}: give them one width, by a linear of {} "
                             "or of {} for example",
                             Quoted(operands[0]), width, Quoted(operand), width_of(operand), Quoted(operands[0]), Quoted(operand)));
        }
      }
      if (std::holds_alternative<ConcatSpec>(value.operation) || std::holds_alternative<CollectSpec>(value.operation)) {
        width = 0;
        for (const int operand : operands) width += width_of(operand);
      }
      if (width < 1 || width > kMostColumns) {
        return RefuseValue(v, fmt::format("has {} columns: use 1 to {}", width, kMostColumns));
      }
      shapes_.width.push_back(width);
    }
    if (shapes_.width.back() == num_classes) return Status::Ok();
    return RefuseValue(spec_.values.size(),
                       fmt::format("is the last value and has {} columns, where the graph has {} classes: end with a "
                                   "head, or give it width \"classes\"",
                                   shapes_.width.back(), num_classes));
  }

  SpecShapes&& Take() { return std::move(shapes_); }

 private:
  const ValueSpec& Value(size_t v) const { return spec_.values[v - 1]; }
  std::string Quoted(int v) const {
    return v == 0 ? fmt::format("'{}'", kSpecInput) : fmt::format("'{}'", Value(static_cast<size_t>(v)).name);
  }
  Status Refuse(const std::string& problem) const {
    return Status::InvalidArgument(fmt::format("model '{}' {}", spec_.name, problem));
  }
  // Returns the error "model 'gcn', value 'h' (linear of 'a'): PROBLEM".
  Status RefuseValue(size_t v, const std::string& problem) const {
    const ValueSpec& value = Value(v);
    return Status::InvalidArgument(
        fmt::format("model '{}', value '{}' ({}{}) {}", spec_.name, value.name, OperationName(value.operation),
                    value.of.empty() ? "" : fmt::format(" of {}", fmt::join(value.of, ", ")), problem));
  }

  // Checks the name, the operands and the options of value i.
  Status AddValue(size_t i) {
    const ValueSpec& value = spec_.values[i];
    const size_t v = i + 1;
    if (!IsName(value.name)) {
      return RefuseValue(v, "needs a name of 1 to 64 letters, digits, _ and -");
    }
    if (value.name == kSpecInput) {
      return RefuseValue(
          v, fmt::format("is called as the graph's features are: choose a name other than '{}'", kSpecInput));
    }
    if (index_.contains(value.name)) {
      return RefuseValue(v, "has a name that an earlier value has: each value is made once; choose another name");
    }
    std::vector<int> operands;
    for (const std::string& operand : value.of) {
      const auto found = index_.find(operand);
      if (found == index_.end()) {
        const bool later = std::any_of(spec_.values.begin() + static_cast<std::ptrdiff_t>(i), spec_.values.end(),
                                       [&](const ValueSpec& other) { return other.name == operand; });
        if (later) {
          return RefuseValue(v,
                             fmt::format("reads '{}', which is made later: list values in the order in which they are "
                                         "computed",
                                         operand));
        }
        std::vector<std::string> value_names;
        for (const auto& [name, index] : index_) value_names.push_back(name);
        return RefuseValue(
            v, fmt::format("reads '{}', which is no value before it{}", operand, DidYouMean(operand, value_names)));
      }
      operands.push_back(found->second);
    }
    const size_t least = std::holds_alternative<AddSpec>(value.operation) ? 2 : 1;
    if (operands.size() < least || (operands.size() > 1 && !TakesSeveral(value.operation))) {
      return RefuseValue(v, fmt::format("has {} operands, and {} takes {}: give `of` the names of the values it reads",
                                        operands.size(), OperationName(value.operation),
                                        !TakesSeveral(value.operation) ? "one"
                                        : least == 2                   ? "two or more"
                                                                       : "one or more"));
    }
    HONE_RETURN_IF_ERROR(CheckOptions(v));
    index_[value.name] = static_cast<int>(v);
    shapes_.operands.push_back(std::move(operands));
    return Status::Ok();
  }

  Status CheckOptions(size_t v) const {
    const auto check_width = [&](int64_t columns) -> Status {
      if (columns == kClassWidth || (columns >= 1 && columns <= kMostColumns)) return Status::Ok();
      return RefuseValue(v, fmt::format("has width {}: use 1 to {}, or \"classes\"", columns, kMostColumns));
    };
    return std::visit(
        Overloaded{[&](const AggregateSpec& o) -> Status {
                     if (o.scale == AggregateSpec::Scale::kSymmetric && o.how != AggregateSpec::How::kSum) {
                       return RefuseValue(v, "has scale \"symmetric\", which weighs a sum: give it how = \"sum\"");
                     }
                     return Status::Ok();
                   },
                   [&](const AttentionSpec& o) -> Status {
                     if (o.heads < 1 || o.heads > 64) {
                       return RefuseValue(v, fmt::format("has {} heads: use 1 to 64", o.heads));
                     }
                     if (!(o.negative_slope >= 0 && o.negative_slope <= 1)) {
                       return RefuseValue(v, fmt::format("has negative_slope {}: use 0 to 1", o.negative_slope));
                     }
                     return check_width(o.width);
                   },
                   [&](const LinearSpec& o) -> Status { return check_width(o.width); },
                   [&](const OwnSpec& o) -> Status {
                     const OpKind* const kind = FindOp(o.kind);
                     if (kind == nullptr) {
                       return RefuseValue(
                           v, fmt::format("is of kind '{}', which this program does not have: its program "
                                          "registers it with RegisterOp (hone/gnn/op.h) before the model is read",
                                          o.kind));
                     }
                     return CheckOwnOptions(v, *kind, o);
                   },
                   [&](const DropSpec& o) -> Status {
                     if (!(o.probability >= 0 && o.probability < 1)) {
                       return RefuseValue(v, fmt::format("has probability {}: use 0 up to, but not, 1", o.probability));
                     }
                     if (o.layer < -1 || o.layer > 255) {
                       return RefuseValue(v, fmt::format("has layer {}: use 0 to 255", o.layer));
                     }
                     if (o.site < -1 || o.site > 255 || (o.site > kHeadSite && o.site < kFirstFreeSite)) {
                       return RefuseValue(
                           v, fmt::format("has site {}: use {} or {} to 255", o.site, SiteWords(), kFirstFreeSite));
                     }
                     if (!o.after.empty() && (o.layer >= 0 || o.site >= 0)) {
                       return RefuseValue(v,
                                          "has `after` and a layer or site of its own: leave these out, for the draws "
                                          "are the other's");
                     }
                     return Status::Ok();
                   },
                   [](const auto&) -> Status { return Status::Ok(); }},
        Value(v).operation);
  }

  // Checks the width and the options that a spec gives a registered operation.
  Status CheckOwnOptions(size_t v, const OpKind& kind, const OwnSpec& own) const {
    if (own.width != 0 && own.width != kClassWidth && (own.width < 1 || own.width > kMostColumns)) {
      return RefuseValue(v, fmt::format("has width {}: use 1 to {}, or \"classes\"", own.width, kMostColumns));
    }
    const std::vector<OpOption> options = kind.options();
    for (const auto& [name, value] : own.options) {
      const auto option =
          std::find_if(options.begin(), options.end(), [&wanted = name](const OpOption& o) { return o.name == wanted; });
      if (option == options.end()) return RefuseValue(v, fmt::format("has '{}', which is no option of it", name));
      if (!(value >= option->least && value <= option->most) || (option->whole && value != std::floor(value))) {
        return RefuseValue(v, fmt::format("has {} {}: use {}{} to {}", name, value,
                                          option->whole ? "a whole number from " : "", option->least, option->most));
      }
    }
    return Status::Ok();
  }

  // Checks that every value except the last is read by a later one.
  Status CheckUses() const {
    std::vector<bool> is_used(spec_.values.size() + 1, false);
    for (const std::vector<int>& operands : shapes_.operands) {
      for (const int operand : operands) is_used[static_cast<size_t>(operand)] = true;
    }
    for (size_t v = 1; v < spec_.values.size(); ++v) {
      if (!is_used[v]) return RefuseValue(v, "is read by no value after it: take it out, or name it in an `of`");
    }
    return Status::Ok();
  }

  // Finds the rows at which each value is read, going back from the logits.
  Status PlaceRows() {
    shapes_.hop.assign(spec_.values.size() + 1, 0);
    std::vector<bool> sealed(spec_.values.size() + 1, false);  // the value has rows of the seeds only
    for (size_t v = 1; v <= spec_.values.size(); ++v) {
      const OperationSpec& operation = Value(v).operation;
      bool of_sealed = false;
      for (const int operand : shapes_.operands[v]) of_sealed = of_sealed || sealed[static_cast<size_t>(operand)];
      if (of_sealed && ReadsNeighbors(operation)) {
        return RefuseValue(
            v,
            "aggregates rows of the seeds, which a collect before it left alone: aggregate first, or use "
            "concat instead of collect");
      }
      sealed[v] = of_sealed || std::holds_alternative<CollectSpec>(operation);
    }
    for (size_t v = spec_.values.size(); v > 0; --v) {
      const OperationSpec& operation = Value(v).operation;
      int operand_hop = shapes_.hop[v];
      if (ReadsNeighbors(operation)) ++operand_hop;
      if (std::holds_alternative<CollectSpec>(operation)) operand_hop = 0;
      for (const int operand : shapes_.operands[v]) {
        int& hop = shapes_.hop[static_cast<size_t>(operand)];
        hop = std::max(hop, operand_hop);
      }
    }
    shapes_.layers = shapes_.hop[0];
    if (shapes_.layers < 1) {
      return Refuse("aggregates no neighbors of 'x': a model of the engine has at least one aggregate or attention");
    }
    if (shapes_.layers > kMostLayers) {
      return Refuse(fmt::format("aggregates {} times in a row: {} hops are the most", shapes_.layers, kMostLayers));
    }
    const size_t last = spec_.values.size();
    for (size_t v = 1; v < last; ++v) {
      if (std::holds_alternative<HeadSpec>(Value(v).operation)) {
        return RefuseValue(v, "is a head and not the last value: a head ends the model; use linear here");
      }
    }
    return Status::Ok();
  }

  Status CheckParameters() const {
    std::map<std::string, size_t> owner;
    for (size_t v = 1; v <= spec_.values.size(); ++v) {
      const ValueSpec& value = Value(v);
      if (!HasParameters(value.operation)) {
        if (!value.parameters.empty()) {
          return RefuseValue(
              v, fmt::format("has no parameters to be called '{}': leave `parameters` out", value.parameters));
        }
        continue;
      }
      const std::string& name = ParametersOf(value);
      if (!IsParameterName(name)) {
        return RefuseValue(v,
                           fmt::format("calls its parameters '{}': use letters, digits, _, - and dots between", name));
      }
      if (const auto [other, added] = owner.emplace(name, v); !added) {
        return RefuseValue(
            v, fmt::format("calls its parameters '{}', as value '{}' does: give each its own `parameters`", name,
                           Value(other->second).name));
      }
      if (value.stream < -1 || value.stream > shapes_.layers) {
        return RefuseValue(
            v, fmt::format("has stream {}: use 0 to {}, the number of layers", value.stream, shapes_.layers));
      }
    }
    return Status::Ok();
  }

  // Gives every mask its layer and site.
  Status KeyDrops() {
    shapes_.drop_keys.resize(spec_.values.size() + 1);
    std::map<std::pair<int, int>, size_t> value_of_mask;
    const auto drop_of = [&](size_t v) { return std::get_if<DropSpec>(&Value(v).operation); };
    const auto take = [&](size_t v, int layer, int site) -> Status {
      if (const auto [other, added] = value_of_mask.emplace(std::pair(layer, site), v); !added) {
        return RefuseValue(v, fmt::format("takes its mask from layer {}, site {}, as value '{}' does: give one of them "
                                          "another site, or leave sites out",
                                          layer, site, Value(other->second).name));
      }
      shapes_.drop_keys[v] = {layer, site};
      return Status::Ok();
    };
    const auto layer_of = [&](size_t v, const DropSpec& drop) {
      return drop.layer >= 0 ? drop.layer : shapes_.LayerOf(v);
    };
    for (size_t v = 1; v <= spec_.values.size(); ++v) {
      const DropSpec* drop = drop_of(v);
      if (drop != nullptr && drop->after.empty() && drop->site >= 0) {
        HONE_RETURN_IF_ERROR(take(v, layer_of(v, *drop), drop->site));
      }
    }
    for (size_t v = 1; v <= spec_.values.size(); ++v) {
      const DropSpec* drop = drop_of(v);
      if (drop == nullptr || !drop->after.empty() || drop->site >= 0) continue;
      const int layer = layer_of(v, *drop);
      // Sites below kFirstFreeSite are those of the published models. A value with the input's rows takes kInputSite if
      // that is free, any other value kActivationSite; a site that is taken is replaced by the next free one.
      int site = shapes_.hop[v] == shapes_.layers ? kInputSite : kActivationSite;
      while (site <= 255 && value_of_mask.contains({layer, site}))
        site = site < kFirstFreeSite ? kFirstFreeSite : site + 1;
      if (site > 255) return RefuseValue(v, fmt::format("finds no free site: layer {} has too many drops", layer));
      HONE_RETURN_IF_ERROR(take(v, layer, site));
    }
    for (size_t v = 1; v <= spec_.values.size(); ++v) {
      if (!std::holds_alternative<OwnSpec>(Value(v).operation)) continue;
      const int layer = shapes_.LayerOf(v);
      int site = kFirstFreeSite;
      while (site <= 255 && value_of_mask.contains({layer, site})) ++site;
      if (site > 255) return RefuseValue(v, fmt::format("finds no free site: layer {} has too many masks", layer));
      HONE_RETURN_IF_ERROR(take(v, layer, site));
    }
    for (size_t v = 1; v <= spec_.values.size(); ++v) {
      const DropSpec* drop = drop_of(v);
      if (drop == nullptr || drop->after.empty()) continue;
      const auto found = index_.find(drop->after);
      const size_t other = found == index_.end() ? 0 : static_cast<size_t>(found->second);
      if (other == 0 || other >= v || drop_of(other) == nullptr || !drop_of(other)->after.empty()) {
        return RefuseValue(
            v, fmt::format("comes after '{}', which is no drop with draws of its own before it", drop->after));
      }
      // The other Drop must have drawn for every element of this one: it has at least these rows, and the same columns.
      if (shapes_.operands[v][0] != static_cast<int>(other)) {
        return RefuseValue(v, fmt::format("comes after '{}' and does not read it: a second mask from the same draws is "
                                          "for the rows that went through the first",
                                          drop->after));
      }
      shapes_.drop_keys[v] = shapes_.drop_keys[other];
    }
    return Status::Ok();
  }

  const ModelSpec& spec_;
  std::map<std::string, int, std::less<>> index_;
  SpecShapes shapes_;
};

}  // namespace

Result<SpecShapes> CheckModelSpec(const ModelSpec& spec, int64_t in_width, int64_t num_classes) {
  if (in_width < 1)
    return Status::InvalidArgument(
        fmt::format("in_width is {}: the graph needs at least one feature a node", in_width));
  if (num_classes < 1)
    return Status::InvalidArgument(fmt::format("num_classes is {}: the graph needs labels", num_classes));
  Checker checker(spec);
  HONE_RETURN_IF_ERROR(checker.CheckStructure());
  HONE_RETURN_IF_ERROR(checker.CheckWidths(in_width, num_classes));
  return checker.Take();
}

Result<int> LayersOf(const ModelSpec& spec) {
  Checker checker(spec);
  HONE_RETURN_IF_ERROR(checker.CheckStructure());
  return checker.Take().layers;
}

}  // namespace hone::gnn
