// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See random_reads.h. Children are forked, so they see the columns where the sampler saw them, without a copy; they
// wait for each other and leave their results in a page of shared memory, and end by _exit.
#include "hone-gnn/random_reads.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/numbers/random.h"

namespace hone::gnn {
namespace {

using Clock = std::chrono::steady_clock;

// Reads that a process starts before it uses the first; enough to hide the latency of memory.
constexpr int64_t kReadsInFlight = 64;
constexpr int64_t kWarmUpReads = int64_t{1} << 20;

struct ReaderTimes {
  double wall_seconds = 0, cpu_seconds = 0;
};

// The state that all reading processes share, in shared memory. An array of ReaderTimes follows it there.
struct alignas(64) Meeting {
  std::atomic<int> ready{0}, done{0};
  std::atomic<bool> given_up{false};
};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "processes share these by their bytes alone");
static_assert(sizeof(Meeting) % alignof(ReaderTimes) == 0, "the array follows without a gap");

// Reads elements of `columns` at random positions, as a sampler's draws do.
class Reader {
 public:
  Reader(std::span<const NodeId> columns, int number) : columns_(columns), rng_(static_cast<uint64_t>(number) + 1) {}

  void Read(int64_t reads) {
    uint64_t positions[kReadsInFlight];
    const auto size = static_cast<double>(columns_.size());
    for (int64_t done = 0; done < reads; done += kReadsInFlight) {
      for (uint64_t& position : positions) {
        position = static_cast<uint64_t>(rng_.Uniform() * size);
        __builtin_prefetch(&columns_[position]);
      }
      for (const uint64_t position : positions) sum_ += columns_[position];
    }
    asm volatile("" : : "r"(sum_));  // keeps the reads, although the sum is not used
  }

 private:
  const std::span<const NodeId> columns_;
  Rng rng_;
  int64_t sum_ = 0;
};

[[noreturn]] void RunChild(std::span<const NodeId> columns, int number, int processes, int64_t reads, Meeting& meeting,
                           ReaderTimes& times, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent had ended before prctl
  Reader reader(columns, number);
  reader.Read(kWarmUpReads);
  meeting.ready.fetch_add(1);
  // Each child reads while it waits for the others, so that no clock starts on a machine that is not yet busy.
  while (meeting.ready.load() < processes && !meeting.given_up.load()) reader.Read(kReadsInFlight * 64);
  const Clock::time_point start = Clock::now();
  const double cpu_start = ThreadSeconds();
  reader.Read(reads);
  times.cpu_seconds = ThreadSeconds() - cpu_start;
  times.wall_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  meeting.done.fetch_add(1);
  while (meeting.done.load() < processes && !meeting.given_up.load()) reader.Read(kReadsInFlight * 64);
  _exit(0);
}

}  // namespace

Result<RandomReads> ReadAtRandom(std::span<const NodeId> columns, int processes, int64_t reads) {
  HONE_CHECK(!columns.empty() && processes > 0 && reads > 0, "nothing to read");
  const size_t bytes = sizeof(Meeting) + static_cast<size_t>(processes) * sizeof(ReaderTimes);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return Status::ResourceExhausted(fmt::format("no {} bytes of shared memory", bytes));
  const auto unmap = [bytes](void* p) { munmap(p, bytes); };
  const std::unique_ptr<void, decltype(unmap)> owner(memory, unmap);
  Meeting& meeting = *new (memory) Meeting;
  const auto times = reinterpret_cast<ReaderTimes*>(static_cast<std::byte*>(memory) + sizeof(Meeting));
  for (int i = 0; i < processes; ++i) new (times + i) ReaderTimes;

  Status status;
  const pid_t parent = getpid();
  std::vector<pid_t> children;
  for (int i = 0; i < processes && status.ok(); ++i) {
    const pid_t child = fork();
    if (child == 0) RunChild(columns, i, processes, reads, meeting, times[i], parent);
    if (child > 0) {
      children.push_back(child);
    } else {
      status = Status::ResourceExhausted(fmt::format("could not start reading process {} of {}: {}; give fewer --threads",
                                                     i + 1, processes, std::strerror(errno)));
      meeting.given_up.store(true);
    }
  }
  for (size_t running = children.size(); running > 0;) {
    // Children may end in any order: one that died must not leave the others reading for ever.
    bool any_ended = false;
    for (pid_t& child : children) {
      int state = 0;
      if (child <= 0 || waitpid(child, &state, WNOHANG) == 0) continue;
      if (status.ok() && !(WIFEXITED(state) && WEXITSTATUS(state) == 0)) {
        status = Status::Unavailable("a process that was to read at random died; perhaps memory ran out");
        meeting.given_up.store(true);
      }
      child = 0;
      --running;
      any_ended = true;
    }
    if (!any_ended) usleep(2000);
  }
  HONE_RETURN_IF_ERROR(status);
  RandomReads result;
  std::vector<double> cpu;
  for (int i = 0; i < processes; ++i) {
    result.per_second += static_cast<double>(reads) / times[i].wall_seconds;
    cpu.push_back(times[i].cpu_seconds);
  }
  std::nth_element(cpu.begin(), cpu.begin() + processes / 2, cpu.end());
  result.per_cpu_second = static_cast<double>(reads) / cpu[static_cast<size_t>(processes / 2)];
  return result;
}

}  // namespace hone::gnn
