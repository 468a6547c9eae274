// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests several processes that train one model: any number of them gives the same bits, and when one ends, all of them
// end.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "gnn/dist/socket.h"
#include "hone/gnn/predictor.h"
#include "tests/gnn/command.h"

namespace hone::gnn {
namespace {

using testing::HasSubstr;

// Returns the processes of the run that logs to `log` that have not ended, of one rank or of all (-1). Their
// environment identifies them.
std::vector<pid_t> RanksOf(const std::string& log, int rank = -1) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc()) continue;
    const Result<std::string> environment = ReadFile(entry.path() / "environ");  // empty once the process has ended
    if (!environment.ok()) continue;
    const std::string text = '\0' + *environment;
    const auto has = [&](const std::string& variable) { return text.find('\0' + variable) != std::string::npos; };
    if (!has("HONE_TEST_LOG=" + log + '\0')) continue;
    if (has("HONE_RANK=" + (rank < 0 ? "" : std::to_string(rank) + '\0'))) found.push_back(pid);
  }
  return found;
}

class Ranks : public HoneGnn {
 protected:
  // The default timeout is long, so that tests about other things find no silent rank: a rank that waits for a
  // processor is silent too.
  std::vector<std::string> TrainArguments(std::vector<std::string> more, const char* rank_timeout = "300") {
    std::vector<std::string> arguments = {"train", kGraph, "--fanout", "4,4",       "--hidden", "16",     "--batch",
                                          "32",    "--lr", "0.01",     "--threads", "1",        "--quiet"};
    arguments.insert(arguments.end(), {"--rank-timeout", rank_timeout});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Arguments(arguments);
  }
  // Starts a command whose standard error goes to `log`.
  ChildProcess Start(const std::vector<std::string>& argv, const std::string& log,
                     std::vector<std::string> variables = {}) {
    std::string command = "exec";  // the shell's process becomes the program's
    for (const std::string& argument : argv) command += " '" + argument + "'";
    ChildOptions options;
    options.argv = {"/bin/sh", "-c", command + " >'" + log + ".out' 2>'" + log + "'"};
    options.environment = std::move(variables);
    options.environment.push_back("HONE_TEST_LOG=" + log);  // see RanksOf
    for (const std::string& variable : Environment()) options.environment.push_back(variable);
    return std::move(ChildProcess::Start(options)).value();
  }
  static std::string Bytes(const std::string& path) {
    const Result<std::string> bytes = ReadFile(path);
    EXPECT_TRUE(bytes.ok()) << bytes.status().message();
    return bytes.ok() ? *bytes : std::string();
  }
  // Starts a run of 3 ranks that does not end by itself, and waits until it is in its second epoch or later.
  ChildProcess StartEndless(const std::string& folder, const std::string& log) {
    ChildProcess child = Start(EndlessArguments(folder), log);
    if (!IsInItsSecondEpoch(child, folder)) ADD_FAILURE() << Bytes(log);
    return child;
  }
  template <typename... RankTimeout>
  std::vector<std::string> EndlessArguments(const std::string& folder, RankTimeout... rank_timeout) {
    return TrainArguments({"--ranks", "3", "--epochs", "1000000", "--save-every", "2", "--checkpoint", folder}, rank_timeout...);
  }
  // Waits for the second epoch; false if the run has ended instead.
  static bool IsInItsSecondEpoch(ChildProcess& child, const std::string& folder) {
    while (!FileExists(folder + "/best.safetensors")) {
      if (child.Wait(0.005).has_value()) return false;
    }
    return true;
  }
  // Resumes from `folder` and trains to the end of the following epoch. Expects the bytes of a run by one process that
  // was never interrupted.
  void ExpectResumesToTheBit(const std::string& folder) {
    const std::string epochs = std::to_string(LoadModel(folder + "/last.safetensors", {})->epoch + 1);
    const Outcome resumed = Run({"train", kGraph, "--resume", folder, "--epochs", epochs, "--ranks", "3", "--quiet"});
    EXPECT_EQ(resumed.status, 0) << resumed.err;
    std::vector<std::string> whole =
        TrainArguments({"--shards", "3", "--epochs", epochs, "--checkpoint", folder + "-whole"});
    whole.erase(whole.begin());
    EXPECT_EQ(Run(whole).status, 0);
    EXPECT_TRUE(Bytes(folder + "/last.safetensors") == Bytes(folder + "-whole/last.safetensors"));
  }
};

