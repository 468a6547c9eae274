// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests pages and tables on runs of every size: a small tree, a thousand nodes, runs side by side.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "base/text/markup.h"
#include "tuner/report/charts.h"
#include "tuner/report/highlight.h"
#include "tuner/report/html.h"
#include "tuner/report/progress.h"
#include "tuner/report/run_summary.h"
#include "tuner/report/run_text.h"
#include "tuner/report/spend.h"
#include "tuner/report/synthetic_run.h"
#include "tuner/report/tree_chart.h"
#include "tuner/run/log/fold.h"

namespace hone {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string TaskFile(const char* name) {
  return ReadFile(std::string(HONE_SOURCE_DIR) + "/tasks/rmsnorm/" + name).value();
}

// A synthetic run in a store in memory.
struct Written {
  std::unique_ptr<RunStore> store = MakeMemoryRunStore();
  RunView view;
};
Written Write(const SyntheticRun& run) {
  Written report;
  const Status status = WriteSyntheticRun(*report.store, run, TaskFile("task.toml"), TaskFile("seed.cu"));
  EXPECT_TRUE(status.ok()) << status.message();
  report.view = LoadRun(*report.store, run.id).value();
  return report;
}

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Returns how often `what` occurs in `text`.
size_t Count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++n;
  return n;
}

TEST(Report, HasEverySectionOfARunWithRoles) {
  const Written report = Write({});
  const std::string html = HtmlReport(*report.store, report.view).value();
  for (const char* section : {"Speedup, node by node", "Every shape", "Against the device", "The tree", "Attempts",
                              "The winning kernel", "The run"})
    EXPECT_THAT(html, HasSubstr(section));
  EXPECT_EQ(Count(html, "<details class=node "), report.view.nodes.size());
  // The page shows each attempt's plan, the first mismatch, the roles that were asked, and the cost.
  EXPECT_THAT(html, HasSubstr("asked: planner, coder"));
  EXPECT_THAT(html, HasSubstr("Change the loads first"));
  EXPECT_THAT(html, HasSubstr("out[3, 1020, 0] is 0, expected 0.731"));
  EXPECT_THAT(html, HasSubstr("Each bar is one role's tokens"));
  EXPECT_THAT(html, AllOf(HasSubstr("class=ci"), HasSubstr("95 % confidence")));
  // The page loads nothing and runs nothing; a model's text is shown as text.
  for (const char* fetched : {"http://", "https://", "<script", "src=", "url(", "@import", "onclick"})
    EXPECT_THAT(html, Not(HasSubstr(fetched))) << fetched;
  EXPECT_THAT(html, AllOf(HasSubstr("&lt;4 bytes a thread&gt;"), Not(HasSubstr("<4 bytes"))));
  // Every chart has a name, every link target exists, every id is unique.
  EXPECT_EQ(Count(html, "<svg "), Count(html, "role=img aria-label="));
  for (size_t at = 0; (at = html.find("href='#", at)) != std::string::npos; ++at) {
    const std::string id = html.substr(at + 7, html.find('\'', at + 7) - at - 7);
    EXPECT_EQ(Count(html, "id=" + id + ">") + Count(html, "id=" + id + "><"),
              Count(html, "id=" + id + ">") == 0 ? 0 : Count(html, "id=" + id + ">") + Count(html, "id=" + id + "><"))
        << id;
    EXPECT_GE(Count(html, "id=" + id + ">"), 1u) << id;
  }
}

TEST(Report, AThousandNodesAreFastAndSmall) {
  SyntheticRun run;
  run.nodes = 1000;
  const Written report = Write(run);
  ASSERT_EQ(report.view.nodes.size(), 1001u);
  // Measures processor time, which other programs hardly affect.
  const double start = CpuSeconds();
  const std::string html = HtmlReport(*report.store, report.view).value();
  const double report_seconds = CpuSeconds() - start;
  EXPECT_LT(report_seconds, 3.0);
  EXPECT_LT(html.size(), 5u << 20);
  EXPECT_EQ(Count(html, "<details class=node "), 1001u);
  RecordProperty("html_bytes", static_cast<int>(html.size()));

  const double listed = CpuSeconds();
  const std::vector<RunSummary> runs = SummarizeRuns(*report.store).value();
  EXPECT_LT(CpuSeconds() - listed, 2.0);
  ASSERT_EQ(runs.size(), 1u);
  const double shown = CpuSeconds();
  EXPECT_THAT(NodeText(*report.store, report.view, 500, /*prompts=*/true).value(),
              HasSubstr("=== user (request 4000, planner) ==="));
  EXPECT_THAT(RunText(report.view), HasSubstr("1000 attempts"));
  EXPECT_LT(CpuSeconds() - shown, 2.0);
}

