// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the launch plan of a candidate (docs/candidate-format.md) and checks everything that can be checked without a
// case or a compiler. Candidates are mostly written by models, so each refusal says what would be right: the message is
// all the feedback that the author gets.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text/toml_document.h"
#include "hone/tuner/candidate.h"
#include "tuner/core/plan/argument_parser.h"
#include "tuner/core/plan/bindings.h"
#include "tuner/core/plan/expression_fields.h"
#include "tuner/core/plan/plan_text.h"
#include "tuner/core/program/machine_code.h"
#include "tuner/core/task/property.h"

namespace hone {

namespace {

constexpr size_t kMaxSourceBytes = size_t{4} << 20;  // limit on a candidate's file
constexpr size_t kMaxChoices = 64;      // limit on the values of one tunable
constexpr size_t kMaxBindings = 65536;  // limit on the combinations of tunables
constexpr size_t kMaxEntries = 256;     // limit on launches, memsets and calls together
constexpr size_t kMaxArguments = 128;  // limit on the arguments of one launch
constexpr size_t kMaxTunables = 32;  // limit on the tunables of a plan
constexpr size_t kMaxOptions = 16;  // limit on compiler options
constexpr size_t kMaxNamed = 64;  // limit on workspaces, and on tensor maps
// Limit on the text of all conditions of a plan: thousands of shapes are tested against them (kAimedDraws of
// judge_policy.h), which took 21 s for 256 conditions of 4 KB. An honest condition has some 40 bytes.
constexpr size_t kMaxConditionBytes = 16384;
// Limit on the text of all constraints, times the combinations of tunables for which each is evaluated: a second or so.
constexpr size_t kMaxConstraintWork = size_t{32} << 20;

constexpr std::string_view kFacts[] = {"sm_count", "cc", "l2_bytes", "smem_optin"};
// Fields that TOML assigns to the last [table] when written below it.
constexpr std::string_view kTopLevel[] = {"mode", "function", "image", "options", "include_set", "constraints"};

// Returns whether a plan may pass this option to the compiler.
bool AllowedOption(const std::string& option) {
  static const std::set<std::string> kExact = {"--use_fast_math",
                                               "--fmad=true",
                                               "--fmad=false",
                                               "-lineinfo",
                                               "--ftz=true",
                                               "--ftz=false",
                                               "--prec-div=true",
                                               "--prec-div=false",
                                               "--prec-sqrt=true",
                                               "--prec-sqrt=false",
                                               "--extra-device-vectorization"};
  if (kExact.contains(option)) return true;
  constexpr std::string_view kRegisters = "--maxrregcount=";
  if (option.substr(0, kRegisters.size()) != kRegisters) return false;
  const std::string number = option.substr(kRegisters.size());
  return !number.empty() && number.size() <= 3 &&
         std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
         std::stoi(number) >= 16 && std::stoi(number) <= 255;
}

// Returns what is wrong with a kernel's name expression; nullopt: nothing. It is put into generated code, so it must be
// an identifier, possibly qualified, possibly with template arguments.
std::optional<std::string> BadKernelName(const std::string& kernel) {
  if (kernel.empty()) return "is empty; name a __global__ function";
  if (!IsIdentifier(kernel.substr(0, 1)) && kernel[0] != ':') return "does not begin with an identifier";
  int round = 0, angle = 0;
  for (const char c : kernel) {
    const bool is_plain_name =
        IsIdentifier(std::string("a") + c) || std::string_view(" :,+-*/%&|!=~.'").find(c) != std::string_view::npos;
    if (c == '(') ++round;
    if (c == ')') --round;
    // Inside parentheses, '<' and '>' are comparisons and not brackets.
    if (c == '<' && round == 0) ++angle;
    if (c == '>' && round == 0) --angle;
    if (!is_plain_name && c != '(' && c != ')' && c != '<' && c != '>') {
      return fmt::format("'{}' cannot stand in a kernel's name",
                         c == '\n' ? std::string("a line break") : std::string(1, c));
    }
    if (round < 0 || angle < 0) return "has unbalanced brackets";
  }
  if (round != 0 || angle != 0) return "has unbalanced brackets";
  if (kernel.find("//") != std::string::npos || kernel.find("/*") != std::string::npos) return "holds a comment";
  return std::nullopt;
}

// Returns what is wrong with a kernel's name in a plan of machine code, where it must be a symbol; nullopt: nothing.
std::optional<std::string> BadSymbol(const std::string& kernel) {
  const auto part = [](char c) { return IsIdentifier(std::string("a") + c) || c == '$' || c == '.'; };
  if (kernel.empty()) return "is empty; name a kernel of the image";
  if (!std::all_of(kernel.begin(), kernel.end(), part)) {
    return "is not the symbol of a kernel: write it as the image has it (letters, digits, '_', '$' and '.'), mangled where it is C++";
  }
  return std::nullopt;
}

// Returns "full", "cute" or "", depending on the source's includes.
std::string IncludeSetOf(std::string_view source) {
  bool full = false;
  for (size_t start = 0; start < source.size();) {
    size_t end = source.find('\n', start);
    if (end == std::string_view::npos) end = source.size();
    std::string_view line = source.substr(start, end - start);
    start = end + 1;
    const auto skip_space = [&] {
      while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    };
    skip_space();
    if (line.empty() || line.front() != '#') continue;
    line.remove_prefix(1);
    skip_space();
    if (line.substr(0, 7) != "include") continue;
    line.remove_prefix(7);
    skip_space();
    if (line.empty() || (line.front() != '<' && line.front() != '"')) continue;
    line.remove_prefix(1);
    const auto begins = [&](std::string_view prefix) { return line.substr(0, prefix.size()) == prefix; };
    if (begins("cute/") || begins("cutlass/")) return "cute";
    full = full || begins("mma.h") || begins("cooperative_groups") || begins("cuda/pipeline") ||
           begins("cuda/barrier") || begins("cuda_pipeline") || begins("cub/");
  }
  return full ? "full" : "";
}

class PlanParser {
 public:
  PlanParser(const TomlNode& root, std::string_view file, const Task& task, bool is_oracle)
      : root_(root), errors_(file), task_(task) {
    names_.task = &task;
    names_.is_oracle = is_oracle;
    for (const auto& [name, description] : task.dims) integers_.push_back(name);
    for (const std::string_view fact : kFacts) integers_.emplace_back(fact);
  }

