// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests run the profiling process and `ncu` over a fake device in host memory: this test program acts as the
// profiling process, and a shell script as ncu.
#include "tuner/evaluate/profiling/profile_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files/file.h"
#include "hone/tuner/candidate.h"
#include "tests/judge/judge_fixture.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class ProfileProcess : public testing::Test {
 protected:
  ProfileProcess() : directory_(*MakeTemporaryDirectory({}, "hone-ncu-")) {
    job_.task = ParseTask(kScaleTask, "task.toml").value();
    job_.oracle = Program(PlanText("oracle", R"("x", "w", "ref:out")"), true);
    job_.candidate = Program(PlanText("honest", R"("x", "w", "out")"), false);
    job_.options.seed = 3;
  }
  CompiledProgram Program(const std::string& text, bool is_oracle) {
    CompiledProgram program;
    program.candidate = ParseCandidate(text, "c.cu", job_.task, is_oracle).value();
    program.modules[""] = CompiledModule();
    return program;
  }
  ProfileProcessOptions Options(const std::string& device) {
    ProfileProcessOptions options;
    // The program is given by its path: under the script that acts as ncu, /proc/self/exe would be the shell.
    options.argv = {std::filesystem::read_symlink("/proc/self/exe").string(), "__profile", device};
    options.environment = {"PATH=/usr/bin:/bin"};
    options.ncu_directories = {directory_.path()};
    options.limit_seconds = 60;
    return options;
  }
  // Installs a fake ncu, which runs the program that follows its options and writes `log` to the log file it is given.
  void InstallNcu(const std::string& log) {
    ASSERT_TRUE(WriteFileAtomically(directory_ / "table", log).ok());
    const std::string script = "#!/bin/sh\nwhile [ \"$1\" != --metrics ]; do\n  [ \"$1\" = --log-file ] && log=$2\n  shift\ndone\n"
                               "shift 2\n\"$@\" || exit $?\ncat " + directory_ / "table" + " > \"$log\"\n";
    ASSERT_TRUE(WriteFileAtomically(directory_ / "ncu", script, 0755).ok());
  }
  static std::string Table(int kernels) {
    std::string text = "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
    for (int i = 0; i < kernels; ++i) {
      text += std::to_string(i) + ",\"k\",\"dram__bytes_read.sum\",\"byte\",\"" + std::to_string(1000 + i) + "\"\n";
    }
    return text;
  }
  size_t TimedCases() const {
    size_t timed = 0;
    for (const Case& c : job_.task.cases) timed += c.role == CaseRole::kTime;
    return timed;
  }
  TemporaryDirectory directory_;
  JudgeJob job_;
};

TEST_F(ProfileProcess, CountsInAProcessOfItsOwn) {
  const Result<Profile> profile = ProfileInProcess(job_, Options("counts"));
  ASSERT_TRUE(profile.ok()) << profile.status().message();
  EXPECT_THAT(profile->note, IsEmpty());
  EXPECT_EQ(profile->source, "cupti");
  ASSERT_EQ(profile->cases.size(), TimedCases());
  EXPECT_EQ(profile->cases[0].kernels[0].Value("occupancy"), 50);
}

TEST_F(ProfileProcess, WhereCuptiMayNotReadNcuCounts) {
  InstallNcu(Table(static_cast<int>(TimedCases())));
  const Result<Profile> profile = ProfileInProcess(job_, Options("forbidden"));
  ASSERT_TRUE(profile.ok()) << profile.status().message();
  EXPECT_THAT(profile->note, IsEmpty());
  EXPECT_EQ(profile->source, "ncu");
  ASSERT_EQ(profile->cases.size(), TimedCases());
  EXPECT_EQ(profile->cases[0].kernels[0].Value("dram_bytes_read"), 1000);
}

TEST_F(ProfileProcess, WithoutEitherOneSentenceSaysWhatToDo) {
  const Result<Profile> profile = ProfileInProcess(job_, Options("forbidden"));
  ASSERT_TRUE(profile.ok()) << profile.status().message();
  EXPECT_THAT(profile->cases, IsEmpty());
  EXPECT_THAT(profile->note, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_THAT(profile->note, HasSubstr("no `ncu` on the PATH"));
}

TEST_F(ProfileProcess, AnNcuThatMayNotReadEitherOrMissesKernelsIsTold) {
  InstallNcu("==ERROR== ERR_NVGPUCTRPERM\n");
  Result<Profile> profile = ProfileInProcess(job_, Options("forbidden"));
  ASSERT_TRUE(profile.ok());
  EXPECT_THAT(profile->cases, IsEmpty());
  EXPECT_THAT(profile->note, HasSubstr("ncu: the driver lets only administrators"));
  InstallNcu(Table(0));
  profile = ProfileInProcess(job_, Options("forbidden"));
  ASSERT_TRUE(profile.ok());
  EXPECT_THAT(profile->note, HasSubstr("ncu counted 0 kernels"));
}

TEST_F(ProfileProcess, AProcessThatDiesIsANote) {
  const Result<Profile> profile = ProfileInProcess(job_, Options("no-device"));
  ASSERT_TRUE(profile.ok()) << profile.status().message();
  EXPECT_THAT(profile->note, HasSubstr("went for a walk"));
}

}  // namespace
}  // namespace hone
