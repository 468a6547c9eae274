// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/draft/new_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <type_traits>

#include "tuner/core/plan/bindings.h"
#include "tuner/core/plan/reserved_names.h"
#include "tuner/interop/draft/draft_words.h"
#include "tuner/interop/draft/task_drafter.h"
#include "tuner/interop/read/function_template.h"
#include "tuner/interop/read/plan_expression.h"
#include "tuner/interop/read/python_source.h"
#include "tuner/interop/read/stated_shapes.h"

namespace hone {

using std::string_view;

namespace {

// Returns whether device code uses a macro or constant.
bool UsedByDeviceCode(const CuSource& source, const std::string& name) {
  for (const CuItem& item : source.items) {
    const bool device = item.kind == CuItemKind::kKernel || item.kind == CuItemKind::kDevice ||
                        item.kind == CuItemKind::kType || (item.kind == CuItemKind::kConstant && item.name != name);
    for (int i = item.first; device && i <= item.last; ++i) {
      if (source.token(i).text == name) return true;
    }
  }
  return false;
}

// Returns the launch that `launch` repeats with the same kernel, configuration and arguments: the last one, or any one if
// `launch` stands in a loop. A test program launches once to warm up or to check, and again to take the time. Returns
// nullptr if there is none.
const CuLaunch* FindRepeatedLaunch(const std::vector<CuLaunch>& before, const CuLaunch& launch) {
  for (size_t back = 0; back < before.size(); ++back) {
    const CuLaunch& one = before[before.size() - 1 - back];
    const bool looped = !launch.conditions_known || !one.conditions_known;
    if (back > 0 && launch.conditions_known) return nullptr;
    if (one.kernel != launch.kernel || one.template_args != launch.template_args || one.arguments != launch.arguments) continue;
    const auto at = [](const CuLaunch& l, size_t i) { return i < l.configuration.size() ? l.configuration[i] : "0"; };
    const bool alike = at(one, 0) == at(launch, 0) && at(one, 1) == at(launch, 1) && at(one, 2) == at(launch, 2);
    if (alike && (looped || one.conditions == launch.conditions)) return &one;
  }
  return nullptr;
}

}  // namespace

Result<TaskDraft> TaskDrafter::Run() {
  HONE_RETURN_IF_ERROR(ChooseLaunches());
  NameTensors();
  FindDims();
  RelateDims();
  RenameInOptions();
  if (given_ != nullptr) {
    for (const GivenEntry& entry : given_->entries) HONE_RETURN_IF_ERROR(MakeGivenEntry(entry));
  } else {
    for (const CuLaunch& launch : launches_) HONE_RETURN_IF_ERROR(MakeEntry(launch));
    HONE_RETURN_IF_ERROR(HostMemory());
    Steps();
  }
  HONE_RETURN_IF_ERROR(Tensors());
  DropUnusedDims();
  NameAddedDims();
  HONE_RETURN_IF_ERROR(CheckNames());
  NoteOptionalTensors();
  HONE_RETURN_IF_ERROR(ReadCases());
  ReadMain();
  AddConsts();
  draft_.seed = SeedText();
  HONE_RETURN_IF_ERROR(Oracle());
  draft_.task_toml = Toml();
  JoinDimensionAnswers();
  return std::move(draft_);
}

void TaskDrafter::Ask(std::string what, std::string answer) {
  for (const TaskQuestion& q : draft_.questions) {
    if (q.what == what) return;
  }
  draft_.questions.push_back({std::move(what), std::move(answer)});
}

std::string TaskDrafter::PlanName(const std::string& name, const char* what) {
  if (!IsReservedName(name)) return name;
  const std::string renamed = name + what;
  const std::string text = fmt::format("'{}' is called '{}' in the task: launch plans give '{}' a meaning of their own",
                                       name, renamed, name);
  if (std::find(draft_.inferred.begin(), draft_.inferred.end(), text) == draft_.inferred.end()) NoteInference(text);
  return renamed;
}

void TaskDrafter::AddDim(const std::string& name) {
  if (dims_.count(name) != 0) return;
  const std::string plan = PlanName(name, "_size");
  dims_[name] = plan;
  dims_[plan] = plan;
  if (std::find(dim_order_.begin(), dim_order_.end(), plan) == dim_order_.end()) dim_order_.push_back(plan);
}

std::string TaskDrafter::RenamedSizes(const std::string& text, bool device) {
  static const std::set<string_view> kOfTheDevice = {"sm_count", "cc", "l2_bytes", "smem_optin", "occupancy"};
  std::vector<TextEdit> edits;
  const std::vector<Token> tokens = LexCuda(text);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::string name(tokens[i].text);
    const bool function = i + 1 < tokens.size() && tokens[i + 1].text == "(";
    if (tokens[i].kind != TokenKind::kIdentifier || function || !IsReservedName(name)) continue;
    if (lets_.count(name) != 0 || (device && kOfTheDevice.count(name) != 0)) continue;
    AddDim(name);
    edits.push_back({tokens[i].begin, tokens[i].end, dims_.at(name)});
  }
  return ApplyEdits(text, std::move(edits));
}

