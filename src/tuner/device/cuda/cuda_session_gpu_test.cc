// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests what only a GPU shows: kernels that fault or hang, cooperation between blocks, tensor maps, and time. Linked
// with cuda_session_test.cc, whose cases run here on the real driver. Skips, with the reason, without a GPU.
//
// A fault makes a context unusable, so each planted fault has a process of its own (a death test that re-executes this
// program). Speeds of the harness are printed, never asserted tighter than "not absurd".
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "tuner/device/cuda/session_test_support.h"

extern "C" {
extern const unsigned char hone_gpu_test_fatbin[];
extern const unsigned long hone_gpu_test_fatbin_size;
extern const unsigned char hone_session_test_fatbin[];
extern const unsigned long hone_session_test_fatbin_size;
}

namespace hone::test {
namespace {

using testing::ExitedWithCode;
using testing::HasSubstr;

std::string GpuImage() { return std::string(reinterpret_cast<const char*>(hone_gpu_test_fatbin), hone_gpu_test_fatbin_size); }
std::string PortableImage() {
  return std::string(reinterpret_cast<const char*>(hone_session_test_fatbin), hone_session_test_fatbin_size);
}

const std::vector<std::string> kKernels = {"busy",    "dynamic_shared", "grid_sync",       "wild_write",       "misaligned",    "trap",
                                           "hang",    "narrow",         "cluster_size",    "dependent_first",  "dependent_second",
                                           "tensor_map_box"};

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// A program with one float buffer named "out".
struct Bench {
  std::unique_ptr<LoadedProgram> program;
  TensorView out = View(DType::kFloat32, {4096}, 0);
  std::unique_ptr<Arena> arena;
  Bindings bindings;

