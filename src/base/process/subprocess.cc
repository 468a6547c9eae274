// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See subprocess.h. Between fork and exec a child of a threaded program may call only async-signal-safe functions, so
// everything it needs (arrays for exec, sandbox rules, the filter) is made before the fork. Failures are reported to
// the parent through a pipe that a successful exec closes.
#include "base/process/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "base/process/forking_thread.h"
#include "base/process/frames.h"

namespace hone {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kFirstFreeDescriptor = 100;  // above every number a child may be given

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string ErrorText(int error) { return std::generic_category().message(error); }

// A message through the pipe, from a child that could not execute the program. Parent and child are the same image, so
// the address of a string constant is valid in both.
struct StartFailure {
  const char* step;
  int error;
};

// Data that the forked child needs; nothing here allocates once built.
struct ChildPlan {
  std::vector<char*> argv, environment;
  const char* working_directory = nullptr;
  const Sandbox* sandbox = nullptr;
  std::vector<std::pair<int, int>> descriptors;  // sources lifted to kFirstFreeDescriptor and above
  int status_fd = -1;
};

// Marks every descriptor from `first` on to be closed by exec.
void CloseOnExecFrom(int first) {
#ifdef SYS_close_range
  constexpr unsigned kCloexec = 1u << 2;  // CLOSE_RANGE_CLOEXEC, which older headers lack
  if (syscall(SYS_close_range, static_cast<unsigned>(first), ~0u, kCloexec) == 0) return;
#endif
  rlimit limit{};
  int end = 65536;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536) end = static_cast<int>(limit.rlim_cur);
  for (int fd = first; fd < end; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

// Prepares the forked child and executes the program. A failure is written to the status pipe, and the child exits with
// status 127, as a shell does for a program that it cannot run.
[[noreturn]] void BecomeProgram(const ChildPlan& plan) {
  const auto fail = [&](const char* step, int error) {
    const StartFailure failure{step, error};
    (void)!write(plan.status_fd, &failure, sizeof(failure));
    _exit(127);
  };
  // Ignored signals stay ignored after exec, and the child must not inherit that from this process.
  struct sigaction default_action {};
  default_action.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) sigaction(number, &default_action, nullptr);
  sigset_t no_signals;
  sigemptyset(&no_signals);
  sigprocmask(SIG_SETMASK, &no_signals, nullptr);

  if (setpgid(0, 0) != 0) fail("make a process group", errno);
  CloseOnExecFrom(3);
  for (const auto& [source, target] : plan.descriptors) {
    if (dup2(source, target) < 0) fail("hand over a descriptor", errno);
  }
  if (plan.working_directory != nullptr && chdir(plan.working_directory) != 0) {
    fail("enter the working directory", errno);
  }
  if (plan.sandbox != nullptr) {
    const Sandbox::Failure failure = plan.sandbox->Enter();
    if (failure.step != nullptr) fail(failure.step, failure.error);
  }
  execve(plan.argv[0], plan.argv.data(), plan.environment.data());
  fail("start the program", errno);
  _exit(127);
}

// Duplicates a descriptor to a number that no child is given.
Result<UniqueFd> DuplicateAboveChildren(int fd) {
  UniqueFd high_descriptors(fcntl(fd, F_DUPFD_CLOEXEC, kFirstFreeDescriptor));
  if (!high_descriptors.valid())
    return Status::Io(fmt::format("could not copy descriptor {}: {}", fd, ErrorText(errno)));
  return high_descriptors;
}

void SetNonBlocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

struct Pipe {
  UniqueFd read, write;
};
Result<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Status::Io("could not make a pipe: " + ErrorText(errno));
  Pipe pipe_ends;
  pipe_ends.read.Reset(ends[0]);
  pipe_ends.write.Reset(ends[1]);
  return pipe_ends;
}

}  // namespace

std::string ExitState::Describe() const {
  if (signal == 0) return fmt::format("exit status {}", exit_status);
  const char* name = strsignal(signal);
  return fmt::format("signal {} ({}){}", signal, name != nullptr ? name : "?", killed_by_us ? ", sent by Hone" : "");
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept { *this = std::move(other); }

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this != &other) {
    Kill();
    Reap();
    pid_ = std::exchange(other.pid_, -1);
    pidfd_ = std::move(other.pidfd_);
    killed_ = other.killed_;
    state_ = std::move(other.state_);
    report_ = std::move(other.report_);
  }
  return *this;
}

