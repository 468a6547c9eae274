// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs that are killed or interrupted, at whatever instant, and go on.
#include <signal.h>

#include "base/random.h"
#include "tests/gnn/command.h"

namespace hone::gnn {
namespace {

// Ends when `path` is there, or after ten seconds.
bool WaitForFile(const std::string& path) {
  for (int i = 0; i < 10000 && !FileExists(path); ++i) usleep(1000);
  return FileExists(path);
}

class Interrupted : public HoneGnn {
 protected:
  std::vector<std::string> TrainArguments(const std::string& folder) {
    return Arguments(
        {"train",  kGraph,      "--fanout", "4,4",          "--hidden", "16",           "--batch",
         "128",    "--epochs",  "4",        "--seed",       "7",        "--plateau",    "--plateau-patience",
         "3",      "--threads", "2",        "--checkpoint", folder,     "--save-every", "1",
         "--quiet"});
  }
  ChildProcess Start(std::vector<std::string> argv) {
    ChildOptions options;
    options.argv = std::move(argv);
    options.environment = {"PATH=/usr/bin:/bin"};
    return std::move(ChildProcess::Start(options)).value();
  }
  std::string Bytes(const std::string& path) { return ReadFile(path).value(); }
};

TEST_F(Interrupted, KilledAtAnyInstantTheRunEndsWithTheBytesOfAnUninterruptedOne) {
  ChildProcess whole = Start(TrainArguments(scratch_ / "whole"));
  ASSERT_TRUE(whole.Wait(120)->success());
  const std::string folder = scratch_ / "killed";
  const std::string last = folder + "/last.safetensors";
  Rng rng(3);
  int killed = 0;
  for (int round = 0;; ++round) {
    ASSERT_LT(round, 60);
    ChildProcess child =
        Start(!FileExists(last) ? TrainArguments(folder)
                                : Arguments({"train", kGraph, "--resume", folder, "--threads",
                                             round % 2 == 0 ? "1" : "2", "--save-every", "1", "--quiet"}));
    // From the time a checkpoint is there on, so that the instants lie within the run on a slow machine too; each
    // round lets a little more happen, so that the test ends.
    ASSERT_TRUE(round == 0 || WaitForFile(last));
    usleep(static_cast<useconds_t>(rng.Below(static_cast<uint64_t>(20000 + 6000 * round))));
    child.Kill();
    const std::optional<ExitState> end = child.Wait(30);
    ASSERT_TRUE(end.has_value());
    if (end->signal == 0) {
      EXPECT_TRUE(end->success()) << end->Describe();
      break;
    }
    ++killed;
  }
  EXPECT_GE(killed, 3);
  EXPECT_TRUE(Bytes(last) == Bytes(scratch_ / "whole/last.safetensors"));
  EXPECT_TRUE(Bytes(folder + "/best.safetensors") == Bytes(scratch_ / "whole/best.safetensors"));
}

TEST_F(Interrupted, ASignalEndsTheRunAfterItsStepAndSaysHowToGoOn) {
  const std::string folder = scratch_ / "stopped";
  // Long enough that the signal comes before the end; what matters is that it ends at once.
  const std::string log = scratch_ / "out";
  std::string command = "exec";  // the shell's process becomes the program's
  for (const std::string& argument : TrainArguments(folder))
    command += " '" + (argument == "4" ? "100000" : argument) + "'";
  ChildProcess child = Start({"/bin/sh", "-c", command + " >'" + log + "' 2>&1"});
  ASSERT_TRUE(WaitForFile(folder + "/best.safetensors"));
  ASSERT_EQ(kill(child.pid(), SIGINT), 0);
  const std::optional<ExitState> end = child.Wait(60);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->signal, 0);
  EXPECT_EQ(end->exit_status, 1);
  EXPECT_NE(Bytes(log).find("To go on: hone-gnn train '" + std::string(kGraph) + "' --resume '" + folder + "'"),
            std::string::npos)
      << Bytes(log);
  const Outcome refused = Run({"train", kGraph, "--resume", folder, "--lr", "0.1"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("--lr cannot be given with --resume"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace hone::gnn
