// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the fake session follows its script: an instrument that tests rely on needs tests itself.
#include "tuner/device/fake/fake_session.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hone {
namespace {

// Runs plans of one step "k" without arguments, on tensors x [4] and y [4].
class FakeSessionTest : public testing::Test {
 protected:
  void Make(FakeDevice device) {
    session_ = std::make_unique<FakeSession>(std::move(device));
    CompiledProgram program;
    PlanEntry entry;
    entry.kernel = "k";
    entry.grid = {Expression::Constant(1)};
    entry.block = {Expression::Constant(1)};
    program.candidate.plan.entries.push_back(entry);
    auto loaded = session_->Load(program);
    ASSERT_TRUE(loaded.ok());
    program_ = std::move(loaded->program);
    load_ = loaded->launch;
    auto arena = session_->Allocate({{16, 16, true}, {16, 16, true}}, 1);
    ASSERT_TRUE(arena.ok());
    arena_ = std::move(*arena);
    bindings_.tensors["x"] = View(0);
    bindings_.tensors["y"] = View(1);
    plan_.steps.resize(1);
    plan_.steps[0].kernel = "k";
  }
  TensorView View(size_t block) const {
    return {.address = arena_->address(block), .shape = {4}, .strides = {1}, .elements = 4, .span_bytes = 16, .slice_axis = 0};
  }
  LaunchOutcome Launch() {
    auto outcome = session_->Launch(*program_, {.plan = &plan_, .bindings = &bindings_});
    EXPECT_TRUE(outcome.ok()) << outcome.status().message();
    return outcome.ok() ? *outcome : LaunchOutcome{};
  }
  SampleOutcome Sample(int sets, CacheState cache = CacheState::kCold) {
    SampleRequest request{.program = program_.get(), .plan = &plan_, .cache = cache};
    for (int i = 0; i < sets; ++i) request.sets.push_back(&bindings_);
    auto outcome = session_->TimeSample(request);
    EXPECT_TRUE(outcome.ok());
    return outcome.ok() ? *outcome : SampleOutcome{};
  }

