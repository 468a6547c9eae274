// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Controls one child process from the session: starts it confined, gives it an image and memory, launches kernels, and
// ends it when time is up.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/process/frames.h"
#include "base/process/subprocess.h"
#include "hone/base/status.h"
#include "tuner/device/sim/image/image_symbols.h"
#include "tuner/device/sim/sim_memory.h"
#include "tuner/device/sim/sim_protocol.h"

namespace hone::sim {

class SimProcess {
 public:
  struct Options {
    std::vector<std::string> command;  // argv without the descriptor: "--fd 3" is added
    int workers = 1;                   // OS threads
    bool sandbox = true;
  };

  // Result of an exchange with the child: exactly one of the three.
  struct Exchange {
    std::optional<LaunchAnswer> answer;
    bool timed_out = false;            // the child has been ended
    std::string died;                  // how the child ended, if it ended by itself
  };

  // Starts the child and has it load `image`. If loading fails, the process is null and `refused` receives the dynamic
  // linker's message; `limit_seconds` bounds static initialisers.
  static Result<std::unique_ptr<SimProcess>> Start(const Options& options, const std::string& image,
                                                   const ImageSymbols& symbols, double limit_seconds,
                                                   std::string* refused);

  int64_t writable_bytes() const { return writable_bytes_; }
  struct ShownBlock {
    const SimArena* arena = nullptr;
    const SimArena::Block* block = nullptr;
    bool writable = true;  // false: any store faults
    bool operator==(const ShownBlock& other) const = default;
  };
  // Makes exactly these blocks visible to the child.
  Status Show(const std::vector<ShownBlock>& blocks);
  Result<Exchange> Launch(const LaunchMessage& message, double limit_seconds);

 private:
  explicit SimProcess(ChildProcess child) : child_(std::move(child)) {}

  ChildProcess child_;
  UniqueFd socket_;
  int64_t writable_bytes_ = 0;
  std::map<uint64_t, std::vector<Mapping>> shown_;  // keyed by map_begin
};

}  // namespace hone::sim
