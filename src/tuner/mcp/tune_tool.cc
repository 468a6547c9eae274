// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements tune: a sweep of a candidate's tunables, answered within the call.
#include <fmt/format.h>

#include "base/files/file.h"
#include "tuner/mcp/answer_budget.h"
#include "tuner/mcp/judged_answer.h"
#include "tuner/mcp/tool_fields.h"
#include "tuner/mcp/tools.h"
#include "tuner/mcp/wait_for_spool.h"
#include "tuner/workbench/evaluation_text.h"
#include "tuner/workbench/tune_and_judge.h"

namespace hone::mcp {
namespace {

// Sweeps a candidate's tunables, as `hone tune` does.
Result<ToolAnswer> Tune(Toolbox& toolbox, const Json& arguments, const CallContext& context) {
  HONE_ASSIGN_OR_RETURN(const Task task, toolbox.FindTask(arguments.at("task").get<std::string>()));
  HONE_ASSIGN_OR_RETURN(Toolbox::Source candidate, CandidateOf(toolbox, arguments));
  SweepRequest request;
  request.source = std::move(candidate.text);
  request.name = std::move(candidate.name);
  HONE_ASSIGN_OR_RETURN(std::optional<Toolbox::Source> baseline, BaselineOf(toolbox, arguments));
  if (baseline) {
    request.baseline = std::move(baseline->text);
    request.baseline_name = std::move(baseline->name);
  }
  std::string out;
  if (arguments.contains("out")) {
    HONE_ASSIGN_OR_RETURN(out, toolbox.BelowRoot(arguments.at("out").get<std::string>()));
  }
  request.points = arguments.value("points", request.points);
  request.trials = arguments.value("trials", request.trials);
  const std::string device = arguments.value("device", std::string());
  request.spooled = (device.empty() ? toolbox.options().evaluator.device : device).starts_with("spool:");
  request.stop = context.stop;
  request.on_point = [&](size_t done, size_t total, const Binding& binding, const Evaluation& evaluation) {
    context.progress(
        static_cast<double>(done), static_cast<double>(total),
        fmt::format("{}: {}{}", BindingKey(binding), VerdictName(evaluation.verdict),
                    evaluation.geomean_speedup ? fmt::format(", {:.3f}x", *evaluation.geomean_speedup) : ""));
  };
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<Evaluator> evaluator, toolbox.EvaluatorFor(device));
  std::unique_ptr<TuningDatabase> database;
  if (!toolbox.options().tuning_database.empty()) {
    // If the database cannot be opened, the sweep measures everything, with the same result.
    if (auto opened = TuningDatabase::Open(toolbox.options().tuning_database); opened.ok()) database = std::move(*opened);
  }
  request.database = database.get();
  request.build = toolbox.options().build;
  request.again = arguments.value("again", false);
  HONE_ASSIGN_OR_RETURN(const SweptCandidate swept,
                        WaitForSpool(context, [&] { return TuneAndJudge(*evaluator, task, request); }));
  const TuneResult& result = swept.result;

