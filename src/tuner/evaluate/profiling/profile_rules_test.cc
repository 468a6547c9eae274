// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules, each on a kernel whose fault is known from its counts.
#include "tuner/evaluate/profiling/profile_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// x to out, 4 MB each way at n = 2^20.
constexpr const char* kToml = R"(
name = "copy"
summary = "x to out"
class = "elementwise"
slice = "n"
[dims]
n = "elements"
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["n"]
[[tensor]]
name = "out"
role = "out"
dtype = "float32"
shape = ["n"]
[tolerance.out]
c_max = 1e-6
c_rms = 1e-6
[[case]]
role = "time"
dims = { n = 1048576 }
[[case]]
role = "check"
dims = { n = 7 }
)";

class ProfileRules : public testing::Test {
 protected:
  ProfileRules() {
    Result<Task> parsed = ParseTask(kToml, "copy/task.toml");
    EXPECT_TRUE(parsed.ok()) << parsed.status().message();
    task = *parsed;
    facts.sm_count = 132;
    facts.memory_bandwidth = 4.8e12;
    facts.max_threads_per_sm = 2048;
    facts.max_blocks_per_sm = 32;
    facts.registers_per_sm = 65536;
    facts.smem_per_sm = 228 * 1024;
    kernel.kernel = "k";
    kernel.duration_us = 10;
    kernel.blocks = 4096;
    kernel.threads_per_block = 256;
    kernel.values["memory_throughput"] = 60;
  }
  std::vector<ProfileFinding> Find(double floor_fraction = 0.3) {
    CaseResult c;
    c.role = CaseRole::kTime;
    c.dims = {{"n", 1 << 20}};
    c.floor_fraction = floor_fraction;
    evaluation.cases = {c};
    Profile profile;
    profile.cases = {{c.dims, {kernel}}};
    return FindFaults({&task, &facts, &evaluation}, profile);
  }
  Task task;
  DeviceFacts facts;
  Evaluation evaluation;
  KernelProfile kernel;
};

TEST_F(ProfileRules, AWellFormedKernelIsLeftAlone) {
  kernel.sites = {{"k.cu:9", "global", "load", 16, 1000, 16, 16, 1.0}};
  EXPECT_THAT(Find(), IsEmpty());
}

TEST_F(ProfileRules, ScatteredLoadsNameTheirLineAndTheBytesThatAreUsed) {
  // 32 lanes of 4 bytes in 32 sectors, where 4 hold them all: 4 of each 32 bytes are used.
  kernel.sites = {{"k.cu:9", "global", "load", 4, 1000, 32, 4, 0.8}, {"k.cu:10", "global", "store", 4, 1000, 4, 4, 0.2}};
  const std::vector<ProfileFinding> found = Find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].kind, "uncoalesced");
  EXPECT_EQ(found[0].location, "k.cu:9");
  EXPECT_THAT(found[0].message, HasSubstr("use 4 of the 32 bytes of each sector"));
  EXPECT_THAT(found[0].evidence, HasSubstr("32.0 sectors a request where 4.0 suffice"));
  EXPECT_NEAR(found[0].gain, 0.6 * 0.8 * (1 - 4.0 / 32), 1e-9);  // memory's weight, the line's share, its waste
}

TEST_F(ProfileRules, TheSameFollowsFromCountersThatKnowNoLines) {
  kernel.values["load_requests"] = 1000;
  kernel.values["load_sectors"] = 4000;
  kernel.values["load_bytes_per_sector"] = 8;
  const std::vector<ProfileFinding> found = Find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].message, HasSubstr("use 8 of the 32 bytes of each sector"));
  EXPECT_THAT(found[0].evidence, HasSubstr("4.0 sectors a request where 1.0 suffice"));
}

TEST_F(ProfileRules, NothingIsWorthMoreThanTheWayToTheFloor) {
  kernel.sites = {{"k.cu:9", "global", "load", 4, 1000, 32, 4, 1.0}};
  EXPECT_NEAR(Find(0.8)[0].gain, 0.2, 1e-9);
  const std::vector<ProfileFinding> found = Find(0.99);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].kind, "near_floor");
  EXPECT_EQ(found[0].gain, 0);
}