TEST_F(Ranks, GiveTheSameBitsOnOneTwoAndFour) {
  for (const char* model : {"sage", "gin"}) {
    std::vector<std::string> losses, weights;
    for (const char* ranks : {"1", "2", "4"}) {
      const std::string folder = scratch_ / (std::string(model) + ranks);
      std::vector<std::string> arguments =
          TrainArguments({"--model", model, "--shards", "4", "--epochs", "2", "--plateau", "--plateau-patience", "3",
                          "--ranks", ranks, "--json", "--checkpoint", folder});
      arguments.erase(arguments.begin());
      const Outcome outcome = Run(arguments);
      ASSERT_EQ(outcome.status, 0) << outcome.err;
      EXPECT_EQ(outcome.err, "");
      std::string curve;
      std::istringstream lines(outcome.out);
      int events = 0;
      for (std::string line; std::getline(lines, line); ++events) {
        nlohmann::json event = nlohmann::json::parse(line);
        event.erase("seconds");
        event.erase("checkpoint");
        if (event.at("event") == "start") {
          EXPECT_EQ(event.at("ranks"), std::stoi(ranks));
          event.erase("ranks");
        }
        curve += event.dump() + "\n";
      }
      EXPECT_EQ(events, 4);
      losses.push_back(curve);
      weights.push_back(Bytes(folder + "/last.safetensors") + Bytes(folder + "/best.safetensors"));
    }
    EXPECT_EQ(losses[1], losses[0]) << model;
    EXPECT_EQ(losses[2], losses[0]) << model;
    EXPECT_TRUE(weights[1] == weights[0]) << model;
    EXPECT_TRUE(weights[2] == weights[0]) << model;
  }
}

TEST_F(Ranks, AKilledOneEndsAllAndTheRunGoesOnToTheSameBits) {
  for (const int victim : {2, 0}) {
    const std::string folder = scratch_ / ("killed" + std::to_string(victim));
    const std::string log = folder + ".log";
    ChildProcess child = StartEndless(folder, log);
    const std::vector<pid_t> ranks = RanksOf(log, victim);
    ASSERT_EQ(ranks.size(), 1u);
    ASSERT_EQ(kill(ranks[0], SIGKILL), 0);
    const std::optional<ExitState> end = child.Wait(300);
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->exit_status, 3) << end->Describe();
    EXPECT_THAT(Bytes(log), HasSubstr("rank " + std::to_string(victim) + " on host " + HostName() + " was lost"));
    EXPECT_THAT(Bytes(log), HasSubstr("rank " + std::to_string(victim) + " was ended by signal 9"));
    if (victim != 0) {
      EXPECT_THAT(Bytes(log), HasSubstr("'" + folder + "/last.safetensors', to go on from with --resume"));
    }
    EXPECT_TRUE(RanksOf(log).empty());
    ExpectResumesToTheBit(folder);
  }
}

