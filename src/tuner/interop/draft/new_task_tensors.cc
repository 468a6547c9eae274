// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Determines roles, dtypes and shapes of pointers for `hone new`, from the kernels and from the user.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tuner/core/plan/reserved_names.h"
#include "tuner/interop/draft/draft_words.h"
#include "tuner/interop/draft/task_drafter.h"
#include "tuner/interop/read/plan_expression.h"
#include "tuner/interop/read/shape_inference.h"
#include "tuner/interop/read/stated_shapes.h"

namespace hone {

using std::string_view;

DraftTensor* TaskDrafter::FindTensor(const std::string& name) {
  for (DraftTensor& t : tensors_) {
    if (t.name == name) return &t;
  }
  return nullptr;
}

// Turns an extent in objects of `width` elements (float4) into one in elements. What was divided by the width is a multiple of it, for
// a kernel of such objects reaches no others.
void TaskDrafter::CountElements(int width, std::string* extent) {
  if (width == 1) return;
  const std::string divided = fmt::format(" / {}", width);
  if (!extent->ends_with(divided)) {
    *extent = fmt::format("{} * {}", width, InParentheses(*extent));
    return;
  }
  *extent = TidyExpression(extent->substr(0, extent->size() - divided.size()));
  if (std::find(dim_order_.begin(), dim_order_.end(), *extent) == dim_order_.end() || o_.multiples.count(*extent) != 0) return;
  o_.multiples[*extent] = width;
  NoteInference(fmt::format("{} is a multiple of {}: the kernel takes {} elements at a time", *extent, width, width));
}

// Reads how the kernels use the tensor; `shape` receives the shape suggested by their indices, in the plan's names.
Status TaskDrafter::ReadUses(DraftTensor& t, std::optional<std::vector<std::string>>& shape) {
  bool seen = false, taken = false;
  for (const DraftEntry& e : entries_) {
    if (e.memset) {
      // A tensor that a memset writes first needs no input.
      if (e.target == t.name && !seen) seen = true, t.first_step = e.step, t.read_first = false, t.written = true;
      continue;
    }
    KernelBounds bounds;
    std::map<std::string, std::string> to_plan;
    for (const CuParameter& p : e.kernel->parameters) {
      const auto value = integers_.find({e.kernel, p.name});
      if (value == integers_.end()) continue;
      to_plan[p.name] = value->second;
      bounds.dims.insert(p.name);
    }
    for (const auto& [parameter, tensor] : e.tensors) {
      to_plan["@" + parameter] = "@" + tensor;
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
        t.read_first = to_const || use.read || use.scattered;  // elements that are not written keep their old values
      }
      seen = true;
      t.written = t.written || (!to_const && (use.written || !use.read));
      t.constant = (t.constant || !taken) && to_const;
      taken = true;
      t.scattered = t.scattered || (!to_const && use.scattered);
      t.updated = t.updated || use.read;
      t.index = t.index || use.index;
      t.padded = t.padded || use.padded;
      t.first = t.first || use.first;
      t.elsewhere = t.elsewhere || use.elsewhere;
      t.offsets = t.offsets || (use.offsets && use.index);
      const auto plan = [&](const std::string& extent) {
        return extent[0] == '@' ? to_plan[extent] : ReplaceNames(extent, to_plan);
      };
      for (const std::string& below : use.below) {
        if (t.bound.empty()) t.bound = plan(below);
      }
      if (std::optional<std::vector<std::string>> likely = LikelyShape(use);
          likely && (!shape || likely->size() > shape->size())) {
        for (std::string& extent : *likely) extent = plan(extent);
        for (const CuParameter& p : e.kernel->parameters) {
          if (p.name == parameter && !likely->empty()) CountElements(ElementsOf(p.type), &likely->back());
        }
        shape = likely;
      }
    }
  }
  t.role = !t.written ? TensorRole::kIn : t.read_first ? TensorRole::kInOut : TensorRole::kOut;
  t.role_inferred = true;
  return Status::Ok();
}

