// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone/signal_stop.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <utility>

#include "base/files/file.h"

namespace hone {
namespace {

std::atomic<int> signals_seen{0};
int to_ender = -1;  // a pipe to the thread that ends the process; -1: there is none

// The work that a command must do before a signal ends it. The object is never destroyed, because a thread may use it
// while the process ends.
struct LastWork {
  std::mutex mutex;
  std::function<void()> work;
};
LastWork& TheLastWork() {
  static LastWork* const last = new LastWork;
  return *last;
}
void SetLastWork(std::function<void()> work) {
  const std::lock_guard lock(TheLastWork().mutex);
  TheLastWork().work = std::move(work);
}

// Handles a signal. A handler may do no more than write a byte or set a flag.
void EndProcess(int number) {
  const int error = errno;
  const char byte = static_cast<char>(number);
  if (to_ender < 0 || write(to_ender, &byte, 1) != 1) _exit(128 + number);
  errno = error;
}

void OnSignal(int number) {
  if (signals_seen.fetch_add(1) > 0) EndProcess(number);
}

}  // namespace

void RemoveTemporariesOnSignals() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return;  // then signals end it like any process, and the next run removes its leftovers
  to_ender = ends[1];
  std::thread([from = ends[0]] {
    char number = 0;
    while (read(from, &number, 1) != 1) {
    }
    LastWork& last = TheLastWork();
    last.mutex.lock();  // never unlocked: the data it protects stays unchanged until the end
    if (last.work) last.work();
    EndBySignalWithoutTemporaries(number);
  }).detach();
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {}, before {};
    action.sa_handler = EndProcess;
    action.sa_flags = SA_RESTART;
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
}

SignalStop::SignalStop(std::function<void()> before_end) {
  SetLastWork(std::move(before_end));
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
  SetLastWork({});
}

}  // namespace hone