TEST_F(ProfileRules, BankConflictsWeighWhatSharedMemoryWeighs) {
  kernel.values["shared_passes"] = 32000;
  kernel.values["limit_lsu"] = 90;
  kernel.sites = {{"k.cu:20", "shared", "load", 4, 1000, 32, 1, 1.0}};
  const std::vector<ProfileFinding> found = Find();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].kind, "bank_conflict");
  EXPECT_EQ(found[0].location, "k.cu:20");
  EXPECT_THAT(found[0].evidence, HasSubstr("32.0 passes a request where 1.0 suffice"));
  kernel.values["limit_lsu"] = 1;  // conflicts that cost nothing are not told
  EXPECT_THAT(Find(), IsEmpty());
}

TEST_F(ProfileRules, LowOccupancyIsLaidToTheResourceThatLimitsIt) {
  kernel.values["memory_throughput"] = 30;
  kernel.values["occupancy"] = 12.5;
  kernel.values["stall_long_scoreboard"] = 8;
  kernel.values["stall_wait"] = 2;
  evaluation.resources = {{"k", 255, 0, 0, 0, 0.125}};
  std::vector<ProfileFinding> found = Find();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].kind, "low_occupancy");
  EXPECT_THAT(found[0].message, HasSubstr("registers limit them (255 a thread)"));
  EXPECT_THAT(found[0].evidence, HasSubstr("80 % of the waiting is for global memory"));
  kernel.shared_bytes = 100 * 1024;
  evaluation.resources.clear();
  EXPECT_THAT(Find()[0].message, HasSubstr("shared memory limits them"));
  kernel.values["occupancy"] = 90;
  EXPECT_EQ(Find()[0].kind, "latency_bound");
}

TEST_F(ProfileRules, AGridSmallerThanTheGpuAndARaggedLastWave) {
  kernel.blocks = 33;
  EXPECT_EQ(Find()[0].kind, "small_grid");
  EXPECT_THAT(Find()[0].evidence, HasSubstr("33 blocks for 132 SMs"));
  kernel.blocks = 1200;
  kernel.values["waves"] = 1.1;
  EXPECT_EQ(Find()[0].kind, "tail");
}

TEST_F(ProfileRules, StallsSpillsDivergenceAndDoublePrecision) {
  kernel.values["stall_barrier"] = 5;
  kernel.values["stall_wait"] = 5;
  kernel.values["issue_active"] = 20;
  EXPECT_EQ(Find()[0].kind, "barriers");
  kernel.values.clear();
  evaluation.resources = {{"k", 255, 64, 0, 0, 0.5}};
  EXPECT_EQ(Find()[0].kind, "spills");
  evaluation.resources.clear();
  kernel.values = {{"active_threads", 8}, {"issue_active", 60}};
  EXPECT_EQ(Find()[0].kind, "divergence");
  kernel.values = {{"instructions", 1000}, {"fp64_instructions", 100}};
  EXPECT_EQ(Find()[0].kind, "double_precision");
  kernel.values = {{"dram_bytes", 40e6}, {"dram_throughput", 80}};  // 8.4 MB must move
  EXPECT_EQ(Find()[0].kind, "rereads");
}

TEST_F(ProfileRules, TheAnalystFindsThemAmongTheFindingsAndTheSimulatorsShorterWordsGo) {
  evaluation.findings = {{"uncoalesced", "short", "k.cu:9"}, {"untested_alternative", "kept", ""}};
  CaseResult c;
  c.role = CaseRole::kTime;
  c.dims = {{"n", 1 << 20}};
  evaluation.cases = {c};
  kernel.sites = {{"k.cu:9", "global", "load", 4, 1000, 32, 4, 1.0}};
  Profile profile;
  profile.source = "simulator";
  profile.cases = {{c.dims, {kernel}}};
  AttachProfile(task, facts, profile, &evaluation);
  ASSERT_THAT(evaluation.findings, SizeIs(2));
  EXPECT_THAT(evaluation.findings[0].message, HasSubstr("evidence: 32.0 sectors a request"));
  EXPECT_EQ(evaluation.findings[1].kind, "untested_alternative");
  ASSERT_TRUE(evaluation.profile.has_value());
  EXPECT_THAT(evaluation.profile->findings, SizeIs(1));
}

}  // namespace
}  // namespace hone
