// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/gate/report_formats.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/json_text.h"
#include "base/text/markup.h"
#include "base/text/utf8.h"
#include "base/text/visible_text.h"
#include "tuner/core/plan/dims_text.h"

namespace hone {
namespace {

constexpr size_t kDetailBytes = 4000;  // limit on the bytes of a compiler's messages in a comment
constexpr size_t kUnjudgedTold = 10;   // files that belong to no task, in a text
constexpr size_t kDetailsTold = 10;    // kernels with details in a comment: GitHub's limit is 65,536 characters

std::string CountText(size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

size_t CountOf(const GateReport& report, GateStatus status) {
  return static_cast<size_t>(std::count_if(report.kernels.begin(), report.kernels.end(),
                                           [&](const GateKernel& k) { return k.status == status; }));
}

std::string SpeedupCell(const GateCase& c, bool modelled) {
  if (modelled) return fmt::format("{:.3f}x modelled", c.speedup.median);
  return fmt::format("{:.3f}x [{:.3f}, {:.3f}]", c.speedup.median, c.speedup.low, c.speedup.high);
}

// Returns the case with the worst speedup, for a line about the whole kernel; null if none was timed.
const GateCase* WorstCase(const GateKernel& kernel) {
  const auto worst =
      std::min_element(kernel.cases.begin(), kernel.cases.end(), [](const GateCase& a, const GateCase& b) {
        if (a.slower != b.slower) return a.slower;
        return a.speedup.median < b.speedup.median;
      });
  return worst == kernel.cases.end() ? nullptr : &*worst;
}

// Returns a kernel's result in a few words.
std::string OutcomeInWords(const GateKernel& kernel, const GateOptions& options) {
  switch (kernel.status) {
    case GateStatus::kPassed:
      if (!kernel.changed) return "moved, unchanged";
      if (!options.run) return kernel.added ? "compiles (new)" : "compiles";
      return kernel.added ? "right (new)" : kernel.cases.empty() ? "right, not timed" : "right, not surely slower";
    case GateStatus::kWrong:
      if (kernel.as_base && options.run) return "wrong, as in the base";
      return options.run ? "wrong" : "does not compile";
    case GateStatus::kSlower:
      return "slower";
    case GateStatus::kNotJudged:
      return "not judged";
    case GateStatus::kRemoved:
      return "removed";
  }
  return "";
}

// Returns a sentence for each changed file with kernels that was not judged, the first kUnjudgedTold of them.
std::vector<std::string> UnjudgedText(const GateReport& report) {
  std::vector<std::string> sentences;
  for (const UnjudgedFile& file : report.unjudged) {
    if (sentences.size() == kUnjudgedTold) {
      sentences.push_back(fmt::format("{} not judged", CountText(report.unjudged.size() - kUnjudgedTold,
                                                               "more such file is", "more such files are")));
      break;
    }
    const char* what = file.added ? "is new" : "changed";
    if (file.task_folder == kNoTask) {
      sentences.push_back(fmt::format("{0} {1} and belongs to no task: --kernel TASK={0} judges it", file.path, what));
      continue;
    }
    sentences.push_back(fmt::format("{0} {1} and has no launch plan: --kernel {2}={0} judges it", file.path, what,
                                    file.task_folder.empty() ? "TASK" : file.task_folder));
  }
  return sentences;
}

// Returns the kernel's path and, if it was renamed, the former one.
std::string PathText(const GateKernel& kernel) {
  return kernel.was.empty() ? kernel.path : fmt::format("{} (was {})", kernel.path, kernel.was);
}

// Returns the words for a slower kernel: modelled times are never called sure.
std::string SlowerText(const GateReport& report) {
  return report.modelled ? "slower by modelled times" : "surely slower";
}

std::string WhereText(const GateReport& report) {
  return fmt::format("{} {}", report.options.run ? "Judged on" : "Not run, but handed to", report.device);
}

// Returns the sentences that explain the rule, or what was not done.
std::string RuleText(const GateReport& report) {
  if (!report.options.run) return "Kernels were compiled, and not run: whether they are right was not looked at.";
  if (report.comparisons == 0)
    return report.options.time ? "Nothing was timed." : "Kernels were compiled and checked, and not timed.";
  const double percent = 100 * report.options.slower;
  if (report.modelled) {
    return fmt::format(
        "Times are modelled, never measured: a case fails where the model says more than {:g} % slower, and no rate of "
        "false alarms applies.",
        percent);
  }
  return fmt::format(
      "A case fails when {} of at most {} evaluations put its whole 95 % interval more than {:g} % slower: for all {} "
      "together, the chance of a false alarm is at most {:g} %.",
      report.rule.hits, report.rule.rounds, percent,
      CountText(static_cast<size_t>(report.comparisons), "comparison", "comparisons"), 100 * report.options.rate);
}

// Returns text for a cell of a Markdown table, with all characters escaped that could end the cell or be markup.
std::string MarkdownCell(std::string_view text) {
  std::string out;
  for (const char c : VisibleLine(text)) {
    if (c == '|' || c == '<' || c == '`' || c == '*' || c == '_' || c == '[' || c == '\\' || c == '@' || c == '#')
      out += '\\';
    out += c;
  }
  return out;
}

// Returns the text unchanged in a code fence that is longer than any fence in it.
std::string FencedBlock(std::string text) {
  text = RepairUtf8(VisibleText(text));
  if (text.size() > kDetailBytes) {
    text.resize(kDetailBytes);
    text = RepairUtf8(text) + "\n…";
  }
  size_t longest_name = 2;
  for (size_t at = 0; (at = text.find('`', at)) != std::string::npos;) {
    size_t end = at;
    while (end < text.size() && text[end] == '`') ++end;
    longest_name = std::max(longest_name, end - at);
    at = end;
  }
  const std::string fence(longest_name + 1, '`');
  return fence + "text\n" + text + "\n" + fence + "\n";
}

bool TimedAny(const GateReport& report) {
  return std::any_of(report.kernels.begin(), report.kernels.end(), [](const GateKernel& kernel) {
    return std::any_of(kernel.cases.begin(), kernel.cases.end(), [](const GateCase& c) { return c.rounds > 0; });
  });
}

}  // namespace

std::string GateSummary(const GateReport& report) {
  const size_t wrong = CountOf(report, GateStatus::kWrong), slower = CountOf(report, GateStatus::kSlower),
               skipped = CountOf(report, GateStatus::kNotJudged);
  std::string text = report.kernels.empty() ? "No kernel with a task differs"
                                            : CountText(report.kernels.size(), "kernel differs", "kernels differ");
  text += fmt::format(" between {} and {}", report.base, report.head);
  if (!report.kernels.empty()) {
    if (!report.options.run)
      text += wrong == 0 ? ": each compiles" : fmt::format(": {} not compile", CountText(wrong, "does", "do"));
    else if (wrong + slower > 0)
      text += fmt::format(": {} wrong, {} {}", wrong, slower, SlowerText(report));
    else
      text += TimedAny(report) ? fmt::format(": none is wrong or {}", SlowerText(report)) : ": none is wrong, and nothing was timed";
    if (skipped > 0) text += fmt::format(", {} not judged", skipped);
  }
  if (!report.unjudged.empty())
    text += fmt::format("; {} not judged", CountText(report.unjudged.size(), "changed file with kernels was",
                                                   "changed files with kernels were"));
  return text + ".";
}

std::string GateText(const GateReport& report) {
  std::string text = GateSummary(report) + "\n";
  if (!report.kernels.empty()) text += fmt::format("{}. {}\n", WhereText(report), RuleText(report));
  for (const GateKernel& k : report.kernels) {
    text += fmt::format("\n{}  {} ({})\n", PathText(k), OutcomeInWords(k, report.options), k.task);
    if (!k.detail.empty()) text += "  " + k.detail + "\n";
    for (const GateCase& c : k.cases) {
      text += fmt::format("  {:<40} {:<30} {}\n", DimsText(c.dims), SpeedupCell(c, report.modelled),
                          c.slower ? fmt::format("slower, in {} of {} rounds", c.hits, c.rounds) : "");
    }
  }
  if (!report.unjudged.empty()) text += "\nNot judged:\n";
  for (const std::string& sentence : UnjudgedText(report)) text += "  " + sentence + "\n";
  if (!report.changed_tasks.empty()) text += "\nTasks:\n";
  for (const std::string& sentence : report.changed_tasks) text += "  " + sentence + "\n";
  for (const std::string& warning : report.warnings) text += "warning: " + warning + "\n";
  return text;
}

nlohmann::json GateJson(const GateReport& report) {
  nlohmann::json unjudged = nlohmann::json::array();
  for (const UnjudgedFile& file : report.unjudged) {
    unjudged.push_back(
        {{"path", file.path},
         {"task_folder", file.task_folder == kNoTask ? nlohmann::json() : nlohmann::json(file.task_folder)},
         {"added", file.added}});
  }
  nlohmann::json kernels = nlohmann::json::array();
  for (const GateKernel& k : report.kernels) {
    nlohmann::json cases = nlohmann::json::array();
    for (const GateCase& c : k.cases) {
      cases.push_back({{"dims", c.dims},
                       {"speedup", {{"median", c.speedup.median}, {"ci95", {c.speedup.low, c.speedup.high}}}},
                       {"rounds", c.rounds},
                       {"hits", c.hits},
                       {"slower", c.slower}});
    }
    nlohmann::json one = {{"path", k.path},
                          {"task", k.task},
                          {"status", GateStatusName(k.status)},
                          {"added", k.added},
                          {"as_base", k.as_base},
                          {"detail", k.detail},
                          {"cases", cases},
                          {"was", k.was.empty() ? nlohmann::json() : nlohmann::json(k.was)}};
    if (k.evaluation) one["evaluation"] = ReadJsonText(EvaluationToJson(*k.evaluation, -1));
    kernels.push_back(std::move(one));
  }
  return {{"base", report.base},
          {"head", report.head},
          {"device", report.device},
          {"modelled", report.modelled},
          {"passed", !report.failed()},
          {"error", nullptr},
          {"compiled_only", !report.options.run},
          {"summary", GateSummary(report)},
          {"rule",
           {{"slower", report.options.slower},
            {"rate", report.options.rate},
            {"comparisons", report.comparisons},
            {"hits", report.rule.hits},
            {"rounds", report.rule.rounds},
            {"text", RuleText(report)}}},
          {"kernels", kernels},
          {"unjudged_files", unjudged},
          {"changed_tasks", report.changed_tasks},
          {"warnings", report.warnings},
          {"seconds", report.seconds}};
}

std::string GateJUnit(const GateReport& report) {
  const size_t failures = CountOf(report, GateStatus::kWrong) + CountOf(report, GateStatus::kSlower);
  const size_t skipped = CountOf(report, GateStatus::kNotJudged) + CountOf(report, GateStatus::kRemoved);
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  text += fmt::format(
      "<testsuites tests=\"{0}\" failures=\"{1}\" skipped=\"{2}\" time=\"{3:.3f}\">\n  <testsuite name=\"hone gate\" "
      "tests=\"{0}\" failures=\"{1}\" errors=\"0\" skipped=\"{2}\" time=\"{3:.3f}\">\n",
      report.kernels.size(), failures, skipped, report.seconds);
  text += fmt::format(
      "    <properties>\n      <property name=\"base\" value=\"{}\"/>\n      <property name=\"head\" value=\"{}\"/>\n  "
      "    <property name=\"device\" value=\"{}\"/>\n"
      "      <property name=\"rule\" value=\"{}\"/>\n    </properties>\n",
      EscapeMarkup(report.base), EscapeMarkup(report.head), EscapeMarkup(report.device), EscapeMarkup(RuleText(report)));
  for (const GateKernel& k : report.kernels) {
    const double seconds = k.evaluation ? k.evaluation->wall_seconds : 0;
    text += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\">\n", EscapeMarkup(k.task),
                        EscapeMarkup(PathText(k)), seconds);
    std::string cases;
    for (const GateCase& c : k.cases)
      cases += fmt::format("{}: {}{}\n", DimsText(c.dims), SpeedupCell(c, report.modelled), c.slower ? " slower" : "");
    if (k.status == GateStatus::kWrong || k.status == GateStatus::kSlower) {
      const GateCase* worst = WorstCase(k);
      const std::string message =
          k.status == GateStatus::kWrong
              ? k.detail.substr(0, k.detail.find('\n'))
              : fmt::format("{}more than {:g} % slower: {} at {}", report.modelled ? "" : "surely ",
                            100 * report.options.slower, SpeedupCell(*worst, report.modelled), DimsText(worst->dims));
      text += fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n", GateStatusName(k.status),
                          EscapeMarkup(message), EscapeMarkup(k.status == GateStatus::kWrong ? k.detail : cases));
    } else if (k.status != GateStatus::kPassed) {
      text += fmt::format("      <skipped message=\"{}\"/>\n", EscapeMarkup(k.detail.substr(0, k.detail.find('\n'))));
    } else if (!cases.empty()) {
      text += fmt::format("      <system-out>{}</system-out>\n", EscapeMarkup(cases));
    }
    text += "    </testcase>\n";
  }
  return text + "  </testsuite>\n</testsuites>\n";
}