// The (emulated) GPUs share features and write gradients into each other's memory. A kernel that waits for the lost
// rank must be released, and one rank alone can resume the run.
TEST_F(Ranks, AKilledOneLetsGoOfTheGpuThatWaitsForIt) {
  const std::string folder = scratch_ / "run", log = scratch_ / "log";
  const std::string program = HONE_BINARY_DIR "/tests/hone-gnn-emulated";
  const std::vector<std::string> graph = {program, "train", "synthetic:arxiv?nodes=400&seed=3&features=16&classes=5",
                                          "--device", "cuda", "--quiet"};
  std::vector<std::string> argv = graph;
  argv.insert(argv.end(), {"--ranks", "2", "--rank-timeout", "300", "--features", "peers", "--cache-rows", "40", "--fanout", "3,2",
                           "--eval-fanout", "4,4", "--hidden", "16", "--batch", "16", "--epochs", "1000000", "--checkpoint", folder});
  ChildProcess child = Start(argv, log);
  ASSERT_TRUE(IsInItsSecondEpoch(child, folder)) << Bytes(log);
  const std::vector<pid_t> victim = RanksOf(log, 1);
  ASSERT_EQ(victim.size(), 1u);
  ASSERT_EQ(kill(victim[0], SIGKILL), 0);
  const std::optional<ExitState> exit = child.Wait(300);
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->exit_status, 3);
  EXPECT_THAT(Bytes(log), HasSubstr("rank 1 on host"));
  EXPECT_THAT(Bytes(log), HasSubstr("to go on from with --resume"));
  const std::string epochs = std::to_string(LoadModel(folder + "/last.safetensors", {})->epoch + 1);
  argv = graph;
  argv.insert(argv.end(), {"--resume", folder, "--epochs", epochs});
  const Outcome resumed = RunProgram(argv, {"PATH=/usr/bin:/bin"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
}

TEST_F(Ranks, AHungOneIsFoundByItsSilence) {
  // A rank that waits for a processor for this long is silent as well. If that happened to a rank before one is
  // stopped, the test is repeated with twice the time.
  for (int seconds = 3; seconds < 200; seconds *= 2) {
    const std::string timeout = std::to_string(seconds), folder = scratch_ / ("hung" + timeout), log = folder + ".log";
    const std::string silent = "was lost: no heartbeat for " + timeout + " s";
    ChildProcess child = Start(EndlessArguments(folder, timeout.c_str()), log);
    const std::vector<pid_t> ranks = IsInItsSecondEpoch(child, folder) ? RanksOf(log, 1) : std::vector<pid_t>();
    if (ranks.size() != 1 || kill(ranks[0], SIGSTOP) != 0) {
      ASSERT_TRUE(child.Wait(300).has_value());
      ASSERT_THAT(Bytes(log), HasSubstr(silent));
      continue;
    }
    const std::optional<ExitState> end = child.Wait(300);
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->exit_status, 3) << end->Describe();
    EXPECT_THAT(Bytes(log), HasSubstr(silent));
    EXPECT_TRUE(RanksOf(log).empty());  // the stopped rank has ended too
    return;
  }
  FAIL() << "no run came to its second epoch";
}

TEST_F(Ranks, ASignalEndsAllAfterTheSameStep) {
  const std::string folder = scratch_ / "stopped";
  ChildProcess child = StartEndless(folder, folder + ".log");
  ASSERT_EQ(kill(child.pid(), SIGINT), 0);
  const std::optional<ExitState> end = child.Wait(300);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->exit_status, 1) << end->Describe() << Bytes(folder + ".log");
  EXPECT_THAT(Bytes(folder + ".log.out"), HasSubstr("To go on: hone-gnn train"));
  ExpectResumesToTheBit(folder);
}

TEST_F(Ranks, GoWithTheirLauncher) {
  const std::string folder = scratch_ / "orphans";
  ChildProcess child = StartEndless(folder, folder + ".log");
  ASSERT_EQ(RanksOf(folder + ".log").size(), 3u);
  ASSERT_EQ(kill(child.pid(), SIGKILL), 0);
  ASSERT_TRUE(child.Wait(300).has_value());
  int looks = 0;
  while (!RanksOf(folder + ".log").empty() && ++looks < 12000) usleep(10000);
  EXPECT_TRUE(RanksOf(folder + ".log").empty());
}

