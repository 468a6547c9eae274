// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/new_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "tuner/interop/cu_source.h"
#include "tuner/interop/host_expression.h"
#include "tuner/interop/plan_expression.h"
#include "tuner/interop/promote_oracle.h"
#include "tuner/interop/shape_inference.h"

namespace hone {
namespace {

using std::string_view;

std::optional<DType> ElementType(string_view type) {
  static const std::map<string_view, DType> kTypes = {
      {"float", DType::kFloat32},   {"double", DType::kFloat64},      {"half", DType::kFloat16},       {"__half", DType::kFloat16},
      {"__nv_bfloat16", DType::kBFloat16}, {"nv_bfloat16", DType::kBFloat16}, {"int", DType::kInt32},   {"int32_t", DType::kInt32},
      {"unsigned", DType::kUInt32}, {"unsigned int", DType::kUInt32}, {"uint32_t", DType::kUInt32},    {"int64_t", DType::kInt64},
      {"long", DType::kInt64},      {"long long", DType::kInt64},     {"long long int", DType::kInt64}, {"int16_t", DType::kInt16},
      {"short", DType::kInt16},     {"int8_t", DType::kInt8},         {"char", DType::kInt8},          {"signed char", DType::kInt8},
      {"uint8_t", DType::kUInt8},   {"unsigned char", DType::kUInt8}, {"float4", DType::kFloat32},     {"float2", DType::kFloat32},
      {"half2", DType::kFloat16},   {"__half2", DType::kFloat16},     {"__nv_bfloat162", DType::kBFloat16}};
  const auto found = kTypes.find(type);
  if (found == kTypes.end()) return std::nullopt;
  return found->second;
}

// "i32" for what an integer parameter is; empty: no integer.
std::string IntegerSuffix(string_view type) {
  if (type == "int" || type == "int32_t" || type == "signed" || type == "signed int") return "i32";
  if (type == "unsigned" || type == "unsigned int" || type == "uint32_t" || type == "uint") return "u32";
  if (type == "size_t" || type == "uint64_t" || type == "unsigned long" || type == "unsigned long long" || type == "std::size_t") return "u64";
  if (type == "long" || type == "long long" || type == "int64_t" || type == "long int" || type == "long long int" || type == "ptrdiff_t") return "i64";
  if (type == "bool") return "bool";
  return "";
}

std::string Quoted(string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}
std::string List(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += fmt::format("{}{}", out.empty() ? "" : ", ", Quoted(item));
  return "[" + out + "]";
}
std::string Wrapped(const std::string& text) {
  const std::vector<Token> tokens = LexCuda(text);
  return tokens.size() <= 1 ? text : "(" + text + ")";
}
// Every whole word `name` of an expression by `by`.
std::string ReplaceNames(const std::string& text, const std::map<std::string, std::string>& by) {
  std::vector<TextEdit> edits;
  for (const Token& t : LexCuda(text)) {
    const auto found = by.find(std::string(t.text));
    if (t.kind == TokenKind::kIdentifier && found != by.end()) edits.push_back({t.begin, t.end, Wrapped(found->second)});
  }
  return TidyExpression(ApplyEdits(text, std::move(edits)));
}
std::vector<std::string> SplitCommas(const std::string& text) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  const auto add = [&] {
    const size_t a = part.find_first_not_of(" \t"), b = part.find_last_not_of(" \t");
    if (a != std::string::npos) parts.push_back(part.substr(a, b - a + 1));
    part.clear();
  };
  for (const char c : text) {
    if (c == '(' || c == '<') ++depth;
    if (c == ')' || c == '>') --depth;
    if (c == ',' && depth == 0) {
      add();
    } else {
      part += c;
    }
  }
  add();
  return parts;
}
std::optional<double> Literal(string_view text) {
  std::string t(text);
  while (!t.empty() && (t.back() == 'f' || t.back() == 'F')) t.pop_back();
  char* end = nullptr;
  const double value = std::strtod(t.c_str(), &end);
  if (t.empty() || end != t.c_str() + t.size()) return std::nullopt;
  return value;
}

struct Tensor {
  std::string name;
  TensorRole role = TensorRole::kIn;
  std::optional<DType> dtype;
  std::vector<std::string> shape;  // empty: a question
  bool role_inferred = false, shape_inferred = false, workspace = false;
  int first_step = 0;
};
struct Entry {
  int step = 0;
  const CuKernel* kernel = nullptr;
  std::vector<std::string> template_args;
  std::vector<std::string> grid, block, args;
  std::string shared, when;
  std::map<std::string, std::string> tensors;  // parameter -> tensor
};
struct Scalar {
  std::string name;
  DType dtype = DType::kFloat32;
  double value = 0;
  bool known = false;
};

class Drafter {
 public:
  Drafter(const CuSource& source, const NewTaskOptions& options) : s_(source), o_(options) {
    for (const std::string& d : o_.dims) AddDim(d);
  }

