// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone new NAME makes a task folder: with --from kernel.cu from a stand-alone kernel, with --from problem.py or --from
// package.module:Class from a PyTorch module, with --from definition.json from a benchmark's definition, and with
// --from FOLDER from a problem in GPU MODE's format.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "base/text/json_text.h"
#include "common/build_facts.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "tuner/evaluate/device_list.h"
#include "tuner/workbench/prepare_module_task.h"
#include "tuner/workbench/prepare_task.h"

namespace hone {
namespace {

struct NewFlags {
  TaskAnswers answers;
  std::string from, out, oracle;
  bool force = false, json = false, no_check = false;
  // The following options are for PyTorch modules.
  std::vector<std::string> inputs, fixed;
  std::string init, workload, profile = "auto";
  bool eval_mode = false, accept_licence = false;
  double memory_gb = 0, limit_seconds = 300;
};

// Suggests another role for a tensor after "the oracle's q[0] is NaN". If q was taken for a pure output, its former
// contents may be missing.
std::string RoleToTry(const std::string& problem, const TaskDraft& draft) {
  constexpr std::string_view kBegin = "the oracle's ";
  const size_t bracket = problem.find('[');
  if (!problem.starts_with(kBegin) || bracket == std::string::npos || problem.find("] is NaN") == std::string::npos)
    return "";
  const std::string name = problem.substr(kBegin.size(), bracket - kBegin.size());
  const size_t tensor = draft.task_toml.find(fmt::format("name = \"{}\"\nrole = \"out\"", name));
  if (tensor == std::string::npos) return "";
  return fmt::format("if {0} is read before it is written: --role {0}=inout", name);
}

// Prints what was made and inferred, and what the user must still say.
void PrintText(const NewFlags& flags, const TaskDraft& draft, const std::string& out) {
  Print("{}/task.toml, seed.cu{}\n", out, draft.oracle.empty() ? "" : ", oracle.cu");
  Print("\nInferred from {}; look it over:\n", flags.answers.file);
  for (const std::string& line : draft.inferred) {
    if (std::find(draft.guessed.begin(), draft.guessed.end(), line) == draft.guessed.end()) Print("  {}\n", line);
  }
  if (!draft.oracle.empty() && flags.oracle.empty()) {
    Print(
        "  oracle: the kernel itself, mechanically in double. What the kernel gets wrong, this oracle gets wrong as "
        "well:\n"
        "          add [[hand]] cases to task.toml, or give a simpler kernel with --oracle FILE\n");
  }
  if (!draft.left_out.empty()) {
    Print("\nLeft out of seed.cu:\n");
    for (const std::string& line : draft.left_out) Print("  {}\n", line);
  }
  if (draft.oracle.empty()) {
    Print("\nThere is no oracle.cu: the kernel cannot be turned into double mechanically, because of\n");
    for (const std::string& reason : draft.oracle_reasons) Print("  {}\n", reason);
    Print(
        "Give a plain kernel of the same signature, or a whole oracle, with --oracle FILE (interop.md in the "
        "documentation).\n");
  }
}

// Prints the outcome for a PyTorch module, and sets the exit status.
Status PrintModule(CommandContext& context, const NewFlags& flags, const PreparedModuleTask& prepared) {
  context.exit_status = prepared.ready() ? 0 : 1;
  if (flags.json) {
    Print("{}\n", DumpJson(PreparedModuleJson(prepared), 2));
    return Status::Ok();
  }
  if (!prepared.problems.empty()) {
    Print("\nNot right yet. On the simulated GPU:\n");
    for (const std::string& problem : prepared.problems) Print("  {}\n", problem);
  }
  if (!prepared.weak.empty()) {
    Print("\nWhat the tolerance cannot tell apart:\n");
    for (const std::string& one : prepared.weak) Print("  {}\n", one);
  }
  if (!prepared.unchecked.empty()) Print("\nThe task was not checked: {}\n", prepared.unchecked);
  const char* device = ThisBuild().cuda_toolkit.empty() ? " --device sim" : "";
  Print(
      "\nNext: look the task over with  hone tasks check {}\nThen write a kernel (docs/candidate-format.md), and  hone "
      "eval {} kernel.cu{}\n",
      prepared.directory, prepared.directory, device);
  if (!prepared.draft.seed_cu.empty())
    Print("Or let a strategy begin with the seed:  hone optimize {}{}\n", prepared.directory, device);
  else
    Print("Or let a language model write it:  hone optimize {} --model PROVIDER:MODEL{}\n", prepared.directory, device);
  return Status::Ok();
}

// Returns whether the text is "package.module:Class", and not a path.
bool NamesAClass(const std::string& from) {
  const size_t colon = from.rfind(':');
  return colon != std::string::npos && colon > 0 && from.find('/') == std::string::npos && !FileExists(from);
}

bool IsDefinition(const std::string& from) { return from.ends_with(".json"); }

// Returns what --profile says: auto, cuda:N, cpu or none.
Result<OperatorTimingChoice> TimingChoice(const std::string& profile) {
  OperatorTimingChoice choice;
  if (profile == "none") {
    choice.untimed = "--profile none";
    return choice;
  }
  if (profile == "cpu") {
    choice.wanted = true;
    return choice;
  }
  for (const DeviceFacts& facts : ListGpus()) {
    if (profile != "auto" && facts.id != profile) continue;
    choice.wanted = true;
    choice.gpu = GpuOrdinal(facts.id);
    return choice;
  }
  const bool is_gpu = profile.starts_with("cuda:") && profile.size() > 5 && profile.find_first_not_of("0123456789", 5) == std::string::npos;
  if (is_gpu) {
    return Status::InvalidArgument(
        fmt::format("--profile {}: this machine has no such GPU (`hone devices` lists what it has); use auto, cpu or none", profile));
  }
  if (profile != "auto") {
    return Status::InvalidArgument(fmt::format("--profile {}: expected auto, cuda:N (such as cuda:0), cpu or none", profile));
  }
  choice.untimed = "no GPU was found here";
  return choice;
}

Status RunModule(CommandContext& context, NewFlags& flags, const std::string& source) {
  const TaskAnswers& answers = flags.answers;
  const bool defined = IsDefinition(flags.from), board = IsBoardFolder(flags.from);
  if (!answers.kernels.empty() || !flags.oracle.empty() || !answers.grid.empty() || !answers.block.empty() ||
      !answers.shapes.empty()) {
    return Status::InvalidArgument(
        "--kernel, --oracle, --grid, --block and --shape describe a CUDA kernel, and this is a PyTorch module: leave "
        "them out");
  }
  ModuleTaskOptions options;
  std::string chosen;  // which class was taken, if that needs saying
  options.name = answers.options.name;
  options.summary = answers.options.summary;
  options.file = answers.file;
  options.text = source;
  options.eval = flags.eval_mode;
  options.fixed = flags.fixed;
  options.inputs = flags.inputs;
  options.init = flags.init;
  options.sizes = answers.cases;
  options.limit_seconds = flags.limit_seconds;
  if (defined) {
    if (!flags.inputs.empty() || !flags.init.empty() || flags.eval_mode) {
      return Status::InvalidArgument(
          "--input, --init and --eval describe a PyTorch module, and a definition says all of it itself: leave them "
          "out");
    }
    HONE_ASSIGN_OR_RETURN(options.definition, ReadDefinitionFiles(flags.from, flags.workload));
  } else if (board) {
    if (!flags.inputs.empty() || !flags.init.empty() || flags.eval_mode) {
      return Status::InvalidArgument(
          "--input, --init and --eval describe a PyTorch module, and a problem's folder says all of it itself: leave "
          "them out");
    }
    HONE_ASSIGN_OR_RETURN(options.board, FindBoardFiles(flags.from));
    options.accept_licence = flags.accept_licence;
    options.file = flags.from;
  } else if (source.empty()) {
    const size_t colon = flags.from.rfind(':');
    options.module = flags.from.substr(0, colon);
    options.class_name = flags.from.substr(colon + 1);
    options.file = flags.from;
    std::error_code error;
    options.folder = std::filesystem::current_path(error).string();
    if (flags.inputs.empty() && flags.init.empty()) {
      // A file with get_inputs() says all but which of its classes is meant.
      std::string file = options.module;
      std::replace(file.begin(), file.end(), '.', '/');
      file += ".py";
      if (FileExists(file)) {
        HONE_ASSIGN_OR_RETURN(std::string text, ReadSource(file));
        if (IsModuleProblem(text)) {
          options.text = std::move(text);
          options.file = file;
          options.module.clear();
          chosen = fmt::format("class {} of {}, with its get_inputs()", options.class_name, file);
        }
      }
    }
  } else if (!flags.init.empty()) {
    return Status::InvalidArgument(
        "--init goes with --from package.module:Class; a problem file says it in get_init_inputs()");
  } else {
    HONE_ASSIGN_OR_RETURN(options.class_name, ProblemClass(source, flags.from, options.name));
    if (options.class_name != "Model")
      chosen = fmt::format("class {}, the only module of the file", options.class_name);
  }
  HONE_ASSIGN_OR_RETURN(options.timing, TimingChoice(flags.profile));
  PythonOptions python;
  python.environment = context.environment;
  python.memory_bytes = static_cast<int64_t>(flags.memory_gb * 1e9);
  const std::string out = flags.out.empty() ? "tasks/" + options.name : flags.out;
  HONE_ASSIGN_OR_RETURN(
      PreparedModuleTask prepared,
      PrepareModuleTask(
          options, python,
          {.directory = out, .overwrite = flags.force, .remedy = "--force overwrites it, --out names another folder"}));
  if (!chosen.empty()) prepared.draft.inferred.insert(prepared.draft.inferred.begin(), chosen);
  for (const std::string& warning : prepared.draft.sandbox_warnings) PrintError("hone: warning: {}\n", warning);
  if (!flags.json) {
    Print("{}/task.toml, reference.py{}{}\n\nFound by running {} with PyTorch {}; look it over:\n", out,
          prepared.draft.seed_cu.empty() ? "" : ", seed.cu", prepared.draft.profile ? ", profile.json" : "", options.file,
          prepared.draft.torch);
    for (const std::string& line : prepared.draft.inferred) Print("  {}\n", line);
    for (const std::string& line : prepared.draft.notes) Print("  {}\n", line);
    std::fflush(stdout);
  }
  if (flags.no_check) {
    prepared.unchecked = "--no-check";
  } else if (const Status cache = MakeCacheFolder(context); !cache.ok()) {
    prepared.unchecked = cache.message();
  } else {
    DeviceFlags device;
    CheckPreparedModule(MakeEvaluatorOptions(context, device), prepared);
  }
  return PrintModule(context, flags, prepared);
}

// Makes a task from the file that --from names.
Status Run(CommandContext& context, NewFlags& flags) {
  TaskAnswers& answers = flags.answers;
  answers.file = std::filesystem::path(flags.from).filename().string();
  if (!flags.workload.empty() && !IsDefinition(flags.from)) {
    return Status::InvalidArgument("--workload goes with --from definition.json: leave it out, or name a definition");
  }
  if (flags.accept_licence && !IsBoardFolder(flags.from)) {
    return Status::InvalidArgument(
        "--accept-licence goes with --from FOLDER, a problem in GPU MODE's format: leave it out, or name such a "
        "folder");
  }
  if (NamesAClass(flags.from) || IsDefinition(flags.from) || IsBoardFolder(flags.from))
    return RunModule(context, flags, "");
  if (!flags.oracle.empty()) {
    HONE_ASSIGN_OR_RETURN(answers.oracle, ReadSource(flags.oracle));
    answers.oracle_file = std::filesystem::path(flags.oracle).filename().string();
  }
  HONE_ASSIGN_OR_RETURN(const std::string source, ReadSource(flags.from));
  if (flags.from.ends_with(".py") && IsModuleProblem(source)) return RunModule(context, flags, source);
  if (flags.from.ends_with(".py") && source.find("__global__") == std::string::npos)
    return Status::InvalidArgument(WhyNoModuleProblem(source, flags.from));
  if (!flags.inputs.empty() || !flags.init.empty() || !flags.fixed.empty() || flags.eval_mode || flags.profile != "auto") {
    return Status::InvalidArgument(
        "--input, --init, --fix, --eval and --profile are for a PyTorch module, and this is a CUDA kernel: leave them out");
  }
  const std::string out = flags.out.empty() ? "tasks/" + answers.options.name : flags.out;
  HONE_ASSIGN_OR_RETURN(
      PreparedTask prepared,
      PrepareTask(
          answers, source,
          {.directory = out, .overwrite = flags.force, .remedy = "--force overwrites it, --out names another folder"}));
  const TaskDraft& draft = prepared.draft;
  if (!flags.json) {
    PrintText(flags, draft, out);
    std::fflush(stdout);
  }
  if (flags.no_check || !prepared.complete) {
    ReadPrepared(prepared);
    prepared.unchecked = prepared.complete ? "--no-check" : "";
  } else if (const Status cache = MakeCacheFolder(context); !cache.ok()) {
    prepared.unchecked = cache.message();
  } else {
    DeviceFlags device;
    CheckPrepared(MakeEvaluatorOptions(context, device), prepared);
  }
  const bool ready = prepared.ready();
  context.exit_status = ready ? 0 : 1;
  if (flags.json) {
    Print("{}\n", DumpJson(PreparedJson(prepared), 2));
    return Status::Ok();
  }
  if (!prepared.inferred_late.empty()) {
    Print("\nFound by running both:\n");
    for (const std::string& line : prepared.inferred_late) Print("  {}\n", line);
  }
  if (!draft.questions.empty()) {
    Print("\nTo be answered, by an option and --force:\n");
    for (const TaskQuestion& q : draft.questions) Print("  {:<60} {}\n", q.what, q.answer);
  }
  if (!prepared.unanswered.empty()) {
    Print("{}or in the files, where {} stands:\n", draft.questions.empty() ? "\nTo be answered " : "", kFillIn);
    for (const OpenQuestion& u : prepared.unanswered) Print("  {}: {}\n", u.where, u.line);
  }
  if (!prepared.problems.empty()) {
    Print("\nNot right yet{}:\n", prepared.unchecked.empty() ? ". On the simulated GPU" : "");
    for (const std::string& problem : prepared.problems) {
      Print("  {}\n", problem);
      if (const std::string role = RoleToTry(problem, draft); !role.empty()) Print("    {}\n", role);
    }
    if (flags.oracle.empty() && prepared.unchecked.empty()) {
      Print(
          "Where oracle.cu is at fault, --oracle FILE derives it from a simpler kernel; where shapes are that the "
          "kernel does not serve, --case, --multiple, --check and --hidden say which it does, and --let where one size "
          "is never less than another (--let stride=cols+pad).\n");
    }
  }
  if (!prepared.unchecked.empty()) Print("\nOracle and seed were not compiled and run: {}\n", prepared.unchecked);
  if (!draft.guessed.empty()) {
    Print("\nGuessed, not read from the file; each with the option that says otherwise:\n");
    for (const std::string& line : draft.guessed) Print("  {}\n", line);
  }
  // The checks would refuse an incomplete draft at its first line, so they are suggested only if no question above is
  // open.
  if (prepared.complete) {
    Print("\n{}hone tasks check {}\n",
          ready ? "Oracle and seed compile, run and agree on the simulated GPU.\nNext: " : "Then: ", out);
  } else {
    const bool asks = !draft.questions.empty() || !prepared.unanswered.empty();
    Print("\nThe task is not complete. {} and run `hone new` again with --force.\n",
          asks ? "Answer the questions above" : "Write oracle.cu, or name a simpler kernel by --oracle FILE,");
  }
  return Status::Ok();
}

}  // namespace

void RegisterNewCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<NewFlags>();
  NewTaskOptions& o = flags->answers.options;
  TaskAnswers& answers = flags->answers;
  CLI::App* command =
      app.add_subcommand("new", "make a task from a stand-alone .cu file, a PyTorch module or a benchmark's problem");
  command->add_option("name", o.name, "name of the new task")->required();
  command
      ->add_option("--from", flags->from,
                   "what the task is made from: a .cu file; a PyTorch module, a .py file with Model and get_inputs or "
                   "package.module:Class; a definition.json of FlashInfer-Bench or SOL-ExecBench; or the folder of a "
                   "problem in GPU MODE's format")
      ->required();
  command->add_option(
      "--workload", flags->workload,
      "the workloads of a definition.json, one a line; by default those in the place where its benchmark keeps them");
  command->add_option("--out", flags->out, "folder to write to; by default tasks/NAME");
  command->add_option(
      "--oracle", flags->oracle,
      "what results are checked against (the oracle): a simple kernel with the same parameters, which Hone turns into "
      "double precision, or a finished oracle.cu (docs/task-format.md); by default the kernel itself is turned into "
      "double");
  command->add_option("--kernel", answers.kernels,
                      "use only this kernel of the file; may be repeated; by default all that it launches");
  command->add_option("--dims", answers.dims, "the names of the dimensions, in order: rows,d");
  command->add_option("--shape", answers.shapes, "a tensor's shape: x=rows,2*d; may be repeated");
  command->add_option("--dtype", answers.dtypes, "a tensor's dtype: x=float16; may be repeated");
  command->add_option("--role", answers.roles, "a tensor's role: x=in, out, inout or workspace; may be repeated");
  command->add_option(
      "--values", answers.values,
      "which values an input gets. x=normal: numbers; also uniform, heavy_tailed, log_uniform, sorted, constant, "
      "cancelling, zero. ids=index:BOUND: whole numbers from 0 to BOUND - 1. ids=index:BOUND,padding=0.1: the same, a "
      "tenth of them -1. ptr=offsets:BOUND: ascending whole numbers from 0 to BOUND, such as the row offsets of CSR. "
      "BOUND is a number or a dimension; may be repeated");
  command->add_option("--scalar", answers.scalars,
                      "the value of a parameter that is no tensor: eps=1e-6. Integer parameters are taken for "
                      "dimensions unless they get a value here, as in seed=42; may be repeated");
  command->add_option("--case", answers.cases, "a shape that is timed and checked: rows=128,d=4096; may be repeated");
  command->add_option(
      "--check", answers.checks,
      "a shape that is only checked, instead of the usual small and odd ones: rows=3,d=5; may be repeated");
  command->add_option(
      "--hidden", answers.hidden,
      "the range from which the judge draws a dimension of its secret shapes: k=1..8, d=8..1024:8 (multiples "
      "of 8), experts=128 (always)");
  command->add_option(
      "--let", answers.lets,
      "how a size in the code is computed from dimensions: num_heads=group*num_kv_heads; may be repeated");
  command->add_option("--work", answers.work,
                      "the work of one launch as an expression of the dimensions: flops=2*rows*d, or bytes=... if that "
                      "is not the size of all tensors");
  command->add_option("--multiple", answers.multiples, "a dimension is a multiple of this number in every shape: d=8");
  command->add_option("--template", o.template_args, "the kernel's template arguments: \"float, 256\"");
  command->add_option("--grid", answers.grid, "the launch's grid, if the file has no launch: \"ceil_div(n, 256)\"");
  command->add_option("--block", answers.block, "the launch's block, if the file has no launch: 256");
  command->add_option("--shared", o.shared, "the launch's bytes of dynamic shared memory");
  command->add_option(
      "--class", o.workload,
      "what kind of kernel it is: gemm, elementwise, reduction, convolution, attention, gather, graph or other");
  command->add_option("--slice", o.slice,
                      "a dimension whose entries are computed independently, such as rows: in large tensors only some "
                      "of them are checked");
  command->add_option("--summary", o.summary, "what the kernel computes, in one line");
  command->add_option(
      "--special", o.special,
      "which of inf, -inf, nan and subnormal a kernel must answer as the oracle does: inf,subnormal, or none; by "
      "default all but nan");
  command->add_option("--no-stress", o.no_stress,
                      "never fill the tensor of this name with stress values (such as zeros, infinities or equal "
                      "numbers), but draw it as --values says; may be repeated");
  command->add_option("--input", flags->inputs,
                      "an input of the PyTorch module's forward, after those that get_inputs() gives: "
                      "x=float32[batch,hidden], or ids=int64[batch]:vocabulary for numbers below vocabulary; may be "
                      "repeated");
  command->add_option("--init", flags->init,
                      "with --from package.module:Class: its arguments, as Python writes them: \"hidden, heads=8\"");
  command->add_option("--fix", flags->fixed,
                      "do not vary this size of the PyTorch module, such as heads; may be repeated");
  command->add_flag("--eval", flags->eval_mode,
                    "judge the PyTorch module in eval mode: without dropout, and with its running statistics");
  command
      ->add_option(
          "--memory", flags->memory_gb,
          "how many GB of memory running the PyTorch module once may take; by default three quarters of the machine's")
      ->check(CLI::PositiveNumber);
  command->add_option("--limit", flags->limit_seconds, "how many seconds running the PyTorch module once may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--profile", flags->profile,
                   "where PyTorch times the module's operators, for the notes and prompts: cuda:N, cpu, or none; auto "
                   "takes the first GPU, if there is one")
      ->capture_default_str();
  command->add_flag("--accept-licence", flags->accept_licence,
                    "let prompts to models quote the files of the problem's folder, which its licence may forbid");
  command->add_flag("--no-check", flags->no_check, "do not try the task on the simulated GPU");
  command->add_flag("--force", flags->force, "replace a task that is there already");
  command->add_flag("--json", flags->json, "write JSON");
  command->callback([flags, &context] {
    if (Status status = Run(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