TEST(Report, ADeepChainIsDrawnWithoutRecursion) {
  RunView view;
  for (int i = 0; i < 5000; ++i) {
    RunNode n;
    n.id = i;
    n.parent = i - 1;
    view.nodes.push_back(n);
  }
  view.best = 4999;
  EXPECT_THAT(TreeChart(view), HasSubstr("5000 nodes"));
  EXPECT_EQ(TreeChart(RunView{}), "");
}

TEST(Roofline, ShowsBandwidthWhereOperationsAreNotKnown) {
  DeviceFacts facts;
  facts.name = "a device";
  facts.memory_bandwidth = 1e12;
  facts.fp32_flops = 1e13;
  const std::vector<RooflinePoint> copies = {{"the seed", {{"n", 4}}, 2e-6, 1e6, 0, true}, {"best", {{"n", 4}}, 1.25e-6, 1e6, 0}};
  const std::string bars = RooflineChart(copies, facts, /*modelled=*/false);
  EXPECT_THAT(bars, AllOf(HasSubstr("0.50 TB/s · 50 %"), HasSubstr("80 %"), Not(HasSubstr("<svg"))));
  const std::vector<RooflinePoint> counted = {{"best", {{"n", 4}}, 1e-6, 1e6, 8e6}};
  EXPECT_THAT(
      RooflineChart(counted, facts, /*modelled=*/true),
      AllOf(HasSubstr("<svg"), HasSubstr("8 Tflop/s at 8 flop/byte, 100 % of the memory roof"), HasSubstr("modelled")));
  // With few operations per byte, bandwidth is the limit, and bars are drawn.
  const std::vector<RooflinePoint> bound = {{"best", {{"n", 4}}, 1e-6, 1e6, 1e6}};
  EXPECT_THAT(RooflineChart(bound, facts, /*modelled=*/true),
              AllOf(Not(HasSubstr("<svg")), HasSubstr("1.00 TB/s · 100 %")));
  EXPECT_EQ(RooflineChart(counted, DeviceFacts{}, /*modelled=*/false), "");
}

TEST(Highlight, ColoursCodeAndKeepsItsLines) {
  EXPECT_THAT(HighlightCuda("#define N 4\nfloat x = 1.0f; // a <b>\n/* two\nlines */ foo(\"s\");\n"),
              ElementsAre("<s>#define N 4</s>", "<b>float</b> x = <u>1.0f</u>;<i> // a &lt;b&gt;</i>", "<i>/* two</i>",
                          "<i>lines */ </i>foo(<u>&quot;s&quot;</u>);"));
  EXPECT_TRUE(HighlightCuda("").size() <= 1);
  const std::string diff = HighlightedDiff("a\nb\nc\nd\ne\nf\ng\n", "a\nb\nc\nd\ne\nf\nh\n", 1);
  EXPECT_THAT(diff, AllOf(HasSubstr("<span class=gap>"),
                          HasSubstr("<span class=del data-n='7  '>-g</span><span class=add data-n='  7'>+h</span>"),
                          Not(HasSubstr("> b<"))));
  EXPECT_THAT(HighlightedSource("a\nb\n"), HasSubstr("<span data-n='1'>a</span><span data-n='2'>b</span>"));
}

TEST(Highlight, ALaunchPlanIsTomlAndNotAComment) {
  EXPECT_THAT(
      HighlightCuda("// licence\n/*hone\n[[launch]]  # first\nkernel = \"f<4>\"\nblock = [256, \"1\"]\n*/\nint x;\n"),
      ElementsAre("<i>// licence</i>", "<i>/*hone</i>", "<s>[[launch]]  </s><i># first</i>",
                  "<b>kernel</b> = <u>&quot;f&lt;4&gt;&quot;</u>", "<b>block</b> = [<u>256</u>, <u>&quot;1&quot;</u>]",
                  "<i>*/</i>", "<b>int</b> x;"));
  // An incomplete plan, or a string without an end, is shown byte by byte.
  for (const char* broken :
       {"/*hone\nkernel = \"f", "/*hone\nkernel = \"f\n*/", "/*hone\na = \'\'\'x\n*/ y", "/*hone\n[\n*/"}) {
    std::string joined;
    for (const std::string& line : HighlightCuda(broken)) joined += line + "\n";
    for (const char* tag : {"<i>", "</i>", "<b>", "</b>", "<s>", "</s>", "<u>", "</u>"}) {
      for (size_t at; (at = joined.find(tag)) != std::string::npos;) joined.erase(at, std::string(tag).size());
    }
    EXPECT_EQ(joined, EscapeMarkup(broken) + "\n");
  }
}