void TaskDrafter::RenameInOptions() {
  const auto keys = [](auto& map, const char* what) {
    std::remove_reference_t<decltype(map)> renamed;
    for (auto& [name, value] : map) renamed.emplace(IsReservedName(name) ? name + what : name, std::move(value));
    map = std::move(renamed);
  };
  for (auto* list : {&o_.shapes, &o_.dtypes, &o_.roles, &o_.values}) keys(*list, "_data");
  for (std::string& name : o_.no_stress) name += IsReservedName(name) ? "_data" : "";
  keys(o_.scalars, "_value");
  keys(o_.hidden, "_size");
  keys(o_.multiples, "_size");
  for (auto& [name, text] : o_.shapes) text = RenamedSizes(text, /*device=*/false);
  for (auto& [name, text] : o_.work) text = RenamedSizes(text, /*device=*/false);
  for (auto& [name, text] : o_.values) {
    const size_t bound = text.find(':');
    if (bound != std::string::npos)
      text = text.substr(0, bound + 1) + RenamedSizes(text.substr(bound + 1), /*device=*/false);
  }
  o_.slice = RenamedSizes(o_.slice, /*device=*/false);
  for (auto* list : {&o_.grid, &o_.block}) {
    for (std::string& text : *list) text = RenamedSizes(text, /*device=*/true);
  }
  o_.shared = RenamedSizes(o_.shared, /*device=*/true);
}

void TaskDrafter::Let(const std::string& name, const std::string& expression_text) {
  const std::string text = RenamedSizes(expression_text, /*device=*/false);
  const auto place = std::find(dim_order_.begin(), dim_order_.end(), name);
  const auto at = place - dim_order_.begin();
  if (place != dim_order_.end()) dim_order_.erase(place);
  std::vector<std::string> fresh;
  if (const Result<Expression> expression = Expression::Parse(text); expression.ok()) {
    for (const std::string& n : expression->Names()) {
      if (dims_.count(n) == 0 && std::find(fresh.begin(), fresh.end(), n) == fresh.end()) fresh.push_back(n);
    }
  }
  for (const std::string& n : fresh) dims_[n] = n;
  dim_order_.insert(dim_order_.begin() + std::min<long>(at, static_cast<long>(dim_order_.size())), fresh.begin(),
                    fresh.end());
  dims_[name] = text;
  lets_[name] = text;
}

void TaskDrafter::RelateDims() {
  if (given_ != nullptr) return;  // the file's plan already names its sizes
  // Collects quotients A / B of two sizes, in the host code and in kernels that get both sizes.
  std::vector<std::pair<std::pair<std::string, std::string>, std::string>> related;  // A, B and a name for A / B
  const auto look = [&](int first, int last, const std::map<std::string, std::string>& names) {
    for (int i = first; i + 2 <= last; ++i) {
      if (s_.token(i + 1).text != "/" || s_.token(i).kind != TokenKind::kIdentifier) continue;
      const auto a = names.find(std::string(s_.token(i).text)), b = names.find(std::string(s_.token(i + 2).text));
      if (a == names.end() || b == names.end() || a->second == b->second) continue;
      const std::string_view before = s_.token(i - 1).text, after = s_.token(i + 3).text;
      if (before == "*" || before == "/" || before == "+" || before == "-" || before == "%") continue;
      std::string name;
      if (before == "=" && after == ";" && s_.token(i - 2).kind == TokenKind::kIdentifier)
        name = std::string(s_.token(i - 2).text);
      related.push_back({{a->second, b->second}, name});
    }
  };
  std::map<std::string, std::string> own;
  for (const std::string& d : dim_order_) own[d] = d;
  if (Host() != nullptr) look(Host()->body_open + 1, Host()->body_close - 1, own);
  for (const CuLaunch& l : launches_) {
    const CuKernel* kernel = s_.FindKernel(l.kernel);
    std::map<std::string, std::string> names;
    for (size_t i = 0; i < kernel->parameters.size() && i < l.arguments.size(); ++i) {
      if (!kernel->parameters[i].pointer && own.count(l.arguments[i]) != 0)
        names[kernel->parameters[i].name] = l.arguments[i];
    }
    look(kernel->body_open + 1, kernel->body_close - 1, names);
  }
  for (auto& [pair, name] : related) {
    const auto& [a, b] = pair;
    const bool is_named = std::find(o_.dims.begin(), o_.dims.end(), a) != o_.dims.end();
    if (is_named || lets_.count(a) != 0 || lets_.count(b) != 0) continue;
    bool name_is_taken = name.empty() || IsReservedName(name) || dims_.count(name) != 0;
    for (const CuKernel& k : s_.kernels) {
      for (const CuParameter& p : k.parameters) name_is_taken = name_is_taken || p.name == name;
    }
    if (name_is_taken) name = a + "_per_" + b;
    Let(a, fmt::format("{} * {}", name, b));
    ratios_.insert(name);
    NoteInference(
        fmt::format("{} = {} * {}, for the code divides one by the other; --dims with {} among them keeps them apart",
                    a, name, b, a));
  }
}