TEST_F(Ranks, UnderMpirunFindOneAnotherAndRefuseOptionsAndGraphsThatDiffer) {
  // Open MPI's mpirun sets these variables; the ranks have no other way to find each other.
  const auto variables = [&](int rank, const std::string& job) {
    return std::vector<std::string>{"OMPI_COMM_WORLD_RANK=" + std::to_string(rank), "OMPI_COMM_WORLD_SIZE=2",
                                    "OMPI_COMM_WORLD_LOCAL_RANK=" + std::to_string(rank),
                                    "OMPI_COMM_WORLD_LOCAL_SIZE=2", "PMIX_NAMESPACE=" + scratch_.path() + job};
  };
  const auto run = [&](const std::string& job, const std::string& decay_of_1, const std::string& graph_of_1 = kGraph) {
    std::vector<ChildProcess> ranks;
    for (int r = 0; r < 2; ++r) {
      std::vector<std::string> arguments =
          TrainArguments({"--epochs", "1", "--weight-decay", r == 1 ? decay_of_1 : "0.001"});
      if (r == 1) std::replace(arguments.begin(), arguments.end(), std::string(kGraph), graph_of_1);
      ranks.push_back(Start(arguments, scratch_ / (job + std::to_string(r)), variables(r, job)));
    }
    std::vector<int> status;
    for (ChildProcess& rank : ranks) {
      const std::optional<ExitState> end = rank.Wait(300);
      status.push_back(end ? end->exit_status : -1);
    }
    return status;
  };
  EXPECT_EQ(run("alike", "0.001"), (std::vector<int>{0, 0}))
      << Bytes(scratch_ / "alike0") << Bytes(scratch_ / "alike1");
  EXPECT_THAT(Bytes(scratch_ / "alike0.out"), HasSubstr("2 ranks on 1 host: a step is 2 shards"));
  EXPECT_EQ(Bytes(scratch_ / "alike1.out"), "");
  EXPECT_EQ(run("apart", "0.002"), (std::vector<int>{2, 2}));
  EXPECT_THAT(Bytes(scratch_ / "apart0"),
              HasSubstr("rank 1 on host " + HostName() + " has --weight-decay 0.002, and rank 0"));
  EXPECT_EQ(Bytes(scratch_ / "apart1"), "");
  EXPECT_EQ(run("graphs", "0.001", "synthetic:arxiv?nodes=1500&seed=2"), (std::vector<int>{2, 2}));
  EXPECT_THAT(Bytes(scratch_ / "graphs0"), HasSubstr("rank 1 on host " + HostName() + " has a graph with fingerprint"));
}

TEST_F(Ranks, WrongUsageIsToldOnce) {
  std::vector<std::string> arguments = TrainArguments({"--ranks", "3", "--shards", "4"});
  arguments.erase(arguments.begin());
  const Outcome outcome = Run(arguments);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--shards is 4; with 3 ranks it must be a multiple of 3"));
  EXPECT_EQ(outcome.err.find("--shards is 4"), outcome.err.rfind("--shards is 4")) << outcome.err;
  const Outcome nowhere = Run({"train", "no-such-file.graph", "--ranks", "2"});
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("no-such-file.graph"));
  EXPECT_EQ(std::count(nowhere.err.begin(), nowhere.err.end(), '\n'), 1) << nowhere.err;
}

TEST_F(Ranks, ATakenPortIsNamed) {
  const UniqueFd taken = std::move(ListenOn("127.0.0.1", 0)).value();
  const std::string port = std::to_string(BoundPort(taken.get()));
  ChildProcess child = Start(TrainArguments({}), scratch_ / "log",
                             {"RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + port});
  const std::optional<ExitState> end = child.Wait(300);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->exit_status, 3);
  EXPECT_THAT(Bytes(scratch_ / "log"), HasSubstr("cannot listen on port " + port));
  EXPECT_THAT(Bytes(scratch_ / "log"), HasSubstr("MASTER_PORT"));
}

}  // namespace
}  // namespace hone::gnn