ChildProcess::~ChildProcess() {
  Kill();
  Reap();
}

Result<ChildProcess> ChildProcess::Start(const ChildOptions& options) {
  HONE_CHECK(!options.argv.empty(), "a child needs a program");
  std::optional<Sandbox> sandbox;
  if (options.sandbox) {
    HONE_ASSIGN_OR_RETURN(Sandbox prepared, Sandbox::Prepare(*options.sandbox));
    sandbox.emplace(std::move(prepared));
  }

  ChildPlan plan;
  for (const std::string& word : options.argv) plan.argv.push_back(const_cast<char*>(word.c_str()));
  plan.argv.push_back(nullptr);
  for (const std::string& entry : options.environment) plan.environment.push_back(const_cast<char*>(entry.c_str()));
  plan.environment.push_back(nullptr);
  if (!options.working_directory.empty()) plan.working_directory = options.working_directory.c_str();
  if (sandbox) plan.sandbox = &*sandbox;

  // Sources get high numbers first, so that handing over both 5 -> 4 and 4 -> 5 works.
  std::vector<UniqueFd> high_descriptors;
  bool is_given[3] = {false, false, false};
  for (const auto& [source, target] : options.descriptors) {
    HONE_CHECK(target >= 0 && target < kFirstFreeDescriptor, "a descriptor's number in the child is out of range");
    HONE_ASSIGN_OR_RETURN(UniqueFd copy, DuplicateAboveChildren(source));
    plan.descriptors.emplace_back(copy.get(), target);
    high_descriptors.push_back(std::move(copy));
    if (target < 3) is_given[target] = true;
  }
  for (int target = 0; target < 3; ++target) {
    if (is_given[target]) continue;
    const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!null.valid()) return Status::Io(ErrnoMessage("open", "/dev/null", errno));
    HONE_ASSIGN_OR_RETURN(UniqueFd copy, DuplicateAboveChildren(null.get()));
    plan.descriptors.emplace_back(copy.get(), target);
    high_descriptors.push_back(std::move(copy));
  }
  HONE_ASSIGN_OR_RETURN(Pipe status, MakePipe());
  HONE_ASSIGN_OR_RETURN(UniqueFd status_write, DuplicateAboveChildren(status.write.get()));
  status.write.Reset();
  plan.status_fd = status_write.get();

  HONE_ASSIGN_OR_RETURN(const pid_t pid, ForkTiedToThisProcess([&plan] { BecomeProgram(plan); }));
  ChildProcess child;
  child.pid_ = pid;
  if (sandbox) child.report_ = sandbox->report();
#ifdef SYS_pidfd_open
  child.pidfd_.Reset(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (child.pidfd_.valid()) fcntl(child.pidfd_.get(), F_SETFD, FD_CLOEXEC);
#endif
  status_write.Reset();

  StartFailure failure{};
  ssize_t bytes_read;
  do {
    bytes_read = read(status.read.get(), &failure, sizeof(failure));
  } while (bytes_read < 0 && errno == EINTR);
  if (bytes_read == static_cast<ssize_t>(sizeof(failure))) {
    child.Wait(-1);
    const std::string message =
        fmt::format("could not run '{}': failed to {}: {}", options.argv[0], failure.step, ErrorText(failure.error));
    return failure.error == ENOENT ? Status::NotFound(message) : Status::Unavailable(message);
  }
  return child;
}

std::optional<ExitState> ChildProcess::Wait(double timeout_seconds) {
  if (state_ || pid_ < 0) return state_;
  if (timeout_seconds >= 0) {
    if (pidfd_.valid()) {
      const Result<bool> ended = WaitReadable(pidfd_.get(), timeout_seconds);
      if (ended.ok() && !*ended) return std::nullopt;
    } else {
      const Clock::time_point start = Clock::now();
      for (;;) {
        siginfo_t info{};
        const int waited = waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
        if (waited == 0 && info.si_pid == pid_) break;
        if (SecondsSince(start) >= timeout_seconds) return std::nullopt;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    }
  }
  Reap();
  return state_;
}

void ChildProcess::Kill() {
  if (pid_ < 0 || state_) return;
  killed_ = true;
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);  // in case it died before it had a group
}

