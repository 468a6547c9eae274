// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs one simulated launch on the child's OS threads and adds up their counters.
#pragma once

#include <memory>

#include "tuner/device/sim/image/image.h"
#include "tuner/device/sim/worker/launch_types.h"

namespace hone::sim {

class Worker;

// Owns the OS threads, which wait between launches. Not thread-safe: one launch at a time, always from the OS thread
// that made it, which is the first worker itself.
class LaunchRunner {
 public:
  explicit LaunchRunner(int workers);
  ~LaunchRunner();

  // Returns when the launch has ended, however it did; never if a candidate loops for ever.
  LaunchReport Run(const LaunchSpec& spec, const Image& image);

 private:
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace hone::sim
