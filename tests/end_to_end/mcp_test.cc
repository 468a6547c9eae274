// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests `hone mcp` as a coding agent's client starts it: lines through pipes, real tasks, the simulated GPU.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/process/subprocess.h"
#include "tuner/mcp/answer_budget.h"
#include "tuner/mcp/schema.h"

namespace hone {
namespace {

using mcp::Json;
using testing::HasSubstr;
const std::string kSource = HONE_SOURCE_DIR;

std::string Text(const std::string& path) { return ReadFile(path).value(); }

// A server process whose root is `root` and whose state folder is `state`.
class Server {
 public:
  Server(const std::string& root, const std::string& state, std::vector<std::string> more = {}) {
    int in[2], out[2];
    EXPECT_EQ(pipe2(in, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
    UniqueFd child_in(in[0]), child_out(out[1]);
    to_.Reset(in[1]);
    from_.Reset(out[0]);
    ChildOptions options;
    options.argv = {HONE_BINARY_DIR "/bin/hone", "mcp", "--root", root};
    options.argv.insert(options.argv.end(), more.begin(), more.end());
    if (std::find(more.begin(), more.end(), "--device") == more.end())
      options.argv.insert(options.argv.end(), {"--device", "sim"});
    options.environment = {"PATH=/usr/local/cuda/bin:/usr/bin:/bin", "HONE_CACHE=" HONE_BINARY_DIR "/tests/cache",
                           "HONE_STATE=" + state};
    options.working_directory = root;
    options.descriptors = {{child_in.get(), 0}, {child_out.get(), 1}, {2, 2}};
    Result<ChildProcess> child = ChildProcess::Start(options);
    EXPECT_TRUE(child.ok()) << child.status().message();
    if (child.ok()) child_.emplace(std::move(*child));
  }

  void Send(const Json& message) {
    const std::string text = message.dump() + "\n";
    for (size_t sent = 0; sent < text.size();) {
      const ssize_t put = write(to_.get(), text.data() + sent, text.size() - sent);
      if (put <= 0) return;
      sent += static_cast<size_t>(put);
    }
  }
  Json Next(double seconds = 240) {
    const double until = SteadySeconds() + seconds;
    while (buffer_.find('\n') == std::string::npos) {
      pollfd source{from_.get(), POLLIN, 0};
      if (SteadySeconds() > until || poll(&source, 1, 1000) < 0) return nullptr;
      if (source.revents == 0) continue;
      char block[65536];
      const ssize_t got = read(from_.get(), block, sizeof block);
      if (got <= 0) return nullptr;
      buffer_.append(block, static_cast<size_t>(got));
    }
    const size_t end = buffer_.find('\n');
    const Json message = Json::parse(buffer_.substr(0, end), nullptr, false);
    buffer_.erase(0, end + 1);
    return message;
  }
  // Returns the result of a request; counts the progress messages before it.
  Json Ask(const std::string& method, Json params = Json::object()) {
    Send({{"jsonrpc", "2.0"}, {"id", ++id_}, {"method", method}, {"params", std::move(params)}});
    Json answer = Next();
    while (answer.is_object() && answer.contains("method")) {
      ++progress;
      answer = Next();
    }
    EXPECT_TRUE(answer.is_object() && answer.contains("result")) << method << ": " << answer.dump().substr(0, 500);
    return answer.is_object() ? answer.value("result", Json::object()) : Json::object();
  }
  // Calls a tool and returns its answer, which is checked against the tool's own schema and against the limits of
  // clients.
  Json Call(const std::string& tool, Json arguments, bool error = false) {
    if (tools_.is_null()) {
      const Json listed = Ask("tools/list");
      for (const Json& one : listed.at("tools")) tools_[one.at("name").get<std::string>()] = one;
    }
    EXPECT_TRUE(tools_.contains(tool)) << tool;
    const Json result =
        Ask("tools/call", {{"name", tool}, {"arguments", std::move(arguments)}, {"_meta", {{"progressToken", "p"}}}});
    const std::string text = result.at("content").at(0).at("text");
    EXPECT_EQ(result.at("isError"), error) << tool << ": " << text;
    EXPECT_LE(text.size(), mcp::kAnswerBytes) << tool;
    EXPECT_FALSE(text.empty()) << tool;
    if (error) return text;
    const Json structured = result.at("structuredContent");
    EXPECT_LE(structured.dump().size(), mcp::kAnswerBytes) << tool;
    const Status fits = mcp::CheckAgainst(tools_.at(tool).at("outputSchema"), structured, tool);
    EXPECT_TRUE(fits.ok()) << fits.message();
    last_text = text;
    return structured;
  }
  void CloseInput() { to_.Reset(); }
  void CloseOutput() { from_.Reset(); }
  std::optional<ExitState> End(double seconds = 60) { return child_->Wait(seconds); }
  pid_t pid() const { return child_->pid(); }

  int progress = 0;
  std::string last_text;

 private:
  UniqueFd to_, from_;
  std::optional<ChildProcess> child_;
  std::string buffer_;
  int id_ = 0;
  Json tools_;
};

class McpServer : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryDirectory> made = MakeTemporaryDirectory();
    ASSERT_TRUE(made.ok());
    scratch_ = std::move(*made);
    root_ = scratch_ / "root";
    state_ = scratch_ / "state";
    std::filesystem::create_directories(root_);
  }
  void Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = std::filesystem::path(root_) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  // Makes a task in the root: relu with its first shape alone.
  void SmallRelu() {
    std::string toml = Text(kSource + "/tasks/relu/task.toml");
    const size_t begin = toml.find("[[case]]\nrole = \"time\"\ndims = { rows = 4096, d = 8192 }"),
                 end = toml.find("[[case]]\nrole = \"check\"");
    ASSERT_LT(begin, end);
    toml.erase(begin, end - begin);
    toml.replace(toml.find("\"relu\""), 6, "\"small\"");
    Write("tasks/small/task.toml", toml);
    for (const char* file : {"oracle.cu", "seed.cu"})
      Write(std::string("tasks/small/") + file, Text(kSource + "/tasks/relu/" + file));
  }
  TemporaryDirectory scratch_;
  std::string root_, state_;
};

TEST_F(McpServer, LeadsFromTheTasksToAJudgedKernelInFourCalls) {
  Server server(root_, state_);
  const Json listed = server.Call("tasks", Json::object());
  std::set<std::string> names;
  for (const Json& task : listed.at("tasks")) names.insert(task.at("name").get<std::string>());
  ASSERT_TRUE(names.contains("relu"));

  const Json task = server.Call("task", {{"name", "relu"}});
  EXPECT_EQ(task.at("task").at("name"), "relu");
  EXPECT_THAT(task.at("candidate_guide").get<std::string>(), HasSubstr("/*hone"));
  EXPECT_THAT(server.last_text, HasSubstr("[[launch]]"));
  // Structured content and text each contain enough to write a candidate from.
  const std::string seed = task.at("seed");
  EXPECT_THAT(server.last_text, HasSubstr(seed));

  const Json wrong = server.Call("eval", {{"task", "relu"}, {"source", "__global__ void f() {}"}});
  EXPECT_EQ(wrong.at("verdict"), "parse_error");
  EXPECT_FALSE(wrong.at("detail").get<std::string>().empty());

  const Json judged = server.Call("eval", {{"task", "relu"}, {"source", seed}, {"cases", {0}}, {"warm", false}});
  EXPECT_EQ(judged.at("verdict"), "ok") << judged.at("detail");
  EXPECT_TRUE(judged.at("modelled"));
  EXPECT_GT(server.progress, 0);
  // The whole evaluation is a resource, which another server finds too.
  Server next(root_, state_);
  const Json resource = next.Ask("resources/read", {{"uri", judged.at("address")}});
  EXPECT_EQ(Json::parse(resource.at("contents").at(0).at("text").get<std::string>()).at("verdict"), "ok");
}

TEST_F(McpServer, SaysWhatIsWrongWithACallAndKeepsToItsRoot) {
  Server server(root_, state_);
  EXPECT_THAT(server.Call("task", {{"name", "rellu"}}, /*error=*/true).get<std::string>(),
              HasSubstr("did you mean 'relu'"));
  EXPECT_THAT(server.Call("eval", {{"task", "relu"}}, /*error=*/true).get<std::string>(),
              HasSubstr("give the candidate as text in 'source'"));
  EXPECT_THAT(
      server.Call("eval", {{"task", "relu"}, {"source", "x"}, {"path", "y"}}, /*error=*/true).get<std::string>(),
      HasSubstr("not both"));
  EXPECT_THAT(server.Call("eval", {{"task", "relu"}, {"source", "x"}, {"seed", 7}}, /*error=*/true).get<std::string>(),
              HasSubstr("no field 'seed'"));
  EXPECT_THAT(server.Call("eval", {{"task", "relu"}, {"source", std::string((1 << 20) + 1, 'x')}}, /*error=*/true)
                  .get<std::string>(),
              HasSubstr("1048576 are taken at most"));
  const std::string seed = Text(kSource + "/tasks/relu/seed.cu");
  EXPECT_THAT(server.Call("eval", {{"task", "relu"}, {"source", seed}, {"bind", {{"VEK", 4}}}}, /*error=*/true)
                  .get<std::string>(),
              HasSubstr("no tunable 'VEK'"));
  EXPECT_THAT(
      server.Call("eval", {{"task", "relu"}, {"source", seed}, {"cases", {99}}}, /*error=*/true).get<std::string>(),
      HasSubstr("timed cases"));
  EXPECT_THAT(server.Call("eval", {{"task", "relu"}, {"source", seed}, {"device", "spool:/tmp"}}, /*error=*/true)
                  .get<std::string>(),
              HasSubstr("when the server is started"));
  EXPECT_THAT(server.Call("eval", {{"task", "relu"}, {"source", seed}, {"device", "sim:none"}}, /*error=*/true)
                  .get<std::string>(),
              HasSubstr("none"));
  for (const char* path : {"/etc/passwd", "../secret.cu", "link/secret.cu"}) {
    std::filesystem::create_directories(scratch_ / "outside");
    std::ofstream(scratch_ / "outside/secret.cu") << "secret";
    std::ofstream(scratch_ / "secret.cu") << "secret";
    std::error_code there_already;
    std::filesystem::create_directory_symlink(scratch_ / "outside", root_ + "/link", there_already);
    EXPECT_THAT(server.Call("eval", {{"task", "relu"}, {"path", path}}, /*error=*/true).get<std::string>(),
                HasSubstr("does not lie below"))
        << path;
  }
  // A candidate may be a file of the root; the task's seed may lie anywhere.
  Write("mine.cu", seed);
  EXPECT_EQ(server.Call("eval", {{"task", "relu"}, {"path", "mine.cu"}, {"time", false}}).at("verdict"), "ok");
  const std::string directory = server.Call("task", {{"name", "relu"}}).at("task").at("directory");
  EXPECT_EQ(server.Call("eval", {{"task", "relu"}, {"path", directory + "/seed.cu"}, {"time", false}}).at("verdict"),
            "ok");
}

TEST_F(McpServer, ComparesProfilesAndTunes) {
  Server server(root_, state_);
  SmallRelu();
  const std::string seed = Text(kSource + "/tasks/relu/seed.cu"),
                    slow = Text(kSource + "/tests/honest/relu_two_steps.cu");
  const Json compared = server.Call("compare", {{"task", "small"}, {"a", slow}, {"b", seed}});
  EXPECT_EQ(compared.at("verdict"), "ok");
  EXPECT_EQ(compared.at("judged"), "b against a");
  EXPECT_GT(compared.at("geomean_speedup"), 1.1);
  const Json wrong = server.Call(
      "compare", {{"task", "small"}, {"a", Text(kSource + "/tests/cheats/partial_last_block.cu")}, {"b", seed}});
  EXPECT_EQ(wrong.at("judged"), "a alone");
  EXPECT_EQ(wrong.at("verdict"), "wrong_output");

  const Json profiled = server.Call("profile", {{"task", "small"}, {"source", slow}});
  EXPECT_EQ(profiled.at("profile").at("source"), "simulator");

  Write("mine.cu", seed);
  const Json tuned = server.Call("tune", {{"task", "small"}, {"path", "mine.cu"}, {"points", 2}, {"out", "tuned.cu"}});
  EXPECT_EQ(tuned.at("points").size(), 2u);
  EXPECT_EQ(tuned.at("bindings_left_out"), 2);
  EXPECT_TRUE(FileExists(root_ + "/tuned.cu"));
  EXPECT_THAT(server.Call("tune", {{"task", "small"}, {"path", "mine.cu"}, {"out", "../tuned.cu"}}, /*error=*/true)
                  .get<std::string>(),
              HasSubstr("does not lie below"));
}

TEST_F(McpServer, MakesATaskOfAKernelAndTakesAKernelIntoAProgram) {
  Server server(root_, state_);
  const std::string kernel = R"cu(
__global__ void scale(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
void launch(const float* x, float* y, int n) { scale<<<(n + 255) / 256, 256>>>(x, y, n); }
)cu";
  const Json drafted_task = server.Call("new_task", {{"name", "doubled"},
                                                     {"source", kernel},
                                                     {"shape", {"x=n", "y=n"}},
                                                     {"role", {"y=out"}},
                                                     {"special", "inf,subnormal"}});
  EXPECT_TRUE(drafted_task.at("ready")) << drafted_task.dump();
  EXPECT_THAT(ReadFile(root_ + "/tasks/doubled/task.toml").value(), HasSubstr("special = [\"inf\", \"subnormal\"]"));
  EXPECT_TRUE(FileExists(root_ + "/tasks/doubled/oracle.cu"));
  EXPECT_THAT(server.Call("new_task", {{"name", "doubled"}, {"source", kernel}}, /*error=*/true).get<std::string>(),
              HasSubstr("force overwrites it"));
  EXPECT_THAT(server.Call("new_task", {{"name", "../doubled"}, {"source", kernel}}, /*error=*/true).get<std::string>(),
              testing::AnyOf(HasSubstr("no task name"), HasSubstr("does not lie below")));
  const Json unclear = server.Call(
      "new_task", {{"name", "unclear"}, {"source", "__global__ void f(const float* x, float* y) { y[0] = x[0]; }"}});
  EXPECT_FALSE(unclear.at("ready"));

  const std::string seed = server.Call("task", {{"name", "doubled"}}).at("seed");
  EXPECT_EQ(server.Call("eval", {{"task", "doubled"}, {"source", seed}, {"time", false}}).at("verdict"), "ok");
  const Json applied = server.Call("apply", {{"task", "doubled"}, {"source", seed}, {"out", "made"}});
  ASSERT_GE(applied.at("files").size(), 2u);
  for (const Json& file : applied.at("files")) EXPECT_TRUE(FileExists(file.get<std::string>())) << file;
  EXPECT_THAT(server.Call("apply", {{"task", "doubled"}, {"source", seed}, {"out", "/tmp/elsewhere"}}, /*error=*/true)
                  .get<std::string>(),
              HasSubstr("does not lie below"));
}

// A run continues when its client and its server are gone. The next server stops it, continues it and takes its best
// kernel.
TEST_F(McpServer, ARunOutlivesItsServer) {
  SmallRelu();
  std::string run;
  {
    Server first(root_, state_);
    const Json started = first.Call("run_start", {{"task", "small"},
                                                  {"attempts", 500},
                                                  {"strategy", "sample"},
                                                  {"source", Text(kSource + "/tests/honest/relu_scalar.cu")},
                                                  {"model", "mailbox:mail"}});
    run = started.at("run");
    EXPECT_EQ(started.at("state"), "running");
    ASSERT_EQ(kill(first.pid(), SIGKILL), 0);
  }
  Server second(root_, state_), third(root_, state_);
  EXPECT_EQ(second.Call("run_status", {{"run", run}, {"wait_seconds", 1}}).at("state"), "running");
  EXPECT_THAT(third.Call("run_start", {{"resume", run}}, /*error=*/true).get<std::string>(),
              HasSubstr("running already"));
  const Json stopped = second.Call("run_stop", {{"run", run}, {"wait_seconds", 120}});
  EXPECT_EQ(stopped.at("state"), "stopped");
  const Json resumed = third.Call("run_start", {{"resume", run}});
  EXPECT_EQ(resumed.at("run"), run);
  EXPECT_EQ(resumed.at("state"), "running");
  EXPECT_EQ(second.Call("run_stop", {{"run", run}, {"wait_seconds", 120}}).at("state"), "stopped");
  EXPECT_EQ(second.Call("run_status", Json::object()).at("run"), run);
  const Json resource = second.Ask("resources/read", {{"uri", "hone://runs/" + run}}).at("contents").at(0);
  EXPECT_EQ(Json::parse(resource.at("text").get<std::string>()).at("run"), run);
}

TEST_F(McpServer, ARunThatEndsGivesItsBest) {
  SmallRelu();
  Server server(root_, state_);
  const Json started = server.Call(
      "run_start", {{"task", "small"}, {"attempts", 2}, {"source", Text(kSource + "/tests/honest/relu_scalar.cu")}});
  const std::string run = started.at("run");
  Json status = started;
  for (int look = 0; look < 200 && status.at("state") == "running"; ++look)
    status = server.Call("run_status", {{"run", run}, {"wait_seconds", 5}});
  EXPECT_EQ(status.at("state"), "finished") << server.last_text;
  const Json best = server.Call("run_best", {{"run", run}});
  EXPECT_THAT(best.at("source").get<std::string>(), HasSubstr("/*hone"));
  EXPECT_EQ(server.Call("eval", {{"task", "small"}, {"source", best.at("source")}, {"time", false}}).at("verdict"),
            "ok");
  EXPECT_FALSE(server.Ask("resources/read", {{"uri", best.at("address")}})
                   .at("contents")
                   .at(0)
                   .at("text")
                   .get<std::string>()
                   .empty());
}

TEST_F(McpServer, ARunThatCannotBeginSaysWhy) {
  Server server(root_, state_);
  EXPECT_THAT(server.Call("run_start", Json::object(), /*error=*/true).get<std::string>(),
              HasSubstr("give a task to begin a run"));
  EXPECT_THAT(
      server.Call("run_start", {{"task", "relu"}, {"model", "exec:rm -rf /"}}, /*error=*/true).get<std::string>(),
      HasSubstr("a call may name builtin"));
  EXPECT_THAT(server.Call("run_start", {{"task", "relu"}, {"model", "openai:x@http://evil#KEY"}}, /*error=*/true)
                  .get<std::string>(),
              HasSubstr("a call may name builtin"));
  EXPECT_THAT(
      server.Call("run_start", {{"task", "relu"}, {"model", "mailbox:/tmp/mail"}}, /*error=*/true).get<std::string>(),
      HasSubstr("does not lie below"));
  EXPECT_THAT(
      server.Call("run_start", {{"task", "relu"}, {"model", "openai:nothing"}}, /*error=*/true).get<std::string>(),
      HasSubstr("OPENAI_API_KEY"));
  EXPECT_FALSE(server.Call("run_status", {{"run", "none"}}, /*error=*/true).get<std::string>().empty());
}

TEST_F(McpServer, ResourcesAreWhatTheyAreListedAs) {
  Server server(root_, state_);
  const Json listed = server.Ask("resources/list").at("resources");
  ASSERT_GT(listed.size(), 10u);
  for (const Json& one : listed) {
    const Json resource = server.Ask("resources/read", {{"uri", one.at("uri")}}).at("contents").at(0);
    EXPECT_EQ(resource.at("mimeType"), one.at("mimeType")) << one.at("uri");
    EXPECT_FALSE(resource.at("text").get<std::string>().empty()) << one.at("uri");
  }
  EXPECT_EQ(server.Ask("resources/read", {{"uri", "hone://docs/candidate-format"}}).at("contents").at(0).at("text"),
            Text(kSource + "/docs/candidate-format.md"));
  EXPECT_GE(server.Ask("resources/templates/list").at("resourceTemplates").size(), 2u);
}

TEST_F(McpServer, EndsWithItsInputAndWithItsReader) {
  {
    Server server(root_, state_);
    server.Ask("ping");
    server.CloseInput();
    const auto end = server.End();
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->Describe(), "exit status 0");
  }
  Server server(root_, state_);
  server.Ask("ping");
  server.CloseOutput();
  const auto end = server.End();
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->Describe(), "exit status 0");
}

// docs/mcp.md states the goals. The bounds here are ten times as wide, for machines that are busy with other work.
TEST_F(McpServer, AnswersWithoutDelay) {
  Server server(root_, state_);
  server.Ask("ping");
  const Stopwatch watch;
  server.Ask("tools/list");
  EXPECT_LT(watch.Seconds(), 0.5);
}

}  // namespace
}  // namespace hone