  Result<TaskDraft> Run() {
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

 private:
  Status Bad(const std::string& message) const { return Status::InvalidArgument(o_.file + ": " + message); }
  void Inferred(std::string text) { draft_.inferred.push_back(std::move(text)); }
  void Ask(std::string what, std::string answer) {
    for (const TaskQuestion& q : draft_.questions) {
      if (q.what == what) return;
    }
    draft_.questions.push_back({std::move(what), std::move(answer)});
  }
  void AddDim(const std::string& name) {
    if (dims_.insert(name).second) dim_order_.push_back(name);
  }
  const CuFunction* Host() const { return function_ < 0 ? nullptr : &s_.functions[static_cast<size_t>(function_)]; }
  std::optional<std::string> LocalText(const std::string& name) const {
    if (Host() == nullptr) return std::nullopt;
    const auto found = Host()->locals.find(name);
    if (found == Host()->locals.end()) return std::nullopt;
    return found->second;
  }

  Status ChooseLaunches() {
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
      return Bad(fmt::format("none of its kernels is launched in it ({}); say which one is meant with --kernel", fmt::join(names, ", ")));
    }
    CuLaunch launch;
    launch.kernel = kernel->name;
    for (const CuParameter& p : kernel->parameters) launch.arguments.push_back(p.name);
    launches_.push_back(launch);
    return Status::Ok();
  }

