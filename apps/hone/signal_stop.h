// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C. It ends a command at once and takes the command's temporary folders with it; where a command can stop cleanly,
// the first one is a request to do so, and the second ends it, which costs nothing that is stored.
#pragma once

#include <csignal>
#include <functional>
#include <stop_token>
#include <thread>

namespace hone {

// From here on SIGINT, SIGTERM and SIGHUP end the process after seeing to its temporary folders; one that is ignored (nohup,
// a shell's background) stays so. Once, from main.
void RemoveTemporariesOnSignals();

// Turns SIGINT and SIGTERM into a stop request while it lives. One at a time.
class SignalStop {
 public:
  // `before_end`, if any, is called before a signal ends the process while this lives: from a thread of its own, while
  // all others go on.
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
