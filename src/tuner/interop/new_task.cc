// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/new_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "tuner/interop/draft_words.h"
#include "tuner/interop/plan_expression.h"
#include "tuner/interop/task_drafter.h"

namespace hone {

using std::string_view;

Result<TaskDraft> TaskDrafter::Run() {
  HONE_RETURN_IF_ERROR(ChooseLaunches());
  NameTensors();
  FindDims();
  for (const CuLaunch& launch : launches_) HONE_RETURN_IF_ERROR(MakeEntry(launch));
  Steps();
  HONE_RETURN_IF_ERROR(Tensors());
  HONE_RETURN_IF_ERROR(CheckNames());
  DropUnusedDims();
  draft_.seed = SeedText();
  HONE_RETURN_IF_ERROR(Oracle());
  draft_.task_toml = Toml();
  return std::move(draft_);
}

void TaskDrafter::Ask(std::string what, std::string answer) {
  for (const TaskQuestion& q : draft_.questions) {
    if (q.what == what) return;
  }
  draft_.questions.push_back({std::move(what), std::move(answer)});
}

void TaskDrafter::AddDim(const std::string& name) {
  if (dims_.insert(name).second) dim_order_.push_back(name);
}

std::optional<std::string> TaskDrafter::LocalText(const std::string& name) const {
  if (Host() == nullptr) return std::nullopt;
  const auto found = Host()->locals.find(name);
  if (found == Host()->locals.end()) return std::nullopt;
  return found->second;
}

Status TaskDrafter::ChooseLaunches() {
  for (const std::string& wanted : o_.kernels) {
    if (s_.FindKernel(wanted) == nullptr) {
      std::vector<std::string> names;
      for (const CuKernel& k : s_.kernels) names.push_back(k.name);
      return Bad(fmt::format("there is no kernel '{}'; it has {}", wanted, fmt::join(names, ", ")));
    }
  }
  const auto wanted = [&](const CuLaunch& l) {
    if (s_.FindKernel(l.kernel) == nullptr) return false;
    return o_.kernels.empty() || std::find(o_.kernels.begin(), o_.kernels.end(), l.kernel) != o_.kernels.end();
  };
  // A launcher is worth more than a test program's main.
  for (const bool main_too : {false, true}) {
    for (const CuLaunch& l : s_.launches) {
      if (!wanted(l) || function_ >= 0) continue;
      if (!main_too && s_.functions[static_cast<size_t>(l.function)].name == "main") continue;
      function_ = l.function;
    }
  }
  std::set<std::string> elsewhere;
  for (const CuLaunch& l : s_.launches) {
    if (!wanted(l)) continue;
    if (l.function == function_) {
      launches_.push_back(l);
    } else {
      elsewhere.insert(s_.functions[static_cast<size_t>(l.function)].name);
    }
  }
  if (function_ >= 0) {
    Inferred(fmt::format("the launch plan: from the launches in '{}'", Host()->name));
    for (const std::string& name : elsewhere) Inferred(fmt::format("launches in '{}' are left aside", name));
  }
  if (!launches_.empty()) return Status::Ok();
  const CuKernel* kernel = nullptr;
  if (!o_.kernels.empty()) {
    kernel = s_.FindKernel(o_.kernels[0]);
  } else if (s_.kernels.size() == 1) {
    kernel = &s_.kernels[0];
  } else {
    std::vector<std::string> names;
    for (const CuKernel& k : s_.kernels) names.push_back(k.name);
    return Bad(fmt::format("none of its kernels is launched in it ({}); say which one is meant with --kernel",
                           fmt::join(names, ", ")));
  }
  CuLaunch launch;
  launch.kernel = kernel->name;
  for (const CuParameter& p : kernel->parameters) launch.arguments.push_back(p.name);
  launches_.push_back(launch);
  return Status::Ok();
}

void TaskDrafter::NameTensors() {
  const auto pointers = [&](const CuLaunch& l) {
    std::vector<std::string> names;
    for (const CuParameter& p : s_.FindKernel(l.kernel)->parameters) {
      if (p.pointer) names.push_back(p.name);
    }
    return names;
  };
  for (const CuLaunch& l : launches_) own_names_ = own_names_ && pointers(l) == pointers(launches_[0]);
}

std::string TaskDrafter::BaseOf(const std::string& text) const {
  const std::vector<Token> tokens = LexCuda(text);
  size_t i = 0;
  while (i < tokens.size()) {
    if (tokens[i].text == "reinterpret_cast" || tokens[i].text == "static_cast" || tokens[i].text == "const_cast") {
      int depth = 0;
      for (++i; i < tokens.size(); ++i) {
        if (tokens[i].text == "<") ++depth;
        if (tokens[i].text == ">" && --depth == 0) break;
      }
      ++i;
      continue;
    }
    if (tokens[i].text == "(" && tokens[i].match > 0 && static_cast<size_t>(tokens[i].match) + 1 < tokens.size() &&
        tokens[static_cast<size_t>(tokens[i].match) - 1].text == "*") {
      i = static_cast<size_t>(tokens[i].match) + 1;
      continue;
    }
    if (tokens[i].kind == TokenKind::kIdentifier) return std::string(tokens[i].text);
    ++i;
  }
  return "";
}

void TaskDrafter::FindDims() {
  if (Host() == nullptr) {
    for (const CuParameter& p : s_.FindKernel(launches_[0].kernel)->parameters) {
      if (!p.pointer && !IntegerSuffix(p.type).empty() && IntegerSuffix(p.type) != "bool") AddDim(p.name);
    }
    return;
  }
  std::set<std::string> configured;  // names that grids and blocks are made of
  for (const CuLaunch& l : launches_) {
    for (size_t i = 1; i < l.configuration.size() && i < 2; ++i) {
      for (const Token& t : LexCuda(l.configuration[i])) configured.insert(std::string(t.text));
    }
  }
  for (const CuLaunch& l : launches_) {
    const CuKernel* kernel = s_.FindKernel(l.kernel);
    for (size_t i = 0; i < l.arguments.size() && i < kernel->parameters.size(); ++i) {
      const CuParameter& p = kernel->parameters[i];
      const std::string suffix = IntegerSuffix(TypeOf(*kernel, l, p.type));
      if (p.pointer || suffix.empty() || suffix == "bool") continue;
      const std::vector<Token> tokens = LexCuda(l.arguments[i]);
      if (tokens.size() == 1 && tokens[0].kind == TokenKind::kIdentifier &&
          configured.count(std::string(tokens[0].text)) == 0) {
        const std::string name(tokens[0].text);
        const std::optional<std::string> local = LocalText(name);
        if (local) {
          if (const std::optional<double> number = LocalNumber(name)) {
            AddDim(name);
            default_sizes_[name] = static_cast<int64_t>(*number);
            continue;
          }
        }
      }
      Follow(l.arguments[i], 0);
    }
    for (const std::string& text : l.configuration) Follow(text, 0);
    for (const std::string& text : l.conditions) Follow(text, 0);
  }
}

std::optional<double> TaskDrafter::LocalNumber(const std::string& name) const {
  const std::set<std::string> none;
  const std::optional<std::string> text = LocalText(name);
  if (!text) return std::nullopt;
  Result<std::string> value = PlanExpressions(s_, function_, none).Resolve(*text);
  if (!value.ok()) return std::nullopt;
  Result<Expression> expression = Expression::Parse(*value);
  if (!expression.ok()) return std::nullopt;
  Result<int64_t> number = expression->Evaluate(std::map<std::string, int64_t>{});
  if (!number.ok()) return std::nullopt;
  return static_cast<double>(*number);
}

void TaskDrafter::Follow(const std::string& text, int depth) {
  if (depth > 16) return;
  const std::vector<Token> tokens = LexCuda(text);
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != TokenKind::kIdentifier) continue;
    if (i > 0 && (tokens[i - 1].text == "." || tokens[i - 1].text == "->" || tokens[i - 1].text == "::")) continue;
    const std::string name(tokens[i].text);
    if (dims_.count(name) != 0) continue;
    for (const CuParameter& p : Host()->parameters) {
      if (p.name == name && !p.pointer && !IntegerSuffix(p.type).empty() && IntegerSuffix(p.type) != "bool")
        AddDim(name);
    }
    const std::optional<std::string> local = LocalText(name);
    if (!local || dims_.count(name) != 0) continue;
    Follow(*local, depth + 1);
    const bool opaque = local->find('.') != std::string::npos || local->find("->") != std::string::npos;
    const bool changed = std::find(Host()->changed.begin(), Host()->changed.end(), name) != Host()->changed.end();
    if (!local->starts_with("dim3") && (opaque || changed) && !PlanExpressions(s_, function_, dims_).Resolve(name).ok())
      AddDim(name);
  }
}

