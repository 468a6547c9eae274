// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// `hone new`: what the pointers are. Roles, dtypes and shapes, from the kernels and from the user.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tuner/interop/draft_words.h"
#include "tuner/interop/shape_inference.h"
#include "tuner/interop/task_drafter.h"

namespace hone {

using std::string_view;

Status TaskDrafter::Tensors() {
  for (const auto& [name, value] : o_.shapes) HONE_RETURN_IF_ERROR(KnownTensor("--shape", name));
  for (const auto& [name, value] : o_.dtypes) HONE_RETURN_IF_ERROR(KnownTensor("--dtype", name));
  for (const auto& [name, value] : o_.roles) HONE_RETURN_IF_ERROR(KnownTensor("--role", name));
  for (const auto& [name, value] : o_.values) HONE_RETURN_IF_ERROR(KnownTensor("--values", name));
  for (DraftTensor& t : tensors_) {
    bool read_first = false, written = false, seen = false;
    std::optional<std::vector<std::string>> shape;
    for (const DraftEntry& e : entries_) {
      KernelBounds bounds;
      std::map<std::string, std::string> to_plan;
      for (const CuParameter& p : e.kernel->parameters) {
        const auto value = integers_.find({e.kernel, p.name});
        if (value == integers_.end()) continue;
        to_plan[p.name] = value->second;
        bounds.dims.insert(p.name);
      }
      for (const std::string& d : dim_order_) bounds.dims.insert(d);
      bounds.grid = e.grid;
      const std::map<std::string, PointerUse> uses = ReadPointerUses(s_, *e.kernel, bounds);
      for (const auto& [parameter, tensor] : e.tensors) {
        if (tensor != t.name) continue;
        const PointerUse& use = uses.at(parameter);
        bool to_const = false;
        for (const CuParameter& p : e.kernel->parameters) to_const = to_const || (p.name == parameter && p.to_const);
        if (!seen) {
          t.first_step = e.step;
          read_first = to_const || use.read;
        }
        seen = true;
        written = written || (!to_const && (use.written || !use.read));
        if (std::optional<std::vector<std::string>> likely = LikelyShape(use);
            likely && (!shape || likely->size() > shape->size())) {
          for (std::string& extent : *likely) extent = ReplaceNames(extent, to_plan);
          shape = likely;
        }
      }
    }
    t.role = !written ? TensorRole::kIn : read_first ? TensorRole::kInOut : TensorRole::kOut;
    t.role_inferred = true;
    // Memory that the host code makes itself and nobody sees, written by one kernel and read by another.
    if (!own_names_ && t.role == TensorRole::kOut && Host() != nullptr) {
      bool parameter = false, read_later = false;
      for (const CuParameter& p : Host()->parameters) parameter = parameter || p.name == t.name;
      for (const DraftEntry& e : entries_) {
        for (const auto& [formal, tensor] : e.tensors) {
          for (const CuParameter& p : e.kernel->parameters)
            read_later = read_later || (tensor == t.name && p.name == formal && p.to_const && e.step > t.first_step);
        }
      }
      t.workspace = !parameter && read_later;
    }
    if (const auto given = o_.roles.find(t.name); given != o_.roles.end()) {
      t.role_inferred = false;
      t.workspace = false;
      if (given->second == "in")
        t.role = TensorRole::kIn;
      else if (given->second == "out")
        t.role = TensorRole::kOut;
      else if (given->second == "inout")
        t.role = TensorRole::kInOut;
      else if (given->second == "workspace")
        t.workspace = true;
      else
        return Status::InvalidArgument(
            fmt::format("--role {}={}: a role is in, out, inout or workspace", t.name, given->second));
    }
    if (const auto given = o_.dtypes.find(t.name); given != o_.dtypes.end()) {
      t.dtype = DTypeFromName(given->second);
      if (!t.dtype)
        return Status::InvalidArgument(fmt::format(
            "--dtype {}={}: not a dtype; they are called float32, float16, bfloat16, int32, …", t.name, given->second));
    }
    if (!t.dtype) Ask(fmt::format("dtype of tensor '{}'", t.name), fmt::format("--dtype {}=float16", t.name));
    if (const auto given = o_.shapes.find(t.name); given != o_.shapes.end()) {
      t.shape = SplitCommas(given->second);
      for (const std::string& extent : t.shape) {
        Result<Expression> e = Expression::Parse(extent);
        if (!e.ok()) return e.status().WithContext(fmt::format("--shape {}={}", t.name, given->second));
        for (const std::string& n : e->Names()) AddDim(n);
      }
    } else if (shape) {
      t.shape = *shape;
      t.shape_inferred = true;
    } else if (dim_order_.size() == 1) {
      t.shape = {dim_order_[0]};
      t.shape_inferred = true;
    } else {
      Ask(fmt::format("shape of tensor '{}'", t.name),
          fmt::format("--shape {}={}", t.name,
                      dim_order_.empty() ? "n" : fmt::format("{}", fmt::join(dim_order_, ","))));
    }
    const std::string text = t.shape.empty() ? "?" : fmt::format("{}", fmt::join(t.shape, ", "));
    if (t.role_inferred || t.shape_inferred) {
      Inferred(fmt::format("{}: {}, {} [{}]", t.name, t.workspace ? "a workspace" : std::string(TensorRoleName(t.role)),
                           t.dtype ? std::string(DTypeName(*t.dtype)) : "?", text));
    }
  }
  // Outputs last, as a function's results.
  std::stable_sort(tensors_.begin(), tensors_.end(), [](const DraftTensor& a, const DraftTensor& b) {
    return (a.role == TensorRole::kOut) < (b.role == TensorRole::kOut);
  });
  const bool output = std::any_of(tensors_.begin(), tensors_.end(),
                                  [](const DraftTensor& t) { return !t.workspace && t.role != TensorRole::kIn; });
  if (!output)
    return Bad(
        "no kernel writes through any of its pointers, as far as can be seen; say which one with --role NAME=out");
  return Status::Ok();
}

Status TaskDrafter::KnownTensor(const char* option, const std::string& name) const {
  std::vector<std::string> names;
  for (const DraftTensor& t : tensors_) {
    if (t.name == name) return Status::Ok();
    names.push_back(t.name);
  }
  return Status::InvalidArgument(
      fmt::format("{} {}: there is no such tensor; they are called {}", option, name, fmt::join(names, ", ")));
}

Status TaskDrafter::CheckNames() {
  std::set<std::string> seen;
  for (const std::string& d : dim_order_) seen.insert(d);
  for (const DraftTensor& t : tensors_) {
    if (!seen.insert(t.name).second)
      return Bad(fmt::format("'{}' names a tensor and a dimension; rename one of them in the file", t.name));
  }
  for (const auto& [name, value] : o_.scalars) {
    if (std::none_of(scalars_.begin(), scalars_.end(), [&](const DraftScalar& s) { return s.name == name; }))
      return Status::InvalidArgument(fmt::format("--scalar {}: no kernel takes such a number", name));
  }
  for (const auto* list : {&o_.time_cases, &o_.check_cases}) {
    for (const Dims& dims : *list) {
      for (const auto& [name, value] : dims) {
        if (dims_.count(name) == 0)
          return Status::InvalidArgument(
              fmt::format("the case {}={}: the dimensions are {}", name, value, fmt::join(dim_order_, ", ")));
      }
    }
  }
  for (const auto& [name, value] : o_.multiples) {
    if (dims_.count(name) == 0 || value < 1)
      return Status::InvalidArgument(
          fmt::format("--multiple {}={}: the dimensions are {}", name, value, fmt::join(dim_order_, ", ")));
  }
  return Status::Ok();
}

void TaskDrafter::DropUnusedDims() {
  std::set<std::string> used;
  const auto use = [&](const std::string& text) {
    for (const Token& t : LexCuda(text)) used.insert(std::string(t.text));
  };
  for (const DraftTensor& t : tensors_) {
    for (const std::string& e : t.shape) use(e);
  }
  for (const DraftEntry& e : entries_) {
    for (const auto* list : {&e.grid, &e.block, &e.args}) {
      for (const std::string& text : *list) use(text);
    }
    use(e.shared);
    use(e.when);
  }
  for (const std::string& d : o_.dims) used.insert(d);
  std::vector<std::string> kept;
  for (const std::string& d : dim_order_) {
    if (used.count(d) != 0) kept.push_back(d);
  }
  dim_order_ = kept;
  // As the results have them: rows before columns.
  if (o_.dims.empty()) {
    std::vector<std::string> order;
    for (const DraftTensor& t : tensors_) {
      if (t.role == TensorRole::kIn) continue;
      for (const std::string& extent : t.shape) {
        if (std::find(kept.begin(), kept.end(), extent) != kept.end() &&
            std::find(order.begin(), order.end(), extent) == order.end())
          order.push_back(extent);
      }
    }
    for (const std::string& d : kept) {
      if (std::find(order.begin(), order.end(), d) == order.end()) order.push_back(d);
    }
    dim_order_ = order;
  }
  if (dim_order_.empty()) Ask("the dimensions: none was found", "--dims n --shape x=n");
}

}  // namespace hone
