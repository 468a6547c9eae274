// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that nothing survives from launch to launch: probes try to keep data in constant, shared and local memory and
// in L2, and each succeeds if the protection is switched off and fails if it is on. Skips, with the reason, without a
// GPU.
#include <gmock/gmock.h>

#include <cstdio>
#include <vector>

#include "tuner/device/cuda/session_test_support.h"

extern "C" {
extern const unsigned char hone_gpu_test_fatbin[];
extern const unsigned long hone_gpu_test_fatbin_size;
}

namespace hone::test {
namespace {

const std::vector<std::string> kProbes = {"count_in_constant", "leave_in_shared", "find_in_shared", "leave_in_local",
                                          "find_in_local",     "read_to_stay",    "read_once",      "look_around"};

// Makes a session with or without the tested protection.
Result<std::unique_ptr<DeviceSession>> SessionWith(bool keep_constants, bool scrub) {
  return MakeCudaSession({.keep_constants = keep_constants, .mark_surroundings = keep_constants, .scrub = scrub});
}

struct Probe {
  std::unique_ptr<LoadedProgram> program;
  TensorView out = View(DType::kFloat32, {4096}, -1);
  std::unique_ptr<Arena> arena;
  Bindings bindings;

  explicit Probe(DeviceSession& session) {
    std::vector<DeviceGlobal> globals = {{"kept_constant", 4, false, true}, {"kept_constants", 4000, false, true},
                                         {"lonely_global", 4, true, true}};
    const std::string image(reinterpret_cast<const char*>(hone_gpu_test_fatbin), hone_gpu_test_fatbin_size);
    program = Load(session, Program(image, kProbes, std::move(globals)));
    arena = PlaceApart(session, {&out}, {false});
    bindings.tensors = {{"out", out}};
  }
  // Returns out[0] and out[1] after the launch.
  std::vector<float> Run(DeviceSession& session, ResolvedStep step) {
    EXPECT_TRUE(session.Fill(out.address, out.span_bytes, 0).ok());
    const LaunchOutcome outcome = Launch(session, *program, Plan({std::move(step)}), bindings);
    EXPECT_EQ(outcome.status, LaunchStatus::kOk) << outcome.detail;
    return Read<float>(session, out);
  }
};

TEST(NothingSurvives, InConstantMemory) {
  HONE_REQUIRE_SESSION();
  for (const bool gate : {true, false}) {
    Result<std::unique_ptr<DeviceSession>> own = SessionWith(gate, /*scrub=*/true);
    ASSERT_TRUE(own.ok()) << own.status().message();
    Probe probe(**own);
    const ResolvedStep count = Step("count_in_constant", {Tensor("out")});
    probe.Run(**own, count);
    EXPECT_EQ(*(*own)->GlobalsChanged(*probe.program), gate);
    const std::vector<float> second = probe.Run(**own, count);
    EXPECT_EQ(second[0], gate ? 5.0f : 6.0f);
    EXPECT_EQ(second[1], gate ? 0.0f : 7.0f);
  }
  (void)session;
}

TEST(NothingSurvives, InSharedMemory) {
  HONE_REQUIRE_SESSION();
  const auto bytes = session.facts().smem_optin / 16 * 16;
  const auto words = static_cast<int32_t>(bytes / 4);
  for (const bool gate : {true, false}) {
    Result<std::unique_ptr<DeviceSession>> own = SessionWith(/*keep_constants=*/true, gate);
    ASSERT_TRUE(own.ok()) << own.status().message();
    Probe probe(**own);
    float found = 0;
    for (int i = 0; i < 5; ++i) {
      ResolvedStep leave = Step("leave_in_shared", {Tensor("out"), Value<uint32_t>(0xabcd1234), Value<int32_t>(words)},
                                session.facts().sm_count, 256);
      ResolvedStep find = Step("find_in_shared", {Tensor("out"), Value<uint32_t>(0xabcd1234), Value<int32_t>(words)},
                               session.facts().sm_count, 256);
      leave.shared_bytes = find.shared_bytes = bytes;
      probe.Run(**own, leave);
      found += probe.Run(**own, find)[0];
    }
    std::printf("shared memory, %s: %.0f words found again\n", gate ? "scrubbed" : "as it was", static_cast<double>(found));
    if (gate) {
      EXPECT_EQ(found, 0.0f);
    } else {
      EXPECT_GT(found, 0.0f) << "the probe itself finds nothing";
    }
  }
}

TEST(NothingSurvives, InLocalMemory) {
  HONE_REQUIRE_SESSION();
  for (const bool gate : {true, false}) {
    Result<std::unique_ptr<DeviceSession>> own = SessionWith(/*keep_constants=*/true, gate);
    ASSERT_TRUE(own.ok()) << own.status().message();
    Probe probe(**own);
    float found = 0;
    for (int i = 0; i < 5; ++i) {
      const int64_t blocks = session.facts().sm_count * int64_t{2};
      probe.Run(**own, Step("leave_in_local", {Tensor("out"), Value<uint32_t>(0xabcd1234), Value<int32_t>(0)}, blocks, 1024));
      found += probe.Run(**own, Step("find_in_local", {Tensor("out"), Value<uint32_t>(0xabcd1234), Value<int32_t>(0)}, blocks, 1024))[0];
    }
    std::printf("local memory, %s: %.0f words found again\n", gate ? "scrubbed" : "as it was", static_cast<double>(found));
    if (gate) {
      EXPECT_EQ(found, 0.0f);
    } else {
      EXPECT_GT(found, 0.0f) << "the probe itself finds nothing";
    }
  }
}

// A cold sample after a launch that asked L2 to keep its lines is as cold as one after a launch that did not. As a
// control, warm samples of the same kernel are faster.
TEST(NothingSurvives, InL2) {
  HONE_REQUIRE_SESSION();
  Probe probe(session);
  const int64_t bytes = session.facts().l2_bytes / 4 / 4096 * 4096;
  TensorView x = View(DType::kFloat32, {bytes / 4}, -1);
  const std::unique_ptr<Arena> arena = PlaceApart(session, {&x}, {true});
  HONE_ASSERT_OK(session.Fill(x.address, bytes, 0));
  probe.bindings.tensors["x"] = x;
  const auto sample = [&](const char* kernel, CacheState cache) {
    const ResolvedPlan plan = Plan({Step(kernel, {Tensor("x"), Tensor("out"), Value<int32_t>(static_cast<int32_t>(bytes / 16))},
                                         session.facts().sm_count * int64_t{8}, 256)});
    std::vector<double> times;
    for (int i = 0; i < 21; ++i) {
      Result<SampleOutcome> outcome =
          session.TimeSample({.program = probe.program.get(), .plan = &plan, .sets = {&probe.bindings}, .cache = cache});
      EXPECT_TRUE(outcome.ok() && outcome->launch.status == LaunchStatus::kOk);
      if (outcome.ok()) times.push_back(outcome->us_per_plan);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  };
  const double warm = sample("read_once", CacheState::kWarm), cold = sample("read_once", CacheState::kCold);
  const double time_of_kept = sample("read_to_stay", CacheState::kCold);
  const double after = sample("read_once", CacheState::kCold);
  std::printf("reading %.1f MB: warm %.2f us, cold %.2f us, cold with evict_last %.2f us, cold after that %.2f us\n",
              static_cast<double>(bytes) / 1e6, warm, cold, time_of_kept, after);
  ASSERT_LT(warm, 0.9 * cold) << "the instrument cannot tell warm from cold";
  const double nearly_cold = cold - 0.3 * (cold - warm);
  EXPECT_GT(time_of_kept, nearly_cold);
  EXPECT_GT(after, nearly_cold);
}

// The bytes beside a variable belong to no tensor, and a kernel could keep two megabytes there.
TEST(NothingSurvives, BesideAVariable) {
  HONE_REQUIRE_SESSION();
  for (const bool gate : {true, false}) {
    Result<std::unique_ptr<DeviceSession>> own = SessionWith(gate, /*scrub=*/true);
    ASSERT_TRUE(own.ok()) << own.status().message();
    Probe probe(**own);
    const auto look = [&](int64_t first, int write_at) {
      return probe.Run(**own, Step("look_around", {Tensor("out"), Value<int64_t>(first), Value<int32_t>(64),
                                                   Value<int32_t>(write_at), Value<uint32_t>(0x5eed5eed)}));
    };
    for (const int64_t first : {int64_t{64}, int64_t{1024}, int64_t{100'000}}) {
      look(first, -1);
      EXPECT_FALSE(*(*own)->GlobalsChanged(*probe.program)) << "looking changes nothing";
      look(first, 3);
      EXPECT_EQ(*(*own)->GlobalsChanged(*probe.program), gate) << first;
    }
    const std::vector<float> kept_words = look(1024, -1);
    uint32_t word;
    std::memcpy(&word, &kept_words[3], 4);
    EXPECT_EQ(word, 0x5eed5eedu) << "there is nothing to be kept there: the gate is not needed";
  }
  (void)session;
}

}  // namespace
}  // namespace hone::test
