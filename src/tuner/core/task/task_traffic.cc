// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes the bytes that a task forces a launch to move, and the tensors whose traffic is unknown; declared in task.h.
#include <fmt/format.h>

#include <algorithm>

#include "hone/tuner/task.h"

namespace hone {
namespace {

// Returns whether an output shares the tensor's memory.
bool IsOverwritten(const Task& task, const TensorSpec& tensor) {
  return std::any_of(task.tensors.begin(), task.tensors.end(),
                     [&](const TensorSpec& other) { return other.alias == tensor.name; });
}

}  // namespace

bool PointsInto(const TensorSpec& index, const TensorSpec& target) {
  if (&index == &target || !index.values.index_bound) return false;
  const Expression& bound = *index.values.index_bound;
  const std::vector<std::string> names = bound.Names();
  return std::any_of(target.shape.begin(), target.shape.end(), [&](const Expression& extent) {
    if (names.empty()) return extent.text() == bound.text();
    const std::vector<std::string> used_names = extent.Names();
    return std::any_of(used_names.begin(), used_names.end(), [&](const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    });
  });
}

namespace {

// Returns why it is not known how much of the tensor a launch must move; empty if it must move the whole tensor.
std::string WhyUnknown(const Task& task, const TensorSpec& tensor) {
  if (tensor.role == TensorRole::kInOut) return "is written in place";
  if (!tensor.alias.empty()) return fmt::format("is written in place of {}", tensor.alias);
  if (tensor.role == TensorRole::kOut) return "";  // all of it must be written, and none of it read
  if (IsOverwritten(task, tensor)) return "is overwritten in place";
  for (const TensorSpec& other : task.tensors) {
    if (PointsInto(other, tensor)) return fmt::format("is pointed into by {}", other.name);
  }
  return "";
}

Result<double> TensorBytes(const TensorSpec& tensor, const Dims& dims) {
  HONE_ASSIGN_OR_RETURN(const TensorShape shape, ResolveShape(tensor, dims));
  return static_cast<double>(shape.elements) * static_cast<double>(DTypeBytes(tensor.dtype));
}

}  // namespace

Result<Traffic> CompulsoryTraffic(const Task& task, const Dims& dims) {
  Traffic traffic;
  double unknown_writes = 0;  // upper bound of the bytes written to tensors of unknown traffic
  for (const TensorSpec& tensor : task.tensors) {
    HONE_ASSIGN_OR_RETURN(const double bytes, TensorBytes(tensor, dims));
    if (!WhyUnknown(task, tensor).empty()) {
      if (tensor.role != TensorRole::kIn) unknown_writes += bytes;
    } else {
      (tensor.role == TensorRole::kIn ? traffic.read_bytes : traffic.written_bytes) += bytes;
    }
  }
  if (task.bytes) {
    HONE_ASSIGN_OR_RETURN(const int64_t stated, task.bytes->Evaluate(dims));
    const double total = static_cast<double>(stated);
    const double unattributed_bytes = std::max(0.0, total - traffic.read_bytes - traffic.written_bytes);
    traffic.written_bytes = std::min(traffic.written_bytes + std::min(unknown_writes, unattributed_bytes), total);
    traffic.read_bytes = total - traffic.written_bytes;
  }
  return traffic;
}

Result<double> CompulsoryBytes(const Task& task, const Dims& dims) {
  HONE_ASSIGN_OR_RETURN(const Traffic traffic, CompulsoryTraffic(task, dims));
  return traffic.read_bytes + traffic.written_bytes;
}

std::vector<UnknownTraffic> FindUnknownTraffic(const Task& task) {
  std::vector<UnknownTraffic> unknown;
  for (const TensorSpec& tensor : task.tensors) {
    if (std::string reason = WhyUnknown(task, tensor); !reason.empty())
      unknown.push_back({tensor.name, std::move(reason)});
  }
  return unknown;
}

std::string WholeTrafficText(const Task& task) {
  std::string text;
  for (const TensorSpec& tensor : task.tensors) {
    const int64_t times = tensor.role == TensorRole::kInOut ? 2 : 1;
    text += fmt::format("{}{}", text.empty() ? "" : " + ", times * DTypeBytes(tensor.dtype));
    for (const Expression& extent : tensor.shape) {
      const bool is_plain_size = extent.text().find_first_of(" +-/%?<>=&|") == std::string::npos;
      text += is_plain_size ? fmt::format(" * {}", extent.text()) : fmt::format(" * ({})", extent.text());
    }
  }
  return text;
}

}  // namespace hone