std::vector<std::string> TaskDrafter::TemplateArgs(const CuKernel& kernel, const CuLaunch& launch) const {
  std::vector<std::string> given = o_.template_args.empty() ? launch.template_args : SplitCommas(o_.template_args);
  for (size_t i = 0; i < given.size() && i < kernel.template_parameters.size(); ++i) {
    if (kernel.template_parameters[i].is_type) continue;
    // A number of the host function's own does not exist in device code.
    if (LocalText(given[i])) {
      if (const std::optional<double> number = LocalNumber(given[i]))
        given[i] = fmt::format("{}", static_cast<int64_t>(*number));
    }
  }
  return given;
}

std::string TaskDrafter::TypeOf(const CuKernel& kernel, const CuLaunch& launch, const std::string& type) const {
  const std::vector<std::string> args = TemplateArgs(kernel, launch);
  for (size_t i = 0; i < kernel.template_parameters.size() && i < args.size(); ++i) {
    if (kernel.template_parameters[i].name == type) return args[i];
  }
  return type;
}

Result<std::string> TaskDrafter::Plan(const std::string& text) const {
  return PlanExpressions(s_, function_, dims_).Resolve(text);
}

Status TaskDrafter::MakeEntry(const CuLaunch& launch) {
  const CuKernel* kernel = s_.FindKernel(launch.kernel);
  DraftEntry entry;
  entry.kernel = kernel;
  entry.template_args = TemplateArgs(*kernel, launch);
  if (entry.template_args.size() < kernel->template_parameters.size()) {
    std::vector<std::string> names;
    for (const CuTemplateParameter& p : kernel->template_parameters) names.push_back(p.name);
    Ask(fmt::format("template arguments of kernel '{}' ({})", kernel->name, fmt::join(names, ", ")),
        "--template \"float, 256\"");
  }
  for (const std::string& a : entry.template_args) {
    if (a == "scalar_t") Ask("what scalar_t stands for", "--template float");
  }
  // Grid, block, shared memory.
  const auto extents = [&](size_t index, const std::vector<std::string>& given, const char* option) {
    std::vector<std::string> out;
    if (!given.empty()) return given;
    if (index >= launch.configuration.size()) {
      Ask(fmt::format("{} of kernel '{}': no launch tells", option, kernel->name),
          fmt::format("--{} \"ceil_div(n, 256)\"", option));
      return std::vector<std::string>{kFillIn};
    }
    std::string text = launch.configuration[index];
    for (int hops = 0; hops < 8; ++hops) {
      const std::vector<Token> tokens = LexCuda(text);
      if (tokens.size() > 2 && tokens[0].text == "dim3" && (tokens[1].text == "(" || tokens[1].text == "{")) {
        text = text.substr(tokens[1].end, tokens[static_cast<size_t>(tokens[1].match)].begin - tokens[1].end);
        break;
      }
      std::optional<std::string> local = tokens.size() == 1 ? LocalText(text) : std::nullopt;
      if (!local || (!local->starts_with("dim3") && dims_.count(text) != 0)) break;
      if (!local->starts_with("dim3")) break;
      text = *local;
    }
    for (const std::string& part : SplitCommas(text)) {
      Result<std::string> value = Plan(part);
      if (value.ok()) {
        out.push_back(*value);
      } else {
        Ask(fmt::format("{} of kernel '{}': '{}' ({})", option, kernel->name, part, value.status().message()),
            fmt::format("--{} EXPRESSION,…", option));
        out.emplace_back(kFillIn);
      }
    }
    while (out.size() > 1 && out.back() == "1") out.pop_back();
    return out;
  };
  entry.grid = extents(0, o_.grid, "grid");
  entry.block = extents(1, o_.block, "block");
  entry.shared = o_.shared;
  if (entry.shared.empty() && launch.configuration.size() > 2) {
    Result<std::string> value = Plan(launch.configuration[2]);
    if (value.ok()) {
      if (*value != "0") entry.shared = *value;
    } else {
      Ask(fmt::format("shared memory of kernel '{}': '{}' ({})", kernel->name, launch.configuration[2],
                      value.status().message()),
          "--shared BYTES");
      entry.shared = kFillIn;
    }
  }
  // The ifs around the launch.
  if (!launch.conditions_known)
    Inferred(fmt::format("the launch of '{}' in line {} stands in a loop, a switch or a lambda: that is not looked at",
                         kernel->name, launch.line));
  for (const std::string& condition : launch.conditions) {
    Result<std::string> value = Plan(condition);
    if (value.ok()) {
      const bool constant = *value == "1";
      if (!constant)
        entry.when += (entry.when.empty() ? "" : " && ") + (launch.conditions.size() > 1 ? Wrapped(*value) : *value);
      conditional_.insert(entries_.size());
    } else {
      Inferred(fmt::format("the condition '{}' around a launch of '{}' is left out ({})", condition, kernel->name,
                           value.status().message()));
    }
  }
  // Arguments.
  if (launch.arguments.size() != kernel->parameters.size()) {
    return Bad(fmt::format("line {}: kernel '{}' takes {} arguments and is launched with {}", launch.line, kernel->name,
                           kernel->parameters.size(), launch.arguments.size()));
  }
  for (size_t i = 0; i < kernel->parameters.size(); ++i) {
    const CuParameter& p = kernel->parameters[i];
    const std::string& actual = launch.arguments[i];
    const std::string type = TypeOf(*kernel, launch, p.type);
    if (p.pointer) {
      const std::string base = own_names_ ? p.name : BaseOf(actual);
      const std::string name = base.empty() ? p.name : base;
      entry.tensors[p.name] = name;
      entry.args.push_back(name);
      bool known = false;
      for (const DraftTensor& t : tensors_) known = known || t.name == name;
      if (!known) {
        DraftTensor t;
        t.name = name;
        t.dtype = ElementType(type);
        tensors_.push_back(t);
      }
      continue;
    }
    const std::string suffix = IntegerSuffix(type);
    if (!suffix.empty()) {
      Result<std::string> value = Plan(actual);
      if (value.ok()) {
        entry.args.push_back(*value + ":" + suffix);
        integers_[{kernel, p.name}] = *value;
      } else if (suffix == "bool") {
        entry.args.push_back("1:bool");
        Inferred(fmt::format("'{}' of kernel '{}' is passed as true", p.name, kernel->name));
      } else {
        Ask(fmt::format("what kernel '{}' is given as '{}': '{}' ({})", kernel->name, p.name, actual,
                        value.status().message()),
            fmt::format("--dims …,{}", p.name));
        entry.args.push_back(std::string(kFillIn) + ":" + suffix);
      }
      continue;
    }
    const std::optional<DType> dtype = ElementType(type);
    if (!dtype || !IsFloating(*dtype)) {
      return Bad(fmt::format(
          "parameter '{}' of kernel '{}' has the type {}: structs and other types by value cannot be taken over; "
          "write the plan by hand (docs/candidate-format.md)",
          p.name, kernel->name, type));
    }
    static const std::map<DType, const char*> kSuffix = {
        {DType::kFloat32, "f32"}, {DType::kFloat64, "f64"}, {DType::kFloat16, "f16"}, {DType::kBFloat16, "bf16"}};
    AddScalar(p.name, actual, *dtype);
    entry.args.push_back(p.name + ":" + kSuffix.at(*dtype));
  }
  entries_.push_back(std::move(entry));
  return Status::Ok();
}