TEST(Tree, EveryNodeHasItsOwnRowWithItsIdea) {
  const Written report = Write({});
  const std::string tree = TreeChart(report.view);
  EXPECT_EQ(Count(tree, "<a class='row"), report.view.nodes.size());
  for (const RunNode& n : report.view.nodes) EXPECT_THAT(tree, HasSubstr(EscapeMarkup(n.idea)));
  // Both speedups appear, each under its name.
  EXPECT_THAT(tree, AllOf(HasSubstr("over the seed</span>"), HasSubstr("over the best then</span>")));
  // A parent is above its children, and only a main child shares its lane.
  EXPECT_EQ(Count(tree, "class='row best'"), 1u);
}

TEST(Tree, AChainIsStraightHoweverItBranches) {
  RunView view;
  for (int i = 0; i < 9; ++i) {  // 0 - 2 - 4 - 6 - 8, each with a leaf next to it
    RunNode n;
    n.id = i;
    n.parent = i == 0 ? -1 : (i - 1) / 2 * 2;
    view.nodes.push_back(n);
  }
  view.best = 8;
  const std::string tree = TreeChart(view);
  EXPECT_THAT(tree, HasSubstr("<svg width='36' height='234'")) << "two lanes, nine rows";
  EXPECT_THAT(tree, HasSubstr("M10 13V65M10 65V117M10 117V169M10 169V221")) << "the way to the best: 8 stands in row 8";
}

TEST(Bars, ADifferenceThatDoesNotCountIsGreyAndNoAlarm) {
  EXPECT_EQ(BarClass(0.999, 0.999), " same");
  EXPECT_EQ(BarClass(0.98, 1.02), " same");
  EXPECT_EQ(BarClass(1.02, 1.03), "");
  EXPECT_EQ(BarClass(0.90, 0.91), " slow");
  Evaluation e = SyntheticEvaluation(0.999 / 1.08, /*modelled=*/true, 0);
  e.cases.resize(1);
  const std::string bars = SpeedupBars(e, "the seed");
  EXPECT_THAT(bars, AllOf(HasSubstr("0.999×"), HasSubstr("'fill same'"), Not(HasSubstr("slow"))));
  // The bars show which share of the floor's speed the kernel reaches, and which share the start reached.
  EXPECT_THAT(bars, AllOf(HasSubstr("62 % of the floor’s speed, was 62 %"), HasSubstr("fill floored")));
}

TEST(Report, TheLargestFigureIsKnown) {
  Written report = Write({});
  EXPECT_THAT(HtmlReport(*report.store, report.view).value(), HasSubstr("<b>$0.72</b>"));
  report.view.unpriced_replies = report.view.replies;
  report.view.cost_usd = 0;
  const std::string html = HtmlReport(*report.store, report.view).value();
  EXPECT_THAT(html, AllOf(HasSubstr("k</b><span>tokens in 48 requests; their cost is not known"),
                          Not(HasSubstr("<b>unknown</b>"))));
}

TEST(Report, NodesThatLostSayWhyAndShowTheirShapesAndTheirDifference) {
  const Written report = Write({});
  const std::string html = HtmlReport(*report.store, report.view).value();
  size_t lost = 0;
  for (const RunNode& n : report.view.nodes) {
    const size_t begin = html.find(fmt::format("id=node-{}>", n.id)), end = html.find("</div></details>\n<", begin);
    const std::string block = html.substr(begin, end - begin);
    if (n.id == 0) continue;
    if (!n.source_hash.empty()) {
      EXPECT_THAT(block, HasSubstr("class=add data-n="));
    }
    if (!n.gain) continue;
    EXPECT_THAT(block,
                AllOf(HasSubstr("batch=1024"), HasSubstr(fmt::format("over node {}, the best then", n.incumbent))));
    if (n.kept) continue;
    ++lost;
    EXPECT_THAT(block, HasSubstr("Not kept: "));
  }
  EXPECT_GT(lost, 0u);
}

