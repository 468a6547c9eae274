// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs other programs: to their end, collecting their output (RunSubprocess), or as a running child that communicates
// over descriptors passed to it (ChildProcess).
//
// A child is the leader of a process group of its own; ending it ends the group, so that a compiler driver's own
// children go with it. When this process ends, however that happens, the child (not the rest of its group) is killed at
// once; the thread that started it may end earlier. The child inherits only what is listed: not the environment,
// descriptors or signal mask. Any thread may start children.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/process/sandbox.h"
#include "hone/base/status.h"

namespace hone {

// How a process ended.
struct ExitState {
  int exit_status = 0;       // valid when signal == 0
  int signal = 0;            // 0: it exited by itself
  bool killed_by_us = false; // by a time limit or Kill()
  double cpu_seconds = 0;    // processor time of the process and the children that it waited for
  int64_t peak_bytes = 0;    // largest resident set of any of these processes

  bool success() const { return signal == 0 && exit_status == 0; }
  std::string Describe() const;  // "exit status 1", "signal 11 (Segmentation fault)"
};

struct ChildOptions {
  std::vector<std::string> argv;         // argv[0] is a path; $PATH is not searched
  std::vector<std::string> environment;  // "NAME=value"
  std::string working_directory;         // empty: this process's
  std::optional<SandboxPolicy> sandbox;  // entered after the working directory is set, before the program starts
  // This process's descriptor -> its number in the child, 0 to 99. If not listed, 0, 1 and 2 are /dev/null.
  std::vector<std::pair<int, int>> descriptors;
};

// A running child. Move-only; the destructor ends and reaps it. Not thread-safe, except Kill.
class ChildProcess {
 public:
  // Starts a program. kNotFound or kUnavailable when the program could not be started, saying at which step;
  // kInvalidArgument for a sandbox path that cannot be opened.
  static Result<ChildProcess> Start(const ChildOptions& options);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  const SandboxReport& sandbox() const { return report_; }  // meaningful if the options have a sandbox
  // Returns a descriptor that becomes readable (poll) when the child has ended; -1 if the kernel has none.
  int pidfd() const { return pidfd_.get(); }

  // Waits for the end at most `timeout_seconds` (< 0: for ever); nullopt: still running. After the end, Wait kills the
  // rest of the process group, and remembers the state.
  std::optional<ExitState> Wait(double timeout_seconds);
  // Sends SIGKILL to the whole group. Does nothing once Wait has seen the end.
  void Kill();

 private:
  ChildProcess() = default;
  void Reap();

  pid_t pid_ = -1;
  UniqueFd pidfd_;
  bool killed_ = false;
  std::optional<ExitState> state_;
  SandboxReport report_;
};

struct SubprocessOptions {
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  std::string working_directory;
  std::optional<SandboxPolicy> sandbox;
  std::string stdin_text;
  double limit_seconds = 0;  // wall; 0: none
  std::stop_token stop;      // ends the program like the limit; by default never requested
  // Limits on the output that is kept, in bytes. The first and the last half of a longer stream are kept; the rest is
  // read and discarded.
  int64_t max_stdout_bytes = 1 << 20;
  int64_t max_stderr_bytes = 1 << 20;
};

struct SubprocessResult {
  ExitState exit;
  bool timed_out = false;
  bool stopped = false;  // it was still running when a stop was requested
  std::string out, err;                  // the output; where some was left out, a line in the middle says how much
  int64_t out_bytes = 0, err_bytes = 0;  // bytes that the program wrote, kept or not
  double seconds = 0;                    // wall time
  SandboxReport sandbox;
};

// Runs a program to its end or its limit. Whatever the program does is a result; a Status means that it could not be
// started or its output could not be read.
Result<SubprocessResult> RunSubprocess(const SubprocessOptions& options);

// Keeps the first and the last half of a stream.
class CappedText {
 public:
  explicit CappedText(int64_t max_bytes) : half_(max_bytes / 2) {}
  // Adds the next bytes of the stream.
  void Append(const char* bytes, size_t size);
  int64_t total() const { return total_; }
  // Returns what was kept; where some was left out, a line in the middle says how much.
  std::string Text() const;

 private:
  int64_t half_;
  int64_t total_ = 0;
  std::string head_;
  std::string tail_;  // a ring buffer once it is full
  size_t tail_next_ = 0;
};

}  // namespace hone