std::string GateMarkdown(const GateReport& report) {
  std::string text =
      fmt::format("### Kernels: {}\n\n{}\n", report.failed() ? "failed" : "passed", MarkdownCell(GateSummary(report)));
  if (!report.kernels.empty()) {
    text += fmt::format("\n| kernel | outcome | worst case | speedup over the base{} |\n|---|---|---|---|\n",
                        report.modelled ? " (modelled)" : " (95 %)");
    for (const GateKernel& k : report.kernels) {
      const GateCase* worst = WorstCase(k);
      const bool failed = k.status == GateStatus::kWrong || k.status == GateStatus::kSlower;
      text += fmt::format("| {} | {}{}{} | {} | {} |\n", MarkdownCell(PathText(k)), failed ? "**" : "",
                          MarkdownCell(OutcomeInWords(k, report.options)), failed ? "**" : "",
                          worst ? MarkdownCell(DimsText(worst->dims)) : "",
                          worst ? MarkdownCell(SpeedupCell(*worst, report.modelled)) : "");
    }
    size_t shown = 0;
    for (const GateKernel& k : report.kernels) {
      if (k.status != GateStatus::kWrong && k.status != GateStatus::kNotJudged) continue;
      if (++shown > kDetailsTold) continue;
      text += fmt::format("\n{}: {}\n\n{}", MarkdownCell(k.path), MarkdownCell(OutcomeInWords(k, report.options)),
                          FencedBlock(k.detail));
    }
    if (shown > kDetailsTold) text += fmt::format("\n{} more have details in the JUnit file.\n", shown - kDetailsTold);
  }
  if (!report.unjudged.empty()) text += "\n**Changed files with kernels that were not judged:**\n\n";
  for (const std::string& sentence : UnjudgedText(report)) text += "* " + MarkdownCell(sentence) + "\n";
  if (!report.changed_tasks.empty()) text += "\n**The change touches what kernels are judged by:**\n\n";
  for (const std::string& sentence : report.changed_tasks) text += "* " + MarkdownCell(sentence) + "\n";
  for (const std::string& warning : report.warnings) text += "* warning: " + MarkdownCell(warning) + "\n";
  if (!report.kernels.empty())
    text += fmt::format("\n{} in {:.0f} s. {}\n", MarkdownCell(WhereText(report)), report.seconds,
                        MarkdownCell(RuleText(report)));
  return text;
}

