// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests find CUTLASS's headers at every level of a folder that a user may name, and check that errors name the
// remedy. The folders are fakes: a version header and an empty tensor.hpp are all that the search looks at.
#include "tuner/evaluate/compile/cutlass_headers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"

namespace hone {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class CutlassHeadersTest : public ::testing::Test {
 protected:
  // Installs the headers that the search looks at, in the subfolder `below` of the test's folder.
  void Install(const std::string& below, const std::string& version) {
    const std::string include = directory_ / below;
    ASSERT_TRUE(MakeDirectories(include + "/cute").ok());
    ASSERT_TRUE(MakeDirectories(include + "/cutlass").ok());
    ASSERT_TRUE(WriteFileAtomically(include + "/cute/tensor.hpp", "#pragma once\n").ok());
    ASSERT_TRUE(WriteFileAtomically(include + "/cutlass/version.h", version).ok());
  }
  const std::string kFour = "#define CUTLASS_MAJOR 4\n#define CUTLASS_MINOR 2\n#define CUTLASS_PATCH 1\n";
  TemporaryDirectory directory_ = std::move(*MakeTemporaryDirectory());
};

TEST_F(CutlassHeadersTest, AreFoundAtEveryLevelThatPeopleName) {
  Install("site/cutlass_library/source/include", kFour);
  for (const char* named : {"site", "site/cutlass_library", "site/cutlass_library/source",
                            "site/cutlass_library/source/include", "site/include"}) {
    const auto found = FindCutlassHeaders(directory_ / named);
    ASSERT_TRUE(found.ok()) << named << ": " << found.status().message();
    EXPECT_EQ(found->include, directory_ / "site/cutlass_library/source/include");
    EXPECT_EQ(found->major, 4);
    EXPECT_EQ(found->minor, 2);
    EXPECT_EQ(found->patch, 1);
  }
}

TEST_F(CutlassHeadersTest, WhatIsMissingOrTooOldIsSaidInOneSentenceWithTheRemedy) {
  const auto missing = FindCutlassHeaders(directory_ / "nowhere");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(missing.status().message(), HasSubstr("nowhere"));
  EXPECT_THAT(missing.status().message(), HasSubstr("nvidia-cutlass"));
  Install("old/include", "#define CUTLASS_MAJOR 3\n#define CUTLASS_MINOR 9\n#define CUTLASS_PATCH 2\n");
  const auto old = FindCutlassHeaders(directory_ / "old");
  ASSERT_FALSE(old.ok());
  EXPECT_THAT(old.status().message(), HasSubstr("CUTLASS 3.9"));
  EXPECT_THAT(old.status().message(), HasSubstr("too old"));
  EXPECT_THAT(old.status().message(), HasSubstr("--cutlass"));
  Install("strange/include", "// nothing\n#define CUTLASS_MAJOR FOUR\n");
  const auto strange = FindCutlassHeaders(directory_ / "strange");
  ASSERT_FALSE(strange.ok());
  EXPECT_THAT(strange.status().message(), HasSubstr("does not say CUTLASS's version"));
}

TEST_F(CutlassHeadersTest, PythonPackagesOfAPrefixAreLookedThrough) {
  ASSERT_TRUE(MakeDirectories(directory_ / "lib/python3.11/dist-packages").ok());
  EXPECT_THAT(UsualCutlassFolders({directory_.path()}), Contains(directory_ / "lib/python3.11/dist-packages"));
  EXPECT_THAT(UsualCutlassFolders({directory_.path()}), Contains("/opt/cutlass"));
}

}  // namespace
}  // namespace hone
