// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests run the host-mode session over a fake device in host memory. A candidate compiled with g++ is loaded,
// launched and timed by the calls that the judge makes, next to a device-code program of the wrapped session.
#include "tuner/evaluate/host_mode/host_mode_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "tuner/device/fake/fake_session.h"
#include "tuner/evaluate/compile/compile_candidate.h"
#include "tuner/evaluate/host_mode/host_mode_compiler.h"

namespace hone {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// On this stream, work is done when the function returns, and times are scripted.
class SyncStream : public HostStream {
 public:
  void* handle() override { return this; }
  Result<bool> StartRecording() override {
    recorded_calls.push_back("record");
    return records;
  }
  Result<bool> EndRecording() override {
    recorded_calls.push_back("recorded");
    return whole;
  }
  Status Replay() override {
    recorded_calls.push_back("replay");
    return Status::Ok();
  }
  Status Hold() override {
    recorded_calls.push_back("hold");
    return Status::Ok();
  }
  void Release() override { recorded_calls.push_back("release"); }
  Status MarkStart() override {
    recorded_calls.push_back("start");
    ++starts;
    return Status::Ok();
  }
  Status MarkEnd() override {
    recorded_calls.push_back("end");
    ++ends;
    return Status::Ok();
  }
  LaunchOutcome Wait(double) override { return outcome; }
  Result<double> IntervalUs() override { return 70.0; }
  int starts = 0, ends = 0;
  bool records = true;  // StartRecording succeeds
  bool whole = true;    // EndRecording succeeds
  std::vector<std::string> recorded_calls;
  LaunchOutcome outcome;
};

constexpr const char* kTask = R"(
name = "twice"
summary = "y = scale x"
class = "elementwise"
[dims]
n = "elements"
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["n"]
[[tensor]]
name = "y"
role = "out"
dtype = "float32"
shape = ["n"]
[tolerance.y]
c_max = 1e-6
c_rms = 1e-6
[[case]]
role = "check"
dims = { n = 100 }
)";

std::string Plan(const std::string& args) {
  return "/*hone\nmode = \"host\"\nfunction = \"run\"\nargs = [" + args + "]\n*/\n";
}

class HostModeSessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!FileExists("/usr/bin/g++")) GTEST_SKIP() << "/usr/bin/g++ is not installed";
    auto task = ParseTask(kTask, "task.toml");
    ASSERT_TRUE(task.ok()) << task.status().message();
    task_ = std::move(*task);
    auto stream = std::make_unique<SyncStream>();
    stream_ = stream.get();
    session_ = std::make_unique<HostModeSession>(std::make_unique<FakeSession>(FakeDevice{}), std::move(stream));
    auto arena = session_->Allocate({{.bytes = 400}, {.bytes = 400}}, 7);
    ASSERT_TRUE(arena.ok());
    arena_ = std::move(*arena);
    for (const size_t i : {size_t{0}, size_t{1}}) {
      TensorView view;
      view.address = arena_->address(i);
      view.dtype = DType::kFloat32;
      view.shape = {100};
      view.strides = {1};
      view.elements = 100;
      view.span_bytes = 400;
      bindings_.tensors[i == 0 ? "x" : "y"] = view;
    }
    std::vector<float> x(100);
    for (int i = 0; i < 100; ++i) x[static_cast<size_t>(i)] = static_cast<float>(i);
    ASSERT_TRUE(session_->CopyFromHost(arena_->address(0), x.data(), 400).ok());
  }

  // Compiles, loads and resolves `source`; null when it did not load (the outcome is in load_).
  void Load(const std::string& source) {
    auto candidate = ParseCandidate(source, "candidate.cu", task_);
    ASSERT_TRUE(candidate.ok()) << candidate.status().message();
    HostModeCompilerOptions options;
    options.command = {"/usr/bin/g++", "-shared", "-fPIC", "-std=c++17", "-O1", "-x", "c++"};
    options.prelude = "typedef struct CUstream_st* cudaStream_t;\n";
    options.tool_paths = {"/usr/bin", "/usr/lib/gcc", "/usr/libexec/gcc"};
    const auto compiler = MakeHostModeCompiler(options);
    auto program = CompileCandidate(*compiler, *candidate, task_, {}, 1);
    ASSERT_TRUE(program.ok()) << program.status().message();
    for (const auto& [key, module] : program->modules) ASSERT_EQ(module.verdict, Verdict::kOk) << module.digest;
    auto loaded = session_->Load(*program);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    load_ = std::move(*loaded);
    auto plan = ResolvePlan(*candidate, task_, {{"n", 100}}, {}, session_->facts());
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    plan_ = std::move(*plan);
  }
  LaunchOutcome Launch() {
    const LaunchRequest request{.plan = &plan_, .bindings = &bindings_};
    auto outcome = session_->Launch(*load_.program, request);
    EXPECT_TRUE(outcome.ok());
    return *outcome;
  }
  std::vector<float> Output() {
    std::vector<float> y(100);
    EXPECT_TRUE(session_->CopyToHost(y.data(), arena_->address(1), 400).ok());
    return y;
  }

  Task task_;
  SyncStream* stream_ = nullptr;
  std::unique_ptr<HostModeSession> session_;
  std::unique_ptr<Arena> arena_;
  Bindings bindings_;
  ResolvedPlan plan_;
  DeviceSession::LoadOutcome load_;
};

