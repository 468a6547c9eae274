// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests read texts in the form in which ncu writes them.
#include "tuner/evaluate/profiling/ncu_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/core/evaluation/profile_metrics.h"

namespace hone {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kHeader =
    "==PROF== Connected to process 7 (/usr/bin/hone)\n==PROF== Profiling \"k\": 0%....50%....100% - 3 passes\n"
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\","
    "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";

std::string Row(const char* id, const char* kernel, const char* metric, const char* unit, const char* value) {
  return std::string("\"") + id + "\",\"7\",\"hone\",\"127.0.0.1\",\"" + kernel + "\",\"1\",\"13\",\"(256, 1, 1)\",\"(4096, 1, 1)\",\"0\",\"9.0\"," +
         "\"Command line profiler metrics\",\"" + metric + "\",\"" + unit + "\",\"" + value + "\"\n";
}

TEST(NcuReport, KernelsComeInTheOrderOfTheirLaunchesWithCommasAndCrLf) {
  const std::string text = kHeader + Row("0", "void k<8>(float, int)", "dram__bytes_read.sum", "byte", "4,194,304") +
                           Row("0", "void k<8>(float, int)", "sm__warps_active.avg.pct_of_peak_sustained_active", "%", "87.25") +
                           Row("1", "j", "dram__bytes_read.sum", "byte", "n/a") + Row("1", "j", "gpu__time_duration.sum", "nsecond", "12,500\r");
  const auto kernels = ParseNcuCsv(text);
  ASSERT_TRUE(kernels.ok()) << kernels.status().message();
  ASSERT_EQ(kernels->size(), 2u);
  KernelProfile first, second;
  FillFromMetrics((*kernels)[0], &first);
  FillFromMetrics((*kernels)[1], &second);
  EXPECT_EQ(first.Value("dram_bytes_read"), 4194304);
  EXPECT_EQ(first.Value("dram_bytes"), 4194304);
  EXPECT_EQ(first.Value("occupancy"), 87.25);
  EXPECT_FALSE(second.Has("dram_bytes_read"));
}

TEST(NcuReport, ForbiddenCountersComeWithTheRemedy) {
  const auto kernels = ParseNcuCsv("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters\n");
  EXPECT_EQ(kernels.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(kernels.status().message(), HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
}

TEST(NcuReport, TextWithoutATableIsNamed) {
  EXPECT_THAT(ParseNcuCsv("==ERROR== something else\n").status().message(), HasSubstr("something else"));
  EXPECT_EQ(ParseNcuCsv("").status().code(), StatusCode::kInvalidArgument);
}

TEST(NcuReport, MetricsThatAVersionDoesNotKnowAreFound) {
  EXPECT_THAT(UnknownMetrics("==ERROR== Failed to find metric smsp__no_such.sum\n"), ElementsAre("smsp__no_such.sum"));
  EXPECT_THAT(UnknownMetrics("==PROF== Connected\n"), IsEmpty());
}

TEST(NcuReport, TheCommandAsksForEveryFieldsMetric) {
  const std::vector<std::string> command = NcuCommand("/opt/ncu", ProfileMetrics(), "/tmp/log");
  EXPECT_EQ(command.front(), "/opt/ncu");
  EXPECT_THAT(command.back(), HasSubstr("gpu__time_duration.sum,"));
  EXPECT_THAT(command.back(), HasSubstr("smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"));
  EXPECT_THAT(command, Contains("--profile-from-start"));
}

}  // namespace
}  // namespace hone
