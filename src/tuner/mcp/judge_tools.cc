// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the tools that judge candidates and answer within the call: eval, compare, profile.
#include <fmt/format.h>

#include "tuner/mcp/judged_answer.h"
#include "tuner/mcp/tool_fields.h"
#include "tuner/mcp/tools.h"
#include "tuner/mcp/wait_for_spool.h"
#include "tuner/workbench/compare_candidates.h"
#include "tuner/workbench/evaluation_choices.h"

namespace hone::mcp {
namespace {

Status Cancelled() { return Status::Cancelled("the call was cancelled"); }

// Returns the evaluation request of a call: candidate, options and baseline.
Result<EvaluationRequest> RequestOf(const Toolbox& toolbox, const Task& task, const Json& arguments) {
  EvaluationRequest request;
  HONE_ASSIGN_OR_RETURN(Toolbox::Source candidate, CandidateOf(toolbox, arguments));
  request.source = std::move(candidate.text);
  request.name = std::move(candidate.name);
  HONE_ASSIGN_OR_RETURN(std::optional<Toolbox::Source> baseline, BaselineOf(toolbox, arguments));
  if (baseline) {
    request.incumbent_source = std::move(baseline->text);
    request.incumbent_name = std::move(baseline->name);
  }
  const Json bind = arguments.value("bind", Json::object());
  for (const auto& [name, value] : bind.items()) request.binding[name] = value.get<int64_t>();
  for (const Json& one : arguments.value("cases", Json::array())) request.only_time_cases.push_back(one.get<size_t>());
  request.time = arguments.value("time", true);
  request.warm = arguments.value("warm", true);
  request.correctness_trials = arguments.value("trials", request.correctness_trials);
  request.libraries = arguments.value("libraries", false);
  HONE_RETURN_IF_ERROR(CheckChoices(task, request, {.timed_case = "cases", .binding = "bind"}));
  return request;
}

// Judges the candidate that a call gives. `profile`: also profiles it.
Result<ToolAnswer> JudgeOne(Toolbox& toolbox, const Json& arguments, const CallContext& context, bool profile) {
  HONE_ASSIGN_OR_RETURN(const Task task, toolbox.FindTask(arguments.at("task").get<std::string>()));
  HONE_ASSIGN_OR_RETURN(EvaluationRequest request, RequestOf(toolbox, task, arguments));
  request.profile = profile;
  request.sass = arguments.value("sass", false);
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<Evaluator> evaluator,
                        toolbox.EvaluatorFor(arguments.value("device", std::string())));
  if (context.stop.stop_requested()) return Cancelled();
  const EvaluationProgress progress = TellProgress(context);
  HONE_ASSIGN_OR_RETURN(const Evaluation evaluation,
                        WaitForSpool(context, [&] { return evaluator->Evaluate(task, request, progress); }));
  return JudgedAnswer(toolbox, *evaluator, evaluation);
}

// Times candidate b against candidate a.
Result<ToolAnswer> Compare(Toolbox& toolbox, const Json& arguments, const CallContext& context) {
  HONE_ASSIGN_OR_RETURN(const Task task, toolbox.FindTask(arguments.at("task").get<std::string>()));
  HONE_ASSIGN_OR_RETURN(Toolbox::Source a, toolbox.SourceOf(arguments, "a", "a_path", "the incumbent"));
  HONE_ASSIGN_OR_RETURN(Toolbox::Source b, toolbox.SourceOf(arguments, "b", "b_path", "the challenger"));
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<Evaluator> evaluator,
                        toolbox.EvaluatorFor(arguments.value("device", std::string())));
  if (context.stop.stop_requested()) return Cancelled();
  const Contest contest{.incumbent_source = std::move(a.text),
                        .incumbent_name = a.name,
                        .challenger_source = std::move(b.text),
                        .challenger_name = b.name,
                        .libraries = arguments.value("libraries", false)};
  const EvaluationProgress progress = TellProgress(context);
  HONE_ASSIGN_OR_RETURN(const ContestOutcome outcome, WaitForSpool(context, [&] {
                          return CompareCandidates(*evaluator, task, contest, progress);
                        }));
  ToolAnswer answer = JudgedAnswer(toolbox, *evaluator, outcome.evaluation);
  answer.structured["judged"] = outcome.incumbent_right ? "b against a" : "a alone";
  if (!outcome.incumbent_right) {
    const std::string next_step = "The incumbent a is not right, so that b was not timed against it: see detail.";
    answer.structured["next"] = next_step;
    answer.text += next_step + "\n";
  }
  return answer;
}

}  // namespace