void TaskDrafter::AddScalar(const std::string& name, const std::string& actual, DType dtype) {
  for (const DraftScalar& s : scalars_) {
    if (s.name == name) return;
  }
  DraftScalar scalar{name, dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32, 0, false};
  std::optional<double> value;
  if (const auto given = o_.scalars.find(name); given != o_.scalars.end()) value = given->second;
  if (!value) value = Literal(actual);
  if (!value && LocalText(actual)) value = Literal(*LocalText(actual));
  if (!value) {
    if (const auto constant = s_.constants.find(actual); constant != s_.constants.end())
      value = Literal(constant->second);
  }
  if (value) {
    scalar.value = *value;
    scalar.known = true;
  } else {
    scalar.value = name.find("eps") != std::string::npos ? 1e-6 : 1.0;
    Inferred(fmt::format("scalar {} = {}: a guess; --scalar {}=VALUE", name, scalar.value, name));
  }
  scalars_.push_back(scalar);
}

void TaskDrafter::Steps() {
  int step = -1;
  bool open = false;  // the last step waits for more alternatives
  for (size_t i = 0; i < entries_.size(); ++i) {
    const bool conditional = conditional_.count(i) != 0 && !entries_[i].when.empty();
    const bool negated = conditional && launches_[i].conditions.front().starts_with("!(");
    if (!(open && negated)) ++step;
    entries_[i].step = step;
    if (conditional && negated && entries_[i].when.starts_with("!")) {
      // The last alternative serves every other shape; those before it are tried first.
      const bool more = i + 1 < entries_.size() && conditional_.count(i + 1) != 0 &&
                        launches_[i + 1].conditions.size() > launches_[i].conditions.size();
      if (!more && launches_[i].conditions.size() <= NegatedCount(i)) entries_[i].when.clear();
    }
    open = conditional;
  }
}

size_t TaskDrafter::NegatedCount(size_t i) const {
  return static_cast<size_t>(std::count_if(launches_[i].conditions.begin(), launches_[i].conditions.end(),
                                           [](const std::string& c) { return c.starts_with("!("); }));
}

Result<TaskDraft> DraftTask(string_view source, const NewTaskOptions& options) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CuSource> read, ReadCuSource(source, options.file));
  return TaskDrafter(*read, options).Run();
}

}  // namespace hone