  Result<LaunchPlan> Run() {
    TableReader reader(root_, "", errors_);
    const std::string mode = reader.Word("mode", {"device", "host", "cubin", "ptx"}).value_or("device");
    plan_.host_mode = mode == "host";
    if (mode == "cubin" || mode == "ptx") plan_.machine_code = mode;
    ReadTune(reader);
    ReadImage(reader);
    ReadConstraints(reader, "constraints");
    ReadOptions(reader);
    if (const auto include_set = reader.Word("include_set", {"", "full", "cute"})) include_set_ = *include_set;
    // Names are read first: arguments refer to workspaces and tensor maps anywhere in the plan.
    const std::vector<const TomlNode*> workspaces = reader.Tables("workspace"), maps = reader.Tables("tensor_map");
    for (const auto& [key, tables] : {std::pair("workspace", &workspaces), std::pair("tensor_map", &maps)}) {
      if (tables->size() <= kMaxNamed) continue;
      reader.Error(key, fmt::format("has {} entries; a plan may have {}", tables->size(), kMaxNamed));
      return errors_.status();
    }
    for (size_t i = 0; i < workspaces.size(); ++i) TakeName(*workspaces[i], "workspace", i, names_.workspaces);
    for (size_t i = 0; i < maps.size(); ++i) TakeName(*maps[i], "tensor_map", i, names_.tensor_maps);
    for (size_t i = 0; i < workspaces.size(); ++i) ReadWorkspace(*workspaces[i], i);
    for (size_t i = 0; i < maps.size(); ++i) ReadTensorMap(*maps[i], i);
    if (plan_.host_mode) {
      ReadHost(reader);
    } else {
      if (reader.Has("function"))
        reader.Error("function", "belongs to mode = \"host\"; device code is named by [[launch]] kernel");
      (void)reader.Take("function");
      ReadEntries(reader);
    }
    reader.Finish();
    if (errors_.ok()) CheckOutputsAreNamed();
    if (!errors_.ok()) return errors_.status();
    return std::move(plan_);
  }

  const std::optional<std::string>& include_set() const { return include_set_; }

 private:
  bool IsInteger(const std::string& name) const {
    return std::find(integers_.begin(), integers_.end(), name) != integers_.end();
  }
  bool IsTunable(const std::string& name) const {
    return std::any_of(plan_.tunables.begin(), plan_.tunables.end(), [&](const auto& t) { return t.first == name; });
  }
  std::vector<std::string> TunableNames() const {
    std::vector<std::string> names;
    for (const auto& [name, choices] : plan_.tunables) names.push_back(name);
    return names;
  }
  bool IsTaken(const std::string& name) const {
    return IsInteger(name) || task_.FindTensor(name) != nullptr || task_.FindScalar(name) != nullptr;
  }

  // Checks that all names and calls of an expression have a meaning. `occupancy` is known only once a launch's block
  // and shared memory are.
  void CheckExpression(TableReader& reader, std::string_view key, const Expression& expression,
                       bool occupancy = false) {
    for (const std::string& name : expression.Names()) {
      if (IsInteger(name)) continue;
      reader.Error(key, fmt::format("'{}' in '{}' is not a dimension, tunable or device fact{}", name,
                                    expression.text(), Suggestion(name, integers_)));
      return;
    }
    for (const Expression::ForeignCall& call : expression.Calls()) {
      const std::string& function = call.function;
      const auto& arguments = call.arguments;
      std::string problem;
      if (function == "occupancy") {
        if (!occupancy) problem = "occupancy() is known in grid and args only";
        if (arguments.size() > 1) problem = "occupancy takes the launch's kernel or nothing";
      } else if (function == "align") {
        const bool names_tensor =
            arguments.size() == 1 &&
            (task_.FindTensor(arguments[0]) != nullptr ||
             std::find(names_.workspaces.begin(), names_.workspaces.end(), arguments[0]) != names_.workspaces.end());
        if (!names_tensor) problem = "align takes the name of a tensor or workspace";
      } else if (function == "stride") {
        const TensorSpec* tensor = arguments.size() == 2 ? task_.FindTensor(arguments[0]) : nullptr;
        if (tensor == nullptr) {
          problem = "stride takes the name of a tensor and an axis, such as stride(x, 0)";
        } else if (arguments[1].size() != 1 || arguments[1][0] < '0' ||
                   static_cast<size_t>(arguments[1][0] - '0') >= tensor->shape.size()) {
          problem = fmt::format("'{}' is not an axis of '{}', which has {}", arguments[1], arguments[0],
                                tensor->shape.size());
        }
      } else {
        problem = fmt::format(
            "'{}' is not a function{}", function,
            Suggestion(function, {"ceil_div", "min", "max", "round_up", "log2", "occupancy", "align", "stride"}));
      }
      if (!problem.empty()) {
        reader.Error(key, fmt::format("{} (in '{}')", problem, expression.text()));
        return;
      }
    }
  }

