// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests a verdict from two devices. The first is a fake GPU of C++ lambdas, on which every candidate here is right. The
// second is the real simulated GPU, which alone runs the candidate's text and sees what it does to memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <memory>
#include <string>
#include <vector>

#include "base/process/stoppable_sleep.h"
#include "tests/judge/judge_fixture.h"
#include "tuner/core/program/machine_code.h"
#include "tuner/evaluate/local_evaluator.h"
#include "tuner/evaluate/second_device.h"

namespace hone {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Reports that everything compiles: the fake device knows kernels by their names.
class YesCompiler : public Compiler {
 public:
  Result<CompiledModule> Compile(const TranslationUnit&) override { return CompiledModule{}; }
  std::string Fingerprint() const override { return "yes"; }
};

class LambdaGpu : public Backend {
 public:
  LambdaGpu() : session_(Device()) {}
  const DeviceFacts& facts() const override { return session_.facts(); }
  Compiler& compiler() override { return compiler_; }
  Result<Compiler*> host_compiler() override { return Status::Unavailable("no host mode here"); }
  Result<Compiler*> machine_code_compiler() override { return &compiler_; }
  Result<Evaluation> Judge(const JudgeJob& job, const EvaluationProgress&) override {
    JudgeRequest request{.task = &job.task, .candidate = &job.candidate, .oracle = &job.oracle,
                         .incumbent = job.incumbent ? &*job.incumbent : nullptr, .options = job.options,
                         .before_timing = job.before_timing, .timing_budget_seconds = 600, .vast_alone = job.vast_alone};
    return hone::Judge(session_, request, {});
  }

