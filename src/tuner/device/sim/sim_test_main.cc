// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines main() for tests that run simulated kernels: as a child it serves its parent, otherwise it runs the tests.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "tuner/device/sim/sim_child.h"

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "__sim-child") == 0) return hone::SimChildMain(std::atoi(argv[3]));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
