// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the resolution of plans: every field is resolved by hand once, and every way in which a case can make a plan
// impossible to launch is tried.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "hone/tuner/candidate.h"
#include "tuner/core/plan/plan_test_support.h"
#include "tuner/values/float_bits.h"

namespace hone {
namespace {

using namespace testing_support;  // NOLINT: a test's own vocabulary
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const Dims kDims = {{"tokens", 3}, {"d", 8}, {"ld", 16}};

Candidate ParsePlan(const std::string& plan) {
  Result<Candidate> candidate = ParseCandidate(Source(plan), "candidate.cu", PlanTask());
  EXPECT_TRUE(candidate.ok()) << candidate.status().message();
  return candidate.ok() ? std::move(candidate).value() : Candidate{};
}

Result<ResolvedPlan> ResolveText(const std::string& plan, const Dims& dims = kDims, const DeviceFacts& facts = H200()) {
  return ResolvePlan(ParsePlan(plan), PlanTask(), dims, {}, facts);
}

Status RefusalOf(const std::string& plan, const Dims& dims = kDims, const DeviceFacts& facts = H200()) {
  Result<ResolvedPlan> resolved = ResolveText(plan, dims, facts);
  return resolved.ok() ? Status::Internal("resolved") : resolved.status();
}

template <typename T>
T As(const std::vector<uint8_t>& bytes) {
  T value{};
  EXPECT_EQ(bytes.size(), sizeof value);
  if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

TEST(ResolvePlan, EveryFieldOfALaunch) {
  Result<ResolvedPlan> plan = ResolveText(R"(
[tune]
VEC = [4, 8]
[[workspace]]
name = "w"
bytes = "tokens * VEC"
align = 512
zero = true
[[tensor_map]]
name = "tm"
tensor = "x"
dims = ["d", "tokens"]
strides = ["2 * d"]
box = [8, 1]
[[memset]]
step = -1
target = "w"
value = 7
[[launch]]
kernel = "k<VEC>"
grid = ["2 * tokens", 4]
block = [32, "VEC"]
shared = "VEC * 100"
cluster = [2, 4]
cooperative = true
with = { VEC = 8 }
args = ["x", "s + d", "w + 4", "tokens:i32", "d - 9:i64", "d == 8:bool", "eps:f32", "eps:f64", "eps:f16", "eps:bf16",
        "tensormap:tm", "struct:P{d:u32, x + 2}", "out"]
[[launch]]
step = 1
kernel = "late"
grid = "sm_count + cc + l2_bytes / 1048576"
block = 64
pdl = true
args = ["out"]
)");
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_EQ(plan->workspaces.size(), 1u);
  EXPECT_EQ(plan->workspaces[0].bytes, 12);  // by the plan's VEC, not by the entry's `with`
  EXPECT_EQ(plan->workspaces[0].align, 512);
  EXPECT_TRUE(plan->workspaces[0].zero_on_entry);
  ASSERT_EQ(plan->tensor_maps.size(), 1u);
  EXPECT_THAT(plan->tensor_maps[0].dims, ElementsAre(8, 3));
  EXPECT_THAT(plan->tensor_maps[0].strides, ElementsAre(16));
  EXPECT_THAT(plan->tensor_maps[0].element_strides, ElementsAre(1, 1));

  ASSERT_EQ(plan->steps.size(), 3u);
  EXPECT_TRUE(plan->steps[0].is_memset);
  EXPECT_EQ(plan->steps[0].memset_bytes, 12);
  EXPECT_EQ(plan->steps[0].memset_value, 7);

  const ResolvedStep& step = plan->steps[1];
  EXPECT_EQ(step.kernel, "k<8>");
  EXPECT_EQ(step.binding_key, "VEC=8");
  EXPECT_THAT(step.grid, ElementsAre(6, 4, 1));
  EXPECT_THAT(step.block, ElementsAre(32, 8, 1));
  EXPECT_THAT(step.cluster, ElementsAre(2, 4, 1));
  EXPECT_EQ(step.shared_bytes, 800);
  EXPECT_TRUE(step.cooperative);
  EXPECT_FALSE(step.programmatic_dependent_launch);
  ASSERT_EQ(step.args.size(), 13u);
  EXPECT_EQ(step.args[0].byte_offset, 0);
  EXPECT_EQ(step.args[1].byte_offset, 32);  // 8 elements of 4 bytes
  EXPECT_EQ(step.args[2].byte_offset, 4);   // a workspace's offset is in bytes
  EXPECT_EQ(As<int32_t>(step.args[3].bytes), 3);
  EXPECT_EQ(As<int64_t>(step.args[4].bytes), -1);
  EXPECT_EQ(As<uint8_t>(step.args[5].bytes), 1);
  EXPECT_EQ(As<float>(step.args[6].bytes), 0.1f);
  EXPECT_EQ(As<double>(step.args[7].bytes), static_cast<double>(0.1f));  // the task declares the scalar as float32
  EXPECT_EQ(As<uint16_t>(step.args[8].bytes), HalfBits(0.1f));
  EXPECT_EQ(As<uint16_t>(step.args[9].bytes), BFloat16Bits(0.1f));
  EXPECT_EQ(step.args[10].name, "tm");
  ASSERT_EQ(step.args[11].fields.size(), 2u);
  EXPECT_EQ(step.args[11].name, "P");
  EXPECT_EQ(As<uint32_t>(step.args[11].fields[0].bytes), 8u);
  EXPECT_EQ(step.args[11].fields[1].byte_offset, 4);

  EXPECT_THAT(plan->steps[2].grid, ElementsAre(132 + 90 + 50, 1, 1));
  EXPECT_TRUE(plan->steps[2].programmatic_dependent_launch);
  EXPECT_EQ(plan->steps[2].binding_key, "VEC=4");
}

TEST(ResolvePlan, TheFirstAlternativeThatHoldsRuns) {
  const std::string plan =
      "[[launch]]\nkernel = \"a\"\ngrid = 1\nblock = 1\nargs = [\"out\"]\nwhen = \"d % 8 == 0\"\n"
      "[[launch]]\nkernel = \"b\"\ngrid = 1\nblock = 1\nargs = [\"out\"]\nwhen = \"d % 4 == 0\"\n"
      "[[launch]]\nkernel = \"c\"\ngrid = 1\nblock = 1\nargs = [\"out\"]\n";
  const auto kernel = [&](int64_t d) {
    return ResolveText(plan, {{"tokens", 1}, {"d", d}, {"ld", d}})->steps.at(0).kernel;
  };
  EXPECT_EQ(kernel(16), "a");
  EXPECT_EQ(kernel(12), "b");
  EXPECT_EQ(kernel(13), "c");
}

TEST(ResolvePlan, AStepWithoutAnAlternativeThatHoldsIsNamedWithTheCase) {
  const Status status =
      RefusalOf("[[launch]]\nkernel = \"a\"\ngrid = 1\nblock = 1\nargs = [\"out\"]\nwhen = \"d > 100\"\nstep = 2\n");
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("candidate.cu:3:"), HasSubstr("no alternative of step 2"), HasSubstr("d = 8")));
}

TEST(ResolvePlan, AnEmptyGridLaunchesNothingWhateverElseTheEntrySays) {
  const Dims empty = {{"tokens", 0}, {"d", 0}, {"ld", 1}};
  Result<ResolvedPlan> plan = ResolveText(
      "[[launch]]\nkernel = \"a\"\ngrid = [\"tokens\", 2]\nblock = \"min(d, 256)\"\nshared = \"100 / d\"\nargs = "
      "[\"out\"]\n",
      empty);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_TRUE(plan->steps.empty());
}

TEST(ResolvePlan, ADependentLaunchNeedsAKernelOfThisPlanBeforeIt) {
  const std::string plan =
      OneLaunch() + "[[launch]]\nkernel = \"late\"\ngrid = 1\nblock = 1\nargs = [\"out\"]\nstep = 1\npdl = true\n";
  EXPECT_TRUE(ResolveText(plan)->steps.at(1).programmatic_dependent_launch);
  // The first launch is dropped, so the second would depend on the harness.
  EXPECT_FALSE(ResolveText(plan, {{"tokens", 0}, {"d", 8}, {"ld", 8}})->steps.at(0).programmatic_dependent_launch);
}

TEST(ResolvePlan, LimitsOfTheDeviceAreResourceExhausted) {
  const auto launch = [](const std::string& grid, const std::string& block, const std::string& extra = "") {
    return "[[launch]]\nkernel = \"k\"\ngrid = " + grid + "\nblock = " + block + "\nargs = [\"out\"]\n" + extra + "\n";
  };
  struct Limit {
    std::string plan;
    const char* expected;
  };
  const Limit limits[] = {
      {launch("1", "4096"), "field 'block': '4096' is 4096"},
      {launch("1", "[512, 4]"), "2048 threads in a block"},
      {launch("1", "[1, 1, 65]"), "axis z takes at most 64"},
      {launch("2147483648", "1"), "field 'grid'"},
      {launch("[1, 65536]", "1"), "axis y takes at most 65535"},
      {launch("1", "32", "shared = 232449"), "232449 bytes of shared memory"},
      {launch("32", "32", "cluster = 32"), "axis x takes at most 16"},
      {launch("[8, 8]", "32", "cluster = [8, 4]"), "32 blocks in a cluster"},
  };
  for (const Limit& limit : limits) {
    const Status status = RefusalOf(limit.plan);
    EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << limit.plan;
    EXPECT_THAT(status.message(), AllOf(HasSubstr("candidate.cu:3: [[launch]]"), HasSubstr(limit.expected)));
  }
  EXPECT_TRUE(ResolveText(launch("2147483647", "1024", "shared = 232448")).ok());
  EXPECT_TRUE(ResolveText(launch("16", "32", "cluster = 16")).ok());
  DeviceFacts old = H200();
  old.cc_major = 8;
  EXPECT_THAT(RefusalOf(launch("16", "32", "cluster = 2"), kDims, old).message(), HasSubstr("compute capability 9.0"));
}

TEST(ResolvePlan, WhatMakesNoSenseIsInvalid) {
  const auto launch = [](const std::string& fields) {
    return "[[workspace]]\nname = \"w\"\nbytes = 16\n[[launch]]\nkernel = \"k\"\n" + fields + "\n";
  };
  struct Wrong {
    std::string plan;
    const char* expected;
  };
  const Wrong wrong[] = {
      {launch("grid = \"tokens / (d - 8)\"\nblock = 1\nargs = [\"out\"]"), "division by zero"},
      {launch("grid = \"tokens - 4\"\nblock = 1\nargs = [\"out\"]"), "field 'grid': 'tokens - 4' is -1"},
      {launch("grid = 1\nblock = \"d - 8\"\nargs = [\"out\"]"), "at least 1"},
      {launch("grid = 1\nblock = 1\nshared = \"0 - d\"\nargs = [\"out\"]"), "negative"},
      {launch("grid = 3\nblock = 1\ncluster = 2\nargs = [\"out\"]"), "no multiple of the cluster"},
      {launch("grid = 1\nblock = 1\nargs = [\"out\", \"d * 1000000000:i32\"]"), "does not fit in i32"},
      {launch("grid = 1\nblock = 1\nargs = [\"out\", \"0 - d:u64\"]"), "does not fit in u64"},
      {launch("grid = 1\nblock = 1\nargs = [\"out\", \"d:bool\"]"), "argument 2: 'd' is 8, which does not fit in bool"},
      {launch("grid = 1\nblock = 1\nargs = [\"out + 25\"]"), "outside of 'out' with its 48 bytes"},
      {launch("grid = 1\nblock = 1\nargs = [\"out\", \"w + 17\"]"), "outside of 'w'"},
      {launch("grid = 1\nblock = 1\nargs = [\"out\", \"x + (0 - 1)\"]"), "outside of 'x'"},
      {launch("grid = \"occupancy(other)\"\nblock = 1\nargs = [\"out\"]"), "launches 'k'"},
      {"[[memset]]\ntarget = \"out\"\nbytes = 49\n[[launch]]\nkernel = \"k\"\nstep = 1\ngrid = 1\nblock = 1\nargs = "
       "[\"out\"]\n",
       "49 bytes do not lie within 'out'"},
      {"[[workspace]]\nname = \"w\"\nbytes = \"d - 9\"\n" + OneLaunch(),
       "[[workspace]] 'w' field 'bytes': 'd - 9' is negative"},
      {"[[workspace]]\nname = \"w\"\nbytes = \"d * 4611686018427387904\"\n" + OneLaunch(), "64 bits"},
      {"[[tensor_map]]\nname = \"t\"\ntensor = \"x\"\ndims = [\"d\"]\nbox = [\"d - 8\"]\n" + OneLaunch(),
       "'d - 8' is 0, less than 1"},
  };
  for (const Wrong& one : wrong) {
    const Status status = RefusalOf(one.plan);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << one.plan;
    EXPECT_THAT(status.message(), AllOf(HasSubstr("candidate.cu"), HasSubstr(one.expected)));
  }
}

TEST(ResolvePlan, OnePastTheEndIsALegalPointer) {
  EXPECT_EQ(ResolveText("[[launch]]\nkernel = \"k\"\ngrid = 1\nblock = 1\nargs = [\"out + 24\"]\n")
                ->steps[0]
                .args[0]
                .byte_offset,
            48);
}

TEST(ResolvePlan, AlignAndStrideAreFactsOfTheCase) {
  const Candidate candidate = ParsePlan(
      "[[launch]]\nkernel = \"k\"\ngrid = 1\nblock = 1\nargs = [\"out\", \"align(x):i32\", \"align(s):i32\", "
      "\"stride(s, 0):i32\", \"stride(x, 0):i32\"]\n");
  const auto values = [&](const std::map<std::string, int64_t>& base_align) {
    Result<ResolvedPlan> plan = ResolvePlan(candidate, PlanTask(), kDims, {}, H200(), {}, base_align);
    std::vector<int32_t> numbers;
    for (size_t i = 1; i < 5; ++i) numbers.push_back(As<int32_t>(plan->steps[0].args[i].bytes));
    return numbers;
  };
  EXPECT_THAT(values({}), ElementsAre(16, 8, 16, 8));
  EXPECT_THAT(values({{"x", 256}}), ElementsAre(256, 8, 16, 8));
}

TEST(ResolvePlan, OccupancyIsAskedForTheEntrysOwnLaunch) {
  const Candidate candidate = ParsePlan(
      "[tune]\nVEC = [4]\n[[launch]]\nkernel = \"k<VEC>\"\ngrid = \"sm_count * occupancy(k<VEC>)\"\nblock = "
      "128\nshared = 100\nargs = [\"out\", \"occupancy():i32\"]\n");
  std::string asked_name;
  const OccupancyQuery query = [&](const std::string& kernel, const std::string& key, int64_t threads, int64_t shared) {
    asked_name = kernel + " " + key + " " + std::to_string(threads) + " " + std::to_string(shared);
    return Result<int64_t>(5);
  };
  Result<ResolvedPlan> plan = ResolvePlan(candidate, PlanTask(), kDims, {}, H200(), query);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(asked_name, "k<4> VEC=4 128 100");
  EXPECT_EQ(plan->steps[0].grid[0], 660);
  EXPECT_EQ(As<int32_t>(plan->steps[0].args[1].bytes), 5);
  // Before the kernel is compiled, occupancy() is the bound by threads: 2048 / 128 blocks.
  EXPECT_EQ(ResolvePlan(candidate, PlanTask(), kDims, {}, H200())->steps[0].grid[0], 132 * 16);
  const OccupancyQuery broken = [](auto&&...) { return Result<int64_t>(Status::Device("no such kernel")); };
  EXPECT_THAT(ResolvePlan(candidate, PlanTask(), kDims, {}, H200(), broken).status().message(),
              HasSubstr("no such kernel"));
}

TEST(ResolvePlan, BindingsOverrideDefaultsAndMustBeTunables) {
  const Candidate candidate =
      ParsePlan("[tune]\nVEC = [4, 8]\n[[launch]]\nkernel = \"k<VEC>\"\ngrid = \"VEC\"\nblock = 1\nargs = [\"out\"]\n");
  Result<ResolvedPlan> plan = ResolvePlan(candidate, PlanTask(), kDims, {{"VEC", 16}}, H200());
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->steps[0].kernel, "k<16>");
  EXPECT_EQ(plan->steps[0].grid[0], 16);
  EXPECT_THAT(ResolvePlan(candidate, PlanTask(), kDims, {{"VCE", 16}}, H200()).status().message(),
              HasSubstr("'VCE' is not a tunable"));
}

TEST(ResolvePlan, HostModeResolvesTheFunctionsArguments) {
  Result<ResolvedPlan> plan = ResolveText("mode = \"host\"\nfunction = \"run\"\nargs = [\"x\", \"out\", \"d:i64\"]\n");
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_EQ(plan->steps.size(), 1u);
  EXPECT_EQ(plan->steps[0].kernel, "run");
  EXPECT_EQ(As<int64_t>(plan->steps[0].args[2].bytes), 8);
}

}  // namespace
}  // namespace hone
