// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that files are read back as written, errors name path and reason, and no half-written file stays.
#include "base/files/file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

size_t EntriesIn(const std::string& directory) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) ++count;
  return count;
}

TEST(File, WhatIsWrittenIsReadBackByteForByte) {
  auto directory = MakeTemporaryDirectory();
  ASSERT_TRUE(directory.ok());
  const std::string path = *directory / "a/b/c.bin";
  std::string bytes(300000, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31);
  ASSERT_TRUE(WriteFileAtomically(path, bytes, 0600).ok());
  EXPECT_EQ(ReadFile(path).value(), bytes);
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0600u);
  ASSERT_TRUE(WriteFileAtomicallyUnflushed(path, "short").ok());
  EXPECT_EQ(ReadFile(path).value(), "short");
}

TEST(File, TheHeadOfAFileIsReadAndNoMore) {
  auto directory = MakeTemporaryDirectory();
  const std::string path = *directory / "log";
  ASSERT_TRUE(WriteFileAtomically(path, std::string(200000, 'a') + "tail").ok());
  EXPECT_EQ(ReadHead(path, 100000).value(), std::string(100000, 'a'));
  EXPECT_EQ(ReadHead(path, 200002).value(), std::string(200000, 'a') + "ta");
  EXPECT_EQ(ReadHead(path, 1 << 20).value(), std::string(200000, 'a') + "tail");
  EXPECT_EQ(ReadHead(path, 0).value(), "");
  EXPECT_EQ(ReadHead(*directory / "none", 10).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(ReadHead(directory->path(), 10).status().code(), StatusCode::kIo);
}

mode_t ModeOf(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
}

TEST(File, ANewFileHeedsTheUmaskAndAReplacedOneKeepsItsMode) {
  auto directory = MakeTemporaryDirectory();
  const std::string path = *directory / "f", open_path = *directory / "open";
  const mode_t before = umask(077);
  const Status write_status = WriteFileAtomically(path, "secret");
  umask(002);
  const Status open_written = WriteFileAtomically(open_path, "for the group too");
  const Status replaced = WriteFileAtomically(path, "secret still");
  umask(before);
  EXPECT_TRUE(write_status.ok() && open_written.ok() && replaced.ok());
  EXPECT_EQ(ModeOf(path), 0600u);
  EXPECT_EQ(ModeOf(open_path), 0664u);
  ASSERT_EQ(chmod(path.c_str(), 0751), 0);
  ASSERT_TRUE(WriteFileAtomically(path, "a script").ok());
  EXPECT_EQ(ModeOf(path), 0751u);
}

TEST(File, ErrorsNameThePathAndTheSystemsWords) {
  const auto missing = ReadFile("/nonexistent/file");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(missing.status().message(), HasSubstr("/nonexistent/file"));
  EXPECT_THAT(missing.status().message(), HasSubstr("No such file"));
  EXPECT_EQ(ReadFile("/tmp").status().code(), StatusCode::kIo);
}

TEST(File, ReadsNoMoreThanAsked) {
  auto directory = MakeTemporaryDirectory();
  const std::string path = *directory / "f";
  ASSERT_TRUE(WriteFileAtomically(path, "12345").ok());
  EXPECT_EQ(ReadFile(path, 5).value(), "12345");
  EXPECT_EQ(ReadFile(path, 4).status().code(), StatusCode::kInvalidArgument);
  // The reported size of this file is 0.
  EXPECT_EQ(ReadFile("/proc/self/status", 4).status().code(), StatusCode::kInvalidArgument);
  // /proc files report no size, but can be read.
  EXPECT_GT(ReadFile("/proc/self/status").value().size(), 100u);
}

// A test that root runs would replace the machine's /dev/null by a file. A pipe stands for it.
TEST(File, APipeIsWrittenToAndAFolderIsRefusedAndNeitherIsReplaced) {
  auto directory = MakeTemporaryDirectory();
  const std::string pipe = *directory / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  UniqueFd reader(open(pipe.c_str(), O_RDONLY | O_NONBLOCK));
  ASSERT_TRUE(reader.valid());
  ASSERT_TRUE(WriteFileAtomically(pipe, "through").ok());
  char read_back[16] = {};
  EXPECT_EQ(read(reader.get(), read_back, sizeof(read_back)), 7);
  EXPECT_STREQ(read_back, "through");
  struct stat info {};
  ASSERT_EQ(lstat(pipe.c_str(), &info), 0);
  EXPECT_TRUE(S_ISFIFO(info.st_mode));
  EXPECT_EQ(ReplaceablePath(pipe).status().code(), StatusCode::kInvalidArgument);

  std::filesystem::create_directory(*directory / "folder");
  const Status refused = WriteFileAtomically(*directory / "folder", "x");
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("name a file in it"));
  EXPECT_EQ(EntriesIn(directory->path()), 2u);
}

TEST(File, ASymbolicLinkStaysOneAndWhatItPointsToIsReplaced) {
  auto directory = MakeTemporaryDirectory();
  const std::string real = *directory / "disk/real", link = *directory / "link";
  ASSERT_TRUE(WriteFileAtomically(real, "old").ok());
  ASSERT_EQ(symlink("disk/real", link.c_str()), 0);
  ASSERT_TRUE(WriteFileAtomically(link, "new").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(ReadFile(real).value(), "new");
}

// A file size limit simulates a full disk: the old file stays whole, and no other file is left.
TEST(File, AFailedWriteLeavesTheOldFileAndNothingElse) {
  auto directory = MakeTemporaryDirectory();
  const std::string path = *directory / "kept";
  ASSERT_TRUE(WriteFileAtomically(path, "old").ok());
  const pid_t pid = fork();
  if (pid == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const Status status = WriteFileAtomically(path, std::string(5000, 'x'));
    const bool said_too_large =
        !status.ok() && status.code() == StatusCode::kIo && status.message().find("too large") != std::string::npos;
    _exit(said_too_large ? 0 : 1);
  }
  int raw = 0;
  ASSERT_EQ(waitpid(pid, &raw, 0), pid);
  EXPECT_TRUE(WIFEXITED(raw) && WEXITSTATUS(raw) == 0);
  EXPECT_EQ(ReadFile(path).value(), "old");
  EXPECT_EQ(EntriesIn(directory->path()), 1u);
}

TEST(File, WritingOntoADirectoryFailsAndLeavesNothing) {
  auto directory = MakeTemporaryDirectory();
  const std::string path = *directory / "d";
  ASSERT_TRUE(MakeDirectories(path).ok());
  EXPECT_EQ(WriteFileAtomically(path, "x").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(EntriesIn(directory->path()), 1u);
  EXPECT_EQ(MakeDirectories("/proc/no/such").code(), StatusCode::kIo);
}

TEST(File, FindsExecutablesWhereToldAndNowhereElse) {
  EXPECT_EQ(FindExecutable("sh", {"/nonexistent", "/bin"}).value(), "/bin/sh");
  EXPECT_EQ(FindExecutable("/bin/sh", {}).value(), "/bin/sh");
  const auto missing = FindExecutable("sh", {"/nonexistent", "/proc"});
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(missing.status().message(), HasSubstr("/nonexistent, /proc"));
  EXPECT_FALSE(FindExecutable("passwd", {"/etc"}).ok());  // exists, but is not executable
  EXPECT_THAT(SplitSearchPath("/a::/b:"), ElementsAre("/a", "/b"));
}

}  // namespace
}  // namespace hone