Status TaskDrafter::GivenRole(DraftTensor& t) {
  // Memory from torch::empty is uninitialised and therefore no input, even if the kernel reads back what it has
  // written.
  for (const auto& [host, tensor] : host_tensors_) {
    if (tensor == t.name && t.written && MadeBy(s_, function_, host).starts_with("empty")) t.role = TensorRole::kOut;
  }
  // Memory that the host code allocates and does not return, written by one kernel and read by another, is a workspace.
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
  const auto given_role = o_.roles.find(t.name);
  if (given_role == o_.roles.end()) return Status::Ok();
  t.role_inferred = false;
  t.workspace = false;
  if (given_role->second == "in")
    t.role = TensorRole::kIn;
  else if (given_role->second == "out")
    t.role = TensorRole::kOut;
  else if (given_role->second == "inout")
    t.role = TensorRole::kInOut;
  else if (given_role->second == "workspace")
    t.workspace = true;
  else
    return Status::InvalidArgument(
        fmt::format("--role {}={}: a role is in, out, inout or workspace", t.name, given_role->second));
  return Status::Ok();
}

// Returns the first stated shape of which the plan knows every extent, in the plan's names. An unknown name is accepted
// only for an axis from which another tensor's elements select, since code need not know the length of such an axis.
// `where` receives the place of the statement.
std::optional<std::vector<std::string>> TaskDrafter::ShapeStatedInCode(
    const DraftTensor& t, const std::optional<std::vector<std::string>>& indexed, std::string* where) {
  std::vector<StatedShape> stated;
  std::vector<std::string> names = {t.name};
  for (const auto& [host, tensor] : host_tensors_) {
    if (tensor == t.name && host != t.name) names.push_back(host);
  }
  std::map<std::string, std::string> to_plan;
  for (const DraftEntry& e : entries_) {
    for (const auto& [parameter, tensor] : e.tensors) {
      if (tensor == t.name && parameter != t.name) names.push_back(parameter);
    }
  }
  for (const auto& [key, value] : integers_) to_plan.emplace(key.second, value);
  for (const std::string& name : names) {
    if (std::optional<StatedShape> shape = ShapeFromHost(s_, function_, name)) stated.push_back(*shape);
  }
  for (const std::string& name : names) {
    for (StatedShape& shape : ShapesFromComments(s_, name)) stated.push_back(std::move(shape));
  }
  for (const StatedShape& shape : stated) {
    std::vector<std::string> extents, fresh;
    bool understood = true;
    for (size_t i = 0; i < shape.extents.size() && understood; ++i) {
      std::string text = shape.extents[i];
      if (const Result<std::string> plan = Plan(text); plan.ok()) {
        text = *plan;
      } else {
        text = ReplaceNames(text, to_plan);
      }
      const Result<Expression> e = Expression::Parse(text);
      understood = e.ok();
      if (!understood) break;
      for (const std::string& n : e->Names()) {
        if (std::find(dim_order_.begin(), dim_order_.end(), n) != dim_order_.end()) continue;
        const bool chosen = indexed && indexed->size() == shape.extents.size() && (*indexed)[i][0] == '@';
        understood = understood && chosen && !IsReservedName(n) && FindTensor(n) == nullptr;
        fresh.push_back(n);
      }
      extents.push_back(text);
    }
    if (!understood || (indexed && indexed->size() > extents.size() && shape.where.ends_with("numel()"))) continue;
    for (const std::string& n : fresh) AddDim(n);
    *where = shape.where;
    return extents;
  }
  return std::nullopt;
}