  // Reads [tune]: the tunables with their choices.
  void ReadTune(TableReader& reader) {
    const TomlNode* table = reader.Table("tune");
    if (table == nullptr) return;
    TableReader tune(*table, "[tune]", errors_);
    size_t bindings = 1;
    for (const auto& [name, node] : table->entries) {
      // Models tend to write `constraints` below [tune], where TOML takes it for a key of that table. It is accepted
      // there too, and read by ReadConstraints below.
      if (name == "constraints") continue;
      (void)tune.Take(name);
      if (plan_.tunables.size() == kMaxTunables) {
        tune.Error(name, fmt::format("is one tunable too many: a plan may have {}; write what has one choice as a constexpr",
                                     kMaxTunables));
        return;
      }
      if (!IsIdentifier(name)) {
        tune.Error(name, "is not an identifier (letters, digits, underscores)");
      } else if (IsTaken(name)) {
        tune.Error(name, "is already the name of a dimension, tensor, scalar or device fact");
      }
      std::vector<int64_t> choices;
      const auto add = [&, &name = name](const TomlNode& item) {
        if (item.kind != TomlNode::Kind::kInteger) {
          tune.Error(name,
                     fmt::format("expected integers, such as {} = [4, 8], found {}", name, TomlKindName(item.kind)));
        } else if (std::find(choices.begin(), choices.end(), item.integer) != choices.end()) {
          tune.Error(name, fmt::format("lists {} twice", item.integer));
        } else {
          choices.push_back(item.integer);
        }
      };
      if (node.kind == TomlNode::Kind::kArray) {
        for (const TomlNode& item : node.items) add(item);
      } else {
        add(node);
      }
      if (choices.empty()) tune.Error(name, "has no choices; list at least one integer");
      if (choices.size() > kMaxChoices) tune.Error(name, fmt::format("has more than {} choices", kMaxChoices));
      bindings *= std::max<size_t>(choices.size(), 1);
      if (bindings > kMaxBindings)
        tune.Error(name, fmt::format("makes more than {} combinations of tunables", kMaxBindings));
      if (!errors_.ok()) return;
      integers_.push_back(name);
      plan_.tunables.emplace_back(name, std::move(choices));
    }
    ReadConstraints(tune, "constraints");
    tune.Finish();
  }

  // Reads `image` of a plan of machine code, and refuses fields that such a plan cannot have. Other plans may not have
  // `image`.
  void ReadImage(TableReader& reader) {
    if (plan_.machine_code.empty()) {
      if (reader.Has("image")) reader.Error("image", "names a file of machine code; it belongs to mode = \"cubin\" or \"ptx\"");
      (void)reader.Take("image");
      return;
    }
    for (const std::string_view key : {"options", "include_set"}) {
      if (!reader.Has(key)) continue;
      reader.Error(key, "belongs to source that Hone compiles; machine code is compiled already");
    }
    if (names_.is_oracle) reader.Error("mode", "is for candidates: an oracle is source, which its readers can check");
    plan_.image = reader.Has("image") ? reader.RequiredString("image") : "kernel." + plan_.machine_code;
    if (plan_.image.size() > kMostImageNameBytes) {
      reader.Error("image", *BadImageName(plan_.image));
    } else if (!plan_.image.ends_with("." + plan_.machine_code) || !IsImageName(plan_.image)) {
      reader.Error("image", fmt::format("'{}' is not the name of a .{} file: write letters, digits, '_', '-' and '.', such as "
                                        "kernel.VARIANT.{}, in which the tunable VARIANT is replaced by its value",
                                        plan_.image, plan_.machine_code, plan_.machine_code));
    }
  }

  // Reads expressions over tunables, of which every binding must satisfy all. `key`: where they stand.
  void ReadConstraints(TableReader& reader, std::string_view key) {
    const std::optional<std::vector<std::string>> texts = reader.Strings(key);
    if (!texts) return;
    size_t bytes = 0, bindings = 1;
    for (const std::string& text : *texts) bytes += text.size();
    for (const auto& [name, choices] : plan_.tunables) bindings *= choices.size();
    if (bytes > kMaxConstraintWork / bindings) {
      reader.Error(key, fmt::format("{} bytes of constraints for {} combinations of tunables are too much to work out: shorten "
                                    "them to {} bytes, or list fewer choices",
                                    bytes, bindings, kMaxConstraintWork / bindings));
      return;
    }
    for (const std::string& text : *texts) {
      Result<Expression> constraint = Expression::Parse(text);
      if (!constraint.ok()) {
        reader.Error(key, constraint.status().message());
        return;
      }
      for (const std::string& name : constraint->Names()) {
        if (!IsTunable(name)) {
          reader.Error(key,
                       fmt::format("'{}' in '{}' is not a tunable{}", name, text, Suggestion(name, TunableNames())));
        }
      }
      if (!constraint->Calls().empty())
        reader.Error(key, fmt::format("'{}' may use tunables and built-in functions only", text));
      plan_.constraints.push_back(text);
    }
    if (errors_.ok() && !SatisfiesConstraints(plan_, DefaultBinding(plan_))) {
      reader.Error(key,
                   fmt::format("the first choices of all tunables ({}) break a constraint; they are the defaults, so "
                               "put permitted ones first",
                               BindingKey(DefaultBinding(plan_))));
    }
  }

