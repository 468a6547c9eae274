// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the real program on the simulated device: the mechanical rewrites of shipped seeds are right, a run finds
// a faster kernel and proves it, and a run whose process is killed resumes where its log ends.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/process/subprocess.h"
#include "tuner/model/builtin/rewrite.h"
#include "tuner/run/log/open_run.h"

namespace hone {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string kProgram = HONE_BINARY_DIR "/bin/hone";

class OptimizeEndToEnd : public testing::Test {
 protected:
  void SetUp() override { scratch_ = MakeTemporaryDirectory().value(); }

  std::vector<std::string> Environment() const {
    return {"PATH=/usr/local/bin:/usr/bin:/bin", "HONE_CACHE=" HONE_BINARY_DIR "/tests/cache",
            "HONE_STATE=" + scratch_.path()};
  }
  // Returns standard output; checks the exit status.
  std::string Hone(std::vector<std::string> arguments, int wanted_status) {
    SubprocessOptions options;
    options.argv = {kProgram};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.environment = Environment();
    options.working_directory = HONE_SOURCE_DIR;
    options.limit_seconds = 600;
    Result<SubprocessResult> result = RunSubprocess(options);
    EXPECT_TRUE(result.ok()) << result.status().message();
    if (!result.ok()) return "";
    EXPECT_EQ(result->exit.exit_status, wanted_status) << result->err << result->out;
    return result->out;
  }
  std::string store_path() const { return scratch_ / "runs.sqlite"; }
  // Writes the task fused_add_rmsnorm with a single timed case, where rewrites of the seed gain, into a folder, which it
  // returns: each judgement of a run times every timed case.
  std::string QuickTask() {
    const std::filesystem::path from = HONE_SOURCE_DIR "/tasks/fused_add_rmsnorm", to = scratch_ / "fused_add_rmsnorm";
    std::filesystem::copy(from, to);
    std::string toml = ReadFile(to / "task.toml").value();
    int kept_nodes = 0;
    for (size_t at = toml.find("[[case]]\nrole = \"time\"\n"); at != std::string::npos;) {
      const size_t end = std::min(toml.find("[[case]]", at + 1), toml.size());
      const bool keep = toml.substr(at, end - at).find("{ tokens = 256, d = 4096 }") != std::string::npos;
      kept_nodes += keep ? 1 : 0;
      if (!keep) toml.erase(at, end - at);
      at = toml.find("[[case]]\nrole = \"time\"\n", keep ? end : at);
    }
    EXPECT_EQ(kept_nodes, 1);
    EXPECT_TRUE(WriteFileAtomically(to / "task.toml", toml).ok());
    return to;
  }

  TemporaryDirectory scratch_;
};

// A task's seed with all rewrites, on top of each other, except use-fast-math, which may break a tolerance.
struct Rewritten {
  std::string task, source;
  std::set<std::string> rewrites;
};

std::vector<Rewritten> RewrittenSeeds() {
  std::vector<Rewritten> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(HONE_SOURCE_DIR "/tasks")) {
    if (!std::filesystem::exists(entry.path() / "seed.cu")) continue;
    const Task task = LoadTask(entry.path().string()).value();
    Rewritten seed{task.name, task.seed_source, {}};
    for (const Rewrite& rewrite : AllRewrites()) {
      if (rewrite.name == "use-fast-math") continue;
      const Candidate candidate = ParseCandidate(seed.source, "c.cu", task).value();
      const RewriteOutcome outcome = rewrite.apply(SourceView::Make(candidate, task).value());
      if (!outcome.applied()) continue;
      seed.source = outcome.source;
      seed.rewrites.insert(std::string(rewrite.name));
    }
    EXPECT_FALSE(seed.rewrites.empty()) << task.name;
    seeds.push_back(std::move(seed));
  }
  // The shortest come first: a long kernel takes ten times as long to compile and to simulate.
  std::sort(seeds.begin(), seeds.end(), [](const Rewritten& a, const Rewritten& b) {
    return std::pair(a.source.size(), a.task) < std::pair(b.source.size(), b.task);
  });
  return seeds;
}

