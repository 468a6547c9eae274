// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/read/given_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/toml_document.h"
#include "hone/tuner/expression.h"
#include "tuner/core/plan/bindings.h"
#include "tuner/core/plan/plan_text.h"
#include "tuner/core/plan/reserved_names.h"
#include "tuner/interop/draft/draft_words.h"
#include "tuner/interop/draft/task_drafter.h"

namespace hone {
namespace {

// Fills a GivenPlan from the parsed TOML of the plan.
class PlanReader {
 public:
  PlanReader(std::string_view file, GivenPlan& plan) : file_(file), plan_(plan) {}

  Status Run(const TomlNode& root) {
    for (const auto& [key, node] : root.entries) {
      if (key == "tune") HONE_RETURN_IF_ERROR(ReadTunables(node));
      if (key == "mode" && node.string != "device")
        return RefuseConstruct(node.line, fmt::format("its mode is \"{}\"", node.string));
      for (const char* table : {"call", "workspace", "tensor_map"}) {
        if (key == table) return RefuseConstruct(node.line, fmt::format("it has a [[{}]]", table));
      }
    }
    for (const auto& [key, node] : root.entries) {
      if (key != "launch" && key != "memset") continue;
      for (const TomlNode& item : node.items) HONE_RETURN_IF_ERROR(Entry(item, key == "launch"));
    }
    std::stable_sort(plan_.entries.begin(), plan_.entries.end(),
                     [](const GivenEntry& a, const GivenEntry& b) { return a.step < b.step; });
    if (std::none_of(plan_.entries.begin(), plan_.entries.end(),
                     [](const GivenEntry& e) { return !e.kernel.empty(); })) {
      return Status::InvalidArgument(
          fmt::format("{}:{}: the launch plan has no [[launch]]; add one that says kernel, grid, block and args", file_,
                      plan_.line));
    }
    return Status::Ok();
  }

 private:
  // Returns the error for a construct that is valid in a plan but from which no task can be derived.
  Status RefuseConstruct(int line, const std::string& what) const {
    return Status::InvalidArgument(fmt::format(
        "{}:{}: the file has a launch plan, and no task can be drawn from it, for {}. Write task.toml yourself "
        "(task-format.md in the "
        "documentation) and keep this file beside it as seed.cu; or take the plan out and say --grid and --block",
        file_, line, what));
  }
  Status InvalidPlan(int line, const std::string& what) const {
    return Status::InvalidArgument(fmt::format("{}:{}: the launch plan's {}", file_, line, what));
  }

  // Reads [tune], whose tunables stand for their first choices.
  Status ReadTunables(const TomlNode& table) {
    for (const auto& [name, choices] : table.entries) {
      const TomlNode* first =
          choices.kind == TomlNode::Kind::kArray && !choices.items.empty() ? &choices.items.front() : nullptr;
      if (first == nullptr || first->kind != TomlNode::Kind::kInteger)
        return InvalidPlan(choices.line,
                           fmt::format("[tune] field '{}' must list integers, as in {} = [128, 256]", name, name));
      plan_.first_choices[name] = first->integer;
    }
    return Status::Ok();
  }

  // Returns the expression with tunables replaced by `choices`, and records the names of sizes in it.
  Result<std::string> SubstitutedText(const TomlNode& node, const std::string& field,
                                      const std::string& expression_text, const Binding& choices) {
    const std::string text = SubstituteTunables(expression_text, choices);
    const Result<Expression> expression = Expression::Parse(text);
    if (!expression.ok())
      return InvalidPlan(node.line,
                         fmt::format("field '{}': '{}': {}", field, expression_text, expression.status().message()));
    for (const std::string& name : expression->Names()) {
      if (!IsReservedName(name) && std::find(plan_.sizes.begin(), plan_.sizes.end(), name) == plan_.sizes.end())
        plan_.sizes.push_back(name);
    }
    return text;
  }

