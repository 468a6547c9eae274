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
struct WatchRecord {
  std::vector<WatchedLaunch> launches;  // the last one may not have ended
  std::string ended;                    // why the last launch failed; empty if it did not
  bool complete = false;                // all launches were made
};

// Launches the candidate on the request's check cases, drawn hidden cases, hand-worked cases, and small hidden cases
// that take further alternatives of the plan; the task should be one of SmallCases. Calls `keep` with the record before
// each launch, because the watcher may end the process, and at the end. The session must give each block an allocation
// of its own (CudaSessionOptions::watched). A Status means that the device or the session failed, or that the candidate
// does not load.
Status LaunchWatched(DeviceSession& session, const JudgeRequest& request, const std::function<Status(const WatchRecord&)>& keep);

// Encode and decode a record as JSON. DecodeWatchRecord returns kInvalidArgument for a text that is no such object.
std::string EncodeWatchRecord(const WatchRecord& record);
Result<WatchRecord> DecodeWatchRecord(const std::string& text);

}  // namespace hone
