// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the errors on a machine without a GPU, or with the wrong driver.
#include "tuner/device/cuda/cuda_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/device/cuda/cuda_facts.h"
#include "tuner/device/cuda/cuda_session.h"
#include "tuner/device/cuda/nvml.h"

namespace hone {
namespace {

using testing::HasSubstr;

TEST(CudaDriver, AMissingLibraryIsUnavailableWithARemedy) {
  const Status status = LoadCudaDriverFrom("libno-such-driver.so.1").status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("libno-such-driver.so.1"));
  EXPECT_THAT(status.message(), HasSubstr("Install the NVIDIA driver"));
  EXPECT_THAT(status.message(), HasSubstr("--device sim"));
}

TEST(CudaDriver, ALibraryWithoutTheEntryPointsIsTooOld) {
  const Status status = LoadCudaDriverFrom("libm.so.6").status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("it has no cuInit"));
}

TEST(CudaDriver, SessionsAndListsSayTheSameWithoutADriver) {
  if (LoadCudaDriver().ok()) GTEST_SKIP() << "this machine has a CUDA driver";
  const Status session = MakeCudaSession({}).status();
  EXPECT_EQ(session.code(), StatusCode::kUnavailable);
  EXPECT_EQ(ListCudaDevices().status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(session.message(), LoadCudaDriver().status().message());
}

TEST(CudaFacts, KnownChipsHaveTheirDatasheetRates) {
  DeviceFacts facts;
  facts.name = "NVIDIA H200";
  facts.cc_major = 9;
  facts.sm_count = 132;
  FillPeakRates(facts, 1.98e9, 4.9e12);
  EXPECT_DOUBLE_EQ(facts.memory_bandwidth, 4.8e12);
  EXPECT_DOUBLE_EQ(facts.tensor_bf16_flops, 989.4e12);
  EXPECT_DOUBLE_EQ(facts.l2_bandwidth, 132 * 64 * 1.98e9);
  facts.name = "NVIDIA H100 80GB HBM3";
  FillPeakRates(facts, 1.98e9, 3.3e12);
  EXPECT_DOUBLE_EQ(facts.memory_bandwidth, 3.35e12);
  facts.name = "NVIDIA H20";
  FillPeakRates(facts, 1.98e9, 3.3e12);
  EXPECT_DOUBLE_EQ(facts.tensor_bf16_flops, 148e12) << "an H20 is not an H200";
  facts.name = "NVIDIA L4";
  FillPeakRates(facts, 2.0e9, 3.0e11);
  EXPECT_DOUBLE_EQ(facts.memory_bandwidth, 0.3e12);
  facts.name = "NVIDIA L40S";
  FillPeakRates(facts, 2.5e9, 8.6e11);
  EXPECT_DOUBLE_EQ(facts.memory_bandwidth, 0.864e12);
}

TEST(CudaFacts, UnknownChipsAreWorkedOutFromClocks) {
  DeviceFacts facts;
  facts.name = "NVIDIA Something New";
  facts.cc_major = 8;
  facts.cc_minor = 0;
  facts.sm_count = 100;
  FillPeakRates(facts, 1e9, 1e12);
  EXPECT_DOUBLE_EQ(facts.memory_bandwidth, 1e12);
  EXPECT_DOUBLE_EQ(facts.fp32_flops, 100 * 128 * 1e9);
  EXPECT_DOUBLE_EQ(facts.tensor_bf16_flops, 100 * 2048 * 1e9);
}

TEST(Nvml, NamesWhatSlowsAGpuDown) {
  EXPECT_EQ(ThrottleText(0), "");
  EXPECT_EQ(ThrottleText(0x1 | 0x2), "") << "resting and chosen clocks are no throttling";
  EXPECT_EQ(ThrottleText(0x4), "software power cap");
  EXPECT_EQ(ThrottleText(0x8 | 0x40), "hardware slowdown, hardware thermal slowdown");
}

}  // namespace
}  // namespace hone