  // Reads a [[launch]] or, if not `launch`, a [[memset]].
  Status Entry(const TomlNode& table, bool launch) {
    GivenEntry entry;
    entry.line = table.line;
    Binding choices = plan_.first_choices;
    if (const TomlNode* overrides = table.Find("with")) {
      for (const auto& [name, value] : overrides->entries) choices[name] = value.integer;
    }
    const auto string = [&](const char* key) {
      const TomlNode* node = table.Find(key);
      return node == nullptr                          ? std::string()
             : node->kind == TomlNode::Kind::kInteger ? std::to_string(node->integer)
                                                      : node->string;
    };
    if (const TomlNode* step = table.Find("step")) entry.step = static_cast<int>(step->integer);
    // The arguments are read before the grid, so that the dimensions are named in the order of the arguments.
    const TomlNode* args = table.Find("args");
    for (const TomlNode& arg : args == nullptr ? std::vector<TomlNode>() : args->items) {
      if (arg.string.starts_with("struct:") || arg.string.starts_with("tensormap:"))
        return RefuseConstruct(arg.line, fmt::format("args has '{}'", arg.string));
      const size_t colon = arg.string.rfind(':');
      if (colon == std::string::npos) {
        if (!IsIdentifier(arg.string))
          return RefuseConstruct(arg.line,
                                 fmt::format("args has '{}', a tensor from somewhere in its middle", arg.string));
        entry.args.push_back(arg.string);
        continue;
      }
      const std::string type = arg.string.substr(colon + 1), value = arg.string.substr(0, colon);
      if (type == "f32" || type == "f64" || type == "f16" || type == "bf16") {
        if (!IsIdentifier(value))
          return InvalidPlan(
              arg.line, fmt::format("field 'args': '{}' must name a number of the task, as in eps:f32", arg.string));
        entry.args.push_back(arg.string);
        continue;
      }
      HONE_ASSIGN_OR_RETURN(const std::string text, SubstitutedText(arg, "args", value, choices));
      entry.args.push_back(text + ":" + type);
    }
    if (launch) {
      entry.kernel = SubstituteTunables(string("kernel"), choices);
      if (entry.kernel.empty())
        return InvalidPlan(entry.line, "[[launch]] lacks the field 'kernel': name the __global__ function");
      for (const auto& [key, list] : {std::pair("grid", &entry.grid), std::pair("block", &entry.block)}) {
        const TomlNode* node = table.Find(key);
        if (node == nullptr || node->items.empty())
          return InvalidPlan(
              entry.line,
              fmt::format("[[launch]] lacks the field '{}': write a list of expressions, as in {} = [\"256\"]", key,
                          key));
        for (const TomlNode& item : node->items) {
          HONE_ASSIGN_OR_RETURN(
              std::string text,
              SubstitutedText(item, key,
                              item.kind == TomlNode::Kind::kInteger ? std::to_string(item.integer) : item.string,
                              choices));
          list->push_back(std::move(text));
        }
      }
    } else {
      entry.target = string("target");
      if (const TomlNode* value = table.Find("value")) entry.value = static_cast<int>(value->integer & 0xff);
    }
    for (const auto& [key, into] :
         {std::pair("shared", &entry.shared), std::pair("when", &entry.when), std::pair("bytes", &entry.bytes)}) {
      const std::string text = string(key);
      if (text.empty()) continue;
      HONE_ASSIGN_OR_RETURN(*into, SubstitutedText(*table.Find(key), key, text, choices));
    }
    plan_.entries.push_back(std::move(entry));
    return Status::Ok();
  }