TEST(Report, SweepsAreFoldedSortedAndTheBestIsMarked) {
  Written report = Write({});
  for (int i = 0; i < 37; ++i) {
    SweepPoint p;
    p.node = 1;
    p.incumbent = 0;
    p.binding = {{"BLOCK", 32 * (i + 1)}};
    p.evaluation = SyntheticEvaluation(i == 20 ? 1.3 : 1.0 - 0.001 * i, /*modelled=*/false, 0.001);
    if (i == 3) p.evaluation.verdict = Verdict::kResourceLimit, p.evaluation.detail = "too many\nregisters";
    report.view.sweep.push_back(p);
  }
  const std::string html = HtmlReport(*report.store, report.view).value();
  const std::string sweeps =
      html.substr(html.find("<h2 id=sweeps>"), html.find("<h2 id=kernel>") - html.find("<h2 id=sweeps>"));
  EXPECT_THAT(sweeps, HasSubstr("<details><summary>Node 1: 37 bindings, 1 failed; the best: BLOCK=672 at"));
  EXPECT_EQ(Count(sweeps, "<tr class=best>"), 1u);
  EXPECT_LT(sweeps.find("BLOCK=672 <small>best"), sweeps.find("BLOCK=32<"));
  EXPECT_LT(sweeps.find("BLOCK=1184<"), sweeps.find("BLOCK=128<")) << "failures come last";
  EXPECT_THAT(sweeps, AllOf(HasSubstr("resource_<wbr>limit"), HasSubstr("too many<")));
  EXPECT_THAT(html, HasSubstr("37 bindings swept, 0 kept"));
}

TEST(Show, ANodeIsTheSameInJson) {
  const Written report = Write({});
  const nlohmann::json json =
      nlohmann::json::parse(NodeToJson(*report.store, report.view, 1, /*prompts=*/true).value());
  EXPECT_EQ(json["id"], 1);
  EXPECT_EQ(json["turns"][0]["role"], "planner");
  EXPECT_EQ(json["memos"][0]["kind"], "plan");
  ASSERT_EQ(json["requests"].size(), 2u);
  EXPECT_THAT(json["requests"][1]["reply"].get<std::string>(), HasSubstr("IDEA:"));
  EXPECT_FALSE(
      nlohmann::json::parse(NodeToJson(*report.store, report.view, 1, /*prompts=*/false).value()).contains("requests"));
  EXPECT_EQ(NodeToJson(*report.store, report.view, 99, /*prompts=*/false).status().code(), StatusCode::kNotFound);
}

TEST(Show, TimesCarryTheirIntervalsAndAWrongNodeItsFirstMismatch) {
  const Written report = Write({});
  std::string text;
  for (const RunNode& n : report.view.nodes)
    text += NodeText(*report.store, report.view, n.id, /*prompts=*/false).value();
  EXPECT_THAT(text, HasSubstr("first wrong: out[3, 1020, 0] is 0, expected 0.731; 11 of 11231 elements wrong"));
  EXPECT_THAT(text, HasSubstr("12.96 us [12.91 us, 13.01 us]"));
  EXPECT_THAT(text, HasSubstr("asked: planner (temperature 0.8), then coder (temperature 0.1)"));
  EXPECT_THAT(text, HasSubstr("--- plan (regions rmsnorm_rows) ---"));
}

TEST(Report, WithoutAModelNothingWasAskedOrSpent) {
  SyntheticRun run;
  run.model = "builtin";
  const Written report = Write(run);
  const std::string html = HtmlReport(*report.store, report.view).value();
  EXPECT_THAT(html, HasSubstr("mechanical rewrites; no model was asked"));
  EXPECT_THAT(html, HasSubstr("; a mechanical rewrite, no model was asked"));
  EXPECT_THAT(html, Not(HasSubstr("asked: ")));
  const std::string text = NodeText(*report.store, report.view, 1, /*prompts=*/false).value();
  EXPECT_THAT(text, HasSubstr("made by a mechanical rewrite; no model was asked\n"));
  EXPECT_THAT(text, Not(HasSubstr("asked: ")));
}

