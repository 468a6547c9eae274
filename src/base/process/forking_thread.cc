// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/process/forking_thread.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

namespace hone {
namespace {

class ForkingThread {
 public:
  pid_t owner() const { return owner_; }

  // Hands `become` to the thread that forks, and waits for the result.
  Result<pid_t> Fork(const std::function<void()>& become) {
    std::unique_lock turn(turns_);
    std::unique_lock lock(mutex_);
    if (!started_) {
      // The thread and its children inherit this mask: signal handlers of this process must run in neither.
      sigset_t all, before;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
      try {
        std::thread([this] { Serve(); }).detach();
        started_ = true;
      } catch (const std::system_error& error) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        return Status::Unavailable("could not start the thread that creates processes: " + error.code().message());
      }
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    become_ = &become;
    changed_.notify_all();
    changed_.wait(lock, [this] { return become_ == nullptr; });
    if (pid_ < 0) return Status::Unavailable("could not create a process: " + std::generic_category().message(error_));
    return pid_;
  }

 private:
  // Runs the thread: forks for each request.
  void Serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return become_ != nullptr; });
      pid_ = fork();
      error_ = errno;
      if (pid_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != owner_) _exit(127);  // the parent had ended before prctl
        (*become_)();
        _exit(127);
      }
      become_ = nullptr;
      changed_.notify_all();
    }
  }

  const pid_t owner_ = getpid();
  std::mutex turns_;  // held by the thread being served
  std::mutex mutex_;
  std::condition_variable changed_;
  bool started_ = false;
  const std::function<void()>* become_ = nullptr;  // the next child's function; null: no request
  pid_t pid_ = -1;
  int error_ = 0;
};

// The object is never destroyed: threads may start children while the process ends.
ForkingThread& OfThisProcess() {
  static std::atomic<ForkingThread*> current{nullptr};
  ForkingThread* registered = current.load();
  // A forked process has its parent's memory but not its threads. The parent's object, in whatever state, is abandoned.
  while (registered == nullptr || registered->owner() != getpid()) {
    ForkingThread* const made = new ForkingThread;
    if (current.compare_exchange_strong(registered, made)) return *made;
    delete made;
  }
  return *registered;
}

}  // namespace

Result<pid_t> ForkTiedToThisProcess(const std::function<void()>& become) { return OfThisProcess().Fork(become); }

}  // namespace hone