  explicit Bench(DeviceSession& session) {
    program = Load(session, Program(GpuImage(), kKernels));
    arena = Place(session, {&out});
    EXPECT_TRUE(session.Fill(out.address, out.span_bytes, 0).ok());
    bindings.tensors = {{"out", out}};
  }
  LaunchOutcome Run(DeviceSession& session, ResolvedStep step, double limit = 10) {
    return Launch(session, *program, Plan({std::move(step)}), bindings, limit);
  }
  float First(DeviceSession& session) { return Read<float>(session, out)[0]; }
};

class CudaSessionGpu : public testing::Test {
 protected:
  CudaSessionGpu() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// Ends the process with 0 when the planted kernel returns `status` and the session loses its device.
[[noreturn]] void ExitWithOutcomeOf(DeviceSession& session, const std::string& kernel, LaunchStatus status, double limit) {
  Bench bench(session);
  const double started = SteadySeconds();
  const LaunchOutcome outcome = bench.Run(session, Step(kernel, {Tensor("out")}), limit);
  const double seconds = SteadySeconds() - started;
  std::fprintf(stderr, "%s: %s after %.2f s\n", kernel.c_str(), outcome.detail.c_str(), seconds);
  int code = 0;
  if (outcome.status != status) code = 2;
  if (outcome.detail.find(kernel) == std::string::npos) code = 3;
  if (!session.lost()) code = 4;
  if (seconds > limit + 3) code = 5;
  std::_Exit(code);
}

TEST_F(CudaSessionGpu, AWildWriteIsACrash) {
  HONE_REQUIRE_SESSION();
  EXPECT_EXIT(ExitWithOutcomeOf(session, "wild_write", LaunchStatus::kCrashed, 5), ExitedWithCode(0), "ILLEGAL_ADDRESS");
}

TEST_F(CudaSessionGpu, AMisalignedAccessIsACrash) {
  HONE_REQUIRE_SESSION();
  EXPECT_EXIT(ExitWithOutcomeOf(session, "misaligned", LaunchStatus::kCrashed, 5), ExitedWithCode(0), "MISALIGNED_ADDRESS");
}

TEST_F(CudaSessionGpu, ATrapIsACrash) {
  HONE_REQUIRE_SESSION();
  EXPECT_EXIT(ExitWithOutcomeOf(session, "trap", LaunchStatus::kCrashed, 5), ExitedWithCode(0), "CUDA_ERROR");
}

TEST_F(CudaSessionGpu, AHangIsTimedOutInTime) {
  HONE_REQUIRE_SESSION();
  EXPECT_EXIT(ExitWithOutcomeOf(session, "hang", LaunchStatus::kTimedOut, 0.5), ExitedWithCode(0), "not finished after 0.5 s");
}

// The destructors of a lost session must not wait for the hanging kernel.
TEST_F(CudaSessionGpu, AHungSessionCanBeLeft) {
  HONE_REQUIRE_SESSION();
  EXPECT_EXIT(
      {
        {
          Bench bench(session);
          bench.Run(session, Step("hang", {Tensor("out")}), 0.2);
        }
        *SharedSession() = nullptr;
        std::_Exit(0);
      },
      ExitedWithCode(0), "");
}

[[noreturn]] void ExitAfterCrashInSample(DeviceSession& session) {
  Bench bench(session);
  const ResolvedPlan plan = Plan({Step("wild_write", {Tensor("out")})});
  SampleRequest request;
  request.program = bench.program.get();
  request.plan = &plan;
  request.sets = {&bench.bindings, &bench.bindings};
  Result<SampleOutcome> outcome = session.TimeSample(request);
  std::_Exit(outcome.ok() && outcome->launch.status == LaunchStatus::kCrashed && session.lost() ? 0 : 1);
}

TEST_F(CudaSessionGpu, ACrashInATimedSampleIsACrash) {
  HONE_REQUIRE_SESSION();
  EXPECT_EXIT(ExitAfterCrashInSample(session), ExitedWithCode(0), "");
}

TEST_F(CudaSessionGpu, MoreThreadsThanRegistersAllowIsAResourceLimit) {
  HONE_REQUIRE_SESSION();
  Bench bench(session);
  const LaunchOutcome outcome = bench.Run(session, Step("narrow", {Tensor("out")}, 1, 256));
  EXPECT_EQ(outcome.status, LaunchStatus::kResourceLimit) << outcome.detail;
  EXPECT_THAT(outcome.detail, HasSubstr("at most 128"));
  EXPECT_EQ(bench.Run(session, Step("narrow", {Tensor("out")}, 1, 128)).status, LaunchStatus::kOk);
}

TEST_F(CudaSessionGpu, OptsInToLargeSharedMemory) {
  HONE_REQUIRE_SESSION();
  Bench bench(session);
  const int32_t floats = static_cast<int32_t>(session.facts().smem_optin / 4);
  ResolvedStep step = Step("dynamic_shared", {Tensor("out"), Value<int32_t>(floats)}, 1, 256);
  step.shared_bytes = int64_t{floats} * 4;
  EXPECT_GT(step.shared_bytes, 64 * 1024);
  const LaunchOutcome outcome = bench.Run(session, step);
  ASSERT_EQ(outcome.status, LaunchStatus::kOk) << outcome.detail;
  EXPECT_EQ(bench.First(session), static_cast<float>(floats - 1));
  EXPECT_EQ(*bench.program->Occupancy("dynamic_shared", "", 256, step.shared_bytes), 1);
  step.shared_bytes += 4;
  EXPECT_EQ(bench.Run(session, step).status, LaunchStatus::kResourceLimit);
}

TEST_F(CudaSessionGpu, CooperativeGridsMeet) {
  HONE_REQUIRE_SESSION();
  Bench bench(session);
  ResolvedStep step = Step("grid_sync", {Tensor("out")}, session.facts().sm_count, 64);
  step.cooperative = true;
  const LaunchOutcome outcome = bench.Run(session, step);
  ASSERT_EQ(outcome.status, LaunchStatus::kOk) << outcome.detail;
  EXPECT_EQ(bench.First(session), static_cast<float>(session.facts().sm_count));
  step.grid[0] = int64_t{session.facts().sm_count} * 100;
  EXPECT_EQ(bench.Run(session, step).status, LaunchStatus::kResourceLimit);
  EXPECT_FALSE(session.lost());
}

TEST_F(CudaSessionGpu, ClustersHaveTheAskedSize) {
  HONE_REQUIRE_SESSION();
  if (session.facts().cc_major < 9) GTEST_SKIP() << "clusters need compute capability 9.0";
  Bench bench(session);
  for (int64_t size : {2, 8, 16}) {
    ResolvedStep step = Step("cluster_size", {Tensor("out")}, 32, 32);
    step.cluster = {size, 1, 1};
    const LaunchOutcome outcome = bench.Run(session, step);
    ASSERT_EQ(outcome.status, LaunchStatus::kOk) << outcome.detail;
    EXPECT_EQ(bench.First(session), static_cast<float>(size));
  }
  ResolvedStep step = Step("cluster_size", {Tensor("out")}, 33, 32);
  step.cluster = {2, 1, 1};
  EXPECT_EQ(bench.Run(session, step).status, LaunchStatus::kLaunchError);
  step.grid[0] = 64;
  step.cluster = {32, 1, 1};
  EXPECT_EQ(bench.Run(session, step).status, LaunchStatus::kLaunchError);
  EXPECT_FALSE(session.lost());
}

TEST_F(CudaSessionGpu, DependentLaunchesOverlapAndAreRightInAndOutOfGraphs) {
  HONE_REQUIRE_SESSION();
  if (session.facts().cc_major < 9) GTEST_SKIP() << "programmatic dependent launch needs compute capability 9.0";
  Bench bench(session);
  ResolvedPlan plan = Plan({Step("dependent_first", {Tensor("out")}, 16, 32),
                            Step("dependent_second", {Tensor("out"), Tensor("out", 4096)}, 16, 32)});
  plan.steps[1].programmatic_dependent_launch = true;
  plan.steps[0].programmatic_dependent_launch = true;  // must be ignored: no launch of the plan precedes it
  ASSERT_EQ(Launch(session, *bench.program, plan, bench.bindings).status, LaunchStatus::kOk);
  EXPECT_EQ(Read<float>(session, bench.out)[1024 + 15], 6.0f);

  SampleRequest request;
  request.program = bench.program.get();
  request.plan = &plan;
  for (int i = 0; i < 4; ++i) request.sets.push_back(&bench.bindings);
  for (int i = 0; i < 3; ++i) {
    HONE_ASSERT_OK(session.Fill(bench.out.address, bench.out.span_bytes, 0));
    Result<SampleOutcome> outcome = session.TimeSample(request);
    ASSERT_TRUE(outcome.ok()) << outcome.status().message();
    ASSERT_EQ(outcome->launch.status, LaunchStatus::kOk) << outcome->launch.detail;
    EXPECT_EQ(Read<float>(session, bench.out)[1024 + 15], 6.0f);
    EXPECT_GE(outcome->us_per_plan, 19.0) << "the first kernel alone takes 20 us";
  }
}

TEST_F(CudaSessionGpu, TensorMapsBringTheirBox) {
  HONE_REQUIRE_SESSION();
  if (session.facts().cc_major < 9) GTEST_SKIP() << "tensor maps need compute capability 9.0";
  Bench bench(session);
  TensorView x = View(DType::kFloat32, {64, 128}, 0);
  std::unique_ptr<Arena> arena = Place(session, {&x});
  std::vector<float> values(64 * 128);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  Write(session, x, values);
  bench.bindings.tensors["x"] = x;
  ResolvedArgument map;
  map.kind = ArgumentKind::kTensorMap;
  map.name = "tiles";
  ResolvedPlan plan = Plan({Step("tensor_map_box", {map, Tensor("out"), Value<int32_t>(32), Value<int32_t>(24)})});
  ResolvedTensorMap resolved;
  resolved.spec.name = "tiles";
  resolved.spec.tensor = "x";
  resolved.dims = {128, 64};
  resolved.strides = {512};
  resolved.box = {16, 8};
  resolved.element_strides = {1, 1};
  plan.tensor_maps.push_back(resolved);
  const LaunchOutcome outcome = Launch(session, *bench.program, plan, bench.bindings);
  ASSERT_EQ(outcome.status, LaunchStatus::kOk) << outcome.detail;
  const std::vector<float> out = Read<float>(session, bench.out);
  for (size_t row = 0; row < 8; ++row) {
    for (size_t column = 0; column < 16; ++column) {
      ASSERT_EQ(out[row * 16 + column], values[(24 + row) * 128 + 32 + column]) << row << ", " << column;
    }
  }
  plan.tensor_maps[0].box = {3, 8};
  EXPECT_EQ(Launch(session, *bench.program, plan, bench.bindings).status, LaunchStatus::kLaunchError);
}

// The kernel reads the clock and so knows how long it ran: the session's times must agree, alone and in a graph.
TEST_F(CudaSessionGpu, TimesAreWhatTheKernelTook) {
  HONE_REQUIRE_SESSION();
  Bench bench(session);
  for (int sets : {1, 2, 32}) {
    for (uint32_t nanoseconds : {20'000u, 300'000u}) {
      const ResolvedPlan plan = Plan({Step("busy", {Tensor("out"), Value<uint32_t>(nanoseconds)}, 64, 128)});
      SampleRequest request;
      request.program = bench.program.get();
      request.plan = &plan;
      for (int i = 0; i < sets; ++i) request.sets.push_back(&bench.bindings);
      HONE_ASSERT_OK(session.Fill(bench.out.address, bench.out.span_bytes, 0));
      std::vector<double> times;
      for (int i = 0; i < 9; ++i) {
        Result<SampleOutcome> outcome = session.TimeSample(request);
        ASSERT_TRUE(outcome.ok()) << outcome.status().message();
        ASSERT_EQ(outcome->launch.status, LaunchStatus::kOk) << outcome->launch.detail;
        times.push_back(outcome->us_per_plan);
      }
      EXPECT_EQ(bench.First(session), static_cast<float>(9 * sets));
      const double us = nanoseconds / 1e3;
      std::printf("busy %.0f us, %d sets: %.2f us (%.2f to %.2f)\n", us, sets, Median(times),
                  *std::min_element(times.begin(), times.end()), *std::max_element(times.begin(), times.end()));
      // The global timer ticks about once a microsecond; starting a kernel costs a few.
      EXPECT_GE(Median(times), us - 1.5);
      EXPECT_LE(Median(times), us + 8);
    }
  }
}

struct CopyCase {
  TensorView x, out;
  std::unique_ptr<Arena> arena;
  Bindings bindings;
  ResolvedPlan plan;
  CopyCase(DeviceSession& session, int64_t bytes) {
    x = View(DType::kFloat32, {bytes / 4}, -1);
    out = x;
    arena = Place(session, {&x, &out});
    DrawRequest draw;
    draw.view = x;
    draw.key = 3;
    EXPECT_TRUE(session.Draw(draw).ok());
    EXPECT_TRUE(session.Poison(out).ok());
    bindings.tensors = {{"x", x}, {"out", out}};
    const int64_t words16 = bytes / 16;
    const int64_t blocks = std::min<int64_t>((words16 + 511) / 512, int64_t{1} << 20);
    plan = Plan({Step("copy16", {Tensor("x"), Tensor("out"), Value<int64_t>(words16)}, blocks, 512)});
  }
};

std::vector<double> TimeCopy(DeviceSession& session, LoadedProgram& program, const CopyCase& copy, CacheState cache, int samples) {
  SampleRequest request;
  request.program = &program;
  request.plan = &copy.plan;
  request.sets = {&copy.bindings};
  request.cache = cache;
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) {
    Result<SampleOutcome> outcome = session.TimeSample(request);
    EXPECT_TRUE(outcome.ok() && outcome->launch.status == LaunchStatus::kOk);
    if (outcome.ok()) times.push_back(outcome->us_per_plan);
  }
  return times;
}

TEST_F(CudaSessionGpu, WarmCachesAreFaster) {
  HONE_REQUIRE_SESSION();
  std::unique_ptr<LoadedProgram> program = Load(session, Program(PortableImage(), {"copy16"}));
  const int64_t bytes = session.facts().l2_bytes / 8 / 256 * 256;
  CopyCase copy(session, bytes);
  const double cold = Median(TimeCopy(session, *program, copy, CacheState::kCold, 21));
  const double warm = Median(TimeCopy(session, *program, copy, CacheState::kWarm, 21));
  std::printf("copy of %.1f MB: cold %.2f us, warm %.2f us\n", static_cast<double>(bytes) / 1e6, cold, warm);
  EXPECT_LT(warm, cold);
}

// The floor must be near the best known time: within 10 % of a plain copy, and below it or not far above.
TEST_F(CudaSessionGpu, TheFloorIsACopyAtFullSpeed) {
  HONE_REQUIRE_SESSION();
  std::unique_ptr<LoadedProgram> program = Load(session, Program(PortableImage(), {"copy16"}));
  for (int64_t mib : {64, 256, 1024}) {
    const int64_t bytes = mib << 20;
    CopyCase copy(session, bytes);
    const std::vector<double> times = TimeCopy(session, *program, copy, CacheState::kCold, 21);
    const double copied = Median(times);
    Result<double> floor = session.TimeFloor({static_cast<double>(bytes), static_cast<double>(bytes)}, 1, CacheState::kCold);
    ASSERT_TRUE(floor.ok()) << floor.status().message();
    std::printf("%lld MiB: copy %.1f us (%.1f to %.1f), floor %.1f us = %.2f TB/s\n", static_cast<long long>(mib), copied,
                *std::min_element(times.begin(), times.end()), *std::max_element(times.begin(), times.end()), *floor,
                2.0 * static_cast<double>(bytes) / *floor / 1e6);
    EXPECT_LE(*floor, copied * 1.10);
    EXPECT_GE(*floor, 2.0 * static_cast<double>(bytes) / session.facts().memory_bandwidth * 1e6 * 0.95)
        << "faster than the datasheet: the floor does not move its bytes";
  }
  for (const Traffic& traffic : {Traffic{512e6, 4096}, Traffic{4096, 512e6}, Traffic{4096, 4096}, Traffic{8e6, 4e6}}) {
    const double single = *session.TimeFloor(traffic, 1, CacheState::kCold);
    const double many = *session.TimeFloor(traffic, 16, CacheState::kCold);
    std::printf("floor of %.0f bytes read, %.0f written: %.2f us alone, %.2f us of 16 in a graph (%.2f TB/s)\n", traffic.read_bytes,
                traffic.written_bytes, single, many, (traffic.read_bytes + traffic.written_bytes) / many / 1e6);
    EXPECT_GT(many, 0);
  }
}

TEST_F(CudaSessionGpu, TheSessionItselfIsSmall) {
  HONE_REQUIRE_SESSION();
  const int64_t taken_bytes = session.facts().memory_bytes - session.FreeBytes();
  std::printf("%s: %lld MiB of %lld taken or reserved; %s\n", session.facts().name.c_str(),
              static_cast<long long>(taken_bytes >> 20), static_cast<long long>(session.facts().memory_bytes >> 20),
              session.facts().driver.c_str());
  EXPECT_LT(taken_bytes, (int64_t{2} << 30) + 4 * session.facts().l2_bytes);
}

TEST_F(CudaSessionGpu, ListsTheDevice) {
  Result<std::vector<DeviceFacts>> devices = ListCudaDevices();
  if (!devices.ok()) GTEST_SKIP() << devices.status().message();
  const DeviceFacts& facts = devices->front();
  std::printf("%s %s: cc %d.%d, %d SMs, L2 %lld KiB, %.2f TB/s, shared memory %lld opt-in\n", facts.id.c_str(), facts.name.c_str(),
              facts.cc_major, facts.cc_minor, facts.sm_count, static_cast<long long>(facts.l2_bytes >> 10), facts.memory_bandwidth / 1e12,
              static_cast<long long>(facts.smem_optin));
  EXPECT_GT(facts.sm_count, 0);
  EXPECT_GT(facts.memory_bandwidth, 1e11);
  EXPECT_GT(facts.smem_optin, 48 * 1024);
}

TEST_F(CudaSessionGpu, ConditionReportsTheClock) {
  HONE_REQUIRE_SESSION();
  const DeviceCondition condition = *session.Condition();
  std::printf("SM %.0f MHz, throttle '%s', %d other processes\n", condition.sm_clock_mhz, condition.throttle.c_str(),
              condition.other_processes);
  if (condition.sm_clock_mhz == 0) GTEST_SKIP() << "NVML is not available here";
  EXPECT_GT(condition.sm_clock_mhz, 100);
  EXPECT_LT(condition.sm_clock_mhz, 5000);
}

// Returns the seconds of `work`, including the wait, best of three.
double Seconds(DeviceSession& session, const TensorView& fence, const std::function<void()>& work) {
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    uint8_t byte;
    EXPECT_TRUE(session.CopyToHost(&byte, fence.address, 1).ok());
    const double start = SteadySeconds();
    work();
    EXPECT_TRUE(session.CopyToHost(&byte, fence.address, 1).ok());
    best = std::min(best, SteadySeconds() - start);
  }
  return best;
}

TEST_F(CudaSessionGpu, HarnessSpeeds) {
  HONE_REQUIRE_SESSION();
  if (session.FreeBytes() < int64_t{48} << 30) GTEST_SKIP() << "needs 48 GiB of device memory";
  const auto report = [](const char* what, double bytes, double seconds) {
    std::printf("%-44s %8.2f GB in %8.3f ms: %5.2f TB/s\n", what, bytes / 1e9, seconds * 1e3, bytes / seconds / 1e12);
  };
  for (DType dtype : {DType::kFloat32, DType::kFloat16}) {
    TensorView view = View(dtype, {4096, 393216}, 0);
    std::unique_ptr<Arena> arena = Place(session, {&view});
    ASSERT_NE(arena, nullptr);
    const double bytes = static_cast<double>(view.span_bytes);
    const std::string type(DTypeName(dtype));
    DrawRequest draw;
    draw.view = view;
    draw.key = 9;
    report(("draw normal " + type).c_str(), bytes, Seconds(session, view, [&] { EXPECT_TRUE(session.Draw(draw).ok()); }));
    draw.permutation_key = 4;
    draw.redraw_key = 5;
    for (int64_t s = 0; s < 4096; s += 64) draw.redrawn.push_back(s);
    report(("draw normal, permuted, redrawn " + type).c_str(), bytes, Seconds(session, view, [&] { EXPECT_TRUE(session.Draw(draw).ok()); }));
    draw.values.distribution = Distribution::kUniform;
    report(("draw uniform " + type).c_str(), bytes, Seconds(session, view, [&] { EXPECT_TRUE(session.Draw(draw).ok()); }));
    draw.values.distribution = Distribution::kHeavyTailed;
    report(("draw heavy-tailed " + type).c_str(), bytes, Seconds(session, view, [&] { EXPECT_TRUE(session.Draw(draw).ok()); }));
    report(("poison " + type).c_str(), bytes, Seconds(session, view, [&] { EXPECT_TRUE(session.Poison(view).ok()); }));
    report(("digest " + type).c_str(), bytes, Seconds(session, view, [&] { EXPECT_TRUE(session.Digest(view, 1).ok()); }));
    TensorView reference = View(DType::kFloat64, view.shape, 0);
    std::unique_ptr<Arena> double_arena = Place(session, {&reference});
    draw.view = reference;
    HONE_ASSERT_OK(session.Draw(draw));
    report(("compare " + type).c_str(), bytes * (1 + 16.0 / static_cast<double>(DTypeBytes(dtype))),
           Seconds(session, view, [&] { EXPECT_TRUE(session.Compare(view, reference.address, {0.1, 0.1}).ok()); }));
  }
  // Measures a sample's overhead beside its own kernel.
  std::unique_ptr<LoadedProgram> program = Load(session, Program(PortableImage(), {"copy16"}));
  for (int sets : {1, 64}) {
    std::vector<std::unique_ptr<CopyCase>> copies;
    SampleRequest request;
    request.program = program.get();
    for (int i = 0; i < sets; ++i) {
      copies.push_back(std::make_unique<CopyCase>(session, 1 << 20));
      request.sets.push_back(&copies.back()->bindings);
    }
    request.plan = &copies[0]->plan;
    double us = 0;
    const double seconds = Seconds(session, copies[0]->out, [&] {
      for (int i = 0; i < 20; ++i) us = session.TimeSample(request)->us_per_plan;
    });
    std::printf("sample of %d copies of 1 MiB: %.1f us each, %.3f ms wall a sample\n", sets, us, seconds / 20 * 1e3);
  }
  TensorView small = View(DType::kFloat16, {64, 4096}, 0);
  std::unique_ptr<Arena> arena = Place(session, {&small});
  DrawRequest draw;
  draw.view = small;
  std::printf("small draw %.1f us, poison %.1f us, digest %.1f us, gap check %.1f us, allocate %.1f us wall\n",
              Seconds(session, small, [&] { EXPECT_TRUE(session.Draw(draw).ok()); }) * 1e6,
              Seconds(session, small, [&] { EXPECT_TRUE(session.Poison(small).ok()); }) * 1e6,
              Seconds(session, small, [&] { EXPECT_TRUE(session.Digest(small, 1).ok()); }) * 1e6,
              Seconds(session, small, [&] { EXPECT_TRUE(session.CheckGaps(*arena).ok()); }) * 1e6,
              Seconds(session, small, [&] { EXPECT_TRUE(session.Allocate({{1 << 20, 256, false}}, 1).ok()); }) * 1e6);
}

}  // namespace
}  // namespace hone::test
