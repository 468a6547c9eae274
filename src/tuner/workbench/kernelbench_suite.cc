// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/kernelbench_suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>
#include <tuple>

#include "base/files/file.h"
#include "base/text/json_fields.h"
#include "base/text/markup.h"
#include "tuner/report/page.h"

namespace hone {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kSpeeds[] = {0, 0.8, 1, 1.5, 2};

// Returns the Python files of a folder.
std::vector<fs::path> PythonFiles(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".py" && entry.is_regular_file(error)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Returns the path of a problem's file, levelL/P_*.py; empty if there is none.
std::string ProblemFile(const fs::path& problems, int level, int problem) {
  for (const fs::path& folder : {problems / fmt::format("level{}", level), problems / "KernelBench" / fmt::format("level{}", level)}) {
    for (const fs::path& file : PythonFiles(folder)) {
      if (file.filename().string().starts_with(fmt::format("{}_", problem))) return file.string();
    }
  }
  return "";
}

std::string TaskName(const std::string& stem) {
  std::string name = stem.empty() || (stem[0] >= '0' && stem[0] <= '9') ? "problem_" : "";
  for (const char c : stem) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

json IntervalJson(const Interval& interval) {
  return {{"median", interval.median}, {"low", interval.low}, {"high", interval.high}};
}

// Reads {median, low, high} into `target`.
void ReadInterval(JsonFields& fields, const char* name, std::optional<Interval>* target) {
  fields.Object(name, [&](JsonFields& one) {
    Interval& interval = target->emplace();
    one.Require("median", interval.median);
    one.Require("low", interval.low);
    one.Require("high", interval.high);
  });
}

std::string SpeedupWithInterval(const std::optional<Interval>& speedup) {
  return speedup ? fmt::format("{:.2f}x [{:.2f}, {:.2f}]", speedup->median, speedup->low, speedup->high) : "-";
}

// Returns the summary of one level's results. `timed` and `compiled` are as for SummarizeSuite.
SuiteSummary SummarizeLevel(int level, const std::vector<const SuiteResult*>& results, bool timed, bool compiled) {
  SuiteSummary summary;
  summary.level = level;
  summary.submissions = static_cast<int>(results.size());
  const auto over = [&](std::optional<Interval> SuiteResult::*speedup, std::optional<double>* geomean, std::optional<double>* median,
                        std::map<double, double>* fast) {
    double logs = 0;
    std::vector<double> speedups;
    std::map<double, int> faster;
    for (const SuiteResult* result : results) {
      if (result->verdict != "ok") continue;
      ++faster[0];
      const std::optional<Interval>& stored_speedup = result->*speedup;
      if (!stored_speedup || !(stored_speedup->median > 0)) continue;
      for (const double p : kSpeeds) faster[p] += p > 0 && stored_speedup->median > p ? 1 : 0;
      if (!result->label.empty()) continue;
      logs += std::log(stored_speedup->median);
      speedups.push_back(stored_speedup->median);
    }
    if (!speedups.empty()) {
      *geomean = std::exp(logs / static_cast<double>(speedups.size()));
      std::sort(speedups.begin(), speedups.end());
      const size_t middle = speedups.size() / 2;
      *median = speedups.size() % 2 == 1 ? speedups[middle] : (speedups[middle - 1] + speedups[middle]) / 2;
    }
    for (const double p : kSpeeds) {
      if (p == 0 || timed) (*fast)[p] = results.empty() ? 0 : static_cast<double>(faster[p]) / static_cast<double>(results.size());
    }
  };
  over(&SuiteResult::over_eager, &summary.geomean_eager, &summary.median_eager, &summary.fast_eager);
  if (compiled) over(&SuiteResult::over_compiled, &summary.geomean_compiled, &summary.median_compiled, &summary.fast_compiled);
  summary.labelled = static_cast<int>(
      std::count_if(results.begin(), results.end(), [](const SuiteResult* r) { return r->verdict == "ok" && !r->label.empty(); }));
  summary.ok = static_cast<int>(std::count_if(results.begin(), results.end(), [](const SuiteResult* r) { return r->verdict == "ok"; }));
  summary.lifted = static_cast<int>(std::count_if(results.begin(), results.end(), [](const SuiteResult* r) { return r->guarantee == "lifted"; }));
  return summary;
}

// Returns how many modules were lifted and how many were hosted; empty if no finished module was judged.
std::string GuaranteesText(const std::vector<SuiteResult>& results) {
  const auto count = [&](std::string_view guarantee) {
    return std::count_if(results.begin(), results.end(), [&](const SuiteResult& result) { return result.guarantee == guarantee; });
  };
  const auto lifted = count("lifted"), hosted = count("weaker: hosted");
  if (lifted + hosted == 0) return "";
  const auto labelled = std::count_if(results.begin(), results.end(), [](const SuiteResult& one) { return one.verdict == "ok" && !one.label.empty(); });
  return fmt::format("{} lifted (times of the GPU's work alone), {} hosted (times with the host's part, and a weaker guarantee){}", lifted, hosted,
                     labelled == 0 ? "" : fmt::format("; {} with the same number everywhere as the right answer, which means and medians leave out", labelled));
}

std::string SpeedupText(const std::optional<double>& speedup) { return speedup ? fmt::format("{:.3f}x", *speedup) : "-"; }

std::string FastText(const std::map<double, double>& fast) {
  std::string text;
  for (const auto& [p, share] : fast) text += fmt::format(" {:>6.1f} %", 100 * share);
  return text;
}

}  // namespace

Result<std::vector<SuiteSubmission>> FindSubmissions(const std::string& problems, const std::string& submissions) {
  std::error_code error;
  for (const std::string& folder : {problems, submissions}) {
    if (!fs::is_directory(folder, error)) return Status::InvalidArgument(fmt::format("{} is no folder", folder));
  }
  static const std::regex form("level_(\\d{1,3})_problem_(\\d{1,6})_sample_(\\d{1,6})_kernel");
  std::vector<SuiteSubmission> read_submissions;
  for (const fs::path& file : PythonFiles(submissions)) {
    SuiteSubmission one;
    one.name = file.stem().string();
    one.file = file.string();
    std::smatch match;
    if (std::regex_match(one.name, match, form)) {
      one.level = std::atoi(match[1].str().c_str());
      one.problem = std::atoi(match[2].str().c_str());
      one.sample = std::atoi(match[3].str().c_str());
      one.problem_file = ProblemFile(problems, one.level, one.problem);
      one.task = fmt::format("level{}_{}", one.level, one.problem);
    } else if (FileExists((fs::path(problems) / file.filename()).string())) {
      one.problem_file = (fs::path(problems) / file.filename()).string();
      one.task = TaskName(one.name);
    } else {
      continue;
    }
    read_submissions.push_back(std::move(one));
  }
  if (read_submissions.empty()) {
    return Status::InvalidArgument(fmt::format("{} holds no submission: name them level_1_problem_19_sample_0_kernel.py, or as the "
                                               "problem's file in {}", submissions, problems));
  }
  std::sort(read_submissions.begin(), read_submissions.end(), [](const SuiteSubmission& a, const SuiteSubmission& b) {
    return std::tie(a.level, a.problem, a.sample, a.name) < std::tie(b.level, b.problem, b.sample, b.name);
  });
  return read_submissions;
}

Result<std::vector<SuiteSubmission>> FindProblems(const std::string& problems) {
  std::error_code error;
  if (!fs::is_directory(problems, error)) return Status::InvalidArgument(fmt::format("{} is no folder", problems));
  static const std::regex level_form("level(\\d{1,3})"), file_form("(\\d{1,6})_.*");
  std::vector<SuiteSubmission> submissions;
  for (const fs::path& folder : {fs::path(problems), fs::path(problems) / "KernelBench"}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      std::smatch level, number;
      const std::string name = entry.path().filename().string();
      if (!entry.is_directory(error) || !std::regex_match(name, level, level_form)) continue;
      for (const fs::path& file : PythonFiles(entry.path())) {
        const std::string stem = file.stem().string();
        if (!std::regex_match(stem, number, file_form)) continue;
        SuiteSubmission& one = submissions.emplace_back();
        one.level = std::atoi(level[1].str().c_str());
        one.problem = std::atoi(number[1].str().c_str());
        one.name = one.task = fmt::format("level{}_{}", one.level, one.problem);
        one.problem_file = file.string();
      }
    }
  }
  if (submissions.empty()) {
    for (const fs::path& file : PythonFiles(problems)) {
      SuiteSubmission& one = submissions.emplace_back();
      one.name = one.task = TaskName(file.stem().string());
      one.problem_file = file.string();
    }
  }
  if (submissions.empty()) {
    return Status::InvalidArgument(fmt::format("{} holds no problem: name a checkout of KernelBench, or a folder with level1/19_*.py or "
                                               "with the problems' files", problems));
  }
  std::sort(submissions.begin(), submissions.end(), [](const SuiteSubmission& a, const SuiteSubmission& b) {
    return std::tie(a.level, a.problem, a.name) < std::tie(b.level, b.problem, b.name);
  });
  return submissions;
}

// Turns an evaluation into a row of the suite's results.
SuiteResult ResultOf(const SuiteSubmission& submission, const Evaluation& evaluation) {
  SuiteResult result;
  result.submission = submission;
  result.verdict = VerdictName(evaluation.verdict);
  result.detail = evaluation.detail;
  result.seconds = evaluation.wall_seconds;
  result.device = evaluation.device;
  result.guarantee = evaluation.guarantee;
  for (const Finding& finding : evaluation.findings) {
    if (finding.kind == "not_lifted") result.why = finding.message;
    if (finding.kind == "constant_output") result.label = finding.kind;
    // The table shows beside an `ok` what this verdict cannot tell, and why its times were corrected.
    const bool shown =
        finding.kind == "constant_weight" || finding.kind == "early_work" || finding.kind == "slowed_baseline";
    if (shown && result.detail.empty()) result.detail = finding.message;
  }
  if (!evaluation.cases.empty()) {  // a problem's task has one timed case
    const CaseResult& c = evaluation.cases.front();
    if (evaluation.baseline == "torch_eager") result.over_eager = c.speedup;
    if (c.time_us) result.time_us = c.time_us->median;
    if (evaluation.baseline == "torch_eager") result.eager_us = c.baseline_us;
    for (const LibraryResult& library : c.libraries) {
      if (library.name == "torch_compiled") result.over_compiled = library.speedup;
      // For a kernel, the incumbent is the task's seed, and eager PyTorch is timed as a library.
      if (library.name == "torch_eager" && evaluation.baseline != "torch_eager") {
        result.over_eager = library.speedup;
        result.eager_us = library.time_us;
      }
    }
  }
  return result;
}

std::string SuiteResultToJson(const SuiteResult& result) {
  json out = {{"submission", result.submission.name}, {"level", result.submission.level}, {"problem", result.submission.problem},
              {"sample", result.submission.sample}, {"verdict", result.verdict}, {"detail", result.detail}, {"key", result.key},
              {"seconds", result.seconds}, {"device", result.device}, {"guarantee", result.guarantee}};
  if (!result.why.empty()) out["not_lifted"] = result.why;
  if (!result.label.empty()) out["label"] = result.label;
  if (!result.run.empty()) {
    out["search"] = {{"run", result.run}, {"ended", result.ended}, {"attempts", result.attempts}, {"tokens", result.tokens}, {"minutes", result.minutes}};
  }
  if (result.time_us) out["time_us"] = *result.time_us;
  if (result.eager_us) out["eager_us"] = *result.eager_us;
  if (result.over_eager) out["over_eager"] = IntervalJson(*result.over_eager);
  if (result.over_compiled) out["over_compiled"] = IntervalJson(*result.over_compiled);
  return DumpJson(out, 2) + "\n";
}

Result<SuiteResult> LoadSuiteResult(const std::string& path, const SuiteSubmission& submission, const std::string& key) {
  if (!FileExists(path)) return Status::NotFound(path);
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  HONE_ASSIGN_OR_RETURN(const json object, ParseJson(text, path));
  JsonFields fields(object, path);
  SuiteResult result;
  result.submission = submission;
  fields.Require("verdict", result.verdict);
  fields.Require("key", result.key);
  fields.Read("detail", result.detail);
  fields.Read("seconds", result.seconds);
  fields.Read("device", result.device);
  fields.Read("guarantee", result.guarantee);
  fields.Read("not_lifted", result.why);
  fields.Read("label", result.label);
  fields.Read("time_us", result.time_us);
  fields.Read("eager_us", result.eager_us);
  ReadInterval(fields, "over_eager", &result.over_eager);
  ReadInterval(fields, "over_compiled", &result.over_compiled);
  fields.Object("search", [&](JsonFields& search) {
    search.Read("run", result.run);
    search.Read("ended", result.ended);
    search.Read("attempts", result.attempts);
    search.Read("tokens", result.tokens);
    search.Read("minutes", result.minutes);
  });
  if (!fields.ok()) return fields.status();
  if (result.key != key) return Status::NotFound(path + " is about another text");
  return result;
}

std::vector<SuiteSummary> SummarizeSuite(const std::vector<SuiteResult>& results, bool timed, bool compiled) {
  std::set<int> levels;
  for (const SuiteResult& result : results) levels.insert(result.submission.level);
  std::vector<SuiteSummary> summaries;
  const auto add = [&](int level) {
    std::vector<const SuiteResult*> chosen;
    for (const SuiteResult& result : results) {
      if (level < 0 || result.submission.level == level) chosen.push_back(&result);
    }
    summaries.push_back(SummarizeLevel(level, chosen, timed, compiled));
  };
  for (const int level : levels) add(level);
  if (levels.size() != 1) add(-1);
  return summaries;
}

std::string SuiteTable(const std::vector<SuiteResult>& results, const std::vector<SuiteSummary>& summaries) {
  const bool searched = std::any_of(results.begin(), results.end(), [](const SuiteResult& result) { return !result.run.empty(); });
  std::string out = fmt::format("{:<{}} {:<15} {:<15} {:>20} {:>20} {:>8}{}\n", searched ? "problem" : "submission", searched ? 16 : 44, "verdict",
                                "guarantee", "over eager (95 %)", "over compile (95 %)", "seconds",
                                searched ? fmt::format(" {:>8} {:>10} {:>8}", "attempts", "tokens", "minutes") : "");
  for (const SuiteResult& result : results) {
    out += fmt::format(
        "{:<{}} {:<15} {:<15} {:>20} {:>20} {:>8.1f}{}\n", result.submission.name, searched ? 16 : 44, result.verdict,
        result.guarantee, SpeedupWithInterval(result.over_eager), SpeedupWithInterval(result.over_compiled),
        result.seconds,
        searched ? fmt::format(" {:>8} {:>10} {:>8.1f}", result.attempts, result.tokens, result.minutes) : "");
  }
  const auto part = [&](const char* over, auto geomean, auto median, auto fast) {
    bool any = false;
    for (const SuiteSummary& summary : summaries) any = any || !(summary.*fast).empty();
    if (!any) return;
    out += fmt::format("\n{:<18} {:>11} {:>6} {:>9} {:>9}", fmt::format("over {}", over), searched ? "problems" : "submissions", "right", "geomean", "median");
    for (const auto& [p, share] : summaries.front().*fast) out += fmt::format(" {:>8}", fmt::format("fast_{:g}", p));
    out += "\n";
    for (const SuiteSummary& summary : summaries) {
      out += fmt::format("{:<18} {:>11} {:>6} {:>9} {:>9}{}\n", summary.level < 0 ? "all" : fmt::format("level {}", summary.level), summary.submissions,
                         summary.ok, SpeedupText(summary.*geomean), SpeedupText(summary.*median), FastText(summary.*fast));
    }
  };
  part("eager", &SuiteSummary::geomean_eager, &SuiteSummary::median_eager, &SuiteSummary::fast_eager);
  part("torch.compile", &SuiteSummary::geomean_compiled, &SuiteSummary::median_compiled, &SuiteSummary::fast_compiled);
  if (const std::string guarantees = GuaranteesText(results); !guarantees.empty()) out += "\n" + guarantees + "\n";
  return out;
}

std::string SuitePage(const std::string& title, const std::string& conditions, const std::vector<SuiteResult>& results,
                      const std::vector<SuiteSummary>& summaries) {
  const bool searched = std::any_of(results.begin(), results.end(), [](const SuiteResult& result) { return !result.run.empty(); });
  std::string body = fmt::format("<h1>{}</h1>\n<p>{}</p>\n", EscapeMarkup(title), EscapeMarkup(conditions));
  const auto part = [&](const char* over, auto geomean, auto median, auto fast) {
    bool any = false;
    for (const SuiteSummary& summary : summaries) any = any || !(summary.*fast).empty();
    if (!any) return;
    body += fmt::format("<h2>Over {}</h2>\n<table>\n<tr><th>level</th><th>{}</th><th>right</th><th>geometric mean</th><th>median</th>", over,
                        searched ? "problems" : "submissions");
    for (const auto& [p, share] : summaries.front().*fast) body += fmt::format("<th>fast<sub>{:g}</sub></th>", p);
    body += "</tr>\n";
    for (const SuiteSummary& summary : summaries) {
      body += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>", summary.level < 0 ? "all" : std::to_string(summary.level),
                          summary.submissions, summary.ok, SpeedupText(summary.*geomean), SpeedupText(summary.*median));
      for (const auto& [p, share] : summary.*fast) body += fmt::format("<td>{:.1f} %</td>", 100 * share);
      body += "</tr>\n";
    }
    body += "</table>\n";
  };
  part("eager PyTorch", &SuiteSummary::geomean_eager, &SuiteSummary::median_eager, &SuiteSummary::fast_eager);
  part("torch.compile", &SuiteSummary::geomean_compiled, &SuiteSummary::median_compiled, &SuiteSummary::fast_compiled);
  if (const std::string guarantees = GuaranteesText(results); !guarantees.empty())
    body += fmt::format("<p>{}</p>\n", EscapeMarkup(guarantees));
  body += fmt::format("<h2>{}</h2>\n<table>\n<tr><th>name</th><th>verdict</th><th>guarantee</th><th>over eager</th><th>over torch.compile</th>{}<th>detail</th></tr>\n",
                      searched ? "Problems" : "Submissions", searched ? "<th>attempts</th><th>tokens</th><th>minutes</th>" : "");
  for (const SuiteResult& result : results) {
    body +=
        fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>", EscapeMarkup(result.submission.name),
                    EscapeMarkup(result.verdict), EscapeMarkup(result.guarantee),
                    SpeedupWithInterval(result.over_eager), SpeedupWithInterval(result.over_compiled));
    if (searched) body += fmt::format("<td>{}</td><td>{}</td><td>{:.1f}</td>", result.attempts, result.tokens, result.minutes);
    body += fmt::format("<td>{}</td></tr>\n", EscapeMarkup(result.detail.substr(0, 300)));
  }
  return HtmlPage(title, body + "</table>\n");
}

