// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/launch_errors.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(LaunchErrors, FaultsOfAKernelAreCrashesAndEndTheContext) {
  for (CUresult result : {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_MISALIGNED_ADDRESS, CUDA_ERROR_LAUNCH_FAILED,
                          CUDA_ERROR_ASSERT, CUDA_ERROR_ILLEGAL_INSTRUCTION, CUDA_ERROR_HARDWARE_STACK_ERROR}) {
    EXPECT_EQ(LaunchStatusOf(result), LaunchStatus::kCrashed);
    EXPECT_TRUE(IsSticky(result));
  }
  EXPECT_EQ(LaunchStatusOf(CUDA_ERROR_LAUNCH_TIMEOUT), LaunchStatus::kTimedOut);
  EXPECT_TRUE(IsSticky(CUDA_ERROR_LAUNCH_TIMEOUT));
}

TEST(LaunchErrors, RefusalsLeaveTheContextUsable) {
  for (CUresult result : {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_FOUND, CUDA_ERROR_INVALID_IMAGE}) {
    EXPECT_EQ(LaunchStatusOf(result), LaunchStatus::kLaunchError);
    EXPECT_FALSE(IsSticky(result));
  }
  for (CUresult result : {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                          CUDA_ERROR_OUT_OF_MEMORY}) {
    EXPECT_EQ(LaunchStatusOf(result), LaunchStatus::kResourceLimit);
    EXPECT_FALSE(IsSticky(result));
  }
}

TEST(LaunchErrors, WhatIsNotTheCandidatesDoingHasNoOutcome) {
  for (CUresult result : {CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_UNKNOWN, CUDA_ERROR_DEVICE_UNAVAILABLE,
                          CUDA_ERROR_SYSTEM_NOT_READY}) {
    EXPECT_EQ(LaunchStatusOf(result), std::nullopt);
    EXPECT_TRUE(IsSticky(result));
  }
}

}  // namespace
}  // namespace hone
