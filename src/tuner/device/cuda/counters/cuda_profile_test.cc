// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the CUDA session's use of a counter source on the fake driver, in the way used under ncu.
#include <gmock/gmock.h>

#include "tuner/device/cuda/session_test_support.h"

extern "C" {
extern const unsigned char hone_session_test_fatbin[];
extern const unsigned long hone_session_test_fatbin_size;
}

namespace hone::test {
namespace {

TEST(CudaProfile, KernelsAreDescribedInOrderAndThePlanRunsOnce) {
  CudaSessionOptions options;
  options.counted_by_ncu = true;
  Result<std::unique_ptr<DeviceSession>> session_or_error = MakeCudaSession(options);
  ASSERT_TRUE(session_or_error.ok()) << session_or_error.status().message();
  DeviceSession& session = **session_or_error;
  const std::string image(reinterpret_cast<const char*>(hone_session_test_fatbin), hone_session_test_fatbin_size);
  std::unique_ptr<LoadedProgram> program = Load(session, Program(image, {"increment"}));
  ASSERT_NE(program, nullptr);
  TensorView out = View(DType::kFloat32, {1000}, 0);
  std::unique_ptr<Arena> arena = Place(session, {&out});
  ASSERT_NE(arena, nullptr);
  Bindings bindings;
  bindings.tensors["out"] = out;
  const ResolvedPlan plan = Plan({Memset("out", 0, 4000), Step("increment", {Tensor("out"), Value<int32_t>(1000)}, 4, 256),
                                  Step("increment", {Tensor("out"), Value<int32_t>(500)}, 2, 128)});
  int prepared = 0;
  ProfileRequest request;
  request.program = program.get();
  request.plan = &plan;
  request.bindings = &bindings;
  request.prepare = [&] {
    ++prepared;
    return session.Fill(out.address, out.span_bytes, 0x40);
  };
  const Result<ProfileOutcome> profiled = session.Profile(request);
  ASSERT_TRUE(profiled.ok()) << profiled.status().message();
  EXPECT_EQ(profiled->launch.status, LaunchStatus::kOk) << profiled->launch.detail;
  EXPECT_EQ(profiled->unavailable, "");
  EXPECT_EQ(profiled->source, "ncu");
  EXPECT_EQ(prepared, 1);
  ASSERT_EQ(profiled->kernels.size(), 2u);
  EXPECT_EQ(profiled->kernels[0].kernel, "increment");
  EXPECT_EQ(profiled->kernels[0].blocks, 4);
  EXPECT_EQ(profiled->kernels[0].threads_per_block, 256);
  EXPECT_EQ(profiled->kernels[1].blocks, 2);
  const std::vector<float> values = Read<float>(session, out);
  EXPECT_EQ(values[0], 2);
  EXPECT_EQ(values[999], 1);
}

}  // namespace
}  // namespace hone::test