json SuiteJson(const std::vector<SuiteResult>& results, const std::vector<SuiteSummary>& summaries) {
  json out = {{"submissions", json::array()}, {"levels", json::array()}};
  for (const SuiteResult& result : results) {
    json one = ReadJsonText(SuiteResultToJson(result));
    one.erase("key");
    one["problem_file"] = result.submission.problem_file;
    out["submissions"].push_back(std::move(one));
  }
  for (const SuiteSummary& summary : summaries) {
    json one = {{"level", summary.level < 0 ? json("all") : json(summary.level)}, {"submissions", summary.submissions}, {"right", summary.ok}, {"lifted", summary.lifted},
                {"success_rate", summary.submissions > 0 ? static_cast<double>(summary.ok) / summary.submissions : 0.0}};
    if (summary.labelled > 0) one["labelled"] = summary.labelled;
    const auto over = [&](const char* name, const std::optional<double>& geomean, const std::optional<double>& median, const std::map<double, double>& fast) {
      if (fast.empty()) return;
      one[name] = {{"fast", json::object()}};
      if (geomean) one[name]["geomean"] = *geomean;
      if (median) one[name]["median"] = *median;
      for (const auto& [p, share] : fast) one[name]["fast"][fmt::format("{:g}", p)] = share;
    };
    over("over_eager", summary.geomean_eager, summary.median_eager, summary.fast_eager);
    over("over_compiled", summary.geomean_compiled, summary.median_compiled, summary.fast_compiled);
    out["levels"].push_back(std::move(one));
  }
  return out;
}

}  // namespace hone
