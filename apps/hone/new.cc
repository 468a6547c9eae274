// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone new NAME --from kernel.cu: a task folder from a stand-alone kernel.
#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json_fields.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "hone/tuner/candidate.h"
#include "tuner/evaluate/lint/lint_command.h"
#include "tuner/interop/new_task.h"

namespace hone {
namespace {

struct NewFlags {
  NewTaskOptions options;
  std::string from, out, oracle, dims, grid, block;
  std::vector<std::string> kernels, shapes, dtypes, roles, scalars, values, cases, checks, multiples, lets, hidden,
      work;
  bool force = false, json = false, no_check = false;
};

// "a=b" at its first '='.
Result<std::pair<std::string, std::string>> Pair(const char* option, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return Status::InvalidArgument(fmt::format("{} {}: expected NAME=VALUE", option, text));
  }
  return std::pair{text.substr(0, equals), text.substr(equals + 1)};
}
Result<int64_t> Whole(const char* option, const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    return Status::InvalidArgument(fmt::format("{}: '{}' is no whole number", option, text));
  }
  return value;
}
std::vector<std::string> Parts(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else if (c != ' ' || depth > 0)
      parts.back() += c;
  }
  if (parts.size() == 1 && parts[0].empty()) parts.clear();
  return parts;
}
Result<Dims> ReadDims(const char* option, const std::string& text) {
  Dims dims;
  for (const std::string& part : Parts(text)) {
    HONE_ASSIGN_OR_RETURN(auto pair, Pair(option, part));
    HONE_ASSIGN_OR_RETURN(dims[pair.first], Whole(option, pair.second));
  }
  return dims;
}

// "k=1..8", "d=8..1024:8" (multiples of 8), "experts=128".
Result<std::pair<std::string, NewTaskOptions::HiddenRange>> ReadHidden(const std::string& text) {
  HONE_ASSIGN_OR_RETURN(auto pair, Pair("--hidden", text));
  NewTaskOptions::HiddenRange range;
  std::string rest = pair.second;
  if (const size_t colon = rest.find(':'); colon != std::string::npos) {
    HONE_ASSIGN_OR_RETURN(range.multiple, Whole("--hidden", rest.substr(colon + 1)));
    rest.resize(colon);
  }
  const size_t dots = rest.find("..");
  HONE_ASSIGN_OR_RETURN(range.low, Whole("--hidden", rest.substr(0, dots)));
  range.high = range.low;
  if (dots != std::string::npos) {
    HONE_ASSIGN_OR_RETURN(range.high, Whole("--hidden", rest.substr(dots + 2)));
  }
  if (range.high < range.low || range.multiple < 1) {
    return Status::InvalidArgument(
        fmt::format("--hidden {}: expected NAME=LOW..HIGH, NAME=LOW..HIGH:MULTIPLE or NAME=SIZE", text));
  }
  return std::pair{pair.first, range};
}

Status FillMore(NewFlags& flags) {
  NewTaskOptions& o = flags.options;
  for (const std::string& text : flags.lets) {
    HONE_ASSIGN_OR_RETURN(auto pair, Pair("--let", text));
    if (const Result<Expression> e = Expression::Parse(pair.second); !e.ok())
      return e.status().WithContext(fmt::format("--let {}", text));
    o.lets[pair.first] = pair.second;
  }
  for (const std::string& text : flags.hidden) {
    for (const std::string& part : Parts(text)) {
      HONE_ASSIGN_OR_RETURN(auto pair, ReadHidden(part));
      o.hidden[pair.first] = pair.second;
    }
  }
  for (const std::string& text : flags.work) {
    HONE_ASSIGN_OR_RETURN(auto pair, Pair("--work", text));
    if (pair.first != "bytes" && pair.first != "flops") {
      return Status::InvalidArgument(fmt::format("--work {}: expected bytes=EXPRESSION or flops=EXPRESSION", text));
    }
    if (const Result<Expression> e = Expression::Parse(pair.second); !e.ok())
      return e.status().WithContext(fmt::format("--work {}", text));
    o.work[pair.first] = pair.second;
  }
  return Status::Ok();
}

