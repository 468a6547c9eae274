// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps the registry of operations that a program adds to the engine's.
#include "gnn/spec/own_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "gnn/spec/spec_words.h"

namespace hone::gnn {
namespace {

constexpr std::array<std::string_view, 7> kTaken = {"name", "op", "of", "parameters", "stream", "width", "layer"};

bool IsWord(std::string_view word) {
  return !word.empty() && word.size() <= 64 && word.front() >= 'a' && word.front() <= 'z' &&
         std::all_of(word.begin(), word.end(),
                     [](unsigned char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

// The registered operations. The object is never destroyed, because a model may be destroyed after every other object.
struct Registry {
  std::mutex mutex;
  std::vector<std::unique_ptr<const OpKind>> kinds;
};
Registry& TheRegistry() {
  static auto* const registry = new Registry;
  return *registry;
}

}  // namespace

Status RegisterOp(std::unique_ptr<const OpKind> kind) {
  const std::string name(kind->name());
  if (!IsWord(name)) {
    return Status::InvalidArgument(
        fmt::format("operation '{}': use a name of 1 to 64 lower-case letters, digits and _, a letter first", name));
  }
  if (kind->edge_features() != EdgeFeatureUse::kNone && !kind->aggregates()) {
    return Status::InvalidArgument(fmt::format(
        "operation '{}' reads the features of edges and does not aggregate: only an aggregation has edges", name));
  }
  std::vector<std::string> option_names;
  for (const OpOption& option : kind->options()) {
    const bool name_is_taken = std::find(kTaken.begin(), kTaken.end(), option.name) != kTaken.end() ||
                               std::find(option_names.begin(), option_names.end(), option.name) != option_names.end();
    if (!IsWord(option.name) || name_is_taken) {
      return Status::InvalidArgument(fmt::format(
          "operation '{}': its option '{}' is {}: give it another name", name, option.name,
          name_is_taken ? "a field of every value, or there twice" : "not lower-case letters, digits and _"));
    }
    if (!(option.least <= option.usual && option.usual <= option.most)) {
      return Status::InvalidArgument(fmt::format("operation '{}': its option '{}' is usually {}, outside {} to {}",
                                                 name, option.name, option.usual, option.least, option.most));
    }
    option_names.push_back(option.name);
  }
  Registry& registry = TheRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  const bool twice = std::any_of(registry.kinds.begin(), registry.kinds.end(),
                                 [&](const auto& other) { return other->name() == name; });
  if (twice || std::find(kOperationNames.begin(), kOperationNames.end(), name) != kOperationNames.end()) {
    return Status::InvalidArgument(fmt::format("operation '{}': there is one of this name: choose another name", name));
  }
  registry.kinds.push_back(std::move(kind));
  return Status::Ok();
}

const OpKind* FindOp(std::string_view name) {
  Registry& registry = TheRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  for (const auto& kind : registry.kinds) {
    if (kind->name() == name) return kind.get();
  }
  return nullptr;
}

std::vector<const OpKind*> RegisteredOps() {
  Registry& registry = TheRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  std::vector<const OpKind*> kinds;
  for (const auto& kind : registry.kinds) kinds.push_back(kind.get());
  return kinds;
}

bool ReadsNeighbors(const OperationSpec& operation) {
  if (const auto* own = std::get_if<OwnSpec>(&operation)) {
    const OpKind* const kind = FindOp(own->kind);
    return kind != nullptr && kind->aggregates();
  }
  return std::holds_alternative<AggregateSpec>(operation) || std::holds_alternative<AttentionSpec>(operation);
}

bool WantsEdgeFeatures(const OperationSpec& operation) {
  const auto* const own = std::get_if<OwnSpec>(&operation);
  const OpKind* const kind = own != nullptr ? FindOp(own->kind) : nullptr;
  return kind != nullptr && kind->edge_features() != EdgeFeatureUse::kNone;
}

bool WantsEdgeFeatures(const ModelSpec& spec) {
  return std::any_of(spec.values.begin(), spec.values.end(),
                     [](const ValueSpec& value) { return WantsEdgeFeatures(value.operation); });
}

int64_t EdgeWidthFor(const ModelSpec* spec, const Graph& graph) {
  return spec != nullptr && WantsEdgeFeatures(*spec) ? graph.edge_features().width : 0;
}

Status CheckEdgeFeatures(const ModelSpec& spec, int64_t edge_width) {
  if (edge_width > 0) return Status::Ok();
  for (const ValueSpec& value : spec.values) {
    const auto* const own = std::get_if<OwnSpec>(&value.operation);
    if (own == nullptr || FindOp(own->kind)->edge_features() != EdgeFeatureUse::kNeeded) continue;
    return Status::InvalidArgument(fmt::format(
        "model '{}', value '{}' ({}): the operation reads the features of edges, and the graph's edges have none: "
        "convert the graph with edge_features.npy, or with --edge-features (docs/graphs.md)",
        spec.name, value.name, own->kind));
  }
  return Status::Ok();
}

OpOptions AllOptions(const OpKind& kind, const OwnSpec& own) {
  OpOptions options = own.options;
  for (const OpOption& option : kind.options()) options.emplace(option.name, option.usual);
  return options;
}

OpPlace PlaceOf(const OwnSpec& own, std::string parameters, int64_t in, int64_t out, int64_t edge_width,
                SpecShapes::DropKey key, uint64_t seed) {
  const OpKind* const kind = FindOp(own.kind);
  HONE_CHECK(kind != nullptr, "a spec that was checked has registered operations alone");
  OpPlace place;
  place.parameters = std::move(parameters);
  place.seed = seed;
  place.in = in;
  place.out = out;
  place.edge_columns = kind->edge_features() == EdgeFeatureUse::kNone ? 0 : edge_width;
  place.options = AllOptions(*kind, own);
  place.layer = key.layer;
  place.site = static_cast<uint8_t>(key.site);
  return place;
}

}  // namespace hone::gnn