// Every rewrite is right on two of the tasks that it applies to, where there are two; with HONE_TEST_WHOLE=1, on every
// task.
TEST_F(OptimizeEndToEnd, AllRewritesTogetherAreRight) {
  const std::vector<Rewritten> seeds = RewrittenSeeds();
  EXPECT_GE(seeds.size(), 12u);
  std::map<std::string, int> judged;
  for (const Rewritten& seed : seeds) {
    SCOPED_TRACE(seed.task);
    const bool is_new = std::any_of(seed.rewrites.begin(), seed.rewrites.end(),
                                    [&](const std::string& name) { return judged[name] < 2; });
    if (!is_new && std::getenv("HONE_TEST_WHOLE") == nullptr) continue;
    const std::string path = scratch_ / (seed.task + ".cu");
    ASSERT_TRUE(WriteFileAtomically(path, seed.source).ok());
    const json evaluation = json::parse(Hone({"eval", seed.task, path, "--device", "sim", "--no-time", "--trials", "1",
                                              "--seed", "11", "--launch-limit", "200", "--json"},
                                             0));
    EXPECT_EQ(evaluation["verdict"], "ok") << fmt::format("{} ", fmt::join(seed.rewrites, " ")) << evaluation["detail"];
    for (const std::string& name : seed.rewrites) ++judged[name];
  }
  EXPECT_GE(judged.size(), 5u) << "so few rewrites apply to the tasks that ship";
}

TEST_F(OptimizeEndToEnd, FindsAFasterKernelAndProvesIt) {
  const std::string task = QuickTask();
  const json run = json::parse(Hone({"optimize", task, "--device", "sim", "--model", "builtin",
                                     "--attempts", "1", "--sweep-points", "4", "--floor-fraction", "2", "--launch-limit", "200",
                                     "--json"},
                                    0));
  EXPECT_EQ(run["modelled"], true);
  EXPECT_EQ(run["state"], "attempts_spent");
  ASSERT_TRUE(run.contains("final"));
  EXPECT_EQ(run["final"]["evaluation"]["verdict"], "ok");
  EXPECT_GT(run["final"]["evaluation"]["geomean_speedup"].get<double>(), 1.0);
  const std::string report = ReadFile(run["report"].get<std::string>()).value();
  EXPECT_THAT(report, HasSubstr("modelled"));
  EXPECT_THAT(report, HasSubstr("</html>"));
  // The kernel is a file like any other.
  const std::string kernel = run["kernel"];
  EXPECT_EQ(
      json::parse(Hone({"eval", task, kernel, "--device", "sim", "--no-time", "--json"}, 0))["verdict"],
      "ok");
  // Replays the same tree from its recorded replies, in a separate folder.
  const std::string exported = scratch_ / "run.jsonl";
  Hone({"show", "last", "--export", exported}, 0);
  const json again = json::parse(Hone({"optimize", task, "--device", "sim", "--model",
                                       "replay:" + exported, "--attempts", "1", "--sweep-points", "4", "--floor-fraction", "2", "--json"},
                                      0));
  ASSERT_EQ(again["nodes"].size(), run["nodes"].size());
  for (size_t i = 0; i < run["nodes"].size(); ++i) {
    for (const char* field : {"parent", "idea", "verdict", "kept", "source"})
      EXPECT_EQ(again["nodes"][i][field], run["nodes"][i][field]) << i << field;
  }
  EXPECT_THAT(Hone({"runs"}, 0), HasSubstr(run["run"].get<std::string>()));
  // The seed's own tunables are swept first, so the first attempt is node 2.
  EXPECT_THAT(Hone({"show", exported, "1"}, 0), HasSubstr("sweep of seed.cu's tunables"));
  EXPECT_THAT(Hone({"show", exported, "2"}, 0), HasSubstr("keep-values-between-passes"));
}