Status TaskDrafter::ShapeOf(DraftTensor& t, const std::optional<std::vector<std::string>>& indexed) {
  std::string where;
  if (const auto given_shape = o_.shapes.find(t.name); given_shape != o_.shapes.end()) {
    t.shape = SplitCommas(given_shape->second);
    for (const std::string& extent : t.shape) {
      Result<Expression> e = Expression::Parse(extent);
      if (!e.ok()) return e.status().WithContext(fmt::format("--shape {}={}", t.name, given_shape->second));
      for (const std::string& n : e->Names()) AddDim(n);
    }
  } else if (std::optional<std::vector<std::string>> stated = ShapeStatedInCode(t, indexed, &where)) {
    t.shape = *stated;
    t.shape_inferred = true;
  } else {
    // Where a tensor is indexed only by another tensor's elements (a histogram's bins), the size that host code
    // allocates or clears is better evidence.
    const bool chosen_alone = indexed && indexed->size() == 1 && (*indexed)[0][0] == '@';
    std::vector<std::string> names = {t.name};
    for (const auto& [host, tensor] : host_tensors_) {
      if (tensor == t.name) names.push_back(host);
    }
    for (const std::string& name : names) {
      if (indexed && !chosen_alone) break;
      const std::optional<StatedShape> elements = ElementsFromHost(s_, function_, name);
      if (!elements || !t.shape.empty()) continue;
      if (const Result<std::string> plan = Plan(elements->extents[0]); plan.ok()) {
        t.shape = {*plan};
        t.shape_inferred = true;
        where = elements->where;
      }
    }
    if (t.shape.empty() && indexed) {
      t.shape = *indexed;
      t.shape_inferred = true;
    }
    if (t.shape.empty() && t.first && !t.elsewhere) {
      t.shape = {"1"};
      t.shape_inferred = true;
    }
    if (t.shape.empty() && dim_order_.size() == 1) {
      t.shape = {dim_order_[0]};
      t.shape_inferred = true;
      NoteGuess(fmt::format(
          "{0} is [{1}], for {1} is the only dimension, and no index of the code says more: a guess; --shape {0}=… for "
          "another, with --dims where it has one more",
          t.name, dim_order_[0]));
    }
  }
  // An axis whose index is read from another tensor gives a bound: that tensor's elements are below the axis's extent.
  for (size_t i = 0; indexed && i < indexed->size() && indexed->size() == t.shape.size(); ++i) {
    if ((*indexed)[i][0] != '@' || t.shape[i][0] == '@') continue;
    DraftTensor* chooser = FindTensor((*indexed)[i].substr(1));
    if (chooser != nullptr && chooser->bound.empty()) chooser->bound = t.shape[i];
  }
  if (indexed) t.chosen_by.assign(indexed->begin(), indexed->end());
  if (t.shape.empty())
    Ask(fmt::format("shape of tensor '{}'{}", t.name,
                    dim_order_.empty() ? "" : fmt::format(", over {}", fmt::join(dim_order_, ", "))),
        fmt::format("--shape {}={}", t.name,
                    dim_order_.empty()       ? "n"
                    : dim_order_.size() == 1 ? dim_order_[0]
                                             : std::string("SIZE,…")));
  t.shape_from = where;
  return Status::Ok();
}

// Returns the dimension that is probably the length of an axis from which an index selects; empty: not known. Callers
// pass such a size for checks only (cache_slots, vocabulary): no shape or launch depends on it, and kernels only
// compare with it. The answer is known if there is exactly one such dimension and one such axis.
std::string TaskDrafter::SizeThatNothingNames() const {
  std::set<std::string> named_sizes, axes;
  const auto add = [&](const std::string& text) {
    for (const Token& word : LexCuda(text)) named_sizes.insert(std::string(word.text));
  };
  for (const DraftTensor& t : tensors_) {
    for (const std::string& extent : t.shape) {
      if (extent[0] == '@') axes.insert(t.name + " " + extent);
      else add(extent);
    }
    add(t.bound);
  }
  for (const DraftEntry& e : entries_) {
    for (const auto* list : {&e.grid, &e.block}) {
      for (const std::string& text : *list) add(text);
    }
    for (const std::string& text : {e.shared, e.when, e.bytes}) add(text);
    for (size_t i = 0; e.kernel != nullptr && i < std::min(e.args.size(), e.kernel->parameters.size()); ++i) {
      const std::string& name = e.kernel->parameters[i].name;
      for (int t = e.kernel->body_open; t < e.kernel->body_close; ++t) {
        if (s_.token(t).text != name) continue;
        const auto compares = [&](int at) { return s_.TokenIs(at, "<") || s_.TokenIs(at, ">") || s_.TokenIs(at, "<=") || s_.TokenIs(at, ">="); };
        if (!compares(t - 1) && !compares(t + 1)) add(e.args[i]);
      }
    }
  }
  std::vector<std::string> free;
  for (const std::string& d : dim_order_) {
    if (named_sizes.count(d) == 0) free.push_back(d);
  }
  return axes.size() == 1 && free.size() == 1 ? free.front() : "";
}

