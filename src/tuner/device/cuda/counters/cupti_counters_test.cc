// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests CUPTI's protocol with a fake library, and the names of Hone's metrics with the real library if there is one:
// its host side needs no GPU.
#include <cupti_profiler_host.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "tuner/core/evaluation/profile_metrics.h"
#include "tuner/device/cuda/counters/counter_source.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

const std::string kFake = HONE_FAKE_CUPTI_PATH;

class CuptiCounters : public testing::Test {
 protected:
  void SetUp() override { unsetenv("HONE_FAKE_CUPTI"); }
  void TearDown() override { unsetenv("HONE_FAKE_CUPTI"); }
  static Result<std::unique_ptr<CounterSource>> Make() { return MakeCuptiCounters(nullptr, 0, {"/nonexistent/libcupti.so", kFake}); }
  // Collects two kernels per pass; counts the calls of each function.
  static Result<CounterSource::Values> Collect(int* prepared, int* executed) {
    auto source = Make();
    if (!source.ok()) return source.status();
    auto* launch = reinterpret_cast<void (*)()>(dlsym(dlopen(kFake.c_str(), RTLD_NOW), "hone_fake_cupti_launch"));
    return (*source)->Collect({"smsp__no_such_thing.sum", "dram__bytes_read.sum", "dram__throughput.avg.pct_of_peak_sustained_elapsed"}, 4,
                              [=] { launch(); ++*prepared; return Status::Ok(); },
                              [=] { launch(); launch(); ++*executed; return Status::Ok(); });
  }
};

TEST_F(CuptiCounters, EveryPassIsPreparedAndOnlyWhatIsLaunchedCounts) {
  int prepared = 0, executed = 0;
  const auto values = Collect(&prepared, &executed);
  ASSERT_TRUE(values.ok()) << values.status().message();
  EXPECT_EQ(prepared, 3);
  EXPECT_EQ(executed, 3);
  // A metric unknown to this chip is left out, and not requested: it would break the rest.
  EXPECT_THAT(*values, ElementsAre(ElementsAre(Pair("dram__bytes_read.sum", 0), Pair("dram__throughput.avg.pct_of_peak_sustained_elapsed", 1)),
                                   ElementsAre(Pair("dram__bytes_read.sum", 100), Pair("dram__throughput.avg.pct_of_peak_sustained_elapsed", 101))));
}

TEST_F(CuptiCounters, WhatForbidsCountingComesAsOneSentenceWithTheRemedy) {
  const auto refused = [](const char* mode) {
    setenv("HONE_FAKE_CUPTI", mode, 1);
    int prepared = 0, executed = 0;
    const auto values = Collect(&prepared, &executed);
    EXPECT_EQ(values.status().code(), StatusCode::kUnavailable) << mode;
    return values.status().message();
  };
  EXPECT_THAT(refused("forbidden"), HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_THAT(refused("unsupported"), HasSubstr("not shared or virtualised"));
  EXPECT_THAT(refused("busy"), HasSubstr("another profiler holds"));
  EXPECT_THAT(refused("endless"), HasSubstr("not done after 500 passes"));
}

TEST_F(CuptiCounters, AMissingLibraryAndOneWithoutTheCallsAreNamed) {
  EXPECT_THAT(MakeCuptiCounters(nullptr, 0, {"/nonexistent/libcupti.so"}).status().message(), HasSubstr("cuda-cupti"));
  EXPECT_THAT(MakeCuptiCounters(nullptr, 0, {"libm.so.6"}).status().message(), HasSubstr("libm.so.6 is too old"));
}

TEST_F(CuptiCounters, AFailureOfTheLaunchIsHandedOn) {
  auto source = Make();
  ASSERT_TRUE(source.ok());
  const auto values = (*source)->Collect({"dram__bytes_read.sum"}, 1, [] { return Status::Ok(); }, [] { return Status::Internal("it crashed"); });
  EXPECT_EQ(values.status().message(), "it crashed");
}

TEST(ProfileMetrics, TheRealLibraryKnowsEveryNameForAHopper) {
  void* library = nullptr;
  std::vector<std::string> names = CuptiLibraries();
  names.push_back(std::string(HONE_TOOLKIT) + "/lib/libcupti.so");
  names.push_back(std::string(HONE_TOOLKIT) + "/lib64/libcupti.so");
  names.push_back(std::string(HONE_TOOLKIT) + "/extras/CUPTI/lib64/libcupti.so");
  for (const std::string& name : names) {
    if (library == nullptr) library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) GTEST_SKIP() << "there is no libcupti here";
  const auto initialize = reinterpret_cast<decltype(&cuptiProfilerHostInitialize)>(dlsym(library, "cuptiProfilerHostInitialize"));
  const auto list = reinterpret_cast<decltype(&cuptiProfilerHostGetBaseMetrics)>(dlsym(library, "cuptiProfilerHostGetBaseMetrics"));
  if (initialize == nullptr || list == nullptr) GTEST_SKIP() << "this libcupti is older than the range profiler";
  CUpti_Profiler_Host_Initialize_Params host{};
  host.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE;
  host.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  host.pChipName = "GH100";
  if (initialize(&host) != CUPTI_SUCCESS) GTEST_SKIP() << "this libcupti does not start without a driver";
  std::set<std::string> known_metrics;
  for (const CUpti_MetricType type : {CUPTI_METRIC_TYPE_COUNTER, CUPTI_METRIC_TYPE_RATIO, CUPTI_METRIC_TYPE_THROUGHPUT}) {
    CUpti_Profiler_Host_GetBaseMetrics_Params params{};
    params.structSize = CUpti_Profiler_Host_GetBaseMetrics_Params_STRUCT_SIZE;
    params.pHostObject = host.pHostObject;
    params.metricType = type;
    ASSERT_EQ(list(&params), CUPTI_SUCCESS);
    known_metrics.insert(params.ppMetricNames, params.ppMetricNames + params.numMetrics);
  }
  for (const std::string& metric : ProfileMetrics())
    EXPECT_TRUE(known_metrics.contains(metric.substr(0, metric.find('.')))) << metric;
}

}  // namespace
}  // namespace hone
