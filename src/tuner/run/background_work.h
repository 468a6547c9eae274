// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Work that runs in threads of its own (a request, an evaluation, a sweep), and what came of it, as steps that the
// scheduler's thread takes one by one. So the log, the fold and every decision belong to one thread.
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

  // Runs `work` in a thread; the step that it returns is taken by TakeOne. `key` names it while it runs, and must not
  // be running. The caller drains (TakeOne until none()) before it destroys what `work` refers to.
  void Start(const std::string& key, std::function<Step()> work);
  bool Running(const std::string& key) const { return running_.contains(key); }
  bool none() const { return running_.empty(); }

  // Hands over a step. The only member that other threads may call.
  void Put(Step step);
  // Waits for the next step, and takes it in the calling thread.
  Status TakeOne();

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Step> steps_;
  std::map<std::string, std::jthread> running_;  // touched by the scheduler's thread alone
};

}  // namespace hone
