// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/background_run.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "base/files/file.h"
#include "base/files/file_lock.h"

namespace hone::mcp {
namespace {

using testing::HasSubstr;

class BackgroundRun : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryDirectory> folder_or_error = MakeTemporaryDirectory();
    ASSERT_TRUE(folder_or_error.ok());
    scratch_ = std::move(*folder_or_error);
  }
  // Starts a shell in the background; its output is in log().
  pid_t Start(const std::string& script) {
    const Result<pid_t> pid = StartInBackground(
        {.argv = {"/bin/sh", "-c", script}, .environment = {"WORD=heard"}, .folder = scratch_.path(), .log = log()});
    EXPECT_TRUE(pid.ok()) << pid.status().message();
    return pid.ok() ? *pid : -1;
  }
  static int End(pid_t pid) {
    std::optional<int> end;
    for (int look = 0; look < 2000 && !(end = EndOfBackground(pid)); ++look)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return end.value_or(-1);
  }
  std::string log() const { return scratch_ / "logs/run.log"; }
  TemporaryDirectory scratch_;
};

TEST_F(BackgroundRun, HasASessionAFolderAndALogOfItsOwn) {
  const int held = open("/dev/null", O_RDONLY);  // without O_CLOEXEC; the program must not inherit it all the same
  const pid_t pid = Start("pwd; echo $WORD; test -e /proc/self/fd/" + std::to_string(held) +
                          " && echo inherited; test -t 0 || echo no terminal; sleep 0.2; exit 5");
  close(held);
  EXPECT_EQ(getsid(pid), pid);
  EXPECT_EQ(End(pid), 5);
  EXPECT_EQ(ReadFile(log()).value(), std::filesystem::canonical(scratch_.path()).string() + "\nheard\nno terminal\n");
}

TEST_F(BackgroundRun, SaysWhichRunItIsOrWhyThereIsNone) {
  const pid_t begun = Start("echo 'hone: another holds it' >&2; echo 'Run 20261123-070809-0a1b: relu on sim'; exit 3");
  EXPECT_EQ(WaitForRunId(begun, log(), 20).value(), "20261123-070809-0a1b");
  EXPECT_EQ(ComplaintsIn(log()), "another holds it");
  const pid_t usage = Start("echo 'hone: no such task' >&2; echo 'hone: name another' >&2; exit 2");
  const Status refused = WaitForRunId(usage, log(), 20).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.message(), "no such task\nname another");
  const pid_t killed = Start("kill -9 $$");
  EXPECT_THAT(WaitForRunId(killed, log(), 20).status().message(), HasSubstr("status 137"));
  const pid_t silent = Start("sleep 30");
  EXPECT_EQ(WaitForRunId(silent, log(), 0.1).status().code(), StatusCode::kTimedOut);
  kill(silent, SIGKILL);
  EXPECT_EQ(End(silent), 128 + SIGKILL);
}

TEST_F(BackgroundRun, TheHolderOfARunIsFoundAndAskedToStop) {
  const std::string store = scratch_ / "runs.sqlite", lock = store + "-r1.lock";
  EXPECT_FALSE(HolderOfRun(store, "r1").has_value()) << "there is no lock file";
  const UniqueFd lock_file(open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  EXPECT_FALSE(HolderOfRun(store, "r1").has_value()) << "nobody holds it";
  EXPECT_TRUE(StopRun(store, "r1", 0));
  ASSERT_EQ(TryLock(lock_file.get()), LockOutcome::kOurs);
  if (!HolderOfRun(store, "r1")) GTEST_SKIP() << "this machine does not show its locks in /proc/locks";
  EXPECT_EQ(HolderOfRun(store, "r1"), getpid());
}

}  // namespace
}  // namespace hone::mcp