void TaskDrafter::ResolveChosenAxes() {
  const std::string unnamed = SizeThatNothingNames();
  for (DraftTensor& t : tensors_) {
    for (size_t i = 0; i < t.shape.size(); ++i) {
      if (t.shape[i][0] != '@') continue;
      DraftTensor* chooser = FindTensor(t.shape[i].substr(1));
      std::string size;
      if (chooser != nullptr) {
        size = chooser->bound;  // from --values, else from the indices
      }
      if (size.empty() && !unnamed.empty()) {
        size = unnamed;
        NoteGuess(fmt::format(
            "{} is how long the axis is that {} chooses from, for nothing else depends on it: a guess; --shape {}=… to "
            "say otherwise",
            size, t.shape[i].substr(1), t.name));
      }
      if (size.empty()) {
        size = t.name + (t.shape.size() > 1 ? "_rows" : "_length");
        NoteInference(
            fmt::format("{}: how long the axis is that {} chooses from is not in the code; --shape {}=… to name it",
                        size, t.shape[i].substr(1), t.name));
        AddDim(size);
      } else if (const Result<Expression> e = Expression::Parse(size); e.ok()) {
        for (const std::string& n : e->Names()) AddDim(n);
      }
      if (chooser != nullptr && chooser->bound.empty()) chooser->bound = size;
      t.shape[i] = size;
    }
  }
}

