// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests compilers that cannot start child processes, as on a machine whose user is at the limit of processes: this is
// never a candidate's verdict.
#include "tuner/device/sim/image/child_shortage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tuner/device/sim/image/sim_compiler.h"

namespace hone {
namespace {

using testing::HasSubstr;

// These are the exact messages of GCC 12's driver and its linker's front end under RLIMIT_NPROC.
const std::string kDriver =
    "g++: fatal error: cannot execute ‘/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus’: vfork: Resource temporarily "
    "unavailable\ncompilation terminated.\n";
const std::string kLinker = "collect2: fatal error: vfork: Resource temporarily unavailable\ncompilation terminated.\n";

SubprocessResult ChildThatEnded(int status, const std::string& err) {
  SubprocessResult result;
  result.exit.exit_status = status;
  result.err = err;
  return result;
}

TEST(ChildShortage, IsToldFromDiagnosticsOfASource) {
  EXPECT_TRUE(sim::ReportsNoChild(ChildThatEnded(1, kDriver)));
  EXPECT_TRUE(sim::ReportsNoChild(ChildThatEnded(1, kLinker)));
  EXPECT_TRUE(sim::ReportsNoChild(
      ChildThatEnded(1, "x86_64-linux-gnu-g++-12: fatal error: cannot execute ‘as’: vfork: Cannot allocate memory\n")));
  EXPECT_FALSE(sim::ReportsNoChild(ChildThatEnded(0, kDriver)));
  EXPECT_FALSE(
      sim::ReportsNoChild(ChildThatEnded(1, "k.cu:3:2: error: #error vfork: Resource temporarily unavailable\n")));
  EXPECT_FALSE(sim::ReportsNoChild(
      ChildThatEnded(1, "k.cu:3:10: fatal error: vfork: Resource temporarily unavailable: No such file\n")));
  EXPECT_FALSE(sim::ReportsNoChild(ChildThatEnded(1, "g++: fatal error: no input files\n")));
}

TEST(ChildShortage, WaitsLongerEachTimeAndGivesTheFirstRealAnswer) {
  int runs = 0;
  std::vector<double> waits;
  const auto run = [&]() -> Result<SubprocessResult> {
    return ++runs < 4 ? ChildThatEnded(1, kDriver) : ChildThatEnded(1, "k.cu:1:1: error: no\n");
  };
  const auto probe = []() -> Result<SubprocessResult> { return Status::Internal("not needed"); };
  const Result<SubprocessResult> result =
      sim::RunDespiteShortage(run, probe, {.tries = 6, .first_wait_seconds = 1, .wait = [&](double s) { waits.push_back(s); }});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->err, "k.cu:1:1: error: no\n");
  EXPECT_EQ(waits, (std::vector<double>{1, 2, 4}));
}

TEST(ChildShortage, ThatLastsIsTheEnvironmentsAndWordsOfASourceAreItsOwn) {
  int runs = 0;
  const auto refused = [&]() -> Result<SubprocessResult> { return ++runs, ChildThatEnded(1, kDriver); };
  const auto fine = []() -> Result<SubprocessResult> { return ChildThatEnded(0, ""); };
  const sim::ChildShortageRetry at_once{.tries = 3, .first_wait_seconds = 0, .wait = [](double) {}};
  const Result<SubprocessResult> both = sim::RunDespiteShortage(refused, refused, at_once);
  EXPECT_EQ(both.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(both.status().message(), HasSubstr("ulimit -u"));
  runs = 0;
  const Result<SubprocessResult> alone = sim::RunDespiteShortage(refused, fine, at_once);
  ASSERT_TRUE(alone.ok());
  EXPECT_EQ(alone->err, kDriver);
  EXPECT_EQ(runs, 6);
}

// Uses the real compiler, whose starts fail as the test says.
TEST(ChildShortage, IsNeverACandidatesVerdict) {
  int refusals = 0, starts = 0;
  SimCompilerOptions options;
  options.cache_directory = HONE_BINARY_DIR "/tests/cache";
  options.shortage = {.tries = 3, .first_wait_seconds = 0, .wait = [](double) {}};
  options.run = [&](const SubprocessOptions& subprocess_options) -> Result<SubprocessResult> {
    ++starts;
    const auto has = [&](const char* word) {
      return std::find(subprocess_options.argv.begin(), subprocess_options.argv.end(), word) !=
             subprocess_options.argv.end();
    };
    if (refusals > 0 && !has("--version")) {
      --refusals;
      return ChildThatEnded(1, has("-shared") ? kLinker : kDriver);
    }
    return RunSubprocess(subprocess_options);
  };
  const std::unique_ptr<Compiler> compiler = MakeSimCompiler(options).value();
  TranslationUnit unit;
  unit.file = "candidate.cu";
  unit.body = "#line 1 \"candidate.cu\"\n__global__ void k(float* y) { y[0] = 1; }\n";
  unit.kernels = {"k"};

  refusals = 2;
  Result<CompiledModule> module = compiler->Compile(unit);
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ(module->verdict, Verdict::kOk) << module->log;
  EXPECT_EQ(refusals, 0);

  refusals = 1000;
  module = compiler->Compile(unit);
  EXPECT_EQ(module.status().code(), StatusCode::kUnavailable);
  // No result of the failure is stored.
  refusals = 0;
  module = compiler->Compile(unit);
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ(module->verdict, Verdict::kOk) << module->log;
}

}  // namespace
}  // namespace hone
