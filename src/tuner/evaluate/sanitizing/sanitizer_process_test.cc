// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests run the watched process over a fake device in host memory: this test program acts as the watched process,
// and a shell script as compute-sanitizer.
#include "tuner/evaluate/sanitizing/sanitizer_process.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "base/files/file.h"
#include "hone/tuner/candidate.h"
#include "tests/judge/judge_fixture.h"
#include "tuner/evaluate/sanitizing/sanitize_cases.h"
#include "tuner/evaluate/sanitizing/sanitizer_features.h"

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
        "#!/bin/sh\n[ \"$1\" = --help ] && { echo asked >> " + directory_ / "asked" + "; echo \"  --tool arg\"; exit 0; }\n"
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

TEST_F(Sanitizer, WhereTheTimeWentIsInTheMetrics) {
  Install(kClean);
  const Evaluation evaluation = Sanitize();
  for (const std::string tool : {"memcheck", "initcheck", "racecheck"}) {
    ASSERT_TRUE(evaluation.metrics.contains("sanitize_seconds." + tool)) << tool;
    double parts = 0;
    for (const char* part : {"help", "start", "session", "load", "launches", "release", "end"}) {
      const auto found = evaluation.metrics.find(fmt::format("sanitize_seconds.{}.{}", tool, part));
      ASSERT_NE(found, evaluation.metrics.end()) << tool << " " << part;
      EXPECT_GE(found->second, 0) << part;
      parts += found->second;
    }
    EXPECT_NEAR(parts, evaluation.metrics.at("sanitize_seconds." + tool), 1e-6);
    EXPECT_LE(parts, evaluation.stages[0].seconds);
  }
  EXPECT_GT(evaluation.metrics.at("sanitize_launches"), 4);
}

// The program's help text costs a start of the program: it is asked for once, as long as the program stays the same.
TEST_F(Sanitizer, TheToolIsAskedOnceWhatItCanDo) {
  Install(kClean);
  Sanitize();
  Sanitize();
  EXPECT_EQ(ReadFile(directory_ / "asked").value(), "asked\n");
}

TEST_F(Sanitizer, AHelpTextIsKeptForOtherProcessesUntilTheProgramChanges) {
  const TemporaryDirectory cache = *MakeTemporaryDirectory({}, "hone-cache-");
  const std::string program = directory_ / "compute-sanitizer";
  int asks = 0;
  const auto watches_shared_memory = [&](const std::string& cache_directory) {
    const auto help = [&]() -> std::optional<std::string> { return ++asks, *ReadFile(program); };
    return FeaturesOf(program, cache_directory, help).shared_initcheck;
  };
  const auto install = [&](const std::string& help) { ASSERT_TRUE(WriteFileAtomically(program, help, 0755).ok()); };
  install("--tool --initcheck-address-space");
  const pid_t other = fork();
  if (other == 0) _exit(watches_shared_memory(cache.path()) && asks == 1 ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(watches_shared_memory(cache.path()));
  EXPECT_TRUE(watches_shared_memory(""));
  EXPECT_EQ(asks, 0);
  install("--tool");
  EXPECT_FALSE(watches_shared_memory(cache.path()));
  EXPECT_FALSE(watches_shared_memory(cache.path()));
  EXPECT_EQ(asks, 1);
  // A text that is no help text is not kept.
  install("a program that failed");
  EXPECT_FALSE(watches_shared_memory(cache.path()));
  EXPECT_FALSE(watches_shared_memory(cache.path()));
  EXPECT_EQ(asks, 3);
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
  std::string lines;
  int ends = 0;
  const JudgeRequest request{.task = &job_.task, .candidate = &job_.candidate, .options = job_.options};
  const WatchKeeper keeper{.launch = [&](const WatchedLaunch& launch) { lines += EncodeWatchLine(launch); return Status::Ok(); },
                           .end = [&](const WatchEnd& end) { lines += EncodeWatchLine(end); ++ends; return Status::Ok(); }};
  ASSERT_TRUE(LaunchWatched(session, request, keeper).ok());
  EXPECT_EQ(ends, 1);
  const Result<WatchRecord> decoded = DecodeWatchRecord(lines);
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  const WatchRecord& last = *decoded;
  EXPECT_GT(last.end.times.loaded, 0);
  EXPECT_GE(last.end.times.launched, last.end.times.loaded);
  EXPECT_TRUE(last.end.complete);
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

// The process may be ended while it writes a line.
TEST(WatchRecord, ATornLastLineIsLeftOutAndAnyOtherDamageIsAnError) {
  WatchedLaunch launch{.dims = {{"rows", 3}}, .inputs = "default", .blocks = {{"x", 0x7f0000000010, 60}, {"out", 0xffffffff00000000, 4}}};
  const std::string first = EncodeWatchLine(launch);
  launch.dims["rows"] = 4;
  const std::string second = EncodeWatchLine(launch);
  EXPECT_TRUE(first.ends_with("}\n"));
  for (size_t bytes = 0; bytes < second.size(); ++bytes) {
    const Result<WatchRecord> decoded = DecodeWatchRecord(first + second.substr(0, bytes));
    ASSERT_TRUE(decoded.ok()) << bytes << ": " << decoded.status().message();
    ASSERT_EQ(decoded->launches.size(), 1u) << bytes;
    EXPECT_FALSE(decoded->end.complete);
  }
  Result<WatchRecord> decoded = DecodeWatchRecord(
      first + second +
      EncodeWatchLine(WatchEnd{
          .ended = "", .complete = true, .times = {.began = 1.5, .connected = 2, .loaded = 3, .launched = 4}}) +
      EncodeWatchLine(WatchEnd{.ended = "it hung",
                               .complete = false,
                               .times = {.began = 1.5, .connected = 2, .loaded = 3, .launched = 4, .released = 5}}));
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  ASSERT_EQ(decoded->launches.size(), 2u);
  EXPECT_EQ(decoded->launches[1].dims, (Dims{{"rows", 4}}));
  EXPECT_EQ(decoded->launches[0].inputs, "default");
  ASSERT_EQ(decoded->launches[0].blocks.size(), 2u);
  EXPECT_EQ(decoded->launches[0].blocks[1].name, "out");
  EXPECT_EQ(decoded->launches[0].blocks[1].address, 0xffffffff00000000u);
  EXPECT_EQ(decoded->end.ended, "it hung");
  EXPECT_FALSE(decoded->end.complete);
  EXPECT_EQ(decoded->end.times.began, 1.5);
  EXPECT_EQ(decoded->end.times.released, 5);
  EXPECT_TRUE(DecodeWatchRecord("").value().launches.empty());
  for (const std::string& damaged : {first.substr(0, 20) + "\n" + second, std::string("[]\n"), std::string("{}\n"), std::string("\n")}) {
    EXPECT_EQ(DecodeWatchRecord(damaged).status().code(), StatusCode::kInvalidArgument) << damaged;
  }
}

}  // namespace
}  // namespace hone
