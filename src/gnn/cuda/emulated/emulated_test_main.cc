// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The main function of the emulated runtime's tests. HONE_EMULATED_ORDER=n selects the order of seed n (runtime.h).
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "gnn/cuda/emulated/runtime.h"

namespace {

// Gives every test the selected order, and checks at the test's end that all memory has been freed.
class DeviceBetweenTests : public testing::EmptyTestEventListener {
 public:
  explicit DeviceBetweenTests(uint64_t order) : order_(order) {}
  void OnTestStart(const testing::TestInfo&) override { hone::gnn::cuda::emulated::SetOrder(order_); }
  void OnTestEnd(const testing::TestInfo&) override {
    EXPECT_EQ(hone::gnn::cuda::emulated::Fault(), "");
    EXPECT_EQ(hone::gnn::cuda::emulated::LiveAllocations(), 0u);
    hone::gnn::cuda::emulated::ClearFault();
  }

 private:
  uint64_t order_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const char* const order = std::getenv("HONE_EMULATED_ORDER");
  testing::UnitTest::GetInstance()->listeners().Append(
      new DeviceBetweenTests(order == nullptr ? 0 : std::strtoull(order, nullptr, 10)));
  return RUN_ALL_TESTS();
}
