// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The test program of the emulated runtime. HONE_EMULATED_ORDER=n asks for the order of seed n (runtime.h).
#include <gtest/gtest.h>

#include <cstdlib>

#include "gnn/cuda/emulated/runtime.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (const char* order = std::getenv("HONE_EMULATED_ORDER"); order != nullptr) {
    hone::gnn::cuda::emulated::SetOrder(std::strtoull(order, nullptr, 10));
  }
  return RUN_ALL_TESTS();
}
