// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/judged_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/text/json_text.h"
#include "hone/tuner/library_text.h"
#include "tuner/mcp/answer_budget.h"
#include "tuner/mcp/schema.h"
#include "tuner/workbench/evaluation_text.h"

namespace hone::mcp {

std::string NextAfter(const Evaluation& evaluation) {
  switch (evaluation.verdict) {
    case Verdict::kOk:
      break;
    case Verdict::kParseError:
      return "The launch plan or the file's form is wrong: mend it as `detail` says; hone://docs/candidate-format "
             "describes plans.";
    case Verdict::kUnsupported:
      return "This device cannot judge the candidate: `detail` says why. Use another device or other means.";
    case Verdict::kInvalidTask:
      return "The task is at fault, not the candidate: `detail` says how.";
    case Verdict::kDeviceLost:
      return "The device went away, for which the candidate is not to blame: call again.";
    default:
      return "The candidate is not right: mend it as `detail`, `mismatch` and `findings` say, and call eval again.";
  }
  int faster = 0, timed = 0;
  for (const CaseResult& c : evaluation.cases) {
    timed += c.speedup.has_value();
    faster += c.speedup && (evaluation.modelled ? c.speedup->median > 1 : c.timing.decision == "faster");
  }
  if (timed == 0) return "The candidate is right. It was not timed.";
  return fmt::format(
      "The candidate is right and {} in {} of {} timed cases{}. To see where its time goes, call profile.",
      faster > 0 ? "faster than the baseline" : "faster", faster, timed,
      evaluation.modelled ? " by modelled times" : "");
}

ToolAnswer JudgedAnswer(const Toolbox& toolbox, const Evaluator& evaluator, const Evaluation& evaluation) {
  const std::string evaluation_json = EvaluationToJson(evaluation, -1);
  const std::string address = toolbox.KeepEvaluation(evaluation_json);
  const std::string next_step = NextAfter(evaluation);
  ToolAnswer answer;
  Evaluation shortened = evaluation;
  const std::string profile = shortened.profile ? DescribeProfile(*shortened.profile, "  ") : "";
  if (shortened.profile) {  // leave out findings that the profile's text has in more detail
    std::erase_if(shortened.findings, [&](const Finding& f) {
      return std::any_of(shortened.profile->findings.begin(), shortened.profile->findings.end(),
                         [&](const ProfileFinding& p) { return p.kind == f.kind && p.location == f.location; });
    });
  }
  std::string warnings;
  for (const std::string& warning : evaluator.SandboxWarnings()) warnings += "warning: " + warning + "\n";
  answer.text = FitText(DescribeEvaluation(shortened) + DescribeLibraries(shortened, "  ") + profile + warnings,
                        address, kAnswerBytes - 400) +
                "\n" + next_step + "\nThe whole evaluation: " + address + "\n";
  Json fields = ReadJsonText(evaluation_json);
  fields["sandbox_warnings"] = evaluator.SandboxWarnings();
  fields["next"] = next_step;
  fields["address"] = address;
  std::vector<std::string> left_out;
  answer.structured = FitJson(std::move(fields), {"profile.sass", "log", "stages"}, left_out, kAnswerBytes - 500);
  answer.structured["left_out"] = left_out;
  answer.links.push_back({address, "evaluation", "The whole evaluation as JSON", "application/json"});
  return answer;
}

Json JudgedSchema() {
  return ObjectSchema(
      {{"verdict",
        ChoiceSchema("Whether the candidate is right: only `ok` is.",
                     {"ok", "parse_error", "compile_error", "resource_limit", "launch_error", "crashed", "timed_out",
                      "wrong_output", "rule_violation", "unsupported", "invalid_task", "device_lost"})},
       {"detail",
        TextSchema("What is wrong and where: compiler errors, the first mismatch, the broken rule. Empty with `ok`.")},
       {"task", TextSchema("The task.")},
       {"candidate", TextSchema("The candidate's name.")},
       {"device", TextSchema("Where it was judged.")},
       {"modelled", BooleanSchema("Whether times are modelled, by a simulated GPU, and never measured.")},
       {"baseline", TextSchema("What it was timed against.")},
       {"geomean_speedup",
        {{"type", Json::array({"number", "string"})},
         {"description", "Geometric mean of the timed cases' speedups over the baseline; above 1 is faster."}}},
       {"cases", ListSchema("Each case with its dims, role and, with `ok`, time_us, baseline_us, speedup (median and "
                            "95 % interval), floor_us and timing.decision.",
                            AnyObjectSchema("hone://docs/evaluation-json describes the fields."))},
       {"findings", ListSchema("What the simulator or the profiler found, with source lines.",
                               AnyObjectSchema("kind, message, location."))},
       {"next", TextSchema("What to do next.")},
       {"address", TextSchema("Where the whole evaluation is read as a resource.")},
       {"left_out", ListSchema("What was cut to keep the answer short; the resource holds it whole.",
                               TextSchema("A place in this answer."))}},
      {"verdict", "detail", "task", "device", "modelled", "cases", "next", "address"}, /*open=*/true);
}

EvaluationProgress TellProgress(const CallContext& context) {
  auto steps = std::make_shared<int64_t>(0);
  return [&context, steps](const std::string& phase, const std::string& detail) {
    context.progress(static_cast<double>(++*steps), std::nullopt, detail.empty() ? phase : phase + ": " + detail);
  };
}

}  // namespace hone::mcp