Status Fill(NewFlags& flags) {
  HONE_RETURN_IF_ERROR(FillMore(flags));
  NewTaskOptions& o = flags.options;
  if (o.name.empty() || std::isdigit(static_cast<unsigned char>(o.name[0])) != 0) {
    return Status::InvalidArgument(
        fmt::format("'{}' is no task name: letters, digits and underscores, no digit first", o.name));
  }
  for (const char c : o.name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') {
      return Status::InvalidArgument(
          fmt::format("'{}' is no task name: letters, digits and underscores, no digit first", o.name));
    }
  }
  if (!o.workload.empty() && !WorkloadClassFromName(o.workload)) {
    return Status::InvalidArgument(fmt::format(
        "--class {}: gemm, elementwise, reduction, convolution, attention, gather, graph or other", o.workload));
  }
  o.kernels = flags.kernels;
  o.dims = Parts(flags.dims);
  o.grid = Parts(flags.grid);
  o.block = Parts(flags.block);
  const auto pairs = [](const char* option, const std::vector<std::string>& texts,
                        std::map<std::string, std::string>& into) -> Status {
    for (const std::string& text : texts) {
      HONE_ASSIGN_OR_RETURN(auto pair, Pair(option, text));
      into[pair.first] = pair.second;
    }
    return Status::Ok();
  };
  HONE_RETURN_IF_ERROR(pairs("--shape", flags.shapes, o.shapes));
  HONE_RETURN_IF_ERROR(pairs("--dtype", flags.dtypes, o.dtypes));
  HONE_RETURN_IF_ERROR(pairs("--role", flags.roles, o.roles));
  HONE_RETURN_IF_ERROR(pairs("--values", flags.values, o.values));
  for (const std::string& text : flags.scalars) {
    HONE_ASSIGN_OR_RETURN(auto pair, Pair("--scalar", text));
    char* end = nullptr;
    o.scalars[pair.first] = std::strtod(pair.second.c_str(), &end);
    if (*end != '\0') return Status::InvalidArgument(fmt::format("--scalar {}: '{}' is no number", text, pair.second));
  }
  for (const std::string& text : flags.cases) {
    HONE_ASSIGN_OR_RETURN(Dims dims, ReadDims("--case", text));
    o.time_cases.push_back(dims);
  }
  for (const std::string& text : flags.checks) {
    HONE_ASSIGN_OR_RETURN(Dims dims, ReadDims("--check", text));
    o.check_cases.push_back(dims);
  }
  for (const std::string& text : flags.multiples) {
    HONE_ASSIGN_OR_RETURN(Dims dims, ReadDims("--multiple", text));
    for (const auto& [name, value] : dims) o.multiples[name] = value;
  }
  o.file = std::filesystem::path(flags.from).filename().string();
  if (!flags.oracle.empty()) {
    HONE_ASSIGN_OR_RETURN(o.oracle, ReadSource(flags.oracle));
    o.oracle_file = std::filesystem::path(flags.oracle).filename().string();
  }
  return Status::Ok();
}

std::vector<OpenQuestion> FindOpenQuestions(const std::string& out, const TaskDraft& draft) {
  std::vector<OpenQuestion> all;
  for (const auto& [name, text] :
       {std::pair{"task.toml", &draft.task_toml}, {"seed.cu", &draft.seed}, {"oracle.cu", &draft.oracle}}) {
    for (OpenQuestion& q : hone::FindOpenQuestions(*text, fmt::format("{}/{}", out, name))) all.push_back(std::move(q));
  }
  return all;
}