Status TaskDrafter::Tensors() {
  for (const auto& [name, value] : o_.shapes) HONE_RETURN_IF_ERROR(KnownTensor("--shape", name));
  for (const auto& [name, value] : o_.dtypes) HONE_RETURN_IF_ERROR(KnownTensor("--dtype", name));
  for (const auto& [name, value] : o_.roles) HONE_RETURN_IF_ERROR(KnownTensor("--role", name));
  for (const auto& [name, value] : o_.values) {
    HONE_RETURN_IF_ERROR(KnownTensor("--values", name));
    HONE_RETURN_IF_ERROR(ReadGivenValues(value).status().WithContext(fmt::format("--values {}={}", name, value)));
  }
  for (const std::string& name : o_.no_stress) HONE_RETURN_IF_ERROR(KnownTensor("--no-stress", name));
  for (DraftTensor& t : tensors_) {
    std::optional<std::vector<std::string>> indexed;
    HONE_RETURN_IF_ERROR(ReadUses(t, indexed));
    HONE_RETURN_IF_ERROR(GivenRole(t));
    if (const auto given_values = o_.values.find(t.name); given_values != o_.values.end()) {
      if (const Result<GivenValues> values = ReadGivenValues(given_values->second); values.ok())
        t.bound = values->bound;
    }
    if (const auto given_dtype = o_.dtypes.find(t.name); given_dtype != o_.dtypes.end()) {
      t.dtype = DTypeFromName(given_dtype->second);
      if (!t.dtype)
        return Status::InvalidArgument(
            fmt::format("--dtype {}={}: not a dtype; they are called float32, float16, bfloat16, int32, …", t.name,
                        given_dtype->second));
    }
    // If a template's type is asked for, its tensors' dtypes follow from the answer.
    if (!t.dtype && !template_asked_)
      Ask(fmt::format("dtype of tensor '{}'{}", t.name,
                      t.type.empty() || t.type == "void" ? "" : ", which is " + t.type),
          t.type.starts_with("__nv_fp4") || t.type.starts_with("__nv_fp6")
              ? fmt::format("--dtype {}=uint8, for its bytes: tasks have no floats of less than 8 bits", t.name)
              : fmt::format("--dtype {}=float16", t.name));
    if (t.dtype == DType::kInt64 && IntegerSuffix(t.type) == "u64")
      NoteInference(fmt::format("{}: {} is judged as int64, which is the same bytes", t.name, t.type));
    if (t.dtype == DType::kInt16 && t.type.starts_with("u"))
      NoteInference(fmt::format("{}: {} is judged as int16, which is the same bytes", t.name, t.type));
    HONE_RETURN_IF_ERROR(ShapeOf(t, indexed));
  }
  ResolveChosenAxes();
  // If the bound of an index equals the number of rows of an input whose accesses were not understood, the index
  // selects its rows.
  for (DraftTensor& t : tensors_) {
    const bool selected =
        std::any_of(t.chosen_by.begin(), t.chosen_by.end(), [](const std::string& c) { return c[0] == '@'; });
    if (selected || t.role != TensorRole::kIn || t.shape.size() < 2) continue;
    for (const DraftTensor& chooser : tensors_) {
      if (&chooser == &t || chooser.bound.empty() || chooser.offsets || chooser.bound != t.shape[0] ||
          t.bound == t.shape[0])
        continue;
      t.chosen_by = t.shape;
      t.chosen_by[0] = "@" + chooser.name;
    }
  }
  // If two elements of an index select the same row to write, either may win, and a correct scatter may differ from the
  // oracle. Therefore the indices are drawn distinct, unless the kernel adds to the rows.
  for (const DraftTensor& t : tensors_) {
    for (const std::string& c : t.chosen_by) {
      if (DraftTensor* chooser = c[0] == '@' && t.scattered && !t.updated ? FindTensor(c.substr(1)) : nullptr)
        chooser->distinct = true;
    }
  }
  for (const DraftTensor& t : tensors_) {
    if (!t.role_inferred && !t.shape_inferred) continue;
    const std::string text = t.shape.empty() ? "?" : fmt::format("{}", fmt::join(t.shape, ", "));
    NoteInference(fmt::format(
        "{}: {}, {} [{}]{}", t.name, t.workspace ? "a workspace" : std::string(TensorRoleName(t.role)),
        t.dtype ? std::string(DTypeName(*t.dtype)) : "?", text, t.shape_from.empty() ? "" : ", from " + t.shape_from));
  }
  NoteInference(
      "every tensor is aligned to 16 bytes: kernels may rely on it, and are checked with just that; align = N in "
      "task.toml for another");
  // Outputs come after inputs.
  std::stable_sort(tensors_.begin(), tensors_.end(), [](const DraftTensor& a, const DraftTensor& b) {
    return (a.role == TensorRole::kOut) < (b.role == TensorRole::kOut);
  });
  const bool output = std::any_of(tensors_.begin(), tensors_.end(),
                                  [](const DraftTensor& t) { return !t.workspace && t.role != TensorRole::kIn; });
  if (!output)
    return InvalidFile(
        "no kernel writes through any of its pointers, as far as can be seen; say which one it writes with --role "
        "NAME=out, or --role NAME=inout where it reads what it updates");
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
  std::set<std::string> known_names;
  for (const std::string& d : dim_order_) known_names.insert(d);
  for (const DraftTensor& t : tensors_) {
    if (!known_names.insert(t.name).second)
      return InvalidFile(fmt::format("'{}' names a tensor and a dimension; rename one of them in the file", t.name));
  }
  for (const auto& [name, value] : o_.scalars) {
    if (fixed_.count(name) != 0) {
      if (value != std::floor(value) || std::fabs(value) >= 0x1p53)
        return Status::InvalidArgument(fmt::format("--scalar {}={}: the kernel takes a whole number there", name, value));
      continue;
    }
    if (std::none_of(scalars_.begin(), scalars_.end(), [&name = name](const DraftScalar& s) { return s.name == name; }))
      return Status::InvalidArgument(fmt::format("--scalar {}: no kernel takes such a number", name));
  }
  const auto is_known_name = [&](const std::string& name) {
    return std::find(dim_order_.begin(), dim_order_.end(), name) != dim_order_.end();
  };
  if (!o_.slice.empty() && !is_known_name(o_.slice)) {
    return Status::InvalidArgument(fmt::format("--slice {}: the dimensions are {}", o_.slice, fmt::join(dim_order_, ", ")));
  }
  for (const auto& [name, value] : o_.hidden) {
    if (!is_known_name(name))
      return Status::InvalidArgument(
          fmt::format("--hidden {}: the dimensions are {}", name, fmt::join(dim_order_, ", ")));
    if (value.low < 1) {
      return Status::InvalidArgument(fmt::format(
          "--hidden {0}={1}..{2}: hidden sizes are 1 or more; an empty one is a case of its own, --check with {0}=0",
          name, value.low, value.high));
    }
  }
  for (const auto& [name, value] : o_.multiples) {
    if (!is_known_name(name) || value < 1)
      return Status::InvalidArgument(
          fmt::format("--multiple {}={}: the dimensions are {}", name, value, fmt::join(dim_order_, ", ")));
  }
  return Status::Ok();
}

