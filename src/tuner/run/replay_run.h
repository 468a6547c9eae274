// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Repeats a recorded run: recorded replies and recorded evaluations go through the same loop and strategy, on a machine
// without the model and the device. An equal result shows that the record is complete and that nothing was decided by
// chance.
#pragma once

#include <memory>
#include <string>

#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"

namespace hone {

struct ReplayedRun {
  RunView recorded, replayed;
  std::unique_ptr<RunStore> store;  // in memory; holds the replayed run
  std::string difference;           // the first node whose result differs, and how; empty: all are equal
  int64_t compared = 0;             // nodes that were compared
};

// Replays a run and compares the two. kInvalidArgument for a run that cannot be repeated (a log of version 1, or one
// without replies); otherwise the Status of ContinueRun.
Result<ReplayedRun> ReplayRun(RunStore& store, const std::string& run);

}  // namespace hone
