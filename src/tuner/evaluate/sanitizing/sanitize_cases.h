// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file launches a candidate on small cases while compute-sanitizer watches the process. The candidate has been
// judged before, so its outputs are not checked.
//
// The watcher knows addresses alone. So each launch has tensors of its own, which live until the process ends, and a
// record says which tensor lies where.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "tuner/device/device_session.h"
#include "tuner/evaluate/judge/judge.h"

namespace hone {

struct WatchedBlock {
  std::string name;  // of the tensor or the workspace
  uint64_t address = 0;
  int64_t bytes = 0;
};
struct WatchedLaunch {
  Dims dims;
  std::string inputs;  // InputSet::name
  std::vector<WatchedBlock> blocks;
};
// The times at which the watched process reached a point, by SteadySeconds, which is one clock for all processes of a
// machine; 0: not reached.
struct WatchTimes {
  double began = 0;      // main was entered: until then the watcher had started the process
  double connected = 0;  // the session was made
  double loaded = 0;     // the candidate was loaded
  double launched = 0;   // the last launch had ended
  double released = 0;   // tensors and modules were given back
};
struct WatchEnd {
  std::string ended;      // why the last launch failed; empty if it did not
  bool complete = false;  // all launches were made
  WatchTimes times;
};
struct WatchRecord {
  std::vector<WatchedLaunch> launches;  // the last one may not have ended
  WatchEnd end;                         // as made by default if the process ended before it could say more
};

// Keeps a record. `launch` is called before each launch, because the watcher may end the process; `end` once, behind the
// last launch and before anything is given back. Its times `loaded` and `launched` are set.
struct WatchKeeper {
  std::function<Status(const WatchedLaunch&)> launch;
  std::function<Status(const WatchEnd&)> end;
};

// Launches the candidate on the request's check cases, drawn hidden cases, hand-worked cases, and small hidden cases
// that take further alternatives of the plan; the task should be one of SmallCases. The session must give each block an
// allocation of its own (CudaSessionOptions::watched). A Status means that the device or the session failed, that the
// candidate does not load, or that the keeper failed.
Status LaunchWatched(DeviceSession& session, const JudgeRequest& request, const WatchKeeper& keeper);

// These encode one line of a record, a JSON object: a line for each launch, and then lines for the end, of which the last
// counts.
std::string EncodeWatchLine(const WatchedLaunch& launch);
std::string EncodeWatchLine(const WatchEnd& end);
// Reads a record's lines. A last line without its line break is left out: the process ended while it wrote the line, and
// so before the launch. kInvalidArgument for a line that is no such object.
Result<WatchRecord> DecodeWatchRecord(std::string_view text);

}  // namespace hone
