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
#include "tuner/interop/new_task.h"

namespace hone {
namespace {

struct NewFlags {
  NewTaskOptions options;
  std::string from, out, oracle, dims, grid, block;
  std::vector<std::string> kernels, shapes, dtypes, roles, scalars, values, cases, checks, multiples;
  bool force = false, json = false;
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

Status Fill(NewFlags& flags) {
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

// What `hone tasks check` would say first, without running anything.
Status Parses(const TaskDraft& draft, const std::string& name) {
  HONE_ASSIGN_OR_RETURN(Task task, ParseTask(draft.task_toml, name + "/task.toml"));
  HONE_RETURN_IF_ERROR(ParseCandidate(draft.seed, name + "/seed.cu", task).status());
  if (draft.oracle.empty()) return Status::Ok();
  return ParseCandidate(draft.oracle, name + "/oracle.cu", task, true).status();
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
  const Status parses = Parses(draft, out);
  const bool ready = draft.questions.empty() && !draft.oracle.empty() && parses.ok();
  context.exit_status = ready ? 0 : 1;
  if (flags.json) {
    nlohmann::json questions = nlohmann::json::array();
    for (const TaskQuestion& q : draft.questions) questions.push_back({{"what", q.what}, {"answer", q.answer}});
    Print("{}\n", DumpJson(nlohmann::json{{"task", flags.options.name},
                                          {"directory", out},
                                          {"ready", ready},
                                          {"inferred", draft.inferred},
                                          {"questions", questions},
                                          {"oracle", draft.oracle.empty()   ? "missing"
                                                     : flags.oracle.empty() ? "derived"
                                                                            : "given"},
                                          {"oracle_reasons", draft.oracle_reasons},
                                          {"problem", parses.ok() ? "" : parses.message()}},
                           2));
    return Status::Ok();
  }
  Print("{}/task.toml, seed.cu{}\n", out, draft.oracle.empty() ? "" : ", oracle.cu");
  Print("\nInferred from {}; look it over:\n", flags.options.file);
  for (const std::string& line : draft.inferred) Print("  {}\n", line);
  if (!draft.oracle.empty() && flags.oracle.empty()) {
    Print(
        "  oracle: the kernel itself, mechanically in double. What the kernel gets wrong, this oracle gets wrong as "
        "well:\n"
        "          add [[hand]] cases to task.toml, or give a simpler kernel with --oracle FILE\n");
  }
  if (draft.oracle.empty()) {
    Print("\nThere is no oracle.cu: the kernel cannot be turned into double mechanically, because of\n");
    for (const std::string& reason : draft.oracle_reasons) Print("  {}\n", reason);
    Print("Give a plain kernel of the same signature, or a whole oracle, with --oracle FILE (docs/interop.md).\n");
  }
  if (!draft.questions.empty()) {
    Print("\nTo be answered (FILL_IN in the files, or an option and --force):\n");
    for (const TaskQuestion& q : draft.questions) Print("  {:<60} {}\n", q.what, q.answer);
  } else if (!parses.ok()) {
    Print("\nNot right yet: {}\n", parses.message());
  }
  Print("\nNext: hone tasks check {}\n", out);
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
  command->add_option("--multiple", flags->multiples, "what the kernel asks of a dimension: d=8");
  command->add_option("--template", o.template_args, "template arguments of the kernel: \"float, 256\"");
  command->add_option("--grid", flags->grid, "the grid, where no launch tells: \"ceil_div(n, 256)\"");
  command->add_option("--block", flags->block, "the block");
  command->add_option("--shared", o.shared, "dynamic shared memory, bytes");
  command->add_option("--class", o.workload,
                      "gemm, elementwise, reduction, convolution, attention, gather, graph or other");
  command->add_option("--slice", o.slice, "a dimension along which results are independent");
  command->add_option("--summary", o.summary, "what the kernel computes, in one line");
  command->add_flag("--force", flags->force, "overwrite a task that is there");
  command->add_flag("--json", flags->json, "write JSON");
  command->callback([flags, &context] {
    if (Status status = Run(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
