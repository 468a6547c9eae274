// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/prepare_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <tuple>

#include "base/files/file.h"
#include "hone/tuner/candidate.h"
#include "tuner/core/plan/dims_text.h"
#include "tuner/evaluate/lint/lint_command.h"
#include "tuner/workbench/draft_tolerance.h"

namespace hone {
namespace {

// Splits "a=b" at its first '='.
Result<std::pair<std::string, std::string>> Pair(const char* option, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return Status::InvalidArgument(fmt::format("{} {}: expected NAME=VALUE", option, text));
  }
  return std::pair{text.substr(0, equals), text.substr(equals + 1)};
}

// Parses a whole number, zero or more; `option` names it in errors.
Result<int64_t> ParseWholeNumber(const char* option, const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    return Status::InvalidArgument(fmt::format("{}: '{}' is no whole number", option, text));
  }
  return value;
}

// Splits the text at its commas outside of parentheses, and drops blanks outside of them.
std::vector<std::string> SplitAtCommas(const std::string& text) {
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
// Reads a range such as "k=1..8", "d=8..1024:8" (multiples of 8) or "experts=128".
Result<std::pair<std::string, NewTaskOptions::HiddenRange>> ReadHidden(const std::string& text) {
  HONE_ASSIGN_OR_RETURN(auto pair, Pair("--hidden", text));
  NewTaskOptions::HiddenRange range;
  std::string paired_text = pair.second;
  if (const size_t colon = paired_text.find(':'); colon != std::string::npos) {
    HONE_ASSIGN_OR_RETURN(range.multiple, ParseWholeNumber("--hidden", paired_text.substr(colon + 1)));
    paired_text.resize(colon);
  }
  const size_t dots = paired_text.find("..");
  HONE_ASSIGN_OR_RETURN(range.low, ParseWholeNumber("--hidden", paired_text.substr(0, dots)));
  range.high = range.low;
  if (dots != std::string::npos) {
    HONE_ASSIGN_OR_RETURN(range.high, ParseWholeNumber("--hidden", paired_text.substr(dots + 2)));
  }
  if (range.high < range.low || range.multiple < 1) {
    return Status::InvalidArgument(
        fmt::format("--hidden {}: expected NAME=LOW..HIGH, NAME=LOW..HIGH:MULTIPLE or NAME=SIZE", text));
  }
  return std::pair{pair.first, range};
}

Status FillMore(const TaskAnswers& flags, NewTaskOptions& o) {
  for (const std::string& text : flags.lets) {
    HONE_ASSIGN_OR_RETURN(auto pair, Pair("--let", text));
    if (const Result<Expression> e = Expression::Parse(pair.second); !e.ok())
      return e.status().WithContext(fmt::format("--let {}", text));
    o.lets[pair.first] = pair.second;
  }
  for (const std::string& text : flags.hidden) {
    for (const std::string& part : SplitAtCommas(text)) {
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

Status Fill(const TaskAnswers& flags, NewTaskOptions& o) {
  HONE_RETURN_IF_ERROR(FillMore(flags, o));
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
  o.dims = SplitAtCommas(flags.dims);
  o.grid = SplitAtCommas(flags.grid);
  o.block = SplitAtCommas(flags.block);
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
    HONE_ASSIGN_OR_RETURN(Dims dims, ParseDims("--case", text, 0));
    o.time_cases.push_back(dims);
  }
  for (const std::string& text : flags.checks) {
    HONE_ASSIGN_OR_RETURN(Dims dims, ParseDims("--check", text, 0));
    o.check_cases.push_back(dims);
  }
  for (const std::string& text : flags.multiples) {
    HONE_ASSIGN_OR_RETURN(Dims dims, ParseDims("--multiple", text, 1));
    for (const auto& [name, value] : dims) o.multiples[name] = value;
  }
  o.file = flags.file;
  o.oracle = flags.oracle;
  o.oracle_file = flags.oracle_file;
  return Status::Ok();
}

std::vector<OpenQuestion> OpenQuestionsOf(const std::string& out, const TaskDraft& draft) {
  std::vector<OpenQuestion> open_questions;
  for (const auto& [name, text] :
       {std::pair{"task.toml", &draft.task_toml}, {"seed.cu", &draft.seed}, {"oracle.cu", &draft.oracle}}) {
    for (OpenQuestion& q : hone::FindOpenQuestions(*text, fmt::format("{}/{}", out, name)))
      open_questions.push_back(std::move(q));
  }
  return open_questions;
}

// A DraftCheck is the result of trying a draft.
struct DraftCheck {
  std::vector<std::string> problems;         // sentences that say what is wrong; empty: nothing
  Task task;                                 // as it was read; empty if it could not be
  std::vector<OutputPrecision> precision;    // errors of the kernel, and of the oracle in float32
  std::vector<CancellingOutput> cancelling;  // outputs that need an `abs`
  std::string nan_answer;                    // a sentence: TaskReport::nan_answer
};

// Reads the written task, and adds what cannot be parsed to `problems`.
Result<Task> ReadDraft(const std::string& out, std::vector<std::string>& problems) {
  Result<Task> task = LoadTask(out);
  if (!task.ok()) {
    problems.push_back(task.status().message());
    return task;
  }
  for (const auto& [text, name, oracle] :
       {std::tuple{&task->seed_source, "seed.cu", false}, {&task->oracle_source, "oracle.cu", true}}) {
    const Status parsed = ParseCandidate(*text, fmt::format("{}/{}", out, name), *task, oracle).status();
    if (!parsed.ok()) problems.push_back(parsed.message());
  }
  return task;
}

// Reads the written task, compiles oracle and seed for the simulated GPU, and runs both on the check cases. Returns an
// error if this machine cannot do that.
Result<DraftCheck> CheckDraft(const EvaluatorOptions& evaluator, const std::string& out) {
  std::vector<std::string> problems;
  const Result<Task> task = ReadDraft(out, problems);
  if (!problems.empty()) return DraftCheck{std::move(problems), {}, {}, {}, {}};
  EvaluatorOptions options = evaluator;
  options.device = "sim";
  HONE_ASSIGN_OR_RETURN(const LintOutcome outcome,
                        LintOnDevice(*task, options, {.dishonest = false, .hidden_draws = 1}));
  return DraftCheck{outcome.problems, *task, outcome.precision, outcome.cancelling, outcome.nan_answer};
}

// Writes the proposed `abs` below c_rms of each output into task.toml, and adds it to draft.inferred.
Status WriteAbs(const std::vector<CancellingOutput>& cancelling, const std::string& path, TaskDraft& draft) {
  for (const CancellingOutput& one : cancelling) {
    const size_t section = draft.task_toml.find(fmt::format("[tolerance.{}]", one.output));
    const size_t limit = section == std::string::npos ? section : draft.task_toml.find("\nc_rms", section);
    const size_t end = limit == std::string::npos ? limit : draft.task_toml.find('\n', limit + 1);
    HONE_CHECK(end != std::string::npos, "a draft has a c_rms for each output");
    draft.task_toml.insert(end + 1,
                           fmt::format("abs = {:.0e}  # inferred: where results cancel, float kernels keep no digits\n",
                                       one.proposed_abs));
    draft.inferred.push_back(
        fmt::format("{0}: abs = {1:.0e}, for it cancels: where it is {2:.3g} the kernel is off by {3:.2g}", one.output,
                    one.proposed_abs, one.value, one.error));
  }
  return WriteFileAtomically(path, draft.task_toml);
}

// Returns whether a problem says only that the tolerance is too narrow.
bool IsAboutTolerance(const std::string& problem) {
  return problem.find(": an honest ") != std::string::npos ||
         problem.find("leaves too little room") != std::string::npos;
}

// Fits the written tolerance to the errors that the check has measured, and returns the check of the result. Keeps the
// tolerance as it is where the task has other problems, or gets some.
Result<DraftCheck> FitTolerance(const EvaluatorOptions& evaluator, const DraftCheck& checked, PreparedTask& prepared) {
  if (!std::all_of(checked.problems.begin(), checked.problems.end(), IsAboutTolerance)) return checked;
  const std::string path = prepared.directory + "/task.toml", before = prepared.draft.task_toml;
  const FittedTolerance fitted = FitTolerance(checked.task, checked.precision, before);
  if (fitted.lines.empty()) return checked;
  HONE_RETURN_IF_ERROR(WriteFileAtomically(path, fitted.task_toml));
  Result<DraftCheck> again = checked;
  if (fitted.wider) again = CheckDraft(evaluator, prepared.directory);  // a narrower limit leaves room for all that ran
  if (!again.ok() || (!again->problems.empty() && checked.problems.empty())) {
    HONE_RETURN_IF_ERROR(WriteFileAtomically(path, before));
    return checked;
  }
  prepared.draft.task_toml = fitted.task_toml;
  for (const std::string& line : fitted.lines) {
    prepared.draft.inferred.push_back(line);
    prepared.inferred_late.push_back(line);
  }
  return again;
}

}  // namespace

Result<PreparedTask> PrepareTask(const TaskAnswers& answers, const std::string& source, const TaskPlace& place) {
  const std::string& directory = place.directory;
  PreparedTask prepared;
  prepared.options = answers.options;
  prepared.directory = directory;
  HONE_RETURN_IF_ERROR(Fill(answers, prepared.options));
  HONE_ASSIGN_OR_RETURN(prepared.draft, DraftTask(source, prepared.options));
  const TaskDraft& draft = prepared.draft;
  if (FileExists(directory + "/task.toml") && !place.overwrite) {
    return Status::InvalidArgument(fmt::format("{} holds a task already; {}", directory, place.remedy));
  }
  HONE_RETURN_IF_ERROR(WriteFileAtomically(directory + "/task.toml", draft.task_toml));
  HONE_RETURN_IF_ERROR(WriteFileAtomically(directory + "/seed.cu", draft.seed));
  if (!draft.oracle.empty()) HONE_RETURN_IF_ERROR(WriteFileAtomically(directory + "/oracle.cu", draft.oracle));
  prepared.unanswered = OpenQuestionsOf(directory, draft);
  prepared.complete = prepared.unanswered.empty() && draft.questions.empty() && !draft.oracle.empty();
  prepared.oracle = draft.oracle.empty() ? "missing" : answers.oracle ? "given" : "derived";
  return prepared;
}

void ReadPrepared(PreparedTask& prepared) {
  if (prepared.complete) (void)ReadDraft(prepared.directory, prepared.problems);
}

void CheckPrepared(const EvaluatorOptions& evaluator, PreparedTask& prepared) {
  // An incomplete draft cannot be compiled. It keeps `unchecked`, so that it does not count as ready.
  if (!prepared.complete) return;
  Result<DraftCheck> checked = CheckDraft(evaluator, prepared.directory);
  if (checked.ok() && !checked->cancelling.empty()) {
    const size_t before = prepared.draft.inferred.size();
    const Status write_status = WriteAbs(checked->cancelling, prepared.directory + "/task.toml", prepared.draft);
    if (!write_status.ok()) {
      prepared.unchecked = write_status.message();
      return;
    }
    prepared.inferred_late.assign(prepared.draft.inferred.begin() + static_cast<ptrdiff_t>(before),
                                  prepared.draft.inferred.end());
    checked = CheckDraft(evaluator, prepared.directory);
  }
  if (checked.ok()) {
    checked = FitTolerance(evaluator, *checked, prepared);
  }
  if (checked.ok()) {
    if (!checked->nan_answer.empty()) {
      prepared.draft.inferred.push_back(checked->nan_answer);
      prepared.inferred_late.push_back(checked->nan_answer);
    }
    prepared.problems = std::move(checked->problems);
    prepared.unchecked.clear();
  } else {
    prepared.unchecked = checked.status().message();
  }
}

nlohmann::json PreparedJson(const PreparedTask& prepared) {
  const TaskDraft& draft = prepared.draft;
  nlohmann::json questions = nlohmann::json::array(), places = nlohmann::json::array();
  for (const TaskQuestion& q : draft.questions) questions.push_back({{"what", q.what}, {"answer", q.answer}});
  for (const OpenQuestion& u : prepared.unanswered) places.push_back({{"where", u.where}, {"line", u.line}});
  return {{"task", prepared.options.name},
          {"directory", prepared.directory},
          {"ready", prepared.ready()},
          {"inferred", draft.inferred},
          {"guessed", draft.guessed},
          {"questions", questions},
          {"unanswered", places},
          {"left_out", draft.left_out},
          {"oracle", prepared.oracle},
          {"oracle_reasons", draft.oracle_reasons},
          {"problem", prepared.problems.empty() ? "" : prepared.problems[0]},
          {"problems", prepared.problems},
          {"unchecked", prepared.unchecked}};
}

}  // namespace hone