  // Reads `options`, compiler options from the allowed list.
  void ReadOptions(TableReader& reader) {
    const std::optional<std::vector<std::string>> options = reader.Strings("options");
    if (!options) return;
    if (options->size() > kMaxOptions) {
      reader.Error("options", fmt::format("has {} entries; a plan may have {}", options->size(), kMaxOptions));
      return;
    }
    for (const std::string& option : *options) {
      if (!AllowedOption(option)) {
        reader.Error(
            "options",
            fmt::format(
                "'{}' is not allowed; allowed are --use_fast_math, --fmad=, --ftz=, --prec-div=, --prec-sqrt= (true or "
                "false), "
                "--maxrregcount=N (16 to 255), -lineinfo, --extra-device-vectorization; constants belong into [tune]",
                option));
        return;
      }
    }
    plan_.compiler_options = *options;
  }

  // Reads only the name of a [[workspace]] or [[tensor_map]], so that arguments may refer to entries further down.
  void TakeName(const TomlNode& table, std::string_view kind, size_t index, std::vector<std::string>& names) {
    TableReader reader(table, fmt::format("[[{}]] #{}", kind, index + 1), errors_);
    const std::string name = reader.RequiredString("name");
    if (!errors_.ok()) return;
    if (!IsIdentifier(name)) reader.Error("name", fmt::format("'{}' is not an identifier", name));
    const auto& w = names_.workspaces;
    const auto& m = names_.tensor_maps;
    if (IsTaken(name) || std::find(w.begin(), w.end(), name) != w.end() ||
        std::find(m.begin(), m.end(), name) != m.end()) {
      reader.Error("name", fmt::format("'{}' is already the name of something else", name));
    }
    names.push_back(name);
  }

  // Reads a [[workspace]] entry.
  void ReadWorkspace(const TomlNode& table, size_t index) {
    TableReader reader(table, fmt::format("[[workspace]] #{}", index + 1), errors_);
    WorkspaceSpec workspace;
    workspace.name = reader.RequiredString("name");
    if (const auto bytes = TakeExpression(reader, "bytes")) {
      workspace.bytes = *bytes;
      CheckExpression(reader, "bytes", *bytes);
    } else if (!reader.Has("bytes")) {
      reader.Missing("bytes", "an expression for its size in bytes");
    }
    workspace.align = reader.Integer("align").value_or(256);
    if (workspace.align < 1 || workspace.align > 4096 || (workspace.align & (workspace.align - 1)) != 0) {
      reader.Error("align", fmt::format("{} is not a power of two up to 4096", workspace.align));
    }
    workspace.zero_on_entry = reader.Boolean("zero").value_or(false);
    FinishTable(reader);
    plan_.workspaces.push_back(std::move(workspace));
  }

  // Reads a [[tensor_map]] entry.
  void ReadTensorMap(const TomlNode& table, size_t index) {
    TableReader reader(table, fmt::format("[[tensor_map]] #{}", index + 1), errors_);
    TensorMapSpec map;
    map.name = reader.RequiredString("name");
    map.tensor = reader.RequiredString("tensor");
    if (errors_.ok() && task_.FindTensor(map.tensor) == nullptr) {
      std::vector<std::string> known_names;
      for (const TensorSpec& tensor : task_.tensors) known_names.push_back(tensor.name);
      reader.Error("tensor", fmt::format("'{}' is not a tensor{}", map.tensor, Suggestion(map.tensor, known_names)));
    }
    map.dtype = reader
                    .Word("dtype", {"uint8", "uint16", "uint32", "int32", "uint64", "int64", "float16", "float32",
                                    "float64", "bfloat16", "float32_ftz", "tfloat32", "tfloat32_ftz"})
                    .value_or("");
    const auto list = [&](std::string_view key, std::vector<Expression>& target, bool required) {
      if (auto values = TakeExpressions(reader, key)) {
        target = std::move(*values);
      } else if (required && !reader.Has(key)) {
        reader.Missing(key, "an array of expressions, innermost first");
      }
      for (const Expression& expression : target) CheckExpression(reader, key, expression);
    };
    list("dims", map.dims, /*required=*/true);
    list("strides", map.strides, /*required=*/false);
    list("box", map.box, /*required=*/true);
    list("element_strides", map.element_strides, /*required=*/false);
    const size_t rank = map.dims.size();
    if (rank < 1 || rank > 5)
      reader.Error("dims", fmt::format("has {} entries; a tensor map has 1 to 5 dimensions", rank));
    if (map.strides.size() + 1 != rank) {
      reader.Error("strides", fmt::format("has {} entries; give {} (bytes, for every dimension but the innermost)",
                                          map.strides.size(), rank - 1));
    }
    if (map.box.size() != rank)
      reader.Error("box", fmt::format("has {} entries where dims has {}", map.box.size(), rank));
    if (!map.element_strides.empty() && map.element_strides.size() != rank) {
      reader.Error("element_strides",
                   fmt::format("has {} entries where dims has {}", map.element_strides.size(), rank));
    }
    map.interleave = reader.Word("interleave", {"none", "16B", "32B"}).value_or("none");
    map.swizzle = reader.Word("swizzle", {"none", "32B", "64B", "128B"}).value_or("none");
    map.l2_promotion = reader.Word("l2_promotion", {"none", "64B", "128B", "256B"}).value_or("none");
    map.oob_fill = reader.Word("oob_fill", {"zeros", "nan"}).value_or("zeros");
    FinishTable(reader);
    plan_.tensor_maps.push_back(std::move(map));
  }

