// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sizes are those of the Open Graph Benchmark's pages; sigmas of arxiv and products are our choice, and papers100M's is
// calibrated against published counts of sampled nodes (docs/graphs.md). See synthetic_shape.h.
#include "gnn/graph/synthetic/synthetic_shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "gnn/graph/feature_dtype.h"

namespace hone::gnn {
namespace {

constexpr std::string_view kPrefix = "synthetic:";
constexpr int64_t kRegionNodes = 500'000;  // about as many nodes as a region has
constexpr int64_t kMaxNodes = 2'000'000'000;  // fits int32, the type of node ids

template <typename T>
Status ParseNumber(std::string_view key, std::string_view text, T low, T high, T& out) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= low && value <= high)) {
    return Status::InvalidArgument(fmt::format("'{}={}': expected a number from {} to {}", key, text, low, high));
  }
  out = value;
  return Status::Ok();
}

// Sets the sizes of communities for spec.num_nodes nodes. Every class has a block if there are enough nodes.
void SetCommunities(SyntheticSpec& spec) {
  const int64_t n = spec.num_nodes, classes = spec.num_classes;
  const int64_t region_target = std::min(kRegionNodes, n);
  spec.block_nodes = std::max<int64_t>(1, (region_target + classes / 2) / classes);
  if (spec.block_nodes * classes > n) spec.block_nodes = std::max<int64_t>(1, n / classes);
  spec.blocks_per_region = classes;
  spec.num_blocks = std::max<int64_t>(1, n / spec.block_nodes);
  spec.num_regions = std::max<int64_t>(1, spec.num_blocks / classes);
  spec.block_slot_cap = static_cast<int32_t>(std::max<int64_t>(1, spec.block_nodes / 4));
}

}  // namespace

const std::vector<SyntheticShape>& SyntheticShapes() {
  static const std::vector<SyntheticShape> shapes = {
      // name, nodes, mean degree, sigma, max degree, width, classes, train, valid, test, centroid weight
      {"arxiv", 169'343, 13.77, 1.3, 13'161, 128, 40, 90'941, 29'799, 48'603, 14},
      {"products", 2'449'029, 50.52, 1.15, 17'481, 100, 47, 196'615, 39'323, 2'213'091, 17},
      {"papers100M", 111'059'956, 29.07, 1.5, 251'471, 128, 172, 1'207'179, 125'265, 214'338, 15},
  };
  return shapes;
}

bool IsSyntheticName(std::string_view name) { return name.starts_with(kPrefix); }

Result<SyntheticRequest> ParseSyntheticName(const std::string& name) {
  const auto refuse = [&](const std::string& why) {
    std::vector<std::string_view> shape_names;
    for (const SyntheticShape& shape : SyntheticShapes()) shape_names.push_back(shape.name);
    return Status::InvalidArgument(fmt::format("'{}': {}; write synthetic:SHAPE?scale=0.1&seed=1, SHAPE one of {}",
                                               name, why, fmt::join(shape_names, ", ")));
  };
  if (!IsSyntheticName(name)) return refuse("is not the name of a synthetic graph");
  std::string_view shape_and_parameters = std::string_view(name).substr(kPrefix.size());
  const size_t question = shape_and_parameters.find('?');
  const std::string_view shape_name = shape_and_parameters.substr(0, question);
  std::string_view parameters =
      question == std::string_view::npos ? std::string_view() : shape_and_parameters.substr(question + 1);
  const auto& shapes = SyntheticShapes();
  const auto shape = std::find_if(shapes.begin(), shapes.end(), [&](const auto& s) { return s.name == shape_name; });
  if (shape == shapes.end()) return refuse(fmt::format("there is no shape '{}'", shape_name));

  double scale = 1, degree = shape->mean_degree, sigma = shape->sigma;
  int64_t nodes = 0;
  int32_t width = shape->width, classes = shape->classes;
  uint64_t seed = 1;
  FeatureDtype dtype = FeatureDtype::kFloat16;
  while (!parameters.empty()) {
    const size_t end = parameters.find('&');
    const std::string_view part = parameters.substr(0, end);
    parameters = end == std::string_view::npos ? std::string_view() : parameters.substr(end + 1);
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) return refuse(fmt::format("'{}' is not of the form key=value", part));
    const std::string_view key = part.substr(0, equals), value = part.substr(equals + 1);
    Status status;
    if (key == "scale") status = ParseNumber(key, value, 1e-9, 1e3, scale);
    else if (key == "nodes") status = ParseNumber<int64_t>(key, value, 1, kMaxNodes, nodes);
    else if (key == "seed") status = ParseNumber<uint64_t>(key, value, 0, UINT64_MAX, seed);
    else if (key == "degree") status = ParseNumber(key, value, 1.1, 10'000.0, degree);
    else if (key == "sigma") status = ParseNumber(key, value, 0.01, 3.0, sigma);
    else if (key == "features") status = ParseNumber<int32_t>(key, value, 0, 65'536, width);
    else if (key == "classes") status = ParseNumber<int32_t>(key, value, 1, 1'000'000, classes);
    else if (key == "dtype") {
      Result<FeatureDtype> parsed = ParseFeatureDtype(value);
      if (parsed.ok()) dtype = parsed.value();
      status = parsed.status();
    } else {
      return refuse(
          fmt::format("unknown parameter '{}' (known: scale, nodes, seed, degree, sigma, features, classes, "
                      "dtype)",
                      key));
    }
    if (!status.ok()) return refuse(status.message());
  }
  if (nodes > 0) scale = static_cast<double>(nodes) / static_cast<double>(shape->nodes);
  if (nodes == 0) nodes = std::llround(scale * static_cast<double>(shape->nodes));
  if (nodes < 1 || nodes > kMaxNodes)
    return refuse(fmt::format("{} nodes; from 1 to {} are possible", nodes, kMaxNodes));

  SyntheticRequest request;
  request.name = name;
  request.shape = shape->name;
  request.dtype = dtype;
  SyntheticSpec& spec = request.spec;
  spec.seed = seed;
  spec.num_nodes = nodes;
  spec.num_classes = classes;
  spec.width = width;
  spec.centroid_weight = shape->centroid_weight;
  SetCommunities(spec);
  const auto scaled = [&](int64_t count) {
    return std::min<int64_t>(nodes, std::llround(static_cast<double>(count) * scale));
  };
  const int64_t labelled = shape->train + shape->valid + shape->test;
  spec.num_labelled = labelled == shape->nodes ? nodes : scaled(labelled);
  spec.labelled_first = spec.num_labelled >= spec.block_nodes * spec.blocks_per_region || spec.num_labelled == nodes;
  spec.num_train = std::min(spec.num_labelled, scaled(shape->train));
  spec.num_valid = std::min(spec.num_labelled - spec.num_train, scaled(shape->valid));
  // A node has at most as many neighbors as there are other nodes, and the mean must lie well below that maximum.
  const uint32_t max_degree = static_cast<uint32_t>(
      std::max<int64_t>(static_cast<int64_t>(degree * 2) + 2, std::min<int64_t>(shape->max_degree, nodes - 1)));
  request.degrees = MakeDegreeTable(degree, sigma, max_degree);
  return request;
}

}  // namespace hone::gnn
