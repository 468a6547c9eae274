// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See split_masks.h.
#include "gnn/graph/convert/split_masks.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <vector>

namespace hone::gnn {
namespace {

constexpr const char* kSplits[] = {"train", "valid", "test"};

struct MaskShape {
  int64_t nodes = 0;
  int64_t splits = 1;
  bool one_dimension = true;
};

// Returns the numbers of nodes and splits that a mask has.
Result<MaskShape> ShapeOf(const NpyArray& mask, bool splits_first) {
  const NpyHeader& h = mask.header();
  if (h.shape.size() == 1) return MaskShape{h.shape[0], 1, true};
  if (h.shape.size() != 2) {
    return Status::InvalidArgument(
        fmt::format("'{}' is {}: a mask is an array [N], true at the nodes of the split", mask.name(), h.Text()));
  }
  return splits_first ? MaskShape{h.shape[1], h.shape[0], false} : MaskShape{h.shape[0], h.shape[1], false};
}

// Returns the nodes of split `index`, ascending.
Result<std::vector<NodeId>> NodesOf(const NpyArray& mask, const MaskShape& shape, int64_t index, bool splits_first) {
  // The values of one split are contiguous in the file, or every `step`-th value.
  const bool together = shape.one_dimension || splits_first != mask.header().fortran_order;
  const int64_t step = together ? 1 : shape.splits;
  HONE_ASSIGN_OR_RETURN(NpyItems items, mask.Open(together ? index * shape.nodes : 0));
  const bool floats = mask.header().kind == 'f';
  constexpr int64_t kNodesAtOnce = 1 << 14;
  std::vector<int64_t> integers;
  std::vector<float> numbers;
  std::vector<NodeId> nodes;
  for (int64_t v = 0; v < shape.nodes; v += kNodesAtOnce) {
    const int64_t count = std::min(kNodesAtOnce, shape.nodes - v);
    if (floats) {
      numbers.resize(static_cast<size_t>(count * step));
      HONE_RETURN_IF_ERROR(items.ReadFloats(numbers));
    } else {
      integers.resize(static_cast<size_t>(count * step));
      HONE_RETURN_IF_ERROR(items.ReadIntegers(integers));
    }
    for (int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(together ? i : i * step + index);
      const double value = floats ? static_cast<double>(numbers[at]) : static_cast<double>(integers[at]);
      if (value != 0 && value != 1) {
        return Status::InvalidArgument(
            fmt::format("'{}' row {}: {} is neither 0 nor 1; a mask is true (or 1) at the nodes of its split and false "
                        "(or 0) elsewhere",
                        mask.name(), v + i, value));
      }
      if (value == 1) nodes.push_back(static_cast<NodeId>(v + i));
    }
  }
  return nodes;
}

}  // namespace

Status ReadSplitMasks(const MaskArrays& arrays, int split_index, GraphSource& source) {
  const NpyArray* first = nullptr;
  MaskShape shape;
  for (const std::optional<NpyArray>& mask : arrays.masks) {
    if (!mask) continue;
    HONE_ASSIGN_OR_RETURN(const MaskShape shape_here, ShapeOf(*mask, arrays.splits_first));
    if (shape_here.nodes > INT32_MAX) {
      return Status::InvalidArgument(
          fmt::format("'{}' has {} rows; node ids are 32-bit", mask->name(), shape_here.nodes));
    }
    if (first == nullptr) {
      first = &*mask;
      shape = shape_here;
    } else if (shape_here.nodes != shape.nodes || shape_here.splits != shape.splits) {
      return Status::InvalidArgument(fmt::format("'{}' is {} and '{}' is {}: masks of one graph have the same shape",
                                                 first->name(), first->header().Text(), mask->name(),
                                                 mask->header().Text()));
    }
  }
  if (!arrays.masks[0]) {
    return Status::InvalidArgument(
        fmt::format("'{}' is there without a train mask beside it: add the train mask, or move the file away to have "
                    "splits made by "
                    "seed",
                    first->name()));
  }
  if (split_index >= 0 && shape.splits == 1) {
    return Status::InvalidArgument(
        fmt::format("--split-index {}: '{}' holds one split; leave the option out", split_index, first->name()));
  }
  if (split_index >= shape.splits || shape.splits == 0) {
    return Status::InvalidArgument(fmt::format("--split-index {}: '{}' holds {} splits, numbered from 0", split_index,
                                               first->name(), shape.splits));
  }
  source.split_count = static_cast<int>(shape.splits);
  source.split_index = std::max(split_index, 0);
  std::vector<uint8_t> is_in_a_split(static_cast<size_t>(shape.nodes));
  for (int i = 0; i < 3; ++i) {
    if (!arrays.masks[i]) continue;
    const NpyArray& mask = *arrays.masks[i];
    HONE_ASSIGN_OR_RETURN(source.splits[i], NodesOf(mask, shape, source.split_index, arrays.splits_first));
    if (source.splits[i].empty()) {
      return Status::InvalidArgument(fmt::format(
          "'{}' is true at no node{}: mark the {} nodes, or move the file away if there are none", mask.name(),
          shape.splits > 1 ? fmt::format(" in split {}", source.split_index) : "", kSplits[i]));
    }
    for (const NodeId v : source.splits[i]) {
      uint8_t& owner = is_in_a_split[static_cast<size_t>(v)];
      if (owner != 0) {
        return Status::InvalidArgument(
            fmt::format("node {} is in '{}' and in '{}' too: a node belongs to one split only", v,
                        source.splits_name[owner - 1], mask.name()));
      }
      owner = static_cast<uint8_t>(i + 1);
    }
    source.splits_name[i] = mask.name();
    source.splits_meaning += fmt::format("{}{} from {}", source.splits_meaning.empty() ? "" : ", ", kSplits[i],
                                         std::filesystem::path(mask.name()).filename().string());
  }
  for (std::string& name : source.splits_name) {
    if (name.empty()) name = first->name();
  }
  if (shape.splits > 1) {
    source.splits_meaning += fmt::format("; split {} of {}, numbered from 0{}", source.split_index, shape.splits,
                                         split_index < 0 ? " (--split-index chooses another)" : "");
  }
  source.has_splits = true;
  source.split_rows = shape.nodes;
  return Status::Ok();
}

}  // namespace hone::gnn