TEST_F(HostModeSessionTest, LaunchesTheFunctionOnTheTensors) {
  Load(Plan(R"("x", "y", "n:i32")") + R"(
extern "C" void run(const float* x, float* y, int n, cudaStream_t stream) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; })");
  ASSERT_NE(load_.program, nullptr) << load_.launch.detail;
  EXPECT_EQ(Launch().status, LaunchStatus::kOk);
  EXPECT_EQ(Output()[99], 198.0f);
  EXPECT_EQ(stream_->ends, 1);
  EXPECT_FALSE(session_->GlobalsChanged(*load_.program).value());
}

TEST_F(HostModeSessionTest, AnErrorOrAnExceptionIsAnOutcome) {
  Load(Plan(R"("x", "y", "n:i32")") + R"(
extern "C" int run(const float* x, float* y, int n, cudaStream_t) { if (x[0] == 0) return 42; throw 1; })");
  EXPECT_THAT(Launch().detail, HasSubstr("returned 42"));
  const float one = 1;
  ASSERT_TRUE(session_->CopyFromHost(arena_->address(0), &one, 4).ok());
  const LaunchOutcome thrown = Launch();
  EXPECT_EQ(thrown.status, LaunchStatus::kCrashed);
  EXPECT_THAT(thrown.detail, HasSubstr("exception"));
  EXPECT_FALSE(session_->lost());
}

TEST_F(HostModeSessionTest, WrongParametersAndOpenSymbolsAreRefused) {
  Load(Plan(R"("x", "y", "n:i64")") + "extern \"C\" void run(const float*, float*, int, cudaStream_t) {}");
  const LaunchOutcome outcome = Launch();
  EXPECT_EQ(outcome.status, LaunchStatus::kLaunchError);
  EXPECT_THAT(outcome.detail, HasSubstr("argument 2 has 8 bytes"));
  Load(Plan(R"("x", "y")") + "void nowhere(); extern \"C\" void run(const float*, float*, cudaStream_t) { nowhere(); }");
  EXPECT_EQ(load_.program, nullptr);
  EXPECT_EQ(load_.launch.status, LaunchStatus::kLaunchError);
  EXPECT_THAT(load_.launch.detail, HasSubstr("nowhere"));
}

TEST_F(HostModeSessionTest, TimesEverySetBetweenTheMarks) {
  Load(Plan(R"("x", "y", "n:i32")") + R"(
static int calls = 0;
extern "C" void run(const float* x, float* y, int n, cudaStream_t) { y[0] = ++calls; })");
  for (const CacheState cache : {CacheState::kCold, CacheState::kWarm}) {
    SampleRequest request;
    request.program = load_.program.get();
    request.plan = &plan_;
    request.sets = {&bindings_, &bindings_, &bindings_, &bindings_, &bindings_, &bindings_, &bindings_};
    request.cache = cache;
    const auto sample = session_->TimeSample(request);
    ASSERT_TRUE(sample.ok()) << sample.status().message();
    EXPECT_EQ(sample->launch.status, LaunchStatus::kOk);
    EXPECT_DOUBLE_EQ(sample->us_per_plan, 10.0);
  }
  EXPECT_EQ(Output()[0], 14.0f);
  EXPECT_EQ(stream_->starts, 2);
}

