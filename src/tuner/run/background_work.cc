// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/background_work.h"

#include <utility>

namespace hone {

void BackgroundWork::Start(const std::string& key, std::function<Step()> work) {
  running_[key] = std::jthread([this, key, work = std::move(work)] {
    Step step = work();
    QueueStep([this, key, step = std::move(step)] {
      running_.erase(key);  // joins the thread, which has finished
      return step();
    });
  });
}

void BackgroundWork::QueueStep(Step step) {
  {
    std::lock_guard lock(mutex_);
    steps_.push_back(std::move(step));
  }
  arrived_.notify_one();
}

Status BackgroundWork::TakeOne() {
  Step step;
  {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return !steps_.empty(); });
    step = std::move(steps_.front());
    steps_.pop_front();
  }
  return step();
}

}  // namespace hone