std::vector<Tool> JudgeTools(const std::shared_ptr<Toolbox>& toolbox) {
  std::vector<Tool> tools;
  tools.push_back(
      {.name = "eval",
       .title = "Judge a candidate",
       .description = "Judges one candidate kernel for a task: is it right (on listed, odd, empty and hidden shapes, "
                      "many kinds of values, under a secret seed), "
                      "and how fast is it against the seed kernel or a baseline, timed in interleaved pairs with 95 % "
                      "intervals? Takes about a second on a GPU, seconds to "
                      "minutes on the simulated one. A candidate that is wrong, slow or does not compile is an answer "
                      "(see verdict and detail), not an error. "
                      "Call it with every version that you write.",
       .input_schema = CandidateAndBaselineSchema(
           {{"bind", BindField()},
            {"cases", CasesField()},
            {"time", BooleanSchema("false: only check whether the candidate is right, which is quicker.")},
            {"warm", BooleanSchema("false: time only with cold caches.")},
            {"trials", TrialsField("How many sets of random inputs each timed case is checked with; by default 5.")},
            {"libraries", LibrariesField()}}),
       .output_schema = JudgedSchema(),
       .annotations = {{"readOnlyHint", true}, {"openWorldHint", false}},
       .call = [toolbox](const Json& arguments, const CallContext& context) {
         return JudgeOne(*toolbox, arguments, context, /*profile=*/false);
       }});
  Json compared = JudgedSchema();
  compared["properties"]["judged"] =
      ChoiceSchema("Whose evaluation this is. `a alone`: the incumbent is not right.", {"b against a", "a alone"});
  tools.push_back(
      {.name = "compare",
       .title = "Compare two candidates",
       .description = "Says which of two candidates of a task is faster: both are checked, and b is timed against a in "
                      "interleaved pairs. Speedups above 1 mean that b is faster; a case's "
                      "timing.decision is faster, slower, same or undecided at a stated error rate.",
       .input_schema = JudgingSchema(
           {{"a", SourceField("The incumbent's .cu text. Give this or a_path.")},
            {"a_path", TextSchema("The incumbent's file below the server's root.")},
            {"b", SourceField("The challenger's .cu text. Give this or b_path.")},
            {"b_path", TextSchema("The challenger's file below the server's root.")},
            {"libraries", LibrariesField()}}),
       .output_schema = std::move(compared),
       .annotations = {{"readOnlyHint", true}, {"openWorldHint", false}},
       .call = [toolbox](const Json& arguments, const CallContext& context) {
         return Compare(*toolbox, arguments, context);
       }});
  Json profiled = JudgedSchema();
  profiled["properties"]["profile"] =
      AnyObjectSchema("What was counted, by case and kernel, and findings ranked by what they may be worth.");
  tools.push_back(
      {.name = "profile",
       .title = "Profile a candidate",
       .description = "Judges a candidate as eval does and counts where its time goes: throughputs, cache hits, "
                      "stalls, memory accesses by source line, and findings with what each may be "
                      "worth. Call it with a candidate that is right, to learn what to change next.",
       .input_schema = CandidateSchema(
           {{"bind", BindField()},
            {"cases", CasesField()},
            {"sass", BooleanSchema("true: machine code beside the source lines (on a GPU, with nvdisasm).")}}),
       .output_schema = std::move(profiled),
       .annotations = {{"readOnlyHint", true}, {"openWorldHint", false}},
       .call = [toolbox](const Json& arguments, const CallContext& context) {
         return JudgeOne(*toolbox, arguments, context, /*profile=*/true);
       }});
  return tools;
}

}  // namespace hone::mcp