  const std::string file_;
  GivenPlan& plan_;
};

}  // namespace

Result<std::optional<GivenPlan>> ReadGivenPlan(std::string_view source, std::string_view file) {
  const size_t begin = PlanBegin(source);
  if (begin == std::string_view::npos) return std::optional<GivenPlan>();
  HONE_ASSIGN_OR_RETURN(const PlanText text, FindPlan(source, file));
  HONE_ASSIGN_OR_RETURN(const TomlNode root, ParseToml(text.toml, file, text.line_offset));
  GivenPlan plan;
  plan.begin = begin;
  plan.end = source.find("*/", begin) + 2;
  plan.line = text.line_offset + 1;
  HONE_RETURN_IF_ERROR(PlanReader(file, plan).Run(root));
  return std::optional<GivenPlan>(std::move(plan));
}

// Takes the launches from the plan that the user gave, in place of the file's own.
Status TaskDrafter::TakeGivenLaunches() {
  for (const auto& [is_given, option] : {std::pair(!o_.kernels.empty(), "--kernel"),
                                         {!o_.grid.empty(), "--grid"},
                                         {!o_.block.empty(), "--block"},
                                         {!o_.shared.empty(), "--shared"},
                                         {!o_.template_args.empty(), "--template"},
                                         {!o_.lets.empty(), "--let"}}) {
    if (is_given) {
      return Status::InvalidArgument(
          fmt::format("{}: {} is said by the launch plan that stands there: leave the option out, or take the "
                      "plan out of the file",
                      FileAndLine(given_->line), option));
    }
  }
  std::vector<std::string> kernel_names;
  for (const CuKernel& k : s_.kernels) kernel_names.push_back(k.qualified);
  for (const GivenEntry& entry : given_->entries) {
    if (entry.kernel.empty()) continue;
    const std::string name = entry.kernel.substr(0, entry.kernel.find('<'));
    if (std::find(kernel_names.begin(), kernel_names.end(), name) == kernel_names.end()) {
      return Status::InvalidArgument(
          fmt::format("{}: the launch plan launches '{}', which the file does not define; it has {}",
                      FileAndLine(entry.line), name, fmt::join(kernel_names, ", ")));
    }
  }
  std::string tunables;
  for (const auto& [name, value] : given_->first_choices)
    tunables +=
        fmt::format("{} {} = {}", tunables.empty() ? ", its tunables at their first choices:" : ",", name, value);
  NoteInference(fmt::format("the launch plan: the one in line {}, as it stands{}", given_->line, tunables));
  return Status::Ok();
}

// Makes one launch or memset of the given plan.
Status TaskDrafter::MakeGivenEntry(const GivenEntry& given_entry) {
  DraftEntry entry;
  entry.step = given_entry.step;
  entry.when = given_entry.when;
  if (given_entry.kernel.empty()) {
    entry.memset = true;
    entry.target = given_entry.target;
    entry.bytes = given_entry.bytes;
    entry.value = given_entry.value;
    entries_.push_back(std::move(entry));
    return Status::Ok();
  }
  const size_t angle = given_entry.kernel.find('<');
  const std::string name = given_entry.kernel.substr(0, angle);
  for (const CuKernel& k : s_.kernels) {
    if (k.qualified == name) entry.kernel = &k;
  }
  const CuKernel& kernel = *entry.kernel;
  CuLaunch launch;
  if (angle != std::string::npos)
    launch.template_args = SplitCommas(given_entry.kernel.substr(angle + 1, given_entry.kernel.rfind('>') - angle - 1));
  entry.template_args = launch.template_args;
  entry.grid = given_entry.grid;
  entry.block = given_entry.block;
  entry.shared = given_entry.shared;
  const auto bad = [&](const std::string& what) {
    return Status::InvalidArgument(
        fmt::format("{}: the launch plan's field 'args': {}", FileAndLine(given_entry.line), what));
  };
  if (given_entry.args.size() != kernel.parameters.size()) {
    return bad(fmt::format("kernel '{}' takes {} arguments and is given {}", kernel.name, kernel.parameters.size(),
                           given_entry.args.size()));
  }
  for (size_t i = 0; i < given_entry.args.size(); ++i) {
    const CuParameter& p = kernel.parameters[i];
    const std::string& arg = given_entry.args[i];
    const std::string type = TypeOf(kernel, launch, p.type);
    const size_t colon = arg.rfind(':');
    if (p.pointer != (colon == std::string::npos)) {
      return bad(fmt::format("'{}' is given to '{}' of kernel '{}', which takes {}", arg, p.name, kernel.name,
                             p.pointer ? "a tensor: write its name alone" : "a number: write NAME:TYPE, as in n:i32"));
    }
    if (p.pointer) {
      AddTensor(entry, p.name, arg, type);
      continue;
    }
    entry.args.push_back(arg);
    const std::string value = arg.substr(0, colon), passed = arg.substr(colon + 1);
    if (passed == "f32" || passed == "f64" || passed == "f16" || passed == "bf16") {
      AddScalar(value, value, passed == "f64" ? DType::kFloat64 : DType::kFloat32);
    } else {
      integers_[{&kernel, p.name}] = value;
    }
  }
  entries_.push_back(std::move(entry));
  return Status::Ok();
}

}  // namespace hone
