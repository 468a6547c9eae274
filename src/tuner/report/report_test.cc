// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests what users see of a whole run with a scripted evaluator: the difference of two kernels, progress lines, tables
// and the HTML report.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tuner/report/charts.h"
#include "tuner/agents/diff.h"
#include "tuner/report/html.h"
#include "tuner/report/progress.h"
#include "tuner/report/run_summary.h"
#include "tuner/report/run_text.h"
#include "tuner/run/run_loop.h"
#include "tuner/run/scripted_evaluator.h"
#include "tuner/run/scripted_run.h"
#include "tuner/run/start_run.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Diff, IsTheShortestAndKeepsTheOrder) {
  std::string marks;
  for (const DiffLine& line : DiffLines("a\nb\nc\nd\n", "a\nc\nx\nd\n"))
    marks += line.mark + std::string(line.text) + " ";
  EXPECT_EQ(marks, " a -b  c +x  d ");
  EXPECT_TRUE(DiffLines("", "").empty());
  EXPECT_EQ(DiffLines("", "a\n").size(), 1u);
}

// Applies the hunks of `diff` to `before`, as the program `patch` does, and returns the result.
std::string ApplyDiff(const std::string& before, const std::string& diff) {
  std::vector<std::string> lines, out;
  for (size_t at = 0; at < before.size();) {
    const size_t end = before.find('\n', at);
    lines.push_back(before.substr(at, end - at));
    at = end + 1;
  }
  size_t next = 0;
  for (size_t at = 0; at < diff.size();) {
    const size_t end = diff.find('\n', at);
    const std::string line = diff.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("---") || line.starts_with("+++")) continue;
    if (line.starts_with("@@")) {
      const size_t begin = static_cast<size_t>(std::stoi(line.substr(4))) - 1;
      while (next < begin) out.push_back(lines.at(next++));
    } else if (line[0] == ' ') {
      EXPECT_EQ(lines.at(next), line.substr(1));
      out.push_back(lines.at(next++));
    } else if (line[0] == '-') {
      EXPECT_EQ(lines.at(next++), line.substr(1));
    } else {
      out.push_back(line.substr(1));
    }
  }
  while (next < lines.size()) out.push_back(lines.at(next++));
  std::string text;
  for (const std::string& line : out) text += line + "\n";
  return text;
}

TEST(Diff, UnifiedHunksApply) {
  std::string before, after;
  for (int i = 0; i < 60; ++i) {
    before += fmt::format("line {}\n", i);
    if (i != 5 && i != 30) after += fmt::format("line {}{}\n", i, i == 12 || i == 40 ? " changed" : "");
    if (i == 33 || i == 59) after += "new\n";
  }
  const std::string diff = UnifiedDiff(before, after, "a", "b");
  EXPECT_EQ(ApplyDiff(before, diff), after);
  EXPECT_LT(diff.size(), before.size() + after.size());
  EXPECT_EQ(UnifiedDiff(before, before, "a", "b"), "");
}

TEST(Text, DurationsAndSpeedups) {
  EXPECT_EQ(DurationText(65), "1:05");
  EXPECT_EQ(DurationText(7384), "2:03:04");
  EXPECT_EQ(DurationText(-3), "0:00");
  EXPECT_EQ(SpeedupText({1.5, 1.4, 1.6}, /*modelled=*/false), "1.500x [1.400, 1.600]");
  EXPECT_EQ(SpeedupText({1.5, 1.5, 1.5}, /*modelled=*/true), "1.500x modelled");
}

// A model with prepared replies.
class Canned : public ModelProvider {
 public:
  explicit Canned(std::vector<std::string> replies) : replies_(std::move(replies)) {}
  std::string Name() const override { return "canned"; }
  Result<ModelReply> Complete(const ModelRequest& request, const ModelProgressSink&, std::stop_token) override {
    ModelReply reply;
    // Requests of node 1 get the first reply, those of node 2 the second, and so on; a repair gets the same reply
    // again.
    const int64_t index = request.number / 8 - 1;
    if (index < static_cast<int64_t>(replies_.size()))
      reply.text = replies_[static_cast<size_t>(index)];
    else
      reply.finish = FinishReason::kExhausted;
    return reply;
  }

 private:
  std::vector<std::string> replies_;
};

// A run with a scripted evaluator, and what the progress printer wrote.
struct FinishedRun {
  std::unique_ptr<RunStore> store = MakeMemoryRunStore();
  RunView view;
  std::string printed;
};

