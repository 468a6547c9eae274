// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests run each rule on a kernel whose fault is known from its counts.
#include "tuner/evaluate/profiling/profile_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace hone {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// This task copies x to out, 4 MB each way at n = 2^20.
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

TEST_F(ProfileRules, AMemsetsModelledTimeIsSaid) {
  CaseResult c;
  c.role = CaseRole::kTime;
  c.dims = {{"n", 1 << 20}};
  c.time_us = Interval{12.5, 12.5, 12.5};
  evaluation.cases = {c};
  Profile profile;
  profile.cases = {{c.dims, {kernel}}};
  EXPECT_THAT(FindFaults({&task, &facts, &evaluation}, profile), IsEmpty());  // on a GPU the two were measured apart
  profile.modelled = true;
  const std::vector<ProfileFinding> findings = FindFaults({&task, &facts, &evaluation}, profile);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].kind, "other_steps");
  EXPECT_EQ(findings[0].evidence, "kernels take 10.00 us of 12.50 us");
  EXPECT_NEAR(findings[0].gain, 0.2, 1e-9);
}

TEST_F(ProfileRules, ScatteredLoadsNameTheirLineAndTheBytesThatAreUsed) {
  // 32 lanes load 4 bytes each from 32 sectors, where 4 sectors could hold them all: 4 of each 32 bytes are used.
  kernel.sites = {{"k.cu:9", "global", "load", 4, 1000, 32, 4, 0.8}, {"k.cu:10", "global", "store", 4, 1000, 4, 4, 0.2}};
  const std::vector<ProfileFinding> findings = Find();
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].kind, "uncoalesced");
  EXPECT_EQ(findings[0].location, "k.cu:9");
  EXPECT_THAT(findings[0].message, HasSubstr("use 4 of the 32 bytes of each sector"));
  EXPECT_THAT(findings[0].evidence, HasSubstr("32.0 sectors a request where 4.0 suffice"));
  EXPECT_NEAR(findings[0].gain, 0.6 * 0.8 * (1 - 4.0 / 32), 1e-9);  // memory's weight, the line's share, its waste
}

TEST_F(ProfileRules, TheSameFollowsFromCountersThatKnowNoLines) {
  kernel.values["load_requests"] = 131072;  // 4 sectors a request, 8 bytes of each used: 4 MiB in all
  kernel.values["load_sectors"] = 524288;
  kernel.values["load_bytes_per_sector"] = 8;
  const std::vector<ProfileFinding> findings = Find();
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].message, HasSubstr("use 8 of the 32 bytes of each sector"));
  EXPECT_THAT(findings[0].evidence, HasSubstr("4.0 sectors a request where 1.0 suffice"));
}

TEST_F(ProfileRules, NothingIsWorthMoreThanTheWayToTheFloor) {
  kernel.sites = {{"k.cu:9", "global", "load", 4, 1000, 32, 4, 1.0}};
  EXPECT_NEAR(Find(0.8)[0].gain, 0.2, 1e-9);
  const std::vector<ProfileFinding> findings = Find(0.99);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].kind, "near_floor");
  EXPECT_EQ(findings[0].gain, 0);
}

TEST_F(ProfileRules, BankConflictsWeighWhatSharedMemoryWeighs) {
  kernel.values["shared_passes"] = 32000;
  kernel.values["limit_lsu"] = 90;
  kernel.sites = {{"k.cu:20", "shared", "load", 4, 1000, 32, 1, 1.0}};
  const std::vector<ProfileFinding> findings = Find();
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].kind, "bank_conflict");
  EXPECT_EQ(findings[0].location, "k.cu:20");
  EXPECT_THAT(findings[0].evidence, HasSubstr("32.0 passes a request where 1.0 suffice"));
  // The lines of an unrolled loop conflict for one reason, and are one finding.
  kernel.sites = {{"k.cu:43", "shared", "atomic", 4, 1000, 4, 1, 0.3}, {"k.cu:42", "shared", "atomic", 4, 1000, 4, 1, 0.25},
                  {"k.cu:44", "shared", "atomic", 4, 1000, 4, 1, 0.25}, {"k.cu:50", "shared", "load", 4, 1000, 4, 1, 0.2}};
  const std::vector<ProfileFinding> two = Find();
  ASSERT_THAT(two, SizeIs(2));
  EXPECT_EQ(two[0].location, "k.cu:43");
  EXPECT_THAT(two[0].evidence, HasSubstr("80 % of the kernel's passes, with the same at k.cu:42, k.cu:44"));
  EXPECT_EQ(two[1].location, "k.cu:50");
  kernel.values["limit_lsu"] = 1;  // conflicts that cost no time are not reported
  EXPECT_THAT(Find(), IsEmpty());
}

