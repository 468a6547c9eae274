// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This is the main function of test programs that compile with NVRTC. The compiler starts the test program again as a
// zygote, and then it acts as one.
#include <cstdlib>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/evaluate/compile/nvrtc_zygote.h"

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "__nvrtc-zygote") == 0) return hone::NvrtcZygoteMain(std::atoi(argv[3]));
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