void ChildProcess::Reap() {
  if (pid_ < 0 || state_) return;
  // The child is dead but not yet reaped, so its number and its group's cannot have been reused. The rest of the group
  // is killed now.
  siginfo_t info{};
  while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  kill(-pid_, SIGKILL);
  int wait_status = 0;
  rusage usage{};
  pid_t reaped;
  do {
    reaped = wait4(pid_, &wait_status, 0, &usage);
  } while (reaped < 0 && errno == EINTR);
  ExitState state;
  if (reaped == pid_) {
    if (WIFSIGNALED(wait_status)) {
      state.signal = WTERMSIG(wait_status);
      state.killed_by_us = killed_ && state.signal == SIGKILL;
    } else {
      state.exit_status = WEXITSTATUS(wait_status);
    }
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    state.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    state.peak_bytes = int64_t{usage.ru_maxrss} * 1024;
  } else {
    state.signal = SIGKILL;  // another part of the program reaped it (SIGCHLD ignored); its real state is lost
  }
  state_ = state;
}

void CappedText::Append(const char* bytes, size_t size) {
  total_ += static_cast<int64_t>(size);
  // The first half_ bytes fill head_. Of the rest, tail_ keeps the last half_ bytes as a ring that tail_next_ points
  // into.
  const size_t half_capacity = static_cast<size_t>(half_);
  if (head_.size() < half_capacity) {
    const size_t head_bytes = std::min(size, half_capacity - head_.size());
    head_.append(bytes, head_bytes);
    bytes += head_bytes;
    size -= head_bytes;
  }
  if (half_capacity == 0) return;
  if (size > half_capacity) {  // only the end of the new text can remain
    bytes += size - half_capacity;
    size = half_capacity;
  }
  while (size > 0) {
    if (tail_.size() < half_capacity) {
      const size_t tail_bytes = std::min(size, half_capacity - tail_.size());
      tail_.append(bytes, tail_bytes);
      bytes += tail_bytes;
      size -= tail_bytes;
      tail_next_ = tail_.size() % half_capacity;
    } else {
      const size_t bytes_before_wrap = std::min(size, half_capacity - tail_next_);
      std::memcpy(tail_.data() + tail_next_, bytes, bytes_before_wrap);
      bytes += bytes_before_wrap;
      size -= bytes_before_wrap;
      tail_next_ = (tail_next_ + bytes_before_wrap) % half_capacity;
    }
  }
}

std::string CappedText::Text() const {
  const int64_t kept_bytes = static_cast<int64_t>(head_.size() + tail_.size());
  const bool full = tail_.size() == static_cast<size_t>(half_);
  const std::string tail = full ? tail_.substr(tail_next_) + tail_.substr(0, tail_next_) : tail_;
  if (total_ == kept_bytes) return head_ + tail;
  return fmt::format("{}\n[... {} bytes left out ...]\n{}", head_, total_ - kept_bytes, tail);
}