std::optional<std::string> TaskDrafter::LocalText(const std::string& name) const {
  if (Host() == nullptr) return std::nullopt;
  const auto found = Host()->locals.find(name);
  if (found == Host()->locals.end()) return std::nullopt;
  return found->second;
}

Status TaskDrafter::ChooseLaunches() {
  if (given_ != nullptr) return TakeGivenLaunches();
  for (const std::string& wanted_kernel : o_.kernels) {
    if (s_.FindKernel(wanted_kernel) == nullptr) {
      std::vector<std::string> names;
      for (const CuKernel& k : s_.kernels) names.push_back(k.name);
      return InvalidFile(fmt::format("there is no kernel '{}'; it has {}", wanted_kernel, fmt::join(names, ", ")));
    }
  }
  const auto is_wanted = [&](const CuLaunch& l) {
    if (s_.FindKernel(l.kernel) == nullptr) return false;
    return o_.kernels.empty() || std::find(o_.kernels.begin(), o_.kernels.end(), l.kernel) != o_.kernels.end();
  };
  // A launch in main() is taken only if no other function has one.
  for (const bool main_too : {false, true}) {
    for (const CuLaunch& l : s_.launches) {
      if (!is_wanted(l) || function_ >= 0) continue;
      if (!main_too && s_.functions[static_cast<size_t>(l.function)].name == "main") continue;
      function_ = l.function;
    }
  }
  std::set<std::string> elsewhere;
  for (const CuLaunch& l : s_.launches) {
    if (!is_wanted(l)) continue;
    if (l.function == function_) {
      if (const CuLaunch* repeated_launch = FindRepeatedLaunch(launches_, l)) {
        NoteInference(
            fmt::format("line {} repeats line {} (a timing loop?): launched once", l.line, repeated_launch->line));
      } else {
        launches_.push_back(l);
      }
    } else {
      elsewhere.insert(s_.functions[static_cast<size_t>(l.function)].name);
    }
  }
  if (function_ >= 0) {
    NoteInference(fmt::format("the launch plan: from the launches in '{}'", Host()->name));
    for (const std::string& name : elsewhere) NoteInference(fmt::format("launches in '{}' are left aside", name));
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
    return InvalidFile(fmt::format("none of its kernels is launched in it ({}); say which one is meant with --kernel",
                                   fmt::join(names, ", ")));
  }
  CuLaunch launch;
  launch.kernel = kernel->name;
  for (const CuParameter& p : kernel->parameters) launch.arguments.push_back(p.name);
  launches_.push_back(launch);
  return Status::Ok();
}

void TaskDrafter::NameTensors() {
  if (given_ != nullptr) {
    own_names_ = false;
    return;
  }
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
  if (given_ != nullptr) {
    for (const std::string& name : given_->sizes) AddDim(name);
    return;
  }
  if (Host() == nullptr) {
    for (const CuParameter& p : s_.FindKernel(launches_[0].kernel)->parameters) {
      if (!p.pointer && !IntegerSuffix(p.type).empty() && IntegerSuffix(p.type) != "bool" && !FixedNumber(p, p.name)) AddDim(p.name);
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
      if (p.pointer || suffix.empty() || suffix == "bool" || FixedNumber(p, l.arguments[i])) continue;
      const std::vector<Token> tokens = LexCuda(l.arguments[i]);
      // The launch passes a constant, which may be a size that the user means to vary.
      if (const std::optional<int64_t> number = Constant(l.arguments[i])) {
        const bool is_one_name =
            tokens.size() == 1 && tokens[0].kind == TokenKind::kIdentifier && !LocalText(l.arguments[i]);
        // A macro N in a test program, #define N (1 << 24), is taken for a size like a local of main(), unless kernels
        // use it.
        if (is_one_name && Host()->name == "main" && !UsedByDeviceCode(s_, l.arguments[i])) {
          AddDim(l.arguments[i]);
          default_sizes_[dims_.at(l.arguments[i])] = *number;
          continue;
        }
        if (MeantAsSize(p) && dims_.count(l.arguments[i]) == 0) {
          AddDim(p.name);
          default_sizes_[dims_.at(p.name)] = *number;
          literal_sizes_[{kernel, p.name}] = dims_.at(p.name);
          continue;
        }
      }
      if (tokens.size() == 1 && tokens[0].kind == TokenKind::kIdentifier &&
          configured.count(std::string(tokens[0].text)) == 0) {
        const std::string name(tokens[0].text);
        const std::optional<std::string> local = LocalText(name);
        if (local) {
          if (const std::optional<double> number = LocalNumber(name)) {
            AddDim(name);
            default_sizes_[dims_.at(name)] = static_cast<int64_t>(*number);
            continue;
          }
        }
      }
      Follow(l.arguments[i], 0);
    }
    for (const std::string& text : l.configuration) Follow(text, 0);
    for (const std::string& text : l.conditions) Follow(text, 0);
  }
  // A kernel with one block a row is often not given the number of rows: only the grid names it.
  for (const CuLaunch& l : launches_) {
    if (l.configuration.empty()) continue;
    const std::optional<std::string> local = LocalText(l.configuration[0]);
    const std::string grid = local && local->starts_with("dim3") ? *local : l.configuration[0];
    for (const Token& t : LexCuda(grid)) {
      const std::string name(t.text);
      if (t.kind != TokenKind::kIdentifier || dims_.count(name) != 0 || configured.count(name) != 0) continue;
      const std::optional<int64_t> number = PlainNumber(name);
      if (!number || *number < 1 || !MeasuresMemory(name)) continue;
      AddDim(name);
      default_sizes_[dims_.at(name)] = *number;
    }
  }
}

