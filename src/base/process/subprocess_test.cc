// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that output, ends and limits of programs are reported correctly, and that nothing outlives its limit.
#include "base/process/subprocess.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <stop_token>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/process/frames.h"

// ThreadSanitizer ends a program whose forked copy, after it had threads, starts a thread. This option permits it.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

namespace hone {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

SubprocessOptions Shell(const std::string& script) {
  SubprocessOptions options;
  options.argv = {"/bin/sh", "-c", script};
  options.environment = {"PATH=/usr/bin:/bin"};
  return options;
}

bool Alive(pid_t pid) { return kill(pid, 0) == 0; }

TEST(Subprocess, GathersOutputAndExitStatus) {
  SubprocessOptions options = Shell("cat; echo to-err >&2; pwd; exit 7");
  options.stdin_text = "from-stdin\n";
  options.working_directory = "/usr";
  const auto result = RunSubprocess(options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->exit.exit_status, 7);
  EXPECT_EQ(result->exit.signal, 0);
  EXPECT_EQ(result->out, "from-stdin\n/usr\n");
  EXPECT_EQ(result->err, "to-err\n");
  EXPECT_FALSE(result->timed_out);
}

TEST(Subprocess, InheritsNeitherEnvironmentNorDescriptors) {
  const int leaked = open("/dev/zero", O_RDONLY);  // deliberately without O_CLOEXEC
  ASSERT_EQ(setenv("HONE_TEST_SECRET", "seen", 1), 0);
  const auto result = RunSubprocess(Shell("echo \"[$HONE_TEST_SECRET]\"; ls /proc/self/fd | wc -l"));
  close(leaked);
  ASSERT_TRUE(result.ok());
  // The output lists 0, 1, 2 and the descriptor by which ls reads the directory.
  EXPECT_EQ(result->out, "[]\n4\n");
}

TEST(Subprocess, AStopEndsItAtOnceAndOnlyIfItStillRuns) {
  Result<SubprocessResult> ended = Status::Internal("not run"), at_once = ended;
  std::jthread runs([&](const std::stop_token& stop) {
    SubprocessOptions options = Shell("exec sleep 60");
    options.stop = stop;
    ended = RunSubprocess(options);
    at_once = RunSubprocess(options);  // the stop was requested before
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  runs.request_stop();
  runs.join();
  ASSERT_TRUE(ended.ok() && at_once.ok());
  EXPECT_TRUE(ended->stopped && at_once->stopped);
  EXPECT_TRUE(ended->exit.killed_by_us);
  EXPECT_FALSE(ended->timed_out);
  EXPECT_LT(ended->seconds, 30);
  const auto done = RunSubprocess(Shell("echo done"));
  EXPECT_FALSE(done->stopped);
  EXPECT_EQ(done->out, "done\n");
}

TEST(Subprocess, ReportsTheSignalThatEndedIt) {
  const auto result = RunSubprocess(Shell("kill -SEGV $$"));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->exit.signal, SIGSEGV);
  EXPECT_FALSE(result->exit.killed_by_us);
  EXPECT_THAT(result->exit.Describe(), HasSubstr("signal 11"));
}

TEST(Subprocess, TenMegabytesKeepTheirHeadAndTail) {
  SubprocessOptions options = Shell("echo first >&2; head -c 10000000 /dev/zero | tr '\\0' 'x' >&2; echo last >&2");
  options.max_stderr_bytes = 10000;
  const auto result = RunSubprocess(options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->err_bytes, 10000000 + 6 + 5);
  EXPECT_LT(result->err.size(), 10100u);
  EXPECT_THAT(result->err, StartsWith("first\nxxx"));
  EXPECT_THAT(result->err, HasSubstr("bytes left out"));
  EXPECT_THAT(result->err.substr(result->err.size() - 8), HasSubstr("xxlast\n"));
}

TEST(Subprocess, ATimeLimitEndsTheWholeGroup) {
  // Any living process of the group holds the pipe open. Process numbers would prove nothing: an ended process keeps
  // its number until its new parent waits for it, which some containers never do.
  const TemporaryDirectory directory = MakeTemporaryDirectory().value();
  const std::string pipe = directory / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const UniqueFd held(open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  SubprocessOptions options = Shell("exec 3>'" + pipe + "'; sleep 100 & echo started; wait");
  // On a busy machine a shell may need longer than any limit just to start its child; the test then tries again with
  // twice the time.
  Result<SubprocessResult> result = Status::Internal("not run");
  for (options.limit_seconds = 0.3; options.limit_seconds < 60; options.limit_seconds *= 2) {
    result = RunSubprocess(options);
    ASSERT_TRUE(result.ok());
    EXPECT_TRUE(result->timed_out);
    EXPECT_TRUE(result->exit.killed_by_us);
    if (!result->out.empty()) break;
  }
  ASSERT_FALSE(result->out.empty());
  EXPECT_LT(result->seconds, 95);  // did not wait for the sleep
  EXPECT_TRUE(WaitReadable(held.get(), 60).value()) << "the sleep lives on";
  char byte;
  EXPECT_EQ(read(held.get(), &byte, 1), 0);
}

TEST(Subprocess, AGrandchildHoldingTheOutputDoesNotHoldUs) {
  const auto result = RunSubprocess(Shell("sleep 100 & echo done"));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "done\n");
  EXPECT_LT(result->seconds, 95);  // did not wait for the sleep
}

TEST(Subprocess, AProgramThatClosesItsInputIsNoTrouble) {
  SubprocessOptions options = Shell("exec 0<&-; sleep 0.1; echo fine");
  options.stdin_text = std::string(5 << 20, 'x');
  const auto result = RunSubprocess(options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "fine\n");
}

TEST(Subprocess, SaysWhatCouldNotBeStarted) {
  SubprocessOptions options;
  options.argv = {"/nonexistent/program"};
  auto result = RunSubprocess(options);
  EXPECT_EQ(result.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(result.status().message(), HasSubstr("/nonexistent/program"));
  options = Shell("true");
  options.working_directory = "/nonexistent";
  EXPECT_THAT(RunSubprocess(options).status().message(), HasSubstr("enter the working directory"));
  options = Shell("true");
  options.argv[0] = "/etc/passwd";
  EXPECT_EQ(RunSubprocess(options).status().code(), StatusCode::kUnavailable);
}

TEST(ChildProcess, TalksOverAHandedDescriptorAndIsEndedWithItsOwner) {
  auto pair = MakeSocketPair();
  ASSERT_TRUE(pair.ok());
  pid_t pid = -1;
  {
    ChildOptions options;
    options.argv = {"/bin/sh", "-c", "read line <&5; echo \"got $line\" >&5; sleep 100"};
    options.environment = {"PATH=/usr/bin:/bin"};
    options.descriptors = {{pair->theirs.get(), 5}};
    auto child = ChildProcess::Start(options);
    ASSERT_TRUE(child.ok()) << child.status().message();
    pair->theirs.Reset();
    pid = child->pid();
    ASSERT_EQ(write(pair->ours.get(), "hello\n", 6), 6);
    ASSERT_TRUE(WaitReadable(pair->ours.get(), 60).value());
    char text[64];
    const ssize_t n = read(pair->ours.get(), text, sizeof(text));
    ASSERT_GT(n, 0);
    EXPECT_EQ(std::string(text, static_cast<size_t>(n)), "got hello\n");
    EXPECT_FALSE(child->Wait(0.01).has_value());
    ChildProcess moved = std::move(*child);
    EXPECT_TRUE(Alive(pid));
  }
  EXPECT_FALSE(Alive(pid));
}

// A process starts a child from a thread, which ends; then the process is killed without warning.
TEST(ChildProcess, OutlivesTheThreadThatStartedItAndNotTheProcess) {
  for (const bool confined : {false, true}) {
    SocketPair child_end = MakeSocketPair().value(), owner_end = MakeSocketPair().value();
    const pid_t owner = fork();
    if (owner == 0) {
      ChildOptions options;
      options.argv = {"/bin/sh", "-c", "read line <&5; echo \"got $line\" >&5; exec sleep 1000"};
      options.environment = {"PATH=/usr/bin:/bin"};
      options.descriptors = {{child_end.theirs.get(), 5}};
      if (confined) {
        options.sandbox.emplace();
        options.sandbox->read_paths = SystemReadPaths();
        options.sandbox->exec_paths = SystemExecPaths();
        options.sandbox->exec_paths.insert(options.sandbox->exec_paths.end(), {"/bin", "/usr/bin"});
      }
      Result<ChildProcess> child = Status::Internal("not started");
      std::thread([&] { child = ChildProcess::Start(options); }).join();
      (void)!write(owner_end.theirs.get(), child.ok() ? "y" : "n", 1);
      for (;;) pause();
    }
    ASSERT_GT(owner, 0);
    child_end.theirs.Reset();
    owner_end.theirs.Reset();
    char started = 0;
    EXPECT_EQ(read(owner_end.ours.get(), &started, 1), 1);
    EXPECT_EQ(started, 'y');
    EXPECT_EQ(send(child_end.ours.get(), "hello\n", 6, MSG_NOSIGNAL), 6);
    char text[64];
    const ssize_t n = read(child_end.ours.get(), text, sizeof(text));
    EXPECT_EQ(std::string(text, static_cast<size_t>(std::max<ssize_t>(n, 0))), "got hello\n");
    kill(owner, SIGKILL);
    EXPECT_EQ(waitpid(owner, nullptr, 0), owner);
    // Only the sleeping child still holds its end.
    EXPECT_TRUE(WaitReadable(child_end.ours.get(), 60).value()) << (confined ? "confined" : "free") << ", it lives on";
    EXPECT_EQ(recv(child_end.ours.get(), text, 1, MSG_DONTWAIT), 0);
  }
}

TEST(ChildProcess, DescriptorsMaySwapNumbers) {
  int a[2], b[2];
  ASSERT_EQ(pipe2(a, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(b, O_CLOEXEC), 0);
  ChildOptions options;
  // Descriptors are opened by name: a shell redirects to single digits only, and the parent of this program may have
  // left it some open files.
  const auto path_of_descriptor = [](int fd) { return "/proc/self/fd/" + std::to_string(fd); };
  options.argv = {"/bin/sh", "-c",
                  "echo to-b >" + path_of_descriptor(a[1]) + "; echo to-a >" + path_of_descriptor(b[1])};
  options.descriptors = {{a[1], b[1]}, {b[1], a[1]}};
  auto child = ChildProcess::Start(options);
  ASSERT_TRUE(child.ok());
  EXPECT_TRUE(child->Wait(-1)->success());
  char text[16];
  ssize_t n = read(a[0], text, sizeof(text));
  EXPECT_EQ(std::string(text, static_cast<size_t>(n)), "to-a\n");
  n = read(b[0], text, sizeof(text));
  EXPECT_EQ(std::string(text, static_cast<size_t>(n)), "to-b\n");
  for (const int fd : {a[0], a[1], b[0], b[1]}) close(fd);
}

// Regression: the ruleset once had the lowest free descriptor, and a descriptor passed to the child under the same
// number replaced it.
TEST(ChildProcess, ADescriptorMayBeHandedOverUnderAnyNumberToAConfinedProgram) {
  if (ProbeSandbox().landlock_abi == 0) GTEST_SKIP() << "this kernel has no Landlock";
  const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(zero, 0);
  for (int number = 3; number < 16; ++number) {
    ChildOptions options;
    options.argv = {"/bin/sh", "-c", "exit 5"};
    options.descriptors = {{zero, number}};
    SandboxPolicy policy;
    policy.read_paths = SystemReadPaths();
    policy.exec_paths = SystemExecPaths();
    policy.exec_paths.push_back("/bin");
    policy.exec_paths.push_back("/usr/bin");
    options.sandbox = policy;
    Result<ChildProcess> child = ChildProcess::Start(options);
    ASSERT_TRUE(child.ok()) << "as " << number << ": " << child.status().message();
    const std::optional<ExitState> exit = child->Wait(-1);
    ASSERT_TRUE(exit.has_value());
    EXPECT_EQ(exit->exit_status, 5) << "as " << number;
  }
  close(zero);
}

TEST(CappedText, KeepsEverythingUpToItsCapWhateverTheChunks) {
  for (const size_t chunk : {1u, 3u, 7u, 100u}) {
    std::string all;
    CappedText text(20);
    for (int i = 0; i < 26; ++i) all.push_back(static_cast<char>('a' + i));
    for (size_t at = 0; at < all.size(); at += chunk) text.Append(all.data() + at, std::min(chunk, all.size() - at));
    EXPECT_EQ(text.Text(), "abcdefghij\n[... 6 bytes left out ...]\nqrstuvwxyz") << "chunks of " << chunk;
  }
  CappedText exact(6);
  exact.Append("abcdef", 6);
  EXPECT_EQ(exact.Text(), "abcdef");
}

}  // namespace
}  // namespace hone
