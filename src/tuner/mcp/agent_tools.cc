// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the tools of a run's own coding agent: its single task, and versions judged within its budget.
#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/process/stoppable_sleep.h"
#include "tuner/mcp/tool_fields.h"
#include "tuner/mcp/tools.h"
#include "tuner/model/agent/agent_channel.h"

namespace hone::mcp {
namespace {

constexpr int64_t kDefaultVerdictWait = 45;  // seconds; several clients give up a call after 60
constexpr int64_t kMostVerdictWait = 3600;
constexpr double kVerdictPollSeconds = 0.2;  // between two questions whether the verdict is there

Json VerdictWaitField() {
  return IntegerSchema(fmt::format("For how many seconds to wait for the verdict; by default {}. After that the answer "
                                   "says judging, and verdict waits on.",
                                   kDefaultVerdictWait),
                       0, kMostVerdictWait);
}

// Returns the schema of an answer with the run's state for its agent.
Json StandingSchema() {
  return ObjectSchema(
      {{"state",
        ChoiceSchema(
            "open: nothing was handed in yet; judging; judged: text is the verdict; unusable: text says what was "
            "wrong, and nothing was spent; over: nothing more is judged.",
            {"open", "judging", "judged", "unusable", "over"})},
       {"left", IntegerSchema("Verdicts that remain.", 0, int64_t{1} << 53)},
       {"budget", IntegerSchema("Verdicts in all.", 0, int64_t{1} << 53)},
       {"text", TextSchema("What the run says.")}},
      {"state", "left", "budget", "text"});
}

// Returns the run's state, as the agent's session gives it, as a tool's answer.
ToolAnswer StandingAnswer(Json standing) {
  ToolAnswer answer;
  answer.text =
      fmt::format("State: {}; {} of {} verdicts left.\n\n{}", standing.value("state", ""),
                  standing.value("left", int64_t{0}), standing.value("budget", int64_t{0}), standing.value("text", ""));
  answer.structured = std::move(standing);
  return answer;
}

// Waits until no version is being judged, or the call's time is over, and returns the last verdict.
Result<ToolAnswer> AwaitVerdict(const std::string& socket, const Json& arguments, const CallContext& context) {
  const Stopwatch watch;
  const auto limit = static_cast<double>(arguments.value("wait_seconds", kDefaultVerdictWait));
  double reported_seconds = 0;
  while (true) {
    HONE_ASSIGN_OR_RETURN(Json standing, AskAgentChannel(socket, {{"op", "verdict"}}));
    if (standing.value("state", "") != "judging" || watch.Seconds() >= limit)
      return StandingAnswer(std::move(standing));
    if (watch.Seconds() >= reported_seconds + 5) {
      reported_seconds = watch.Seconds();
      context.progress(reported_seconds, std::nullopt, "the version is being judged");
    }
    if (!StoppableSleep(kVerdictPollSeconds, context.stop))
      return Status::Cancelled("the call was cancelled; the version is judged all the same");
  }
}

}  // namespace

std::vector<Tool> AgentTools(const std::shared_ptr<Toolbox>& toolbox, const std::string& socket) {
  std::vector<Tool> tools;
  Json task_schema = StandingSchema();
  task_schema["properties"]["introduction"] = TextSchema("The task and how you work, as in README.md.");
  tools.push_back({.name = "task",
                   .title = "What you are to do",
                   .description = "Gives the task, how a candidate is written and judged, and where you stand: the "
                                  "last verdict and how many remain.",
                   .input_schema = ObjectSchema({}, {}),
                   .output_schema = task_schema,
                   .annotations = {{"readOnlyHint", true}},
                   .call = [socket](const Json&, const CallContext&) -> Result<ToolAnswer> {
                     HONE_ASSIGN_OR_RETURN(Json standing, AskAgentChannel(socket, {{"op", "task"}}));
                     ToolAnswer answer = StandingAnswer(standing);
                     answer.text = standing.value("introduction", "") + "\n\n" + answer.text;
                     return answer;
                   }});
  Json eval_schema =
      ObjectSchema({{"idea", TextSchema("One line: what this version changes, and why it should pay.")},
                    {"source", SourceField("The version's whole .cu file, launch plan included. Give this or path.")},
                    {"path", TextSchema("Its .cu file in your folder, in place of source.")},
                    {"wait_seconds", VerdictWaitField()}},
                   {"idea"});
  tools.push_back(
      {.name = "eval",
       .title = "Have a version judged",
       .description = "Hands a version in, which costs one verdict, and waits for what the judge says: is it right, "
                      "how fast is it, where does "
                      "it stand. One version at a time.",
       .input_schema = std::move(eval_schema),
       .output_schema = StandingSchema(),
       .call = [toolbox, socket](const Json& arguments, const CallContext& context) -> Result<ToolAnswer> {
         HONE_ASSIGN_OR_RETURN(Toolbox::Source version, CandidateOf(*toolbox, arguments));
         HONE_RETURN_IF_ERROR(
             AskAgentChannel(socket, {{"op", "eval"}, {"idea", arguments.value("idea", "")}, {"source", version.text}})
                 .status());
         return AwaitVerdict(socket, arguments, context);
       }});
  tools.push_back({.name = "verdict",
                   .title = "Wait for the verdict",
                   .description = "Waits for the verdict on the version that was handed in last, and gives it; gives "
                                  "it again when asked again.",
                   .input_schema = ObjectSchema({{"wait_seconds", VerdictWaitField()}}, {}),
                   .output_schema = StandingSchema(),
                   .annotations = {{"readOnlyHint", true}},
                   .call = [socket](const Json& arguments, const CallContext& context) {
                     return AwaitVerdict(socket, arguments, context);
                   }});
  return tools;
}

std::string AgentInstructions() {
  return "You make one CUDA kernel faster, and Hone judges your versions within a budget. Call `task` for what you are "
         "to do, write a candidate, hand it "
         "in with `eval`, read the verdict, and go on until no verdict is left or nothing more could pay.";
}

}  // namespace hone::mcp
