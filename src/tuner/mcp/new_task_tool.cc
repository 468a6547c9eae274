// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements new_task: makes a task from a stand-alone kernel.
#include <fmt/format.h>

#include <filesystem>

#include "base/text/json_text.h"
#include "tuner/mcp/answer_budget.h"
#include "tuner/mcp/tool_fields.h"
#include "tuner/mcp/tools.h"
#include "tuner/workbench/prepare_task.h"

namespace hone::mcp {
namespace {

std::vector<std::string> Texts(const Json& arguments, const char* field) {
  return arguments.value(field, Json::array()).get<std::vector<std::string>>();
}

// Drafts a task from a kernel, as `hone new` does.
Result<ToolAnswer> NewTask(const Toolbox& toolbox, const Json& arguments, const CallContext& context) {
  TaskAnswers answers;
  NewTaskOptions& o = answers.options;
  o.name = arguments.at("name").get<std::string>();
  HONE_ASSIGN_OR_RETURN(Toolbox::Source kernel, toolbox.SourceOf(arguments, "source", "path", "the kernel"));
  answers.file = std::filesystem::path(kernel.name).filename().string();
  if (arguments.contains("oracle") || arguments.contains("oracle_path")) {
    HONE_ASSIGN_OR_RETURN(Toolbox::Source oracle, toolbox.SourceOf(arguments, "oracle", "oracle_path", "the oracle"));
    answers.oracle = std::move(oracle.text);
    answers.oracle_file = std::filesystem::path(oracle.name).filename().string();
  }
  answers.dims = arguments.value("dims", std::string());
  answers.grid = arguments.value("grid", std::string());
  answers.block = arguments.value("block", std::string());
  o.shared = arguments.value("shared", std::string());
  o.workload = arguments.value("class", std::string());
  o.slice = arguments.value("slice", std::string());
  o.summary = arguments.value("summary", std::string());
  o.template_args = arguments.value("template", std::string());
  if (arguments.contains("special")) o.special = arguments.at("special").get<std::string>();
  o.no_stress = Texts(arguments, "no_stress");
  answers.kernels = Texts(arguments, "kernel");
  answers.shapes = Texts(arguments, "shape");
  answers.dtypes = Texts(arguments, "dtype");
  answers.roles = Texts(arguments, "role");
  answers.scalars = Texts(arguments, "scalar");
  answers.values = Texts(arguments, "values");
  answers.cases = Texts(arguments, "case");
  answers.checks = Texts(arguments, "check_case");
  answers.multiples = Texts(arguments, "multiple");
  answers.lets = Texts(arguments, "let");
  answers.hidden = Texts(arguments, "hidden");
  answers.work = Texts(arguments, "work");
  // PrepareTask allows only letters, digits and underscores in a name, but the folder is checked here in any case.
  HONE_ASSIGN_OR_RETURN(const std::string directory, toolbox.BelowRoot("tasks/" + o.name));
  context.progress(1, 2, "drafting the task");
  HONE_ASSIGN_OR_RETURN(PreparedTask prepared, PrepareTask(answers, kernel.text,
                                                           {.directory = directory,
                                                            .overwrite = arguments.value("force", false),
                                                            .remedy = "force overwrites it"}));
  prepared.unchecked.clear();
  if (arguments.value("try", true)) {
    context.progress(2, 2, "compiling and running oracle and seed on the simulated GPU");
    CheckPrepared(toolbox.options().evaluator, prepared);
  } else if (prepared.complete) {
    prepared.unchecked = "try was false";
  }
  const TaskDraft& draft = prepared.draft;
  const std::string next_step =
      prepared.ready()     ? fmt::format("The task is ready: call task with name \"{}\".", o.name)
      : !prepared.complete ? "Answer the questions: call again with the fields that their answers name (--shape "
                             "x=rows,d is shape: [\"x=rows,d\"]) and force true, or fill in the files."
                           : "Oracle and seed do not agree, or could not be tried: see problems. Give a simpler kernel "
                             "as oracle, or narrower shapes with check, multiple and hidden, and force true.";
  ToolAnswer answer;
  answer.text = fmt::format("{}: task.toml, seed.cu{}\n\nInferred from {}; look it over:\n", directory,
                            draft.oracle.empty() ? "" : ", oracle.cu", answers.file);
  for (const std::string& line : draft.inferred) answer.text += "  " + line + "\n";
  if (!draft.questions.empty()) answer.text += "\nTo be answered:\n";
  for (const TaskQuestion& q : draft.questions) answer.text += fmt::format("  {}: {}\n", q.what, q.answer);
  for (const OpenQuestion& u : prepared.unanswered) answer.text += fmt::format("  {}: {}\n", u.where, u.line);
  if (!draft.left_out.empty()) answer.text += "\nLeft out of seed.cu:\n";
  for (const std::string& line : draft.left_out) answer.text += "  " + line + "\n";
  if (draft.oracle.empty()) answer.text += "\nThere is no oracle, because of\n";
  for (const std::string& reason : draft.oracle_reasons) answer.text += "  " + reason + "\n";
  if (!prepared.problems.empty()) answer.text += "\nNot right yet, on the simulated GPU:\n";
  for (const std::string& problem : prepared.problems) answer.text += "  " + problem + "\n";
  if (!prepared.unchecked.empty())
    answer.text += "\nOracle and seed were not compiled and run: " + prepared.unchecked + "\n";
  answer.text = FitText(std::move(answer.text), "", kAnswerBytes - 600) + "\n" + next_step + "\n";
  Json fields = PreparedJson(prepared);
  fields["left_out_of_seed"] = fields["left_out"];
  fields["next"] = next_step;
  std::vector<std::string> left_out;
  answer.structured = FitJson(std::move(fields), {}, left_out, kAnswerBytes - 500);
  answer.structured["left_out"] = left_out;
  return answer;
}

}  // namespace

std::vector<Tool> NewTaskTools(const std::shared_ptr<Toolbox>& toolbox) {
  const auto texts = [](std::string_view meaning) { return ListSchema(meaning, TextSchema("One of them.")); };
  return {{.name = "new_task",
           .title = "Make a task of a kernel",
           .description = "Makes a task of a stand-alone CUDA kernel, so that candidates for it can be judged: infers "
                          "tensors, shapes and the launch from the .cu file (its launch "
                          "helps), derives an oracle in double precision, writes tasks/NAME below the server's root, "
                          "and tries it on the simulated GPU. What it cannot know it asks: "
                          "call again with the answers and force.",
           .input_schema = ObjectSchema(
               {{"name", TextSchema("The new task's name: letters, digits and underscores.")},
                {"source",
                 SourceField("The kernel's .cu file, best with the host code that launches it. Give this or path.")},
                {"path", TextSchema("The kernel's .cu file below the server's root, in place of source.")},
                {"oracle", SourceField("A plain, obviously right kernel of the same signature to derive the oracle "
                                       "from, or a whole oracle. By default the kernel itself, in double.")},
                {"oracle_path", TextSchema("The oracle's file below the server's root.")},
                {"kernel", texts("Take these kernels of the file; by default all that are launched.")},
                {"dims", TextSchema("The dimensions in order: \"rows,d\".")},
                {"shape", texts("Shapes of tensors: \"x=rows,2*d\".")},
                {"dtype", texts("Types of tensors: \"x=float16\".")},
                {"role", texts("Roles of tensors: \"x=in\", out, inout or workspace.")},
                {"values", texts("How inputs are drawn: \"x=uniform\", \"ids=index:vocabulary\".")},
                {"scalar", texts("Numbers: \"eps=1e-6\".")},
                {"case", texts("Shapes to time: \"rows=128,d=4096\".")},
                {"check_case", texts("Shapes to check, in place of the usual ones: \"rows=3,d=5\".")},
                {"hidden", texts("Where hidden shapes are drawn from: \"k=1..8\", \"d=8..1024:8\".")},
                {"let", texts("Sizes of the code that follow from others: \"num_heads=group*num_kv_heads\".")},
                {"work", texts("Work of a launch: \"flops=EXPRESSION\", \"bytes=EXPRESSION\".")},
                {"multiple", texts("What the kernel asks of dimensions: \"d=8\".")},
                {"special", TextSchema("Which of inf, -inf, nan and subnormal a kernel must answer as the oracle does: "
                                       "\"inf,subnormal\", or none. By default all but nan.")},
                {"no_stress", texts("Tensors that are drawn from their own distribution alone.")},
                {"template", TextSchema("Template arguments of the kernel: \"float, 256\".")},
                {"grid", TextSchema("The grid, where no launch tells: \"ceil_div(n, 256)\".")},
                {"block", TextSchema("The block.")},
                {"shared", TextSchema("Dynamic shared memory in bytes.")},
                {"class", TextSchema("gemm, elementwise, reduction, convolution, attention, gather, graph or other.")},
                {"slice", TextSchema("A dimension along which results are independent.")},
                {"summary", TextSchema("What the kernel computes, in one line.")},
                {"try", BooleanSchema("false: do not compile and run oracle and seed on the simulated GPU.")},
                {"force", BooleanSchema("true: overwrite the task of this name below the root.")}},
               {"name"}),
           .output_schema = ObjectSchema(
               {{"task", TextSchema("The name.")},
                {"directory", TextSchema("Where the files are.")},
                {"ready",
                 BooleanSchema("Whether candidates can be judged: everything is answered, and oracle and seed agree.")},
                {"inferred", ListSchema("What was inferred; look it over.", TextSchema("A line."))},
                {"guessed", ListSchema("What of it no line of the file says, with the option for another.",
                                       TextSchema("A line."))},
                {"questions", ListSchema("What is left to be answered: what, and the answer's form.",
                                         AnyObjectSchema("what and answer."))},
                {"oracle", ChoiceSchema("Where the oracle comes from.", {"derived", "given", "missing"})},
                {"problems", ListSchema("What is wrong with it on the simulated GPU.", TextSchema("A sentence."))},
                {"next", TextSchema("What to do next.")},
                {"left_out", LeftOutField()}},
               {"task", "directory", "ready", "questions", "problems", "next"}, /*open=*/true),
           .annotations = {{"readOnlyHint", false}, {"destructiveHint", true}, {"openWorldHint", false}},
           .call = [toolbox](const Json& arguments, const CallContext& context) {
             return NewTask(*toolbox, arguments, context);
           }}};
}

}  // namespace hone::mcp
