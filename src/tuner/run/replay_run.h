// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A recorded run, repeated: recorded replies and recorded evaluations through the same loop and strategy, on a machine
// that has neither the model nor the device. That it comes out the same shows that the record is whole and that
// nothing in it was decided by chance.
#pragma once

#include <memory>
#include <string>

#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"

namespace hone {

struct ReplayedRun {
  RunView recorded, replayed;
  std::unique_ptr<RunStore> store;  // in memory; holds the replayed run
  std::string difference;           // the first node that came out otherwise, and how; empty: none did
  int64_t compared = 0;             // nodes that were done in the record
};

// kInvalidArgument for a run that cannot be repeated (a log of version 1, one without replies); the loop's Status else.
Result<ReplayedRun> ReplayRun(RunStore& store, const std::string& run);

}  // namespace hone
