// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/agents/prompt.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text/json_text.h"
#include "base/text/utf8.h"
#include "tuner/agents/direction.h"
#include "tuner/agents/hints.h"
#include "tuner/agents/limiter.h"
#include "tuner/agents/prompt_text.h"
#include "tuner/agents/regions.h"
#include "tuner/agents/reply.h"
#include "tuner/agents/spans.h"
#include "tuner/core/task/torch_module.h"
#include "tuner/store/device_facts.h"
#include "tuner/strategies/funnel.h"
#include "tuner/strategies/settings.h"

namespace hone {
namespace {

constexpr size_t kReferenceBytes = 16000;  // of the oracle's text; what lies beyond is cut off
constexpr size_t kEchoBytes = 24000;  // of a reply that is sent back for repair

// Returns whether the task's kernels multiply tiles of matrices; others go through rows or elements.
bool IsProduct(const Task& task) {
  return task.workload == WorkloadClass::kGemm || task.workload == WorkloadClass::kConvolution ||
         task.workload == WorkloadClass::kAttention;
}

// Returns whether a library's matrix product or convolution may help in the task. Prompts then mention calls of
// libraries.
bool MayHoldAProduct(const Task& task) { return IsProduct(task) || HasTorchModule(task); }

// Returns the name of the prompt text with an example of a CuTe kernel. The example is for another task than this one.
std::string CuteExample(const Task& task, bool modelled) {
  if (!IsProduct(task) && task.name != "rmsnorm") return "part_cute_example_rows";
  return modelled ? "part_cute_example" : "part_cute_example_tiled";
}

// Returns the number of this attempt, counted from 1. Sweeps and the tester's rounds are not attempts.
int64_t AttemptNumber(const RunView& view, const RunNode& node) {
  int64_t attempt = 1;
  for (int64_t id = 1; id < node.id; ++id) attempt += view.node(id).origin == "reply";
  return attempt;
}

// Returns which attempt this is, and how far the run has come.
std::string StandingText(const RunView& view, const RunNode& node) {
  const int64_t best = node.known > 0 ? view.node(node.known - 1).best_after : 0;
  std::string text = fmt::format("Attempt {} of at most {}.", AttemptNumber(view, node), view.options.max_attempts);
  if (best > 0 && view.node(best).speedup) {
    text += fmt::format(" The best version so far is node {}, about {:.2f}x as fast as {}{}.", best,
                        *view.node(best).speedup, view.from_module ? "the module in PyTorch (eager)" : view.from_oracle ? "the slow reference" : "the seed",
                        view.info.modelled ? " (modelled)" : "");
  }
  return text;
}

// Returns how many attempts from the same parent were under way when this one was opened.
int64_t SiblingsUnderWay(const RunView& view, const RunNode& node) {
  return std::count_if(view.nodes.begin() + std::min(node.known, node.id), view.nodes.begin() + node.id,
                       [&](const RunNode& other) { return other.parent == node.parent && !other.turns.empty(); });
}

// Returns which of the designs that an attempt reckons it is to write. Attempts under way at the same time reckon alike, so
// each writes another one.
std::string ChoiceText(int64_t siblings) {
  if (siblings <= 0) return "Choose the design with the least reckoned time.";
  return fmt::format("Order the designs from the least reckoned time up. {} at this moment. Write number {}, or, if it is no design in its own right, the next one that is.",
                     siblings == 1 ? "Another attempt writes the first" : fmt::format("{} other attempts write the first {}", siblings, siblings), siblings + 1);
}

// Returns what was said when the version was written: the text of the reply beside its code. A sweep has that of its source.
std::string ReckoningText(const RunView& view, int64_t id) {
  while (id > 0 && view.node(id).origin == "sweep") id = view.node(id).parent;
  return id > 0 ? view.node(id).reasoning : "";
}

}  // namespace

Result<ModelRequest> MakeRequest(const PromptInputs& in, int64_t id, int turn_index, std::optional<GivenHint>* given) {
  const RunView& view = *in.view;
  const RunNode& node = view.node(id);
  const Turn& turn = node.turns.at(static_cast<size_t>(turn_index));
  const int64_t parent_id = id == 0 ? 0 : node.parent;
  const RunNode& parent = view.node(parent_id);
  std::string parent_source;
  if (!parent.source_hash.empty()) {
    HONE_ASSIGN_OR_RETURN(parent_source, in.source(parent_id));
  }
  // When attempts start before the seed is judged, its evaluation may come late.
  const Evaluation* judged = parent_id < node.known && parent.evaluation ? &*parent.evaluation : nullptr;

  std::map<std::string, std::string> values;
  for (const std::string& name : PromptValues()) values[name];  // empty texts: a template may use any of them
  values["task_name"] = in.task->name;
  values["task_summary"] = in.task->summary;
  values["task_class"] = WorkloadClassName(in.task->workload);
  values["task_toml"] = ShownTask(in.task->toml);
  values["reference"] = ClipText(WithoutLicence(AnswerForModels(*in.task)), kReferenceBytes);
  values[HasTorchModule(*in.task) ? "module" : "oracle_code"] = "yes";
  values["device"] = in.facts->name;
  values["device_facts"] = DeviceText(*in.facts);
  values[in.facts->modelled ? "simulated" : "real_device"] = "yes";
  if (in.facts->sm_count <= 0) values["unknown_device"] = "yes";
  // A run from before the simulator's part existed keeps its texts.
  const bool simulated = in.facts->modelled && in.library->texts().contains("part_simulated");
  const char* hardware = simulated                                            ? "part_simulated"
                         : in.facts->cc_major >= 9 || in.facts->cc_major == 0 ? "part_hopper"
                                                                              : "part_ampere";
  HONE_ASSIGN_OR_RETURN(std::string about_hardware, in.library->Expanded(hardware));
  HONE_ASSIGN_OR_RETURN(values["hardware"], FillTemplate(about_hardware, values));
  values["parent"] = WithoutLicence(parent_source);
  values["parent_node"] = std::to_string(parent_id);
  values["parent_idea"] = parent.idea;
  if (judged != nullptr) {
    values["times"] = judged->verdict == Verdict::kOk ? TimesText(*judged, parent_id == 0) : "";
    if (turn.profile && judged->verdict == Verdict::kOk) {
      values["profile"] = ProfileText(*in.task, *in.facts, *judged);
    }
    values["failure"] = FailureText(*judged);
  }
  if (turn.ledger) values["ledger"] = LedgerText(view, node.known);
  values["shown"] = ShownText(view, turn.shown, parent_id, node.known, in.source,
                              WholeSettingOf(view.options, "prompt.window_tokens"));
  values["regions"] = RegionList(SplitRegions(parent_source));
  Result<std::string> menu = in.library->Expanded("class_" + values["task_class"]);
  if (!menu.ok()) menu = in.library->Expanded("class_other");
  HONE_RETURN_IF_ERROR(menu.status());
  HONE_ASSIGN_OR_RETURN(const std::string whole_menu, FillTemplate(*menu, values));
  values["menu"] = ShownMenu(whole_menu);
  const std::string target = TargetOf(view, id);
  if (target == "cute") values["want_cute"] = "yes";
  if (target == "cuda") values["want_cuda"] = "yes";
  if (view.options.calls && MayHoldAProduct(*in.task)) values["calls"] = "yes";
  if (!view.options.calls) values["no_calls"] = "yes";
  const std::string example = CuteExample(*in.task, in.facts->modelled);
  values[IsProduct(*in.task) || example != "part_cute_example_rows" ? "cute_product" : "cute_rows"] = "yes";
  if (target == "cute" || (target == "any" && parent_source.find("cute/") != std::string::npos)) {
    HONE_ASSIGN_OR_RETURN(const std::string about_cute, in.library->Expanded("part_cute"));
    HONE_ASSIGN_OR_RETURN(values["cute"], FillTemplate(about_cute, values));
  }
  // Runs from before an example existed continue without it, or with the only one of their time.
  for (const std::string& name : {example, std::string("part_cute_example")}) {
    const auto text = in.library->texts().find(name);
    if (target != "cute" || text == in.library->texts().end()) continue;
    values["cute_example"] = WithoutLicence(text->second);
    break;
  }
  std::optional<Hint> hint;
  std::optional<AttemptDirection> direction;
  if (id > 0) {
    hint = HintOfAttempt(view, node, judged, turn.profile, whole_menu);
    if (hint) {
      values["share"] = hint->given.hint;
      values["share_why"] = hint->why;
    }
    values["standing"] = StandingText(view, node);
    values["choice"] = ChoiceText(SiblingsUnderWay(view, node));
    values["reckoning"] = ReckoningText(view, parent_id);
    if (turn.prompt == kWidePrompt) direction = DirectionOf(view, node, judged, values["menu"]);
    if (direction) values["direction"] = direction->text;
    if (!view.memory.empty()) {
      values["memory"] = MemoryText(view, judged == nullptr ? "" : LimiterOf(*in.task, *in.facts, *judged),
                                    judged == nullptr ? 0 : LargestBytes(*in.task, *judged));
    }
    if (turn.role == "agent") values["outcome"] = LastOutcomeText(view, node.known);
    if (const Memo* plan = view.FindMemo(id, "plan")) {
      values["plan"] = plan->text;
      if (turn.bound && !plan->spans.empty()) {
        values["spans"] = SpanList(plan->spans);
        values["parent"] = MarkSpans(values["parent"], plan->spans);
      }
    }
    if (turn.bound) values["bound"] = "yes";
    if (const Memo* diagnosis = view.FindMemo(id, "diagnosis")) values["diagnosis"] = diagnosis->text;
    if (const Memo* findings = view.FindMemo(id, "findings")) values["findings"] = findings->text;
    // A repair must keep the plan that made the parent.
    if (values["plan"].empty() && node.purpose == "debug") {
      if (const Memo* plan = view.FindMemo(parent_id, "plan")) values["plan"] = plan->text;
    }
  }
  std::string dimensions, checks;
  for (const auto& [name, text] : in.task->dims) dimensions += fmt::format("- `{}`: {}\n", name, text);
  for (const Case& c : in.task->cases) {
    checks += fmt::format("- {} ({})\n", DimsLine(c.dims), c.role == CaseRole::kTime ? "timed and checked" : "checked");
  }
  values["dimensions"] = dimensions;
  values["check_cases"] = checks;

  HONE_ASSIGN_OR_RETURN(std::string text, in.library->Expanded(turn.prompt));
  HONE_ASSIGN_OR_RETURN(std::string filled, FillTemplate(text, values));
  if (given != nullptr) {
    // Most templates do not show the hint.
    given->reset();
    if (hint && text.find("{{share}}") != std::string::npos) *given = hint->given;
    if (direction && text.find("{{direction}}") != std::string::npos) *given = direction->given;
  }
  ModelRequest request;
  request.run = view.info.id;
  request.messages = {{"user", std::move(filled)}};
  if (turn.role == "agent") {
    // The introduction stays the same from version to version; the variable part is a separate message.
    HONE_ASSIGN_OR_RETURN(const std::string verdict, in.library->Expanded("part_verdict"));
    HONE_ASSIGN_OR_RETURN(std::string verdict_text, FillTemplate(verdict, values));
    request.messages.push_back({"user", std::move(verdict_text)});
  }
  request.number = RequestNumber(id, turn_index, false);
  request.role = turn.role;
  request.temperature = turn.temperature;
  request.max_tokens = view.options.request_max_tokens;
  request.limit_seconds = view.options.request_limit_seconds;
  std::string tried_keys;
  for (const LedgerEntry& entry : view.ledger) {
    if (entry.node < node.known && !entry.key.empty()) tried_keys += entry.key + "\n";
  }
  request.attachments = {{"parent", parent_source},
                         {"task", in.task->toml},
                         {"tried", tried_keys},
                         {"siblings", std::to_string(SiblingsUnderWay(view, node))},
                         {"facts", DumpJson(DeviceFactsToJson(*in.facts))},
                         {"plan", values["plan"]}};
  if (turn.role == "agent") {
    HONE_ASSIGN_OR_RETURN(request.attachments["seed"], in.source(0));
    request.attachments["oracle"] = AnswerForModels(*in.task);
    request.attachments["attempt"] = std::to_string(AttemptNumber(view, node));
    request.attachments["attempts"] = std::to_string(view.options.max_attempts);
  }
  return request;
}

Result<int64_t> ProfileDue(const PromptInputs& in, int64_t id, int turn_index) {
  const RunNode& node = in.view->node(id);
  const Turn& turn = node.turns.at(static_cast<size_t>(turn_index));
  if (!turn.profile || id == 0 || node.parent < 0 || node.parent >= node.known) return int64_t{-1};
  const RunNode& parent = in.view->node(node.parent);
  if (parent.profiled || !parent.evaluation || parent.evaluation->profile ||
      parent.evaluation->verdict != Verdict::kOk) {
    return int64_t{-1};
  }
  HONE_ASSIGN_OR_RETURN(const std::string text, in.library->Expanded(turn.prompt));
  return text.find("{{profile}}") == std::string::npos ? int64_t{-1} : parent.id;
}

Result<ModelRequest> MakeRepairRequest(const PromptInputs& in, int64_t id, int turn_index, const std::string& reply) {
  HONE_ASSIGN_OR_RETURN(ModelRequest request, MakeRequest(in, id, turn_index));
  request.repair_of = request.number;
  request.number = RequestNumber(id, turn_index, true);
  const Memo* problem = nullptr;
  for (const Memo& memo : in.view->memos) {
    if (memo.node == id && memo.turn == turn_index && memo.kind == "problem") problem = &memo;
  }
  std::map<std::string, std::string> values;
  for (const std::string& name : PromptValues()) values[name];
  if (problem != nullptr) {
    values["problem"] = problem->problem;
    values["detail"] = problem->detail;
  }
  values["regions"] = RegionList(SplitRegions(request.attachments["parent"]));
  HONE_ASSIGN_OR_RETURN(std::string text, in.library->Expanded("repair"));
  HONE_ASSIGN_OR_RETURN(std::string filled, FillTemplate(text, values));
  const std::string echo = IsUtf8(reply) ? ClipText(reply, kEchoBytes) : "(bytes that are no text)";
  request.messages.push_back(
      {"assistant", echo.find_first_not_of(" \t\r\n") == std::string::npos ? "(nothing)" : echo});
  request.messages.push_back({"user", std::move(filled)});
  return request;
}

}  // namespace hone