TEST(Show, SaysNothingTwice) {
  const Written report = Write({});
  RunView view = report.view;
  RunNode& node = view.nodes.at(1);
  node.detail = "out differs from the oracle: 3 of 8 elements wrong, first at [1]: got 0, expected 1";
  node.evaluation = Evaluation{};
  node.evaluation->verdict = Verdict::kWrongOutput;
  node.evaluation->detail = node.detail;
  node.evaluation->mismatch = Mismatch{"out", {}, "normal", {1}, 1, 0, 3, 8, 1};
  node.evaluation->findings = {{"wrong", node.detail, "candidate.cu:3"},
                               {"out_of_bounds", "reads beyond x at candidate.cu:3", "candidate.cu:3"}};
  const std::string text = NodeText(*report.store, view, 1, /*prompts=*/false).value();
  EXPECT_EQ(Count(text, "elements wrong"), 1u) << text;
  EXPECT_EQ(Count(text, "candidate.cu:3"), 1u) << text;
  EXPECT_EQ(Count(text.substr(0, text.find("---")), node.idea), 1u) << text;
}

// Returns what the printer writes for a run's events.
std::string PrintedText(bool terminal, bool colour, double max_seconds) {
  const Written report = Write({});
  std::string out;
  double clock = 1'790'000'000;
  ProgressPrinter printer([&](const std::string& text) { out += text; }, terminal, [&] { return clock; }, 160, colour);
  RunFold fold(report.store->Runs().value()[0]);
  const std::vector<Event> events = report.store->Events(report.view.info.id).value();
  for (const Event& e : events) {
    clock = e.time;
    EXPECT_TRUE(fold.Apply(e).ok());
    RunView view = fold.view();
    view.options.max_seconds = max_seconds;
    printer.OnEvent(e, view);
    printer.OnActivity(fmt::format("event {}", e.sequence));
  }
  return out;
}

TEST(Progress, ATerminalSeesAttemptSpendAndWhatIsLeft) {
  const std::string limited = PrintedText(/*terminal=*/true, /*colour=*/false, 600);
  EXPECT_THAT(limited, AllOf(HasSubstr("attempt 24 of 24"), HasSubstr("k tokens, $0.7"), HasSubstr(" left"),
                             Not(HasSubstr("about"))));
  EXPECT_THAT(PrintedText(/*terminal=*/true, /*colour=*/false, 0), HasSubstr("about "));
  EXPECT_THAT(limited, Not(HasSubstr("\x1b[3")));
}

// In a file, the line with a failure's reason is whole; on a terminal it is cut, with "…" at the end.
TEST(Progress, AReasonIsCutForTerminalsOnly) {
  const Written report = Write({});
  const std::vector<Event> events = report.store->Events(report.view.info.id).value();
  for (const bool terminal : {false, true}) {
    std::string out;
    ProgressPrinter printer([&](const std::string& text) { out += text; }, terminal, [] { return 1.0; }, 30,
                            /*colour=*/false);
    RunFold fold(report.store->Runs().value()[0]);
    std::string reason;
    for (const Event& e : events) {
      ASSERT_TRUE(fold.Apply(e).ok());
      printer.OnEvent(e, fold.view());
      if (e.kind != EventKind::kEvaluation) continue;
      const Evaluation& evaluation = *fold.view().node(e.node).evaluation;
      if (evaluation.verdict != Verdict::kOk && evaluation.detail.size() > 40) reason = evaluation.detail;
    }
    ASSERT_FALSE(reason.empty());
    const std::string first = reason.substr(0, reason.find('\n'));
    if (terminal) {
      EXPECT_THAT(out, AllOf(Not(HasSubstr(first)), HasSubstr("        " + first.substr(0, 20) + "…\n")));
    } else {
      EXPECT_THAT(out, HasSubstr("        " + first + "\n"));
    }
  }
}

TEST(Progress, ColourIsAsked) {
  const std::string coloured = PrintedText(/*terminal=*/true, /*colour=*/true, 600);
  EXPECT_THAT(coloured, AllOf(HasSubstr("\x1b[32m"), HasSubstr("\x1b[31m"), HasSubstr("\x1b[0m\n")));
  EXPECT_THAT(PrintedText(/*terminal=*/false, /*colour=*/false, 600), Not(HasSubstr("\x1b")));
}

