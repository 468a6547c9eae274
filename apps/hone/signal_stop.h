// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C as a request to stop: the first one asks for a clean end, the second ends the process at once, which costs
// nothing that is stored.
#pragma once

#include <csignal>
#include <stop_token>
#include <thread>

namespace hone {

// Turns SIGINT and SIGTERM into a stop request while it lives. One at a time.
class SignalStop {
 public:
  SignalStop();
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
