// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone/signal_stop.h"

#include <unistd.h>

#include <atomic>
#include <chrono>

namespace hone {
namespace {

std::atomic<int> signals_seen{0};

// A handler may not do more than set a flag.
void OnSignal(int) {
  if (signals_seen.fetch_add(1) > 0) _exit(130);
}

}  // namespace

SignalStop::SignalStop() {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
  watcher_ = std::jthread([this](std::stop_token done) {
    while (!done.stop_requested()) {
      if (signals_seen > 0) {
        source_.request_stop();
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
}

SignalStop::~SignalStop() {
  watcher_.request_stop();
  watcher_.join();
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
}

}  // namespace hone