FinishedRun RunOf(std::vector<std::string> replies, bool terminal = false) {
  FinishedRun run;
  const Task task = ScriptedTask();
  ScriptedEvaluator evaluator([](const std::string& source, const Binding&, const Dims& dims) {
    const size_t at = source.rfind("SPEED ");
    return (at == std::string::npos ? 100.0 : std::stod(source.substr(at + 6))) * (dims.at("rows") == 16 ? 1 : 10);
  });
  Canned provider(std::move(replies));
  std::unique_ptr<Strategy> strategy = MakeStrategy("refine").value();
  double clock = 1'790'000'000;
  const auto now = [&clock] { return clock += 0.5; };
  RunOptions options;
  options.model = "canned";
  options.settings = {{"refine.fixes", 0}};
  options.max_seconds = 600;
  EXPECT_TRUE(StartRun(*run.store, task, evaluator.facts(), options, "20260921-000000-0001", now()).ok());
  {
    ProgressPrinter printer([&](const std::string& text) { run.printed += text; }, terminal, now, 80);
    RunDependencies d{&task, &evaluator, run.store.get(), &provider, strategy.get(), &printer, now, {}, 1};
    run.view = ContinueRun(d, "last").value();
  }
  return run;
}

std::string Reply(const std::string& idea, const std::string& mark) {
  return fmt::format("IDEA: {}\n```cuda\n{}// {}\n```\n", idea, kScriptedSeed, mark);
}

TEST(Report, TellsTheWholeRunAndSaysModelled) {
  const FinishedRun run = RunOf({Reply("halve <it> & go", "SPEED 50"), "no code, <script>alert(1)</script>",
                                 Reply("wrong one", "SCRIPT_WRONG"), Reply("third", "SPEED 25")});
  const std::string html = HtmlReport(*run.store, run.view).value();
  EXPECT_THAT(html, HasSubstr("<!doctype html>"));
  EXPECT_THAT(html, HasSubstr("<b>4.000×</b><span>as fast as the seed, modelled: node 4, geometric mean of 2 shapes"));
  EXPECT_THAT(html, HasSubstr("halve &lt;it&gt; &amp; go"));
  EXPECT_THAT(html, HasSubstr("wrong_output"));
  EXPECT_THAT(html, HasSubstr("no_code"));
  EXPECT_THAT(html, testing::ContainsRegex("class=add data-n=' +[0-9]+'>\\+<i>// SPEED 25</i>"));
  EXPECT_THAT(html, HasSubstr("d=1024 rows=4096"));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  // The page loads nothing from elsewhere.
  for (const char* fetched : {"src=", "href=\"", "href='h", "@import", "url("})
    EXPECT_THAT(html, Not(HasSubstr(fetched))) << fetched;
  // Every element that is opened is closed.
  for (const char* tag : {"table", "svg", "pre", "details", "dl", "div", "tr"}) {
    size_t opened = 0, closed = 0;
    const std::string open = fmt::format("<{}", tag), close = fmt::format("</{}>", tag);
    for (size_t at = 0; (at = html.find(open, at)) != std::string::npos; at += open.size())
      opened += html[at + open.size()] == '>' || html[at + open.size()] == ' ';
    for (size_t at = 0; (at = html.find(close, at)) != std::string::npos; at += close.size()) ++closed;
    EXPECT_EQ(opened, closed) << tag;
    EXPECT_GT(opened, 0u) << tag;
  }
}

// The report names the device and not the spool's folder, which means nothing to other readers.
TEST(Report, ARunThroughASpoolNamesTheDeviceThatJudged) {
  FinishedRun run = RunOf({Reply("halve", "SPEED 50")});
  EXPECT_EQ(JudgedOn(run.view), run.view.info.device);
  run.view.info.device = "spool:jobs";
  EXPECT_EQ(JudgedOn(run.view), run.view.node(0).evaluation->device);
  EXPECT_THAT(RunText(run.view), Not(HasSubstr("spool:jobs")));
  run.view.nodes.clear();
  EXPECT_EQ(JudgedOn(run.view), "spool:jobs");
}

// A model's text with control characters and bidirectional overrides, which must be shown and not take effect.
constexpr char kHostile[] = "loads \x1b]0;your title\x07 \u202eedoc\u2066 \u009b2J";

