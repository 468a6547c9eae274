// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs work (a request, an evaluation, a sweep) on background threads, and queues its results as steps, which the
// scheduler's thread executes one by one. Only that thread writes the log, updates the run's view and makes decisions.
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

  // Runs `work` on a new thread; TakeOne later executes the step that `work` returns. `key` identifies the work while
  // it runs; no other work may run under it. The caller must call TakeOne until none() before it destroys anything to
  // which `work` refers.
  void Start(const std::string& key, std::function<Step()> work);
  // Returns whether work with this key was started and its step has not been executed yet.
  bool IsRunning(const std::string& key) const { return running_.contains(key); }
  // Returns whether no work runs and every finished work's step has been executed.
  bool none() const { return running_.empty(); }

  // Queues a step. This is the only function that other threads may call.
  void QueueStep(Step step);
  // Waits for the next step, and executes it on the calling thread.
  Status TakeOne();

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;              // a step was queued
  std::deque<Step> steps_;                       // not executed yet
  std::map<std::string, std::jthread> running_;  // keyed by key; accessed only by the scheduler's thread
};

}  // namespace hone