std::optional<int64_t> TaskDrafter::PlainNumber(const std::string& name) const {
  const std::optional<std::string> local = LocalText(name);
  if (!local && UsedByDeviceCode(s_, name)) return std::nullopt;
  for (const Token& t : LexCuda(local.value_or(""))) {
    if (t.kind == TokenKind::kIdentifier) return std::nullopt;  // it follows from other sizes
  }
  return Constant(name);
}

bool TaskDrafter::MeasuresMemory(const std::string& name) const {
  if (Host() == nullptr) return false;
  bool names_dimension = false, measures = false;  // in the statement so far
  for (int i = Host()->body_open + 1; i < Host()->body_close; ++i) {
    const std::string text(s_.token(i).text);
    if (text == ";" || text == "{" || text == "}") names_dimension = measures = false;
    names_dimension = names_dimension || text == name;
    measures = measures || text == "sizeof" || text == "vector" || text == "new" || text == "malloc" || text.starts_with("cudaMalloc") ||
               (text == "*" && (s_.token(i - 1).text == name || s_.token(i + 1).text == name));
    if (names_dimension && measures) return true;
  }
  return false;
}

std::optional<int64_t> TaskDrafter::Constant(const std::string& text) const {
  const std::map<std::string, std::string> none;
  const Result<std::string> value = PlanExpressions(s_, function_, none).Resolve(text);
  if (!value.ok()) return std::nullopt;
  const Result<Expression> expression = Expression::Parse(*value);
  if (!expression.ok()) return std::nullopt;
  const Result<int64_t> number = expression->Evaluate(std::map<std::string, int64_t>{});
  if (!number.ok()) return std::nullopt;
  return *number;
}

std::optional<int64_t> TaskDrafter::FixedNumber(const CuParameter& parameter, const std::string& actual) const {
  if (const auto given_scalar = o_.scalars.find(parameter.name); given_scalar != o_.scalars.end())
    return static_cast<int64_t>(given_scalar->second);
  std::string name = parameter.name;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool seed = name == "seed" || name.ends_with("_seed") || name.starts_with("seed_") || name == "rng_offset" || name == "philox_offset";
  if (!seed || MeantAsSize(parameter)) return std::nullopt;
  return Host() == nullptr ? 42 : Constant(actual).value_or(42);
}

void TaskDrafter::NameAddedDims() {
  if (o_.dims.empty()) return;
  for (const std::string& d : dim_order_) {
    const auto is_this_dim = [&](const std::string& one) {
      return one == d || (dims_.count(one) != 0 && dims_.at(one) == d);
    };
    if (std::any_of(o_.dims.begin(), o_.dims.end(), is_this_dim) || ratios_.count(d) != 0) continue;
    NoteGuess(fmt::format(
        "{} is a dimension too, though --dims does not name it: a kernel is given it, or a shape needs it; --scalar "
        "{}=NUMBER passes one number always, --let {}=EXPRESSION says what it follows from",
        d, d, d));
  }
}

bool TaskDrafter::MeantAsSize(const CuParameter& parameter) const {
  if (std::find(o_.dims.begin(), o_.dims.end(), parameter.name) != o_.dims.end()) return true;
  for (const auto* options : {&o_.shapes, &o_.lets}) {
    for (const auto& [name, text] : *options) {
      for (const Token& t : LexCuda(text)) {
        if (t.text == parameter.name) return true;
      }
    }
  }
  const auto names = [&](const Dims& dims) { return dims.count(parameter.name) != 0; };
  return std::any_of(o_.time_cases.begin(), o_.time_cases.end(), names) ||
         std::any_of(o_.check_cases.begin(), o_.check_cases.end(), names);
}