  // Reads `args` of a launch.
  void ReadArguments(TableReader& reader, PlanEntry& entry) {
    const std::optional<std::vector<std::string>> texts = reader.Strings("args");
    if (!texts) return;
    if (texts->size() > kMaxArguments) reader.Error("args", fmt::format("has more than {} arguments", kMaxArguments));
    for (size_t i = 0; i < texts->size() && errors_.ok(); ++i) {
      Result<Argument> argument = ParseArgument((*texts)[i], names_);
      if (!argument.ok()) {
        reader.Error("args", fmt::format("argument {}: {}", i + 1, argument.status().message()));
        return;
      }
      for (const Expression* expression : ExpressionsOf(*argument))
        CheckExpression(reader, "args", *expression, /*occupancy=*/true);
      entry.args.push_back(std::move(argument).value());
    }
  }

  // Reads the fields that launches, memsets and calls have in common: step, with, when.
  void ReadCommon(TableReader& reader, PlanEntry& entry) {
    const int64_t step = reader.Integer("step").value_or(0);
    if (step < -1000 || step > 1000) reader.Error("step", fmt::format("{} is not between -1000 and 1000", step));
    entry.step = static_cast<int>(step);
    entry.line = reader.line();
    if (const TomlNode* with = reader.Table("with")) {
      TableReader values(*with, reader.context() + " with", errors_);
      for (const auto& [name, node] : with->entries) {
        const std::optional<int64_t> value = values.Integer(name);
        if (!IsTunable(name)) {
          values.Error(name, fmt::format("is not a tunable{}; declare it in [tune]", Suggestion(name, TunableNames())));
        }
        entry.with[name] = value.value_or(0);
      }
    }
    entry.when = TakeExpression(reader, "when");
    if (entry.when) CheckExpression(reader, "when", *entry.when);
    condition_bytes_ += entry.when ? entry.when->text().size() : 0;
    if (condition_bytes_ > kMaxConditionBytes) {
      reader.Error("when", fmt::format("makes the plan's conditions {} bytes long together; at most {} are worked out for "
                                       "thousands of shapes: shorten them, or branch inside the kernel",
                                       condition_bytes_, kMaxConditionBytes));
    }
  }

  // Ends the reading of a table. A key of the whole plan that slipped into it gets an error that says where it belongs.
  void FinishTable(TableReader& reader) {
    for (const std::string_view key : kTopLevel) {
      if (reader.Has(key)) {
        reader.Error(key, "belongs to the whole plan; write it above the first [table]");
        return;
      }
    }
    reader.Finish();
  }

  // Reads 1 to 3 extents of a grid, block or cluster. `occupancy`: whether they may ask for occupancy(kernel).
  std::vector<Expression> TakeExtents(TableReader& reader, std::string_view key, bool required, bool occupancy) {
    std::vector<Expression> extents;
    if (auto values = TakeExpressions(reader, key)) {
      extents = std::move(*values);
      if (extents.empty() || extents.size() > 3)
        reader.Error(key, fmt::format("has {} extents; give 1 to 3", extents.size()));
    } else if (required && !reader.Has(key)) {
      reader.Missing(key, fmt::format("1 to 3 expressions, such as {} = [\"256\"]", key));
    }
    for (const Expression& extent : extents) CheckExpression(reader, key, extent, occupancy);
    return extents;
  }

  // Reads a [[launch]] entry.
  void ReadLaunch(const TomlNode& table, size_t index) {
    PlanEntry entry;
    TableReader reader(table, fmt::format("[[launch]] #{}", index + 1), errors_);
    entry.kernel = reader.RequiredString("kernel");
    if (errors_.ok()) {
      const auto bad = plan_.machine_code.empty() ? BadKernelName(entry.kernel) : BadSymbol(entry.kernel);
      if (bad) reader.Error("kernel", fmt::format("'{}' {}", entry.kernel, *bad));
    }
    ReadCommon(reader, entry);
    entry.grid = TakeExtents(reader, "grid", /*required=*/true, /*occupancy=*/true);
    entry.block = TakeExtents(reader, "block", /*required=*/true, /*occupancy=*/false);
    entry.shared = TakeExpression(reader, "shared");
    if (entry.shared) CheckExpression(reader, "shared", *entry.shared);
    entry.cluster = TakeExtents(reader, "cluster", /*required=*/false, /*occupancy=*/false);
    entry.cooperative = reader.Boolean("cooperative").value_or(false);
    entry.programmatic_dependent_launch = reader.Boolean("pdl").value_or(false);
    ReadArguments(reader, entry);
    FinishTable(reader);
    plan_.entries.push_back(std::move(entry));
  }

  // Reads a [[memset]] entry.
  void ReadMemset(const TomlNode& table, size_t index) {
    PlanEntry entry;
    entry.is_memset = true;
    TableReader reader(table, fmt::format("[[memset]] #{}", index + 1), errors_);
    entry.target = reader.RequiredString("target");
    const TensorSpec* tensor = task_.FindTensor(entry.target);
    const auto& w = names_.workspaces;
    if (errors_.ok() && tensor == nullptr && std::find(w.begin(), w.end(), entry.target) == w.end()) {
      reader.Error("target", fmt::format("'{}' is not a tensor or workspace", entry.target));
    } else if (tensor != nullptr && tensor->role == TensorRole::kIn) {
      reader.Error("target", fmt::format("'{}' is an input and must not be changed", entry.target));
    } else if (tensor != nullptr && names_.is_oracle) {
      reader.Error("target", "an oracle writes 'ref:' arguments only");
    }
    entry.memset_value = reader.Integer("value").value_or(0);
    if (entry.memset_value < 0 || entry.memset_value > 255) {
      reader.Error("value", fmt::format("{} is not a byte (0 to 255)", entry.memset_value));
    }
    ReadCommon(reader, entry);
    entry.memset_bytes = TakeExpression(reader, "bytes");
    if (entry.memset_bytes) CheckExpression(reader, "bytes", *entry.memset_bytes);
    FinishTable(reader);
    plan_.entries.push_back(std::move(entry));
  }