Result<SubprocessResult> RunSubprocess(const SubprocessOptions& options) {
  const Clock::time_point start = Clock::now();
  HONE_ASSIGN_OR_RETURN(Pipe in, MakePipe());
  HONE_ASSIGN_OR_RETURN(Pipe out, MakePipe());
  HONE_ASSIGN_OR_RETURN(Pipe err, MakePipe());
  ChildOptions child_options;
  child_options.argv = options.argv;
  child_options.environment = options.environment;
  child_options.working_directory = options.working_directory;
  child_options.sandbox = options.sandbox;
  child_options.descriptors = {{in.read.get(), 0}, {out.write.get(), 1}, {err.write.get(), 2}};
  HONE_ASSIGN_OR_RETURN(ChildProcess child, ChildProcess::Start(child_options));
  in.read.Reset();
  out.write.Reset();
  err.write.Reset();
  if (options.stdin_text.empty()) in.write.Reset();
  // Writing to a program that has closed its input raises SIGPIPE, which is blocked for this thread only.
  sigset_t pipe_signal, mask_before;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigset_t pending_before;
  sigpending(&pending_before);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &mask_before);

  // Wakes the loop below when a stop is requested.
  UniqueFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const std::stop_callback wake_on_stop(options.stop, [&] {
    const uint64_t one = 1;
    (void)!write(wake.get(), &one, sizeof one);
  });
  SubprocessResult result;
  result.sandbox = child.sandbox();
  CappedText out_text(options.max_stdout_bytes), err_text(options.max_stderr_bytes);
  if (in.write.valid()) SetNonBlocking(in.write.get());
  SetNonBlocking(out.read.get());
  SetNonBlocking(err.read.get());
  size_t written_bytes = 0;
  std::optional<Clock::time_point> end_seen;  // when the end of the program itself was seen
  char buffer[64 * 1024];
  while (out.read.valid() || err.read.valid() || !end_seen) {
    // After the program's end its streams close with its group, which Wait has killed; a second is ample.
    if (end_seen && SecondsSince(*end_seen) > 1.0) break;
    if (!end_seen && options.limit_seconds > 0 && SecondsSince(start) > options.limit_seconds && !result.timed_out) {
      result.timed_out = true;
      child.Kill();
    }
    if (!end_seen && options.stop.stop_requested() && !result.stopped) {
      result.stopped = true;
      child.Kill();
    }
    pollfd items[5];
    nfds_t count = 0;
    const auto add = [&](int fd, short events) {
      if (fd >= 0) items[count++] = {fd, events, 0};
    };
    add(in.write.get(), POLLOUT);
    add(out.read.get(), POLLIN);
    add(err.read.get(), POLLIN);
    if (!end_seen) add(child.pidfd(), POLLIN);
    if (!result.stopped) add(wake.get(), POLLIN);
    // A second is enough if a descriptor reports the child's end; otherwise the child is asked every 5 ms.
    int wait_ms = child.pidfd() >= 0 && !end_seen ? 1000 : 5;
    if (!end_seen && options.limit_seconds > 0 && !result.timed_out) {
      const double seconds_left = options.limit_seconds - SecondsSince(start);
      wait_ms = std::clamp(static_cast<int>(seconds_left * 1e3) + 1, 1, wait_ms);
    }
    poll(items, count, wait_ms);

    if (in.write.valid()) {
      const ssize_t bytes_read =
          write(in.write.get(), options.stdin_text.data() + written_bytes, options.stdin_text.size() - written_bytes);
      if (bytes_read > 0) written_bytes += static_cast<size_t>(bytes_read);
      const bool is_closed = bytes_read < 0 && errno != EAGAIN && errno != EINTR;
      if (is_closed || written_bytes == options.stdin_text.size()) in.write.Reset();
    }
    const auto drain = [&](UniqueFd& fd, CappedText& text) {
      // Reads a few buffers per turn: a program that never stops writing must not delay the time limit.
      for (int reads = 0; fd.valid() && reads < 16; ++reads) {
        const ssize_t bytes_read = read(fd.get(), buffer, sizeof(buffer));
        if (bytes_read > 0) {
          text.Append(buffer, static_cast<size_t>(bytes_read));
        } else if (bytes_read == 0 || (errno != EAGAIN && errno != EINTR)) {
          fd.Reset();
        } else {
          break;
        }
      }
    };
    drain(out.read, out_text);
    drain(err.read, err_text);
    if (!end_seen) {
      if (const std::optional<ExitState> state = child.Wait(0)) {
        result.exit = *state;
        end_seen = Clock::now();
      }
    }
  }

  // A SIGPIPE raised by this write is removed before signals are unblocked.
  if (!sigismember(&pending_before, SIGPIPE)) {
    const timespec no_signals{};
    while (sigtimedwait(&pipe_signal, nullptr, &no_signals) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &mask_before, nullptr);

  result.out = out_text.Text();
  result.err = err_text.Text();
  result.out_bytes = out_text.total();
  result.err_bytes = err_text.total();
  result.seconds = SecondsSince(start);
  return result;
}

}  // namespace hone