TEST_F(ProfileRules, LowOccupancyIsLaidToTheResourceThatLimitsIt) {
  kernel.values["memory_throughput"] = 30;
  kernel.values["occupancy"] = 12.5;
  kernel.values["stall_long_scoreboard"] = 8;
  kernel.values["stall_wait"] = 2;
  evaluation.resources = {{"k", 255, 0, 0, 0, 0.125}};
  std::vector<ProfileFinding> findings = Find();
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].kind, "low_occupancy");
  EXPECT_THAT(findings[0].message, HasSubstr("registers limit them (255 a thread)"));
  EXPECT_THAT(findings[0].evidence, HasSubstr("80 % of the waiting is for global memory"));
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
  kernel.values = {{"dram_bytes", 40e6}, {"dram_throughput", 80}};  // 40 MB move where 8.4 MB must
  EXPECT_EQ(Find()[0].kind, "rereads");
}

TEST_F(ProfileRules, AdviceOfACheckShapeGivesWayWhereATimedShapeWasCounted) {
  // Line 9 is coalesced at the timed shape; nothing was counted at line 20.
  kernel.sites = {{"k.cu:9", "global", "load", 4, 1000, 4, 4, 1.0}};
  Profile profile;
  profile.cases = {{{{"n", 1 << 20}}, {kernel}}};
  const Dims small = {{"n", 7}};
  evaluation.findings = {{"uncoalesced", "touches 9.0 sectors a warp", "k.cu:9", small, false, 1},
                         {"uncoalesced", "touches 9.0 sectors a warp", "k.cu:20", small, false, 1},
                         {"shared_race", "no advice", "k.cu:9", small, false, 1}};
  AttachProfile(task, facts, profile, &evaluation);
  ASSERT_THAT(evaluation.findings, SizeIs(2));
  EXPECT_EQ(evaluation.findings[0].location, "k.cu:20");
  EXPECT_EQ(evaluation.findings[1].kind, "shared_race");
}

TEST_F(ProfileRules, FindingsOfTheProfileNameTheTimedShape) {
  kernel.sites = {{"k.cu:9", "global", "load", 4, 1000, 32, 4, 1.0}};
  Profile profile;
  profile.cases = {{{{"n", 1 << 20}}, {kernel}}};
  evaluation.findings = {{"uncoalesced", "touches 9.0 sectors a warp", "k.cu:9", {{"n", 7}}, false, 1}};
  AttachProfile(task, facts, profile, &evaluation);
  ASSERT_THAT(evaluation.findings, SizeIs(1));
  EXPECT_THAT(evaluation.findings[0].message, HasSubstr("32.0 sectors a request"));
  EXPECT_EQ(evaluation.findings[0].dims, (Dims{{"n", 1 << 20}}));
  EXPECT_TRUE(evaluation.findings[0].timed);
}

// The kernels below ran on an H200; their counts are CUPTI's, rounded.

TEST_F(ProfileRules, LoadsAndStoresThatScatterAreToldTogether) {
  kernel.values["load_requests"] = kernel.values["store_requests"] = 32768;
  kernel.values["load_sectors"] = kernel.values["store_sectors"] = 32 * 32768;
  kernel.values["load_bytes_per_sector"] = kernel.values["store_bytes_per_sector"] = 4;
  const std::vector<ProfileFinding> findings = Find();
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].message, HasSubstr("loads use 4 and stores use 4 of the 32 bytes"));
  EXPECT_NEAR(findings[0].gain, 0.6 * (1 - 4.0 / 32), 1e-9);  // memory's weight, and the waste of both
}

TEST_F(ProfileRules, AStoreThatScattersOnALineWithSuchALoadIsToldToo) {
  kernel.sites = {{"k.cu:9", "global", "load", 4, 1000, 32, 4, 0.5}, {"k.cu:9", "global", "store", 4, 1000, 32, 8, 0.5}};
  const std::vector<ProfileFinding> findings = Find();
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].message, HasSubstr("loads use 4 and stores use 8 of the 32 bytes"));
  EXPECT_NEAR(findings[0].gain, 0.6 * (0.5 * 28 / 32 + 0.5 * 24 / 32), 1e-9);
}