void TaskDrafter::DropUnusedDims() {
  std::set<std::string> used_names;
  const auto add_names = [&](const std::string& text) {
    for (const Token& t : LexCuda(text)) used_names.insert(std::string(t.text));
  };
  for (const DraftTensor& t : tensors_) {
    for (const std::string& e : t.shape) add_names(e);
  }
  for (const DraftTensor& t : tensors_) add_names(t.bound);
  for (const DraftEntry& e : entries_) {
    add_names(e.bytes);
    for (const auto* list : {&e.grid, &e.block, &e.args}) {
      for (const std::string& text : *list) add_names(text);
    }
    add_names(e.shared);
    add_names(e.when);
  }
  for (const std::string& d : o_.dims) used_names.insert(d);
  std::vector<std::string> used_dims;
  for (const std::string& d : dim_order_) {
    if (used_names.count(d) != 0) used_dims.push_back(d);
  }
  dim_order_ = used_dims;
  // Dimensions get the order of the launcher's parameters, since the function of `hone apply` replaces the launcher.
  // Others follow in the order in which the outputs' shapes name them: rows before columns.
  if (o_.dims.empty()) {
    std::vector<std::string> order;
    if (Host() != nullptr) {
      for (const CuParameter& p : Host()->parameters) {
        const auto plan = dims_.find(p.name);
        if (p.pointer || plan == dims_.end()) continue;
        // For a derived size, group * num_kv_heads, its factors are added.
        for (const Token& t : LexCuda(plan->second)) {
          const std::string name(t.text);
          if (std::find(used_dims.begin(), used_dims.end(), name) != used_dims.end() &&
              std::find(order.begin(), order.end(), name) == order.end())
            order.push_back(name);
        }
      }
    }
    for (const DraftTensor& t : tensors_) {
      if (t.role == TensorRole::kIn) continue;
      for (const std::string& extent : t.shape) {
        if (std::find(used_dims.begin(), used_dims.end(), extent) != used_dims.end() &&
            std::find(order.begin(), order.end(), extent) == order.end())
          order.push_back(extent);
      }
    }
    for (const std::string& d : used_dims) {
      if (std::find(order.begin(), order.end(), d) == order.end()) order.push_back(d);
    }
    dim_order_ = order;
  }
  if (dim_order_.empty()) Ask("the dimensions: none was found", "--dims n --shape x=n");
}

void TaskDrafter::AddConsts() {
  std::set<std::pair<const CuKernel*, std::string>> done;
  for (const DraftEntry& e : entries_) {
    if (e.memset) continue;
    for (const CuParameter& p : e.kernel->parameters) {
      if (!p.pointer || p.to_const || !done.insert({e.kernel, p.name}).second) continue;
      const DraftTensor* t = FindTensor(e.tensors.at(p.name));
      if (t == nullptr || t->workspace || t->role != TensorRole::kIn) continue;
      // A pointer that the kernel passes on, or copies to another pointer, would have to be const there too. Such code
      // is left to its author.
      bool is_only_use = true;
      for (int i = e.kernel->body_open; i < e.kernel->body_close; ++i) {
        if (s_.token(i).text == p.name && s_.token(i - 1).text != "." && s_.token(i + 1).text != "[")
          is_only_use = false;
      }
      if (!is_only_use) {
        Ask(fmt::format("'{}' is an input, and kernel '{}' takes a pointer that it could write through", p.name,
                        e.kernel->name),
            fmt::format("in {}: declare it `const {}* {}`, and pointers made from it", o_.file, p.type, p.name));
        continue;
      }
      consts_.insert({e.kernel->qualified, p.name});
      NoteInference(fmt::format("{}: kernel '{}' never writes through it, so seed.cu takes it as `const {}*`", t->name,
                                e.kernel->name, p.type));
    }
  }
}

}  // namespace hone