// Reads what was written, compiles oracle and seed for the simulated GPU and runs both on the check cases: the
// sentences that say what is wrong, none when all is well. Fails where this machine cannot do that.
Result<std::vector<std::string>> Check(CommandContext& context, const std::string& out) {
  std::vector<std::string> problems;
  const Result<Task> task = LoadTask(out);
  if (!task.ok()) return std::vector<std::string>{task.status().message()};
  for (const auto& [text, name, oracle] :
       {std::tuple{&task->seed_source, "seed.cu", false}, {&task->oracle_source, "oracle.cu", true}}) {
    const Status parsed = ParseCandidate(*text, fmt::format("{}/{}", out, name), *task, oracle).status();
    if (!parsed.ok()) problems.push_back(parsed.message());
  }
  if (!problems.empty()) return problems;
  HONE_RETURN_IF_ERROR(MakeCacheFolder(context));
  DeviceFlags device;
  device.device = "sim";
  HONE_ASSIGN_OR_RETURN(const LintOutcome outcome, LintOnDevice(*task, MakeEvaluatorOptions(context, device),
                                                                {.precision = false, .hidden_draws = 1}));
  return outcome.problems;
}

std::string_view Describe(const std::string& oracle_option, const TaskDraft& draft) {
  return draft.oracle.empty() ? "missing" : oracle_option.empty() ? "derived" : "given";
}

void PrintText(const NewFlags& flags, const TaskDraft& draft, const std::string& out) {
  Print("{}/task.toml, seed.cu{}\n", out, draft.oracle.empty() ? "" : ", oracle.cu");
  Print("\nInferred from {}; look it over:\n", flags.options.file);
  for (const std::string& line : draft.inferred) Print("  {}\n", line);
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

Status Run(CommandContext& context, NewFlags& flags) {
  HONE_RETURN_IF_ERROR(Fill(flags));
  HONE_ASSIGN_OR_RETURN(std::string source, ReadSource(flags.from));
  HONE_ASSIGN_OR_RETURN(TaskDraft draft, DraftTask(source, flags.options));
  const std::string out = flags.out.empty() ? "tasks/" + flags.options.name : flags.out;
  if (FileExists(out + "/task.toml") && !flags.force) {
    return Status::InvalidArgument(
        fmt::format("{} holds a task already; --force overwrites it, --out names another folder", out));
  }
  HONE_RETURN_IF_ERROR(WriteFileAtomically(out + "/task.toml", draft.task_toml));
  HONE_RETURN_IF_ERROR(WriteFileAtomically(out + "/seed.cu", draft.seed));
  if (!draft.oracle.empty()) HONE_RETURN_IF_ERROR(WriteFileAtomically(out + "/oracle.cu", draft.oracle));
  if (!flags.json) {
    PrintText(flags, draft, out);
    std::fflush(stdout);
  }

  // What is not complete cannot be compiled, and what cannot be compiled here is not called ready.
  const std::vector<OpenQuestion> unanswered = FindOpenQuestions(out, draft);
  const bool complete = unanswered.empty() && draft.questions.empty() && !draft.oracle.empty();
  std::vector<std::string> problems;
  std::string unchecked;
  if (complete && flags.no_check) unchecked = "--no-check";
  if (complete && !flags.no_check) {
    Result<std::vector<std::string>> checked = Check(context, out);
    if (checked.ok())
      problems = std::move(checked).value();
    else
      unchecked = checked.status().message();
  }
  const bool ready = complete && problems.empty() && unchecked.empty();
  context.exit_status = ready ? 0 : 1;
  if (flags.json) {
    nlohmann::json questions = nlohmann::json::array(), places = nlohmann::json::array();
    for (const TaskQuestion& q : draft.questions) questions.push_back({{"what", q.what}, {"answer", q.answer}});
    for (const OpenQuestion& u : unanswered) places.push_back({{"where", u.where}, {"line", u.line}});
    Print("{}\n", DumpJson(nlohmann::json{{"task", flags.options.name},
                                               {"directory", out},
                                               {"ready", ready},
                                               {"inferred", draft.inferred},
                                               {"questions", questions},
                                               {"unanswered", places},
                                               {"left_out", draft.left_out},
                                               {"oracle", Describe(flags.oracle, draft)},
                                               {"oracle_reasons", draft.oracle_reasons},
                                               {"problem", problems.empty() ? "" : problems[0]},
                                               {"problems", problems},
                                               {"unchecked", unchecked}},
                                2));
    return Status::Ok();
  }
  if (!draft.questions.empty()) {
    Print("\nTo be answered, by an option and --force:\n");
    for (const TaskQuestion& q : draft.questions) Print("  {:<60} {}\n", q.what, q.answer);
  }
  if (!unanswered.empty()) {
    Print("{}or in the files, where {} stands:\n", draft.questions.empty() ? "\nTo be answered " : "", kFillIn);
    for (const OpenQuestion& u : unanswered) Print("  {}: {}\n", u.where, u.line);
  }
  if (!problems.empty()) {
    Print("\nNot right yet. On the simulated GPU:\n");
    for (const std::string& problem : problems) Print("  {}\n", problem);
    if (flags.oracle.empty()) {
      Print(
          "Where oracle.cu is at fault, --oracle FILE derives it from a simpler kernel; where shapes are that the "
          "kernel does not serve, --multiple, --check and --hidden say which it does.\n");
    }
  }
  if (!unchecked.empty()) Print("\nOracle and seed were not compiled and run: {}\n", unchecked);
  Print("\n{}hone tasks check {}\n",
             ready ? "Oracle and seed compile, run and agree on the simulated GPU.\nNext: " : "Then: ", out);
  return Status::Ok();
}

}  // namespace

void RegisterNewCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<NewFlags>();
  NewTaskOptions& o = flags->options;
  CLI::App* command = app.add_subcommand("new", "make a task from a stand-alone .cu file");
  command->add_option("name", o.name, "name of the new task")->required();
  command->add_option("--from", flags->from, "the .cu file")->required();
  command->add_option("--out", flags->out, "folder to write to; by default tasks/NAME");
  command->add_option("--oracle", flags->oracle, "an oracle with its plan, or a simpler kernel to derive one from");
  command->add_option("--kernel", flags->kernels,
                      "take this kernel (may be given several times); by default all that are launched");
  command->add_option("--dims", flags->dims, "the dimensions, in order: rows,d");
  command->add_option("--shape", flags->shapes, "a tensor's shape: x=rows,2*d");
  command->add_option("--dtype", flags->dtypes, "a tensor's dtype: x=float16");
  command->add_option("--role", flags->roles, "a tensor's role: x=in, out, inout or workspace");
  command->add_option("--values", flags->values, "how an input is drawn: x=uniform, ids=index:vocabulary");
  command->add_option("--scalar", flags->scalars, "a number's value: eps=1e-6");
  command->add_option("--case", flags->cases, "a case to be timed: rows=128,d=4096");
  command->add_option("--check", flags->checks, "a case to be checked, instead of the usual ones: rows=3,d=5");
  command->add_option("--hidden", flags->hidden,
                      "where hidden cases draw a dimension from: k=1..8, d=8..1024:8 (multiples of 8), experts=128");
  command->add_option("--let", flags->lets,
                      "a size of the code that follows from others: num_heads=group*num_kv_heads");
  command->add_option(
      "--work", flags->work,
      "the work of one launch, over the dimensions: flops=EXPRESSION, or bytes=EXPRESSION where that is "
      "not the sum over the tensors");
  command->add_option("--multiple", flags->multiples, "what the kernel asks of a dimension: d=8");
  command->add_option("--template", o.template_args, "template arguments of the kernel: \"float, 256\"");
  command->add_option("--grid", flags->grid, "the grid, where no launch tells: \"ceil_div(n, 256)\"");
  command->add_option("--block", flags->block, "the block");
  command->add_option("--shared", o.shared, "dynamic shared memory, bytes");
  command->add_option("--class", o.workload,
                      "gemm, elementwise, reduction, convolution, attention, gather, graph or other");
  command->add_option("--slice", o.slice, "a dimension along which results are independent");
  command->add_option("--summary", o.summary, "what the kernel computes, in one line");
  command->add_option("--no-stress", o.no_stress, "draw this tensor from its own distribution alone (several times)");
  command->add_flag("--no-check", flags->no_check, "do not compile and run oracle and seed on the simulated GPU");
  command->add_flag("--force", flags->force, "overwrite a task that is there");
  command->add_flag("--json", flags->json, "write JSON");
  command->callback([flags, &context] {
    if (Status status = Run(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
