// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: what needs a device is left out where there is none. Under the emulated runtime there always is one.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace hone {

inline bool NoDevice() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0;
}

}  // namespace hone

// In a test or a fixture's SetUp.
#define HONE_REQUIRE_DEVICE() \
  if (::hone::NoDevice()) GTEST_SKIP() << "no NVIDIA GPU"