std::optional<double> TaskDrafter::LocalNumber(const std::string& name) const {
  const std::map<std::string, std::string> none;
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
    const bool of_main = Host()->name == "main";
    for (const CuParameter& p : Host()->parameters) {
      // main()'s own parameter is the number of words on its command line, which is no size.
      if (p.name == name && !p.pointer && !of_main && !IntegerSuffix(p.type).empty() && IntegerSuffix(p.type) != "bool") AddDim(name);
    }
    const std::optional<std::string> local = LocalText(name);
    if (!local || dims_.count(name) != 0) continue;
    Follow(*local, depth + 1);
    const bool opaque = local->find('.') != std::string::npos || local->find("->") != std::string::npos;
    const bool changed = std::find(Host()->changed.begin(), Host()->changed.end(), name) != Host()->changed.end();
    // A size that main() reads from its command line, int rows = atoi(argv[1]), is known to the caller alone.
    const std::vector<Token> local_tokens = LexCuda(*local);
    const bool uses_parameter = of_main && std::any_of(local_tokens.begin(), local_tokens.end(), [&](const Token& word) {
                                  return std::any_of(Host()->parameters.begin(), Host()->parameters.end(),
                                                     [&](const CuParameter& p) { return word.text == p.name; });
                                });
    if (!local->starts_with("dim3") && (opaque || changed || uses_parameter) &&
        !PlanExpressions(s_, function_, dims_).Resolve(name).ok())
      AddDim(name);
  }
}

std::vector<std::string> TaskDrafter::TemplateArgs(const CuKernel& kernel, const CuLaunch& launch) const {
  std::vector<std::string> arguments = o_.template_args.empty() ? launch.template_args : SplitCommas(o_.template_args);
  // --template must give at least as many arguments as the launch has; otherwise the launch's own arguments are used.
  if (arguments.size() < launch.template_args.size()) arguments = launch.template_args;
  for (std::string& argument : arguments) {
    if (std::string instantiated = Instantiated(argument); !instantiated.empty()) argument = instantiated;
  }
  for (size_t i = 0; i < arguments.size() && i < kernel.template_parameters.size(); ++i) {
    if (kernel.template_parameters[i].is_type) continue;
    // Device code does not know the host function's locals: a constant local is replaced by its value.
    if (LocalText(arguments[i])) {
      if (const std::optional<double> number = LocalNumber(arguments[i]))
        arguments[i] = fmt::format("{}", static_cast<int64_t>(*number));
    }
  }
  return arguments;
}

std::string TaskDrafter::Instantiated(const std::string& parameter) const {
  if (Host() == nullptr) return "";
  const std::vector<std::string> names = TemplateNames(s_, Host()->body_open);
  const auto at = std::find(names.begin(), names.end(), parameter);
  if (at == names.end()) return "";
  const auto index = static_cast<size_t>(at - names.begin());
  std::vector<std::string> arguments = SplitCommas(o_.template_args);
  if (arguments.empty()) {
    const std::vector<std::vector<std::string>> instantiations = ExplicitInstantiations(s_, Host()->name);
    if (instantiations.size() != 1) return "";
    arguments = instantiations[0];
  }
  return index < arguments.size() ? arguments[index] : "";
}

std::string TaskDrafter::OfferedTemplates(const CuKernel& kernel) const {
  std::vector<std::vector<std::string>> instantiations = ExplicitInstantiations(s_, kernel.name);
  if (instantiations.empty() && Host() != nullptr) instantiations = ExplicitInstantiations(s_, Host()->name);
  std::string text;
  for (const std::vector<std::string>& one : instantiations)
    text += fmt::format("{}--template \"{}\"", text.empty() ? "" : " or ", fmt::join(one, ", "));
  return text;
}

bool TaskDrafter::IsTemplateParameter(const CuKernel& kernel, const std::string& type) const {
  for (const CuTemplateParameter& p : kernel.template_parameters) {
    if (p.name == type) return true;
  }
  if (Host() == nullptr) return false;
  const std::vector<std::string> names = TemplateNames(s_, Host()->body_open);
  return std::find(names.begin(), names.end(), type) != names.end();
}

std::string TaskDrafter::TypeOf(const CuKernel& kernel, const CuLaunch& launch, const std::string& type) const {
  const std::vector<std::string> args = TemplateArgs(kernel, launch);
  for (size_t i = 0; i < kernel.template_parameters.size() && i < args.size(); ++i) {
    if (kernel.template_parameters[i].name == type) return args[i];
  }
  return type;
}

