// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/dist/launcher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/clock.h"
#include "base/process/subprocess.h"
#include "gnn/dist/socket.h"

namespace hone::gnn {
namespace {

constexpr int kStoreDescriptor = 3;  // in rank 0: the listening socket of the store

struct RunningRank {
  ChildProcess process;
  UniqueFd errors;  // the read end of the rank's standard error; none for rank 0
  std::string partial;
  std::optional<ExitState> end;
};

// Blocks these signals while alive, so that they arrive through a descriptor.
class SignalReader {
 public:
  SignalReader() {
    sigemptyset(&set_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, number);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
    fd_.Reset(signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~SignalReader() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  int fd() const { return fd_.get(); }
  int Take() const {  // returns 0 if there is none
    signalfd_siginfo info{};
    return read(fd_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info)) ? static_cast<int>(info.ssi_signo)
                                                                                      : 0;
  }

 private:
  sigset_t set_{}, before_{};
  UniqueFd fd_;
};

// Passes on complete lines of a rank's standard error; with `ended`, also a last line without its end.
void PassLines(RunningRank& rank, int number, const LaunchOptions& options, bool ended) {
  char buffer[4096];
  while (rank.errors.valid()) {
    const ssize_t n = read(rank.errors.get(), buffer, sizeof(buffer));
    if (n > 0) {
      rank.partial.append(buffer, static_cast<size_t>(n));
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else {
      if (n == 0 || errno != EAGAIN) rank.errors.Reset();
      break;
    }
  }
  const auto pass = [&](std::string_view line) {
    if (options.line) options.line(number, line);
  };
  size_t begin = 0;
  for (size_t end; (end = rank.partial.find('\n', begin)) != std::string::npos; begin = end + 1) {
    pass(std::string_view(rank.partial).substr(begin, end - begin));
  }
  rank.partial.erase(0, begin);
  if (ended && !rank.partial.empty()) {
    pass(rank.partial);
    rank.partial.clear();
  }
}

// Starts the process of one rank.
Result<RunningRank> StartRank(const LaunchOptions& options, int rank, int listener, const std::string& job) {
  ChildOptions child;
  child.argv = options.argv;
  for (const std::string& entry : options.environment) {
    if (!entry.starts_with("HONE_RANK=")) child.environment.push_back(entry);
  }
  child.environment.push_back(fmt::format("HONE_RANK={}", rank));
  child.environment.push_back(fmt::format("HONE_LOCAL_RANK={}", rank));
  child.environment.push_back(fmt::format("HONE_WORLD_SIZE={}", options.ranks));
  child.environment.push_back(fmt::format("HONE_STORE_PORT={}", BoundPort(listener)));
  child.environment.push_back("HONE_JOB=" + job);
  if (rank == 0) {
    child.environment.push_back(fmt::format("HONE_STORE_FD={}", kStoreDescriptor));
    child.descriptors = {{STDOUT_FILENO, STDOUT_FILENO}, {STDERR_FILENO, STDERR_FILENO}, {listener, kStoreDescriptor}};
    HONE_ASSIGN_OR_RETURN(ChildProcess process, ChildProcess::Start(child));
    return RunningRank{std::move(process), {}, {}, {}};
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return Status::Io(ErrnoMessage("make a pipe for", fmt::format("rank {}", rank), errno));
  UniqueFd reading(ends[0]), writing(ends[1]);
  fcntl(reading.get(), F_SETFL, fcntl(reading.get(), F_GETFL) | O_NONBLOCK);
  child.descriptors = {{writing.get(), STDERR_FILENO}};
  HONE_ASSIGN_OR_RETURN(ChildProcess process, ChildProcess::Start(child));
  return RunningRank{std::move(process), std::move(reading), {}, {}};
}

}  // namespace

Result<LaunchResult> LaunchRanks(const LaunchOptions& options) {
  const SignalReader signals;
  // The port is bound before any rank starts and inherited by rank 0, so no other program can take it in between.
  HONE_ASSIGN_OR_RETURN(UniqueFd listener, ListenOn("127.0.0.1", 0));
  uint64_t random = 0;
  if (getrandom(&random, sizeof(random), 0) != static_cast<ssize_t>(sizeof(random)))
    random = static_cast<uint64_t>(getpid());
  const std::string job = fmt::format("{:016x}", random);
  std::vector<RunningRank> ranks;  // on an early return, the started ranks are killed and reaped
  for (int r = 0; r < options.ranks; ++r) {
    HONE_ASSIGN_OR_RETURN(RunningRank rank, StartRank(options, r, listener.get(), job));
    ranks.push_back(std::move(rank));
  }
  listener.Reset();

  LaunchResult result;
  std::optional<double> kill_at;
  for (;;) {
    std::vector<pollfd> polled{{signals.fd(), POLLIN, 0}};
    for (const RunningRank& rank : ranks) {
      if (!rank.end) polled.push_back({rank.process.pidfd(), POLLIN, 0});
      polled.push_back({rank.errors.get(), POLLIN, 0});
    }
    poll(polled.data(), polled.size(), 100);
    while (const int number = signals.Take()) {
      for (const RunningRank& rank : ranks) {
        if (!rank.end) kill(rank.process.pid(), number);
      }
    }
    // If a signal ended a rank, that rank is reported as the reason, even if others are seen to end first: its closing
    // connections end the others before the system has finished ending it.
    bool running = false;
    for (size_t r = 0; r < ranks.size(); ++r) {
      RunningRank& rank = ranks[r];
      if (!rank.end) rank.end = rank.process.Wait(0);
      PassLines(rank, static_cast<int>(r), options, rank.end.has_value());
      running = running || !rank.end;
      if (!rank.end || rank.end->success() || rank.end->killed_by_us) continue;
      if (rank.end->signal == 0) {
        if (result.exit_status == 0) result.exit_status = rank.end->exit_status;
      } else if (result.failure.empty()) {
        result.exit_status = 3;
        result.failure = fmt::format("rank {} was ended by {}", r, rank.end->Describe());
      }
    }
    if (!running) return result;
    if (result.exit_status == 0) continue;
    if (!kill_at) kill_at = SteadySeconds() + options.grace_seconds;
    if (SteadySeconds() < *kill_at) continue;
    for (RunningRank& rank : ranks) {
      if (!rank.end) rank.process.Kill();
    }
  }
}

}  // namespace hone::gnn
