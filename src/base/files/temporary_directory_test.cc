// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that temporary directories are removed when their owner ends, in any way, and never before.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/files/file.h"

namespace hone {
namespace {

TEST(TemporaryDirectories, ArePrivateAndGoWithTheirOwner) {
  std::string path;
  {
    auto directory = MakeTemporaryDirectory("/tmp", "hone-file-test-");
    ASSERT_TRUE(directory.ok());
    path = directory->path();
    struct stat info {};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777u, 0700u);
    ASSERT_TRUE(WriteFileAtomically(*directory / "x/y/z", "1").ok());
    TemporaryDirectory moved = std::move(*directory);
    EXPECT_TRUE(FileExists(path));
  }
  EXPECT_FALSE(FileExists(path));
}

// Runs `body` in a child that then waits to be killed, unless it ends itself. Returns when the child reports what it
// made.
struct Child {
  pid_t pid = -1;
  std::string path;
};
template <typename Body>
Child StartChild(const Body& body) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  Child child;
  child.pid = fork();
  if (child.pid == 0) {
    auto directory = MakeTemporaryDirectory(body.parent, "left-");
    if (!directory.ok() || !WriteFileAtomically(*directory / "deep/file", "x").ok()) _exit(1);
    (void)!write(ends[1], directory->path().data(), directory->path().size());
    close(ends[1]);
    body.End();
    for (;;) pause();
  }
  close(ends[1]);
  char buffer[4096];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof(buffer))) > 0;)
    child.path.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  return child;
}

struct StaysAlive {
  std::string parent;
  void End() const {}
};
struct EndsBySignal {
  std::string parent;
  void End() const { EndBySignalWithoutTemporaries(SIGINT); }
};

int WaitFor(pid_t pid) {
  int raw = 0;
  return waitpid(pid, &raw, 0) == pid ? raw : -1;
}

TEST(TemporaryDirectories, OfAKilledProcessGoWithTheNextOfTheSamePrefixAndThoseOfTheLivingStay) {
  const auto parent = MakeTemporaryDirectory();
  ASSERT_TRUE(parent.ok());
  const Child dead = StartChild(StaysAlive{parent->path()}), alive = StartChild(StaysAlive{parent->path()});
  ASSERT_FALSE(dead.path.empty());
  ASSERT_FALSE(alive.path.empty());
  kill(dead.pid, SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(WaitFor(dead.pid)));
  ASSERT_TRUE(FileExists(dead.path)) << "nobody has looked yet";
  // One directory of another prefix, and one whose name has no "held-".
  std::filesystem::create_directories(*parent / "right-held-abcdef");
  std::filesystem::create_directories(*parent / "left-abcdef");

  const auto ours = MakeTemporaryDirectory(parent->path(), "left-");
  ASSERT_TRUE(ours.ok());
  EXPECT_FALSE(FileExists(dead.path));
  EXPECT_TRUE(FileExists(alive.path + "/deep/file"));
  EXPECT_TRUE(FileExists(*parent / "right-held-abcdef"));
  EXPECT_TRUE(FileExists(*parent / "left-abcdef"));
  EXPECT_EQ(RemoveAbandonedDirectories(parent->path(), "left-"), 0) << "one's own are held as well";
  EXPECT_TRUE(FileExists(ours->path()));
  kill(alive.pid, SIGKILL);
  WaitFor(alive.pid);
  EXPECT_EQ(RemoveAbandonedDirectories(parent->path(), "left-"), 1);
  EXPECT_FALSE(FileExists(alive.path));
}

TEST(TemporaryDirectories, OfAProcessThatEndsBySignalAreRemoved) {
  const auto parent = MakeTemporaryDirectory();
  ASSERT_TRUE(parent.ok());
  // The child that removes holds a copy of the writing end: it has finished when no process has it open.
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const Child child = StartChild(EndsBySignal{parent->path()});
  close(ends[1]);
  const int raw = WaitFor(child.pid);
  EXPECT_TRUE(WIFSIGNALED(raw) && WTERMSIG(raw) == SIGINT);
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 0);
  close(ends[0]);
  ASSERT_FALSE(child.path.empty());
  EXPECT_FALSE(FileExists(child.path));
}

TEST(TemporaryDirectories, OfAnotherUserAreLeftAlone) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make another user's directory";
  const auto parent = MakeTemporaryDirectory();
  ASSERT_TRUE(parent.ok());
  const std::string path = *parent / "left-held-abcdef";
  std::filesystem::create_directories(path);
  if (chown(path.c_str(), 65534, 65534) != 0) GTEST_SKIP() << "no other user here";
  EXPECT_EQ(RemoveAbandonedDirectories(parent->path(), "left-"), 0);
  EXPECT_TRUE(FileExists(path));
  ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  EXPECT_EQ(RemoveAbandonedDirectories(parent->path(), "left-"), 1);
}

}  // namespace
}  // namespace hone