Result<std::string> TaskDrafter::Plan(const std::string& text) const {
  if (given_ != nullptr) return SubstituteTunables(text, given_->first_choices);
  return PlanExpressions(s_, function_, dims_).Resolve(text);
}

Status TaskDrafter::MakeEntry(const CuLaunch& launch) {
  const CuKernel* kernel = s_.FindKernel(launch.kernel);
  DraftEntry entry;
  entry.kernel = kernel;
  entry.token = launch.token;
  entry.template_args = TemplateArgs(*kernel, launch);
  if (entry.template_args.size() < kernel->template_parameters.size()) {
    std::vector<std::string> names;
    for (const CuTemplateParameter& p : kernel->template_parameters) names.push_back(p.name);
    const std::string offered = OfferedTemplates(*kernel);
    Ask(fmt::format("template arguments of kernel '{}' ({})", kernel->name, fmt::join(names, ", ")),
        offered.empty() ? "--template \"float, 256\"" : offered);
    template_asked_ = true;
  }
  for (const std::string& a : entry.template_args) {
    const std::vector<std::string> names =
        Host() == nullptr ? std::vector<std::string>{} : TemplateNames(s_, Host()->body_open);
    if (a != "scalar_t" && std::find(names.begin(), names.end(), a) == names.end()) continue;
    const std::string offered = OfferedTemplates(*kernel);
    Ask(fmt::format("what {} stands for", a), offered.empty() ? "--template float" : offered);
    template_asked_ = true;
  }
  if (o_.template_args.empty() && entry.template_args != launch.template_args && !launch.template_args.empty()) {
    for (size_t i = 0; i < launch.template_args.size(); ++i) {
      if (!Instantiated(launch.template_args[i]).empty())
        NoteInference(fmt::format("{} = {}: the file instantiates '{}' for it; --template for another",
                                  launch.template_args[i], entry.template_args[i], Host()->name));
    }
  }
  // Reads the launch's grid, block and shared memory.
  const auto extents = [&](size_t index, const std::vector<std::string>& extent_texts, const char* option) {
    std::vector<std::string> out;
    if (!extent_texts.empty()) return extent_texts;
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
  const bool literal =
      std::any_of(literal_sizes_.begin(), literal_sizes_.end(), [&](const auto& l) { return l.first.first == kernel; });
  const bool grid_follows = std::any_of(entry.grid.begin(), entry.grid.end(), [](const std::string& g) {
    const std::vector<Token> tokens = LexCuda(g);
    return std::any_of(tokens.begin(), tokens.end(), [](const Token& t) { return t.kind == TokenKind::kIdentifier; });
  });
  if (literal && o_.grid.empty() && !grid_follows) {
    // The launch passes numbers where the task has sizes, so that its constant grid fits one shape only.
    Ask(fmt::format("the grid of kernel '{}': the launch says {}, which is for one size", kernel->name,
                    fmt::join(entry.grid, ", ")),
        fmt::format("--grid \"ceil_div({}, THREADS)\"", literal_sizes_.begin()->second));
    entry.grid = {kFillIn};
  }
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
  // Makes the entry's `when` from the ifs around the launch.
  if (!launch.conditions_known)
    NoteInference(fmt::format("the launch of '{}' in line {} stands in a loop, a switch or a lambda: launched once",
                              kernel->name, launch.line));
  for (const std::string& condition : launch.conditions) {
    Result<std::string> value = Plan(condition);
    if (value.ok()) {
      const bool constant = *value == "1";
      if (!constant)
        entry.when +=
            (entry.when.empty() ? "" : " && ") + (launch.conditions.size() > 1 ? InParentheses(*value) : *value);
      entry.conditions = launch.conditions;
    } else {
      NoteInference(fmt::format("the condition '{}' around a launch of '{}' is left out ({})", condition, kernel->name,
                                value.status().message()));
    }
  }
  // Reads the launch's arguments.
  if (launch.arguments.size() != kernel->parameters.size()) {
    return InvalidFile(fmt::format("line {}: kernel '{}' takes {} arguments and is launched with {}", launch.line,
                                   kernel->name, kernel->parameters.size(), launch.arguments.size()));
  }
  for (size_t i = 0; i < kernel->parameters.size(); ++i) {
    const CuParameter& p = kernel->parameters[i];
    const std::string& actual = launch.arguments[i];
    const std::string type = TypeOf(*kernel, launch, p.type);
    if (p.pointer) {
      const std::string base = own_names_ ? p.name : BaseOf(actual);
      const std::string name = PlanName(base.empty() ? p.name : base, "_data");
      host_tensors_.emplace(BaseOf(actual), name);
      AddTensor(entry, p.name, name, type);
      continue;
    }
    const std::string suffix = IntegerSuffix(type);
    if (!suffix.empty()) {
      if (const std::optional<int64_t> fixed = FixedNumber(p, actual)) {
        const bool scalar_given = o_.scalars.contains(p.name);
        const std::string message = fmt::format(
            "{} = {} in every launch: {}; --scalar {}=NUMBER for another, and --dims with {} among them makes it a "
            "size that varies",
            p.name, *fixed, scalar_given ? "as you said" : "a guess, for its name says that it is no size", p.name,
            p.name);
        if (fixed_.insert(p.name).second) scalar_given ? NoteInference(message) : NoteGuess(message);
        entry.args.push_back(fmt::format("{}:{}", *fixed, suffix));
        integers_[{kernel, p.name}] = std::to_string(*fixed);
        continue;
      }
      const auto size = literal_sizes_.find({kernel, p.name});
      Result<std::string> value = size == literal_sizes_.end() ? Plan(actual) : Result<std::string>(size->second);
      if (value.ok()) {
        entry.args.push_back(*value + ":" + suffix);
        integers_[{kernel, p.name}] = *value;
      } else if (suffix == "bool") {
        entry.args.push_back("1:bool");
        NoteInference(fmt::format("'{}' of kernel '{}' is passed as true", p.name, kernel->name));
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
      return InvalidFile(fmt::format(
          "parameter '{}' of kernel '{}' has the type {}: structs and other types by value cannot be taken over; "
          "write the plan by hand (candidate-format.md in the documentation)",
          p.name, kernel->name, type));
    }
    static const std::map<DType, const char*> kSuffix = {
        {DType::kFloat32, "f32"}, {DType::kFloat64, "f64"}, {DType::kFloat16, "f16"}, {DType::kBFloat16, "bf16"}};
    const std::string name = PlanName(p.name, "_value");
    AddScalar(name, actual, *dtype);
    entry.args.push_back(name + ":" + kSuffix.at(*dtype));
  }
  entries_.push_back(std::move(entry));
  return Status::Ok();
}

void TaskDrafter::AddTensor(DraftEntry& entry, const std::string& parameter, const std::string& name, const std::string& type) {
  entry.tensors[parameter] = name;
  entry.args.push_back(name);
  if (FindTensor(name) != nullptr) return;
  DraftTensor t;
  t.name = name;
  t.dtype = ElementType(type);
  t.type = type;
  tensors_.push_back(t);
}

void TaskDrafter::AddScalar(const std::string& name, const std::string& actual, DType dtype) {
  for (const DraftScalar& s : scalars_) {
    if (s.name == name) return;
  }
  DraftScalar scalar{name, dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32, 0, false};
  std::optional<double> value;
  if (const auto given_scalar = o_.scalars.find(name); given_scalar != o_.scalars.end()) value = given_scalar->second;
  if (!value) value = LiteralValue(actual);
  if (!value && LocalText(actual)) value = LiteralValue(*LocalText(actual));
  if (!value) {
    if (const auto constant = s_.constants.find(actual); constant != s_.constants.end())
      value = LiteralValue(constant->second);
  }
  if (value) {
    scalar.value = *value;
    scalar.known = true;
    NoteInference(fmt::format("scalar {} = {}: {}; --scalar {}=VALUE for another", name, scalar.value,
                              o_.scalars.contains(name) ? "as you said" : "as the launch passes it", name));
  } else {
    scalar.value = name.find("eps") != std::string::npos ? 1e-6 : 1.0;
    NoteGuess(fmt::format("scalar {} = {}: a guess; --scalar {}=VALUE", name, scalar.value, name));
  }
  scalars_.push_back(scalar);
}

Status TaskDrafter::HostMemory() {
  if (Host() == nullptr) return Status::Ok();
  std::vector<DraftEntry> memsets;
  const auto add = [&](DraftEntry entry) {
    entry.memset = true;
    if (!entry.conditions.empty()) entry.token = 0;
    entry.conditions.clear();
    NoteInference(
        fmt::format("{} is set to {} before the kernels run, as '{}' does", entry.target, entry.value, Host()->name));
    memsets.push_back(std::move(entry));
  };
  for (const auto& [host, name] : host_tensors_) {
    if (!MadeBy(s_, function_, host).starts_with("zeros")) continue;
    DraftEntry entry;
    entry.target = name;
    add(entry);
  }
  for (const CuHostCall& call : s_.calls) {
    if (call.function != function_) continue;
    const auto tensor_of = [&](const std::string& text) {
      const auto found = host_tensors_.find(BaseOf(text));
      return found == host_tensors_.end() ? std::string() : found->second;
    };
    if (call.name == "cudaMemset" || call.name == "cudaMemsetAsync") {
      const std::string target = call.arguments.size() < 2 ? "" : tensor_of(call.arguments[0]);
      if (target.empty()) continue;  // no kernel gets it
      const std::vector<Token> tokens = LexCuda(call.arguments[0]);
      const Result<std::string> value = Plan(call.arguments[1]);
      std::optional<int64_t> byte;
      if (value.ok()) {
        if (const Result<Expression> e = Expression::Parse(*value); e.ok()) {
          if (const Result<int64_t> number = e->Evaluate(std::map<std::string, int64_t>{}); number.ok()) byte = *number;
        }
      }
      const bool offset =
          std::any_of(tokens.begin(), tokens.end(), [](const Token& t) { return t.text == "+" || t.text == "["; });
      if (offset || !byte) {
        return Status::InvalidArgument(
            fmt::format("{}: {}({}) cannot be taken over: a launch plan sets a tensor's bytes from its beginning to "
                        "one number; write "
                        "it as a small kernel",
                        FileAndLine(call.line), call.name, fmt::join(call.arguments, ", ")));
      }
      // A timing loop clears again what was cleared before the first launch.
      const bool is_repeated =
          !call.conditions_known && std::any_of(memsets.begin(), memsets.end(), [&](const DraftEntry& m) {
            return m.target == target && m.value == static_cast<int>(*byte & 0xff);
          });
      if (is_repeated) continue;
      DraftEntry entry;
      entry.target = target;
      entry.value = static_cast<int>(*byte & 0xff);
      entry.token = call.token;
      entry.conditions = call.conditions;
      if (call.arguments.size() > 2) {
        if (const Result<std::string> bytes = Plan(call.arguments[2]); bytes.ok()) entry.bytes = *bytes;
      }
      add(entry);
      continue;
    }
    const bool library =
        call.name.starts_with("cub") || call.name.starts_with("thrust::") || call.name.starts_with("cudnn");
    bool copies = call.name.starts_with("cudaMemcpy") || call.name.starts_with("cudaMemset2D") ||
                  call.name.starts_with("cudaMemset3D");
    bool touches_a_tensor = false;
    for (const std::string& a : call.arguments) {
      touches_a_tensor = touches_a_tensor || !tensor_of(a).empty();
      if (a.find("HostToDevice") != std::string::npos || a.find("DeviceToHost") != std::string::npos) copies = false;
    }
    if (Host()->name != "main" && (library || (copies && touches_a_tensor))) {
      return Status::InvalidArgument(fmt::format(
          "{}: '{}' calls {} between its kernels: a launch plan launches kernels of this file and sets bytes, nothing "
          "else. Write it as a kernel, or name the kernels to take with --kernel and give a file without the call",
          FileAndLine(call.line), Host()->name, call.name));
    }
  }
  entries_.insert(entries_.begin(), memsets.begin(), memsets.end());
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const DraftEntry& a, const DraftEntry& b) { return a.token < b.token; });
  return Status::Ok();
}

