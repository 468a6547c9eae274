// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The pool holds the zygotes of one compiler. A zygote starts when it is first asked for, and is restarted when it has
// died; when there are too many, the zygote that has been idle longest is ended.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/process/frames.h"
#include "base/process/subprocess.h"
#include "hone/base/status.h"
#include "tuner/evaluate/compile/nvrtc_zygote.h"

namespace hone {

// A ZygoteHandle is one zygote process and the pool's end of its socket. Thread-safe.
class ZygoteHandle {
 public:
  // Starts the process, sends `setup`, whose directories Start fills in below `scratch`, and waits until the zygote has
  // made its precompiled header. Returns kUnavailable, with the zygote's own message, if the zygote could not start.
  static Result<std::shared_ptr<ZygoteHandle>> Start(const std::vector<std::string>& argv, ZygoteSetup setup,
                                                     const std::string& scratch);
  ~ZygoteHandle();

  bool pch() const { return pch_; }
  pid_t pid() const { return child_->pid(); }

  // An Outcome says how one compile ended: with `reply` or, if that is nullopt, with the child's `end`.
  struct Outcome {
    std::optional<NvrtcReply> reply;
    ChildEnd end;
  };
  // Returns kUnavailable when the zygote itself is dead and another must be started.
  Result<Outcome> Compile(const NvrtcJob& job, double limit_seconds);

 private:
  ZygoteHandle() = default;

  TemporaryDirectory directory_;
  std::optional<ChildProcess> child_;
  std::mutex send_mutex_;  // one sender at a time on socket_
  UniqueFd socket_;
  bool pch_ = false;
};

class ZygotePool {
 public:
  ZygotePool(std::vector<std::string> argv, std::string scratch, size_t max_zygotes)
      : argv_(std::move(argv)), scratch_(std::move(scratch)), max_zygotes_(max_zygotes) {}

  // Returns the zygote for `key`, started with `setup` if there is none. Callers that ask for one key at the same time
  // wait for one start; starts of different keys overlap.
  Result<std::shared_ptr<ZygoteHandle>> Get(const std::string& key, const ZygoteSetup& setup);
  // Forgets `handle`, which was found dead, so that the next Get starts another.
  void Discard(const std::string& key, const std::shared_ptr<ZygoteHandle>& handle);

  int64_t started() const;
  int64_t lost() const;

 private:
  struct Slot {
    bool starting = false;
    std::shared_ptr<ZygoteHandle> handle;
    uint64_t last_used = 0;  // clock_ at the last Get
  };

  std::vector<std::string> argv_;
  std::string scratch_;
  size_t max_zygotes_;
  mutable std::mutex mutex_;
  std::condition_variable started_condition_;
  std::map<std::string, Slot> slots_;
  uint64_t clock_ = 0;  // advances at each Get
  int64_t started_ = 0, lost_ = 0;
};

}  // namespace hone
