// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests runs that are killed or interrupted at any instant, and then resumed.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/numbers/random.h"
#include "tests/gnn/command.h"

namespace hone::gnn {
namespace {

// Identifies the file at a path: every save puts a new file there.
struct FileIdentity {
  ino_t inode = 0;
  int64_t changed_ns = 0;
  bool operator==(const FileIdentity&) const = default;
};

FileIdentity Identify(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return {};
  return {info.st_ino, info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec};
}

// Waits until `path` has changed `times` times, however long that takes; false if the child ended before.
bool WaitForChanges(ChildProcess& child, const std::string& path, FileIdentity seen, int64_t times) {
  for (int64_t changes = 0; changes < times;) {
    if (child.Wait(0.0005).has_value()) return false;
    const FileIdentity now = Identify(path);
    changes += now != seen;
    seen = now;
  }
  return true;
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
    options.environment = Environment();
    return std::move(ChildProcess::Start(options)).value();
  }
  std::string Bytes(const std::string& path) { return ReadFile(path).value(); }
};

TEST_F(Interrupted, KilledAtAnyInstantTheRunEndsWithTheBytesOfAnUninterruptedOne) {
  ChildProcess whole = Start(TrainArguments(scratch_ / "whole"));
  ASSERT_TRUE(whole.Wait(-1)->success());
  const std::string folder = scratch_ / "killed";
  const std::string last = folder + "/last.safetensors";
  Rng rng(3);
  int killed = 0;
  for (int round = 0;; ++round) {
    ASSERT_LT(round, 1000);
    const FileIdentity before = Identify(last);
    const bool begun = before != FileIdentity{};
    ChildProcess child = Start(!begun ? TrainArguments(folder)
                                      : Arguments({"train", kGraph, "--resume", folder, "--threads",
                                                   round % 2 == 0 ? "1" : "2", "--save-every", "1", "--quiet"}));
    if (round % 3 == 0) {
      usleep(static_cast<useconds_t>(rng.Below(20000)));  // mostly killed while it starts up
    } else if (WaitForChanges(child, last, before, 2 + static_cast<int64_t>(rng.Below(6)))) {
      // The first change saves the state that the run began with, the second one more step. So each round makes
      // progress, however slow the machine is. The kill comes within the next steps.
      usleep(static_cast<useconds_t>(rng.Below(3000)));
    }
    child.Kill();
    const std::optional<ExitState> end = child.Wait(-1);
    ASSERT_TRUE(end.has_value());
    if (end->signal != 0) {
      ++killed;
      continue;
    }
    ASSERT_TRUE(end->success()) << end->Describe();
    if (killed >= 3) break;
    // The run finished while this test had no processor. That proves nothing, so the test begins again.
    std::filesystem::remove_all(folder);
    killed = 0;
  }
  EXPECT_TRUE(Bytes(last) == Bytes(scratch_ / "whole/last.safetensors"));
  EXPECT_TRUE(Bytes(folder + "/best.safetensors") == Bytes(scratch_ / "whole/best.safetensors"));
  // The next run removed the half-written file that a kill had left.
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_EQ(entry.path().extension(), ".safetensors") << entry.path();
  }
}

TEST_F(Interrupted, ASignalEndsTheRunAfterItsStepAndSaysHowToGoOn) {
  const std::string folder = scratch_ / "stopped";
  // The run is long enough that the signal comes before its end. It must end at once.
  const std::string log = scratch_ / "out";
  std::string command = "exec";  // the shell's process becomes the program's
  for (const std::string& argument : TrainArguments(folder))
    command += " '" + (argument == "4" ? "100000" : argument) + "'";
  ChildProcess child = Start({"/bin/sh", "-c", command + " >'" + log + "' 2>&1"});
  ASSERT_TRUE(WaitForChanges(child, folder + "/best.safetensors", {}, 1)) << Bytes(log);
  ASSERT_EQ(kill(child.pid(), SIGINT), 0);
  const std::optional<ExitState> end = child.Wait(-1);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->signal, 0);
  EXPECT_EQ(end->exit_status, 1);
  EXPECT_NE(Bytes(log).find("To go on: hone-gnn train '" + std::string(kGraph) + "' --resume '" + folder + "'"),
            std::string::npos)
      << Bytes(log);
  const Outcome refused = Run({"train", kGraph, "--resume", folder, "--batch", "64"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("--batch cannot be given with --resume"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace hone::gnn