void TaskDrafter::Steps() {
  int step = -1;
  bool open = false;  // the last step may get more alternatives
  const auto negations = [](const DraftEntry& e) {
    return static_cast<size_t>(std::count_if(e.conditions.begin(), e.conditions.end(),
                                             [](const std::string& c) { return c.starts_with("!("); }));
  };
  for (size_t i = 0; i < entries_.size(); ++i) {
    DraftEntry& e = entries_[i];
    const bool conditional = !e.conditions.empty() && !e.when.empty();
    const bool negated = conditional && e.conditions.front().starts_with("!(");
    if (!(open && negated)) ++step;
    e.step = step;
    if (conditional && negated && e.when.starts_with("!")) {
      // The last alternative of a step needs no condition: it is tried last and handles every remaining shape.
      const bool has_more_conditions =
          i + 1 < entries_.size() && entries_[i + 1].conditions.size() > e.conditions.size();
      if (!has_more_conditions && e.conditions.size() <= negations(e)) e.when.clear();
    }
    open = conditional;
  }
}

Result<TaskDraft> DraftTask(string_view source, const NewTaskOptions& options) {
  std::string cuda(source);
  if (LooksLikePython(source, options.file)) {
    HONE_ASSIGN_OR_RETURN(cuda, CudaFromPython(source, options.file));
  }
  HONE_ASSIGN_OR_RETURN(const std::optional<GivenPlan> given_plan, ReadGivenPlan(cuda, options.file));
  std::string comment;
  if (given_plan) {
    // The plan is replaced by as many empty lines, so that the code's lines keep their numbers.
    comment = cuda.substr(given_plan->begin, given_plan->end - given_plan->begin);
    const auto lines = static_cast<size_t>(std::count(comment.begin(), comment.end(), '\n'));
    cuda.replace(given_plan->begin, comment.size(), std::string(lines, '\n'));
  }
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CuSource> cu_source, ReadCuSource(cuda, options.file));
  return TaskDrafter(*cu_source, options, given_plan ? &*given_plan : nullptr, comment).Run();
}

}  // namespace hone
