// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Handles Ctrl-C. By default a signal ends a command at once and removes its temporary folders. If a command can stop
// cleanly, the first signal requests that, and the second ends the process; nothing that is stored is lost.
#pragma once

#include <csignal>
#include <functional>
#include <stop_token>
#include <thread>

namespace hone {

// Makes SIGINT, SIGTERM and SIGHUP end the process after removing its temporary folders; a signal that is ignored
// (nohup, a shell's background) stays so. Call it once, from main.
void RemoveTemporariesOnSignals();

// While an object lives, SIGINT and SIGTERM become a stop request. Only one object may live at a time.
class SignalStop {
 public:
  // `before_end`, if any, is called before a signal ends the process while this object lives: from a thread of its own,
  // while all others continue.
  explicit SignalStop(std::function<void()> before_end = {});
  ~SignalStop();
  SignalStop(const SignalStop&) = delete;
  SignalStop& operator=(const SignalStop&) = delete;
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
  std::jthread watcher_;
};

}  // namespace hone