// A candidate's work is never held back: work that it put on another stream would be over before the interval begins.
TEST_F(HostModeSessionTest, OnlyALibrarysCallsAreRecordedAndHeldBack) {
  Load(Plan(R"("x", "y")") + R"(
static int calls = 0;
extern "C" int run(const float* x, float* y, cudaStream_t) { y[0] = ++calls; return calls == 11; })");
  SampleRequest request;
  request.program = load_.program.get();
  request.plan = &plan_;
  request.sets = {&bindings_, &bindings_};
  const auto expected_calls = [&](int more_calls) {
    stream_->recorded_calls.clear();
    const float before = Output()[0];
    const auto sample = session_->TimeSample(request);
    EXPECT_TRUE(sample.ok() && sample->launch.status == LaunchStatus::kOk);
    EXPECT_DOUBLE_EQ(sample->us_per_plan, 35.0);
    EXPECT_EQ(Output()[0] - before, static_cast<float>(more_calls));
    return stream_->recorded_calls;
  };
  const float zero = 0;
  ASSERT_TRUE(session_->CopyFromHost(arena_->address(1), &zero, 4).ok());
  EXPECT_THAT(expected_calls(2), ElementsAre("start", "end"));
  request.trusted = true;
  EXPECT_THAT(expected_calls(2), ElementsAre("record", "recorded", "hold", "start", "replay", "end", "release"));
  stream_->whole = false;
  EXPECT_THAT(expected_calls(4), ElementsAre("record", "recorded", "hold", "start", "end", "release"));
  stream_->records = false;
  EXPECT_THAT(expected_calls(2), ElementsAre("record", "hold", "start", "end", "release"));
  // If a call fails while it is recorded, the recording is dropped and the calls are made again.
  stream_->records = stream_->whole = true;
  EXPECT_THAT(expected_calls(3), ElementsAre("record", "recorded", "hold", "start", "end", "release"));
}

TEST_F(HostModeSessionTest, WorkThatFailsOnTheDeviceLosesTheSession) {
  Load(Plan(R"("x", "y")") + "extern \"C\" void run(const float*, float*, cudaStream_t) {}");
  stream_->outcome.status = LaunchStatus::kTimedOut;
  stream_->outcome.detail = "did not finish";
  EXPECT_EQ(Launch().status, LaunchStatus::kTimedOut);
  EXPECT_TRUE(session_->lost());
}

TEST_F(HostModeSessionTest, DeviceCodeGoesToTheWrappedSession) {
  FakeDevice device;
  int runs = 0;
  device.kernels["k"].run = [&](FakeLaunch& launch) { ++runs; launch.Write("y", 0, 5.0); };
  session_ = std::make_unique<HostModeSession>(std::make_unique<FakeSession>(std::move(device)), std::make_unique<SyncStream>());
  auto candidate = ParseCandidate(R"(/*hone
[[launch]]
kernel = "k"
grid = ["1"]
block = ["1"]
args = ["x", "y"]
*/)", "device.cu", task_);
  ASSERT_TRUE(candidate.ok()) << candidate.status().message();
  CompiledProgram program;
  program.candidate = *candidate;
  program.modules[""].lowered["k"] = "k";
  auto loaded = session_->Load(program);
  ASSERT_TRUE(loaded.ok());
  ASSERT_NE(loaded->program, nullptr) << loaded->launch.detail;
  auto plan = ResolvePlan(*candidate, task_, {{"n", 100}}, {}, session_->facts());
  ASSERT_TRUE(plan.ok());
  const LaunchRequest request{.plan = &*plan, .bindings = &bindings_};
  EXPECT_EQ(session_->Launch(*loaded->program, request).value().status, LaunchStatus::kOk);
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace hone
