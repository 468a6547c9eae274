// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lets tests skip what needs a GPU where there is none. Under the emulated runtime there always is a device.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace hone {

inline bool NoDevice() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0;
}

}  // namespace hone

// Skips the test if there is no device. Use it in a test or in a fixture's SetUp.
#define HONE_REQUIRE_DEVICE() \
  if (::hone::NoDevice()) GTEST_SKIP() << "no NVIDIA GPU"