  std::unique_ptr<FakeSession> session_;
  std::unique_ptr<LoadedProgram> program_;
  LaunchOutcome load_;
  std::unique_ptr<Arena> arena_;
  Bindings bindings_;
  ResolvedPlan plan_;
};

TEST_F(FakeSessionTest, RunsLambdasOverItsMemory) {
  FakeDevice device;
  device.kernels["k"].run = [](FakeLaunch& launch) {
    for (int64_t i = 0; i < launch.Elements("x"); ++i) launch.Write("y", i, 2 * launch.Read("x", i));
  };
  Make(device);
  const float x[4] = {1, 2, 3, 4};
  ASSERT_TRUE(session_->CopyFromHost(arena_->address(0), x, 16).ok());
  EXPECT_EQ(Launch().status, LaunchStatus::kOk);
  float y[4] = {};
  ASSERT_TRUE(session_->CopyToHost(y, arena_->address(1), 16).ok());
  EXPECT_EQ(y[3], 8);
  EXPECT_EQ(session_->launches(), 1);
}

TEST_F(FakeSessionTest, RestoresGlobalsAndTellsOfChanges) {
  FakeDevice device;
  device.kernels["k"].run = [](FakeLaunch& launch) {
    launch.Write("y", 0, static_cast<double>(launch.Global("counter")));
    if (launch.execution() < 2) ++launch.Global("counter");
  };
  Make(device);
  Launch();
  EXPECT_TRUE(*session_->GlobalsChanged(*program_));
  Launch();
  float y = -1;
  ASSERT_TRUE(session_->CopyToHost(&y, arena_->address(1), 4).ok());
  EXPECT_EQ(y, 0) << "the second launch saw what the first had left";
  Launch();
  EXPECT_FALSE(*session_->GlobalsChanged(*program_));
}

TEST_F(FakeSessionTest, SeesWritesIntoGuardZones) {
  FakeDevice device;
  device.kernels["k"].run = [](FakeLaunch& launch) { launch.Address("y")[19] ^= 1; };
  Make(device);
  EXPECT_FALSE(*session_->CheckGaps(*arena_));
  Launch();
  const auto damage = *session_->CheckGaps(*arena_);
  ASSERT_TRUE(damage);
  EXPECT_EQ(*damage, "1 byte was written at offset 3 past the end of block 1");
}

TEST_F(FakeSessionTest, TimesByTheScriptNoiseIncluded) {
  FakeDevice device;
  device.kernels["k"] = {.run = [](FakeLaunch&) {},
                         .microseconds = [](const FakeTiming& t) {
                           return t.cache == CacheState::kWarm ? 10.0 : t.repeats_addresses ? 20.0 : 40.0;
                         }};
  device.log_noise = [n = 0]() mutable { return n++ == 3 ? std::log(2.0) : 0.0; };
  Make(device);
  EXPECT_DOUBLE_EQ(Sample(1).us_per_plan, 40);
  EXPECT_DOUBLE_EQ(Sample(2).us_per_plan, 30);  // the second set has the addresses of the first
  EXPECT_DOUBLE_EQ(Sample(1, CacheState::kWarm).us_per_plan, 10);
  EXPECT_DOUBLE_EQ(Sample(1).us_per_plan, 80);
  EXPECT_EQ(session_->timed_samples(), 4);
  EXPECT_EQ(session_->launches(), 5);
}

TEST_F(FakeSessionTest, ReportsCrashesHangsAndProgramsThatDoNotLoad) {
  FakeDevice device;
  device.kernels["k"].run = [](FakeLaunch& launch) {
    if (launch.execution() == 0) launch.Crash("illegal address");
    if (launch.execution() == 1) launch.Hang();
  };
  Make(device);
  const LaunchOutcome crash = Launch();
  EXPECT_EQ(crash.status, LaunchStatus::kCrashed);
  EXPECT_EQ(crash.detail, "k: illegal address");
  EXPECT_EQ(Launch().status, LaunchStatus::kTimedOut);
  EXPECT_EQ(Launch().status, LaunchStatus::kOk);

  device.kernels["k"].load = LaunchStatus::kResourceLimit;
  Make(device);
  EXPECT_EQ(program_, nullptr);
  EXPECT_EQ(load_.status, LaunchStatus::kResourceLimit);
}

TEST_F(FakeSessionTest, GetsLostAsScripted) {
  FakeDevice device;
  device.kernels["k"].run = [](FakeLaunch& launch) { if (launch.execution() == 1) launch.Crash("sticky"); };
  device.lost_after_crash = true;
  Make(device);
  Launch();
  EXPECT_FALSE(session_->lost());
  EXPECT_EQ(Launch().status, LaunchStatus::kCrashed);
  EXPECT_TRUE(session_->lost());
  EXPECT_EQ(session_->Launch(*program_, {.plan = &plan_, .bindings = &bindings_}).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(session_->Condition().status().code(), StatusCode::kUnavailable);

  device.kernels["k"].run = [](FakeLaunch&) {};
  device.lost_after_launches = 1;
  Make(device);
  Launch();
  EXPECT_FALSE(session_->Launch(*program_, {.plan = &plan_, .bindings = &bindings_}).ok());
  EXPECT_TRUE(session_->lost());
}

TEST_F(FakeSessionTest, MemoryIsCountedAndEnds) {
  FakeDevice device;
  device.kernels["k"].run = [](FakeLaunch&) {};
  Make(device);
  const int64_t before = session_->FreeBytes();
  {
    auto arena = session_->Allocate({{1 << 20, 256, false}}, 1);
    ASSERT_TRUE(arena.ok());
    EXPECT_LE(session_->FreeBytes(), before - (1 << 20));
  }
  EXPECT_EQ(session_->FreeBytes(), before);
  EXPECT_FALSE(session_->Allocate({{int64_t{1} << 40, 256, false}}, 1).ok());
}

}  // namespace
}  // namespace hone