 private:
  static FakeDevice Device() {
    FakeDevice device;
    device.kernels["scale"] = {.run = Scale};
    device.kernels["oracle"] = {.run = ScaleOracle};
    return device;
  }
  FakeSession session_;
  YesCompiler compiler_;
};

// Returns the text of a candidate for the scale task that a real compiler can read. `body` is the kernel's, and `more`
// is added to the plan.
std::string Kernel(const std::string& body, const std::string& more = "") {
  return "/*hone\n[[launch]]\nkernel = \"scale\"\ngrid = [\"ceil_div(rows * cols, 64)\"]\nblock = [\"64\"]\n"
         "args = [\"x\", \"w\", \"out\", \"rows * cols:i64\", \"cols:i64\"]\n*/\n" + more +
         "__global__ void scale(const float* x, const float* w, float* out, long long n, long long cols) {\n"
         "  const long long i = blockIdx.x * 64LL + threadIdx.x;\n" + body + "}\n";
}
const char* const kHonest = "  if (i < n) out[i] = x[i] * w[i % cols];\n";

Task ScaleTask() {
  Task task = *ParseTask(kScaleTask, "task.toml");
  task.oracle_source =
      "/*hone\n[[launch]]\nkernel = \"oracle\"\ngrid = [\"ceil_div(rows * cols, 64)\"]\nblock = [\"64\"]\n"
      "args = [\"x\", \"w\", \"ref:out\", \"rows * cols:i64\", \"cols:i64\"]\n*/\n"
      "__global__ void oracle(const float* x, const float* w, double* out, long long n, long long cols) {\n"
      "  const long long i = blockIdx.x * 64LL + threadIdx.x;\n"
      "  if (i < n) out[i] = static_cast<double>(x[i]) * w[i % cols];\n}\n";
  task.seed_source = Kernel(kHonest);
  return task;
}

class SecondDevice : public testing::Test {
 protected:
  static Evaluation Judge(const std::string& source, bool simulate = true) {
    static const std::unique_ptr<Evaluator> evaluator = [] {
      EvaluatorOptions options;
      options.executable = std::string(HONE_BINARY_DIR) + "/bin/hone";
      options.cache_directory = std::string(HONE_BINARY_DIR) + "/tests/cache";
      return MakeLocalEvaluator(std::make_unique<LambdaGpu>(), [options] { return MakeSimBackend(options, "h200"); }, options);
    }();
    EvaluationRequest request;
    request.source = source;
    request.seed = 0x60d5eed;
    request.max_quads = 10;
    request.warm = false;
    request.simulate = simulate;
    Result<Evaluation> evaluation = evaluator->Evaluate(ScaleTask(), request);
    EXPECT_TRUE(evaluation.ok()) << evaluation.status().message();
    return evaluation.ok() ? *std::move(evaluation) : Evaluation{};
  }
  // Expects that the candidate is right on the GPU alone, and refused by both devices together.
  static void ExpectOnlyTheSecondSees(const std::string& source) {
    const Evaluation alone = Judge(source, false);
    EXPECT_EQ(alone.verdict, Verdict::kOk) << alone.detail;
    EXPECT_THAT(alone.labels, Contains("not_simulated"));
    const Evaluation both = Judge(source);
    EXPECT_THAT(both.verdict, testing::AnyOf(Verdict::kCrashed, Verdict::kRuleViolation)) << both.detail;
    EXPECT_THAT(both.detail, HasSubstr("on the simulated GPU"));
    EXPECT_FALSE(both.geomean_speedup);
    EXPECT_FALSE(both.findings.empty());
  }
};

TEST_F(SecondDevice, AnHonestKernelPassesBoth) {
  const Evaluation evaluation = Judge(Kernel(kHonest));
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_THAT(evaluation.labels, Not(Contains("not_simulated")));
  EXPECT_TRUE(evaluation.geomean_speedup);
  EXPECT_FALSE(evaluation.modelled);
  EXPECT_TRUE(std::any_of(evaluation.stages.begin(), evaluation.stages.end(),
                          [](const Stage& stage) { return stage.name == "simulated check" && !stage.holds_device; }));
}

TEST_F(SecondDevice, SeesReadsPastTheEnd) {
  ExpectOnlyTheSecondSees(Kernel("  const float next = x[i + 1];\n  if (i < n) out[i] = x[i] * w[i % cols] + (next == 12345.678f ? 1.0f : 0.0f);\n"));
}

TEST_F(SecondDevice, SeesWritesPastTheEnd) {
  ExpectOnlyTheSecondSees(Kernel("  out[i] = x[i < n ? i : 0] * w[i % cols];\n"));
}

TEST_F(SecondDevice, SeesRacesInSharedMemory) {
  ExpectOnlyTheSecondSees(Kernel("  __shared__ float row[64];\n  row[threadIdx.x] = i < n ? x[i] : 0.0f;\n"
                                 "  const float mine = row[63 - threadIdx.x];\n"
                                 "  if (i < n) out[i] = x[i] * w[i % cols] + (mine > 3e38f ? 1.0f : 0.0f);\n"));
}

TEST_F(SecondDevice, SeesOutputsThatAreReadBeforeTheyAreWritten) {
  ExpectOnlyTheSecondSees(Kernel("  if (i < n) out[i] = out[i] > 3e38f ? x[i] * w[i % cols] : x[i] * w[i % cols] + 0.0f;\n"));
}

TEST_F(SecondDevice, AKernelThatItCannotRunIsNotRefusedForThat) {
  const Evaluation evaluation = Judge(Kernel(std::string("  asm volatile(\"barrier.cluster.arrive.aligned;\");\n") + kHonest));
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_THAT(evaluation.labels, Contains("not_simulated"));
  const auto why = std::find_if(evaluation.findings.begin(), evaluation.findings.end(),
                                [](const Finding& finding) { return finding.kind == "not_simulated"; });
  ASSERT_NE(why, evaluation.findings.end());
  EXPECT_THAT(why->message, HasSubstr("did not run on the simulated GPU"));
}

// Each of these texts shows the simulated GPU a kernel without the fault. The code for the GPU must run there too.
TEST_F(SecondDevice, SeesTheCodeOfATextThatAsksForTheDevice) {
  const std::string past = "  const float next = x[i + 1];\n", within = "  const float next = 0;\n";
  const std::string use = "  if (i < n) out[i] = x[i] * w[i % cols] + (next == 12345.678f ? 1.0f : 0.0f);\n";
  // The last one does not compile there as it is.
  for (const std::string ask : {"#ifdef HONE_\\\nSIM\n", "#ifdef __x86_64__\n", "#ifndef __CUDACC_RTC__\n", "#ifdef __SANITIZE_THREAD__\n"}) {
    ExpectOnlyTheSecondSees(Kernel(ask + within + "#else\n" + past + "#endif\n" + use));
  }
  const Evaluation both = Judge(Kernel("#ifdef HONE_SIM\n" + within + "#else\n" + past + "#endif\n" + use));
  EXPECT_THAT(both.detail, HasSubstr("in the code that the text has for a GPU"));
}

TEST_F(SecondDevice, ATextThatAsksForTheDeviceAndIsRightOnBothPasses) {
  const Evaluation evaluation =
      Judge(Kernel(std::string("#ifdef HONE_SIM\n  const bool here = i < n;\n#else\n  const bool here = n > i;\n#endif\n") +
                   "  if (here) out[i] = x[i] * w[i % cols];\n"));
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_THAT(evaluation.labels, Not(Contains("not_simulated")));
  EXPECT_TRUE(std::none_of(evaluation.findings.begin(), evaluation.findings.end(),
                           [](const Finding& finding) { return finding.kind == "simulated_other_code"; }));
}

// Honest kernels may have plain code for the simulated GPU beside instructions that it does not know.
TEST_F(SecondDevice, CodeForAGpuThatDoesNotRunThereIsAFinding) {
  const Evaluation evaluation = Judge(
      Kernel(std::string("#ifndef HONE_SIM\n  asm volatile(\"barrier.cluster.arrive.aligned;\");\n#endif\n") + kHonest));
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_THAT(evaluation.labels, Not(Contains("not_simulated")));
  ASSERT_FALSE(evaluation.findings.empty());
  EXPECT_EQ(evaluation.findings.front().kind, "simulated_other_code");
}

TEST(AsOnAGpu, ChangesNothingElse) {
  EXPECT_EQ(AsOnAGpu("#if __CUDA_ARCH__ >= 900\nint HONE_SIMPLE, gnuc = '\\n';\n#endif\n"), std::nullopt);
  EXPECT_EQ(AsOnAGpu("#define A \\\n  1\n#ifdef HONE_SIM\n#endif\n"), "#define A \\\n  1\n#ifdef hone_not_here_HONE_SIM\n#endif\n");
  EXPECT_EQ(AsOnAGpu("#ifdef __CUDACC_RTC__"), "#ifdef __CUDACC__");
  for (const std::string name : {"HONE_SIM", "__GNUC__", "__GNUC_MINOR__", "_GLIBCXX_RELEASE", "__OPTIMIZE__", "__linux__"}) {
    EXPECT_EQ(AsOnAGpu("#if defined(" + name + ")"), "#if defined(hone_not_here_" + name + ")");
    EXPECT_EQ(AsOnAGpu("#if defined(" + name.substr(0, 3) + "\\ \n" + name.substr(3) + ")"), "#if defined(hone_not_here_" + name + ")");
  }
}

TEST_F(SecondDevice, TurnedOffItSaysSo) {
  const Evaluation evaluation = Judge(Kernel(kHonest), false);
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  ASSERT_FALSE(evaluation.findings.empty());
  EXPECT_THAT(evaluation.findings.back().message, HasSubstr("--no-sim"));
}

// --- what is joined, without a device ---

Evaluation Said(Verdict verdict, const std::string& detail = "") {
  Evaluation evaluation;
  evaluation.verdict = verdict;
  evaluation.detail = detail;
  return evaluation;
}

// What a GPU's sanitizer, and its verdict on a vast shape, say to one candidate, and what they were asked.
struct Watching {
  bool large_gpu = true;  // its memory suffices for the tool beside the checks
  Result<Evaluation> sanitized = Said(Verdict::kOk), vast = Said(Verdict::kOk);
  bool until_stopped = false;  // the tool goes on until it is stopped
  std::vector<std::string> asked;  // "judge", "vast"
  std::atomic<int> sanitizes = 0, stops = 0;
  std::atomic<bool> tool_ended = false;
  bool ended_before_timing = false;
  // The tool waits for what should run beside it, so that one after the other would hang.
  std::latch judge_begun{1}, vast_begun{1}, tool_begun{1};
};

class WatchedGpu : public LambdaGpu {
 public:
  explicit WatchedGpu(Watching* watching) : watching_(*watching), facts_(LambdaGpu::facts()) {
    facts_.memory_bytes = int64_t{watching_.large_gpu ? 80 : 8} << 30;
  }
  const DeviceFacts& facts() const override { return facts_; }
  Result<Evaluation> Judge(const JudgeJob& job, const EvaluationProgress& progress) override {
    watching_.asked.push_back(job.vast_alone ? "vast" : "judge");
    EXPECT_NE(job.vast_alone, job.vast_follows);
    if (job.vast_alone) {
      watching_.vast_begun.count_down();
      watching_.tool_begun.wait();
      return watching_.vast;
    }
    EXPECT_EQ(job.before_timing != nullptr, watching_.large_gpu);
    watching_.judge_begun.count_down();
    if (watching_.large_gpu) watching_.tool_begun.wait();
    JudgeJob noted = job;
    if (job.before_timing) {
      noted.before_timing = [&] {
        job.before_timing();
        watching_.ended_before_timing = watching_.tool_ended.load();
      };
    }
    return LambdaGpu::Judge(noted, progress);
  }
  Result<Evaluation> Sanitize(const JudgeJob& job, std::stop_token stop) override {
    EXPECT_FALSE(job.incumbent || job.options.time || job.vast_alone || job.before_timing);
    ++watching_.sanitizes;
    watching_.tool_begun.count_down();
    (watching_.large_gpu ? watching_.judge_begun : watching_.vast_begun).wait();
    StoppableSleep(watching_.until_stopped ? 600 : 0.05, stop);
    watching_.stops += stop.stop_requested() ? 1 : 0;
    watching_.tool_ended = true;
    return watching_.sanitized;
  }

