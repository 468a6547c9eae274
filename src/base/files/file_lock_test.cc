// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/files/file_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files/file.h"

namespace hone {
namespace {

TEST(FileLock, IsOnesUntilTheDescriptorIsClosed) {
  const auto folder = MakeTemporaryDirectory({}, "hone-lock-test-");
  ASSERT_TRUE(folder.ok());
  const std::string path = folder->path() + "/file";
  ASSERT_TRUE(WriteFileAtomically(path, "x").ok());
  UniqueFd first(open(path.c_str(), O_RDWR | O_CLOEXEC)), second(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (TryLock(first.get()) == LockOutcome::kImpossible) GTEST_SKIP() << "this file system has no locks";
  EXPECT_EQ(TryLock(first.get()), LockOutcome::kOurs) << "again, by the same";
  EXPECT_EQ(TryLock(second.get()), LockOutcome::kAnothers);
  first.Reset();
  EXPECT_EQ(TryLock(second.get()), LockOutcome::kOurs);
}

TEST(FileLock, AFileThatWasReplacedOrRemovedIsNotThereAnyMore) {
  const auto folder = MakeTemporaryDirectory({}, "hone-lock-test-");
  ASSERT_TRUE(folder.ok());
  const std::string path = folder->path() + "/file";
  ASSERT_TRUE(WriteFileAtomically(path, "x").ok());
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(IsFileAt(file.get(), path));
  ASSERT_TRUE(WriteFileAtomically(path, "y").ok());
  EXPECT_FALSE(IsFileAt(file.get(), path));
  std::filesystem::remove(path);
  EXPECT_FALSE(IsFileAt(file.get(), path));
}

}  // namespace
}  // namespace hone
