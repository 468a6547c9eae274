// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests run the watched process over a fake device in host memory: this test program acts as the watched process,
// and a shell script as compute-sanitizer.
#include "tuner/evaluate/sanitizing/sanitizer_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/files/file.h"
#include "hone/tuner/candidate.h"
#include "tests/judge/judge_fixture.h"
#include "tuner/evaluate/sanitizing/sanitize_cases.h"

namespace hone {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kClean[] = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n";
constexpr char kNoRaces[] = "========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n";
// The script puts the address right past the end of x (@past_x@) and the address of out (@out@) into these texts.
constexpr char kReadsPastTheEnd[] =
    "========= COMPUTE-SANITIZER\n"
    "========= Invalid __global__ read of size 4 bytes\n"
    "=========     at honest+0xb0\n"
    "=========     by thread (14,0,0) in block (0,0,0)\n"
    "=========     Access to @past_x@ is out of bounds\n"
    "=========     and is 1 bytes after the nearest allocation at 0x7f0 of size 60 bytes\n"
    "========= \n"
    "========= ERROR SUMMARY: 1 error\n";
constexpr char kReadsWhatNobodyWrote[] =
    "========= COMPUTE-SANITIZER\n"
    "========= Uninitialized __global__ memory read of size 4 bytes\n"
    "=========     at honest+0x70\n"
    "=========     by thread (1,0,0) in block (0,0,0)\n"
    "=========     Address @out@\n"
    "========= \n"
    "========= ERROR SUMMARY: 1 error\n";
constexpr char kReadsPastSharedMemory[] =
    "========= COMPUTE-SANITIZER\n"
    "========= Invalid __shared__ read of size 12 bytes\n"
    "=========     at honest+0xb0\n"
    "=========     by thread (0,0,0) in block (8,0,0)\n"
    "=========     Access to 0x420 is out of bounds\n"
    "========= \n"
    "========= ERROR SUMMARY: 1 error\n";
constexpr char kRaces[] =
    "========= COMPUTE-SANITIZER\n"
    "========= Error: Race reported between Write access at honest+0xf0\n"
    "=========     and Read access at honest+0x280 [4 hazards]\n"
    "========= \n"
    "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n";

class Sanitizer : public testing::Test {
 protected:
  Sanitizer() : directory_(*MakeTemporaryDirectory({}, "hone-tool-")) {
    job_.task = ParseTask(kScaleTask, "task.toml").value();
    job_.oracle = Program(PlanText("oracle", R"("x", "w", "ref:out")"), true);
    job_.candidate = Program(PlanText("honest", R"("x", "w", "out")"), false);
    job_.options.seed = 3;
    options_.argv = {std::filesystem::read_symlink("/proc/self/exe").string(), "__sanitize", "watched"};
    options_.environment = {"PATH=/usr/bin:/bin"};
    options_.directories = {directory_.path()};
  }
  CompiledProgram Program(const std::string& text, bool is_oracle) {
    CompiledProgram program;
    program.candidate = ParseCandidate(text, "c.cu", job_.task, is_oracle).value();
    program.modules[""] = CompiledModule();
    return program;
  }
  // Installs a compute-sanitizer that runs the process and then writes the log of each tool; `before` runs first.
  void Install(const std::string& memcheck, const std::string& initcheck = kClean, const std::string& racecheck = kNoRaces,
               const std::string& before = "") {
    ASSERT_TRUE(WriteFileAtomically(directory_ / "memcheck", memcheck).ok());
    ASSERT_TRUE(WriteFileAtomically(directory_ / "initcheck", initcheck).ok());
    ASSERT_TRUE(WriteFileAtomically(directory_ / "racecheck", racecheck).ok());
    const std::string script =
        "#!/bin/sh\n[ \"$1\" = --help ] && exit 0\n"
        "while [ \"$1\" != " + options_.argv[0] + " ]; do\n  case $1 in --tool) tool=$2;; --log-file) log=$2;; esac\n  shift\ndone\n" + before +
        "\n\"$@\"\nended=$?\nfor out; do :; done\n[ -e \"$out\" ] || exit $ended\n"
        // A block is written as {"address":"0x…","bytes":60,"name":"x"}; the smallest case is launched first.
        "set -- $(grep -o '\"address\":\"0x[0-9a-f]*\",\"bytes\":[0-9]*,\"name\":\"x\"' \"$out\" | head -1 | tr -d '\"' | tr ',:' '  ')\n"
        "past=$(printf 0x%x $(($2 + $4)))\n"
        "set -- $(grep -o '\"address\":\"0x[0-9a-f]*\",\"bytes\":[0-9]*,\"name\":\"out\"' \"$out\" | head -1 | tr -d '\"' | tr ',:' '  ')\n"
        "sed -e \"s/@past_x@/$past/\" -e \"s/@out@/$2/\" " + directory_.path() + "/$tool > \"$log\"\nexit $ended\n";
    ASSERT_TRUE(WriteFileAtomically(directory_ / "compute-sanitizer", script, 0755).ok());
  }
  Evaluation Sanitize() {
    Result<Evaluation> evaluation = SanitizeInProcess(job_, options_);
    EXPECT_TRUE(evaluation.ok()) << evaluation.status().message();
    return evaluation.ok() ? *std::move(evaluation) : Evaluation{};
  }
  TemporaryDirectory directory_;
  JudgeJob job_;
  SanitizerOptions options_;
};

TEST_F(Sanitizer, WhatItFindsNothingInIsOk) {
  Install(kClean);
  const Evaluation evaluation = Sanitize();
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_THAT(evaluation.labels, ElementsAre("sanitized"));
  EXPECT_THAT(evaluation.findings, IsEmpty());
  ASSERT_EQ(evaluation.stages.size(), 1u);
  EXPECT_TRUE(evaluation.stages[0].holds_device);
}

TEST_F(Sanitizer, TheWatchedProcessRunsInItsSandbox) {
  options_.argv[2] = "confined";
  Install(kReadsPastTheEnd);
  EXPECT_EQ(Sanitize().verdict, Verdict::kCrashed);
}

TEST_F(Sanitizer, AReadPastTheEndNamesTheTensorAndTheShape) {
  Install(kReadsPastTheEnd);
  const Evaluation evaluation = Sanitize();
  EXPECT_EQ(evaluation.verdict, Verdict::kCrashed);
  EXPECT_THAT(evaluation.detail, AllOf(HasSubstr("honest, thread (14,0,0) in block (0,0,0), reads 4 bytes that begin 0 bytes past the end of 'x', which has 60 bytes"),
                                       HasSubstr("for cols=5 rows=3 (default inputs)")));
  ASSERT_EQ(evaluation.findings.size(), 1u);
  EXPECT_EQ(evaluation.findings[0].kind, "out_of_bounds");
  EXPECT_EQ(evaluation.findings[0].dims, (Dims{{"rows", 3}, {"cols", 5}}));
}

TEST_F(Sanitizer, AReadOfWhatNobodyWroteBreaksTheRulesAndARaceIsAFinding) {
  Install(kClean, kReadsWhatNobodyWrote, kRaces);
  const Evaluation evaluation = Sanitize();
  EXPECT_EQ(evaluation.verdict, Verdict::kRuleViolation);
  EXPECT_THAT(evaluation.detail, HasSubstr("reads 4 bytes of 'out' + 0 bytes, which nobody has written"));
  ASSERT_EQ(evaluation.findings.size(), 2u);
  EXPECT_EQ(evaluation.findings[1].kind, "shared_race");
  EXPECT_THAT(evaluation.findings[1].message, HasSubstr("honest uses shared memory in threads of a block with no barrier between"));
}

// nvcc made such a load of an honest kernel's loop (tests/honest/gather_block_a_row.cu).
TEST_F(Sanitizer, AReadPastTheEndOfSharedMemoryIsAFinding) {
  Install(kReadsPastSharedMemory);
  const Evaluation evaluation = Sanitize();
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  ASSERT_EQ(evaluation.findings.size(), 1u);
  EXPECT_EQ(evaluation.findings[0].kind, "out_of_bounds");
}

TEST_F(Sanitizer, AToolThatHangsOrFailsIsAFindingAndNoRefusal) {
  options_.limit_seconds = 4;
  Install(kClean, kClean, kNoRaces, "[ $tool = racecheck ] && exec sleep 30\n[ $tool = initcheck ] && exit 1");
  const Evaluation evaluation = Sanitize();
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_THAT(evaluation.labels, ElementsAre("sanitized"));
  EXPECT_THAT(evaluation.findings,
              ElementsAre(AllOf(Field(&Finding::kind, "not_sanitized"), Field(&Finding::message, HasSubstr("initcheck"))),
                          AllOf(Field(&Finding::kind, "not_sanitized"),
                                Field(&Finding::message, HasSubstr("did not look for races in shared memory (racecheck): it took more than 4 s")))));
}

TEST_F(Sanitizer, WithoutTheToolOneSentenceNamesTheRemedy) {
  const Result<Evaluation> evaluation = SanitizeInProcess(job_, options_);
  ASSERT_EQ(evaluation.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(evaluation.status().message(), HasSubstr("install the CUDA toolkit's package cuda-sanitizer"));
}

TEST_F(Sanitizer, WhereNoToolRunsTheFirstReasonIsGiven) {
  options_.argv[2] = "no-device";
  Install(kClean);
  const Result<Evaluation> evaluation = SanitizeInProcess(job_, options_);
  ASSERT_EQ(evaluation.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(evaluation.status().message(), HasSubstr("the device went for a walk"));
}

TEST_F(Sanitizer, EachLaunchHasTensorsOfItsOwn) {
  FakeDevice device;
  device.kernels["honest"].run = Scale;
  FakeSession session(std::move(device));
  WatchRecord last;
  const JudgeRequest request{.task = &job_.task, .candidate = &job_.candidate, .options = job_.options};
  ASSERT_TRUE(LaunchWatched(session, request, [&](const WatchRecord& record) {
                const Result<WatchRecord> read = DecodeWatchRecord(EncodeWatchRecord(record));
                if (!read.ok()) return read.status();
                last = *read;
                return Status::Ok();
              }).ok());
  EXPECT_TRUE(last.complete);
  EXPECT_GT(last.launches.size(), 4u);
  std::set<uint64_t> addresses;
  size_t blocks = 0;
  for (const WatchedLaunch& launch : last.launches) {
    EXPECT_EQ(launch.blocks.size(), 3u);
    for (const WatchedBlock& block : launch.blocks) addresses.insert(block.address);
    blocks += launch.blocks.size();
  }
  EXPECT_EQ(addresses.size(), blocks);
}

}  // namespace
}  // namespace hone
