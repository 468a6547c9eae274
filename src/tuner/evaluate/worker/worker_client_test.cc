// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests run workers that crash, hang or lie: whatever a worker process does, the next verdict must be right and
// in time. The worker is this test program, started again (worker_test_main.cc).
#include "tuner/evaluate/worker/worker_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files/file.h"
#include "tests/judge/judge_fixture.h"
#include "tuner/evaluate/compile/compile_candidate.h"
#include "tuner/evaluate/host_mode/host_library.h"
#include "tuner/evaluate/host_mode/host_mode_compiler.h"
#include "tuner/evaluate/worker/worker_main.h"

namespace hone {
namespace {

using testing::HasSubstr;

// Time limits in seconds: of a launch that hangs, and of a launch that ends, which must suffice on a busy machine.
constexpr double kHangLimit = 0.5, kLaunchLimit = 100;
constexpr double kGrace = 0.25;

std::string ThisProgram() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

WorkerOptions Options(const std::string& mode) {
  WorkerOptions options;
  options.argv = {ThisProgram(), "__worker", mode};
  options.environment = {"PATH=/usr/bin:/bin"};
  options.grace_seconds = kGrace;
  return options;
}

CompiledProgram Program(const Task& task, const std::string& source, bool is_oracle = false) {
  CompiledProgram program;
  program.candidate = ParseCandidate(source, is_oracle ? "oracle.cu" : "candidate.cu", task, is_oracle).value();
  program.binding = DefaultBinding(program.candidate.plan);
  return program;
}

// Returns a job for the scale task whose candidate launches `kernel`.
JudgeJob Job(const std::string& kernel, double launch_limit_seconds = kLaunchLimit) {
  JudgeJob job;
  job.task = ParseTask(kScaleTask, "task.toml").value();
  job.oracle = Program(job.task, PlanText("oracle", R"("x", "w", "ref:out")"), true);
  job.candidate = Program(job.task, PlanText(kernel, R"("x", "w", "out")"));
  job.options.seed = 0x5eed;
  job.options.time = false;
  job.launch_limit_seconds = launch_limit_seconds;
  return job;
}

struct Fault {
  const char* kernel;
  Verdict verdict;
  const char* detail;
  double launch_limit_seconds = kLaunchLimit;
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.kernel; }

class WorkerFault : public testing::TestWithParam<Fault> {};

TEST_P(WorkerFault, GetsItsVerdictAndTheNextCandidateIsJudgedInTime) {
  WorkerClient worker(Options("device"));
  ASSERT_TRUE(worker.Facts().ok());
  const Stopwatch watch;
  Result<Evaluation> bad = worker.Judge(Job(GetParam().kernel, GetParam().launch_limit_seconds), {});
  ASSERT_TRUE(bad.ok()) << bad.status().message();
  EXPECT_EQ(bad->verdict, GetParam().verdict) << bad->detail;
  EXPECT_THAT(bad->detail, HasSubstr(GetParam().detail));
  EXPECT_EQ(bad->seed, 0x5eedu);

  Result<Evaluation> good = worker.Judge(Job("honest"), {});
  const double until_the_next_verdict = watch.Seconds();
  ASSERT_TRUE(good.ok()) << good.status().message();
  EXPECT_EQ(good->verdict, Verdict::kOk) << good->detail;
  EXPECT_EQ(worker.starts(), 2) << "a new process after a fault, and no more than one";
  RecordProperty("seconds_until_the_next_verdict", std::to_string(until_the_next_verdict));
  // The bound is below a phase's own limit of minutes, and far above the time that a busy machine needs.
  EXPECT_LT(until_the_next_verdict, 100);
}

INSTANTIATE_TEST_SUITE_P(
    Worker, WorkerFault,
    testing::Values(Fault{"crashes_on_the_device", Verdict::kCrashed, "an illegal address"},
                    Fault{"hangs", Verdict::kTimedOut, "nothing was heard for 0.75 s in phase check (", kHangLimit},
                    Fault{"segfaults", Verdict::kCrashed, "signal 11"},
                    Fault{"exits", Verdict::kCrashed, "exit status 7"},
                    Fault{"is_killed", Verdict::kDeviceLost, "killed from outside in phase check"},
                    Fault{"closes_its_socket", Verdict::kCrashed, "closed its connection"},
                    Fault{"writes_garbage", Verdict::kCrashed, "was not understood"},
                    Fault{"says_the_unknown", Verdict::kCrashed, "nobody knows"},
                    Fault{"forges_a_result", Verdict::kCrashed, "was not understood"}),
    [](const testing::TestParamInfo<Fault>& fault) { return std::string(fault.param.kernel); });

TEST(Worker, NoWordMakesUsWaitLongerThanWeAreWilling) {
  WorkerOptions options = Options("device");
  options.longest_phase_seconds = 0.5;
  WorkerClient patient(options);
  EXPECT_EQ(patient.Judge(Job("asks_for_patience"), {})->verdict, Verdict::kTimedOut);
  options.longest_phase_seconds = 600;
  // If the worker has sent no report within the limit, the machine is slow: try again with a longer one.
  Result<Evaluation> endless = Status::Unavailable("not asked");
  for (options.job_limit_seconds = 0.7; !endless.ok() && options.job_limit_seconds < 100; options.job_limit_seconds *= 3) {
    WorkerClient listening(options);
    const Stopwatch watch;
    endless = listening.Judge(Job("never_stops_talking"), {});
    EXPECT_GE(watch.Seconds(), options.job_limit_seconds);
  }
  ASSERT_TRUE(endless.ok()) << endless.status().message();
  EXPECT_EQ(endless->verdict, Verdict::kTimedOut);
  EXPECT_THAT(endless->detail, HasSubstr("not judged within"));
}

TEST(Worker, OneThatDiedBetweenJobsIsReplaced) {
  WorkerClient worker(Options("device"));
  ASSERT_EQ(worker.Judge(Job("honest"), {})->verdict, Verdict::kOk);
  ASSERT_EQ(kill(worker.pid(), SIGKILL), 0);
  ASSERT_EQ(worker.Judge(Job("honest"), {})->verdict, Verdict::kOk);
  EXPECT_EQ(worker.starts(), 2);
  ASSERT_EQ(worker.Judge(Job("honest"), {})->verdict, Verdict::kOk);
  EXPECT_EQ(worker.starts(), 2) << "an honest candidate costs no process";
}

TEST(Worker, OneWhoseDeviceIsLostSaysSoAndIsReplaced) {
  WorkerClient worker(Options("device"));
  const Status lost = worker.Judge(Job("loses_the_device"), {}).status();
  EXPECT_EQ(lost.code(), StatusCode::kDevice);
  EXPECT_THAT(lost.message(), HasSubstr("fell off the bus"));
  EXPECT_EQ(worker.Judge(Job("honest"), {})->verdict, Verdict::kOk);
  EXPECT_EQ(worker.starts(), 2);
  const Status invented = worker.Judge(Job("invents_a_code"), {}).status();
  EXPECT_EQ(invented.code(), StatusCode::kInternal) << "a code that there is not";
  EXPECT_THAT(invented.message(), HasSubstr("worse than anything"));
}

// A new worker would make a new context for the second job of the same candidate.
TEST(Worker, OneOfOneJobStaysForTheVastShapeOfARightCandidateAlone) {
  WorkerOptions options = Options("device");
  options.one_job = true;
  WorkerClient worker(options);
  JudgeJob job = Job("honest"), vast = job, wrong = Job("hangs", kHangLimit);
  job.vast_follows = wrong.vast_follows = vast.vast_alone = true;
  EXPECT_EQ(worker.Judge(job, {})->verdict, Verdict::kOk);
  const pid_t stayed = worker.pid();
  EXPECT_GT(stayed, 0);
  EXPECT_EQ(worker.Judge(vast, {})->verdict, Verdict::kOk);
  EXPECT_EQ(worker.starts(), 1);
  EXPECT_EQ(worker.pid(), -1) << "both jobs are done";
  // Without the second job the worker judges no other candidate.
  EXPECT_EQ(worker.Judge(job, {})->verdict, Verdict::kOk);
  EXPECT_EQ(worker.Judge(job, {})->verdict, Verdict::kOk);
  EXPECT_EQ(worker.starts(), 3);
  EXPECT_NE(worker.Judge(wrong, {})->verdict, Verdict::kOk);
  EXPECT_EQ(worker.pid(), -1);
}

// The caller may have other work on the device, which must not disturb the times.
TEST(Worker, OneWaitsForItsCallerBeforeItTimes) {
  WorkerClient worker(Options("device"));
  JudgeJob job = Job("honest");
  job.options.time = true;
  job.options.warm = false;
  job.options.max_quads = 10;
  std::vector<std::string> phases;
  const auto timed = [&] { return std::find(phases.begin(), phases.end(), "time") != phases.end(); };
  int waits = 0;
  job.before_timing = [&] {
    ++waits;
    EXPECT_FALSE(phases.empty());
    EXPECT_FALSE(timed());
  };
  const Evaluation evaluation = *worker.Judge(job, [&](const std::string& phase, const std::string&) { phases.push_back(phase); });
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  EXPECT_EQ(waits, 1);
  EXPECT_TRUE(timed());
  // A job that times nothing does not wait.
  job.options.time = false;
  EXPECT_EQ(worker.Judge(job, {})->verdict, Verdict::kOk);
  EXPECT_EQ(waits, 1);
}

TEST(Worker, OneThatCannotBeginIsTheEnvironmentsFault) {
  WorkerClient ends(Options("ends"));
  EXPECT_EQ(ends.Facts().status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(ends.Judge(Job("honest"), {}).status().code(), StatusCode::kUnavailable);
  WorkerClient no_device(Options("no-device"));
  EXPECT_THAT(no_device.Facts().status().message(), HasSubstr("went for a walk"));
  EXPECT_THAT(no_device.Judge(Job("honest"), {}).status().message(), HasSubstr("went for a walk"));
}

// --- host mode without a device: a confined worker, and candidates that are libraries compiled by g++ ---

class HostModeWorker : public testing::Test {
 protected:
  void SetUp() override {
    if (!FileExists("/usr/bin/g++")) GTEST_SKIP() << "/usr/bin/g++ is not installed";
    WorkerOptions options = Options("host");
    options.sandbox = HostModeWorkerPolicy(ThisProgram(), "", "");
    options.one_job = true;
    options.job_limit_seconds = 300;
    worker_ = std::make_unique<WorkerClient>(options);
  }
  // Judges the function `run(x, w, out, rows, cols, stream)` with this body.
  Evaluation Judged(const std::string& body, const std::string& before = "", double launch_limit_seconds = kLaunchLimit) {
    JudgeJob job = Job("honest", launch_limit_seconds);
    HostModeCompilerOptions gcc;
    gcc.command = {"/usr/bin/g++", "-shared", "-fPIC", "-std=c++17", "-O1", "-x", "c++"};
    gcc.prelude = "typedef struct CUstream_st* cudaStream_t;\n";
    gcc.tool_paths = {"/usr/bin", "/usr/lib/gcc", "/usr/libexec/gcc"};
    const Candidate candidate = ParseCandidate(
        "/*hone\nmode = \"host\"\nfunction = \"run\"\nargs = [\"x\", \"w\", \"out\", \"rows:i32\", \"cols:i32\"]\n*/\n" + before +
        "\nextern \"C\" int run(const float* x, const float* w, float* out, int rows, int cols, cudaStream_t) {\n" + body + "\n}\n",
        "candidate.cu", job.task).value();
    job.candidate = CompileCandidate(*MakeHostModeCompiler(gcc), candidate, job.task, {}, 1).value();
    for (const auto& [key, module] : job.candidate.modules) EXPECT_EQ(module.verdict, Verdict::kOk) << module.digest;
    EXPECT_TRUE(UsesHostMode(job));
    Result<Evaluation> evaluation = worker_->Judge(job, {});
    EXPECT_TRUE(evaluation.ok()) << evaluation.status().message();
    return evaluation.ok() ? *evaluation : Evaluation{};
  }
  std::unique_ptr<WorkerClient> worker_;
};

constexpr const char* kHonestBody = "for (int i = 0; i < rows * cols; ++i) out[i] = x[i] * w[i % cols]; return 0;";

TEST_F(HostModeWorker, JudgesAnHonestFunctionAndKeepsNothingOfIt) {
  const Evaluation first = Judged(kHonestBody);
  EXPECT_EQ(first.verdict, Verdict::kOk) << first.detail;
  EXPECT_EQ(Judged(kHonestBody).verdict, Verdict::kOk);
  EXPECT_EQ(worker_->starts(), 2) << "a process for every job";
  EXPECT_EQ(worker_->pid(), -1);
  ASSERT_TRUE(worker_->sandbox().has_value());
}

TEST_F(HostModeWorker, AWrongFunctionIsWrong) {
  const Evaluation zeros = Judged("for (int i = 0; i < rows * cols; ++i) out[i] = 0; return 0;");
  EXPECT_EQ(zeros.verdict, Verdict::kWrongOutput) << zeros.detail;
  const Evaluation sorry = Judged("return 3;");
  EXPECT_EQ(sorry.verdict, Verdict::kLaunchError) << sorry.detail;
  EXPECT_THAT(sorry.detail, HasSubstr("returned 3"));
}

TEST_F(HostModeWorker, AFunctionThatHangsOrEndsTheProcessCostsOnlyItself) {
  const Stopwatch watch;
  const Evaluation hang = Judged("for (volatile int i = 0;; ++i) {}", "", kHangLimit);
  EXPECT_EQ(hang.verdict, Verdict::kTimedOut) << hang.detail;
  const Evaluation gone = Judged("exit(0);", "extern \"C\" [[noreturn]] void exit(int);");
  EXPECT_EQ(gone.verdict, Verdict::kCrashed) << gone.detail;
  const Evaluation next = Judged(kHonestBody);
  EXPECT_EQ(next.verdict, Verdict::kOk) << next.detail;
  RecordProperty("seconds_for_all", std::to_string(watch.Seconds()));
}

TEST_F(HostModeWorker, AFunctionGetsAtNoFileAndNoNetwork) {
  const SandboxReport report = ProbeSandbox();
  if (report.landlock_abi == 0 || !report.seccomp) GTEST_SKIP() << "this kernel lacks Landlock or seccomp";
  const Evaluation evaluation = Judged(
      std::string("if (open(\"/etc/passwd\", 0) >= 0) return 4; if (socket(2, 1, 0) >= 0) return 5; if (fork() >= 0) return 6;") + kHonestBody,
      "extern \"C\" int open(const char*, int, ...); extern \"C\" int socket(int, int, int); extern \"C\" int fork();");
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
}

TEST(WorkerFacts, ArriveWithEveryField) {
  DeviceFacts facts = FakeDevice::DefaultFacts();
  facts.max_threads_per_block = 768;
  facts.driver = "570.1 \"quoted\"";
  const Result<DeviceFacts> arrived = DecodeFacts(EncodeFacts(facts));
  ASSERT_TRUE(arrived.ok()) << arrived.status().message();
  EXPECT_EQ(arrived->max_threads_per_block, 768);
  EXPECT_EQ(EncodeFacts(*arrived), EncodeFacts(facts));
}

TEST(WorkerFacts, ThatAreNoneSayWhichFieldIsWrong) {
  EXPECT_THAT(DecodeFacts("{").status().message(), HasSubstr("device's facts is not JSON"));
  EXPECT_THAT(DecodeFacts("{}").status().message(), HasSubstr("device facts.id: is missing"));
  EXPECT_THAT(DecodeFacts(R"({"id": "cuda:0", "sm_count": "many"})").status().message(),
              HasSubstr("device facts.sm_count"));
}

}  // namespace
}  // namespace hone