TEST(Progress, WhatAModelWritesReachesNoTerminalAsACommand) {
  for (const bool terminal : {false, true}) {
    const FinishedRun run = RunOf(
        {Reply(kHostile, "SPEED 50"), Reply(std::string("wrong ") + kHostile, "SCRIPT_WRONG"), kHostile}, terminal);
    std::string left = run.printed;
    for (size_t at; (at = left.find("\r\x1b[K")) != std::string::npos;) left.erase(at, 4);  // the printer's own
    EXPECT_THAT(left, HasSubstr("loads \\x1b]0;your title\\x07"));
    EXPECT_EQ(left.find_first_of("\x1b\x07"), std::string::npos) << terminal;
    EXPECT_THAT(left, Not(HasSubstr("\u202e")));
  }
}

TEST(Report, WhatAModelWritesIsShownAndNotObeyed) {
  const FinishedRun run = RunOf({Reply(kHostile, std::string("SPEED 50 ") + kHostile)});
  const std::string page = HtmlReport(*run.store, run.view).value();
  EXPECT_THAT(page, testing::AllOf(HasSubstr("loads \\x1b]0;your title\\x07 \\u202eedoc\\u2066 \\u009b2J"),
                                   HasSubstr("<i>// SPEED 50 loads \\x1b]0;")));
  for (const char* hidden : {"\x1b", "\x07", "\u202e", "\u2066"}) EXPECT_THAT(page, Not(HasSubstr(hidden)));
  const std::string line = NodeLine(run.view, run.view.node(1));
  EXPECT_THAT(line, testing::AllOf(HasSubstr("loads \\x1b]0;your title"), HasSubstr("2.000x"), Not(HasSubstr("\x1b"))));
}

TEST(Report, SaysWhenNothingWasFound) {
  const FinishedRun run = RunOf({Reply("slower", "SPEED 150")});
  EXPECT_THAT(ResultText(run.view), HasSubstr("Nothing was found"));
  EXPECT_THAT(HtmlReport(*run.store, run.view).value(), HasSubstr("Nothing was found"));
  RunView waiting = run.view;
  waiting.ended = "suspended";
  waiting.final_result.reset();
  EXPECT_THAT(ResultText(waiting), HasSubstr("The run is not over, and nothing is known yet that is surely faster than the seed."));
}

TEST(Report, AMeasuredResultComesWithItsInterval) {
  FinishedRun run = RunOf({Reply("halve", "SPEED 50")});
  run.view.info.modelled = false;
  Evaluation& e = run.view.final_result->evaluation;
  e.modelled = false;
  for (CaseResult& c : e.cases) {
    c.speedup = Interval{2.0, 1.9, 2.1};
    c.timing.status = "stable";
  }
  const std::string text = ResultText(run.view);
  EXPECT_THAT(text, HasSubstr("faster beyond its 95 % interval in 2 of 2 shapes"));
  EXPECT_THAT(text, HasSubstr("2.000x [1.900, 2.100]"));
  EXPECT_THAT(text, Not(HasSubstr("modelled")));
  for (RunNode& n : run.view.nodes) {
    if (!n.evaluation) continue;
    n.evaluation->modelled = false;
    n.evaluation->profile.reset();  // the scripted evaluator's profile is the simulator's, whose times are modelled
    for (CaseResult& c : n.evaluation->cases) c.timing.status = "stable";
  }
  EXPECT_THAT(HtmlReport(*run.store, run.view).value(), Not(HasSubstr("modelled")));
}

TEST(Report, LibrariesStandBesideTheResultWhereTheyWereTimed) {
  FinishedRun run = RunOf({Reply("halve", "SPEED 50")});
  EXPECT_THAT(HtmlReport(*run.store, run.view).value(), Not(HasSubstr("Beside libraries")));
  for (CaseResult& c : run.view.final_result->evaluation.cases) {
    if (c.role != CaseRole::kTime) continue;
    c.libraries = {{"torch_eager", 12.5, Interval{1.25, 1.2, 1.3}, "PyTorch <2.11>"}, {"cublaslt_best", std::nullopt, std::nullopt, "no nvcc"}};
  }
  EXPECT_THAT(ResultText(run.view), HasSubstr("geometric mean over torch_eager: 1.250x; slower than it at 0 of 2 shapes"));
  const std::string page = HtmlReport(*run.store, run.view).value();
  EXPECT_THAT(page, HasSubstr("Beside libraries"));
  EXPECT_THAT(page, HasSubstr("1.250x [1.200, 1.300]"));
  EXPECT_THAT(page, HasSubstr("PyTorch &lt;2.11&gt;"));
  EXPECT_THAT(page, HasSubstr("no nvcc"));
}