  // Reads a tensor or workspace of a library call.
  std::optional<Argument> TakeOperand(TableReader& reader, std::string_view key, bool required) {
    if (!required && !reader.Has(key)) return std::nullopt;
    Result<Argument> operand = ParseArgument(reader.RequiredString(key), names_);
    if (!errors_.ok()) return std::nullopt;
    if (!operand.ok()) {
      reader.Error(key, operand.status().message());
      return std::nullopt;
    }
    if (operand->kind != ArgumentKind::kTensor && operand->kind != ArgumentKind::kWorkspace) {
      reader.Error(key, "expected a tensor or a workspace, such as \"x\" or \"scratch + 1024\"");
    }
    if (operand->offset) CheckExpression(reader, key, *operand->offset);
    const TensorSpec* tensor = operand->kind == ArgumentKind::kTensor ? task_.FindTensor(operand->name) : nullptr;
    if (tensor != nullptr && !tensor->strides.empty()) {
      reader.Error(key, fmt::format("'{}' has strides of its own; a call takes dense row-major memory: copy it to a "
                                    "workspace with a kernel first",
                                    tensor->name));
    }
    return std::move(operand).value();
  }

  // Returns the dtype of the operands' elements: the dtype that the tensors among them have, or the field `dtype` if all
  // operands are workspaces.
  DType CallDType(TableReader& reader, const std::vector<std::pair<std::string_view, const Argument*>>& operands) {
    const std::optional<std::string> word = reader.Word("dtype", {"float32", "float16", "bfloat16"});
    bool word_is_known = word.has_value();
    DType dtype = word_is_known ? DTypeFromName(*word).value_or(DType::kFloat32) : DType::kFloat32;
    std::string from = "dtype";
    for (const auto& [key, operand] : operands) {
      const TensorSpec* tensor = operand->kind == ArgumentKind::kTensor ? task_.FindTensor(operand->name) : nullptr;
      if (tensor == nullptr) continue;
      if (tensor->dtype != DType::kFloat32 && tensor->dtype != DType::kFloat16 && tensor->dtype != DType::kBFloat16) {
        reader.Error(key, fmt::format("'{}' has {}; a call takes float32, float16 or bfloat16", tensor->name, DTypeName(tensor->dtype)));
      } else if (word_is_known && dtype != tensor->dtype) {
        reader.Error(key, fmt::format("'{}' has {} and '{}' says {}; what a call reads and writes has one dtype: convert one with a kernel",
                                      tensor->name, DTypeName(tensor->dtype), from, DTypeName(dtype)));
      }
      word_is_known = true;
      dtype = tensor->dtype;
      from = tensor->name;
    }
    if (!word_is_known && errors_.ok())
      reader.Missing("dtype", "everything is a workspace, so say \"float32\", \"float16\" or \"bfloat16\"");
    return dtype;
  }

