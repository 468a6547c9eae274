// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the tools that list and show tasks: tasks, task.
#include <fmt/format.h>

#include <algorithm>

#include "base/text/json_text.h"
#include "tuner/core/task/torch_module.h"
#include "tuner/agents/prompt_library.h"
#include "tuner/agents/prompt_text.h"
#include "tuner/mcp/answer_budget.h"
#include "tuner/mcp/schema.h"
#include "tuner/mcp/tool_fields.h"
#include "tuner/mcp/tools.h"
#include "tuner/workbench/task_description.h"

namespace hone::mcp {
namespace {

constexpr size_t kShownSourceBytes = 9000;  // limit on a seed or oracle in an answer; the whole is a resource

// Returns a task as the list of tasks shows it.
Json TaskEntry(const Task& task) {
  Json dims = Json::array();
  for (const auto& [name, meaning] : task.dims) dims.push_back(name);
  int64_t timed = 0;
  for (const Case& c : task.cases) timed += c.role == CaseRole::kTime;
  return {{"name", task.name},
          {"summary", task.summary},
          {"class", WorkloadClassName(task.workload)},
          {"dims", dims},
          {"timed_cases", timed},
          {"check_cases", static_cast<int64_t>(task.cases.size()) - timed},
          {"has_seed", !task.seed_source.empty()}};
}

// Lists the tasks whose names contain a text.
Result<ToolAnswer> ListTasks(const Toolbox& toolbox, const Json& arguments) {
  const std::string wanted_part = arguments.value("contains", std::string());
  ToolAnswer answer;
  Json tasks = Json::array(), problems = Json::array();
  for (const auto& [name, directory] : toolbox.TaskDirectories()) {
    const Result<Task> task = LoadTask(directory);
    if (!task.ok()) {
      problems.push_back(task.status().message());
      answer.text += fmt::format("{}: cannot be read: {}\n", name, task.status().message());
      continue;
    }
    Json entry = TaskEntry(*task);
    if (!wanted_part.empty() && DumpJson(entry).find(wanted_part) == std::string::npos) continue;
    answer.text += fmt::format("{} ({}): {}{}\n", task->name, WorkloadClassName(task->workload), task->summary,
                               task->seed_source.empty() ? " No seed." : "");
    tasks.push_back(std::move(entry));
  }
  if (tasks.empty() && problems.empty()) answer.text += "There is no such task.\n";
  const std::string next_step =
      "Call task with a name to read what it computes, its seed kernel, and how to write a candidate.";
  answer.text = FitText(std::move(answer.text), "", kAnswerBytes - 200) + "\n" + next_step + "\n";
  std::vector<std::string> left_out;
  answer.structured = FitJson({{"tasks", std::move(tasks)}, {"problems", std::move(problems)}, {"next", next_step}}, {},
                              left_out, kAnswerBytes - 500);
  answer.structured["left_out"] = left_out;
  return answer;
}

// Describes a task, with its oracle and its seed as far as they fit.
Result<ToolAnswer> DescribeTask(const Toolbox& toolbox, const Json& arguments) {
  HONE_ASSIGN_OR_RETURN(const Task task, toolbox.FindTask(arguments.at("name").get<std::string>()));
  const DeviceFacts facts = toolbox.Facts();
  const std::string base = "hone://tasks/" + task.name + "/";
  const auto shown = [&](const std::string& source, const std::string& file) {
    return source.empty() ? std::string() : FitText(WithoutLicence(source), base + file, kShownSourceBytes);
  };
  const std::string answer_file(AnswerFile(task));
  const std::string seed = shown(task.seed_source, "seed.cu"), oracle = shown(AnswerForModels(task), answer_file);
  const std::string guide = CandidateGuide(facts.modelled);
  const std::string next_step = fmt::format(
      "Write a candidate and call eval with task \"{}\" and the candidate's whole text as source. {}", task.name,
      task.seed_source.empty() ? fmt::format("There is no seed: begin from what {} computes.", answer_file)
                               : "The seed is right and is what candidates are timed against: begin from it.");
  ToolAnswer answer;
  answer.text = TaskText(task, facts);
  // Leave out the shell commands at the end of the text, which are useless to callers of tools.
  if (const size_t files = answer.text.find("\nFiles\n"); files != std::string::npos) answer.text.resize(files + 1);
  if (!seed.empty()) answer.text += fmt::format("\n## The seed, {}seed.cu\n\n```cuda\n{}\n```\n", base, seed);
  if (!oracle.empty())
    answer.text += fmt::format(
        "\n## The oracle, {}{}, which computes the right answer in double precision\n\n```{}\n{}\n```\n", base, answer_file,
        HasTorchModule(task) ? "python" : "cuda", oracle);
  answer.text += "\n" + guide + "\n\n## Next\n\n" + next_step + "\n";
  answer.text = FitText(std::move(answer.text), "hone://docs/candidate-format");
  Json details = TaskDetailsJson(task, facts);
  details.erase("judge");
  Json files = Json::array();
  for (const auto& [name, text] : {std::pair{"task.toml", &task.toml},
                                   {"seed.cu", &task.seed_source},
                                   {answer_file.c_str(), &task.oracle_source},
                                   {"baseline.toml", &task.baseline_toml}}) {
    if (text->empty()) continue;
    files.push_back(base + name);
    answer.links.push_back({base + name, std::string(task.name) + "/" + name,
                            fmt::format("{} of task {}", name, task.name), "text/plain"});
  }
  std::vector<std::string> left_out;
  answer.structured = FitJson({{"task", std::move(details)},
                               {"seed", seed},
                               {"oracle", oracle},
                               {"candidate_guide", guide},
                               {"files", std::move(files)},
                               {"next", next_step}},
                              {}, left_out, kAnswerBytes - 500);
  answer.structured["left_out"] = left_out;
  return answer;
}

}  // namespace

std::string CandidateGuide(bool modelled) {
  const PromptLibrary& library = PromptLibrary::Embedded();
  std::string guide;
  for (const char* part : {"part_format", "part_judge", "part_simulated"}) {
    if (!modelled && std::string_view(part) == "part_simulated") continue;
    std::map<std::string, std::string> values;
    for (const std::string& name : PromptValues()) values[name] = "";
    if (!modelled) values["real_device"] = "yes";
    const Result<std::string> text = FillTemplate(library.Expanded(part).value(), values);
    guide += (guide.empty() ? "" : "\n") + text.value();
  }
  return guide;
}

std::vector<Tool> TaskTools(const std::shared_ptr<Toolbox>& toolbox) {
  const Json left_out = ListSchema("What was cut to keep the answer short; resources hold it whole.",
                                   TextSchema("The place in this answer."));
  std::vector<Tool> tools;
  tools.push_back(
      {.name = "tasks",
       .title = "List tasks",
       .description = "Lists the tasks: each is a computation on a GPU (a matrix product, a softmax, ...) with its "
                      "shapes, its required precision "
                      "and, mostly, a seed kernel to beat. Start here; then call task with a name.",
       .input_schema = ObjectSchema(
           {{"contains", TextSchema("List only tasks whose name, class or summary contains this text.")}}, {}),
       .output_schema = ObjectSchema(
           {{"tasks",
             ListSchema(
                 "The tasks, by name.",
                 ObjectSchema(
                     {{"name", TextSchema("What other tools take.")},
                      {"summary", TextSchema("What it computes.")},
                      {"class",
                       TextSchema("gemm, elementwise, reduction, convolution, attention, gather, graph or other.")},
                      {"dims", ListSchema("The dimensions that shapes are made of.", TextSchema("A name."))},
                      {"timed_cases", IntegerSchema("How many shapes are timed.", 0, 1 << 30)},
                      {"check_cases", IntegerSchema("How many more are checked; hidden ones come on top.", 0, 1 << 30)},
                      {"has_seed", BooleanSchema("Whether there is a kernel to start from.")}},
                     {"name", "summary"}, /*open=*/true))},
            {"problems", ListSchema("Tasks that cannot be read, and why.", TextSchema("A sentence."))},
            {"next", TextSchema("What to do next.")},
            {"left_out", left_out}},
           {"tasks", "problems", "next"}, /*open=*/true),
       .annotations = {{"readOnlyHint", true}, {"openWorldHint", false}},
       .call = [toolbox](const Json& arguments, const CallContext&) { return ListTasks(*toolbox, arguments); }});
  tools.push_back(
      {.name = "task",
       .title = "Read a task",
       .description = "Describes one task completely: what it computes, its tensors and scalars, the shapes that are "
                      "timed and checked, the tolerance, "
                      "the least time that moving its bytes takes, the seed kernel's and the oracle's source, and how "
                      "a candidate is written. "
                      "After it you can write a candidate and call eval.",
       .input_schema = ObjectSchema({{"name", TaskField()}}, {"name"}),
       .output_schema = ObjectSchema(
           {{"task", AnyObjectSchema(
                         "Dimensions, tensors, scalars, cases, tolerance: the fields of `hone tasks show --json`.")},
            {"seed",
             TextSchema("The seed kernel's source: right, and what candidates are timed against. Empty: none.")},
            {"oracle", TextSchema("The oracle's source: the right answer in double precision.")},
            {"candidate_guide", TextSchema("How a candidate is written and judged.")},
            {"files", ListSchema("Addresses of the task's files as resources.", TextSchema("An address."))},
            {"next", TextSchema("What to do next.")},
            {"left_out", left_out}},
           {"task", "candidate_guide", "next"}, /*open=*/true),
       .annotations = {{"readOnlyHint", true}, {"openWorldHint", false}},
       .call = [toolbox](const Json& arguments, const CallContext&) { return DescribeTask(*toolbox, arguments); }});
  return tools;
}

}  // namespace hone::mcp