  // One kernel, or several with the same pointers: its own names. Several kernels in a row: those of the host code.
  void NameTensors() {
    const auto pointers = [&](const CuLaunch& l) {
      std::vector<std::string> names;
      for (const CuParameter& p : s_.FindKernel(l.kernel)->parameters) {
        if (p.pointer) names.push_back(p.name);
      }
      return names;
    };
    for (const CuLaunch& l : launches_) own_names_ = own_names_ && pointers(l) == pointers(launches_[0]);
  }
  // "x.data_ptr<float>()" -> x, "reinterpret_cast<const float4*>(x)" -> x.
  std::string BaseOf(const std::string& text) const {
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

  // Which names of the host code are dimensions: integer parameters of the launcher, and locals whose value cannot be
  // followed (x.size(0)) or is a bare number that is passed on (int n = 1 << 20 in a test program).
  void FindDims() {
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
        if (tokens.size() == 1 && tokens[0].kind == TokenKind::kIdentifier && configured.count(std::string(tokens[0].text)) == 0) {
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
  std::optional<double> LocalNumber(const std::string& name) const {
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
  void Follow(const std::string& text, int depth) {
    if (depth > 16) return;
    const std::vector<Token> tokens = LexCuda(text);
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].kind != TokenKind::kIdentifier) continue;
      if (i > 0 && (tokens[i - 1].text == "." || tokens[i - 1].text == "->" || tokens[i - 1].text == "::")) continue;
      const std::string name(tokens[i].text);
      if (dims_.count(name) != 0) continue;
      for (const CuParameter& p : Host()->parameters) {
        if (p.name == name && !p.pointer && !IntegerSuffix(p.type).empty() && IntegerSuffix(p.type) != "bool") AddDim(name);
      }
      const std::optional<std::string> local = LocalText(name);
      if (!local || dims_.count(name) != 0) continue;
      Follow(*local, depth + 1);
      const bool opaque = local->find('.') != std::string::npos || local->find("->") != std::string::npos;
      const bool changed = std::find(Host()->changed.begin(), Host()->changed.end(), name) != Host()->changed.end();
      if (!local->starts_with("dim3") && (opaque || changed) && !PlanExpressions(s_, function_, dims_).Resolve(name).ok()) AddDim(name);
    }
  }

  std::vector<std::string> TemplateArgs(const CuKernel& kernel, const CuLaunch& launch) const {
    std::vector<std::string> given = o_.template_args.empty() ? launch.template_args : SplitCommas(o_.template_args);
    for (size_t i = 0; i < given.size() && i < kernel.template_parameters.size(); ++i) {
      if (kernel.template_parameters[i].is_type) continue;
      // A number of the host function's own does not exist in device code.
      if (LocalText(given[i])) {
        if (const std::optional<double> number = LocalNumber(given[i])) given[i] = fmt::format("{}", static_cast<int64_t>(*number));
      }
    }
    return given;
  }
  // A template parameter's type, where it is known.
  std::string TypeOf(const CuKernel& kernel, const CuLaunch& launch, const std::string& type) const {
    const std::vector<std::string> args = TemplateArgs(kernel, launch);
    for (size_t i = 0; i < kernel.template_parameters.size() && i < args.size(); ++i) {
      if (kernel.template_parameters[i].name == type) return args[i];
    }
    return type;
  }

  Result<std::string> Plan(const std::string& text) const { return PlanExpressions(s_, function_, dims_).Resolve(text); }

  Status MakeEntry(const CuLaunch& launch) {
    const CuKernel* kernel = s_.FindKernel(launch.kernel);
    Entry entry;
    entry.kernel = kernel;
    entry.template_args = TemplateArgs(*kernel, launch);
    if (entry.template_args.size() < kernel->template_parameters.size()) {
      std::vector<std::string> names;
      for (const CuTemplateParameter& p : kernel->template_parameters) names.push_back(p.name);
      Ask(fmt::format("template arguments of kernel '{}' ({})", kernel->name, fmt::join(names, ", ")), "--template \"float, 256\"");
    }
    for (const std::string& a : entry.template_args) {
      if (a == "scalar_t") Ask("what scalar_t stands for", "--template float");
    }
    // Grid, block, shared memory.
    const auto extents = [&](size_t index, const std::vector<std::string>& given, const char* option) {
      std::vector<std::string> out;
      if (!given.empty()) return given;
      if (index >= launch.configuration.size()) {
        Ask(fmt::format("{} of kernel '{}': no launch tells", option, kernel->name), fmt::format("--{} \"ceil_div(n, 256)\"", option));
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
          Ask(fmt::format("{} of kernel '{}': '{}' ({})", option, kernel->name, part, value.status().message()), fmt::format("--{} EXPRESSION,…", option));
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
        Ask(fmt::format("shared memory of kernel '{}': '{}' ({})", kernel->name, launch.configuration[2], value.status().message()), "--shared BYTES");
        entry.shared = kFillIn;
      }
    }
    // The ifs around the launch.
    if (!launch.conditions_known) Inferred(fmt::format("the launch of '{}' in line {} stands in a loop, a switch or a lambda: that is not looked at", kernel->name, launch.line));
    for (const std::string& condition : launch.conditions) {
      Result<std::string> value = Plan(condition);
      if (value.ok()) {
        const bool constant = *value == "1";
        if (!constant) entry.when += (entry.when.empty() ? "" : " && ") + (launch.conditions.size() > 1 ? Wrapped(*value) : *value);
        conditional_.insert(entries_.size());
      } else {
        Inferred(fmt::format("the condition '{}' around a launch of '{}' is left out ({})", condition, kernel->name, value.status().message()));
      }
    }
    // Arguments.
    if (launch.arguments.size() != kernel->parameters.size()) {
      return Bad(fmt::format("line {}: kernel '{}' takes {} arguments and is launched with {}", launch.line, kernel->name, kernel->parameters.size(), launch.arguments.size()));
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
        for (const Tensor& t : tensors_) known = known || t.name == name;
        if (!known) {
          Tensor t;
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
          Ask(fmt::format("what kernel '{}' is given as '{}': '{}' ({})", kernel->name, p.name, actual, value.status().message()), fmt::format("--dims …,{}", p.name));
          entry.args.push_back(std::string(kFillIn) + ":" + suffix);
        }
        continue;
      }
      const std::optional<DType> dtype = ElementType(type);
      if (!dtype || !IsFloating(*dtype)) {
        return Bad(fmt::format("parameter '{}' of kernel '{}' has the type {}: structs and other types by value cannot be taken over; "
                               "write the plan by hand (docs/candidate-format.md)", p.name, kernel->name, type));
      }
      static const std::map<DType, const char*> kSuffix = {{DType::kFloat32, "f32"}, {DType::kFloat64, "f64"}, {DType::kFloat16, "f16"}, {DType::kBFloat16, "bf16"}};
      AddScalar(p.name, actual, *dtype);
      entry.args.push_back(p.name + ":" + kSuffix.at(*dtype));
    }
    entries_.push_back(std::move(entry));
    return Status::Ok();
  }