  // Reads a [[call]] entry: a matrix product or a convolution by a library.
  void ReadCall(const TomlNode& table, size_t index) {
    PlanEntry entry;
    TableReader reader(table, fmt::format("[[call]] #{}", index + 1), errors_);
    if (names_.is_oracle) reader.Error("op", "an oracle computes in double precision; write a kernel");
    const auto op = reader.Word("op", {"matmul", "convolution"});
    if (!op && errors_.ok()) reader.Missing("op", "\"matmul\" or \"convolution\"");
    const bool convolution = op == "convolution";
    const char* const first = convolution ? "input" : "a";
    const char* const second = convolution ? "weight" : "b";
    ReadCommon(reader, entry);
    LibraryCall call;
    const std::optional<Argument> a = TakeOperand(reader, first, /*required=*/true),
                                  b = TakeOperand(reader, second, /*required=*/true),
                                  out = TakeOperand(reader, "out", /*required=*/true);
    call.bias = TakeOperand(reader, "bias", /*required=*/false);
    if (!errors_.ok()) return;
    call.a = *a;
    call.b = *b;
    call.out = *out;
    std::vector<std::pair<std::string_view, const Argument*>> operands = {{first, &call.a}, {second, &call.b}, {"out", &call.out}};
    if (call.bias) operands.emplace_back("bias", &*call.bias);
    call.dtype = CallDType(reader, operands);
    const TensorSpec* output = task_.FindTensor(call.out.name);
    if (output != nullptr && output->role == TensorRole::kIn) {
      reader.Error("out", fmt::format("'{}' is an input and must not be changed", call.out.name));
    }
    const auto shares = [&](const Argument& operand) {
      const TensorSpec* input = task_.FindTensor(operand.name);
      return operand.kind == ArgumentKind::kTensor && output != nullptr && input != nullptr &&
             (input == output || output->alias == input->name || input->alias == output->name ||
              (!input->alias.empty() && input->alias == output->alias));
    };
    for (const auto& [key, operand] : operands) {
      if (operand != &call.out && shares(*operand)) {
        reader.Error("out", fmt::format("'{}' shares its memory with '{}', which the same call reads as '{}'; use a workspace",
                                        call.out.name, operand->name, key));
      }
    }
    const auto size = [&](std::string_view key, std::string_view what) {
      std::optional<Expression> value = TakeExpression(reader, key);
      if (value) CheckExpression(reader, key, *value);
      if (!value && !reader.Has(key) && errors_.ok()) reader.Missing(key, what);
      return value.value_or(Expression::Constant(1));
    };
    if (reader.Has("algorithm")) call.algorithm = size("algorithm", "");
    if (convolution) {
      ConvolutionSizes& sizes = call.convolution.emplace();
      sizes.batch = size("batch", "an expression for the images");
      sizes.in_channels = size("in_channels", "an expression for the channels of the input");
      sizes.out_channels = size("out_channels", "an expression for the channels of out");
      sizes.size = TakeExtents(reader, "size", /*required=*/true, /*occupancy=*/false);
      const auto axes = [&](std::string_view key, bool required) {
        std::vector<Expression> values = TakeExtents(reader, key, required, /*occupancy=*/false);
        if (errors_.ok() && !values.empty() && values.size() != sizes.size.size()) {
          reader.Error(key, fmt::format("has {} values, and 'size' has {}: one for each axis of the image", values.size(), sizes.size.size()));
        }
        return values;
      };
      sizes.kernel = axes("kernel", /*required=*/true);
      sizes.stride = axes("stride", /*required=*/false);
      sizes.padding = axes("padding", /*required=*/false);
      sizes.dilation = axes("dilation", /*required=*/false);
      sizes.transposed = reader.Boolean("transposed").value_or(false);
      sizes.output_padding = axes("output_padding", /*required=*/false);
      if (!sizes.output_padding.empty() && !sizes.transposed) reader.Error("output_padding", "only a transposed convolution has it");
      if (reader.Has("groups")) sizes.groups = size("groups", "");
    } else {
      call.m = size("m", "an expression for the rows of out");
      call.n = size("n", "an expression for the columns of out");
      call.k = size("k", "an expression for the terms of each sum");
      if (reader.Has("batch")) call.batch = size("batch", "");
      call.transpose_a = reader.Boolean("transpose_a").value_or(false);
      call.transpose_b = reader.Boolean("transpose_b").value_or(false);
      call.epilogue = reader.Word("epilogue", {"none", "relu", "gelu_tanh"}).value_or("none");
    }
    FinishTable(reader);
    entry.call = std::move(call);
    plan_.entries.push_back(std::move(entry));
  }

  // Reads all launches, memsets and calls, and puts them in the order of their steps.
  void ReadEntries(TableReader& reader) {
    const std::vector<const TomlNode*> launches = reader.Tables("launch"), memsets = reader.Tables("memset"),
                                       calls = reader.Tables("call");
    if (launches.empty() && calls.empty()) {
      if (errors_.ok()) reader.Missing("launch", "a plan has at least one [[launch]]");
      return;
    }
    if (launches.size() + memsets.size() + calls.size() > kMaxEntries) {
      reader.Error("launch", fmt::format("the plan has more than {} entries", kMaxEntries));
      return;
    }
    for (size_t i = 0; i < launches.size() && errors_.ok(); ++i) ReadLaunch(*launches[i], i);
    for (size_t i = 0; i < memsets.size() && errors_.ok(); ++i) ReadMemset(*memsets[i], i);
    for (size_t i = 0; i < calls.size() && errors_.ok(); ++i) ReadCall(*calls[i], i);
    if (!errors_.ok()) return;
    // Launches, memsets and calls are three arrays in TOML; alternatives are tried in the order of the file.
    std::stable_sort(plan_.entries.begin(), plan_.entries.end(), [](const PlanEntry& a, const PlanEntry& b) {
      return a.step != b.step ? a.step < b.step : a.line < b.line;
    });
    for (size_t i = 0; i < plan_.entries.size(); ++i) {
      const PlanEntry& entry = plan_.entries[i];
      if (i > 0 && plan_.entries[i - 1].step == entry.step && !plan_.entries[i - 1].when) {
        errors_.Add(entry.line, fmt::format("[[{}]]", entry.table()), "",
                    fmt::format("can never run: the entry of line {} belongs to the same step {} and has no `when`, so "
                                "it always runs instead. "
                                "Entries of one step are alternatives; to run this one afterwards give it step = {}",
                                plan_.entries[i - 1].line, entry.step, entry.step + 1));
      }
      if (entry.programmatic_dependent_launch && entry.step == plan_.entries.front().step) {
        errors_.Add(entry.line, "[[launch]]", "pdl",
                    "the first step has no step of this plan to depend on; leave it out");
      }
    }
  }

  // One entry represents the call of the C function: its arguments are like a launch's.
  void ReadHost(TableReader& reader) {
    plan_.host_function = reader.RequiredString("function");
    if (errors_.ok() && !IsIdentifier(plan_.host_function)) {
      reader.Error("function", fmt::format("'{}' is not the name of a C function", plan_.host_function));
    }
    for (const std::string_view key : {"launch", "memset", "call", "tensor_map"}) {
      if (reader.Take(key) != nullptr) reader.Error(key, "mode = \"host\" calls one function; this belongs to device code");
    }
    PlanEntry entry;
    entry.kernel = plan_.host_function;
    entry.line = reader.LineOf("function");
    ReadArguments(reader, entry);
    for (const Argument& argument : entry.args) {
      if (argument.kind == ArgumentKind::kStruct) reader.Error("args", "a host function takes no structs by value");
    }
    plan_.entries.push_back(std::move(entry));
  }