std::string GateErrorText(const GateError& error) {
  return fmt::format("No verdict on {} against {}: {}", error.head, error.base, error.message);
}

nlohmann::json GateErrorJson(const GateError& error) {
  return {{"base", error.base},
          {"head", error.head},
          {"passed", false},
          {"error", {{"exit_status", error.exit_status}, {"message", error.message}}},
          {"summary", GateErrorText(error)},
          {"kernels", nlohmann::json::array()},
          {"unjudged_files", nlohmann::json::array()},
          {"changed_tasks", nlohmann::json::array()},
          {"warnings", nlohmann::json::array()}};
}

std::string GateErrorJUnit(const GateError& error) {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n"
      "  <testsuite name=\"hone gate\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n"
      "    <testcase classname=\"hone gate\" name=\"{} against {}\">\n"
      "      <error type=\"{}\" message=\"{}\">{}</error>\n"
      "    </testcase>\n  </testsuite>\n</testsuites>\n",
      EscapeMarkup(error.head), EscapeMarkup(error.base), error.exit_status == 2 ? "usage" : "environment",
      EscapeMarkup(error.message.substr(0, error.message.find('\n'))), EscapeMarkup(error.message));
}

std::string GateErrorMarkdown(const GateError& error) {
  return fmt::format(
      "### Kernels: no verdict\n\nWhether {} breaks or slows a kernel of {} could not be found out.\n\n{}",
      MarkdownCell(error.head), MarkdownCell(error.base), FencedBlock(error.message));
}

}  // namespace hone