TEST_F(ProfileRules, OneAddressForAWarpAndLoadsThatTheAverageLeavesOutAreNoScatter) {
  // A matrix product with one thread for each result: an element of a factor is broadcast, and 1.5 sectors per request
  // are as few as possible.
  kernel.values["load_requests"] = 1e7;
  kernel.values["load_sectors"] = 1.5e7;
  kernel.values["load_bytes_per_sector"] = 22;
  EXPECT_THAT(Find(), IsEmpty());
  // With cp.async, all 4 MiB are loaded once, and the counted average covers less than half of these loads.
  kernel.values["load_requests"] = 8192;
  kernel.values["load_sectors"] = 131072;
  kernel.values["load_bytes_per_sector"] = 14;
  EXPECT_THAT(Find(), IsEmpty());
  // A gather by cp.async loads more than the bytes that must move at least, so its own number of sectors is used.
  kernel.values["load_sectors"] = 12 * 65536;
  kernel.values["load_requests"] = 65536;
  kernel.values["load_bytes_per_sector"] = 6;
  EXPECT_THAT(Find(), SizeIs(1));
  kernel.values["async_copies"] = 50000;
  EXPECT_THAT(Find(), IsEmpty());
}

TEST_F(ProfileRules, WhereTensorCoresAreBusyWaitingBesideThemIsNoFault) {
  // This is cute_ladder/08 at 4096 cubed, as fast as cuBLASLt: its warps wait for the tensor cores.
  kernel.duration_us = 179;
  kernel.values = {{"memory_throughput", 57}, {"dram_throughput", 21}, {"l1_throughput", 60}, {"sm_throughput", 90},
                   {"issue_active", 16}, {"tensor_active", 95}, {"shared_passes", 402900}, {"bank_conflicts", 117000},
                   {"cycles", 280000}, {"stall_barrier", 56}, {"stall_wait", 12}, {"stall_mio", 11}, {"stall_long_scoreboard", 7},
                   {"dram_bytes", 176.7e6}, {"tensor_instructions", 1.1e6}, {"instructions", 22e6}};
  const std::vector<ProfileFinding> findings = Find(0.15);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.back().kind, "tensor_bound");
  for (const ProfileFinding& f : findings) {
    EXPECT_LE(f.gain, 0.05 + 1e-9) << f.kind;
    EXPECT_NE(f.kind, "bank_conflict");  // 1 % of the banks' time
    EXPECT_NE(f.kind, "rereads");        // device memory is idle four fifths of the time
  }
}

TEST_F(ProfileRules, BankConflictsByCountersWeighWhatTheBanksAreBusy) {
  // A 32 x 32 tile without padding makes 134000 passes of each SM in 151000 cycles, 94 % of them conflicts.
  kernel.values = {{"shared_passes", 17.71e6}, {"bank_conflicts", 16.6e6}, {"cycles", 151000}, {"l1_throughput", 95},
                   {"load_requests", 524288}, {"store_requests", 524288}};
  const std::vector<ProfileFinding> findings = Find();
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_NEAR(findings[0].gain, std::min(0.7, 17.71e6 / 132 / 151000 * 16.6 / 17.71), 1e-3);
}

TEST_F(ProfileRules, AProductWithoutTensorCoresIsSeenThoughTheirPipeMovesConstants) {
  task.workload = WorkloadClass::kGemm;
  for (TensorSpec& tensor : task.tensors) tensor.dtype = DType::kBFloat16;
  kernel.values = {{"tensor_active", 0.2}, {"tensor_instructions", 917504}, {"instructions", 1.44e9}, {"sm_throughput", 73}};
  const std::vector<ProfileFinding> findings = Find();
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].kind, "no_tensor_cores");
  kernel.values["tensor_active"] = 60;
  EXPECT_THAT(Find(), IsEmpty());
}

TEST_F(ProfileRules, ArithmeticThatTakesTheTimeIsSaid) {
  // With 64 exponentials an element, schedulers issue in 91 % of the cycles, and memory is busy in 7 %.
  kernel.values = {{"sm_throughput", 91}, {"issue_active", 91}, {"memory_throughput", 7}, {"stall_mio", 30}, {"stall_wait", 70}};
  std::vector<ProfileFinding> findings = Find(0.05);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].kind, "instruction_bound");
  EXPECT_THAT(findings[0].message, HasSubstr("schedulers issue nearly every cycle"));
  EXPECT_NEAR(findings[0].gain, 0.5 * (0.91 - 0.07), 1e-9);
  // With a barrier for every other instruction, a pipe is full long before the schedulers are.
  kernel.values["sm_throughput"] = 94;
  kernel.values["issue_active"] = 62;
  EXPECT_THAT(Find(0.05)[0].message, HasSubstr("one pipe of the multiprocessors"));
  // Near the task's necessary operations, no gain is promised.
  task.flops = Expression::Parse("n * 640").value();
  facts.fp32_flops = 67e12;
  kernel.values.erase("stall_mio");
  EXPECT_THAT(Find(0.05), IsEmpty());  // 0.67 GFLOP in 10 us are the peak
}