TEST(Report, AFailedFinalCheckIsNotPraised) {
  FinishedRun run = RunOf({Reply("halve", "SPEED 50")});
  run.view.final_result->evaluation.verdict = Verdict::kWrongOutput;
  EXPECT_THAT(ResultText(run.view), HasSubstr("Do not use it"));
}

TEST(Show, ANodeHasItsDifferenceItsRequestAndItsReply) {
  const FinishedRun run = RunOf({Reply("halve", "SPEED 50")});
  const std::string brief = NodeText(*run.store, run.view, 1, /*prompts=*/false).value();
  EXPECT_THAT(brief, HasSubstr("+// SPEED 50"));
  EXPECT_THAT(brief, HasSubstr("gain over node 0: 2.000x modelled"));
  EXPECT_THAT(brief, Not(HasSubstr("=== reply")));
  const std::string full = NodeText(*run.store, run.view, 1, /*prompts=*/true).value();
  EXPECT_THAT(full, HasSubstr("=== user (request 8, coder) ==="));
  EXPECT_THAT(full, HasSubstr("IDEA: halve"));
  EXPECT_EQ(NodeText(*run.store, run.view, 9, /*prompts=*/false).status().code(), StatusCode::kNotFound);
}

TEST(Show, JsonCarriesTheTreeAndTheFinalEvaluation) {
  const FinishedRun run = RunOf({Reply("halve", "SPEED 50")});
  const nlohmann::json json = nlohmann::json::parse(RunToJson(run.view));
  EXPECT_EQ(json["nodes"].size(), 3u);  // the last one: the model had no more ideas
  EXPECT_EQ(json["nodes"][1]["parent"], 0);
  EXPECT_EQ(json["final"]["evaluation"]["verdict"], "ok");
  EXPECT_EQ(json["modelled"], true);
  EXPECT_EQ(json["state"], "no_more_ideas");
}

TEST(Progress, PlainLinesWhenNobodyWatches) {
  const FinishedRun run = RunOf({Reply("halve", "SPEED 50"), "nothing"});
  EXPECT_THAT(run.printed, Not(HasSubstr("\x1b")));
  EXPECT_THAT(run.printed, HasSubstr("halve"));
  EXPECT_THAT(run.printed, HasSubstr("2.000x so far, modelled"));
  EXPECT_THAT(run.printed, HasSubstr("no_code"));
}

TEST(Progress, ATerminalGetsALineThatIsRedrawnAndRemoved) {
  const FinishedRun run = RunOf({Reply("halve", "SPEED 50")}, /*terminal=*/true);
  EXPECT_THAT(run.printed, HasSubstr("attempt 1 of 32, best 2.000x modelled"));
  EXPECT_THAT(run.printed, HasSubstr(" left"));
  EXPECT_TRUE(run.printed.ends_with("\r\x1b[K"));
  // No redrawn line is wider than the terminal.
  for (size_t at = 0; (at = run.printed.find("\x1b[K", at)) != std::string::npos; at += 3) {
    const size_t end = run.printed.find_first_of("\r\n", at + 3);
    const bool redrawn =
        run.printed.compare(at + 3, 6, "      ") == 0 && end != std::string::npos && run.printed[end] == '\r';
    EXPECT_TRUE(!redrawn || end - at - 3 <= 80u);
  }
}