TEST_F(OptimizeEndToEnd, KilledInTheMiddleItGoesOnWhereItsLogEnds) {
  const std::string task = QuickTask();
  const pid_t child = fork();
  if (child == 0) {
    const std::vector<std::string> environment = Environment();
    std::vector<char*> envp;
    for (const std::string& e : environment) envp.push_back(const_cast<char*>(e.c_str()));
    envp.push_back(nullptr);
    if (chdir(HONE_SOURCE_DIR) != 0 || freopen("/dev/null", "w", stdout) == nullptr) _exit(1);
    const char* argv[] = {kProgram.c_str(), "optimize", task.c_str(), "--device", "sim",  "--attempts", "2",
                          "--sweep-points", "4",        "--floor-fraction",  "2",        "--launch-limit", "200", nullptr};
    execve(kProgram.c_str(), const_cast<char**>(argv), envp.data());
    _exit(127);
  }
  // Kill it once the seed was judged and the first request is out.
  std::vector<Event> before;
  const Stopwatch watch;
  int state = 0;
  bool alive = true;
  while (alive && before.size() < 6 && watch.Seconds() < 500) {
    usleep(20'000);
    alive = waitpid(child, &state, WNOHANG) == 0;
    if (!FileExists(store_path())) continue;
    Result<std::unique_ptr<RunStore>> store = OpenSqliteRunStore(store_path());
    if (!store.ok()) continue;
    Result<RunInfo> run = (*store)->FindRun("last");
    if (run.ok()) before = (*store)->Events(run->id).value();
  }
  ASSERT_TRUE(alive) << "it ended before it could be killed";
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, &state, 0), child);
  ASSERT_TRUE(WIFSIGNALED(state));
  std::unique_ptr<RunStore> store = OpenSqliteRunStore(store_path()).value();
  const std::string id = store->FindRun("last").value().id;
  before = store->Events(id).value();

  Hone({"optimize", "--resume", id, "--json"}, 0);
  const std::vector<Event> after = store->Events(id).value();
  ASSERT_GT(after.size(), before.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after[i].payload, before[i].payload);
    EXPECT_EQ(after[i].evaluation, before[i].evaluation);
  }
  EXPECT_EQ(after[before.size()].kind, EventKind::kResumed);
  const RunView view = LoadRun(*store, id).value();
  EXPECT_EQ(view.sittings, 2);
  EXPECT_EQ(view.attempts, 2);
  EXPECT_EQ(view.ended, "attempts_spent");
}

TEST_F(OptimizeEndToEnd, BadUsageIsToldWhatToDo) {
  const auto error = [&](std::vector<std::string> arguments) {
    SubprocessOptions options;
    options.argv = {kProgram};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.environment = Environment();
    options.working_directory = HONE_SOURCE_DIR;
    options.limit_seconds = 300;
    const SubprocessResult result = RunSubprocess(options).value();
    EXPECT_EQ(result.exit.exit_status, 2) << result.err;
    return result.err;
  };
  EXPECT_THAT(error({"optimize"}), HasSubstr("--resume"));
  EXPECT_THAT(error({"optimize", "relu", "--model", "oracle", "--device", "sim"}), HasSubstr("mailbox:DIR"));
  EXPECT_THAT(error({"optimize", "relu", "--strategy", "luck", "--device", "sim"}), HasSubstr("refine"));
  EXPECT_THAT(error({"optimize", "--resume", "nothing"}), HasSubstr("no run 'nothing'"));
  EXPECT_THAT(error({"show", "last"}), HasSubstr("no run 'last'"));
  EXPECT_THAT(error({"report", "/no/such.jsonl"}), HasSubstr("/no/such.jsonl"));
}

}  // namespace
}  // namespace hone
