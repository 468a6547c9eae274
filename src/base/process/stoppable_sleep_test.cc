// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/process/stoppable_sleep.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

namespace hone {
namespace {

TEST(StoppableSleep, EndsByItselfOrWithAStop) {
  // On the stack, GCC 12 would warn that its own constructor uses it uninitialized.
  const auto source = std::make_unique<std::stop_source>();
  EXPECT_TRUE(StoppableSleep(0.001, source->get_token()));
  EXPECT_TRUE(StoppableSleep(0.001, {}));  // no stop can be requested
  // The time exceeds a clock's range, and still the sleep does not end at once: the stop comes during it.
  std::jthread asker([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    source->request_stop();
  });
  EXPECT_FALSE(StoppableSleep(1e300, source->get_token()));
  EXPECT_FALSE(StoppableSleep(1000, source->get_token()));
}

}  // namespace
}  // namespace hone