TEST_F(ProfileRules, QueuedAtomicsAreNotLaidToLoads) {
  kernel.duration_us = 12368;
  kernel.values = {{"memory_throughput", 2}, {"sm_throughput", 1}, {"occupancy", 81}, {"waves", 124}, {"load_requests", 1048576},
                   {"store_requests", 1048576}, {"atomic_requests", 1048576}, {"stall_long_scoreboard", 46}, {"stall_drain", 28},
                   {"stall_short_scoreboard", 19}};
  const std::vector<ProfileFinding> findings = Find(0.01);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].kind, "atomics");
  EXPECT_THAT(findings[0].evidence, HasSubstr("33 % of the requests to global memory"));
  // The simulator knows how long requests queue, and need not estimate it.
  kernel.values = {{"limit_atomics", 100}, {"limit_latency", 90}};
  const std::vector<ProfileFinding> modelled = Find(0.01);
  ASSERT_THAT(modelled, SizeIs(1));
  EXPECT_EQ(modelled[0].kind, "atomics");
}

TEST_F(ProfileRules, AQueueWithoutSharedMemoryIsLaidToWhatElseGoesThroughIt) {
  // Each thread reads a __constant__ table at an index of its own.
  kernel.values = {{"stall_mio", 72}, {"stall_short_scoreboard", 27}, {"issue_active", 4}, {"sm_throughput", 60},
                   {"shared_passes", 0}, {"memory_throughput", 55}};
  EXPECT_EQ(Find(0.03)[0].kind, "special_queue");
  kernel.values["shared_passes"] = 1e6;
  EXPECT_EQ(Find(0.03)[0].kind, "shared_queue");
}

TEST_F(ProfileRules, EmptyMultiprocessorsAreLaidToTheGridOrToShortBlocksWhereThoseAreTheReason) {
  kernel.values = {{"memory_throughput", 32}, {"occupancy", 23}, {"stall_long_scoreboard", 90}, {"stall_wait", 5}, {"waves", 0.24}};
  evaluation.resources = {{"k", 31, 0, 0, 0, 1.0}};
  kernel.blocks = 256;
  EXPECT_THAT(Find()[0].message, HasSubstr("the grid has 256 blocks where 1067 run at a time"));
  // 32 blocks of 64 threads would fill an SM, but the blocks end too soon for that.
  kernel.blocks = 524288;
  kernel.threads_per_block = 64;
  evaluation.resources = {{"k", 16, 0, 0, 0, 1.0}};
  kernel.values["waves"] = 124;
  EXPECT_EQ(Find()[0].kind, "many_small_blocks");
  EXPECT_THAT(Find()[0].evidence, HasSubstr("occupancy 23 % where 100 % would fit"));
}

TEST_F(ProfileRules, RereadsCountWhereMemoryIsWhatIsWaitedFor) {
  // This kernel makes three passes over rows: memory is the busiest part and moves twice the necessary bytes.
  kernel.values = {{"dram_bytes", 16e6}, {"dram_throughput", 31}, {"memory_throughput", 31}, {"l2_throughput", 39}, {"sm_throughput", 12}};
  ASSERT_FALSE(Find().empty());
  EXPECT_EQ(Find()[0].kind, "rereads");
  kernel.values["sm_throughput"] = 79;  // arithmetic is the limit, as in a matrix product
  EXPECT_THAT(Find(), IsEmpty());
}

TEST_F(ProfileRules, BytesThatSpillsMoveAreNotToldAgainAsRereads) {
  kernel.values = {{"dram_bytes", 40e6}, {"dram_throughput", 71}, {"memory_throughput", 71}, {"load_sectors", 131072},
                   {"store_sectors", 131072}, {"local_load_sectors", 5e5}, {"local_store_sectors", 5e5}};
  const std::vector<ProfileFinding> findings = Find();
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].kind, "spills");
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
  EXPECT_THAT(evaluation.findings[0].message, HasSubstr("evidence: loads: 32.0 sectors a request"));
  EXPECT_EQ(evaluation.findings[1].kind, "untested_alternative");
  ASSERT_TRUE(evaluation.profile.has_value());
  EXPECT_THAT(evaluation.profile->findings, SizeIs(1));
}

}  // namespace
}  // namespace hone
