// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs work on background threads (a request, an evaluation, a sweep) and queues the results as steps that the
// scheduler's thread executes one by one. So the log, the fold and every decision belong to one thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "hone/base/status.h"

namespace hone {

class BackgroundWork {
 public:
  using Step = std::function<Status()>;

  // Runs `work` on a new thread; TakeOne executes the step that it returns. `key` identifies the work while it runs,
  // and must not be running. The caller must drain (TakeOne until none()) before it destroys anything to which `work`
  // refers.
  void Start(const std::string& key, std::function<Step()> work);
  bool Running(const std::string& key) const { return running_.contains(key); }
  bool none() const { return running_.empty(); }

  // Queues a step. This is the only member that other threads may call.
  void Put(Step step);
  // Waits for the next step, and executes it on the calling thread.
  Status TakeOne();

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Step> steps_;
  std::map<std::string, std::jthread> running_;  // accessed only by the scheduler's thread
};

}  // namespace hone