  static bool Names(const Argument& argument, const std::string& name) {
    if (argument.name == name && argument.kind != ArgumentKind::kScalar && argument.kind != ArgumentKind::kTensorMap)
      return true;
    return std::any_of(argument.fields.begin(), argument.fields.end(),
                       [&](const Argument& field) { return Names(field, name); });
  }

  // Reports outputs that are an argument of no entry, and which therefore cannot be written.
  void CheckOutputsAreNamed() {
    for (const TensorSpec& tensor : task_.tensors) {
      if (tensor.role == TensorRole::kIn) continue;
      if (names_.is_oracle && !task_.tolerance.contains(tensor.name)) continue;  // properties judge it
      const auto entry_names_tensor = [&](const PlanEntry& entry) {
        if (entry.is_memset) return entry.target == tensor.name;
        if (entry.call) return entry.call->out.name == tensor.name;
        return std::any_of(entry.args.begin(), entry.args.end(), [&](const Argument& argument) {
          if (argument.kind == ArgumentKind::kTensorMap) {
            return std::any_of(plan_.tensor_maps.begin(), plan_.tensor_maps.end(), [&](const TensorMapSpec& map) {
              return map.name == argument.name && map.tensor == tensor.name;
            });
          }
          return Names(argument, tensor.name) && (!names_.is_oracle || argument.kind == ArgumentKind::kReference);
        });
      };
      if (std::none_of(plan_.entries.begin(), plan_.entries.end(), entry_names_tensor)) {
        errors_.Add(plan_.entries.front().line, "", "args",
                    fmt::format("the output '{}' is passed to no kernel; add \"{}{}\"", tensor.name,
                                names_.is_oracle ? "ref:" : "", tensor.name));
      }
    }
    if (!names_.is_oracle) return;
    for (const Property& property : PropertiesOf(task_)) {
      const auto entry_writes_property = [&](const PlanEntry& entry) {
        return std::any_of(entry.args.begin(), entry.args.end(), [&](const Argument& argument) { return Names(argument, property.name); });
      };
      if (std::none_of(plan_.entries.begin(), plan_.entries.end(), entry_writes_property)) {
        errors_.Add(plan_.entries.front().line, "", "args", fmt::format("the property '{0}' is passed to no kernel; add \"ref:{0}\"", property.name));
      }
    }
  }

  const TomlNode& root_;
  TomlErrors errors_;
  const Task& task_;
  ArgumentNames names_;
  std::vector<std::string> integers_;  // names that expressions may use: dimensions, facts, tunables
  std::optional<std::string> include_set_;
  size_t condition_bytes_ = 0;  // bytes of all `when` so far
  LaunchPlan plan_;
};

}  // namespace

size_t PlanBegin(std::string_view source) {
  constexpr std::string_view kOpen = "/*hone";
  size_t open = source.find(kOpen);
  while (open != std::string_view::npos) {
    const size_t after_marker = open + kOpen.size();
    if (after_marker >= source.size() || source[after_marker] == '\n' || source[after_marker] == ' ' ||
        source[after_marker] == '\r' || source[after_marker] == '\t') {
      break;
    }
    open = source.find(kOpen, after_marker);
  }
  return open;
}

Result<PlanText> FindPlan(std::string_view source, std::string_view file) {
  if (source.size() > kMaxSourceBytes) {
    return Status::InvalidArgument(
        fmt::format("{}:1: the file has {} bytes; at most {} are read", file, source.size(), kMaxSourceBytes));
  }
  if (const size_t nul = source.find('\0'); nul != std::string_view::npos) {
    const auto line = 1 + std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(nul), '\n');
    return Status::InvalidArgument(
        fmt::format("{}:{}: the file holds a NUL byte; a candidate is plain text", file, line));
  }
  const size_t open = PlanBegin(source);
  if (open == std::string_view::npos) {
    return Status::InvalidArgument(fmt::format(
        "{}:1: no launch plan was found; begin the file with a comment /*hone … */ that holds at least one [[launch]], as the task's seed.cu does "
        "(candidate-format.md in the documentation)",
        file));
  }
  const auto lines = std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(open), '\n');
  const size_t begin = open + std::string_view("/*hone").size();
  const size_t end = source.find("*/", begin);
  if (end == std::string_view::npos) {
    return Status::InvalidArgument(
        fmt::format("{}:{}: the launch plan's comment /*hone is never closed by */", file, lines + 1));
  }
  return PlanText{source.substr(begin, end - begin), static_cast<int>(lines)};
}

Result<Candidate> ParseCandidate(std::string_view source, std::string_view file, const Task& task, bool is_oracle) {
  HONE_ASSIGN_OR_RETURN(const PlanText text, FindPlan(source, file));
  HONE_ASSIGN_OR_RETURN(const TomlNode root, ParseToml(text.toml, file, text.line_offset));
  PlanParser parser(root, file, task, is_oracle);
  Candidate candidate;
  HONE_ASSIGN_OR_RETURN(candidate.plan, parser.Run());
  candidate.name = std::string(file);
  candidate.source = std::string(source);
  if (!candidate.plan.machine_code.empty()) return candidate;
  candidate.plan.include_set = parser.include_set() ? *parser.include_set() : IncludeSetOf(source);
  return candidate;
}

}  // namespace hone