 private:
  Watching& watching_;
  DeviceFacts facts_;
};

Result<Evaluation> JudgeMachineCode(Watching& watching, const std::string& kernel = "scale") {
  const std::unique_ptr<Evaluator> evaluator = MakeLocalEvaluator(std::make_unique<WatchedGpu>(&watching), nullptr, {});
  EvaluationRequest request;
  request.source = JoinMachineCode("mode = \"cubin\"\n[[launch]]\nkernel = \"" + kernel + "\"\ngrid = [\"ceil_div(rows * cols, 64)\"]\nblock = [\"64\"]\n"
                                   "args = [\"x\", \"w\", \"out\", \"rows * cols:i64\", \"cols:i64\"]\n", {{"kernel.cubin", "x"}}).value();
  request.seed = 0x60d5eed;
  request.max_quads = 10;
  request.warm = false;
  return evaluator->Evaluate(ScaleTask(), request);
}

TEST(Watched, SmallCasesAreWatchedBesideTheChecksAndNothingIsTimedMeanwhile) {
  Watching watching;
  watching.sanitized->labels = {"sanitized"};
  watching.sanitized->stages = {{"sanitize", 1.5, true}};
  watching.sanitized->metrics["sanitize_launches"] = 12;
  watching.vast->metrics["vast_slices"] = 7;
  const Result<Evaluation> evaluation = JudgeMachineCode(watching);
  ASSERT_TRUE(evaluation.ok()) << evaluation.status().message();
  EXPECT_EQ(evaluation->verdict, Verdict::kOk) << evaluation->detail;
  EXPECT_THAT(watching.asked, testing::ElementsAre("judge", "vast"));
  EXPECT_EQ(watching.sanitizes.load(), 1);
  EXPECT_EQ(watching.stops.load(), 0);
  EXPECT_TRUE(watching.ended_before_timing);
  EXPECT_GE(evaluation->metrics.at("sanitize_seconds.waited"), 0);
  EXPECT_TRUE(evaluation->geomean_speedup);
  EXPECT_THAT(evaluation->labels, testing::AllOf(Contains("sanitized"), Not(Contains("not_simulated"))));
  EXPECT_EQ(evaluation->metrics.at("sanitize_launches"), 12);
  EXPECT_EQ(evaluation->metrics.at("vast_slices"), 7);
}

TEST(Watched, OnASmallGpuTheyAreWatchedBesideTheVastShapeAlone) {
  Watching watching;
  watching.large_gpu = false;
  watching.sanitized->labels = {"sanitized"};
  const Result<Evaluation> evaluation = JudgeMachineCode(watching);
  ASSERT_TRUE(evaluation.ok()) << evaluation.status().message();
  EXPECT_EQ(evaluation->verdict, Verdict::kOk) << evaluation->detail;
  EXPECT_THAT(watching.asked, testing::ElementsAre("judge", "vast"));
  EXPECT_EQ(watching.sanitizes.load(), 1);
  EXPECT_THAT(evaluation->labels, Contains("sanitized"));
}

TEST(Watched, AFaultInSmallCasesRefusesWhateverTheVastShapeSays) {
  for (const Result<Evaluation>& vast : {Result<Evaluation>(Said(Verdict::kOk)), Result<Evaluation>(Said(Verdict::kWrongOutput, "vast")),
                                         Result<Evaluation>(Status::Device("the GPU fell off the bus"))}) {
    Watching watching;
    watching.sanitized = Said(Verdict::kCrashed, "reads past the end of 'x'");
    watching.vast = vast;
    const Result<Evaluation> evaluation = JudgeMachineCode(watching);
    ASSERT_TRUE(evaluation.ok()) << evaluation.status().message();
    EXPECT_EQ(evaluation->verdict, Verdict::kCrashed);
    EXPECT_THAT(evaluation->detail, HasSubstr("reads past the end of 'x'"));
    EXPECT_FALSE(evaluation->geomean_speedup);
  }
}

TEST(Watched, AFaultAtTheVastShapeRefusesWhereSmallCasesShowNone) {
  Watching watching;
  watching.vast = Said(Verdict::kWrongOutput, "element 2147483648");
  EXPECT_EQ(JudgeMachineCode(watching)->verdict, Verdict::kWrongOutput);
  Watching without_tool;
  without_tool.sanitized = Status::Unavailable("there is none: install it");
  without_tool.vast = Said(Verdict::kCrashed, "an illegal address");
  const Evaluation refused = *JudgeMachineCode(without_tool);
  EXPECT_EQ(refused.verdict, Verdict::kCrashed);
  EXPECT_THAT(refused.labels, Contains("not_simulated"));
  Watching failing;
  failing.vast = Status::Device("the GPU fell off the bus");
  EXPECT_EQ(JudgeMachineCode(failing).status().code(), StatusCode::kDevice);
}

TEST(Watched, AWrongCandidateDoesNotWaitForTheTool) {
  for (const bool large_gpu : {true, false}) {
    Watching watching;
    watching.large_gpu = large_gpu;
    watching.until_stopped = true;
    EXPECT_NE(JudgeMachineCode(watching, "absent")->verdict, Verdict::kOk);
    EXPECT_THAT(watching.asked, testing::ElementsAre("judge"));
    EXPECT_EQ(watching.sanitizes.load(), large_gpu ? 1 : 0);
    EXPECT_EQ(watching.stops.load(), large_gpu ? 1 : 0);
  }
}

TEST(JoinVerdicts, AWrongOutputThereIsAFindingThatComesFirst) {
  Evaluation measured = Said(Verdict::kOk);
  measured.findings.push_back({"uncoalesced", "advice", ""});
  const Evaluation both = JoinVerdicts(measured, Said(Verdict::kWrongOutput, "out differs"));
  EXPECT_EQ(both.verdict, Verdict::kOk);
  EXPECT_EQ(both.findings.front().kind, "simulated_wrong_output");
  EXPECT_THAT(both.findings.front().message, HasSubstr("out differs"));
}

TEST(JoinVerdicts, AFaultOfTheMachineIsNobodysVerdict) {
  for (const Verdict verdict : {Verdict::kTimedOut, Verdict::kUnsupported, Verdict::kCompileError, Verdict::kDeviceLost}) {
    const Evaluation both = JoinVerdicts(Said(Verdict::kOk), Said(verdict, "why"));
    EXPECT_EQ(both.verdict, Verdict::kOk);
    EXPECT_THAT(both.labels, Contains("not_simulated"));
  }
  EXPECT_EQ(JoinVerdicts(Said(Verdict::kOk), Status::Unavailable("no compiler")).verdict, Verdict::kOk);
}

TEST(JoinVerdicts, WhatIsWrongBeyondTwoToTheThirtyFirstRefuses) {
  Evaluation measured = Said(Verdict::kOk);
  measured.labels = {"not_simulated"};
  EXPECT_TRUE(NotSimulated(measured));
  EXPECT_EQ(JoinVast(measured, Said(Verdict::kOk)).verdict, Verdict::kOk);
  EXPECT_EQ(JoinVast(measured, Said(Verdict::kUnsupported)).verdict, Verdict::kOk);
  for (const Verdict verdict : {Verdict::kWrongOutput, Verdict::kCrashed, Verdict::kRuleViolation}) {
    const Evaluation both = JoinVast(measured, Said(verdict, "why"));
    EXPECT_EQ(both.verdict, verdict);
    EXPECT_THAT(both.detail, HasSubstr("2^31 elements: why"));
  }
}

TEST(JoinVerdicts, WhatASanitizerSeesRefusesAndItsAbsenceSaysWhy) {
  Evaluation seen = Said(Verdict::kCrashed, "k reads past the end of 'x'");
  seen.labels = {"sanitized"};
  seen.findings = {{"out_of_bounds", "k reads past the end of 'x'", ""}};
  const Evaluation refused = JoinSanitized(Said(Verdict::kOk), seen, "machine code");
  EXPECT_EQ(refused.verdict, Verdict::kCrashed);
  EXPECT_EQ(refused.detail, "under compute-sanitizer, which watches small cases: k reads past the end of 'x'");
  EXPECT_THAT(refused.labels, testing::ElementsAre("sanitized"));
  EXPECT_EQ(refused.findings.size(), 1u);
  seen.verdict = Verdict::kOk;
  EXPECT_EQ(JoinSanitized(Said(Verdict::kOk), seen, "machine code").verdict, Verdict::kOk);
  const Evaluation absent = JoinSanitized(Said(Verdict::kOk), Status::Unavailable("there is none: install it"), "machine code");
  EXPECT_EQ(absent.verdict, Verdict::kOk);
  EXPECT_THAT(absent.labels, testing::ElementsAre("not_simulated"));
  EXPECT_THAT(absent.findings.at(0).message, HasSubstr("machine code; there is none: install it"));
}

TEST(JoinVerdicts, AdviceAboutSpeedStaysWithTheGpu) {
  Evaluation simulated = Said(Verdict::kOk);
  simulated.findings = {{"bank_conflict", "advice", ""}, {"shared_write_twice", "no advice", ""}};
  const Evaluation both = JoinVerdicts(Said(Verdict::kOk), simulated);
  ASSERT_EQ(both.findings.size(), 1u);
  EXPECT_EQ(both.findings[0].kind, "shared_write_twice");
}

TEST(SmallCases, AreTheCheapOnesOfTheTask) {
  std::string toml(kScaleTask);
  toml += "[[case]]\nrole = \"check\"\ndims = { rows = 4000, cols = 4000 }\n";
  const Task small = SmallCases(*ParseTask(toml, "task.toml"));
  ASSERT_EQ(small.cases.size(), 3u);
  EXPECT_EQ(small.cases[2].role, CaseRole::kTime);
  EXPECT_EQ(small.cases[0].dims, (Dims{{"rows", 3}, {"cols", 5}}));
  EXPECT_EQ(small.cases[1].dims, (Dims{{"rows", 40}, {"cols", 33}}));
  ASSERT_EQ(small.hidden.size(), 1u);
  EXPECT_EQ(small.hidden[0].count, 1);
}

}  // namespace
}  // namespace hone