  std::string written_path;
  const std::string& kept_source = swept.tuned ? *swept.tuned : request.source;
  const bool worth_keeping = swept.tuned || result.needs_no_change;
  if (!out.empty() && worth_keeping && !swept.stopped) {
    HONE_RETURN_IF_ERROR(WriteFileAtomically(out, kept_source));
    written_path = out;
  }
  const std::string next_step = swept.tuned ? "The tuned candidate is in `tuned`; it is right, by the full protocol."
                                : result.needs_no_change ? "The candidate's first choices are the best already."
                                : result.best
                                    ? "No tuned candidate was right by the full protocol: use the binding of "
                                      "`best` with bind in eval, or change the candidate."
                                    : "No binding was right: see the points' details, and mend the candidate.";
  Json fields = SweptJson(task, request.name, swept, written_path, evaluator->SandboxWarnings());
  // The answer has one line for each point, because complete evaluations of many points would be too long.
  Json points = Json::array();
  for (const TunePoint& p : result.points) {
    Json point = {{"binding", p.binding},
                  {"verdict", VerdictName(p.evaluation.verdict)},
                  {"detail", p.evaluation.detail.substr(0, 300)}};
    if (p.gain) point["speedup"] = {{"median", p.gain->median}, {"ci95", {p.gain->low, p.gain->high}}};
    points.push_back(std::move(point));
  }
  fields["points"] = std::move(points);
  fields["bindings_left_out"] = result.left_out;
  fields["next"] = next_step;
  if (swept.tuned) fields["tuned"] = *swept.tuned;
  ToolAnswer answer;
  if (swept.judged) {
    const std::string address = toolbox.KeepEvaluation(EvaluationToJson(*swept.judged, -1));
    fields["address"] = address;
    answer.links.push_back({address, "evaluation", "The evaluation of the tuned candidate", "application/json"});
  }
  std::string text = result.summary + ".\n";
  if (swept.known > 0) text += fmt::format("{} bindings were measured before; again=true measures them again.\n", swept.known);
  if (result.left_out > 0)
    text += fmt::format("{} bindings were not tried{}.\n", result.left_out,
                        swept.stopped ? ": the sweep was stopped" : ": raise points for more");
  text += "\n" + PointTable(result);
  if (!result.best) text += "\n" + WhyNot(result);
  if (swept.judged) text += "\n" + DescribeEvaluation(*swept.judged);
  if (!written_path.empty()) text += "Written: " + written_path + "\n";
  if (swept.tuned) text += "\nThe tuned candidate:\n```cuda\n" + *swept.tuned + "\n```\n";
  answer.text =
      FitText(std::move(text), swept.tuned && written_path.empty() ? "it by calling again with out" : written_path,
              kAnswerBytes - 400) +
      "\n" + next_step + "\n";
  std::vector<std::string> left_out;
  answer.structured =
      FitJson(std::move(fields), {"evaluation.profile", "evaluation.log", "evaluation.stages", "evaluation.findings"},
              left_out, kAnswerBytes - 500);
  answer.structured["left_out"] = left_out;
  return answer;
}

}  // namespace

std::vector<Tool> TuneTools(const std::shared_ptr<Toolbox>& toolbox) {
  return {
      {.name = "tune",
       .title = "Sweep a candidate's tunables",
       .description =
           "Tries the bindings of a candidate's tunables (the lists under [tune] in its launch plan: block "
           "sizes, vector widths, ...), finds the best for each "
           "timed shape, and gives the candidate with its winners written in, judged once more by the full "
           "protocol. Takes one judgement a binding; bound it "
           "with points. Cancelling it writes nothing, and what was measured is not measured again by the next call.",
       .input_schema = CandidateAndBaselineSchema(
           {{"points", IntegerSchema("How many bindings are tried at most; by default 64.", 1, 100000)},
            {"trials", TrialsField("Sets of random inputs at each timed case, of each binding; by default 1.")},
            {"again",
             BooleanSchema("Measure bindings again that were measured before and are kept in the tuning database.")},
            {"out", TextSchema("Write the tuned candidate to this file below the server's root.")}}),
       .output_schema = ObjectSchema(
           {{"summary", TextSchema("What the sweep found, in a sentence.")},
            {"known", IntegerSchema("How many points were taken from the tuning database.", 0, 1 << 30)},
            {"entry",
             TextSchema("The id under which points are kept; `hone db show` takes it at a shell. Empty: not kept.")},
            {"points",
             ListSchema("The bindings in the order tried: binding, verdict, speedup with its 95 % interval, detail.",
                        AnyObjectSchema("A point."))},
            {"best", IntegerSchema("The best point's place in points. Left out: none was right.", 0, 1 << 30)},
            {"winners", ListSchema("For each timed shape (dims), the place of the point to use there.",
                                   AnyObjectSchema("dims and point."))},
            {"tuned", TextSchema("The candidate with its winners. Left out: it needs no change, or none was right.")},
            {"evaluation", AnyObjectSchema("Of the tuned candidate, by the full protocol.")},
            {"bindings_left_out", IntegerSchema("How many bindings were not tried.", 0, int64_t{1} << 53)},
            {"stopped", BooleanSchema("Whether the sweep was cut short.")},
            {"written", TextSchema("The file that was written, or empty.")},
            {"next", TextSchema("What to do next.")},
            {"left_out", ListSchema("What was cut to keep the answer short.", TextSchema("A place."))}},
           {"summary", "points", "winners", "next"}, /*open=*/true),
       .annotations = {{"readOnlyHint", false}, {"destructiveHint", false}, {"openWorldHint", false}},
       .call = [toolbox](const Json& arguments, const CallContext& context) {
         return Tune(*toolbox, arguments, context);
       }}};
}

}  // namespace hone::mcp