  void AddScalar(const std::string& name, const std::string& actual, DType dtype) {
    for (const Scalar& s : scalars_) {
      if (s.name == name) return;
    }
    Scalar scalar{name, dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32, 0, false};
    std::optional<double> value;
    if (const auto given = o_.scalars.find(name); given != o_.scalars.end()) value = given->second;
    if (!value) value = Literal(actual);
    if (!value && LocalText(actual)) value = Literal(*LocalText(actual));
    if (!value) {
      if (const auto constant = s_.constants.find(actual); constant != s_.constants.end()) value = Literal(constant->second);
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

  // Launches that stand in branches of one if are alternatives; the others run in turn.
  void Steps() {
    int step = -1;
    bool open = false;  // the last step waits for more alternatives
    for (size_t i = 0; i < entries_.size(); ++i) {
      const bool conditional = conditional_.count(i) != 0 && !entries_[i].when.empty();
      const bool negated = conditional && launches_[i].conditions.front().starts_with("!(");
      if (!(open && negated)) ++step;
      entries_[i].step = step;
      if (conditional && negated && entries_[i].when.starts_with("!")) {
        // The last alternative serves every other shape; those before it are tried first.
        const bool more = i + 1 < entries_.size() && conditional_.count(i + 1) != 0 && launches_[i + 1].conditions.size() > launches_[i].conditions.size();
        if (!more && launches_[i].conditions.size() <= NegatedCount(i)) entries_[i].when.clear();
      }
      open = conditional;
    }
  }
  size_t NegatedCount(size_t i) const {
    return static_cast<size_t>(std::count_if(launches_[i].conditions.begin(), launches_[i].conditions.end(), [](const std::string& c) { return c.starts_with("!("); }));
  }

  Status Tensors() {
    for (const auto& [name, value] : o_.shapes) HONE_RETURN_IF_ERROR(KnownTensor("--shape", name));
    for (const auto& [name, value] : o_.dtypes) HONE_RETURN_IF_ERROR(KnownTensor("--dtype", name));
    for (const auto& [name, value] : o_.roles) HONE_RETURN_IF_ERROR(KnownTensor("--role", name));
    for (const auto& [name, value] : o_.values) HONE_RETURN_IF_ERROR(KnownTensor("--values", name));
    for (Tensor& t : tensors_) {
      bool read_first = false, written = false, seen = false;
      std::optional<std::vector<std::string>> shape;
      for (const Entry& e : entries_) {
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
          if (std::optional<std::vector<std::string>> likely = LikelyShape(use); likely && (!shape || likely->size() > shape->size())) {
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
        for (const Entry& e : entries_) {
          for (const auto& [formal, tensor] : e.tensors) {
            for (const CuParameter& p : e.kernel->parameters) read_later = read_later || (tensor == t.name && p.name == formal && p.to_const && e.step > t.first_step);
          }
        }
        t.workspace = !parameter && read_later;
      }
      if (const auto given = o_.roles.find(t.name); given != o_.roles.end()) {
        t.role_inferred = false;
        t.workspace = false;
        if (given->second == "in") t.role = TensorRole::kIn;
        else if (given->second == "out") t.role = TensorRole::kOut;
        else if (given->second == "inout") t.role = TensorRole::kInOut;
        else if (given->second == "workspace") t.workspace = true;
        else return Status::InvalidArgument(fmt::format("--role {}={}: a role is in, out, inout or workspace", t.name, given->second));
      }
      if (const auto given = o_.dtypes.find(t.name); given != o_.dtypes.end()) {
        t.dtype = DTypeFromName(given->second);
        if (!t.dtype) return Status::InvalidArgument(fmt::format("--dtype {}={}: not a dtype; they are called float32, float16, bfloat16, int32, …", t.name, given->second));
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
        Ask(fmt::format("shape of tensor '{}'", t.name), fmt::format("--shape {}={}", t.name, dim_order_.empty() ? "n" : fmt::format("{}", fmt::join(dim_order_, ","))));
      }
      const std::string text = t.shape.empty() ? "?" : fmt::format("{}", fmt::join(t.shape, ", "));
      if (t.role_inferred || t.shape_inferred) {
        Inferred(fmt::format("{}: {}, {} [{}]", t.name, t.workspace ? "a workspace" : std::string(TensorRoleName(t.role)),
                             t.dtype ? std::string(DTypeName(*t.dtype)) : "?", text));
      }
    }
    // Outputs last, as a function's results.
    std::stable_sort(tensors_.begin(), tensors_.end(), [](const Tensor& a, const Tensor& b) { return (a.role == TensorRole::kOut) < (b.role == TensorRole::kOut); });
    const bool output = std::any_of(tensors_.begin(), tensors_.end(), [](const Tensor& t) { return !t.workspace && t.role != TensorRole::kIn; });
    if (!output) return Bad("no kernel writes through any of its pointers, as far as can be seen; say which one with --role NAME=out");
    return Status::Ok();
  }
  Status KnownTensor(const char* option, const std::string& name) const {
    std::vector<std::string> names;
    for (const Tensor& t : tensors_) {
      if (t.name == name) return Status::Ok();
      names.push_back(t.name);
    }
    return Status::InvalidArgument(fmt::format("{} {}: there is no such tensor; they are called {}", option, name, fmt::join(names, ", ")));
  }

  Status CheckNames() {
    std::set<std::string> seen;
    for (const std::string& d : dim_order_) seen.insert(d);
    for (const Tensor& t : tensors_) {
      if (!seen.insert(t.name).second) return Bad(fmt::format("'{}' names a tensor and a dimension; rename one of them in the file", t.name));
    }
    for (const auto& [name, value] : o_.scalars) {
      if (std::none_of(scalars_.begin(), scalars_.end(), [&](const Scalar& s) { return s.name == name; }))
        return Status::InvalidArgument(fmt::format("--scalar {}: no kernel takes such a number", name));
    }
    for (const auto* list : {&o_.time_cases, &o_.check_cases}) {
      for (const Dims& dims : *list) {
        for (const auto& [name, value] : dims) {
          if (dims_.count(name) == 0) return Status::InvalidArgument(fmt::format("the case {}={}: the dimensions are {}", name, value, fmt::join(dim_order_, ", ")));
        }
      }
    }
    for (const auto& [name, value] : o_.multiples) {
      if (dims_.count(name) == 0 || value < 1) return Status::InvalidArgument(fmt::format("--multiple {}={}: the dimensions are {}", name, value, fmt::join(dim_order_, ", ")));
    }
    return Status::Ok();
  }

  void DropUnusedDims() {
    std::set<std::string> used;
    const auto use = [&](const std::string& text) {
      for (const Token& t : LexCuda(text)) used.insert(std::string(t.text));
    };
    for (const Tensor& t : tensors_) {
      for (const std::string& e : t.shape) use(e);
    }
    for (const Entry& e : entries_) {
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
      for (const Tensor& t : tensors_) {
        if (t.role == TensorRole::kIn) continue;
        for (const std::string& extent : t.shape) {
          if (std::find(kept.begin(), kept.end(), extent) != kept.end() && std::find(order.begin(), order.end(), extent) == order.end()) order.push_back(extent);
        }
      }
      for (const std::string& d : kept) {
        if (std::find(order.begin(), order.end(), d) == order.end()) order.push_back(d);
      }
      dim_order_ = order;
    }
    if (dim_order_.empty()) Ask("the dimensions: none was found", "--dims n --shape x=n");
  }

  static std::string KernelName(const Entry& e) {
    return e.template_args.empty() ? e.kernel->qualified : fmt::format("{}<{}>", e.kernel->qualified, fmt::join(e.template_args, ", "));
  }
  std::string EntryText(const Entry& e, const std::vector<std::string>& args, int step, const std::string& shared, bool with_when) const {
    std::string out = "\n[[launch]]\n";
    if (step > 0) out += fmt::format("step   = {}\n", step);
    out += fmt::format("kernel = {}\ngrid   = {}\nblock  = {}\n", Quoted(KernelName(e)), List(e.grid), List(e.block));
    if (!shared.empty()) out += fmt::format("shared = {}\n", Quoted(shared));
    out += fmt::format("args   = {}\n", List(args));
    if (with_when && !e.when.empty()) out += fmt::format("when   = {}\n", Quoted(e.when));
    return out;
  }
  // `element_bytes` 0: as the tensor's dtype has it.
  std::string Workspaces(int64_t element_bytes) const {
    std::string out;
    for (const Tensor& t : tensors_) {
      if (!t.workspace) continue;
      std::string bytes = std::to_string(element_bytes > 0 ? element_bytes : t.dtype ? DTypeBytes(*t.dtype) : 4);
      for (const std::string& e : t.shape) bytes += " * " + Wrapped(e);
      out += fmt::format("\n[[workspace]]\nname = {}\nbytes = {}\n", Quoted(t.name), Quoted(t.shape.empty() ? kFillIn : bytes));
    }
    return out;
  }

  std::string SeedText() {
    device_code_ = DeviceCode(s_, &draft_.dropped);
    std::string plan = "/*hone" + Workspaces(0);
    for (const Entry& e : entries_) plan += EntryText(e, e.args, e.step, e.shared, true);
    plan += "*/\n";
    plan_lines_ = static_cast<int>(std::count(plan.begin(), plan.end(), '\n'));
    return plan + device_code_;
  }

  Status Oracle() {
    const std::string head = fmt::format("// The trusted answer to {}", o_.name);
    if (o_.oracle) {
      if (o_.oracle->find("/*hone") != std::string::npos) {
        draft_.oracle = *o_.oracle;
        return Status::Ok();
      }
      NewTaskOptions inner = o_;
      inner.file = o_.oracle_file;
      inner.oracle.reset();
      inner.kernels.clear();
      inner.grid.clear();
      inner.block.clear();
      inner.shared.clear();
      inner.template_args.clear();
      inner.dims = dim_order_;
      Result<TaskDraft> derived = DraftTask(*o_.oracle, inner);
      if (!derived.ok()) return derived.status().WithContext("--oracle");
      draft_.oracle = derived->oracle;
      draft_.oracle_reasons = derived->oracle_reasons;
      return Status::Ok();
    }
    // The last alternative of every step: the one without a condition.
    std::vector<const Entry*> chosen;
    for (const Entry& e : entries_) {
      if (!chosen.empty() && chosen.back()->step == e.step) chosen.pop_back();
      chosen.push_back(&e);
    }
    std::vector<KernelToPromote> kernels;
    std::map<std::string, DType> in_place;
    for (const Entry* e : chosen) {
      KernelToPromote k;
      k.kernel = e->kernel;
      k.template_args = e->template_args;
      for (const auto& [parameter, name] : e->tensors) {
        for (const Tensor& t : tensors_) {
          if (t.name == name && !t.workspace) k.parameters[parameter] = {t.role, t.dtype.value_or(DType::kFloat32)};
          if (t.name == name && t.role == TensorRole::kInOut && !t.workspace) in_place[name] = t.dtype.value_or(DType::kFloat32);
        }
      }
      kernels.push_back(std::move(k));
    }
    PromotedCode code = PromoteToDouble(device_code_, plan_lines_, kernels, in_place);
    if (!code.reasons.empty()) {
      draft_.oracle_reasons = code.reasons;
      return Status::Ok();
    }
    std::string plan = "/*hone" + Workspaces(8);
    int step = 0;
    for (const auto& [name, dtype] : in_place) {
      std::string elements;
      for (const Tensor& t : tensors_) {
        if (t.name != name) continue;
        for (const std::string& extent : t.shape) elements += (elements.empty() ? "" : " * ") + Wrapped(extent);
      }
      if (elements.empty()) elements = kFillIn;
      plan += fmt::format("\n[[launch]]\n{}kernel = \"hone_copy_{}\"\ngrid   = [\"ceil_div({}, 256)\"]\nblock  = [\"256\"]\nargs   = [\"{}\", \"ref:{}\", \"{}:i64\"]\n",
                          step > 0 ? fmt::format("step   = {}\n", step) : "", name, elements, name, name, elements);
      ++step;
    }
    for (const Entry* e : chosen) {
      std::vector<std::string> args = e->args;
      for (std::string& a : args) {
        for (const Tensor& t : tensors_) {
          if (a == t.name && !t.workspace && t.role != TensorRole::kIn) a = "ref:" + a;
        }
        // Numbers are doubles here, as every float.
        if (a.ends_with(":f32") || a.ends_with(":f16") || a.ends_with(":bf16")) a = a.substr(0, a.rfind(':')) + ":f64";
      }
      Entry copy = *e;
      copy.template_args.clear();
      // Shared memory holds doubles where it held floats.
      plan += EntryText(copy, args, step++, e->shared.empty() ? "" : fmt::format("2 * {}", Wrapped(e->shared)), false);
    }
    draft_.oracle = head +
                    ": the kernel itself, in double.\n//\n"
                    "// Derived mechanically by `hone new`. It shows what a rewrite breaks and what lower precision loses; what the\n"
                    "// kernel itself gets wrong it gets wrong as well. Compare it with an independent answer ([[hand]] cases in\n"
                    "// task.toml), or write a simpler oracle.\n" +
                    plan + "*/\n" + code.text;
    return Status::Ok();
  }

  std::string Summary() const { return o_.summary.empty() ? fmt::format("{}: written by `hone new` from {}", o_.name, o_.file) : o_.summary; }

  std::string Class() {
    if (!o_.workload.empty()) return o_.workload;
    std::string names = o_.name;
    for (const Entry& e : entries_) names += " " + e.kernel->name;
    std::transform(names.begin(), names.end(), names.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto has = [&](string_view w) { return names.find(w) != std::string::npos || false; };
    std::string guess = "elementwise";
    if (has("gemm") || has("matmul")) guess = "gemm";
    else if (has("conv")) guess = "convolution";
    else if (has("attention") || has("attn")) guess = "attention";
    else if (has("gather") || has("scatter") || has("embedding")) guess = "gather";
    else if (has("norm") || has("softmax") || has("sum") || has("reduce") || has("mean") || device_code_.find("__shfl") != std::string::npos) guess = "reduction";
    Inferred(fmt::format("class {}: --class to change it", guess));
    return guess;
  }

  int64_t Multiple(const std::string& dim) const {
    const auto found = o_.multiples.find(dim);
    return found == o_.multiples.end() ? 1 : found->second;
  }
  std::string CaseText(const char* role, const Dims& dims) const {
    std::string text;
    for (const std::string& d : dim_order_) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", d, dims.at(d));
    return fmt::format("\n[[case]]\nrole = \"{}\"\ndims = {{ {} }}\n", role, text);
  }
  // Sizes of all dimensions: `first` for the first one, `rest` for the others, rounded up to multiples.
  Dims Sizes(int64_t first, int64_t rest) const {
    Dims dims;
    for (size_t i = 0; i < dim_order_.size(); ++i) {
      const int64_t m = Multiple(dim_order_[i]), size = i == 0 ? first : rest;
      dims[dim_order_[i]] = (size + m - 1) / m * m;
    }
    return dims;
  }

  std::string Toml() {
    std::string out = fmt::format(
        "# {}: written by `hone new` from {}. Lines marked \"inferred\" were read from the code: look them over.\n"
        "# `hone tasks check` tells whether the task can be trusted.\n\n"
        "name = {}\nsummary = {}\nclass = {}\n",
        o_.name, o_.file, Quoted(o_.name), Quoted(Summary()), Quoted(Class()));
    if (!o_.slice.empty()) {
      out += fmt::format("slice = {}\n", Quoted(o_.slice));
    } else {
      out += "# slice = \"…\": a dimension along which results are independent makes checking cheaper (--slice)\n";
    }
    out += "\n[dims]\n";
    for (const std::string& d : dim_order_) out += fmt::format("{} = {}\n", d, Quoted(fmt::format("{} of the kernel's launch", d)));
    for (const Tensor& t : tensors_) {
      if (t.workspace) continue;
      const bool integer = t.dtype && !IsFloating(*t.dtype);
      out += fmt::format("\n[[tensor]]\nname = {}\nrole = \"{}\"{}\ndtype = \"{}\"\nshape = {}{}\n", Quoted(t.name), TensorRoleName(t.role),
                         t.role_inferred ? "  # inferred" : "", t.dtype ? DTypeName(*t.dtype) : string_view(kFillIn),
                         t.shape.empty() ? fmt::format("[\"{}\"]  # QUESTION: --shape {}=…", kFillIn, t.name) : List(t.shape),
                         t.shape_inferred ? "  # inferred" : "");
      if (t.role == TensorRole::kOut) continue;
      if (const auto given = o_.values.find(t.name); given != o_.values.end()) {
        const size_t colon = given->second.find(':');
        if (given->second.starts_with("index") && colon != std::string::npos) {
          out += fmt::format("values = {{ distribution = \"index\", bound = {} }}\n", Quoted(given->second.substr(colon + 1)));
        } else {
          out += fmt::format("values = {{ distribution = {} }}\n", Quoted(given->second));
        }
      } else if (integer) {
        out += fmt::format("values = {{ distribution = \"index\", bound = \"{}\" }}  # QUESTION: --values {}=index:BOUND\n", kFillIn, t.name);
        Ask(fmt::format("values of the integer tensor '{}': indices below which bound?", t.name), fmt::format("--values {}=index:BOUND", t.name));
      }
    }
    for (const Scalar& s : scalars_) {
      out += fmt::format("\n[[scalar]]\nname = {}\ndtype = \"{}\"\nvalue = {}{}\n", Quoted(s.name), DTypeName(s.dtype), Number(s.value),
                         s.known ? "" : "  # a guess: --scalar");
    }
    for (const Tensor& t : tensors_) {
      if (t.role == TensorRole::kIn || t.workspace) continue;
      double c_max = 1e-3, c_rms = 2e-5;
      switch (t.dtype.value_or(DType::kFloat32)) {
        case DType::kFloat16: c_max = 4e-3, c_rms = 6e-4; break;
        case DType::kBFloat16: c_max = 3e-2, c_rms = 5e-3; break;
        case DType::kFloat64: c_max = 1e-9, c_rms = 1e-11; break;
        case DType::kFloat32: break;
        default: c_max = c_rms = 0; break;
      }
      out += fmt::format("\n# A start for {}; `hone tasks check` measures honest kernels and proposes c_rms.\n[tolerance.{}]\nc_max = {}\nc_rms = {}\n",
                         t.dtype ? DTypeName(*t.dtype) : "this dtype", t.name, Number(c_max), Number(c_rms));
    }
    // Cases.
    std::vector<Dims> timed = o_.time_cases, checked = o_.check_cases;
    for (auto* list : {&timed, &checked}) {
      for (Dims& dims : *list) {
        for (const std::string& d : dim_order_) {
          if (dims.count(d) == 0) dims[d] = default_sizes_.count(d) != 0 ? default_sizes_.at(d) : 1024;
        }
      }
    }
    const bool one = dim_order_.size() <= 1;
    if (timed.empty()) {
      Dims dims = one ? Sizes(1 << 22, 0) : Sizes(2048, 4096);
      for (const auto& [d, size] : default_sizes_) {
        if (dims.count(d) != 0) dims[d] = size;
      }
      timed.push_back(dims);
      Inferred("the timed case: a guess; --case " + Example());
      out += "\n# A guess: --case with the sizes that matter to you.";
    }
    if (checked.empty()) {
      for (const auto& [first, rest] : one ? std::vector<std::pair<int64_t, int64_t>>{{1, 0}, {255, 0}, {1024, 0}, {70001, 0}}
                                           : std::vector<std::pair<int64_t, int64_t>>{{4, 64}, {33, 257}, {1, 1000}, {7, 4096 / 2 + 24}}) {
        checked.push_back(Sizes(first, rest));
      }
    }
    for (const Dims& dims : timed) out += CaseText("time", dims);
    for (const Dims& dims : checked) out += CaseText("check", dims);
    out += "\n[[hidden]]\ncount = 3\n";
    for (size_t i = 0; i < dim_order_.size(); ++i) {
      const int64_t m = Multiple(dim_order_[i]), high = one ? 50000 : i == 0 ? 100 : 1200;
      out += fmt::format("{} = {{ low = {}, high = {}{} }}\n", dim_order_[i], std::max<int64_t>(m, one ? 1 : i == 0 ? 1 : 8), std::max(m, high / m * m),
                         m > 1 ? fmt::format(", multiple = {}", m) : "");
    }
    return out;
  }
  std::string Example() const {
    std::string text;
    for (const std::string& d : dim_order_) text += fmt::format("{}{}=1024", text.empty() ? "" : ",", d);
    return text;
  }
  static std::string Number(double value) {
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".en") == std::string::npos) text += ".0";
    return text;
  }

  const CuSource& s_;
  const NewTaskOptions& o_;
  TaskDraft draft_;
  int function_ = -1;
  std::vector<CuLaunch> launches_;
  bool own_names_ = true;
  std::set<std::string> dims_;
  std::vector<std::string> dim_order_;
  std::map<std::string, int64_t> default_sizes_;
  std::vector<Entry> entries_;
  std::set<size_t> conditional_;
  std::vector<Tensor> tensors_;
  std::vector<Scalar> scalars_;
  std::map<std::pair<const CuKernel*, std::string>, std::string> integers_;
  std::string device_code_;
  int plan_lines_ = 0;  // of seed.cu, before the device code
};

}  // namespace

Result<TaskDraft> DraftTask(string_view source, const NewTaskOptions& options) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CuSource> read, ReadCuSource(source, options.file));
  return Drafter(*read, options).Run();
}

}  // namespace hone