TEST(RunSummary, AFinishedRunIsToldWithoutItsFold) {
  const Written report = Write({});
  const std::vector<RunSummary> runs = SummarizeRuns(*report.store).value();
  ASSERT_EQ(runs.size(), 1u);
  const RunSummary quick = runs[0], folded = Summarize(report.view);
  EXPECT_EQ(quick.attempts, folded.attempts);
  EXPECT_EQ(quick.right, folded.right);
  EXPECT_EQ(quick.evaluations, folded.evaluations);
  EXPECT_EQ(quick.requests, folded.requests);
  EXPECT_EQ(quick.tokens, folded.tokens);
  EXPECT_DOUBLE_EQ(quick.cost_usd, folded.cost_usd);
  EXPECT_DOUBLE_EQ(*quick.speedup, *folded.speedup);
  EXPECT_EQ(quick.best_idea, folded.best_idea);
  EXPECT_EQ(quick.faster, folded.faster);
  EXPECT_NEAR(quick.seconds, folded.seconds, 1e-6);
  EXPECT_EQ(quick.state, folded.state);
  EXPECT_THAT(RunsTable(runs), AllOf(HasSubstr(quick.info.id), HasSubstr("$0.72"), HasSubstr("attempts_spent"),
                                     Not(HasSubstr("modelled"))));
  const nlohmann::json json = nlohmann::json::parse(RunSummaryToJson(runs));
  EXPECT_EQ(json[0]["proven"], true);
}

// The log of a process that was killed has no end event, but its time is included in the run's.
TEST(RunSummary, TimeOfKilledSittingsCounts) {
  const Written report = Write({});
  const std::vector<Event> events = report.store->Events(report.view.info.id).value();
  ASSERT_GT(events.size(), 4u);
  const std::unique_ptr<RunStore> store = MakeMemoryRunStore();
  RunInfo info = report.view.info;
  info.id = "killed";
  info.events = 0;
  ASSERT_TRUE(store->CreateRun(info).ok());
  double time = events[0].time + 100;
  for (size_t i = 0; i < events.size(); ++i) {
    const Event& e = events[i];
    if (i == 3) {  // the previous sitting has no end event
      ASSERT_TRUE(store->Append("killed", {EventKind::kResumed, time + 1000, -1, "{}", "", {}}).ok());
      time += 1000;
    }
    ASSERT_TRUE(store->Append("killed", {e.kind, i == 0 ? e.time : ++time, e.node, e.payload, e.evaluation, {}}).ok());
  }
  const std::vector<RunSummary> runs = SummarizeRuns(*store).value();
  ASSERT_TRUE(runs.at(0).proven);
  const RunView view = LoadRun(*store, "killed").value();
  EXPECT_GT(view.seconds, 100);
  EXPECT_NEAR(runs[0].seconds, view.seconds, 1e-6);
}

TEST(RunSummary, AnOpenRunIsFoldedAndItsSpeedupAnEstimate) {
  SyntheticRun run;
  run.end = false;
  run.modelled = true;
  const Written report = Write(run);
  const std::vector<RunSummary> runs = SummarizeRuns(*report.store).value();
  EXPECT_FALSE(runs.at(0).proven);
  EXPECT_THAT(RunsTable(runs), AllOf(HasSubstr("x~"), HasSubstr("not paired with what the run began with"), HasSubstr("modelled")));
  EXPECT_THAT(RunsTable({}), HasSubstr("hone optimize"));
}

// Returns the summary of a run with this result.
RunSummary OneSummary(const std::string& strategy, const std::string& task, double speedup, int64_t right = 3) {
  RunSummary s;
  s.info.id = strategy + "-" + task;
  s.info.strategy = strategy;
  s.info.task = task;
  s.info.model = "m";
  s.info.device = "cuda:0";
  s.attempts = 30;
  s.right = right;
  s.speedup = speedup;
  s.proven = true;
  s.faster = speedup > 1;
  s.cost_usd = 0.5;
  s.state = "attempts_spent";
  return s;
}