TEST(Charts, AThousandAttemptsStaySmall) {
  RunView view;
  for (int i = 0; i < 1000; ++i) {
    RunNode node;
    node.id = i;
    node.idea = "idea";
    if (i % 3 != 0 || i == 0) node.speedup = 1.0 + i * 1e-3;
    view.nodes.push_back(node);
  }
  EXPECT_LT(AttemptChart(view).size(), 500'000u);
}

TEST(RunText, AnUnknownCostIsNeverShownAsNothingAndNotesAreShown) {
  ScriptedRun run("sample", [](const ModelRequest& r) -> Result<std::string> {
    return r.number == 8 ? std::string("<<<<<<< SEARCH\nnot there\n=======\nx\n>>>>>>> REPLACE\n")
                         : FileReply(fmt::format("idea {}", r.number), fmt::format("SPEED {}", 90 - r.number));
  });
  run.options.max_attempts = 2;
  run.mind.on_reply = [](const ModelRequest& request, ModelReply& reply) {
    reply.cost_known = request.number > 9;
    if (request.number == 9) reply.notes = {"the endpoint said <503>; waited 1 s"};
    if (!reply.cost_known) reply.cost_usd = 0;
  };
  const RunView view = run.RunToTheEnd();
  EXPECT_THAT(RunText(view), testing::AllOf(HasSubstr(">$0.50; what 2 of 3 replies cost is not known"),
                                            HasSubstr("note on request 9: the endpoint said <503>; waited 1 s"),
                                            HasSubstr("Lost to form: 1 of 3 replies (33.3 %)")));
  EXPECT_THAT(NodeText(*run.store, view, 1, /*prompts=*/true).value(),
              testing::AllOf(HasSubstr("cost not known"), HasSubstr("note: the endpoint said <503>")));
  const nlohmann::json json = nlohmann::json::parse(RunToJson(view));
  EXPECT_FALSE(json.at("cost_known").get<bool>());
  EXPECT_EQ(json.at("notes").size(), 1u);
  EXPECT_EQ(json.at("structure").at("not_applied"), 1);
  const std::string html = HtmlReport(*run.store, view).value();
  EXPECT_THAT(html, testing::AllOf(HasSubstr("&gt;$0.50"), HasSubstr("the endpoint said &lt;503&gt;"), HasSubstr("replies that could not be used")));
}

TEST(RunText, WithoutASeedItSaysWhatSpeedupsAreOver) {
  ScriptedRun run("single", [](const ModelRequest& r) -> Result<std::string> {
    return FileReply(fmt::format("idea {}", r.number), fmt::format("SPEED {}", 90 - r.number));
  });
  run.task.seed_source.clear();
  run.task.oracle_source =
      "/*hone\n[[launch]]\nkernel = \"slow\"\ngrid = [\"1\"]\nblock = [\"1\"]\nargs = [\"x\", \"ref:out\"]\n*/\n"
      "__global__ void slow(const float* x, double* out) { out[0] = x[0]; }\n";
  run.options.max_attempts = 2;
  const RunView view = run.RunToTheEnd();
  EXPECT_THAT(ResultText(view), testing::AllOf(HasSubstr("The task has no seed: speedups are over its oracle"),
                                               HasSubstr("as fast as the oracle's kernel"),
                                               HasSubstr("Over the first right version (node 1)")));
  EXPECT_EQ(nlohmann::json::parse(RunToJson(view)).at("baseline"), "oracle");
  const std::string html = HtmlReport(*run.store, view).value();
  EXPECT_THAT(html, HasSubstr("as fast as the oracle&#39;s kernel"));
  EXPECT_THAT(html, HasSubstr("at its speedup over the oracle&#39;s kernel, modelled, which multiplies"));
  for (const char* wrong : {"over the seed", "1×, the seed", "ring the seed", "the seed on the left", "to the seed", "with the seed"}) {
    EXPECT_THAT(html, testing::Not(HasSubstr(wrong)));
  }
  const std::vector<RunSummary> runs = SummarizeRuns(*run.store).value();
  EXPECT_THAT(RunsTable(runs), testing::AllOf(HasSubstr("x*"), HasSubstr("* the task has no seed")));
  EXPECT_EQ(nlohmann::json::parse(RunSummaryToJson(runs)).at(0).at("baseline"), "oracle");
  EXPECT_THAT(CompareRuns({Summarize(view)}).warnings, testing::Contains(HasSubstr("has no seed")));
}

TEST(Gates, ARunSaysHowManyVerdictsOlderOnesGave) {
  RunView view;
  view.info = {.id = "r1"};
  view.info.task = "relu";
  view.nodes.resize(3);
  for (int i = 0; i < 3; ++i) {
    view.nodes[static_cast<size_t>(i)].id = i;
    view.nodes[static_cast<size_t>(i)].evaluation.emplace().verdict = Verdict::kOk;
    view.nodes[static_cast<size_t>(i)].evaluation->gates = i == 0 ? kGatesVersion : kGatesVersion - 1;
  }
  EXPECT_EQ(VerdictsOfOlderGates(view), 2);
  EXPECT_THAT(GatesText(view), HasSubstr("the best is judged by the present ones at its end"));
  view.ended = "attempts_spent";
  EXPECT_THAT(GatesText(view), HasSubstr("hone show r1 --source > best.cu, then hone eval relu best.cu"));
  for (RunNode& node : view.nodes) node.evaluation->gates = kGatesVersion;
  EXPECT_EQ(GatesText(view), "");
}

}  // namespace
}  // namespace hone