TEST(RunComparison, HasThePapersColumns) {
  const RunComparison c =
      CompareRuns({OneSummary("sample", "a", 1.0, 0), OneSummary("sample", "b", 1.21), OneSummary("tree", "a", 2.0),
                   OneSummary("tree", "b", 8.0), OneSummary("tree", "c", 4.0)});
  ASSERT_EQ(c.rows.size(), 2u);
  EXPECT_EQ(c.rows[0].name, "tree");
  EXPECT_NEAR(c.rows[0].geomean, 4.0, 1e-9);
  EXPECT_NEAR(c.rows[0].median, 4.0, 1e-9);
  EXPECT_NEAR(c.rows[1].geomean, 1.1, 1e-9);
  EXPECT_NEAR(c.rows[1].median, 1.105, 1e-9);
  EXPECT_EQ(c.rows[1].successes, 1);
  EXPECT_EQ(c.rows[1].faster, 1);
  EXPECT_DOUBLE_EQ(c.rows[0].cost_usd, 1.5);
  ASSERT_EQ(c.warnings.size(), 1u);
  EXPECT_THAT(c.warnings[0], AllOf(HasSubstr("sample"), HasSubstr("not run on c")));
  const std::string text = ComparisonText(c);
  EXPECT_THAT(text, AllOf(HasSubstr("50.0%"), HasSubstr("100.0%"), HasSubstr("4.000x"), HasSubstr("1.210x"),
                          HasSubstr("$1.50")));
  const nlohmann::json json = nlohmann::json::parse(ComparisonToJson(c));
  EXPECT_EQ(json["strategies"][0]["name"], "tree");
  EXPECT_EQ(json["runs"].size(), 5u);
  EXPECT_THAT(ComparisonHtml(c), AllOf(HasSubstr("5 runs compared"), HasSubstr("4.000×"), Not(HasSubstr("<script"))));
}

TEST(RunComparison, TheFoldersOfACommandPushNoColumnAway) {
  std::vector<RunSummary> runs = {OneSummary("sample", "a", 2.0), OneSummary("sample", "b", 8.0)};
  runs[0].info.model = "exec:/home/somebody/environments/bin/python /home/somebody/agents/propose.py --quick";
  const std::string text = ComparisonText(CompareRuns(runs));
  EXPECT_THAT(text.substr(0, text.find("note:")),
              AllOf(HasSubstr("sample, exec:python propose.py --quick "), Not(HasSubstr("/home"))));
  runs[1].info.model = "exec:/usr/bin/python /srv/propose.py --quick";
  EXPECT_THAT(ComparisonText(CompareRuns(runs)),
              testing::AnyOf(HasSubstr("/srv/propose.py"), HasSubstr("/agents/propose.py")));
}

// Runs with different mailbox or spool folders have the same model and device, and are compared in one row.
TEST(RunComparison, MailboxesAndSpoolsOfRunsAreNoModelsAndDevicesOfTheirOwn) {
  std::vector<RunSummary> runs = {OneSummary("tree", "a", 2.0), OneSummary("tree", "b", 8.0),
                                  OneSummary("team", "a", 1.5)};
  for (size_t i = 0; i < runs.size(); ++i) {
    runs[i].info.model = fmt::format("mailbox:mail/{0}\nplanner=mailbox:plans/{0}", i);
    runs[i].info.device = fmt::format("spool:jobs/{}", i);
    runs[i].judged_by = "cuda:0 NVIDIA H200";
  }
  const RunComparison c = CompareRuns(runs);
  ASSERT_EQ(c.rows.size(), 2u);
  EXPECT_EQ(c.rows[0].name, "tree");
  EXPECT_NEAR(c.rows[0].geomean, 4.0, 1e-9);
  EXPECT_THAT(ComparisonText(c), AllOf(Not(HasSubstr("different devices")), HasSubstr("8.000x"), Not(HasSubstr("mailbox"))));
  runs[0].judged_by = "cuda:0 NVIDIA A100";
  runs[1].info.model = "mailbox:mail/1\nplanner=openai:gpt-5";
  const std::string text = ComparisonText(CompareRuns(runs));
  EXPECT_THAT(text, AllOf(HasSubstr("different devices (cuda:0 NVIDIA A100, cuda:0 NVIDIA H200)"), HasSubstr("tree, mailbox"),
                          HasSubstr("planner=openai:gpt-5")));
}

TEST(RunComparison, SaysWhatMakesItUnfair) {
  std::vector<RunSummary> runs = {OneSummary("refine", "a", 1.5), OneSummary("refine", "a", 1.2)};
  runs[1].info.model = "other";
  runs[1].info.device = "sim";
  runs[1].attempts = 5;
  runs[1].proven = false;
  runs[1].state = "interrupted";
  const RunComparison c = CompareRuns(runs);
  EXPECT_EQ(c.rows.size(), 2u);  // one strategy, two models
  EXPECT_THAT(ComparisonText(c),
              AllOf(HasSubstr("different devices"), HasSubstr("different numbers of attempts"),
                    HasSubstr("an estimate"), HasSubstr("not finished"), HasSubstr("refine, other")));
}

}  // namespace
}  // namespace hone
